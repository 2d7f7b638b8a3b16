//! Mechanisms that are broken on purpose, so that one can see an audit fail. They exist here only: no node and no plain simulation knows them.

use privacy::clip::ClipNorm;
use privacy::mechanisms::MechanismError;
use protocol::PeerIx;
use protocol::masks::Flaw;
use protocol::work::WorkSettings;

/// How much larger than C the clip norm is that stands for none.
const UNCLIPPED: f64 = 1e4;

/// What is broken. In each case the log goes on saying what an honest node would say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sabotage {
    /// Half of the noise that is accounted for.
    NoiseHalved,
    /// The noise of a node's first contribution in all of them.
    NoiseReused,
    /// Contributions are not clipped; the noise is that of the clip norm.
    ClipSkipped,
    /// Masks: nodes other than the watched one add next to no noise, though it is counted on.
    MemberWithoutNoise,
    /// Masks: every other round uses the streams of the round before.
    MaskKeyReused,
    /// Masks: no round, and no model, in the keys of streams.
    MaskRoundLeftOut,
    /// Masks: one member has the wrong sign towards one other.
    MaskWrongSign,
    /// Masks: words are sent as they are.
    WordsInClear,
    /// Masks: the watched node is taken for dead, its streams are opened so that the others can do without it, and then its sum comes.
    LateSum,
    /// Masks: totals go around, since steps are finer than there is room for.
    Wrap,
    /// Masks: words travel as single-precision numbers.
    WordsAsReals,
}

/// What is left of the noise of who adds next to none.
const LITTLE: f64 = 1e-3;

impl Sabotage {
    /// All of them with their names.
    pub const ALL: [(&'static str, Self); 11] = [
        ("noise-halved", Self::NoiseHalved),
        ("noise-reused", Self::NoiseReused),
        ("clip-skipped", Self::ClipSkipped),
        ("member-without-noise", Self::MemberWithoutNoise),
        ("mask-key-reused", Self::MaskKeyReused),
        ("mask-round-left-out", Self::MaskRoundLeftOut),
        ("mask-wrong-sign", Self::MaskWrongSign),
        ("words-in-clear", Self::WordsInClear),
        ("late-sum", Self::LateSum),
        ("wrap", Self::Wrap),
        ("words-as-f32", Self::WordsAsReals),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// How contributions are made when this is broken, by the watched node or by another.
    pub(crate) fn work(self, honest: &WorkSettings, watched: bool) -> Result<WorkSettings, MechanismError> {
        let with_noise =
            |part: f64| WorkSettings { noise_multiplier: honest.noise_multiplier * part, ..honest.clone() };
        Ok(match self {
            Self::NoiseHalved => with_noise(0.5),
            Self::MemberWithoutNoise if !watched => with_noise(LITTLE),
            // Noise is in proportion to the clip norm, so that the product stays.
            Self::ClipSkipped => WorkSettings {
                clip: ClipNorm::new(honest.clip.value() * UNCLIPPED)?,
                noise_multiplier: honest.noise_multiplier / UNCLIPPED,
                ..honest.clone()
            },
            _ => honest.clone(),
        })
    }

    /// Whether it breaks something in such a run: masks where there are some; a grid has no room for what is not clipped.
    pub(crate) fn applies(self, masked: bool) -> bool {
        match self {
            Self::NoiseHalved | Self::NoiseReused => true,
            Self::ClipSkipped => !masked,
            Self::MemberWithoutNoise => masked,
            _ => masked && self.flaw(Some(0)).is_some(),
        }
    }

    /// What is wrong with the masks, where this node is watched.
    pub(crate) fn flaw(self, watched: Option<usize>) -> Option<Flaw> {
        match self {
            Self::MaskKeyReused => Some(Flaw::KeyReused),
            Self::MaskRoundLeftOut => Some(Flaw::RoundLeftOut),
            Self::MaskWrongSign => Some(Flaw::WrongSign),
            Self::WordsInClear => Some(Flaw::InClear),
            Self::LateSum => watched.map(|watched| Flaw::Opened(watched as PeerIx)),
            Self::Wrap => Some(Flaw::TooFine),
            Self::WordsAsReals => Some(Flaw::AsReals),
            Self::NoiseHalved | Self::NoiseReused | Self::ClipSkipped | Self::MemberWithoutNoise => None,
        }
    }

    /// Which noise the `count`-th contribution of a node gets.
    pub(crate) fn noise_of(self, count: u32) -> u32 {
        if self == Self::NoiseReused { 0 } else { count }
    }
}

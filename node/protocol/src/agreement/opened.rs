//! What a member of a masked round opens once the round is over: its masks of the three zero words, and these words in every sum that it sent or heard.
//!
//! The words are known to be zeros, and their masks have keys of their own, so opening them tells nothing. In the total they must cancel; where they do not, what
//! is opened shows who has put something there, or which two members do not agree on their mask.

use super::Fingerprint;
use super::codec::{CodecError, Reader, Wire, wire};
use super::records::{MOST_STEPS, RoundRecord};
use crate::PeerIx;

/// Three words in the upper bits of 64: sums modulo 2³² and modulo 2⁶⁴ are both sums of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CheckWords(pub [u64; 3]);

impl CheckWords {
    /// The sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at].wrapping_add(other.0[at])))
    }

    /// The difference.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at].wrapping_sub(other.0[at])))
    }
}

impl Wire for CheckWords {
    const LEAST: usize = 24;
    fn write(&self, out: &mut Vec<u8>) {
        self.0.iter().for_each(|word| word.write(out));
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        Ok(Self([u64::read(from)?, u64::read(from)?, u64::read(from)?]))
    }
}

/// What is opened about one round.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Opened {
    /// Digest of the roster with the keys of all members.
    pub keys: Fingerprint,
    /// Digest of what else masks are bound to: round, model, grid.
    pub place: Fingerprint,
    /// Which members share no masks, in order.
    pub unmasked: Vec<(PeerIx, PeerIx)>,
    /// The masks shared with other members, in order; who is left out shares none.
    pub masks: Vec<SharedMask>,
    /// The sums of the record, in the same order.
    pub sums: Vec<OpenedStep>,
}

wire!(Opened {
    keys: Fingerprint,
    place: Fingerprint,
    unmasked: Vec<(PeerIx, PeerIx)>,
    masks: Vec<SharedMask>,
    sums: Vec<OpenedStep>,
});

/// The mask on the zero words that two share: the smaller adds it, the other subtracts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SharedMask {
    /// With whom.
    pub with: PeerIx,
    /// The words.
    pub words: CheckWords,
    /// Digest of the key of the stream on all other words: binds both to it.
    pub key: Fingerprint,
}

wire!(SharedMask { with: PeerIx, words: CheckWords, key: Fingerprint });

/// The sums of one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpenedStep {
    /// The one that was sent.
    pub sent: Option<OpenedSum>,
    /// The one that was heard.
    pub heard: Option<OpenedSum>,
}

wire!(OpenedStep { sent: Option<OpenedSum>, heard: Option<OpenedSum> });

/// A sum as its digest is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpenedSum {
    /// What was said to be counted.
    pub count: u32,
    /// Where in the whole vector its words begin.
    pub start: u32,
    /// Digest of all words but the zeros.
    pub others: Fingerprint,
    /// The zeros under their masks, where the sum has them.
    pub zeros: Option<CheckWords>,
}

wire!(OpenedSum { count: u32, start: u32, others: Fingerprint, zeros: Option<CheckWords> });

impl OpenedSum {
    /// The digest by which the sum is known.
    pub fn digest(&self) -> Fingerprint {
        Fingerprint::of_wire("murmur masked sum 1", self)
    }
}

impl Opened {
    /// No longer than what an honest one of so many members opens of so many steps.
    pub(super) fn is_short(&self, members: usize, steps: usize) -> bool {
        let pairs = members * members.saturating_sub(1) / 2;
        self.masks.len() <= members && self.unmasked.len() <= pairs && self.sums.len() <= steps
    }

    /// What member `by` has between its masks, by its own words: nothing, if it is honest; and the zeros of what it held last. `None` where what it opens
    /// contradicts its record or itself.
    ///
    /// # Guarantee
    /// What an honest member opens gives zeros, whatever others sent.
    fn remainder(&self, by: PeerIx, record: &RoundRecord) -> Option<(CheckWords, Option<CheckWords>)> {
        let ordered = self.masks.windows(2).all(|pair| pair[0].with < pair[1].with);
        let has_none = |mask: &SharedMask| self.unmasked.contains(&(by.min(mask.with), by.max(mask.with)));
        if !ordered || self.masks.iter().any(has_none) {
            return None;
        }
        if self.sums.len() != record.steps.len() || self.sums.len() > MOST_STEPS {
            return None;
        }
        // What it held last, and what it heard before it sent anything.
        let (mut held, mut own) = (None, None);
        let mut heard_before = CheckWords::default();
        for (opened, step) in self.sums.iter().zip(&record.steps) {
            let is_it = |sum: &Option<OpenedSum>, digest| sum.as_ref().map(OpenedSum::digest) == digest;
            if !is_it(&opened.sent, step.sent)
                || !is_it(&opened.heard, step.heard.as_ref().map(|it| it.digest))
            {
                return None;
            }
            let zeros = |sum: Option<OpenedSum>| sum.and_then(|sum| sum.zeros);
            let sent = zeros(opened.sent);
            if let Some(sent) = sent {
                if held.is_some_and(|held| held != sent) {
                    return None;
                }
                held = Some(sent);
                own = own.or(Some(sent.minus(heard_before)));
            }
            match (zeros(opened.heard), sent) {
                (Some(heard), Some(sent)) => held = Some(sent.plus(heard)),
                // Who has sent its own and hears again takes over.
                (Some(heard), None) if held.is_some() => held = Some(heard),
                (Some(heard), None) => heard_before = heard_before.plus(heard),
                (None, _) => {}
            }
        }
        let masks = self.masks.iter().fold(CheckWords::default(), |sum, mask| {
            if by < mask.with { sum.plus(mask.words) } else { sum.minus(mask.words) }
        });
        Some((own.map_or(CheckWords::default(), |own| own.minus(masks)), held))
    }

    /// Whether two that worked together state the same kind of round. What was `told` before the first decision may have been told differently to different members.
    pub(super) fn is_of_one_kind(&self, other: &Self, told: bool) -> bool {
        self.place == other.place && self.unmasked == other.unmasked && (told || self.keys == other.keys)
    }

    /// Whether what `by` opens can be what an honest member opens.
    pub(super) fn is_sound(&self, by: PeerIx, record: &RoundRecord) -> bool {
        self.remainder(by, record).is_some_and(|(left, _)| left == CheckWords::default())
    }

    /// Whether the round ended for `by` with a total that shows something between the masks.
    pub(super) fn is_void(&self, by: PeerIx, record: &RoundRecord) -> bool {
        let held = self.remainder(by, record).and_then(|(_, held)| held);
        record.total.is_some() && held.is_some_and(|held| held != CheckWords::default())
    }

    /// The mask that it shares with another, and the digest of the key of their stream; none is zeros.
    pub(super) fn mask_with(&self, other: PeerIx) -> (CheckWords, Fingerprint) {
        let shared = self.masks.iter().find(|mask| mask.with == other);
        shared.map_or_else(Default::default, |mask| (mask.words, mask.key))
    }
}

//! Members that do not follow the protocol, in words of a config.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::duration;
use crate::PeerIx;
use crate::masks::Lie;

/// Nodes that misbehave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hostile {
    /// Which nodes.
    #[serde(default)]
    pub nodes: Vec<PeerIx>,
    /// Or a random part of all, between 0 and 1.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fraction: f64,
    /// How.
    pub kind: HostileKind,
    /// From when.
    #[serde(default, with = "duration")]
    pub from: u64,
}

fn is_zero(fraction: &f64) -> bool {
    *fraction == 0.0
}

/// Ways to misbehave: what is contributed, what is done to each outgoing message, or beside it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum HostileKind {
    /// Numbers become NaN.
    Nan,
    /// Numbers become huge.
    Huge,
    /// Vectors lose a number.
    WrongLength,
    /// Old messages are sent again.
    Replay,
    /// Messages of another run.
    OtherRun,
    /// Every message a thousand times.
    Flood,
    /// Contributions have the wrong sign.
    Sign,
    /// Contributions are made of false labels.
    Label,
    /// Contributions lie so many deviations off the mean of the honest ones, against its sign, in each number (Baruch et al. 2019, *A little is enough*).
    Alie(f64),
    /// Contributions point straight against the gradient of all honest records; this part of the largest norm that is believed.
    Push(f64),
    /// A made-up final model, unasked.
    ForgedModel,
    /// Made-up decisions, signed by the liar alone.
    ForgedDecision,
    /// Standings that name a model nobody has.
    FalseStanding,
    /// Sums that say they stand for nobody and have numbers.
    ZeroCount,
    /// To every receiver other numbers.
    Equivocation,
    /// Nothing is sent but what decisions need.
    Silence,
    /// Turns of a view, and a decision of an epoch, that nobody has come to.
    HighNumbers,
    /// Standings that accuse everybody of malformed sums.
    FalseAccusation,
    /// All numbers of one kind or another are no honest ones: NaN, huge, too few, of another run, in turn.
    Malformed,
    /// Contributions that come just before the others would give up.
    Slow,
    /// Masked rounds: its words that should be zero are not.
    FalseZeros,
    /// Masked rounds: its numbers are huge.
    HugeWords,
    /// Masked rounds: its words that should be zero are not, and it says that a mask which it shares with another is to blame.
    FalseMask,
    /// Masked rounds: two of its numbers are half the ring.
    HalfWords,
    /// Masked rounds: it adds huge numbers to sums that it passes on.
    ChangedSum,
    /// Masked rounds: its numbers are huge, and it says that a stream which it shares with another is to blame.
    FalseStream,
    /// Masked rounds: its numbers are huge, and it states that it sent others.
    FalseSums,
    /// Masked rounds: its numbers are huge, and it states nothing where they are looked into.
    NoProjections,
    /// Masked rounds: its numbers are huge, and it does not open its draw where they are looked into.
    NoDraw,
    /// Masked rounds: five times as long as an honest contribution can be.
    LongWords,
    /// Masked rounds: its numbers are beyond the range of which it has a proof; where none is asked for, as huge words.
    OutOfRange,
}

impl HostileKind {
    /// What it lies about under masks, where nothing is done to messages.
    pub fn lie(self) -> Option<Lie> {
        match self {
            Self::FalseZeros => Some(Lie::FalseZeros),
            Self::HugeWords => Some(Lie::HugeWords),
            Self::FalseMask => Some(Lie::FalseMask),
            Self::HalfWords => Some(Lie::HalfWords),
            Self::ChangedSum => Some(Lie::ChangedSum),
            Self::FalseStream => Some(Lie::FalseStream),
            Self::FalseSums => Some(Lie::FalseSums),
            Self::NoProjections => Some(Lie::NoProjections),
            Self::NoDraw => Some(Lie::NoDraw),
            Self::LongWords => Some(Lie::LongWords),
            Self::OutOfRange => Some(Lie::OutOfRange),
            _ => None,
        }
    }
}

/// Kinds that are one word.
const WORDS: &[(&str, HostileKind)] = &[
    ("nan", HostileKind::Nan),
    ("huge", HostileKind::Huge),
    ("wrong-length", HostileKind::WrongLength),
    ("replay", HostileKind::Replay),
    ("other-run", HostileKind::OtherRun),
    ("flood", HostileKind::Flood),
    ("sign", HostileKind::Sign),
    ("label", HostileKind::Label),
    ("forged-model", HostileKind::ForgedModel),
    ("forged-decision", HostileKind::ForgedDecision),
    ("false-standing", HostileKind::FalseStanding),
    ("zero-count", HostileKind::ZeroCount),
    ("equivocation", HostileKind::Equivocation),
    ("silence", HostileKind::Silence),
    ("high-numbers", HostileKind::HighNumbers),
    ("false-accusation", HostileKind::FalseAccusation),
    ("malformed", HostileKind::Malformed),
    ("slow", HostileKind::Slow),
    ("false-zeros", HostileKind::FalseZeros),
    ("huge-words", HostileKind::HugeWords),
    ("false-mask", HostileKind::FalseMask),
    ("half-words", HostileKind::HalfWords),
    ("changed-sum", HostileKind::ChangedSum),
    ("false-stream", HostileKind::FalseStream),
    ("false-sums", HostileKind::FalseSums),
    ("no-projections", HostileKind::NoProjections),
    ("no-draw", HostileKind::NoDraw),
    ("long-words", HostileKind::LongWords),
    ("out-of-range", HostileKind::OutOfRange),
];

/// A kind by its number.
type Numbered = fn(f64) -> HostileKind;

/// Kinds with a number behind a colon.
const NUMBERED: &[(&str, Numbered)] = &[("alie", HostileKind::Alie), ("push", HostileKind::Push)];

impl fmt::Display for HostileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alie(z) => write!(f, "alie:{z}"),
            Self::Push(part) => write!(f, "push:{part}"),
            plain => f.write_str(WORDS.iter().find(|(_, kind)| kind == plain).map_or("", |(word, _)| word)),
        }
    }
}

impl From<HostileKind> for String {
    fn from(kind: HostileKind) -> Self {
        kind.to_string()
    }
}

impl TryFrom<String> for HostileKind {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for HostileKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((_, kind)) = WORDS.iter().find(|(word, _)| *word == text) {
            return Ok(*kind);
        }
        let (word, number) = text.split_once(':').unwrap_or((text, ""));
        if let Some((word, kind)) = NUMBERED.iter().find(|(known, _)| *known == word) {
            let number: Option<f64> =
                number.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
            return number.map(kind).ok_or_else(|| {
                format!("`kind = \"{text}\"` needs a positive number, for example `{word}:0.3`")
            });
        }
        let names: Vec<&str> =
            WORDS.iter().map(|(word, _)| *word).chain(NUMBERED.iter().map(|(word, _)| *word)).collect();
        let near = topology::nearest(text, &names).map(|near| format!("; did you mean `{near}`?"));
        Err(format!(
            "there is no `kind = \"{text}\"` among {}, alie:Z, push:X{}",
            names[..WORDS.len()].join(", "),
            near.unwrap_or_default()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_comes_back_from_its_word_and_others_are_refused_by_name() {
        for (word, kind) in WORDS {
            assert_eq!((word.parse(), kind.to_string().as_str()), (Ok(*kind), *word));
        }
        assert_eq!("alie:1.5".parse(), Ok(HostileKind::Alie(1.5)));
        assert_eq!(HostileKind::Push(0.3).to_string(), "push:0.3");
        for bad in ["push", "push:", "push:-1", "push:inf", "push:NaN", "alie:x"] {
            assert!(bad.parse::<HostileKind>().unwrap_err().contains(bad), "{bad}");
        }
        assert!("flod".parse::<HostileKind>().unwrap_err().contains("did you mean `flood`?"));
    }
}

//! Members that lie under masks, for tests and simulations: they follow the protocol but for their own words, and what they say about them.

use privacy::mechanisms::grid::{WordSize, Words};

use super::check::{self, ZEROS};
use super::inspection::Rows;
use super::wearing::Opening;
use crate::PeerIx;
use crate::agreement::{CheckWords, Fingerprint, Projected, Projection, SharedMask};

/// What a member adds to its words, and how it hides that. Else it states truly what it sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lie {
    /// Something to a word that is zero: the total is void.
    FalseZeros,
    /// A large number to every number: the total is garbage, though its zeros are right.
    HugeWords,
    /// Something to a word that is zero, and as much to the mask that it says it shares with another: the total is void, and its own words agree.
    FalseMask,
    /// Half the ring to two numbers.
    HalfWords,
    /// Large numbers to a sum that it passes on, instead of its own words.
    ChangedSum,
    /// Large numbers, and where the round is looked into it says that a stream which it shares with another is to blame.
    FalseStream,
    /// Large numbers, and where the round is looked into it states that it sent others.
    FalseSums,
    /// Large numbers, and where the round is looked into it states no projections.
    NoProjections,
    /// Large numbers, and where the round is looked into it does not open its draw.
    NoDraw,
    /// Five times as long as an honest contribution can be: the total stays within its bound.
    LongWords,
    /// Numbers beyond the range of which there is a proof; without proofs, as huge words.
    OutOfRange,
}

/// What false zeros are.
const FALSE: i64 = 12_345;

impl Lie {
    /// What is added to so many words; `long` is a number of which as many are as long as an honest contribution can be.
    fn added(self, size: WordSize, length: usize, long: i64) -> Words {
        let numbers = length.saturating_sub(super::CHECK_WORDS);
        let half = match size {
            WordSize::Bits32 => 1 << 31,
            WordSize::Bits64 => i64::MIN,
        };
        let at = |place: usize| match self {
            Self::FalseZeros | Self::FalseMask if place + 1 == length => FALSE,
            Self::HalfWords if place == numbers / 3 || place == numbers / 2 => half,
            Self::HugeWords
            | Self::OutOfRange
            | Self::ChangedSum
            | Self::FalseStream
            | Self::FalseSums
            | Self::NoProjections
            | Self::NoDraw
                if place < numbers =>
            {
                i64::MAX / 7
            }
            Self::LongWords if place < numbers => {
                if place.is_multiple_of(2) {
                    5 * long
                } else {
                    -5 * long
                }
            }
            _ => 0,
        };
        Words::of(size, (0..length).map(at))
    }

    /// Told by `me`, about the mask with `other` where it is about one.
    pub(in crate::algorithm::rounds) fn tell(
        self,
        words: &mut Words,
        opening: &mut Opening,
        (me, other): (PeerIx, PeerIx),
        long: i64,
    ) {
        if self != Self::ChangedSum {
            self.change(words, long);
        }
        if self != Self::FalseMask {
            return;
        }
        let size = words.size();
        let lie =
            check::opened(&Words::of(size, (0..ZEROS).map(|at| if at + 1 == ZEROS { FALSE } else { 0 })));
        let change = |mask: CheckWords| if me < other { mask.plus(lie) } else { mask.minus(lie) };
        match opening.masks.binary_search_by_key(&other, |mask| mask.with) {
            Ok(at) => opening.masks[at].words = change(opening.masks[at].words),
            Err(at) => {
                let words = change(CheckWords::default());
                opening.masks.insert(at, SharedMask { with: other, words, key: Fingerprint::default() });
            }
        }
    }

    /// Adds it to words of a whole vector.
    pub(in crate::algorithm::rounds) fn change(self, words: &mut Words, long: i64) {
        let added = self.added(words.size(), words.len(), long);
        words.add(&added).expect("as many words of the same size");
    }

    /// What it projects instead of the truth.
    pub(in crate::algorithm::rounds) fn project(
        self,
        truth: Projected,
        (rows, size): (&Rows, WordSize),
        (me, opening, length): (PeerIx, &Opening, usize),
    ) -> Option<Projected> {
        let hidden = rows.project_part(&self.added(size, length, 0), 0);
        let mut told = truth;
        match (self, opening.masks.first()) {
            (Self::NoProjections, _) => return None,
            (Self::FalseStream, Some(mask)) => change(&mut told.streams[0], &hidden, me < mask.with),
            (Self::FalseSums, _) => {
                let sent = told.sums.iter_mut().filter_map(|step| step.sent.as_mut());
                sent.for_each(|sent| change(sent, &hidden, false));
            }
            _ => {}
        }
        Some(told)
    }
}

/// Adds something to projections, or takes it away.
fn change(projection: &mut Projection, by: &Words, adds: bool) {
    let mut words = projection.words(by.size());
    let changed = if adds { words.add(by) } else { words.subtract(by) };
    if changed.is_ok() {
        *projection = Projection::of(&words);
    }
}

//! Members that lie under masks, for tests and simulations: they follow the protocol but for their own words.

use privacy::mechanisms::grid::Words;

use super::check::{self, ZEROS};
use super::wearing::Opening;
use crate::PeerIx;
use crate::agreement::{CheckWords, SharedMask};

/// What a member adds to its words. It states truly what it sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lie {
    /// Something to a word that is zero: the total is void.
    FalseZeros,
    /// A large number to every number: the total is garbage, though its zeros are right.
    HugeWords,
    /// Something to a word that is zero, and as much to the mask that it says it shares with another: the total is void, and its own words agree.
    FalseMask,
}

/// What false zeros are.
const FALSE: i64 = 12_345;

impl Lie {
    /// Told by `me`, about the mask with `other` where it is about one.
    pub(in crate::algorithm::rounds) fn tell(
        self,
        words: &mut Words,
        opening: &mut Opening,
        (me, other): (PeerIx, PeerIx),
    ) {
        let (length, size) = (words.len(), words.size());
        let numbers = length.saturating_sub(super::CHECK_WORDS);
        let added = match self {
            Self::HugeWords => {
                Words::of(size, (0..length).map(|at| if at < numbers { i64::MAX / 7 } else { 0 }))
            }
            Self::FalseZeros | Self::FalseMask => {
                Words::of(size, (0..length).map(|at| if at + 1 == length { FALSE } else { 0 }))
            }
        };
        words.add(&added).expect("as many words of the same size");
        if self != Self::FalseMask {
            return;
        }
        let lie =
            check::opened(&Words::of(size, (0..ZEROS).map(|at| if at + 1 == ZEROS { FALSE } else { 0 })));
        let change = |mask: CheckWords| if me < other { mask.plus(lie) } else { mask.minus(lie) };
        match opening.masks.binary_search_by_key(&other, |mask| mask.with) {
            Ok(at) => opening.masks[at].words = change(opening.masks[at].words),
            Err(at) => {
                let words = change(CheckWords::default());
                opening.masks.insert(at, SharedMask { with: other, words });
            }
        }
    }
}

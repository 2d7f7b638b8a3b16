//! The numbers of a message, which travel beside its [`Body`](crate::Body): released vectors, or words of a ring.

use std::fmt;
use std::sync::Arc;

use privacy::mechanisms::grid;

use crate::values::Values;

/// What a message carries. Cloning shares the numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum Numbers {
    /// Released numbers, or functions of such.
    Reals(Values),
    /// Residues modulo 2³² or 2⁶⁴: sums under masks.
    Words(Words),
}

impl Numbers {
    /// How many.
    pub fn len(&self) -> usize {
        match self {
            Self::Reals(values) => values.len(),
            Self::Words(words) => words.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether every number is finite; words always are.
    pub fn is_finite(&self) -> bool {
        match self {
            Self::Reals(values) => values.is_finite(),
            Self::Words(_) => true,
        }
    }

    /// Bytes on the wire.
    pub fn bytes(&self) -> u64 {
        let width = match self {
            Self::Reals(_) => 4,
            Self::Words(words) => words.width(),
        };
        width * self.len() as u64
    }

    /// The released numbers, where it is such.
    pub fn reals(&self) -> Option<&Values> {
        match self {
            Self::Reals(values) => Some(values),
            Self::Words(_) => None,
        }
    }

    /// The words, where it is such.
    pub(crate) fn words(&self) -> Option<&Words> {
        match self {
            Self::Reals(_) => None,
            Self::Words(words) => Some(words),
        }
    }

    /// As [`reals`](Self::reals), taking them.
    pub(crate) fn into_reals(self) -> Option<Values> {
        match self {
            Self::Reals(values) => Some(values),
            Self::Words(_) => None,
        }
    }
}

impl From<Values> for Numbers {
    fn from(values: Values) -> Self {
        Self::Reals(values)
    }
}

impl From<Words> for Numbers {
    fn from(words: Words) -> Self {
        Self::Words(words)
    }
}

/// Masked words, a part of them or sums of such: what a message of a masked round carries.
impl From<&grid::Words> for Words {
    fn from(words: &grid::Words) -> Self {
        match words {
            grid::Words::Narrow(words) => Self::modulo_32(words.clone()),
            grid::Words::Wide(words) => Self::modulo_64(words.clone()),
        }
    }
}

/// Residues modulo 2³² or 2⁶⁴, which add up without rounding and in any order.
#[derive(Clone, PartialEq, Eq)]
pub struct Words(Arc<Residues>);

/// Behind one pointer, as [`Values`] are: messages are many, and most of them wait in a queue.
#[derive(PartialEq, Eq)]
enum Residues {
    Modulo32(Box<[u32]>),
    Modulo64(Box<[u64]>),
}

impl Words {
    /// Residues modulo 2³².
    pub fn modulo_32(words: Vec<u32>) -> Self {
        Self(Arc::new(Residues::Modulo32(words.into_boxed_slice())))
    }

    /// Residues modulo 2⁶⁴.
    pub fn modulo_64(words: Vec<u64>) -> Self {
        Self(Arc::new(Residues::Modulo64(words.into_boxed_slice())))
    }

    /// How many.
    pub fn len(&self) -> usize {
        match &*self.0 {
            Residues::Modulo32(words) => words.len(),
            Residues::Modulo64(words) => words.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of one.
    pub fn width(&self) -> u64 {
        match &*self.0 {
            Residues::Modulo32(_) => 4,
            Residues::Modulo64(_) => 8,
        }
    }

    /// The residues, where they are modulo 2³².
    pub fn as_32(&self) -> Option<&[u32]> {
        match &*self.0 {
            Residues::Modulo32(words) => Some(words),
            Residues::Modulo64(_) => None,
        }
    }

    /// The residues, where they are modulo 2⁶⁴.
    pub fn as_64(&self) -> Option<&[u64]> {
        match &*self.0 {
            Residues::Modulo32(_) => None,
            Residues::Modulo64(words) => Some(words),
        }
    }
}

/// Numbers are never printed: logs must not carry what may not be masked.
impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Words({} modulo 2^{})", self.len(), 8 * self.width())
    }
}

/// How many numbers belong beside what is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// None.
    Nothing,
    /// As many as the model has parameters.
    Vector,
    /// Parameters and behind them the state of the optimiser: at most three more vectors, and four numbers.
    Model,
}

impl Load {
    /// The most numbers that any message carries for a model of so many parameters.
    pub fn most(parameters: usize) -> usize {
        parameters.saturating_mul(4).saturating_add(4)
    }

    /// Whether so many numbers fit a model of so many parameters.
    pub(crate) fn admits(self, count: usize, parameters: usize) -> bool {
        match self {
            Self::Nothing => count == 0,
            Self::Vector => count == parameters,
            Self::Model => (parameters..=Self::most(parameters)).contains(&count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_counted_in_bytes_and_not_printed() {
        let reals = Numbers::Reals(Values::from_wire(vec![0.25; 3]));
        let short = Numbers::Words(Words::modulo_32(vec![4_000_000_001; 3]));
        let long = Numbers::Words(Words::modulo_64(vec![4_000_000_001; 3]));
        assert_eq!([reals.bytes(), short.bytes(), long.bytes()], [12, 12, 24]);
        for numbers in [&reals, &short, &long] {
            let shown = format!("{numbers:?}");
            assert!(!shown.contains("4000000001") && !shown.contains("0.25"), "{shown}");
        }
        assert_ne!(short, long, "a residue modulo 2³² is not one modulo 2⁶⁴");
    }

    /// A simulation has many messages under way.
    #[test]
    fn a_message_is_small() {
        assert_eq!(size_of::<Option<Numbers>>(), 16);
        assert!(size_of::<crate::Message>() <= 56, "{}", size_of::<crate::Message>());
    }

    #[test]
    fn a_load_says_how_many_numbers_fit() {
        assert!(Load::Nothing.admits(0, 3) && !Load::Nothing.admits(1, 3));
        assert!(Load::Vector.admits(3, 3) && !Load::Vector.admits(2, 3) && !Load::Vector.admits(4, 3));
        assert!(Load::Model.admits(3, 3) && Load::Model.admits(16, 3));
        assert!(!Load::Model.admits(2, 3) && !Load::Model.admits(17, 3) && !Load::Model.admits(0, 3));
        assert_eq!(Load::most(usize::MAX), usize::MAX);
    }
}

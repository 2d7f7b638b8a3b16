//! What a member carries through a round: the sum of what reached it, as real numbers or as masked words.

use privacy::mechanisms::grid;

use crate::numbers::{Numbers, Words};
use crate::values::Values;

/// A sum.
#[derive(Debug)]
pub(super) enum Carried {
    Reals(Vec<f32>),
    Words(grid::Words),
}

impl Carried {
    /// As it is sent.
    pub(super) fn numbers(&self) -> Numbers {
        match self {
            Self::Reals(sum) => Values::derived(sum.clone()).into(),
            Self::Words(sum) => Words::from(sum).into(),
        }
    }

    /// Whether others' numbers can be added: of the same kind, and as many.
    pub(super) fn takes(&self, numbers: &Numbers) -> bool {
        match (self, numbers) {
            (Self::Reals(sum), Numbers::Reals(values)) => sum.len() == values.len(),
            (Self::Words(grid::Words::Narrow(sum)), Numbers::Words(words)) => {
                words.as_32().is_some_and(|words| words.len() == sum.len())
            }
            (Self::Words(grid::Words::Wide(sum)), Numbers::Words(words)) => {
                words.as_64().is_some_and(|words| words.len() == sum.len())
            }
            (Self::Reals(_), Numbers::Words(_)) | (Self::Words(_), Numbers::Reals(_)) => false,
        }
    }

    /// Adds what [`takes`](Self::takes) allows; anything else changes nothing.
    pub(super) fn add(&mut self, numbers: &Numbers) {
        self.combine(
            numbers,
            |sum, value| *sum += value,
            |sum, word| *sum = sum.wrapping_add(word),
            |sum, word| {
                *sum = sum.wrapping_add(word);
            },
        );
    }

    /// Takes over what [`takes`](Self::takes) allows; anything else changes nothing.
    pub(super) fn adopt(&mut self, numbers: &Numbers) {
        self.combine(numbers, |sum, value| *sum = value, |sum, word| *sum = word, |sum, word| *sum = word);
    }

    fn combine(
        &mut self,
        numbers: &Numbers,
        reals: impl Fn(&mut f32, f32),
        narrow: impl Fn(&mut u32, u32),
        wide: impl Fn(&mut u64, u64),
    ) {
        match (self, numbers) {
            (Self::Reals(sum), Numbers::Reals(values)) => {
                sum.iter_mut().zip(values.as_slice()).for_each(|(sum, &value)| reals(sum, value));
            }
            (Self::Words(grid::Words::Narrow(sum)), Numbers::Words(words)) => {
                sum.iter_mut().zip(words.as_32().unwrap_or(&[])).for_each(|(sum, &word)| narrow(sum, word));
            }
            (Self::Words(grid::Words::Wide(sum)), Numbers::Words(words)) => {
                sum.iter_mut().zip(words.as_64().unwrap_or(&[])).for_each(|(sum, &word)| wide(sum, word));
            }
            (Self::Reals(_), Numbers::Words(_)) | (Self::Words(_), Numbers::Reals(_)) => {}
        }
    }
}

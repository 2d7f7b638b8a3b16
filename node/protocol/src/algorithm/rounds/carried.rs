//! What a member carries through a round: the sum of what reached it, as real numbers or as masked words.

use std::ops::Range;

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
    /// How many numbers.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Reals(sum) => sum.len(),
            Self::Words(sum) => sum.len(),
        }
    }

    /// A part, as it is sent.
    pub(super) fn numbers(&self, part: Range<usize>) -> Numbers {
        match self {
            Self::Reals(sum) => Values::derived(sum[part].to_vec()).into(),
            Self::Words(grid::Words::Narrow(sum)) => Words::modulo_32(sum[part].to_vec()).into(),
            Self::Words(grid::Words::Wide(sum)) => Words::modulo_64(sum[part].to_vec()).into(),
        }
    }

    /// Whether others' numbers can be added to a part: of the same kind, and as many.
    pub(super) fn takes(&self, part: &Range<usize>, numbers: &Numbers) -> bool {
        let length = match (self, numbers) {
            (Self::Reals(_), Numbers::Reals(values)) => Some(values.len()),
            (Self::Words(grid::Words::Narrow(_)), Numbers::Words(words)) => words.as_32().map(<[u32]>::len),
            (Self::Words(grid::Words::Wide(_)), Numbers::Words(words)) => words.as_64().map(<[u64]>::len),
            (Self::Reals(_), Numbers::Words(_)) | (Self::Words(_), Numbers::Reals(_)) => None,
        };
        part.end <= self.len() && length == Some(part.len())
    }

    /// Adds what [`takes`](Self::takes) allows; anything else changes nothing.
    pub(super) fn add(&mut self, part: Range<usize>, numbers: &Numbers) {
        self.combine(
            (part, numbers),
            |sum, value| *sum += value,
            |sum, word| *sum = sum.wrapping_add(word),
            |sum, word| {
                *sum = sum.wrapping_add(word);
            },
        );
    }

    /// Takes over what [`takes`](Self::takes) allows; anything else changes nothing.
    pub(super) fn adopt(&mut self, part: Range<usize>, numbers: &Numbers) {
        self.combine(
            (part, numbers),
            |sum, value| *sum = value,
            |sum, word| *sum = word,
            |sum, word| *sum = word,
        );
    }

    fn combine(
        &mut self,
        (part, numbers): (Range<usize>, &Numbers),
        reals: impl Fn(&mut f32, f32),
        narrow: impl Fn(&mut u32, u32),
        wide: impl Fn(&mut u64, u64),
    ) {
        if !self.takes(&part, numbers) {
            return;
        }
        match (self, numbers) {
            (Self::Reals(sum), Numbers::Reals(values)) => {
                sum[part].iter_mut().zip(values.as_slice()).for_each(|(sum, &value)| reals(sum, value));
            }
            (Self::Words(grid::Words::Narrow(sum)), Numbers::Words(words)) => {
                sum[part]
                    .iter_mut()
                    .zip(words.as_32().unwrap_or(&[]))
                    .for_each(|(sum, &word)| narrow(sum, word));
            }
            (Self::Words(grid::Words::Wide(sum)), Numbers::Words(words)) => {
                sum[part]
                    .iter_mut()
                    .zip(words.as_64().unwrap_or(&[]))
                    .for_each(|(sum, &word)| wide(sum, word));
            }
            (Self::Reals(_), Numbers::Words(_)) | (Self::Words(_), Numbers::Reals(_)) => {}
        }
    }
}

//! Integers x with probability exactly proportional to e^(−x²/2s²): the discrete Gaussian, fast.
//!
//! The integers are cut into cells of 2^b, sixteen to thirty-two to the parameter, and the area under the curve into boxes that are one cell
//! wide and 1/H high. A word names a box (13 bits) and a place in its cell (b bits), all equally likely. Nearly nineteen boxes in twenty lie wholly
//! under the curve: the place is the sample. The others are cut by the curve, and a second word says how high in its box the point lies;
//! it is kept if it is under the curve. What lies beyond all cells is one box on either side, handed on in halves.
//!
//! **Exact.** Only the comparison "is this point under e^(−x²/2s²)?" involves real numbers. A chord decides it mostly, a double nearly always;
//! where the error bound of the double leaves it open, integers of growing length do ([`exact`]). So with uniform words the law has no error at all, in the
//! tails neither. Only integers, IEEE arithmetic and `libm`: the same samples on every machine.

mod curve;
mod exact;
mod table;

use std::cell::RefCell;
use std::sync::Arc;

use super::chacha::{Block, KeyStream};
use crate::mechanisms::MechanismError;
use crate::vectorised;
use curve::Curve;
use table::Table;

/// Samples made at a time, in blocks of the cipher: a multiple of the 6 or 28 that it makes at once.
const BLOCKS: usize = 84;
const SAMPLES: usize = 8 * BLOCKS;

/// The law of integers x with probability proportional to e^(−x²/2s²). Building one takes about a tenth of a millisecond; clones share it.
///
/// ```
/// use privacy::noise::{IntegerNormal, NoiseSource, SystemNoise};
///
/// let law = IntegerNormal::new(1000)?;
/// let mut noise = [0; 4];
/// SystemNoise::new()?.integer_normals(&law, &mut noise);
/// assert!(noise.iter().all(|x| x.abs() < 40_000)); // but for a probability of 1e-346
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct IntegerNormal {
    table: Arc<Table>,
}

impl IntegerNormal {
    /// The least parameter: below it sums of such noises are no longer within 1e-76 of the discrete Gaussian of the summed variances.
    pub const LEAST: u64 = 16;
    /// The largest parameter: every sample that a double is asked about is an exact double.
    pub const LARGEST: u64 = 1 << 47;

    /// The law of parameter s.
    ///
    /// # Errors
    /// If s is not between [`LEAST`](Self::LEAST) and [`LARGEST`](Self::LARGEST).
    pub fn new(parameter: u64) -> Result<Self, MechanismError> {
        if (Self::LEAST..=Self::LARGEST).contains(&parameter) {
            Ok(Self { table: Arc::new(Table::new(Curve::new(parameter))) })
        } else {
            Err(MechanismError::NoiseParameter { parameter, least: Self::LEAST, largest: Self::LARGEST })
        }
    }

    /// s. The variance is s² up to a factor 1 − 10⁻²⁰⁰⁰, and never above.
    pub fn parameter(&self) -> u64 {
        self.table.curve.parameter
    }
}

impl PartialEq for IntegerNormal {
    fn eq(&self, other: &Self) -> bool {
        self.parameter() == other.parameter()
    }
}

/// Replaces each value by `f(value, fresh sample)`, from one word each and what `more` gives where one is not enough.
pub(super) fn combine<T: Copy>(
    law: &IntegerNormal,
    words: &mut KeyStream<'_>,
    more: &mut impl FnMut() -> u64,
    values: &mut [T],
    f: impl Fn(T, i64) -> T,
) {
    SCRATCH.with_borrow_mut(|scratch| {
        for values in values.chunks_mut(SAMPLES) {
            let blocks = &mut scratch.blocks[..values.len().div_ceil(8)];
            words.fill(blocks);
            let samples = &mut scratch.samples[..values.len()];
            samples_of(&law.table, &blocks.as_flattened()[..values.len()], samples, more);
            vectorised(
                #[inline(always)]
                || values.iter_mut().zip(&*samples).for_each(|(value, &noise)| *value = f(*value, noise)),
            );
        }
    });
}

/// One sample for each word: first as if every box were wholly under the curve, then again what was not, in order.
fn samples_of(table: &Table, words: &[u64], samples: &mut [i64], more: &mut impl FnMut() -> u64) {
    let mut unsure = [0; SAMPLES];
    let count = vectorised(
        #[inline(always)]
        || table.quick(words, samples, &mut unsure),
    );
    for &place in &unsure[..count] {
        let place = usize::from(place);
        samples[place] = table.careful(words[place], more);
    }
}

thread_local! {
    /// Kept between calls, as for normals.
    static SCRATCH: RefCell<Scratch> = const {
        RefCell::new(Scratch { blocks: [[0; 8]; BLOCKS], samples: [0; SAMPLES] })
    };
}

/// Overwrites what the last call on this thread left behind: words and samples of secret noise.
pub(super) fn forget() {
    SCRATCH.with_borrow_mut(|scratch| {
        scratch.blocks = [[0; 8]; BLOCKS];
        scratch.samples = [0; SAMPLES];
    });
}

struct Scratch {
    blocks: [Block; BLOCKS],
    samples: [i64; SAMPLES],
}

#[cfg(test)]
mod tests;

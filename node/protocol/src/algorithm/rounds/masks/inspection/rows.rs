//! The directions: k rows of entries 0 (½) and ±1 (¼ each), drawn again while their least eigenvalue is small, and the identity on k words of noise behind the numbers.

use privacy::mechanisms::grid::{WordSize, Words};
use sha2::{Digest as _, Sha256};

/// More draws than any seed needs: at least half are kept, so that this many fail with probability 2⁻⁶⁴.
const MOST_DRAWS: u32 = 64;

/// R′ = [R I].
#[derive(Debug, Clone)]
pub struct Rows {
    rows: Vec<Row>,
    dimension: usize,
}

/// One row by bits, 64 entries each: which are not zero, and which of these are negative.
#[derive(Debug, Clone)]
struct Row {
    present: Vec<u64>,
    negative: Vec<u64>,
}

/// Why there are no rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RowsError {
    /// No direction, or not more numbers than directions.
    #[error(
        "{directions} directions in {dimension} numbers: at least one, and fewer than numbers, can be looked along"
    )]
    TooMany {
        /// k.
        directions: usize,
        /// d.
        dimension: usize,
    },
    /// No draw has an eigenvalue that is large enough.
    #[error("no draw of {directions} rows of {dimension} entries is far enough from dependence")]
    NoDraw {
        /// k.
        directions: usize,
        /// d.
        dimension: usize,
    },
}

impl topology::Hint for RowsError {
    fn hint(&self) -> Option<String> {
        Some("use fewer directions, or a model with more parameters".into())
    }
}

impl Rows {
    /// The rows of a seed, the same on every machine.
    ///
    /// # Guarantee
    /// 2λ_min(RRᵀ) ≥ (√d − √k)², as the price of an inspection asks for.
    ///
    /// # Assumes
    /// The seed was fixed after the words that are looked into.
    ///
    /// # Errors
    /// See [`RowsError`].
    pub fn new(seed: &[u8; 32], directions: usize, dimension: usize) -> Result<Self, RowsError> {
        if directions == 0 || dimension <= directions {
            return Err(RowsError::TooMany { directions, dimension });
        }
        let gap = libm::sqrt(dimension as f64) - libm::sqrt(directions as f64);
        (0..MOST_DRAWS)
            .map(|draw| Self::drawn(seed, draw, (directions, dimension)))
            .find(|rows| rows.is_far_from_dependence(gap * gap / 2.0))
            .ok_or(RowsError::NoDraw { directions, dimension })
    }

    fn drawn(seed: &[u8; 32], draw: u32, (directions, dimension): (usize, usize)) -> Self {
        let hash = Sha256::new().chain_update(b"murmur inspection 1").chain_update(seed);
        let key: [u8; 32] = hash.chain_update(draw.to_le_bytes()).finalize().into();
        let blocks = dimension.div_ceil(64);
        let mut bits = Words::zeros(WordSize::Bits64, 2 * blocks * directions);
        bits.add_mask(&key);
        let bits: Vec<u64> = bits.centred().map(|word| word as u64).collect();
        // Entries beyond the last are none.
        let last = u64::MAX >> (64 * blocks - dimension);
        let row = |bits: &[u64]| {
            let (present, negative) = bits.split_at(blocks);
            let mut present = present.to_vec();
            if let Some(end) = present.last_mut() {
                *end &= last;
            }
            let negative = negative.iter().zip(&present).map(|(sign, there)| sign & there).collect();
            Row { present, negative }
        };
        Self { rows: bits.chunks_exact(2 * blocks).map(row).collect(), dimension }
    }

    /// Whether RRᵀ − `least`·I has a Cholesky factor.
    fn is_far_from_dependence(&self, least: f64) -> bool {
        let k = self.rows.len();
        let mut factor = vec![0.0; k * k];
        for i in 0..k {
            for j in 0..=i {
                let before: f64 = (0..j).map(|at| factor[i * k + at] * factor[j * k + at]).sum();
                let entry = self.rows[i].dot(&self.rows[j]) as f64 - if i == j { least } else { 0.0 };
                if i == j {
                    if entry <= before {
                        return false;
                    }
                    factor[i * k + i] = libm::sqrt(entry - before);
                } else {
                    factor[i * k + j] = (entry - before) / factor[j * k + j];
                }
            }
        }
        true
    }

    /// k.
    pub fn directions(&self) -> usize {
        self.rows.len()
    }

    /// R′x, modulo the size of the words, of d numbers with k words behind them; `None` for another number of words.
    pub fn project(&self, words: &Words) -> Option<Words> {
        if words.len() != self.dimension + self.rows.len() {
            return None;
        }
        let rows = self.rows.iter().enumerate();
        Some(match words {
            Words::Narrow(words) => Words::Narrow(
                rows.map(|(at, row)| {
                    let own = words[self.dimension + at];
                    row.sum(|entry| words[entry], own, u32::wrapping_add, u32::wrapping_sub)
                })
                .collect(),
            ),
            Words::Wide(words) => Words::Wide(
                rows.map(|(at, row)| {
                    let own = words[self.dimension + at];
                    row.sum(|entry| words[entry], own, u64::wrapping_add, u64::wrapping_sub)
                })
                .collect(),
            ),
        })
    }

    /// R′ of a vector of which these words stand at `start` and whose others are zeros. Words behind the k of noise have no direction.
    pub(crate) fn project_part(&self, words: &Words, start: usize) -> Words {
        let length = self.dimension + self.rows.len();
        let mut whole = Words::zeros(words.size(), length);
        match (&mut whole, words) {
            (Words::Narrow(whole), Words::Narrow(words)) => put(whole, words, start),
            (Words::Wide(whole), Words::Wide(words)) => put(whole, words, start),
            (Words::Narrow(_), Words::Wide(_)) | (Words::Wide(_), Words::Narrow(_)) => {}
        }
        self.project(&whole).unwrap_or(whole)
    }

    /// R′ of the stream of a key.
    pub(crate) fn project_stream(&self, size: WordSize, key: &[u8; 32]) -> Words {
        let mut stream = Words::zeros(size, self.dimension + self.rows.len());
        stream.add_mask(key);
        self.project_part(&stream, 0)
    }

    /// As [`project_part`](Self::project_part), of little-endian words.
    pub(crate) fn project_bytes(&self, size: WordSize, start: usize, bytes: &[u8]) -> Words {
        let words = match size {
            WordSize::Bits32 => {
                Words::Narrow(bytes.as_chunks().0.iter().map(|it| u32::from_le_bytes(*it)).collect())
            }
            WordSize::Bits64 => {
                Words::Wide(bytes.as_chunks().0.iter().map(|it| u64::from_le_bytes(*it)).collect())
            }
        };
        self.project_part(&words, start)
    }
}

/// As many words as there is room for from `start` on.
fn put<T: Copy>(whole: &mut [T], words: &[T], start: usize) {
    if let Some(room) = whole.get_mut(start..) {
        room.iter_mut().zip(words).for_each(|(to, word)| *to = *word);
    }
}

impl Row {
    fn dot(&self, other: &Self) -> i64 {
        let both = self.present.iter().zip(&other.present).map(|(a, b)| a & b);
        let signs = self.negative.iter().zip(&other.negative).map(|(a, b)| a ^ b);
        both.zip(signs)
            .map(|(both, sign)| i64::from(both.count_ones()) - 2 * i64::from((both & sign).count_ones()))
            .sum()
    }

    fn sum<T>(
        &self,
        value: impl Fn(usize) -> T,
        start: T,
        add: impl Fn(T, T) -> T,
        subtract: impl Fn(T, T) -> T,
    ) -> T {
        let mut sum = start;
        for (block, (&present, &negative)) in self.present.iter().zip(&self.negative).enumerate() {
            let mut left = present;
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                let entry = value(64 * block + bit as usize);
                sum = if (negative >> bit) & 1 == 1 { subtract(sum, entry) } else { add(sum, entry) };
            }
        }
        sum
    }
}

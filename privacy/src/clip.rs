//! Clipping to an L2 norm: what makes the sensitivity of a sum known.
//!
//! Invariant: whatever comes in, what goes out has true L2 norm at most C, rounding included, or is zero. NaN and
//! infinities contribute nothing. Data are f32, norms are accumulated in f64 in a fixed order (the same bits on every
//! machine).

use crate::mechanisms::MechanismError;
use crate::mechanisms::error::positive;
use crate::vectorised;

/// Relative safety margin of a factor. Covers the rounding of every product to f32 (2⁻²⁴), of the norm (below 2⁻²⁶ up to
/// 2²⁸ coordinates even for one running sum), and of the root and quotient (2⁻⁵⁰).
const MARGIN: f64 = 1.0 / (1 << 22) as f64;
/// Below this bound rounding to subnormal f32 values is no longer small against C: everything non-zero becomes zero.
const SMALLEST_SCALED_NORM: f64 = 7.888_609_052_210_118e-31; // 2^-100
/// Independent accumulators: a fixed number, so that the sum is the same for every vector width of the processor.
const LANES: usize = 32;

/// The clip norm C: a positive finite bound on the L2 norm of one contribution.
///
/// ```
/// use privacy::clip::{ClipNorm, Clipping};
///
/// let clip = ClipNorm::new(1.0)?;
/// let mut gradient = [3.0, 4.0];
/// assert_eq!(clip.clip(&mut gradient), Clipping::Scaled);
/// assert!((gradient[0] - 0.6).abs() < 1e-6);
///
/// let mut broken = [f32::NAN, 1.0];
/// assert_eq!(clip.clip(&mut broken), Clipping::Discarded);
/// assert_eq!(broken, [0.0, 0.0]);
/// # Ok::<(), privacy::mechanisms::MechanismError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct ClipNorm(f64);

/// What clipping did to one contribution. Depends on private data: not to be published without noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clipping {
    /// The norm was within the bound.
    Unchanged,
    /// The vector was scaled down.
    Scaled,
    /// The vector held NaN or infinity (or could not be scaled down soundly) and is now zero.
    Discarded,
}

impl ClipNorm {
    /// A clip norm, if `value` is positive and finite.
    pub fn new(value: f64) -> Result<Self, MechanismError> {
        positive("Clip norm", value).map(Self)
    }

    /// C.
    pub fn value(self) -> f64 {
        self.0
    }

    /// A clip norm that is `factor` times as large; not larger than this one, and positive.
    #[must_use]
    pub fn shrunk(self, factor: f64) -> Self {
        // NaN leaves it as it is: tighter is only ever asked for, never needed for a bound of C itself.
        if factor > 0.0 && factor < 1.0 { Self((self.0 * factor).max(f64::MIN_POSITIVE)) } else { self }
    }

    /// Scales one contribution (an example's gradient, a node's update) to L2 norm at most C.
    ///
    /// # Guarantee
    /// Afterwards the true L2 norm of the f32 values is at most C. Two results for any two inputs differ by at most 2C,
    /// and a result differs from the zero of an absent contribution by at most C.
    ///
    /// # Assumes
    /// At most 2²⁸ coordinates.
    pub fn clip(self, vector: &mut [f32]) -> Clipping {
        let norm_squared = norm_squared(vector);
        if !norm_squared.is_finite() {
            vector.fill(0.0);
            return Clipping::Discarded;
        }
        // A sum of d squares is right to d·2⁻⁵³; only when the bound lies within that does the exact sum decide.
        let square = self.0 * self.0;
        let uncertainty = norm_squared * (vector.len() as f64 * f64::EPSILON);
        let within = norm_squared + uncertainty <= square
            || norm_squared - uncertainty <= square && self.covers_exactly(vector);
        if within {
            return Clipping::Unchanged;
        }
        // max: a norm that the exact sum put above C must not slip through by its rounded value.
        let factor = self.factor(norm_squared.max(square * (1.0 + f64::EPSILON)));
        if factor > 0.0 {
            vectorised(
                #[inline(always)]
                || vector.iter_mut().for_each(|x| *x *= factor),
            );
            Clipping::Scaled
        } else {
            vector.fill(0.0);
            Clipping::Discarded
        }
    }

    /// Clips each row of a row-major matrix: one example per row. Returns how many rows were unchanged, scaled and
    /// discarded; these counts depend on private data.
    ///
    /// # Guarantee
    /// Each row as in [`clip`](Self::clip): adding or removing one example moves the sum of rows by at most C.
    ///
    /// # Panics
    /// If `width` is zero or does not divide the length.
    pub fn clip_examples(self, rows: &mut [f32], width: usize) -> [usize; 3] {
        assert!(width > 0 && rows.len().is_multiple_of(width), "rows of {width} in {} values", rows.len());
        let mut counts = [0; 3];
        for row in rows.chunks_exact_mut(width) {
            counts[self.clip(row) as usize] += 1;
        }
        counts
    }

    /// The factor that clips a vector whose squared norm is known, for clipping without the vector at hand.
    ///
    /// # Guarantee
    /// The values `factor * x`, rounded to f32, have true L2 norm at most C. The factor lies in [0, 1]; it is 0 for a
    /// norm that is not finite: such a contribution must be left out, not multiplied (0 · NaN is NaN).
    ///
    /// # Assumes
    /// `norm_squared` is at least the true squared norm, up to a relative 2⁻²⁵ if it exceeds C². (Norms found in
    /// single precision are worse than that: accumulate in double.) At most 2²⁸ coordinates.
    pub fn factor(self, norm_squared: f64) -> f32 {
        if !norm_squared.is_finite() || norm_squared < 0.0 {
            return 0.0;
        }
        if self.covers(norm_squared) {
            return 1.0;
        }
        if self.0 < SMALLEST_SCALED_NORM {
            return 0.0;
        }
        let target = (self.0 / norm_squared.sqrt() * (1.0 - MARGIN)).min(1.0);
        let nearest = target as f32;
        if f64::from(nearest) > target { nearest.next_down() } else { nearest }
    }

    /// [`factor`](Self::factor) of each norm, in one vector loop: square roots and quotients of single numbers would cost as much as the
    /// gradient of a small model.
    ///
    /// # Guarantee
    /// The same numbers as [`factor`](Self::factor), bit for bit.
    ///
    /// # Assumes
    /// As [`factor`](Self::factor).
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn factors(self, norms_squared: &[f64], out: &mut [f32]) {
        assert_eq!(norms_squared.len(), out.len(), "one factor for each norm");
        let square = self.0 * self.0;
        let limit = if self.covers(square) { square } else { square.next_down() };
        // Where nothing is scaled soundly, what is not covered is left out.
        let numerator = if self.0 < SMALLEST_SCALED_NORM { 0.0 } else { self.0 };
        vectorised(
            #[inline(always)]
            || {
                for (out, &norm) in out.iter_mut().zip(norms_squared) {
                    let target = (numerator / norm.sqrt() * (1.0 - MARGIN)).min(1.0);
                    let nearest = target as f32;
                    let down = u32::from(f64::from(nearest) > target);
                    let scaled = f32::from_bits(nearest.to_bits().wrapping_sub(down));
                    // NaN fails both comparisons, and so does an infinity the second.
                    let scaled = if norm > limit && norm < f64::INFINITY { scaled } else { 0.0 };
                    *out = if norm >= 0.0 && norm <= limit { 1.0 } else { scaled };
                }
            },
        );
    }

    /// Whether `norm_squared` ≤ C², without the rounding of C².
    fn covers(self, norm_squared: f64) -> bool {
        let square = self.0 * self.0;
        let rounding = self.0.mul_add(self.0, -square);
        norm_squared < square || norm_squared == square && rounding >= 0.0
    }

    /// The same decision for a vector whose norm is so near C that a plain sum cannot tell, by a compensated sum.
    #[cold]
    fn covers_exactly(self, vector: &[f32]) -> bool {
        let (mut sum, mut rest) = (0.0, 0.0);
        for &x in vector {
            // A product of two f32 is exact in f64; two-sum keeps what the addition loses.
            let term = f64::from(x) * f64::from(x);
            let total = sum + term;
            let back = total - sum;
            rest += (sum - (total - back)) + (term - back);
            sum = total;
        }
        let square = self.0 * self.0;
        let rounding = self.0.mul_add(self.0, -square);
        // Sterbenz: sum and square agree to many bits, so their difference is exact.
        (sum - square) + (rest - rounding) <= 0.0
    }
}

impl TryFrom<f64> for ClipNorm {
    type Error = MechanismError;

    fn try_from(value: f64) -> Result<Self, Self::Error> {
        Self::new(value)
    }
}

impl From<ClipNorm> for f64 {
    fn from(clip: ClipNorm) -> Self {
        clip.0
    }
}

/// The squared L2 norm, accumulated in double precision in a fixed order. Not finite if a value is not.
pub fn norm_squared(vector: &[f32]) -> f64 {
    vectorised(
        #[inline(always)]
        || norm_squared_kernel(vector),
    )
}

#[inline(always)]
fn norm_squared_kernel(vector: &[f32]) -> f64 {
    let mut sums = [0.0_f64; LANES];
    let chunks = vector.chunks_exact(LANES);
    for (sum, &x) in sums.iter_mut().zip(chunks.remainder()) {
        *sum = f64::from(x) * f64::from(x);
    }
    for chunk in chunks {
        for (sum, &x) in sums.iter_mut().zip(chunk) {
            *sum += f64::from(x) * f64::from(x);
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Independent of the kernel: one running sum.
    fn plain_norm(vector: &[f32]) -> f64 {
        vector.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt()
    }

    /// Ordinary, huge, tiny and subnormal values, zeros, NaN and infinities.
    fn any_single() -> impl Strategy<Value = f32> {
        prop_oneof![
            6 => -10.0_f32..10.0,
            3 => any::<f32>(),
            1 => prop_oneof![Just(f32::MAX), Just(f32::MIN_POSITIVE), Just(1e-45_f32), Just(0.0), Just(-0.0)],
        ]
    }

    proptest! {
        #[test]
        fn a_clipped_vector_never_exceeds_the_norm(
            mut vector in prop::collection::vec(any_single(), 0..200),
            exponent in -60.0_f64..45.0,
            poison in prop::option::weighted(0.1, prop_oneof![Just(f32::NAN), Just(f32::INFINITY)]),
        ) {
            vector.extend(poison);
            let clip = ClipNorm::new(exponent.exp2()).unwrap();
            let before = vector.clone();
            let outcome = clip.clip(&mut vector);
            prop_assert!(plain_norm(&vector) <= clip.value(), "{} > {}", plain_norm(&vector), clip.value());
            match outcome {
                Clipping::Unchanged => prop_assert!(vector == before && plain_norm(&before).is_finite()),
                Clipping::Scaled => prop_assert!(plain_norm(&before) > clip.value() * (1.0 - 1e-12)),
                Clipping::Discarded => prop_assert!(vector.iter().all(|&x| x == 0.0)),
            }
            if before.iter().any(|x| !x.is_finite()) {
                prop_assert_eq!(outcome, Clipping::Discarded);
            }
        }

        #[test]
        fn tiny_and_huge_clip_norms_hold_too(
            mut vector in prop::collection::vec(any::<f32>(), 1..50),
            exponent in -1074.0_f64..1023.0,
        ) {
            let clip = ClipNorm::new(exponent.exp2()).unwrap();
            clip.clip(&mut vector);
            prop_assert!(plain_norm(&vector) <= clip.value());
        }

        #[test]
        fn a_factor_from_the_norm_is_as_sound_as_clipping(
            vector in prop::collection::vec(any_single(), 1..200),
            exponent in -40.0_f64..20.0,
        ) {
            let clip = ClipNorm::new(exponent.exp2()).unwrap();
            let factor = clip.factor(norm_squared(&vector));
            prop_assert!((0.0..=1.0).contains(&factor));
            if factor > 0.0 {
                let scaled: Vec<f32> = vector.iter().map(|x| x * factor).collect();
                prop_assert!(plain_norm(&scaled) <= clip.value() * (1.0 + 1e-14));
            }
        }

        #[test]
        fn many_factors_are_those_of_one_at_a_time(
            norms in prop::collection::vec(prop_oneof![
                any::<f64>(), 0.0_f64..100.0, Just(0.0), Just(-0.0), Just(f64::NAN), Just(f64::INFINITY), Just(f64::MAX), Just(f64::MIN_POSITIVE),
            ], 0..40),
            exponent in prop_oneof![-1074.0_f64..1023.0, -3.0_f64..3.0],
        ) {
            let clip = ClipNorm::new(exponent.exp2()).unwrap();
            let square = clip.value() * clip.value();
            let norms: Vec<f64> = norms.into_iter().chain([square, square.next_up(), square.next_down()]).collect();
            let mut factors = vec![f32::NAN; norms.len()];
            clip.factors(&norms, &mut factors);
            for (norm, factor) in norms.iter().zip(&factors) {
                prop_assert_eq!(*factor, clip.factor(*norm), "{} at {}", norm, clip.value());
            }
        }

        #[test]
        fn clipping_wastes_less_than_a_millionth_of_the_norm(
            mut vector in prop::collection::vec(-1e3_f32..1e3, 1..100),
            norm in 0.1_f64..10.0,
        ) {
            let clip = ClipNorm::new(norm).unwrap();
            if clip.clip(&mut vector) == Clipping::Scaled {
                prop_assert!(plain_norm(&vector) > norm * (1.0 - 1e-6));
            }
        }
    }

    #[test]
    fn a_vector_of_exactly_the_norm_is_unchanged_and_one_bit_more_is_not() {
        let clip = ClipNorm::new(5.0).unwrap();
        let mut exact = [3.0, 4.0];
        assert_eq!(clip.clip(&mut exact), Clipping::Unchanged);
        assert_eq!(exact, [3.0, 4.0]);
        // The square of the small value is lost in a plain f64 sum: 25 + 1e-32 = 25.
        let mut above = [3.0, 4.0, 1e-16];
        assert_eq!(norm_squared(&above), 25.0);
        assert_eq!(clip.clip(&mut above), Clipping::Scaled);
        assert_eq!(clip.factor(25.0), 1.0);
        assert!(clip.factor(25.0_f64.next_up()) < 1.0);
    }

    #[test]
    fn norms_that_are_not_numbers_give_the_factor_zero() {
        let clip = ClipNorm::new(1.0).unwrap();
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0] {
            assert_eq!(clip.factor(bad), 0.0, "{bad}");
        }
        assert_eq!(clip.factor(0.0), 1.0);
        assert_eq!(clip.factor(f64::MAX), 0.0);
    }

    #[test]
    fn clip_norms_that_are_not_positive_and_finite_are_refused() {
        for bad in [f64::NAN, 0.0, -0.0, -1.0, f64::INFINITY] {
            let error = ClipNorm::new(bad).unwrap_err();
            assert!(error.to_string().contains("Clip norm"), "{error}");
            assert!(serde_json::from_str::<ClipNorm>(&bad.to_string()).is_err());
        }
    }

    #[test]
    fn examples_are_clipped_row_by_row() {
        let clip = ClipNorm::new(1.0).unwrap();
        let mut rows = [0.1, 0.2, 30.0, 40.0, f32::NAN, 1.0];
        assert_eq!(clip.clip_examples(&mut rows, 2), [1, 1, 1]);
        assert_eq!((rows[0], rows[1]), (0.1, 0.2));
        assert_eq!((rows[4], rows[5]), (0.0, 0.0));
        assert!(plain_norm(&rows[2..4]) <= 1.0);
    }

    #[test]
    fn a_long_vector_of_equal_values_is_clipped_within_the_norm() {
        let mut vector = vec![0.1_f32; 1_000_003];
        ClipNorm::new(1.0).unwrap().clip(&mut vector);
        let norm = plain_norm(&vector);
        assert!(norm <= 1.0 && norm > 1.0 - 1e-6, "{norm}");
    }
}

//! Gradients that another program made, one row per record: clipped and added up here.

use privacy::clip::{ClipNorm, norm_squared};

use super::clipped::ClippedSum;
use super::rounding;
use super::sampling::Sample;

/// Rows that are added together in single precision, before double precision takes over.
const TOGETHER: usize = 4;
/// Chunk rows and lanes for which [`rounding::slack`] bounds a sum in double precision that is rounded once, with room to spare.
const BOUNDED_BY: (usize, usize) = (64, 1);

/// A clipped sum of a sample's rows, made block by block.
///
/// The rows are as private as the records, and nothing of them is left but the sum.
#[must_use = "a sum that is not finished is lost"]
pub struct RowSum {
    total: Vec<f64>,
    clip: ClipNorm,
    sample: Sample,
    added: usize,
}

impl RowSum {
    /// The sum of no row yet, for rows of `width` numbers.
    pub fn new(sample: Sample, width: usize, clip: ClipNorm) -> Self {
        Self { total: vec![0.0; width], clip, sample, added: 0 }
    }

    /// The sample whose rows are wanted. Who was drawn is private.
    pub fn sample(&self) -> &Sample {
        &self.sample
    }

    /// Clips and adds whole rows. What is left of an unfinished row, and rows beyond the sample's, are left out.
    ///
    /// # Guarantee
    /// Whatever the rows hold, each adds a vector of norm at most C, or nothing where it holds NaN or infinities.
    pub fn add(&mut self, rows: &[f32]) {
        let (width, room) = (self.total.len().max(1), self.sample.records().len() - self.added);
        let rows: Vec<&[f32]> = rows.chunks_exact(width).take(room).collect();
        self.added += rows.len();
        for few in rows.chunks(TOGETHER) {
            let mut scaled = [(0.0, few[0]); TOGETHER];
            scaled.iter_mut().zip(few).for_each(|(scaled, row)| *scaled = (self.factor(row), row));
            // Every row keeps its place, so that all others round alike whatever it holds. 0 · NaN is NaN: another row stands for nothing.
            let Some(&(_, finite)) = scaled.iter().find(|(factor, _)| *factor > 0.0) else { continue };
            scaled.iter_mut().filter(|(factor, _)| *factor <= 0.0).for_each(|place| place.1 = finite);
            add_scaled(&mut self.total, scaled);
        }
    }

    /// What clips a row, without writing it; 0 where it holds NaN or infinities.
    fn factor(&self, row: &[f32]) -> f32 {
        let computed = norm_squared(row);
        // A sum of d squares is right to d·2⁻⁵³.
        self.clip.factor(computed * (1.0 + row.len() as f64 * f64::EPSILON))
    }

    /// Forgets all rows: the sum is zero, and costs what it would have cost.
    pub fn forget(&mut self) {
        self.total.fill(0.0);
    }

    /// The sum. Rows that did not come count as zero.
    ///
    /// # Guarantee
    /// Blanking the row of one record moves the sum by at most [`ClippedSum::sensitivity`].
    ///
    /// # Assumes
    /// A row depends on its own record and on what is public alone. Neighbours as in [`rounding`]: one record is there or blank.
    pub fn finish(self) -> ClippedSum {
        let slack = rounding::slack(self.sample.records().len(), BOUNDED_BY.0, BOUNDED_BY.1);
        let values = self.total.iter().map(|&sum| sum as f32).collect();
        ClippedSum::of_records(values, self.clip, *self.sample.sampler(), slack)
    }
}

/// Each row times its factor. All pass through so few roundings that the bound of [`BOUNDED_BY`] holds.
fn add_scaled(total: &mut [f64], rows: [(f32, &[f32]); TOGETHER]) {
    let [(a, first), (b, second), (c, third), (d, fourth)] = rows;
    privacy::vectorised(
        #[inline(always)]
        || {
            let pairs = total.iter_mut().zip(first).zip(second).zip(third).zip(fourth);
            for ((((sum, &first), &second), &third), &fourth) in pairs {
                *sum += f64::from((a * first + b * second) + (c * third + d * fourth));
            }
        },
    );
}

/// By how much, relative to what the norms allow, a trainer's own sum may be too long.
pub const TRAINER_SLACK: f64 = 1e-3;

/// A sum that a trainer clipped by factors that were computed from the norms it told.
pub struct TrainerSum {
    sample: Sample,
    clip: ClipNorm,
    factors: Vec<f32>,
    /// Σ factor · norm.
    most: f64,
}

impl TrainerSum {
    /// Factors for a sample whose rows have these norms; too few norms count as rows that are not there.
    pub fn new(sample: Sample, norms: &[f32], clip: ClipNorm) -> Self {
        let of = |norm: f32| if norm >= 0.0 { clip.factor(f64::from(norm) * f64::from(norm)) } else { 0.0 };
        let mut factors: Vec<f32> = norms.iter().map(|&norm| of(norm)).collect();
        factors.resize(sample.records().len(), 0.0);
        // A factor of 0 belongs to a norm that may be infinite.
        let held = norms.iter().zip(&factors).filter(|(_, factor)| **factor > 0.0);
        let most = held.map(|(&norm, &factor)| f64::from(norm) * f64::from(factor)).sum();
        Self { sample, clip, factors, most }
    }

    /// The factor of each row of the sample.
    pub fn factors(&self) -> &[f32] {
        &self.factors
    }

    /// The sample whose sum is wanted.
    pub fn sample(&self) -> &Sample {
        &self.sample
    }

    /// The longest that the sum can be, were the norms true.
    pub fn longest(&self) -> f64 {
        self.most * (1.0 + TRAINER_SLACK)
    }

    /// The sum, or zero where it is longer than the norms allow or not finite; says whether it was taken.
    ///
    /// # Guarantee
    /// None that is enforced here: see what is assumed. The sensitivity counts C·(1 + s + [`TRAINER_SLACK`]).
    ///
    /// # Assumes
    /// The trainer told the norms of the rows it added up, each with its factor, and a row depends on its own record alone.
    pub fn finish(self, mut values: Vec<f32>) -> (ClippedSum, bool) {
        let norm = values.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>().sqrt();
        let taken = norm <= self.longest();
        if !taken {
            values.fill(0.0);
        }
        let slack = rounding::slack(self.factors.len(), BOUNDED_BY.0, BOUNDED_BY.1) + TRAINER_SLACK;
        (ClippedSum::of_records(values, self.clip, *self.sample.sampler(), slack), taken)
    }
}

#[cfg(test)]
mod tests {
    use privacy::noise::danger_from_seed;

    use super::*;
    use crate::data::{Dataset, Targets};
    use crate::gradient::{PoissonSampler, Workspace};
    use crate::model::{Model, SoftmaxRegression};

    fn sample(records: usize) -> Sample {
        PoissonSampler::for_batch(records as f64, records).unwrap().draw(&mut danger_from_seed(1, "rows"))
    }

    fn values(sum: ClippedSum) -> Vec<f32> {
        let divisor = sum.divisor() as f32;
        let (shared, _) = sum.release(0.0, &mut danger_from_seed(1, "none")).unwrap();
        shared.values().iter().map(|value| value * divisor).collect()
    }

    #[test]
    fn the_same_rows_give_the_same_clipped_sum_as_the_built_in_model() {
        let (records, features, classes) = (40, 6, 3);
        let numbers = (0..records * features).map(|at| ((at * 37 % 101) as f32 / 50.0) - 1.0).collect();
        let labels = (0..records).map(|at| at as u32 % 3).collect();
        let data = Dataset::new(numbers, features, Targets::Class { labels, classes }).unwrap();
        let model = SoftmaxRegression::new(features, classes).unwrap();
        let params: Vec<f32> = (0..model.parameter_count()).map(|at| (at % 5) as f32 / 10.0).collect();
        let clip = ClipNorm::new(0.8).unwrap();
        let built_in = Workspace::new(&model).clipped_sum(&params, &data, sample(records), clip).unwrap();
        let mut ours = RowSum::new(sample(records), model.parameter_count(), clip);
        for record in 0..records {
            // The plain gradient of one record: what a foreign program would send.
            let alone = data.subset(&[record as u32]);
            ours.add(&crate::model::gradient(&model, &params, &alone).unwrap());
        }
        let (built_in, ours) = (values(built_in), values(ours.finish()));
        for (left, right) in built_in.iter().zip(&ours) {
            assert!((left - right).abs() < 1e-6 * 40.0, "{left} {right}");
        }
    }

    #[test]
    fn long_rows_are_cut_broken_rows_are_nothing_and_too_many_are_left_out() {
        let clip = ClipNorm::new(1.0).unwrap();
        let mut sum = RowSum::new(sample(3), 2, clip);
        sum.add(&[3e20, 4e20, f32::NAN, 1.0]);
        sum.add(&[0.0, 0.5, 9.0, 9.0, 7.0]);
        let found = values(sum.finish());
        assert!((found[0] - 0.6).abs() < 1e-5 && (found[1] - 1.3).abs() < 1e-5, "{found:?}");
        let mut forgotten = RowSum::new(sample(1), 2, clip);
        forgotten.add(&[1.0, 0.0]);
        forgotten.forget();
        let forgotten = forgotten.finish();
        assert!(forgotten.sensitivity() > 1.0, "it costs what it would have cost");
        assert_eq!(values(forgotten), [0.0, 0.0]);
    }

    #[test]
    fn however_many_rows_come_at_once_each_adds_itself_cut_to_the_norm() {
        let (count, width, clip) = (11, 5, ClipNorm::new(1.0).unwrap());
        let mut rows: Vec<f32> = (0..count * width).map(|at| ((at * 29 % 17) as f32 - 8.0) / 6.0).collect();
        rows[3 * width] = f32::NAN;
        rows[7 * width + 2] = f32::INFINITY;
        rows[9 * width..10 * width].fill(0.0);
        // Beside the definition: C / norm times the row, where that is shorter.
        let mut expected = vec![0.0_f64; width];
        for row in rows.chunks(width) {
            let norm = row.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
            if norm.is_finite() {
                let factor = (1.0 / norm.max(1e-30)).min(1.0);
                expected.iter_mut().zip(row).for_each(|(sum, &value)| *sum += factor * f64::from(value));
            }
        }
        for block in [1, 2, 3, 4, 5, 8, 11] {
            let mut sum = RowSum::new(sample(count), width, clip);
            rows.chunks(block * width).for_each(|rows| sum.add(rows));
            for (found, expected) in values(sum.finish()).iter().zip(&expected) {
                assert!((f64::from(*found) - expected).abs() < 1e-5, "{block}: {found} {expected}");
            }
        }
    }

    #[test]
    fn a_trainers_sum_that_is_longer_than_its_norms_allow_is_zero() {
        let clip = ClipNorm::new(1.0).unwrap();
        let told = || TrainerSum::new(sample(4), &[2.0, 0.5, f32::NAN, f32::INFINITY], clip);
        assert!((told().factors()[0] - 0.5).abs() < 1e-5);
        assert_eq!(told().factors()[1..], [1.0, 0.0, 0.0]);
        let (sum, taken) = told().finish(vec![1.5, 0.0]);
        assert!(taken && sum.sensitivity() > 1.0 + TRAINER_SLACK);
        assert_eq!(values(sum), [1.5, 0.0]);
        for lie in [vec![1.51, 0.0], vec![f32::NAN, 0.0], vec![f32::INFINITY, 0.0]] {
            let (sum, taken) = told().finish(lie);
            assert!(!taken);
            assert_eq!(values(sum), [0.0, 0.0]);
        }
    }
}

//! Sums of gradients over a batch, on several workers, without an allocation per example.
//!
//! The batch is cut into lanes of consecutive records and each lane into chunks; lanes are added in their order. So
//! the result depends on the number of lanes but not on the number of threads. Models that have a
//! [pass over groups](GroupPass) do larger batches group by group instead, in which threads share the parameters and not the records.

use privacy::clip::ClipNorm;
use rayon::prelude::*;

use super::clipped::ClippedSum;
use super::error::GradientError;
use super::lane::{Adding, Lane};
use super::rounding::{self, GROUP_ROWS};
use super::sampling::Sample;
use crate::model::{Examples, GroupPass, Model, kernel};

/// Lanes of a workspace unless said otherwise.
const LANES: usize = 2;
/// Products (records × parameters) below which waking another thread costs more than it saves.
const WORTH_A_THREAD: usize = 1 << 19;
/// Parameters up to which a sum stays in the first cache, so that copying it costs next to nothing.
const WORTH_COPYING: usize = 1 << 12;

/// Records from which on a model's pass over groups is used: with fewer, preparing it costs more than it saves.
const FEWEST_FOR_GROUPS: usize = 64;

/// The buffers for one model's gradients; make it once and use it for every step.
pub struct Workspace {
    lanes: Vec<Lane>,
    chunk_rows: usize,
    /// For models that have one, and batches large enough.
    group: Option<Box<dyn GroupPass>>,
    /// A vector of the right length to hand out next.
    spare: Option<Vec<f32>>,
}

impl Workspace {
    /// Buffers for `model`.
    pub fn new(model: &dyn Model) -> Self {
        Self::with_lanes(model, LANES)
    }

    /// Buffers for `model` with a given number of lanes (at least one): as many threads can work at a time. Part of the
    /// definition of the result: another number rounds differently.
    pub fn with_lanes(model: &dyn Model, lanes: usize) -> Self {
        let group = model.group_pass(if lanes > 1 { rayon::current_num_threads() } else { 1 });
        let lanes = (0..lanes.max(1)).map(|_| Lane::new(model)).collect();
        Self { lanes, chunk_rows: model.chunk_rows(), group, spare: None }
    }

    /// The sum of the sample's gradients, each clipped to norm C. The model's penalty is left out.
    ///
    /// # Guarantee
    /// For any parameters and features, NaN and infinities included, blanking one record moves the sum by at most
    /// [`ClippedSum::sensitivity`] = C·(1 + s) in L2 norm, with the rounding slack s of [`rounding`](super::rounding). An
    /// example whose gradient is not finite contributes nothing.
    ///
    /// # Assumes
    /// Neighbours as in [`rounding`](super::rounding): one record is there or blank, its place is kept. Arithmetic
    /// rounds to nearest. `params` do not depend on the private data except through earlier releases.
    ///
    /// # Errors
    /// A sample from other data, or a wrong number of parameters.
    pub fn clipped_sum(
        &mut self,
        params: &[f32],
        data: &dyn Examples,
        sample: Sample,
        clip: ClipNorm,
    ) -> Result<ClippedSum, GradientError> {
        let sampler = *sample.sampler();
        if sample.among() != data.count() {
            let (sampled, records) = (sample.among(), data.count());
            return Err(GradientError::Population { sampled, records });
        }
        let values = self.sum(params, data, sample.records(), Adding::Clipped(clip))?;
        let slack = rounding::slack(sample.records().len(), self.chunk_rows, self.lanes.len());
        Ok(ClippedSum::of_records(values, clip, sampler, slack))
    }

    /// The plain mean of the gradients of `records`, neither clipped nor private. The model's penalty is left out.
    ///
    /// # Errors
    /// A wrong number of parameters.
    pub fn mean(
        &mut self,
        params: &[f32],
        data: &dyn Examples,
        records: &[u32],
    ) -> Result<Vec<f32>, GradientError> {
        let mut values = self.sum(params, data, records, Adding::Plain)?;
        let scale = 1.0 / records.len().max(1) as f32;
        values.iter_mut().for_each(|value| *value *= scale);
        Ok(values)
    }

    /// Takes back a vector that was handed out, so that the next step need not allocate one.
    pub fn recycle(&mut self, values: Vec<f32>) {
        self.spare = Some(values);
    }

    fn sum(
        &mut self,
        params: &[f32],
        data: &dyn Examples,
        records: &[u32],
        adding: Adding,
    ) -> Result<Vec<f32>, GradientError> {
        let needs = self.lanes[0].group.len();
        if params.len() != needs {
            return Err(GradientError::Workspace { needs, has: params.len() });
        }
        let spare = self.spare.take().filter(|values| values.len() == needs);
        let mut out = spare.unwrap_or_else(|| vec![0.0; needs]);
        if let Some(group) = self.group.as_mut().filter(|_| records.len() >= FEWEST_FOR_GROUPS) {
            self.lanes[0].run_groups(&mut **group, params, data, records, adding, &mut out);
            return Ok(out);
        }
        let share = records.len().div_ceil(self.lanes.len()).max(self.chunk_rows);
        let used = records.len().div_ceil(share).max(1);
        let (lanes, in_one_group) = (&mut self.lanes[..used], share <= GROUP_ROWS);
        let run = |(index, lane): (usize, &mut Lane)| {
            let start = (index * share).min(records.len());
            let records = &records[start..records.len().min(start + share)];
            if in_one_group {
                lane.run_group(params, data, records, adding);
            } else {
                lane.run(params, data, records, adding);
            }
        };
        if used > 1 && records.len() * needs > WORTH_A_THREAD {
            lanes.par_iter_mut().enumerate().for_each(run);
        } else {
            lanes.iter_mut().enumerate().for_each(run);
        }
        add_up(lanes, in_one_group, &mut out);
        Ok(out)
    }
}

/// Replaces `out` by the sum over lanes in their order. Not in a lane's own vector: the thread that computes a lane keeps it in its cache.
fn add_up(lanes: &mut [Lane], in_one_group: bool, out: &mut Vec<f32>) {
    let (first, others) = lanes.split_first_mut().expect("a workspace has at least one lane");
    match others.split_first() {
        _ if !in_one_group => {
            for lane in &*others {
                first.total.iter_mut().zip(&lane.total).for_each(|(sum, &more)| *sum += more);
            }
            out.iter_mut().zip(&first.total).for_each(|(value, &sum)| *value = sum as f32);
        }
        // What is handed out may come back from another core's cache: sums are made where they were made before, and copied while they are near.
        None if out.len() <= WORTH_COPYING => out.copy_from_slice(&first.group),
        None => std::mem::swap(out, &mut first.group),
        Some((second, rest)) => {
            kernel::sum_of_two(out, &first.group, &second.group);
            rest.iter().for_each(|lane| kernel::add(out, &lane.group));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Target, Task};
    use crate::model::{Activation, Mlp};

    /// Rows of uneven numbers; some hold what is not finite.
    struct Rows(Vec<Vec<f32>>, Task);

    impl Rows {
        fn new(rows: usize, columns: usize, task: Task) -> Self {
            let mut state = 1_u32;
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32 / 16_777_216.0 - 0.5
            };
            let mut rows: Vec<Vec<f32>> = (0..rows).map(|_| (0..columns).map(|_| next()).collect()).collect();
            rows[3][columns - 1] = f32::NAN;
            rows[40].fill(f32::INFINITY);
            Self(rows, task)
        }
    }

    impl Examples for Rows {
        fn count(&self) -> usize {
            self.0.len()
        }

        fn features_of(&self, record: usize) -> &[f32] {
            &self.0[record]
        }

        fn target_of(&self, record: usize) -> Target {
            match self.1 {
                Task::Regression => Target::Real(self.0[record][0]),
                _ => Target::Class(record as u32 % 3),
            }
        }
    }

    /// First layers that are large, with widths that fill no tile, no panel and no run.
    fn models() -> Vec<Mlp> {
        let classes = Task::Classification { classes: 3 };
        vec![
            Mlp::new(701, &[53], Activation::Relu, classes).unwrap(),
            Mlp::new(520, &[64, 19], Activation::Tanh, classes).unwrap(),
            Mlp::new(33, &[1_001], Activation::Relu, Task::Regression).unwrap(),
        ]
    }

    fn sum(model: &Mlp, mut workspace: Workspace, rows: &Rows, adding: Adding) -> Vec<f32> {
        let records: Vec<u32> = (0..rows.0.len() as u32).rev().collect();
        workspace.sum(&model.initial(3), rows, &records, adding).unwrap()
    }

    #[test]
    fn a_sum_by_groups_is_that_by_chunks_up_to_rounding() {
        for model in models() {
            #[cfg(target_arch = "x86_64")]
            assert_eq!(model.group_pass(2).is_some(), pulp::x86::V3::try_new().is_some());
            for count in [64, 65, 128, 131, 255, 256, 257, 600] {
                let mut rows = Rows::new(count, model.inputs(), model.task());
                for adding in [Adding::Clipped(ClipNorm::new(0.7).unwrap()), Adding::Plain] {
                    if matches!(adding, Adding::Plain) {
                        rows.0.iter_mut().flatten().filter(|x| !x.is_finite()).for_each(|x| *x = 0.1);
                    }
                    let chunks = Workspace { group: None, ..Workspace::new(&model) };
                    let expected = sum(&model, chunks, &rows, adding);
                    let found = sum(&model, Workspace::new(&model), &rows, adding);
                    let norm = |values: &[f32]| kernel::squared_norm_of(values).sqrt();
                    let off: Vec<f32> = found.iter().zip(&expected).map(|(a, b)| a - b).collect();
                    assert!(norm(&off) < 1e-5 * norm(&expected), "{count} rows of {model:?}: {}", norm(&off));
                    assert!(norm(&expected) > 0.1);
                }
            }
        }
    }

    #[test]
    fn a_sum_by_groups_has_the_same_bits_for_every_number_of_threads() {
        let clip = Adding::Clipped(ClipNorm::new(0.7).unwrap());
        for model in models() {
            let rows = Rows::new(300, model.inputs(), model.task());
            let with = |threads: usize| {
                let group = model.group_pass(threads);
                sum(&model, Workspace { group, ..Workspace::new(&model) }, &rows, clip)
            };
            let one = with(1);
            assert!(with(2) == one && with(3) == one && with(7) == one, "{model:?}");
        }
    }
}

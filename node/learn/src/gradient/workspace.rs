//! Sums of gradients over a batch, on several workers, without an allocation per example.
//!
//! The batch is cut into lanes of consecutive records and each lane into chunks; lanes are added in their order. So
//! the result depends on the number of lanes but not on the number of threads.

use privacy::clip::ClipNorm;
use rayon::prelude::*;

use super::clipped::ClippedSum;
use super::error::GradientError;
use super::lane::{Adding, Lane};
use super::rounding::{self, GROUP_ROWS};
use super::sampling::Sample;
use crate::model::{Examples, Model, kernel};

/// Lanes of a workspace unless said otherwise.
const LANES: usize = 2;
/// Products (records × parameters) below which waking another thread costs more than it saves.
const WORTH_A_THREAD: usize = 1 << 19;

/// The buffers for one model's gradients; make it once and use it for every step.
pub struct Workspace {
    lanes: Vec<Lane>,
    chunk_rows: usize,
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
        let lanes = (0..lanes.max(1)).map(|_| Lane::new(model)).collect();
        Self { lanes, chunk_rows: model.chunk_rows(), spare: None }
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
        if sampler.population() != data.count() {
            let (sampled, records) = (sampler.population(), data.count());
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
        let spare = self.spare.take().filter(|values| values.len() == needs);
        let mut out = spare.unwrap_or_else(|| vec![0.0; needs]);
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
        None => std::mem::swap(out, &mut first.group),
        Some((second, rest)) => {
            kernel::sum_of_two(out, &first.group, &second.group);
            rest.iter().for_each(|lane| kernel::add(out, &lane.group));
        }
    }
}

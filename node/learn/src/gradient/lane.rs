//! One worker's share of a batch: chunk after chunk through a pass, group after group into one sum.

use privacy::clip::ClipNorm;

use super::rounding::GROUP_ROWS;
use crate::model::{Chunk, Examples, GroupPass, Model, Pass, kernel};

/// What to do with the gradients of a chunk.
#[derive(Clone, Copy)]
pub(super) enum Adding {
    /// Each clipped to the norm.
    Clipped(ClipNorm),
    /// As they are.
    Plain,
}

/// Buffers of one worker, made once.
pub(super) struct Lane {
    pass: Box<dyn Pass>,
    chunk: Chunk,
    chunk_rows: usize,
    norms: Vec<f64>,
    weights: Vec<f32>,
    /// The sum of one group of chunks.
    pub(super) group: Vec<f32>,
    /// The sum of one chunk: added as a whole, which keeps rounding errors small.
    part: Vec<f32>,
    /// The sum over groups; made when a share first has more than one.
    pub(super) total: Vec<f64>,
}

impl Lane {
    pub(super) fn new(model: &dyn Model) -> Self {
        let (rows, count) = (model.chunk_rows(), model.parameter_count());
        Self {
            pass: model.pass(rows),
            chunk: Chunk::with_capacity(rows, model.inputs()),
            chunk_rows: rows,
            norms: vec![0.0; rows],
            weights: vec![0.0; rows],
            group: vec![0.0; count],
            part: vec![0.0; count],
            total: Vec::new(),
        }
    }

    /// Overwrites `total` with the sum over any number of records, in double precision between groups.
    pub(super) fn run(&mut self, params: &[f32], data: &dyn Examples, records: &[u32], adding: Adding) {
        self.total.resize(self.group.len(), 0.0);
        self.total.fill(0.0);
        for group in records.chunks(GROUP_ROWS) {
            self.run_group(params, data, group, adding);
            kernel::add_to_doubles(&mut self.total, &self.group);
        }
    }

    /// Overwrites `out` with the sum over any number of records, group by group through `pass`.
    pub(super) fn run_groups(
        &mut self,
        pass: &mut dyn GroupPass,
        params: &[f32],
        data: &dyn Examples,
        records: &[u32],
        adding: Adding,
        out: &mut [f32],
    ) {
        let clip = match adding {
            Adding::Clipped(clip) => Some(clip),
            Adding::Plain => None,
        };
        if records.len() <= GROUP_ROWS {
            return pass.sum(params, data, records, clip, out);
        }
        self.total.resize(self.group.len(), 0.0);
        self.total.fill(0.0);
        for records in records.chunks(GROUP_ROWS) {
            pass.sum(params, data, records, clip, &mut self.group);
            kernel::add_to_doubles(&mut self.total, &self.group);
        }
        out.iter_mut().zip(&self.total).for_each(|(value, &sum)| *value = sum as f32);
    }

    /// Overwrites `group` with the sum over at most [`GROUP_ROWS`] records.
    pub(super) fn run_group(&mut self, params: &[f32], data: &dyn Examples, records: &[u32], adding: Adding) {
        if records.is_empty() {
            self.group.fill(0.0);
        }
        for (index, records) in records.chunks(self.chunk_rows).enumerate() {
            self.chunk.gather(data, records);
            self.pass.forward(params, &self.chunk);
            self.pass.backward(params, &self.chunk);
            if let Adding::Clipped(clip) = adding {
                self.weigh(clip);
            }
            let out = if index == 0 { &mut self.group } else { &mut self.part };
            match adding {
                Adding::Clipped(_) => {
                    self.pass.weighted_sum(&mut self.chunk, &self.weights[..records.len()], out);
                }
                Adding::Plain => self.pass.sum(&mut self.chunk, out),
            }
            if index > 0 {
                kernel::add(&mut self.group, &self.part);
            }
        }
    }

    /// The factor of each example of the chunk.
    fn weigh(&mut self, clip: ClipNorm) {
        let rows = self.chunk.rows();
        self.pass.squared_norms(&self.chunk, &mut self.norms[..rows]);
        clip.factors(&self.norms[..rows], &mut self.weights[..rows]);
    }
}

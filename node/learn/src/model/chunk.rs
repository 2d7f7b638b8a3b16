//! A few records gathered side by side: what a pass through a model works on.
//!
//! The copy is the model's own, so that the row of an example that is left out can be overwritten with zeros.

use crate::data::{Dataset, Target};

/// Records by number. [`Dataset`] is what users have; tests pass rows that no data set would accept.
pub trait Examples: Sync {
    /// Number of records.
    fn count(&self) -> usize;
    /// The features of one record.
    fn features_of(&self, record: usize) -> &[f32];
    /// The target of one record.
    fn target_of(&self, record: usize) -> Target;
}

impl Examples for Dataset {
    fn count(&self) -> usize {
        self.len()
    }

    fn features_of(&self, record: usize) -> &[f32] {
        self.row(record)
    }

    fn target_of(&self, record: usize) -> Target {
        self.target(record)
    }
}

/// Features and targets of up to a fixed number of records. Buffers are reused: gathering allocates only while they grow.
#[derive(Debug, Default)]
pub struct Chunk {
    rows: usize,
    features: Vec<f32>,
    labels: Vec<u32>,
    reals: Vec<f32>,
}

impl Chunk {
    /// Space for `rows` records of `columns` features.
    pub(crate) fn with_capacity(rows: usize, columns: usize) -> Self {
        Self {
            rows: 0,
            features: Vec::with_capacity(rows * columns),
            labels: Vec::with_capacity(rows),
            reals: Vec::with_capacity(rows),
        }
    }

    /// Replaces the content by the records at `records` of `data`.
    pub(crate) fn gather(&mut self, data: &dyn Examples, records: &[u32]) {
        self.gather_targets(data, records);
        for &record in records {
            self.features.extend_from_slice(data.features_of(record as usize));
        }
    }

    /// The same without features, for those who read them where they lie.
    pub(crate) fn gather_targets(&mut self, data: &dyn Examples, records: &[u32]) {
        self.rows = records.len();
        self.features.clear();
        self.labels.clear();
        self.reals.clear();
        for &record in records {
            match data.target_of(record as usize) {
                Target::Class(label) => self.labels.push(label),
                Target::Real(value) => self.reals.push(value),
                Target::None => {}
            }
        }
    }

    /// Number of records.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Features, row by row.
    pub fn features(&self) -> &[f32] {
        &self.features
    }

    /// The features, to overwrite those of examples that are left out.
    pub(crate) fn features_mut(&mut self) -> &mut [f32] {
        &mut self.features
    }

    /// Class labels; empty for other targets.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// Real targets; empty for other targets.
    pub fn reals(&self) -> &[f32] {
        &self.reals
    }
}

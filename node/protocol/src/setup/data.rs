//! Records of the nodes, the common test set, and what may be said about them in public.

use learn::data::{DataSource, Dataset, Scaling, SourceKind, hold_out};
use learn::gradient::{PoissonSampler, rounding};
use learn::model::Model;

use super::error::SetupError;
use crate::config::Config;
use crate::work::{CommonScale, MOST_LANES};

/// Numbers of records of the nodes, as far as they are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sizes {
    /// No node has fewer.
    pub(super) smallest: usize,
    /// No node has more, where that is known.
    pub(super) largest: Option<usize>,
    /// How many a node has on average, where that is known.
    pub(super) mean: Option<f64>,
}

/// Rounding of sums over so many records is paid for where others' numbers are unknown.
const RECORDS_PAID_FOR: usize = 1 << 16;

impl Sizes {
    pub(super) fn of_all(parts: &[Dataset]) -> Self {
        let sizes = || parts.iter().map(Dataset::len);
        let mean = sizes().sum::<usize>() as f64 / parts.len().max(1) as f64;
        Self { smallest: sizes().min().unwrap_or(0), largest: sizes().max(), mean: Some(mean) }
    }

    /// Divisor and rounding bound that all nodes use: the batch size, or the mean number of records for whole batches.
    pub(super) fn common_scale(&self, config: &Config, model: &dyn Model) -> Result<CommonScale, SetupError> {
        let batch = config.batch_size.map(|batch| batch as f64);
        let divisor = batch.or(self.mean).ok_or(SetupError::NeedsBatchSize)?;
        let records = self.largest.unwrap_or(RECORDS_PAID_FOR);
        Ok(CommonScale { divisor, slack: rounding::slack(records, model.chunk_rows(), MOST_LANES) })
    }

    /// How the smallest node samples: with the highest rate of all.
    pub(super) fn sampler(&self, config: &Config) -> Result<PoissonSampler, SetupError> {
        let expected = config.batch_size.map_or(self.smallest as f64, |batch| batch as f64);
        Ok(PoissonSampler::for_batch(expected, self.smallest)?)
    }
}

/// Every node's records and the common test set: the source's own, or a part that was kept apart. `mean` tests nothing and uses all records.
pub(super) fn load(config: &Config) -> Result<(Vec<Dataset>, Option<Dataset>), SetupError> {
    /// Not the number of a node: the common test set has a stream of its own.
    const COMMON: u64 = u64::MAX;
    let loaded = config.data.load(config.seed)?;
    let (train, test) = match loaded.test {
        Some(test) => (loaded.train, Some(test)),
        None if config.test_fraction == 0.0 || !config.algorithm.kind.trains() => (loaded.train, None),
        None => {
            let parts = hold_out(&loaded.train, config.test_fraction, config.seed, COMMON)?;
            (parts.train, Some(parts.test).filter(|test| !test.is_empty()))
        }
    };
    let assignment = config.partition.divide(&train, config.nodes, config.seed)?;
    Ok((assignment.datasets(&train), test))
}

/// The declared bound on row norms, once it was seen to hold.
pub(super) fn row_norm(config: &Config, parts: &[Dataset]) -> Result<Option<f64>, SetupError> {
    let Some(declared) = config.privacy.row_norm else { return Ok(None) };
    // Rows scaled to norm 1 in single precision may pass it by a rounding error.
    let bound = declared * (1.0 + 1e-6);
    for data in parts {
        for record in 0..data.len() {
            let norm = data.row(record).iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
            if norm > bound {
                return Err(SetupError::RowNorm { norm, declared });
            }
        }
    }
    Ok(Some(bound))
}

/// The bound that follows from how the source scales its rows: public, as the scaling looks at one row at a time.
pub(super) fn norm_by_scaling(source: &DataSource, data: &Dataset) -> Option<f64> {
    let unit_cube = Some((data.columns() as f64).sqrt() * (1.0 + 1e-6));
    if source.schema.is_some() {
        return unit_cube;
    }
    match &source.scale {
        Some(Scaling::UnitRows) => Some(1.0 + 1e-6),
        Some(Scaling::Units(_) | Scaling::UnitsPerFeature(_) | Scaling::UnitsByName { .. }) => unit_cube,
        Some(Scaling::None) => None,
        None => match source.kind {
            // Built-in sets and images come in units 0..1.
            SourceKind::Digits | SourceKind::BreastCancer | SourceKind::Mnist(..) => unit_cube,
            _ => None,
        },
    }
}

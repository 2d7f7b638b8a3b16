//! Records of the nodes, the common test set, and what may be said about them in public.

use learn::data::{CoinOf, DataSource, Dataset, Scaling, SourceKind, hold_out, hold_out_by_coin, turned};
use learn::gradient::{GradientError, Persons, PoissonSampler, TRAINER_SLACK, rounding};
use learn::model::{ClippedBy, Model, ModelSpec};

use super::error::SetupError;
use crate::config::{Config, PersonalKind};
use crate::work::{Adjacency, CommonScale, MOST_LANES};

/// How many units a node has: persons where persons are protected, else records.
pub(super) fn units(config: &Config, data: &Dataset) -> Result<usize, SetupError> {
    if config.privacy.adjacency != Adjacency::Person {
        return Ok(data.len());
    }
    let persons = Persons::of(data).ok_or(GradientError::NoPersons)?;
    Ok(persons.len())
}

/// Numbers of records (or persons) of the nodes, as far as they are known.
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
    pub(super) fn of_all(config: &Config, parts: &[Dataset]) -> Result<Self, SetupError> {
        let sizes = parts.iter().map(|part| units(config, part)).collect::<Result<Vec<_>, _>>()?;
        let mean = sizes.iter().sum::<usize>() as f64 / parts.len().max(1) as f64;
        let (smallest, largest) = (sizes.iter().min().copied(), sizes.iter().max().copied());
        Ok(Self { smallest: smallest.unwrap_or(0), largest, mean: Some(mean) })
    }

    /// Divisor and rounding bound that all nodes use: the batch size, or the mean number of records for whole batches.
    pub(super) fn common_scale(&self, config: &Config, model: &dyn Model) -> Result<CommonScale, SetupError> {
        let batch = config.batch_size.map(|batch| batch as f64);
        let divisor = batch.or(self.mean).ok_or(SetupError::NeedsBatchSize)?;
        let records = self.largest.unwrap_or(RECORDS_PAID_FOR);
        let trusted = matches!(config.model, ModelSpec::External { clipping: ClippedBy::Trainer, .. });
        let told = if trusted { TRAINER_SLACK } else { 0.0 };
        Ok(CommonScale { divisor, slack: rounding::slack(records, model.chunk_rows(), MOST_LANES) + told })
    }

    /// How the smallest node samples: with the highest rate of all.
    pub(super) fn sampler(&self, config: &Config) -> Result<PoissonSampler, SetupError> {
        let expected = config.batch_size.map_or(self.smallest as f64, |batch| batch as f64);
        Ok(PoissonSampler::for_batch(expected, self.smallest)?)
    }
}

/// The records of a run.
pub(super) struct Records {
    /// Of each node, to learn from.
    pub(super) train: Vec<Dataset>,
    /// Of each node, to judge its own models; empty where nobody asked for that.
    pub(super) own_tests: Vec<Dataset>,
    /// Common to all or, at a real node, its own.
    pub(super) test: Option<Dataset>,
}

/// Every node's records and the common test set: the source's own, or a part that was kept apart. `mean` tests nothing and uses all records.
pub(super) fn load(config: &Config) -> Result<Records, SetupError> {
    /// Not the number of a node: the common test set has a stream of its own.
    const COMMON: u64 = u64::MAX;
    let loaded = config.data.load(config.seed)?;
    let (train, test) = match loaded.test {
        Some(test) => (loaded.train, Some(test).filter(|test| !test.is_empty())),
        None if config.test_fraction == 0.0 || !config.algorithm.kind.trains() => (loaded.train, None),
        None => {
            let parts = match config.privacy.adjacency {
                // All records of a person are in one part.
                Adjacency::Person => {
                    hold_out_by_coin(&loaded.train, config.test_fraction, config.seed, CoinOf::Group)?
                }
                _ => hold_out(&loaded.train, config.test_fraction, config.seed, COMMON)?,
            };
            (parts.train, Some(parts.test).filter(|test| !test.is_empty()))
        }
    };
    let assignment = config.partition.divide(&train, config.nodes, config.seed)?;
    let parts = if config.turned > 1 {
        let mut node_of = vec![0; train.len()];
        for node in 0..assignment.nodes() {
            assignment.records(node).iter().for_each(|&record| node_of[record as usize] = node);
        }
        assignment.datasets(&turned(&train, |record| node_of[record] % config.turned)?)
    } else {
        assignment.datasets(&train)
    };
    let (train, own_tests) = apart(config, parts)?;
    Ok(Records { train, own_tests, test })
}

/// Keeps a part of each simulated node's records apart, where its own models are to be judged.
fn apart(config: &Config, parts: Vec<Dataset>) -> Result<(Vec<Dataset>, Vec<Dataset>), SetupError> {
    let fraction = config.personal.test_fraction;
    let judged = config.personal.kind != PersonalKind::None || config.clusters.slots > 1;
    if !judged || fraction == 0.0 || !config.algorithm.kind.trains() {
        return Ok((parts, Vec::new()));
    }
    let (mut train, mut tests) = (Vec::new(), Vec::new());
    for (node, part) in parts.iter().enumerate() {
        let cut = hold_out(part, fraction, config.seed, node as u64)?;
        if cut.test.is_empty() {
            return Err(SetupError::NoTestPart { node, records: part.len(), fraction });
        }
        train.push(cut.train);
        tests.push(cut.test);
    }
    Ok((train, tests))
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

//! Sweeps: the product of lists of values, each with several seeds, run in parallel and summed up.

use learn::metrics::MeanSpread;
use protocol::Hint;
use protocol::config::{Config, ConfigError, Layer, Place};
use protocol::{LogLine, RunResult, Setup, SetupError};
use rayon::prelude::*;
use serde::Serialize;
use thiserror::Error;

use crate::Options;
pub use crate::own::PersonalSpread;
use crate::run::{self, Done, RunError};

/// Runs of one sweep; more are a mistake.
const MOST_RUNS: usize = 100_000;

/// Why a sweep cannot be run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SweepError {
    /// A flag without values.
    #[error("`--sweep {text}` names no values")]
    NoValues {
        /// What was written.
        text: String,
    },
    /// A key with two lists.
    #[error("`--sweep {key}=…` is given twice")]
    Twice {
        /// The key.
        key: String,
    },
    /// Too many runs.
    #[error("the sweep has {runs} runs, more than {MOST_RUNS}")]
    TooMany {
        /// How many.
        runs: usize,
    },
    /// A point whose configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A point that cannot be prepared.
    #[error("cannot prepare {point}")]
    Setup {
        /// Which.
        point: String,
        /// Why.
        source: Box<SetupError>,
    },
    /// A point that cannot be run.
    #[error("cannot run {point}")]
    Run {
        /// Which.
        point: String,
        /// Why.
        source: Box<RunError>,
    },
    /// The threads could not be started.
    #[error("could not start the threads")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

impl Hint for SweepError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::NoValues { .. } => Some("for example `--sweep privacy.epsilon=1,2,4`".into()),
            Self::Twice { key } => Some(format!("put all values in one list: `--sweep {key}=a,b,c`")),
            Self::TooMany { .. } => Some("use shorter lists or fewer seeds".into()),
            Self::Config(error) => error.hint(),
            Self::Setup { source, .. } => source.hint(),
            Self::Run { source, .. } => source.hint(),
            Self::Threads(_) => Some("use `--threads 1`".into()),
        }
    }
}

/// A list of values for one key.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// The key.
    pub key: String,
    /// Its values, as written.
    pub values: Vec<String>,
}

impl Axis {
    /// Reads `key=a,b,c`. Commas inside brackets and quotes do not separate; where there is a `;`, it separates and commas do not
    /// (`topology=ring;regular,degree=6`).
    ///
    /// # Errors
    /// Text without `=` or without values.
    pub fn parse(text: &str) -> Result<Self, SweepError> {
        let none = || SweepError::NoValues { text: text.into() };
        let (key, list) = text.split_once('=').ok_or_else(none)?;
        let separator = if list.contains(';') { ';' } else { ',' };
        let values: Vec<String> =
            split(list, separator).into_iter().filter(|value| !value.is_empty()).collect();
        if values.is_empty() { Err(none()) } else { Ok(Self { key: key.trim().into(), values }) }
    }
}

fn split(list: &str, separator: char) -> Vec<String> {
    let (mut depth, mut quote, mut parts) = (0_i32, None, vec![String::new()]);
    for letter in list.chars() {
        match letter {
            '"' | '\'' if quote.is_none() => quote = Some(letter),
            _ if quote == Some(letter) => quote = None,
            '[' | '{' if quote.is_none() => depth += 1,
            ']' | '}' if quote.is_none() => depth -= 1,
            _ => {}
        }
        if letter == separator && depth <= 0 && quote.is_none() {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(letter);
        }
    }
    parts.into_iter().map(|part| part.trim().to_owned()).collect()
}

/// One combination of values.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Point(pub Vec<(String, String)>);

impl std::fmt::Display for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() {
            return f.write_str("the run");
        }
        let pairs: Vec<String> = self.0.iter().map(|(key, value)| format!("{key}={value}")).collect();
        f.write_str(&pairs.join(" "))
    }
}

/// One run of a sweep: where it stands and what is to be run.
#[derive(Debug, Clone)]
pub struct Planned {
    /// Position of its point.
    pub point: usize,
    /// The configuration, with the seed.
    pub config: Config,
}

/// All runs of a sweep.
#[derive(Debug, Clone)]
pub struct Sweep {
    /// The combinations.
    pub points: Vec<Point>,
    /// The runs, point by point, seed by seed.
    pub runs: Vec<Planned>,
}

impl Sweep {
    /// The product of `axes` over `layers`, each point with `seeds` seeds that count on from the configuration's.
    ///
    /// # Errors
    /// A point whose configuration is wrong, or too many runs.
    pub fn new(layers: &[Layer], axes: &[Axis], seeds: u64) -> Result<Self, SweepError> {
        if let Some((_, axis)) =
            axes.iter().enumerate().find(|(at, axis)| axes[..*at].iter().any(|other| other.key == axis.key))
        {
            return Err(SweepError::Twice { key: axis.key.clone() });
        }
        let count =
            axes.iter().fold(seeds.max(1) as usize, |count, axis| count.saturating_mul(axis.values.len()));
        if count > MOST_RUNS {
            return Err(SweepError::TooMany { runs: count });
        }
        let mut points = vec![Point(Vec::new())];
        for axis in axes {
            let with = |point: &Point| {
                let longer =
                    |value: &String| Point([&point.0[..], &[(axis.key.clone(), value.clone())]].concat());
                axis.values.iter().map(longer).collect::<Vec<_>>()
            };
            points = points.iter().flat_map(with).collect();
        }
        let mut runs = Vec::with_capacity(count);
        for (at, point) in points.iter().enumerate() {
            let config = configured(layers, point)?;
            for offset in 0..seeds.max(1) {
                let mut config = config.clone();
                config.seed = (config.seed + offset) & (i64::MAX as u64);
                runs.push(Planned { point: at, config });
            }
        }
        Ok(Self { points, runs })
    }

    /// Runs everything, several runs at a time, each on one thread; results are in the order of [`runs`](Self::runs). `keeper` gets every line of
    /// the log of each run and hears of its end.
    ///
    /// # Errors
    /// The first run, in order, that failed or could not be kept.
    pub fn run<K: Keeper>(
        &self,
        threads: usize,
        options: &Options,
        keeper: &K,
    ) -> Result<Vec<RunResult>, K::Error> {
        let options = Options { threads: 1, ..options.clone() };
        let one = |(at, planned): (usize, &Planned)| {
            let point = || format!("{} with seed {}", self.points[planned.point], planned.config.seed);
            let setup = Setup::new(planned.config.clone())
                .map_err(|source| SweepError::Setup { point: point(), source: Box::new(source) })?
                .without_loss();
            let mut kept = keeper.begin(at, planned, &setup)?;
            let ended = run::run(&setup, &options, &mut |line| keeper.line(&mut kept, line), &mut |_| {})
                .map_err(|source| SweepError::Run { point: point(), source: Box::new(source) })?;
            keeper.end(kept, &setup, ended)
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(SweepError::from)?;
        let results: Vec<Result<RunResult, K::Error>> =
            pool.install(|| self.runs.par_iter().enumerate().map(one).collect());
        results.into_iter().collect()
    }

    /// Mean and spread over the seeds of each point.
    pub fn summary(&self, results: &[RunResult]) -> Vec<Summary> {
        let of_point = |at: usize| {
            let own: Vec<&RunResult> = self
                .runs
                .iter()
                .zip(results)
                .filter(|(run, _)| run.point == at)
                .map(|(_, result)| result)
                .collect();
            Summary::of(self.points[at].clone(), &own)
        };
        (0..self.points.len()).map(of_point).collect()
    }
}

/// What becomes of the runs of a sweep besides their figures.
pub trait Keeper: Sync {
    /// What it holds of one run.
    type Kept: Send;
    /// What can go wrong with it, or with the sweep.
    type Error: From<SweepError> + Send;

    /// A run begins, by its place in [`Sweep::runs`].
    ///
    /// # Errors
    /// It cannot be kept.
    fn begin(&self, at: usize, planned: &Planned, setup: &Setup) -> Result<Self::Kept, Self::Error>;

    /// A line of its log.
    fn line(&self, kept: &mut Self::Kept, line: &LogLine);

    /// It ended: the figures to go on with.
    ///
    /// # Errors
    /// It could not be kept.
    fn end(&self, kept: Self::Kept, setup: &Setup, done: Done) -> Result<RunResult, Self::Error>;
}

/// Keeps nothing but figures; the function hears of every end.
#[derive(Debug)]
pub struct Figures<F>(pub F);

impl<F: Fn() + Sync> Keeper for Figures<F> {
    type Kept = ();
    type Error = SweepError;

    fn begin(&self, _: usize, _: &Planned, _: &Setup) -> Result<(), SweepError> {
        Ok(())
    }

    fn line(&self, (): &mut (), _: &LogLine) {}

    fn end(&self, (): (), _: &Setup, done: Done) -> Result<RunResult, SweepError> {
        (self.0)();
        Ok(done.result)
    }
}

fn configured(layers: &[Layer], point: &Point) -> Result<Config, ConfigError> {
    let mut top = Layer::default();
    for (key, value) in &point.0 {
        top.set(key, value, Place::Flag { text: format!("--sweep {key}={value}") })?;
    }
    Config::from_layers(layers.iter().cloned().chain([top]))
}

/// One point of a sweep over its seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The values that were swept.
    pub set: Point,
    /// The algorithm.
    pub algorithm: &'static str,
    /// Number of seeds.
    pub seeds: usize,
    /// Accuracy, where there is one.
    pub test_acc: Option<MeanSpread>,
    /// Loss.
    pub test_loss: Option<MeanSpread>,
    /// Distance of the models to their mean.
    pub consensus_distance: Option<MeanSpread>,
    /// Bytes of a node.
    pub bytes_per_node: Option<MeanSpread>,
    /// Rounds that were given up.
    pub broken_rounds: Option<MeanSpread>,
    /// ε of the worst pair.
    pub epsilon_worst: Option<MeanSpread>,
    /// Mean ε over pairs.
    pub epsilon_mean: Option<MeanSpread>,
    /// ε towards somebody who sees every message.
    pub epsilon_local: Option<MeanSpread>,
    /// Models of the nodes' own, where they made some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub personal: Option<PersonalSpread>,
    /// Part of the runs in which no two groups shared a slot, where it is known who belongs together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmixed: Option<f64>,
}

impl Summary {
    fn of(set: Point, results: &[&RunResult]) -> Self {
        let spread = |pick: &dyn Fn(&RunResult) -> Option<f64>| {
            let values: Option<Vec<f64>> = results.iter().map(|result| pick(result)).collect();
            MeanSpread::of(&values?).ok()
        };
        Self {
            set,
            algorithm: results.first().map_or("", |result| result.algorithm),
            seeds: results.len(),
            test_acc: spread(&|result| result.test_acc),
            test_loss: spread(&|result| result.test_loss),
            consensus_distance: spread(&|result| result.consensus_distance),
            bytes_per_node: spread(&|result| Some(result.bytes_per_node)),
            broken_rounds: spread(&|result| Some(result.broken_rounds as f64)),
            epsilon_worst: spread(&|result| Some(result.privacy.worst.epsilon)),
            epsilon_mean: spread(&|result| Some(result.privacy.mean.epsilon)),
            epsilon_local: spread(&|result| Some(result.privacy.local.epsilon)),
            personal: PersonalSpread::of(results),
            unmixed: spread(&|result| {
                result.clusters.as_ref()?.unmixed.map(|unmixed| f64::from(u8::from(unmixed)))
            })
            .map(|all| all.mean),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_separate_but_for_brackets_quotes_and_lists_with_semicolons() {
        let values = |text: &str| Axis::parse(text).unwrap().values;
        assert_eq!(values("privacy.epsilon=1, 2,inf"), ["1", "2", "inf"]);
        assert_eq!(values("model.hidden=[8,4],[16]"), ["[8,4]", "[16]"]);
        assert_eq!(values("name=\"a,b\",c"), ["\"a,b\"", "c"]);
        assert_eq!(values("topology=ring;regular,degree=4"), ["ring", "regular,degree=4"]);
        assert!(Axis::parse("nodes").is_err() && Axis::parse("nodes=").is_err());
    }

    #[test]
    fn a_sweep_is_the_product_of_its_axes_and_seeds() {
        let axes = [Axis::parse("nodes=4,8").unwrap(), Axis::parse("rounds=1,2,3").unwrap()];
        let sweep = Sweep::new(&[], &axes, 2).unwrap();
        assert_eq!((sweep.points.len(), sweep.runs.len()), (6, 12));
        assert_eq!(sweep.points[1].to_string(), "nodes=4 rounds=2");
        let last = &sweep.runs[11].config;
        assert_eq!((last.nodes, last.rounds, last.seed), (8, 3, 2));
        assert!(matches!(Sweep::new(&[], &axes, u64::MAX), Err(SweepError::TooMany { .. })));
        assert!(Sweep::new(&[], &[Axis::parse("nodse=1").unwrap()], 1).is_err());
        let twice = [
            Axis::parse("nodes=4").unwrap(),
            Axis::parse("rounds=1").unwrap(),
            Axis::parse("nodes=8").unwrap(),
        ];
        assert!(matches!(Sweep::new(&[], &twice, 1), Err(SweepError::Twice { key }) if key == "nodes"));
    }
}

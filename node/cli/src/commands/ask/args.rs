//! Flags of `murmur ask`.

use std::path::PathBuf;

use questions::noise::{Trust, Unit};
use questions::refusal::Refusal;

use crate::failure::{Failure, Result};

const EXAMPLES: &str = "\
Questions: count(*), count(x), missing(x), clamped(x), sum, mean, variance, stddev, histogram(x[, bins]),
quantile(x, q), median, describe(x), gini, auc(score, label), mannwhitney(x, label), crosstab(a, b), pairs(a, b, …),
corr(x, y, …), linreg(y, x, …), kendall(x, y), survival(t, died), confusion(true, predicted), accuracy(true, predicted),
frequent(code, k), count(DISTINCT code). WHERE: columns against literals. GROUP BY: categories or bin(x, k).

Examples:
  murmur ask \"SELECT count(*), mean(age) FROM swarm WHERE sick = 1 GROUP BY sex\" --try heart.csv --nodes 16 \\
      --column age:bounds=0..110,integer --column sex:values=0+1 --column sick:values=0+1 --epsilon 1 --yes
  murmur ask describe --try heart.csv --nodes 16 --schema schema.toml --plan
  murmur ask \"SELECT median(chol) FROM swarm\" --swarm clinic.toml --state murmur-state
  murmur ask evaluate model.safetensors --swarm clinic.toml            accuracy, confusion, AUC on everybody's test part
  murmur ask \"SELECT accuracy(truth, predicted) FROM model GROUP BY sex\" model.safetensors --try test.csv

Exit codes: 0 answered (or planned), 1 not confirmed, 2 refused or failed.";

/// Arguments of `murmur ask`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// One SELECT of aggregates FROM swarm; `describe`: Table 1 of a paper over every declared column; `evaluate`: how good MODEL is
    pub(super) question: String,
    /// A model that the members judge by the records that they keep apart: `evaluate`, or a SELECT FROM model
    pub(super) model: Option<PathBuf>,
    /// Ask the running swarm of this file, by the own node
    #[arg(long, value_name = "FILE", conflicts_with = "try_file")]
    pub(super) swarm: Option<PathBuf>,
    /// The folder of the own node, which must be running, for `--swarm`
    #[arg(long, default_value = "murmur-state", value_name = "DIR")]
    pub(super) state: PathBuf,
    /// Try it on a file as if its records were spread over a swarm: truth beside every answer, protects nobody
    #[arg(long = "try", value_name = "FILE")]
    pub(super) try_file: Option<PathBuf>,
    /// Members of the simulated swarm [default: 64; with `--by` one for each value]
    #[arg(long)]
    pub(super) nodes: Option<usize>,
    /// One member for each value of this column of the file, such as the hospital
    #[arg(long, value_name = "COLUMN")]
    pub(super) by: Option<String>,
    /// Declare a column: age:bounds=0..110,integer · region:values=north+south · code:text=8 · also date=FORMAT, fill=VALUE;
    /// repeatable, and on top of `--schema`
    #[arg(long, value_name = "NAME:KEYS")]
    pub(super) column: Vec<String>,
    /// A schema.toml that declares columns
    #[arg(long, value_name = "FILE")]
    pub(super) schema: Option<PathBuf>,
    /// With a model and `--try`: the column that says `train` or `test` [default: all records are to test by]
    #[arg(long, value_name = "COLUMN")]
    pub(super) split: Option<String>,
    /// With a model and `--try`: the share of records that is kept apart, by the coins of a swarm with this seed
    #[arg(long, value_name = "SHARE", conflicts_with = "split")]
    pub(super) test_fraction: Option<f64>,
    /// ε of the question
    #[arg(long, default_value_t = 1.0)]
    pub(super) epsilon: f64,
    /// δ of the question [default: 1e-5, with `--swarm` the `privacy.delta` of its file, which is the most that members allow]
    #[arg(long)]
    pub(super) delta: Option<f64>,
    /// ε that may be spent on these data in all, `questions.total`, for `--try` [default: 4]
    #[arg(long, value_name = "EPSILON")]
    pub(super) total: Option<f64>,
    /// Who is trusted: masked sums, plain gossip, or nobody (every record is a person who answers for itself)
    #[arg(long, value_enum, default_value_t = TrustWord::Masked)]
    pub(super) trust: TrustWord,
    /// Members that may collude [default: a third, at least 1]
    #[arg(long, value_name = "N")]
    pub(super) colluders: Option<u64>,
    /// What is protected: a record that is there or blank, one that is replaced, all records of a person, or a whole node [default: record, with
    /// `--swarm` what its file says]
    #[arg(long, value_enum)]
    pub(super) unit: Option<UnitWord>,
    /// The most records that a node contributes, for `--unit node`
    #[arg(long, value_name = "N")]
    pub(super) max_records: Option<u64>,
    /// The column that names a person, for `--unit person`
    #[arg(long, value_name = "COLUMN")]
    pub(super) person: Option<String>,
    /// Show cost and expected error, and ask nothing
    #[arg(long)]
    pub(super) plan: bool,
    /// Records to expect, a public number [default: those of the file, with `--swarm` members times `partition.min_size`]
    #[arg(long, value_name = "N")]
    pub(super) expect: Option<u64>,
    /// Do not stop after the plan
    #[arg(long)]
    pub(super) yes: bool,
    /// Intervals for the population that the records were drawn from: noise and sampling
    #[arg(long)]
    pub(super) population: bool,
    /// Seed of the simulation; 0 takes the operating system's noise
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(super) format: Format,
    /// Draw the first histogram, curve or table into this file
    #[arg(long, value_name = "FILE")]
    pub(super) svg: Option<PathBuf>,
    /// Write to this file instead of stdout
    #[arg(long)]
    pub(super) out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// Text for people
    Table,
    /// One JSON object
    Json,
    /// A line for each figure
    Csv,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum TrustWord {
    Masked,
    Gossip,
    Local,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum UnitWord {
    Record,
    Replaced,
    Person,
    Node,
}

/// Members of a simulated question: each has its own vector and noise.
const MOST_NODES: usize = 1_000_000;

impl Args {
    /// What can be refused without reading anything.
    pub(super) fn check(&self) -> Result<()> {
        if self.nodes == Some(0) {
            return Err(Refusal::TooFewContributors { found: 0, needed: 3 }.into());
        }
        if let Some(nodes) = self.nodes.filter(|nodes| *nodes > MOST_NODES) {
            return Err(Failure::new(format!("`--nodes {nodes}` is more than a simulation can hold"))
                .hint("1,000,000 are the most"));
        }
        if self.model.is_none() && (self.split.is_some() || self.test_fraction.is_some()) {
            return Err(Failure::new("`--split` and `--test-fraction` are for questions about a model")
                .hint("name its file after the question"));
        }
        if self.nodes.is_some() && self.by.is_some() {
            return Err(Failure::new(
                "`--by` has one member for each value, so `--nodes` cannot be given too",
            ));
        }
        if !(self.total().is_finite() && self.total() > 0.0) {
            return Err(Refusal::Epsilon { value: self.total() }.into());
        }
        Ok(())
    }

    /// `questions.total` of a simulation.
    pub(super) fn total(&self) -> f64 {
        self.total.unwrap_or(4.0)
    }

    pub(super) fn trust(&self) -> Trust {
        match self.trust {
            TrustWord::Masked => Trust::Masked,
            TrustWord::Gossip => Trust::Gossip,
            TrustWord::Local => Trust::Local,
        }
    }

    /// What is protected; `person` is the column of their ids, by flag or by schema.
    pub(super) fn unit(&self, person: Option<&str>) -> Result<Unit> {
        Ok(match self.unit.unwrap_or(UnitWord::Record) {
            UnitWord::Record => Unit::Record,
            UnitWord::Replaced => Unit::ReplacedRecord,
            UnitWord::Person if person.is_none() => return Err(Refusal::NoPerson.into()),
            UnitWord::Person => Unit::Person,
            UnitWord::Node => match self.max_records {
                Some(max_records) if max_records > 0 => Unit::Node { max_records },
                _ => return Err(Refusal::NoMaxRecords.into()),
            },
        })
    }
}

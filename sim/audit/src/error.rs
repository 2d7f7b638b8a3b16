//! Why an audit could not be made.

use std::path::PathBuf;

use learn::data::DataError;
use learn::model::ModelError;
use learn::train::TrainError;
use privacy::mechanisms::MechanismError;
use protocol::SetupError;
use protocol::account::FoldError;
use protocol::config::ConfigError;
use protocol::log::ReadError;
use sim::SimError;
use thiserror::Error;
use topology::Hint;

/// An error of an audit. [`AuditError::hint`] says what to try instead.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AuditError {
    /// A pair that is no pair of nodes.
    #[error("`{source_node},{watcher}` is no pair of different nodes: there are {nodes}, numbered from 0")]
    Pair {
        /// Whose data.
        source_node: usize,
        /// Who watches.
        watcher: usize,
        /// Number of nodes.
        nodes: usize,
    },
    /// Too few trials to say anything.
    #[error("an audit needs at least {least} trials: {trials}")]
    Trials {
        /// How many were asked for.
        trials: usize,
        /// The fewest.
        least: usize,
    },
    /// A confidence outside (0, 1).
    #[error("the confidence must lie between 0 and 1: {0}")]
    Confidence(f64),
    /// A comparison of the simulator, which has no messages.
    #[error("`algorithm.kind = \"{0}\"` has no messages to audit")]
    NoMessages(&'static str),
    /// Masks are left in totals.
    #[error("a round of an undisturbed run was void: masks do not cancel, or somebody left them out")]
    Void,
    /// Totals that are no sums.
    #[error(
        "members of an undisturbed run came to another model than without masks: totals went around, or words were changed on their way"
    )]
    Totals,
    /// Something to break that is not there.
    #[error("`{what}` breaks nothing here: rounds are {masks}")]
    NothingBroken {
        /// What was to be broken.
        what: &'static str,
        /// Masked or not.
        masks: &'static str,
    },
    /// A question that the attacks are not for.
    #[error("audited are questions that are one masked sum about single records")]
    NoSum,
    /// A question that nobody would answer.
    #[error(transparent)]
    Refused(Box<questions::refusal::Refusal>),
    /// Fewer than two nodes.
    #[error("one node alone has no watcher")]
    Alone,
    /// A log that cannot be read.
    #[error(transparent)]
    Log(#[from] ReadError),
    /// A log of a run that did less than its configuration says.
    #[error("the log tells of {has} contributions, and a run of this configuration makes {needed}")]
    ShortLog {
        /// In the log.
        has: usize,
        /// In a simulated run.
        needed: usize,
    },
    /// A log without the line that describes its run.
    #[error("`{}` has no first line that describes the run", path.display())]
    NoFirstLine {
        /// The log.
        path: PathBuf,
    },
    /// A log of a run that is not the one of the configuration.
    #[error("the log tells of a run with `{what}` = {log}, and the configuration says {run}")]
    OtherRun {
        /// The key.
        what: &'static str,
        /// In the log.
        log: String,
        /// In the configuration.
        run: String,
    },
    /// A coalition that is none.
    #[error("`{members}` is no coalition: it needs two or more of the {nodes} nodes, numbered from 0, and one outside whom they watch{}", source_node.map_or_else(String::new, |node| format!(" (node {node} was named)")))]
    Coalition {
        /// Who was named.
        members: String,
        /// Number of nodes.
        nodes: usize,
        /// Whose data, where that was named.
        source_node: Option<usize>,
    },
    /// Noise that cannot be reused, as it is used once.
    #[error(
        "`noise-reused` breaks nothing here: node {node} contributes {times}, so its noise is used once at most"
    )]
    NothingReused {
        /// Whose data.
        node: usize,
        /// How often it contributes.
        times: &'static str,
    },
    /// The shape of a run that was logged.
    #[error("the run of the log cannot be set up again")]
    Setup(Box<SetupError>),
    /// The built-in scenario, or changes to it.
    #[error(transparent)]
    Config(Box<ConfigError>),
    /// Of a simulation.
    #[error("a run of the audit failed")]
    Sim(Box<SimError>),
    /// Of the account.
    #[error("cannot account for a run of the audit")]
    Account(#[from] FoldError),
    /// Of a canary.
    #[error("cannot make a canary")]
    Data(Box<DataError>),
    /// Of a model.
    #[error("cannot judge a model")]
    Model(#[from] ModelError),
    /// Of a contribution.
    #[error("cannot make a contribution")]
    Train(#[from] TrainError),
    /// Of a clip norm.
    #[error("cannot make a mechanism")]
    Mechanism(#[from] MechanismError),
}

/// Large errors have a place of their own, so that every answer of an audit stays small.
macro_rules! boxed {
    ($($variant:ident($error:ty)),*) => {$(
        impl From<$error> for AuditError {
            fn from(error: $error) -> Self {
                Self::$variant(Box::new(error))
            }
        }
    )*};
}

boxed!(
    Refused(questions::refusal::Refusal),
    Config(ConfigError),
    Data(DataError),
    Setup(SetupError),
    Sim(SimError)
);

impl Hint for AuditError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Pair { .. } => Some("`--pair 0,3`: what node 3 learns about node 0".into()),
            Self::Trials { .. } => Some("`--trials 4000` takes a few seconds on a small scenario".into()),
            Self::Confidence(_) => Some("use `--confidence 0.95`".into()),
            Self::NoMessages(_) => Some("use rounds, gossip, walk or mean".into()),
            Self::Void => Some(
                "the keys, signs or rounds of streams differ between members: nothing but noise was seen"
                    .into(),
            ),
            Self::Totals => Some(
                "a total needs room for the sum of all contributions and their noise (`privacy.grid`, `privacy.largest`), and every bit of a word counts".into(),
            ),
            Self::NothingBroken { masks: "masked", .. } => Some("use `--set privacy.masking=none`".into()),
            Self::NothingBroken { .. } => Some("use `--set privacy.masking=pairwise`".into()),
            Self::Alone => Some("use `--set nodes=4` or more".into()),
            Self::NoSum => Some("such as `SELECT count(*), mean(age) FROM swarm`".into()),
            Self::Refused(refusal) => refusal.hint(),
            Self::Log(error) => error.hint(),
            Self::ShortLog { .. } => {
                Some("audit the configuration by itself: `murmur audit RUN/config.toml`".into())
            }
            Self::NoFirstLine { .. } => {
                Some("give the `log.jsonl` of a run, or the folder in which it lies".into())
            }
            Self::OtherRun { .. } => Some("leave the `--set` out, or audit a configuration by itself".into()),
            Self::Coalition { .. } => Some("`--coalition 0,1`: what nodes 0 and 1 learn together".into()),
            Self::NothingReused { .. } => {
                Some("use an algorithm with several rounds, or `--break noise-halved`".into())
            }
            Self::Setup(error) => error.hint(),
            Self::Config(error) => error.hint(),
            Self::Sim(error) => error.hint(),
            Self::Train(error) => error.hint(),
            Self::Model(error) => error.hint(),
            Self::Data(error) => error.hint(),
            Self::Account(_) | Self::Mechanism(_) => None,
        }
    }
}

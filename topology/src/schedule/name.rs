//! Names of schedules as text: what a configuration or a flag says before graph, weights and run id are known.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::{RunKey, Schedule};
use crate::error::TopologyError;
use crate::graph::Graph;
use crate::spec::Spec;
use crate::weights::Weights;

/// The names that [`ScheduleSpec::from_str`] takes.
pub const SCHEDULE_NAMES: &[&str] = &[
    "fixed",
    "one-peer-exponential",
    "doubling",
    "shuffled-doubling",
    "random-matching",
    "resampled:FAMILY:SIZE",
];

/// Which schedule, by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ScheduleSpec {
    /// [`Schedule::Fixed`].
    #[default]
    Fixed,
    /// [`Schedule::OnePeerExponential`].
    OnePeerExponential,
    /// [`Schedule::Doubling`].
    Doubling,
    /// [`Schedule::ShuffledDoubling`].
    ShuffledDoubling,
    /// [`Schedule::RandomMatching`].
    RandomMatching,
    /// [`Schedule::Resampled`], with the random family.
    Resampled(Spec),
}

/// What a schedule may need beside its name.
#[derive(Clone)]
pub struct Setting {
    /// The fixed graph, or the one whose edges are matched; without one any two nodes may be matched.
    pub graph: Option<Arc<Graph>>,
    /// Weights of fixed and resampled graphs.
    pub weights: Weights,
    /// Steps per round where the schedule itself does not say.
    pub steps: usize,
    /// Identifies the run; all public randomness is a hash of it.
    pub run_id: String,
}

impl ScheduleSpec {
    /// The schedule of this name.
    ///
    /// # Errors
    /// As [`Weights::matrix`], and `fixed` without a graph.
    pub fn schedule(&self, setting: &Setting) -> Result<Schedule, TopologyError> {
        let key = RunKey::new(&setting.run_id);
        let steps = setting.steps;
        Ok(match self {
            Self::Fixed => {
                let graph = setting.graph.clone().ok_or(TopologyError::NeedsGraph)?;
                Schedule::fixed(graph, &setting.weights, steps)?
            }
            Self::OnePeerExponential => Schedule::OnePeerExponential,
            Self::Doubling => Schedule::Doubling,
            Self::ShuffledDoubling => Schedule::ShuffledDoubling { key },
            Self::RandomMatching => Schedule::RandomMatching { graph: setting.graph.clone(), key, steps },
            Self::Resampled(spec) => {
                Schedule::Resampled { spec: spec.clone(), weights: setting.weights.clone(), key, steps }
            }
        })
    }
}

impl FromStr for ScheduleSpec {
    type Err = TopologyError;

    fn from_str(text: &str) -> Result<Self, TopologyError> {
        match text {
            "fixed" => Ok(Self::Fixed),
            "one-peer-exponential" => Ok(Self::OnePeerExponential),
            "doubling" => Ok(Self::Doubling),
            "shuffled-doubling" => Ok(Self::ShuffledDoubling),
            "random-matching" => Ok(Self::RandomMatching),
            "resampled" | "resampled:" => {
                Err(TopologyError::MissingArgument { name: "resampled", needs: "a graph family" })
            }
            _ => match text.strip_prefix("resampled:") {
                Some(family) => resampled(family),
                None => Err(TopologyError::UnknownName {
                    what: "schedule",
                    name: text.into(),
                    known: SCHEDULE_NAMES,
                }),
            },
        }
    }
}

fn resampled(family: &str) -> Result<ScheduleSpec, TopologyError> {
    let spec: Spec = family.parse().map_err(|error| TopologyError::Spec(Box::new(error)))?;
    if spec.is_random() {
        Ok(ScheduleSpec::Resampled(spec))
    } else {
        Err(TopologyError::NothingRandom { spec: family.into() })
    }
}

impl fmt::Display for ScheduleSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed => f.write_str("fixed"),
            Self::OnePeerExponential => f.write_str("one-peer-exponential"),
            Self::Doubling => f.write_str("doubling"),
            Self::ShuffledDoubling => f.write_str("shuffled-doubling"),
            Self::RandomMatching => f.write_str("random-matching"),
            Self::Resampled(family) => write!(f, "resampled:{family}"),
        }
    }
}

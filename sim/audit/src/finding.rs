//! What an audit found, as it is printed and written.

use serde::Serialize;

/// One attack on one watcher (or one pair) and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The attack.
    pub attack: &'static str,
    /// Whose view of whose data: `node 3 → node 5`.
    pub target: String,
    /// What the attack proves, where it proves an ε.
    pub lower: Option<Lower>,
    /// What the account says about the same view.
    pub upper: Option<Upper>,
    /// Runs, canaries or records that it rests on.
    pub trials: u64,
    /// Other figures of the attack.
    pub measures: Vec<Measure>,
    /// Whether the lower bound is not above the upper one.
    pub passed: bool,
}

/// A lower bound.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lower {
    /// ε.
    pub epsilon: f64,
    /// Probability that it is one, with all bounds of the audit at once.
    pub confidence: f64,
    /// How it was found.
    pub method: &'static str,
    /// The same errors read as those of a Gaussian mechanism: tighter, and only right if it is one. Decides nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gaussian: Option<f64>,
}

/// The account's upper bound.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Upper {
    /// ε; `null` where nothing limits it.
    pub epsilon: Option<f64>,
    /// δ of both bounds.
    pub delta: f64,
    /// The analysis.
    pub analysis: String,
}

/// A figure with its interval, where it has one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measure {
    /// What it is.
    pub name: String,
    /// The figure.
    pub value: f64,
    /// Its interval at the confidence of the audit, for this figure alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
}

/// An attack that does not apply to a scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Skipped {
    /// The attack.
    pub attack: &'static str,
    /// Why not.
    pub why: String,
}

/// What an audit came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Lower bounds were found, and none is above its upper bound.
    Passed,
    /// A lower bound is above its upper bound.
    Failed,
    /// The attacks gave figures and no bound: nothing was decided.
    Undecided,
    /// None of the attacks applies: nothing was attacked.
    Nothing,
}

impl Verdict {
    pub(crate) fn of(findings: &[Finding]) -> Self {
        match findings {
            [] => Self::Nothing,
            _ if findings.iter().any(|finding| !finding.passed) => Self::Failed,
            _ if findings.iter().all(|finding| finding.lower.is_none()) => Self::Undecided,
            _ => Self::Passed,
        }
    }

    /// In words, as headings say it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Undecided => "figures only",
            Self::Nothing => "nothing was attacked",
        }
    }
}

/// A whole audit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Audit {
    /// Name of the run.
    pub run: String,
    /// The algorithm.
    pub algorithm: &'static str,
    /// Number of nodes.
    pub nodes: usize,
    /// Whose data change: `record` or `node`.
    pub adjacency: &'static str,
    /// Noise divided by the clip norm.
    pub noise_multiplier: f64,
    /// Probability that all deciding lower bounds hold at once.
    pub confidence: f64,
    /// What was broken on purpose; `null` for the real mechanism.
    pub sabotage: Option<&'static str>,
    /// What was found.
    pub findings: Vec<Finding>,
    /// What does not apply.
    pub skipped: Vec<Skipped>,
    /// What a reader must know besides, such as a log that does not state the noise of its configuration.
    pub notes: Vec<String>,
    /// What it came to.
    pub verdict: Verdict,
    /// Whether there are lower bounds and none is above its upper bound.
    pub passed: bool,
}

impl Finding {
    /// A finding that is only figures.
    pub(crate) fn figures(attack: &'static str, target: String, trials: u64, measures: Vec<Measure>) -> Self {
        Self { attack, target, lower: None, upper: None, trials, measures, passed: true }
    }

    /// A finding with two bounds; the lower one decides.
    pub(crate) fn bounded(
        attack: &'static str,
        target: String,
        trials: u64,
        (lower, upper): (Lower, Upper),
    ) -> Self {
        let passed = upper.epsilon.is_none_or(|upper| lower.epsilon <= upper);
        Self { attack, target, lower: Some(lower), upper: Some(upper), trials, measures: Vec::new(), passed }
    }

    pub(crate) fn with_measures(mut self, measures: Vec<Measure>) -> Self {
        self.measures = measures;
        self
    }
}

impl Measure {
    pub(crate) fn new(name: impl Into<String>, value: f64) -> Self {
        Self { name: name.into(), value, interval: None }
    }

    pub(crate) fn within(self, low: f64, high: f64) -> Self {
        Self { interval: Some((low, high)), ..self }
    }
}

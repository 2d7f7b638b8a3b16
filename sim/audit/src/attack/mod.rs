//! The attacks, one file each. An attack gets a [`Case`] and gives findings, or says why it does not apply.

pub(crate) mod canaries;
pub(crate) mod distinguish;
pub(crate) mod inversion;
pub(crate) mod membership;
pub(crate) mod received;
pub(crate) mod reconstruct;

use protocol::LogLine;

use crate::AuditError;
use crate::claim::Claim;
use crate::finding::{Finding, Skipped};
use crate::logged::Logged;
use crate::stage::Scene;
use crate::visits::Visits;

/// Which attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Attack {
    /// Many repetitions with and without a change, told apart by a likelihood ratio.
    Distinguish,
    /// One run with many canaries.
    Canaries,
    /// Solving for initial values.
    Reconstruct,
    /// Who was in the training data of the final model.
    Membership,
    /// A record from its gradient.
    Inversion,
    /// What anybody was given, logged or not, against every figure.
    Received,
}

impl Attack {
    /// All of them with their names.
    pub const ALL: [(&'static str, Self); 6] = [
        ("distinguish", Self::Distinguish),
        ("canaries", Self::Canaries),
        ("reconstruct", Self::Reconstruct),
        ("membership", Self::Membership),
        ("inversion", Self::Inversion),
        ("received", Self::Received),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// Statistical bounds that decide: the allowed error is divided among them.
    pub(crate) fn tests(self) -> usize {
        match self {
            Self::Distinguish => distinguish::DELTAS,
            Self::Canaries | Self::Membership => 1,
            Self::Reconstruct | Self::Inversion | Self::Received => 0,
        }
    }

    pub(crate) fn run(self, case: &Case<'_>) -> Result<Outcome, AuditError> {
        match self {
            Self::Distinguish => distinguish::run(case),
            _ if case.scene.is_masked() => {
                Ok(Outcome::skipped(self, "reads sums in the clear, and masked rounds have none"))
            }
            _ if case.watchers.len() > 1 => {
                Ok(Outcome::skipped(self, "is made for one watcher only, not for a coalition"))
            }
            Self::Canaries => canaries::run(case),
            Self::Reconstruct => reconstruct::run(case),
            Self::Membership => membership::run(case),
            Self::Inversion => inversion::run(case),
            Self::Received => received::run(case),
        }
    }
}

/// What an attack is told.
pub(crate) struct Case<'a> {
    pub(crate) scene: &'a Scene,
    /// The log of a real run, where there is one.
    pub(crate) log: Option<&'a Logged>,
    /// Whose data, and who watches; of several watchers the first.
    pub(crate) pair: (usize, usize),
    /// Who watches: one, or several that pool their views.
    pub(crate) watchers: &'a [usize],
    /// Who contributes when.
    pub(crate) visits: &'a Visits,
    /// Runs with, and as many without, the change.
    pub(crate) trials: usize,
    /// Confidence of the whole audit.
    pub(crate) confidence: f64,
    /// Error that one deciding bound may make.
    pub(crate) alpha: f64,
    pub(crate) seed: u64,
    pub(crate) threads: usize,
    /// Told after every so many runs.
    pub(crate) progress: &'a (dyn Fn(u64) + Sync),
}

/// What came of an attack.
pub(crate) enum Outcome {
    Found(Vec<Finding>),
    Skipped(Skipped),
}

impl Outcome {
    pub(crate) fn skipped(attack: Attack, why: impl Into<String>) -> Self {
        Self::Skipped(Skipped { attack: attack.name(), why: why.into() })
    }
}

impl Case<'_> {
    /// The pair in words.
    pub(crate) fn named_pair(&self) -> String {
        let names: Vec<String> = self.watchers.iter().map(usize::to_string).collect();
        let watchers = match names.as_slice() {
            [one] => format!("node {one}"),
            [most @ .., last] => format!("nodes {} and {last}", most.join(", ")),
            [] => String::new(),
        };
        format!("node {} → {watchers}", self.pair.0)
    }

    /// What the account says at `delta`: of the real run where its log was given, else of a run of this audit.
    pub(crate) fn claim(&self, own: &[LogLine], delta: f64) -> Result<Claim, AuditError> {
        Ok(match self.log {
            Some(log) => Claim::of_log(log, delta)?,
            None => Claim::of_run(&self.scene.setup, own, delta)?,
        })
    }

    /// A seed for the `index`-th run of one of the attacks' stages.
    pub(crate) fn seed_of(&self, stage: u64, index: u64) -> u64 {
        // The simulator scrambles seeds itself; they only have to differ.
        self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(stage << 40).wrapping_add(index)
    }
}

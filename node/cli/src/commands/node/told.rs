//! What a node tells whoever started it: one JSON line per picture. Both ends are this program, so both have this type.

use dashboard::{Judged, Vitals};
use runtime::driver::{Phase, Status};
use runtime::renewals::Words;
use runtime::swarm_file::SwarmFile;
use serde::{Deserialize, Serialize};

/// What a line says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Told {
    /// When, in seconds since 1970.
    #[serde(default)]
    pub(crate) time: u64,
    /// Where the node stands.
    #[serde(flatten)]
    pub(crate) status: Status,
    /// How good the model is, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) judged: Option<Judged>,
}

impl Told {
    /// The same for the page. Whom the node talks to is not in a line.
    pub(crate) fn vitals(&self) -> Vitals {
        Vitals {
            phase: self.phase().into(),
            position: self.status.position,
            bytes: self.status.bytes,
            dropped: self.status.dropped,
            spent: self.status.spent.clone(),
            notice: self.status.notice.clone(),
            judged: self.judged,
            linked: None,
        }
    }

    /// The word for what the node does.
    pub(crate) fn phase(&self) -> &'static str {
        match self.status.phase {
            Phase::Gathering => "gathering",
            Phase::Running => "running",
            Phase::Done => "done",
        }
    }

    /// The largest part of a limit that was spent.
    pub(crate) fn most_spent(&self) -> Option<f64> {
        self.status.spent.iter().map(|(_, part)| *part).reduce(f64::max)
    }
}

/// Says what a renewed swarm file changes, to whoever accepts it by this start.
pub(super) fn renewal(swarm: &SwarmFile) {
    let renewals = &swarm.renewals;
    if let Some(at) = renewals.steps.len().checked_sub(1) {
        eprintln!("{}This node takes part in it: it signs with its own identity.", Words { renewals, at });
    }
}

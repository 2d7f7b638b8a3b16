//! A log that was given: the account of a run that somebody made, as its own lines state it.

use std::path::Path;

use protocol::account::{ReleaseKind, Shape};
use protocol::config::Config;
use protocol::log::Log;
use protocol::{LogLine, RunEvent, Setup};

use crate::AuditError;

/// A log and the run that its first line describes.
pub(crate) struct Logged {
    pub(crate) lines: Vec<LogLine>,
    /// What the account must know, by the first line and not by a configuration beside it.
    pub(crate) shape: Shape,
}

/// The configuration that the first line of a log holds.
///
/// # Errors
/// A log that cannot be read or that has no such line; a configuration of another version.
pub fn config_in_log(path: &Path) -> Result<Config, AuditError> {
    let lines = Log::whole(path)?;
    config_of(lines.iter().map(|line| &line.event).find(|event| matches!(event, RunEvent::Run { .. })), path)
}

fn config_of(first: Option<&RunEvent>, path: &Path) -> Result<Config, AuditError> {
    let Some(RunEvent::Run { config, .. }) = first else {
        return Err(AuditError::NoFirstLine { path: path.to_owned() });
    };
    Ok(Config::from_toml(config, &format!("the first line of {}", path.display()))?)
}

impl Logged {
    /// Reads a log.
    pub(crate) fn read(path: &Path) -> Result<Self, AuditError> {
        let lines = Log::whole(path)?;
        let first = lines.iter().map(|line| &line.event).find(|event| matches!(event, RunEvent::Run { .. }));
        let config = config_of(first, path)?;
        let Some(first @ RunEvent::Run { driver, .. }) = first else {
            return Err(AuditError::NoFirstLine { path: path.to_owned() });
        };
        let mut shape = Shape::of_logged(&config, first)?;
        let mut told: Vec<usize> =
            lines.iter().filter_map(|line| line.node).map(|node| node as usize).collect();
        told.sort_unstable();
        told.dedup();
        if driver != "sim" && told.len() < config.nodes {
            shape = shape.with_witnesses(told);
        }
        Ok(Self { lines, shape })
    }

    /// Refuses a log that is not about what is attacked: other nodes, another adjacency, or fewer contributions than the scenario makes.
    pub(crate) fn check(&self, setup: &Setup, simulated: &[LogLine]) -> Result<(), AuditError> {
        let (log, run) = (&self.shape, setup.shape());
        for (what, log, run) in [
            ("nodes", log.nodes.to_string(), run.nodes.to_string()),
            ("privacy.adjacency", format!("{:?}", log.adjacency), format!("{:?}", run.adjacency)),
        ] {
            if log != run {
                let (log, run) = (log.to_lowercase(), run.to_lowercase());
                return Err(AuditError::OtherRun { what, log, run });
            }
        }
        let releases = |lines: &[LogLine]| {
            lines.iter().filter(|line| matches!(line.event, RunEvent::Released { .. })).count()
        };
        let (has, needed) = (releases(&self.lines), releases(simulated));
        if has < needed { Err(AuditError::ShortLog { has, needed }) } else { Ok(()) }
    }

    /// What a reader must know where the log states another noise than the configuration gives.
    pub(crate) fn notes(&self, setup: &Setup, simulated: &[LogLine]) -> Vec<String> {
        let usual = |shape: &Shape| ReleaseKind::of(&shape.release);
        let (log, run) = (noises(&self.lines, usual(&self.shape)), noises(simulated, usual(&setup.shape())));
        if log == run {
            return Vec::new();
        }
        let [log, run] =
            [log, run].map(
                |(least, most)| {
                    if least == most { format!("{least}") } else { format!("{least} to {most}") }
                },
            );
        vec![format!(
            "the log states a noise multiplier of {log}, and its configuration gives {run}: nodes that add {run} are attacked, and held against what the log states"
        )]
    }
}

/// Least and most noise multiplier of the contributions; 0 where there is no noise.
fn noises(lines: &[LogLine], usual: ReleaseKind) -> (f64, f64) {
    let of = |kind: ReleaseKind| kind.noise_multiplier().unwrap_or(0.0);
    let released = lines.iter().filter_map(|line| match &line.event {
        RunEvent::Released { release, .. } => Some(of(release.as_ref().map_or(usual, ReleaseKind::of))),
        _ => None,
    });
    released.fold((f64::INFINITY, 0.0), |(least, most), noise| (least.min(noise), most.max(noise)))
}

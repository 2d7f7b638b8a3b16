//! Everything that was delivered, to anybody, logged or not: each watcher solves for what it was given, and no figure of the account may be below that.
//!
//! Other attacks look at the pair that the account says lost most. What an account forgets it prices at nothing, so that is where nobody looks: here every
//! pair is looked at, and the one in which most was received beyond what is printed is shown.

use protocol::PeerIx;
use protocol::account::epsilon_of_mu2;

use super::reconstruct::{DETERMINED, RESIDUE, solvable};
use super::{Attack, Case, Outcome};
use crate::AuditError;
use crate::finding::{Finding, Lower, Measure};
use crate::linear::{Unknown, View};
use crate::solve;

/// Nodes up to which every pair is looked at: each watcher costs some runs.
const MOST_NODES: usize = 16;

/// What was received about somebody, in units of one contribution that is seen as it is.
struct Received {
    pair: (usize, usize),
    found: f64,
    claimed: f64,
}

/// Runs the attack.
///
/// # Guarantee
/// As [`super::reconstruct`]: exact algebra up to the rounding of messages, for every pair.
///
/// # Assumes
/// As [`super::reconstruct`].
pub(crate) fn run(case: &Case<'_>) -> Result<Outcome, AuditError> {
    let nodes = case.scene.setup.config.nodes;
    let (contributions, noise) = match solvable(case) {
        Ok((contributions, Some(noise))) if nodes <= MOST_NODES => (contributions, noise),
        Ok((_, None)) => return Ok(Outcome::skipped(Attack::Received, "there is no noise to hide anything")),
        Ok(_) => {
            let why = format!("{nodes} nodes are more than the {MOST_NODES} whose pairs are all solved for");
            return Ok(Outcome::skipped(Attack::Received, why));
        }
        Err(why) => return Ok(Outcome::skipped(Attack::Received, why)),
    };
    let runs = solve::runs_for(contributions, case.scene.parameters()) as u64;
    let mut worst: Option<Received> = None;
    let mut log = Vec::new();
    for watcher in 0..nodes {
        let play = |index: u64| {
            let seed = case.seed_of(24, index);
            let played = solve::play(case.scene, watcher, (seed, false), Unknown::Contribution)?;
            (case.progress)(1);
            Ok::<_, AuditError>(played)
        };
        let played = (0..runs).map(play).collect::<Result<Vec<_>, _>>()?;
        let view = View::of_runs(&played, Unknown::Contribution, watcher as PeerIx);
        if view.residue > RESIDUE {
            let why =
                format!("messages are no linear function of contributions: {:.1e} is left", view.residue);
            return Ok(Outcome::skipped(Attack::Received, why));
        }
        log.clone_from(&played[0].log);
        let space = view.space();
        let mut claim = case.claim(&log, case.scene.setup.config.privacy.delta)?;
        for source in (0..nodes).filter(|&source| source != watcher) {
            let found = space.joint(&view.columns_of(source as PeerIx)) * (1.0 - DETERMINED);
            let claimed = claim.mu2((source, watcher)) * noise * noise;
            let beyond = |received: &Received| received.found - received.claimed;
            let this = Received { pair: (source, watcher), found, claimed };
            if worst.as_ref().is_none_or(|worst| beyond(&this) > beyond(worst)) {
                worst = Some(this);
            }
        }
    }
    let Some(Received { pair, found, claimed }) = worst else {
        return Ok(Outcome::skipped(Attack::Received, "there is no pair"));
    };
    finding(case, (pair, found, claimed), (noise, runs * nodes as u64), &log)
}

fn finding(
    case: &Case<'_>,
    (pair, found, claimed): ((usize, usize), f64, f64),
    (noise, runs): (f64, u64),
    log: &[protocol::LogLine],
) -> Result<Outcome, AuditError> {
    let delta = case.scene.setup.config.privacy.delta;
    let lower = Lower {
        epsilon: epsilon_of_mu2(found / (noise * noise), delta),
        confidence: 1.0,
        method: "linear algebra on messages",
        gaussian: None,
    };
    let upper = case.claim(log, delta)?.pair(pair);
    let measures =
        vec![Measure::new("μ²/(Δ/σ)² received", found), Measure::new("μ²/(Δ/σ)² claimed", claimed)];
    let target = format!("node {} → node {}", pair.0, pair.1);
    let finding = Finding::bounded("received", target, runs, (lower, upper));
    Ok(Outcome::Found(vec![finding.with_measures(measures)]))
}

//! What a curious node can solve for. Contributions go in, messages come out; the linear map between them is found from real runs, not from a model of the protocol.
//!
//! All nodes contribute known random vectors in several runs with different noise. Least squares of the watcher's messages on the contributions gives the rows of its view;
//! with its own contributions they span what it knows. A contribution that lies in that space is determined exactly where there is no noise; with noise σ and a
//! prior of variance s² per coordinate the best linear estimate leaves √(1 − l·s²/(s² + σ²)) of the prior's deviation, l being the leverage.

use protocol::PeerIx;
use protocol::account::{ReleaseKind, epsilon_of_mu2};

use super::{Attack, Case, Outcome};
use crate::AuditError;
use crate::finding::{Finding, Lower, Measure};
use crate::linear::{Space, Unknown, View};
use crate::solve;
use crate::stage::Played;

/// Contributions that a system may have: it is dense.
const MOST: usize = 600;
/// What rounding in single precision may leave of a message that is a sum of contributions.
pub(super) const RESIDUE: f64 = 1e-3;
/// A leverage this close to one is one.
pub(super) const DETERMINED: f64 = 1e-4;

/// Runs the attack.
///
/// # Guarantee
/// The lower bound is the loss of the view that was found, if the noise is Gaussian of the size that the release says: exact algebra up to the rounding of messages.
///
/// # Assumes
/// Contributions do not depend on hidden states (here they are fixed vectors); the size of the noise, which [`super::distinguish`] does not assume.
pub(crate) fn run(case: &Case<'_>) -> Result<Outcome, AuditError> {
    let setup = &case.scene.setup;
    let (contributions, noise) = match solvable(case) {
        Ok(solvable) => solvable,
        Err(why) => return Ok(Outcome::skipped(Attack::Reconstruct, why)),
    };
    let runs = solve::runs_for(contributions, case.scene.parameters());
    let played = (0..runs as u64).map(|index| fixed(case, index, false)).collect::<Result<Vec<_>, _>>()?;
    let view = View::of_runs(&played, Unknown::Contribution, case.pair.1 as PeerIx);
    if view.residue > RESIDUE {
        let why =
            format!("messages are no linear function of contributions: {:.1e} of them is left", view.residue);
        return Ok(Outcome::skipped(Attack::Reconstruct, why));
    }
    let space = view.space();
    let source = case.pair.0 as PeerIx;
    let unit = space.joint(&view.columns_of(source));
    let Some(noise_multiplier) = noise else {
        let measures = measures(case, &view, &space, &played, (unit, None))?;
        return Ok(Outcome::Found(vec![Finding::figures(
            "reconstruct",
            case.named_pair(),
            runs as u64,
            measures,
        )]));
    };
    let delta = setup.config.privacy.delta;
    let lower = Lower {
        // Rounding of messages is the only error; it is taken off.
        epsilon: epsilon_of_mu2(unit * (1.0 - DETERMINED) / (noise_multiplier * noise_multiplier), delta),
        confidence: 1.0,
        method: "linear algebra on messages",
        gaussian: None,
    };
    let mut claim = case.claim(&played[0].log, delta)?;
    let claimed = claim.mu2(case.pair) * noise_multiplier * noise_multiplier;
    let measures = measures(case, &view, &space, &played, (unit, Some(claimed)))?;
    let finding =
        Finding::bounded("reconstruct", case.named_pair(), runs as u64, (lower, claim.pair(case.pair)));
    Ok(Outcome::Found(vec![finding.with_measures(measures)]))
}

/// Contributions to solve for, and the noise multiplier where there is noise; or why there is no such system.
pub(super) fn solvable(case: &Case<'_>) -> Result<(usize, Option<f64>), String> {
    let setup = &case.scene.setup;
    let contributions = setup.config.nodes * setup.config.rounds as usize;
    if contributions > MOST {
        return Err(format!(
            "{contributions} contributions are more than the {MOST} that are solved for; use fewer rounds or nodes"
        ));
    }
    if setup.config.algorithm.message_noise > 0.0 {
        return Err("messages carry noise of their own (`algorithm.message_noise`)".into());
    }
    match ReleaseKind::of(&setup.settings.release) {
        ReleaseKind::Gaussian { noise_multiplier } => Ok((contributions, Some(noise_multiplier))),
        ReleaseKind::NonPrivate => Ok((contributions, None)),
        ReleaseKind::Sampled { .. } => Err("needs all records in every batch: `batch_size = \"all\"`".into()),
    }
}

/// One run in which every node contributes a random vector of the clip norm.
fn fixed(case: &Case<'_>, index: u64, silent: bool) -> Result<Played, AuditError> {
    let seed = case.seed_of(16 + u64::from(silent), index);
    let played = solve::play(case.scene, case.pair.1, (seed, silent), Unknown::Contribution)?;
    (case.progress)(1);
    Ok(played)
}

fn measures(
    case: &Case<'_>,
    view: &View,
    space: &Space,
    played: &[Played],
    (unit, claimed): (f64, Option<f64>),
) -> Result<Vec<Measure>, AuditError> {
    let watcher = case.pair.1 as PeerIx;
    let foreign: Vec<usize> = (0..view.columns.len()).filter(|&at| view.columns[at].0 != watcher).collect();
    let determined = foreign.iter().filter(|&&at| space.leverage(at) > 1.0 - DETERMINED).count();
    let first = view.columns_of(case.pair.0 as PeerIx).first().copied();
    let mut measures = vec![
        Measure::new("rank of the view", space.rank() as f64),
        Measure::new("contributions of others", foreign.len() as f64),
        Measure::new("determined without noise", determined as f64),
        Measure::new("μ²/(Δ/σ)² found", unit),
    ];
    measures.extend(claimed.map(|claimed| Measure::new("μ²/(Δ/σ)² claimed", claimed)));
    if let Some(first) = first {
        let (noisy, expected) = view.error_of(space, first, played);
        let silent = (0..2).map(|index| fixed(case, index, true)).collect::<Result<Vec<_>, _>>()?;
        let (clear, clear_expected) = view.error_of(space, first, &silent);
        measures.push(Measure::new("error without noise, of prior", clear));
        measures.push(Measure::new("the same by theory", clear_expected));
        measures.push(Measure::new("error with noise, of prior", noisy));
        measures.push(Measure::new("by theory", expected));
    }
    Ok(measures)
}

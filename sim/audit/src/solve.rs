//! What one node can solve for, contribution by contribution: the heart of `reconstruct`, for other programs and tests.

use privacy::noise::{NoiseSource, danger_from_seed};
use protocol::{PeerIx, Setup};
use sim::Due;

use crate::AuditError;
use crate::linear::{Unknown, View};
use crate::stage::{Act, Keep, Play, Played, Scene};

/// Runs at least, so that what all runs have in common can be taken off.
const RUNS: usize = 4;

/// The contributions of a run as one watcher sees them.
#[derive(Debug, Clone, PartialEq)]
pub struct Solved {
    /// Node and count of each contribution.
    pub contributions: Vec<(PeerIx, u32)>,
    /// The leverage of each: 1 where the messages determine it exactly, 0 where they say nothing about it.
    pub leverages: Vec<f64>,
    /// Independent combinations of contributions that the watcher knows, its own included.
    pub rank: usize,
    /// The part of a message, at most, that is no linear function of the unknowns; rounding leaves about 1e-6.
    pub residue: f64,
}

/// Measures what `watcher` can solve for in runs of `setup`.
///
/// With [`Unknown::Contribution`] every node contributes random vectors; with [`Unknown::Noise`] it contributes what its own data and model give, and the unknowns are the
/// noises: a change of a contribution enters where its noise does.
///
/// # Guarantee
/// For Gaussian noise of size σ and a change Δ of one contribution, the loss of the watcher's view is μ² = leverage·(Δ/σ)², up to the rounding of messages.
///
/// # Assumes
/// A small `residue`: a protocol that is linear in the unknowns.
///
/// # Errors
/// A run that fails.
pub fn solve(setup: &Setup, watcher: usize, unknown: Unknown, seed: u64) -> Result<Solved, AuditError> {
    let scene = Scene::new(setup.clone(), None)?;
    let contributions = setup.config.nodes * setup.config.rounds as usize;
    let runs = runs_for(contributions, scene.parameters());
    let make = |index: u64| play(&scene, watcher, (seed.wrapping_add(index), false), unknown);
    let played = (0..runs as u64).map(make).collect::<Result<Vec<_>, _>>()?;
    let view = View::of_runs(&played, unknown, watcher as PeerIx);
    let space = view.space();
    let leverages = (0..view.columns.len()).map(|column| space.leverage(column)).collect();
    Ok(Solved { leverages, rank: space.rank(), residue: view.residue, contributions: view.columns })
}

/// Runs that make three equations for each unknown.
pub(crate) fn runs_for(contributions: usize, parameters: usize) -> usize {
    RUNS.max((3 * contributions).div_ceil(parameters) + 1)
}

/// One run that keeps all messages of the watcher and all contributions.
pub(crate) fn play(
    scene: &Scene,
    watcher: usize,
    (seed, silent): (u64, bool),
    unknown: Unknown,
) -> Result<Played, AuditError> {
    let act = |due: &Due<'_>| match unknown {
        Unknown::Contribution => random_rows(scene, seed, (due.node, due.job.round)),
        Unknown::Noise => Act::Own,
    };
    let play = Play {
        seed,
        act: &act,
        source: None,
        watchers: &[watcher],
        unmasked: false,
        keep: Keep::All,
        with_contributions: true,
        with_log: true,
        silent,
    };
    Ok(scene.play(&play)?)
}

/// A random vector of the clip norm: as much as may change.
fn random_rows(scene: &Scene, seed: u64, (node, round): (PeerIx, u32)) -> Act {
    let width = scene.parameters();
    let mut row = vec![0.0_f32; width];
    danger_from_seed(seed, &format!("audit/values/{node}/{round}")).standard_normals_f32(&mut row);
    let norm = row.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
    let scale = (scene.setup.config.privacy.clip_norm / norm) as f32;
    row.iter_mut().for_each(|x| *x *= scale);
    let rows = learn::data::Dataset::new(row, width, learn::data::Targets::None);
    rows.map_or(Act::Own, Act::Rows)
}

//! Absorb only at messages that the watchers see: μ²(u) = Σ_s Σ_{w seen} a_w(s)².
//!
//! On a run that repeats itself all sources come at once by the adjoint: with M the mask of unseen nodes, e_wᵀ a(s) is the u-th
//! entry of c_w(s) = e_w + ρ (c_w(s−1) W) M, one sparse row–matrix product per seen node and round. Rows of several watchers
//! share a block, so each entry of W is read once for twenty-four of them.

use super::super::block::Block;
use super::super::run::{Run, Watchers};
use super::super::sparse::{Csr, LANES, padded};
use super::Update;
use super::absorption::{Constraints, reached};

/// Sources that the direct method treats at once.
const SOURCES: usize = 64;

/// Rows that share a block in the adjoint method: three registers of the widest machines.
const ROWS: usize = 3 * LANES;

/// Loss μ² of every node towards the watchers, for Δ = σ = 1: a valid upper bound, the fastest and loosest of the three.
///
/// # Guarantee
/// The view of the watchers is μ-Gaussian-DP with respect to each `u` outside the coalition.
///
/// # Assumes
/// Honest-but-curious watchers; fresh Gaussian noise at every contribution; local update maps that satisfy `update`.
pub fn loss(run: &Run, watchers: &Watchers, update: Update) -> Vec<f64> {
    let mut rows = losses(run, std::slice::from_ref(watchers), update);
    rows.pop().expect("one row per coalition")
}

/// As [`loss`], for several coalitions at once.
pub fn losses(run: &Run, coalitions: &[Watchers], update: Update) -> Vec<Vec<f64>> {
    let repeats = run.repeated_phase().is_some_and(|phase| phase.all_contribute());
    if repeats && update.is_linear() {
        return adjoint(run, coalitions, update);
    }
    coalitions.iter().map(|watchers| direct(run, watchers, update)).collect()
}

fn direct(run: &Run, watchers: &Watchers, update: Update) -> Vec<f64> {
    let constraints = Constraints::new(run, watchers);
    let all: Vec<usize> = (0..run.nodes()).collect();
    let mut losses: Vec<f64> =
        all.chunks(SOURCES).flat_map(|sources| constraints.cost(sources, update, |_, _| {})).collect();
    watchers.members().iter().for_each(|&member| losses[member] = 0.0);
    let upwards = upwards(run);
    losses.into_iter().map(|mu2| mu2 * upwards).collect()
}

/// One row to push: the functional e_w of a coalition.
struct Row<'a> {
    coalition: usize,
    node: usize,
    zero: &'a [usize],
}

fn adjoint(run: &Run, coalitions: &[Watchers], update: Update) -> Vec<Vec<f64>> {
    let nodes = run.nodes();
    let phase = run.repeated_phase().expect("the caller checked");
    let zeros: Vec<Vec<usize>> = coalitions
        .iter()
        .map(|watchers| {
            let reach = reached(phase, watchers, vec![false; nodes]);
            (0..nodes).filter(|&node| reach[node]).collect()
        })
        .collect();
    let rows: Vec<Row<'_>> = coalitions
        .iter()
        .zip(&zeros)
        .enumerate()
        .flat_map(|(coalition, (watchers, zero))| {
            let seen = zero.iter().filter(|&&node| !watchers.contains(node));
            seen.map(move |&node| Row { coalition, node, zero })
        })
        .collect();
    let steps: Vec<(Csr, f64)> =
        phase.steps().iter().map(|s| (Csr::backward(s.matrix()).absolute(), s.momentum())).collect();
    let mut losses = vec![vec![0.0; nodes]; coalitions.len()];
    for block in rows.chunks(ROWS) {
        let width = padded(block.len());
        let sums = push_rows(block, &steps, run.rounds(), update.lipschitz);
        for (lane, row) in block.iter().enumerate() {
            let total = &mut losses[row.coalition];
            total.iter_mut().enumerate().for_each(|(node, mu2)| *mu2 += sums[node * width + lane]);
        }
    }
    let upwards = upwards(run);
    for (losses, watchers) in losses.iter_mut().zip(coalitions) {
        losses.iter_mut().for_each(|mu2| *mu2 *= upwards);
        watchers.members().iter().for_each(|&member| losses[member] = 0.0);
    }
    losses
}

/// Σ_s c_w(s)² for each row, entry by entry.
fn push_rows(rows: &[Row<'_>], steps: &[(Csr, f64)], rounds: usize, rho: f64) -> Block {
    let width = padded(rows.len());
    let nodes = steps.first().map_or(0, |(matrix, _)| matrix.nodes());
    let [mut current, mut scratch, mut sums] = std::array::from_fn(|_| Block::zeros(nodes * width));
    rows.iter().enumerate().for_each(|(lane, row)| current[row.node * width + lane] = 1.0);
    for round in 0..rounds {
        sums.iter_mut().zip(current.iter()).for_each(|(sum, c)| *sum += c * c);
        if round + 1 == rounds {
            break;
        }
        push(&mut current, &mut scratch, width, steps);
        if rho != 1.0 {
            current.iter_mut().for_each(|c| *c *= rho);
        }
        for (lane, row) in rows.iter().enumerate() {
            row.zero.iter().for_each(|&node| current[node * width + lane] = 0.0);
            current[row.node * width + lane] = 1.0;
        }
    }
    sums
}

/// c ↦ c |W_{K−1}|…|W_0|, with momentum as x(t+1) = (1 + m)|W| x(t) + m x(t−1), x(−1) = x(0), read backwards.
fn push(current: &mut Block, scratch: &mut Block, width: usize, steps: &[(Csr, f64)]) {
    let mut older: Option<Vec<f64>> = None;
    for (matrix, momentum) in steps.iter().rev() {
        matrix.multiply(width, current, scratch);
        let held = (*momentum != 0.0).then(|| current.iter().map(|x| x * momentum).collect());
        if *momentum != 0.0 {
            scratch.iter_mut().for_each(|x| *x *= 1.0 + momentum);
        }
        if let Some(older) = std::mem::replace(&mut older, held) {
            scratch.iter_mut().zip(older).for_each(|(x, o)| *x += o);
        }
        std::mem::swap(current, scratch);
    }
    if let Some(older) = older {
        current.iter_mut().zip(older).for_each(|(x, o)| *x += o);
    }
}

/// The factor that rounds a bound up by more than rounding can have taken off. All terms are sums of products of non-negative numbers, so the relative
/// error is at most one unit for each operation on the way: the entries of a row, in every step of every round.
pub(super) fn upwards(run: &Run) -> f64 {
    let phases = if run.repeats() { 1 } else { run.rounds() };
    let entries = (0..phases)
        .flat_map(|round| run.phase(round).steps())
        .map(|step| (0..run.nodes()).map(|node| step.matrix().row(node).0.len()).max().unwrap_or(0))
        .max()
        .unwrap_or(0);
    let steps = (0..phases).map(|round| run.phase(round).steps().len()).max().unwrap_or(0);
    let operations = (run.rounds() * (steps + 1) * (entries + 4)) as f64;
    1.0 + 2.0 * operations * f64::EPSILON
}

//! Loss of an averaging round, exactly: leverage scores (`rounds`).
//!
//! A message is a known row over the nodes' noisy inputs: y_w(t) = r·(x + z) with r = e_w W_{t−1}…W_0. Signal and noise pass
//! through the same coefficients, so what the view tells about `u` is the leverage score of `u` in its row space.
//! Losses of successive rounds add if each round ends in exact consensus.
//!
//! The row space is built backwards in time on orthonormal vectors: the space of messages from step t on, written
//! over the states at step t, is pushed through W_{t−1}, joined by the messages of step t−1 and made orthonormal
//! again. Powers of W are never formed, and no direction is lost to the bad conditioning that they have. Where the
//! matrix stays the same the spaces are nested (a block Krylov space), and only new directions are pushed on.

use super::basis::Basis;
use super::block::Block;
use super::error::NetworkError;
use super::run::{Phase, Run, Step, Watchers};
use super::sparse::{Csr, padded};
use std::sync::Arc;

/// Loss μ² of every node towards the watchers, for Δ = σ = 1.
///
/// # Guarantee
/// The view of the watchers is μ-Gaussian-DP with respect to the data of `u`, for each `u` outside the coalition; the
/// figure is exact up to rounding, which is added on top.
///
/// # Assumes
/// Honest-but-curious watchers that pool all they received; independent Gaussian noise at every contributing node in every
/// round; for more than one round, that every round ends in exact consensus. Any model, any loss function.
///
/// # Errors
/// More than one round where a round does not end in consensus.
pub fn loss(run: &Run, watchers: &Watchers) -> Result<Vec<f64>, NetworkError> {
    require_consensus(run)?;
    Ok(loss_of_rounds(run, watchers))
}

/// As [`loss`], for a run whose consensus was checked before.
pub(crate) fn loss_of_rounds(run: &Run, watchers: &Watchers) -> Vec<f64> {
    if let Some(phase) = run.repeated_phase() {
        let one = loss_of_phase(phase, run.nodes(), watchers, None);
        return one.into_iter().map(|mu2| mu2 * run.rounds() as f64).collect();
    }
    let mut total = vec![0.0; run.nodes()];
    for phase in run.phases() {
        let one = loss_of_phase(phase, run.nodes(), watchers, None);
        total.iter_mut().zip(one).for_each(|(sum, mu2)| *sum += mu2);
    }
    total
}

/// As [`loss`], where node `i` adds noise of standard deviation `noise[i]` instead of 1, for Δ = 1; one round, or rounds whose
/// consensus was checked before.
///
/// With D the diagonal matrix of the noises the rows of the view act on D⁻¹(x + z), whose noise is of unit variance: pushing back is by
/// D⁻¹WD instead of W, and a change of u is 1/σ_u as large.
///
/// # Guarantee
/// As for [`loss`].
///
/// # Assumes
/// As for [`loss`], and positive noise everywhere.
pub fn loss_with_noise(run: &Run, watchers: &Watchers, noise: &[f64]) -> Vec<f64> {
    let mut total = vec![0.0; run.nodes()];
    for phase in run.phases() {
        let one = loss_of_phase(phase, run.nodes(), watchers, Some(noise));
        total.iter_mut().zip(one).for_each(|(sum, mu2)| *sum += mu2);
    }
    total.iter().zip(noise).map(|(mu2, sigma)| mu2 / (sigma * sigma)).collect()
}

/// Dimension of the watchers' view of one phase: how many independent combinations of inputs they know, their own included.
pub fn rank(phase: &Phase, nodes: usize, watchers: &Watchers) -> usize {
    view(phase, nodes, watchers, None).rank()
}

/// Refuses several rounds unless each ends in consensus.
pub(crate) fn require_consensus(run: &Run) -> Result<(), NetworkError> {
    let rounds = run.rounds();
    if rounds == 1 {
        return Ok(());
    }
    let broken = match run.repeated_phase() {
        Some(phase) => (!super::consensus::ends_in_consensus(phase, run.nodes())).then_some(0),
        None => run.phases().position(|phase| !super::consensus::ends_in_consensus(phase, run.nodes())),
    };
    broken.map_or(Ok(()), |round| Err(NetworkError::NoConsensus { round, rounds }))
}

fn loss_of_phase(phase: &Phase, nodes: usize, watchers: &Watchers, noise: Option<&[f64]>) -> Vec<f64> {
    let scores = view(phase, nodes, watchers, noise).leverage();
    let lost = |(node, score): (usize, f64)| {
        let exposed = phase.contributes(node) && !watchers.contains(node);
        if exposed { rounded_up(score) } else { 0.0 }
    };
    scores.into_iter().enumerate().map(lost).collect()
}

/// Rounding of the orthogonalisation stays below this share; a loss of one cannot be passed.
fn rounded_up(score: f64) -> f64 {
    (score * (1.0 + 1e-12)).min(1.0)
}

/// The span of all that the watchers know about the inputs of a phase.
pub(super) fn view(phase: &Phase, nodes: usize, watchers: &Watchers, noise: Option<&[f64]>) -> Basis {
    let push = |step: &Step| {
        let csr = Csr::backward(step.matrix());
        match noise {
            Some(noise) => csr.rescaled(noise),
            None => csr,
        }
    };
    let basis = match fixed_step(phase.steps()) {
        Some(step) => {
            let symmetric = noise.is_none() && step.matrix().is_symmetric();
            krylov_view((step, symmetric), phase.steps().len(), watchers, &push(step))
        }
        None => stepwise_view(phase.steps(), nodes, watchers, &push),
    };
    if phase.all_contribute() {
        return basis;
    }
    // Who adds no noise starts from a state that the watchers know too.
    let silent = (0..nodes).filter(|&node| !phase.contributes(node));
    basis.joined_by_units(silent)
}

/// The step that is the same throughout, where there is one. Momentum may change from step to step but does not change the
/// span: the t-th message is a polynomial of exact degree t in W either way.
fn fixed_step(steps: &[Step]) -> Option<&Step> {
    let first = steps.first()?;
    let same = |step: &Step| Arc::ptr_eq(step.matrix(), first.matrix()) && !step.has_overheard();
    steps.iter().all(same).then_some(first)
}

/// Nested spaces: only the directions that the last step brought are pushed on.
fn krylov_view((step, symmetric): (&Step, bool), steps: usize, watchers: &Watchers, push: &Csr) -> Basis {
    let nodes = push.nodes();
    let heard = step.heard_by(watchers);
    let mut basis = Basis::of_units(marks(nodes, watchers, &heard));
    let mut frontier: Vec<f64> = heard.iter().flat_map(|&node| unit(nodes, node)).collect();
    let (mut near, mut last) = (0, 0);
    for _ in 1..steps {
        // The watchers know their own state at every step; the basis masks it.
        let candidates = pushed(push, &frontier);
        let new = basis.extend_near(candidates, if symmetric { near } else { 0 });
        // What a symmetric matrix makes of these vectors is orthogonal to all but them and those before: block Lanczos.
        near = new.saturating_sub(last);
        last = basis.dense_rank() - new;
        frontier = basis.dense()[new * nodes..].to_vec();
        if frontier.is_empty() {
            break;
        }
    }
    basis
}

/// Each of the vectors, which lie one after the other, times the matrix.
fn pushed(push: &Csr, vectors: &[f64]) -> Vec<f64> {
    let nodes = push.nodes();
    let width = padded(vectors.len() / nodes);
    let (mut block, mut product) = (Block::zeros(nodes * width), Block::zeros(nodes * width));
    for (lane, vector) in vectors.chunks_exact(nodes).enumerate() {
        vector.iter().enumerate().for_each(|(node, x)| block[node * width + lane] = *x);
    }
    push.multiply(width, &block, &mut product);
    let mut pushed = vec![0.0; vectors.len()];
    for (lane, vector) in pushed.chunks_exact_mut(nodes).enumerate() {
        vector.iter_mut().enumerate().for_each(|(node, x)| *x = product[node * width + lane]);
    }
    pushed
}

/// Any sequence of steps, from the last to the first. With momentum a row has coefficients on the states of its step and,
/// behind them, of the step before.
fn stepwise_view(steps: &[Step], nodes: usize, watchers: &Watchers, push: &dyn Fn(&Step) -> Csr) -> Basis {
    let with_momentum = steps.iter().any(|step| step.momentum() != 0.0);
    let size = if with_momentum { 2 * nodes } else { nodes };
    let mut basis = Basis::of_units(marks(nodes, watchers, &[]));
    let mut rows: Vec<f64> = Vec::new();
    for step in steps.iter().rev() {
        let heard = step.heard_by(watchers);
        let mut known = marks(nodes, watchers, &heard);
        known.extend((nodes..size).map(|at| watchers.contains(at - nodes)));
        basis = Basis::of_units(known);
        basis.extend(pushed_back(&push(step), step.momentum(), &rows, size));
        rows = basis.dense().to_vec();
        rows.extend(heard.iter().flat_map(|&node| unit(size, node)));
    }
    if with_momentum { before_the_start(&rows, nodes, watchers) } else { basis }
}

/// Rows over the states after a step, written over the states before it: y(t+1) = (1 + m) W y(t) − m y(t−1).
fn pushed_back(push: &Csr, momentum: f64, rows: &[f64], size: usize) -> Vec<f64> {
    let nodes = push.nodes();
    let mut out = vec![0.0; rows.len()];
    for (row, to) in rows.chunks_exact(size).zip(out.chunks_exact_mut(size)) {
        push.multiply_one(&row[..nodes], &mut to[..nodes]);
        if size > nodes {
            let (now, before) = to.split_at_mut(nodes);
            for at in 0..nodes {
                now[at] = (1.0 + momentum) * now[at] + row[nodes + at];
                before[at] = -momentum * row[at];
            }
        }
    }
    out
}

/// Momentum starts at rest, y(−1) = y(0): the two halves of each row are coefficients of the same inputs.
fn before_the_start(rows: &[f64], nodes: usize, watchers: &Watchers) -> Basis {
    let sums = rows.chunks_exact(2 * nodes).flat_map(|row| (0..nodes).map(|at| row[at] + row[nodes + at]));
    let mut basis = Basis::of_units(marks(nodes, watchers, &[]));
    basis.extend(sums.collect());
    basis
}

fn marks(nodes: usize, watchers: &Watchers, heard: &[usize]) -> Vec<bool> {
    let mut marks = vec![false; nodes];
    watchers.members().iter().chain(heard).for_each(|&node| marks[node] = true);
    marks
}

fn unit(size: usize, at: usize) -> Vec<f64> {
    let mut unit = vec![0.0; size];
    unit[at] = 1.0;
    unit
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use topology::MixingMatrix;

    fn on_graph(matrix: MixingMatrix, steps: usize, watchers: &[usize]) -> Vec<f64> {
        let nodes = matrix.nodes();
        let run = Run::on_graph(matrix, steps, 1).unwrap();
        loss(&run, &Watchers::new(watchers, nodes).unwrap()).unwrap()
    }

    fn assert_close(found: &[f64], expected: &[f64], watchers: &[usize], tolerance: f64, what: &str) {
        for (node, (found, expected)) in found.iter().zip(expected).enumerate() {
            let own = watchers.contains(&node);
            assert!(
                own || (found - expected).abs() < tolerance,
                "{what}, node {node}: {found} for {expected}"
            );
        }
    }

    #[test]
    fn nested_spaces_and_step_by_step_give_the_same_losses() {
        let matrix = matrix_of(&hypercube(4));
        for steps in [1, 2, 5, 9] {
            let watchers = Watchers::new(&[3], 16).unwrap();
            // Steps with matrices of their own are not recognised as fixed.
            let phase = Phase::new((0..steps).map(|_| Step::new(matrix.clone())).collect());
            let stepwise = loss(&Run::new(16, vec![phase]).unwrap(), &watchers).unwrap();
            let nested = on_graph(matrix.clone(), steps, &[3]);
            assert_close(&stepwise, &nested, &[3], 1e-10, &format!("{steps} steps"));
        }
    }

    #[test]
    fn momentum_changes_nothing_about_what_a_fixed_graph_reveals() {
        let matrix = matrix_of(&hypercube(4));
        let watchers = Watchers::new(&[2], 16).unwrap();
        let steps = |momentum: f64| {
            (0..3).map(|_| Step::new(matrix.clone()).with_momentum(momentum).unwrap()).collect()
        };
        let run = |momentum: f64| Run::new(16, vec![Phase::new(steps(momentum))]).unwrap();
        let plain = loss(&run(0.0), &watchers).unwrap();
        let accelerated = loss(&run(0.4), &watchers).unwrap();
        assert!(plain.iter().any(|&mu2| mu2 > 0.01 && mu2 < 0.99), "the case has something to compare");
        assert_close(&accelerated, &plain, &[2], 1e-9, "momentum 0.4");
    }

    #[test]
    fn exchange_along_dimensions_loses_two_to_the_minus_level() {
        let exchange = |bit: u32| {
            let columns = (0..16u32).flat_map(|i| [i.min(i ^ bit), i.max(i ^ bit)]).collect();
            Step::new(MixingMatrix::new((0..=16).map(|i| 2 * i).collect(), columns, vec![0.5; 32]).unwrap())
        };
        let phase = Phase::new(vec![exchange(1), exchange(2), exchange(4), exchange(8)]);
        let run = Run::repeated(16, phase, 10).unwrap();
        let found = loss(&run, &Watchers::new(&[0], 16).unwrap()).unwrap();
        for node in 1..16u32 {
            let level = node.ilog2();
            assert!(
                (found[node as usize] - 10.0 / f64::from(1 << level)).abs() < 1e-9,
                "node {node}: {}",
                found[node as usize]
            );
        }
    }

    #[test]
    fn several_rounds_without_consensus_are_refused() {
        let run = Run::on_graph(matrix_of(&ring(6)), 3, 2).unwrap();
        let refused = loss(&run, &Watchers::new(&[0], 6).unwrap());
        assert!(matches!(refused, Err(NetworkError::NoConsensus { round: 0, rounds: 2 })));
    }

    #[test]
    fn who_adds_no_noise_hides_nobody_and_loses_nothing() {
        // Node 1 hears 0 + 2 mixed by nobody: on a path 0-1-2-3, node 3 hears 2 whose state after a step holds 1, 2, 3.
        let matrix = matrix_of(&path(4));
        let watchers = Watchers::new(&[3], 4).unwrap();
        let phase =
            |marks: Vec<bool>| Phase::new(vec![Step::new(matrix.clone()); 2]).with_contributors(marks);
        let all = loss(&Run::new(4, vec![phase(vec![true; 4])]).unwrap(), &watchers).unwrap();
        assert_close(
            &all,
            &[0.0, 1.0, 1.0, 0.0],
            &[3],
            1e-10,
            "node 1 is what the second message adds to the first",
        );
        let silent =
            loss(&Run::new(4, vec![phase(vec![true, false, true, true])]).unwrap(), &watchers).unwrap();
        assert_close(&silent, &[0.0, 0.0, 1.0, 0.0], &[3], 1e-10, "node 1 is silent");
    }
}

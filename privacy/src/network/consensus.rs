//! Does a phase end in exact consensus?
//!
//! Finite-time schedules reach the mean at one blow: the disagreement is of order one and then nothing but rounding. Gossip
//! on a fixed graph only comes closer, step by step, and must not pass for consensus however small its disagreement
//! has become, because a node's next gradient would depend on a hidden state.

use super::run::{Phase, Step};
use super::sparse::{Csr, LANES};

/// Disagreement that is rounding.
const ROUNDING: f64 = 1e-11;

/// The last disagreement before consensus is at least this large.
const DISAGREEMENT: f64 = 1e-5;

/// Whether all nodes hold the same combination of the inputs after the phase, and got there at one blow.
///
/// Probed with eight fixed pseudo-random inputs: rows that differ give states that differ, except on a set of inputs of
/// measure zero. What a run recorded about its digests takes precedence.
pub(crate) fn ends_in_consensus(phase: &Phase, nodes: usize) -> bool {
    if let Some(recorded) = phase.recorded_consensus() {
        return recorded;
    }
    if nodes == 1 {
        return true;
    }
    let mut state = probe(nodes);
    let mut before = state.clone();
    let mut last_large = spread(&state);
    let mut at_once = false;
    for step in phase.steps() {
        let next = advanced(step, &state, &before);
        before = std::mem::replace(&mut state, next);
        let now = spread(&state);
        at_once = now <= ROUNDING && (at_once || last_large >= DISAGREEMENT);
        last_large = now;
    }
    at_once
}

fn advanced(step: &Step, state: &[f64], before: &[f64]) -> Vec<f64> {
    let mut next = vec![0.0; state.len()];
    Csr::forward(step.matrix()).multiply(LANES, state, &mut next);
    let momentum = step.momentum();
    if momentum != 0.0 {
        next.iter_mut().zip(before).for_each(|(x, b)| *x = (1.0 + momentum) * *x - momentum * b);
    }
    next
}

/// Largest difference between two nodes, over the lanes.
fn spread(state: &[f64]) -> f64 {
    (0..LANES)
        .map(|lane| {
            let values = || state.iter().skip(lane).step_by(LANES);
            values().fold(f64::MIN, |a, &b| a.max(b)) - values().fold(f64::MAX, |a, &b| a.min(b))
        })
        .fold(0.0, f64::max)
}

/// Fixed inputs of order one, from a multiplicative hash of the position.
fn probe(nodes: usize) -> Vec<f64> {
    let hashed = |at: usize| {
        (at as u64 + 1)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(29)
            .wrapping_mul(0xBF58_476D_1CE4_E5B9)
    };
    (0..nodes * LANES).map(|at| (hashed(at) >> 11) as f64 / (1u64 << 53) as f64 - 0.5).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{hypercube, matrix_of};
    use super::*;
    use topology::MixingMatrix;

    #[test]
    fn a_complete_graph_agrees_in_one_step_and_a_hypercube_never() {
        let all = MixingMatrix::new((0..=4).map(|i| 4 * i).collect(), [0, 1, 2, 3].repeat(4), vec![0.25; 16])
            .unwrap();
        assert!(ends_in_consensus(&Phase::new(vec![Step::new(all)]), 4));
        let cube = matrix_of(&hypercube(4));
        for steps in [1, 4, 50, 500] {
            let phase = Phase::new(vec![Step::new(cube.clone()); steps]);
            assert!(!ends_in_consensus(&phase, 16), "{steps} steps");
        }
    }

    #[test]
    fn pairwise_exchange_along_dimensions_agrees_after_the_last_one() {
        let exchange = |bit: u32| {
            let columns = (0..8u32).flat_map(|i| [i.min(i ^ bit), i.max(i ^ bit)]).collect();
            Step::new(MixingMatrix::new((0..=8).map(|i| 2 * i).collect(), columns, vec![0.5; 16]).unwrap())
        };
        assert!(ends_in_consensus(&Phase::new(vec![exchange(1), exchange(2), exchange(4)]), 8));
        assert!(!ends_in_consensus(&Phase::new(vec![exchange(1), exchange(2)]), 8));
    }
}

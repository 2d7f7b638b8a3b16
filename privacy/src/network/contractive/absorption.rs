//! What every choice of ξ must respect, and the cost of one.

use super::super::run::{Phase, Run, Watchers};
use super::super::sparse::{Csr, LANES, padded};
use super::Update;

/// Per phase, the nodes at which the two runs must coincide, and the transition to the next phase.
pub(super) struct Constraints {
    nodes: usize,
    phases: Vec<Constraint>,
    /// Which of `phases` a round uses: one for all where the run repeats itself.
    repeated: Option<usize>,
}

/// The constraint of one phase.
pub(super) struct Constraint {
    /// d½ is zero here: the value enters a message that the watchers see, or they hold it themselves.
    pub(super) zero: Vec<bool>,
    /// Nodes that add noise and so can absorb.
    pub(super) noisy: Vec<bool>,
    /// |W| of each mixing step with its momentum.
    pub(super) steps: Vec<(Csr, f64)>,
}

impl Constraints {
    /// Constraints of a run under these watchers.
    pub(super) fn new(run: &Run, watchers: &Watchers) -> Self {
        let nodes = run.nodes();
        if let Some(phase) = run.repeated_phase().filter(|phase| phase.all_contribute()) {
            let zero = reached(phase, watchers, vec![false; nodes]);
            return Self { nodes, phases: vec![constraint(phase, zero)], repeated: Some(run.rounds()) };
        }
        let mut phases: Vec<Constraint> = Vec::new();
        let mut after = vec![false; nodes];
        for phase in (0..run.rounds()).rev().map(|round| run.phase(round)) {
            let zero = reached(phase, watchers, after);
            // Who adds no noise cannot absorb: where its value is seen, all that went into it must coincide already.
            after = (0..nodes)
                .map(|node| zero[node] && !phase.contributes(node) && !watchers.contains(node))
                .collect();
            phases.push(constraint(phase, zero));
        }
        phases.reverse();
        Self { nodes, phases, repeated: None }
    }

    /// Number of rounds.
    pub(super) fn rounds(&self) -> usize {
        self.repeated.unwrap_or(self.phases.len())
    }

    /// The constraint of a round.
    pub(super) fn round(&self, round: usize) -> &Constraint {
        if self.repeated.is_some() { &self.phases[0] } else { &self.phases[round] }
    }

    /// Σ‖ξ‖² for every one of `sources`, where `policy(round, a)` turns the block of distances a(s) (one lane per source) into the
    /// wished d½(s). Whatever it wishes is clipped to 0 ≤ d½ ≤ a and to the constraints, so the result is a bound.
    pub(super) fn cost(
        &self,
        sources: &[usize],
        update: Update,
        mut policy: impl FnMut(usize, &mut [f64]),
    ) -> Vec<f64> {
        let width = padded(sources.len());
        let mut distance = vec![0.0; self.nodes * width];
        let mut costs = vec![0.0; width];
        for round in 0..self.rounds() {
            let here = self.round(round);
            here.stretch(&mut distance, width, update);
            for (lane, &source) in sources.iter().enumerate().filter(|(_, source)| here.noisy[**source]) {
                distance[source * width + lane] += 1.0;
            }
            let mut kept = distance.clone();
            policy(round, &mut kept);
            here.clip(&mut kept, &distance, width);
            for (row, (a, x)) in distance.chunks_exact(width).zip(kept.chunks_exact(width)).enumerate() {
                if here.noisy[row] {
                    costs
                        .iter_mut()
                        .zip(a.iter().zip(x))
                        .for_each(|(cost, (a, x))| *cost += (a - x) * (a - x));
                }
            }
            distance = here.advanced(kept, width);
        }
        costs.truncate(sources.len());
        costs
    }
}

impl Constraint {
    /// Distances after the local updates. Who did not contribute did not apply its update: its map is the identity, whatever ρ is.
    fn stretch(&self, distance: &mut [f64], width: usize, update: Update) {
        let rows = distance.chunks_exact_mut(width).zip(&self.noisy);
        for (row, _) in rows.filter(|(_, contributes)| **contributes) {
            row.iter_mut().for_each(|d| *d = update.stretched(*d));
        }
    }

    /// Makes a wish feasible.
    fn clip(&self, wished: &mut [f64], most: &[f64], width: usize) {
        for node in 0..self.zero.len() {
            let range = node * width..(node + 1) * width;
            for (x, &a) in wished[range.clone()].iter_mut().zip(&most[range]) {
                *x = match (self.zero[node], self.noisy[node]) {
                    (true, _) => 0.0,
                    (false, true) => x.clamp(0.0, a),
                    (false, false) => a,
                };
            }
        }
    }

    /// d(s+1) from d½(s): the mixing steps with absolute weights.
    pub(super) fn advanced(&self, mut state: Vec<f64>, width: usize) -> Vec<f64> {
        debug_assert!(width.is_multiple_of(LANES));
        let mut before = state.clone();
        for (matrix, momentum) in &self.steps {
            let mut next = vec![0.0; state.len()];
            matrix.multiply(width, &state, &mut next);
            if *momentum != 0.0 {
                next.iter_mut().zip(&before).for_each(|(x, b)| *x = (1.0 + momentum) * *x + momentum * b);
            }
            before = std::mem::replace(&mut state, next);
        }
        state
    }
}

fn constraint(phase: &Phase, zero: Vec<bool>) -> Constraint {
    let steps = phase.steps().iter().map(|step| (Csr::forward(step.matrix()).absolute(), step.momentum()));
    Constraint {
        noisy: (0..zero.len()).map(|node| phase.contributes(node)).collect(),
        zero,
        steps: steps.collect(),
    }
}

/// Nodes whose value at the start of the phase enters a message that the watchers see in it, or one of the states marked in
/// `after` it; the watchers themselves included, for nothing differs there.
pub(super) fn reached(phase: &Phase, watchers: &Watchers, after: Vec<bool>) -> Vec<bool> {
    let mut reach = after;
    for step in phase.steps().iter().rev() {
        let mut earlier = if step.momentum() == 0.0 { vec![false; reach.len()] } else { reach.clone() };
        for node in (0..reach.len()).filter(|&node| reach[node]) {
            let (columns, values) = step.matrix().row(node);
            columns
                .iter()
                .zip(values)
                .filter(|(_, w)| **w != 0.0)
                .for_each(|(c, _)| earlier[*c as usize] = true);
        }
        step.heard_by(watchers).into_iter().for_each(|node| earlier[node] = true);
        // What the watchers hold they know; it does not have to be traced back.
        watchers.members().iter().for_each(|&member| earlier[member] = false);
        reach = earlier;
    }
    watchers.members().iter().for_each(|&member| reach[member] = true);
    reach
}

//! `contractive` where some nodes only mix, against the exact loss of linear systems that its theorem covers.
//!
//! Contributors apply θ ↦ cθ with |c| ≤ ρ and add noise, the others do nothing; then everybody mixes. Signal and noise pass through the same coefficients,
//! so a change s of the contributions of `u` costs a watcher ‖P s‖², with P the projection on the rows that it received.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use privacy::network::contractive::{Update, boundary, riccati};
use privacy::network::{Phase, Run, Step, Watchers};
use privacy::noise::{NoiseSource, SeededNoise, danger_from_seed};
use topology::{MixingMatrix, Spec, Weights};

/// A source of small decisions, the same on every machine.
struct Dice(SeededNoise);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        let mut word = [0];
        self.0.words(&mut word);
        (word[0] % limit as u64) as usize
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.below(1 << 20) as f64 / f64::from(1 << 20)
    }
}

/// An orthonormal basis that grows by what is new; two passes keep it orthonormal to rounding.
#[derive(Default)]
struct Rows(Vec<Vec<f64>>);

impl Rows {
    fn add(&mut self, row: &[f64]) {
        let norm = dot(row, row).sqrt();
        let mut rest = row.to_vec();
        for _ in 0..2 {
            for known in &self.0 {
                let share = dot(known, &rest);
                rest.iter_mut().zip(known).for_each(|(x, k)| *x -= share * k);
            }
        }
        let left = dot(&rest, &rest).sqrt();
        // What is dropped makes the exact loss smaller, so it can hide a fault and never invent one.
        if left > 1e-9 * norm && norm > 0.0 {
            self.0.push(rest.into_iter().map(|x| x / left).collect());
        }
    }

    fn share(&self, change: &[f64]) -> f64 {
        self.0.iter().map(|row| dot(row, change).powi(2)).sum()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

struct Case {
    matrix: MixingMatrix,
    contributes: Vec<Vec<bool>>,
    factors: Vec<Vec<f64>>,
}

impl Case {
    fn new(dice: &mut Dice, rho: f64) -> Self {
        let specs = ["path:5", "ring:6", "star:5", "complete:4", "hypercube:8", "grid:2x3"];
        let graph = specs[dice.below(specs.len())].parse::<Spec>().unwrap().build().unwrap().graph;
        let matrix = Weights::Metropolis.matrix(&graph).unwrap();
        let (nodes, rounds) = (matrix.nodes(), 2 + dice.below(5));
        let share = 1 + dice.below(4);
        let mut marks = |_| (0..nodes).map(|_| dice.below(4) < share).collect();
        let contributes = (0..rounds).map(&mut marks).collect();
        // The largest factors are the ones that leave least room.
        let mut factor = || if dice.below(2) == 0 { rho } else { dice.between(-rho, rho) };
        let factors = (0..rounds).map(|_| (0..nodes).map(|_| factor()).collect()).collect();
        Self { matrix, contributes, factors }
    }

    fn run(&self) -> Run {
        let phase = |marks: &Vec<bool>| {
            Phase::new(vec![Step::new(self.matrix.clone())]).with_contributors(marks.clone())
        };
        Run::new(self.matrix.nodes(), self.contributes.iter().map(phase).collect()).unwrap()
    }

    /// The rows that `watcher` knows, over the noises of all nodes and rounds.
    fn view(&self, watcher: usize) -> Rows {
        let (nodes, rounds) = (self.matrix.nodes(), self.contributes.len());
        let width = nodes * rounds;
        let mut view = Rows::default();
        let mut states = vec![vec![0.0; width]; nodes];
        for round in 0..rounds {
            for (node, state) in states.iter_mut().enumerate() {
                if self.contributes[round][node] {
                    state.iter_mut().for_each(|x| *x *= self.factors[round][node]);
                    state[round * nodes + node] += 1.0;
                }
            }
            let mut own = vec![0.0; width];
            own[round * nodes + watcher] = 1.0;
            view.add(&own);
            self.matrix.heard_by(watcher).for_each(|from| view.add(&states[from]));
            let mixed = |node: usize| {
                let (columns, weights) = self.matrix.row(node);
                let mut sum = vec![0.0; width];
                for (column, weight) in columns.iter().zip(weights) {
                    sum.iter_mut().zip(&states[*column as usize]).for_each(|(s, x)| *s += weight * x);
                }
                sum
            };
            states = (0..nodes).map(mixed).collect();
        }
        view
    }

    /// What a change of all contributions of `source` by one, with these signs, costs.
    fn exact(&self, view: &Rows, source: usize, sign: impl Fn(usize) -> f64) -> f64 {
        let nodes = self.matrix.nodes();
        let mut change = vec![0.0; nodes * self.contributes.len()];
        for (round, marks) in self.contributes.iter().enumerate().filter(|(_, marks)| marks[source]) {
            debug_assert!(marks[source]);
            change[round * nodes + source] = sign(round);
        }
        view.share(&change)
    }
}

#[test]
fn nodes_that_only_mix_do_not_shrink_what_they_pass_on() {
    let mut dice = Dice(danger_from_seed(15, "skips"));
    let (mut compared, mut tight) = (0, 0);
    for rho in [0.3, 0.7, 1.0, 1.2] {
        let update = Update::lipschitz(rho).unwrap();
        for _ in 0..60 {
            let case = Case::new(&mut dice, rho);
            let (run, nodes) = (case.run(), case.matrix.nodes());
            let watcher = dice.below(nodes);
            let watchers = Watchers::new(&[watcher], nodes).unwrap();
            let bounds = [boundary::loss(&run, &watchers, update), riccati::loss(&run, &watchers, update)];
            let view = case.view(watcher);
            for source in (0..nodes).filter(|&source| source != watcher) {
                let signs: [&dyn Fn(usize) -> f64; 2] =
                    [&|_| 1.0, &|round| if round % 2 == 0 { 1.0 } else { -1.0 }];
                let exact = signs.map(|sign| case.exact(&view, source, sign)).into_iter().fold(0.0, f64::max);
                for bound in &bounds {
                    assert!(
                        bound[source] >= exact * (1.0 - 1e-9),
                        "ρ = {rho}, {source} seen by {watcher}: bound {} below {exact}",
                        bound[source]
                    );
                }
                compared += 1;
                tight += usize::from(exact > 0.5 * bounds[1][source] && exact > 0.0);
            }
        }
    }
    assert!(compared > 800 && tight > 200, "{compared} pairs, {tight} near the bound: too easy");
}

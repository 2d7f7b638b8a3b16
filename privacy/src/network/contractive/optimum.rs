//! The least bound that the theorem gives: a non-negative least-squares problem, by coordinate descent.
//!
//! With x(s) = d½(s) as unknowns, ξ(s) = ρ|W| x(s−1) + e_u − x(s), and minimising Σ‖ξ‖² over x ≥ 0 makes ξ ≥ 0 by itself: a larger x
//! only costs more later. Every iterate is clipped to a feasible one, so stopping early gives a bound all the same.

use super::super::error::NetworkError;
use super::super::run::{Run, Watchers};
use super::Update;
use super::absorption::Constraints;
use super::{boundary, riccati};
use faer::Mat;

/// Most unknowns, rounds × nodes.
const UNKNOWNS: usize = 20_000;

/// Sweeps over all unknowns, at most.
const SWEEPS: usize = 20_000;

/// Loss μ² of every node towards the watchers, for Δ = σ = 1: the best that the theorem gives, for tests and small runs.
///
/// # Guarantee
/// As for [`boundary::loss`], and never above it or [`riccati::loss`].
///
/// # Assumes
/// As for [`boundary::loss`].
///
/// # Errors
/// More than 20,000 unknowns (rounds × nodes), nodes that skip rounds, or a cap on growth.
pub fn loss(run: &Run, watchers: &Watchers, update: Update) -> Result<Vec<f64>, NetworkError> {
    let size = run.rounds() * run.nodes();
    if size > UNKNOWNS {
        return Err(NetworkError::TooLarge { method: "optimum", size, limit: UNKNOWNS });
    }
    if !update.is_linear() || run.phases().any(|phase| !phase.all_contribute()) {
        return Err(NetworkError::Unsupported {
            analysis: "contractive, optimum",
            what: "skipped rounds or a growth cap",
        });
    }
    let constraints = Constraints::new(run, watchers);
    let transitions: Vec<Mat<f64>> =
        (0..run.rounds()).map(|round| transition(&constraints, round, update)).collect();
    let simple = riccati::loss(run, watchers, update);
    let upwards = boundary::upwards(run);
    let solve = |source: usize| {
        let mut problem = Problem::new(&constraints, &transitions, source);
        problem.start(&riccati::wishes(run, watchers, update, source));
        problem.descend();
        let wish = problem.unknowns;
        let cost = constraints.cost(&[source], update, |round, block| wish.write(round, block))[0];
        (cost * upwards).min(simple[source])
    };
    Ok((0..run.nodes()).map(|node| if watchers.contains(node) { 0.0 } else { solve(node) }).collect())
}

/// ρ|W| of a round as a dense matrix.
fn transition(constraints: &Constraints, round: usize, update: Update) -> Mat<f64> {
    let here = constraints.round(round);
    let nodes = here.zero.len();
    let width = super::super::sparse::padded(nodes);
    let mut units = vec![0.0; nodes * width];
    (0..nodes).for_each(|node| units[node * width + node] = 1.0);
    let after = here.advanced(units, width);
    Mat::from_fn(nodes, nodes, |i, j| update.lipschitz * after[i * width + j])
}

/// x(s), one column per round.
struct Unknowns(Mat<f64>);

impl Unknowns {
    fn write(&self, round: usize, block: &mut [f64]) {
        let width = block.len() / self.0.nrows();
        (0..self.0.nrows()).for_each(|node| block[node * width] = self.0[(node, round)]);
    }
}

struct Problem<'a> {
    constraints: &'a Constraints,
    transitions: &'a [Mat<f64>],
    source: usize,
    unknowns: Unknowns,
    /// ξ(s), one column per round.
    absorbed: Mat<f64>,
    curvature: Mat<f64>,
}

impl<'a> Problem<'a> {
    fn new(constraints: &'a Constraints, transitions: &'a [Mat<f64>], source: usize) -> Self {
        let (nodes, rounds) = (transitions[0].nrows(), transitions.len());
        let counted = |node: usize, round: usize| !constraints.round(round).zero[node];
        let curvature = Mat::from_fn(nodes, rounds, |node, round| {
            let later = if round + 1 < rounds { transitions[round].col(node).squared_norm_l2() } else { 0.0 };
            if counted(node, round) { 1.0 + later } else { 0.0 }
        });
        let zeros = || Mat::zeros(nodes, rounds);
        Self { constraints, transitions, source, unknowns: Unknowns(zeros()), absorbed: zeros(), curvature }
    }

    fn start(&mut self, wishes: &[Vec<f64>]) {
        let nodes = self.absorbed.nrows();
        for (round, wish) in wishes.iter().enumerate() {
            let width = wish.len() / nodes;
            let free = |node: usize| !self.constraints.round(round).zero[node];
            for node in (0..nodes).filter(|&node| free(node)) {
                self.unknowns.0[(node, round)] = wish[node * width].max(0.0);
            }
        }
        for round in 0..wishes.len() {
            let mut arriving = Mat::zeros(nodes, 1);
            if round > 0 {
                arriving = &self.transitions[round - 1] * self.unknowns.0.subcols(round - 1, 1);
            }
            arriving[(self.source, 0)] += 1.0;
            (0..nodes).for_each(|node| {
                self.absorbed[(node, round)] = arriving[(node, 0)] - self.unknowns.0[(node, round)]
            });
        }
    }

    /// Sweeps forwards and backwards in time until a sweep brings nothing.
    fn descend(&mut self) {
        let rounds = self.transitions.len();
        let mut last = self.absorbed.squared_norm_l2();
        for sweep in 0..SWEEPS {
            for at in 0..rounds {
                let round = if sweep % 2 == 0 { at } else { rounds - 1 - at };
                (0..self.absorbed.nrows()).for_each(|node| self.improve(node, round));
            }
            let now = self.absorbed.squared_norm_l2();
            if last - now <= 1e-14 * last {
                return;
            }
            last = now;
        }
    }

    /// The best value of one unknown, the others fixed.
    fn improve(&mut self, node: usize, round: usize) {
        let curvature = self.curvature[(node, round)];
        if curvature == 0.0 {
            return;
        }
        let is_last = round + 1 == self.transitions.len();
        let column = self.transitions[round].col(node);
        let mut slope = -self.absorbed[(node, round)];
        if !is_last {
            slope += column.transpose() * self.absorbed.col(round + 1);
        }
        let old = self.unknowns.0[(node, round)];
        let new = (old - slope / curvature).max(0.0);
        let change = new - old;
        self.unknowns.0[(node, round)] = new;
        self.absorbed[(node, round)] -= change;
        if !is_last {
            (0..column.nrows()).for_each(|i| self.absorbed[(i, round + 1)] += change * column[i]);
        }
    }
}

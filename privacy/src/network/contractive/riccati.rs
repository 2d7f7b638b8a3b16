//! Absorb by linear feedback on a ball around the watchers, clipped to what is feasible.
//!
//! Without the sign constraints the least Σ‖ξ‖² is a linear-quadratic control problem: the value of a distance vector a with the
//! arrivals of u still to come is aᵀPa + 2qᵀa + const, and the best d½ is M(a − g) with M = (I + FᵀPF)⁻¹, F = ρ|W|, g = Fᵀ(P e_u + q).
//! Clipping that to 0 ≤ d½ ≤ a keeps it feasible. Outside the ball nothing is absorbed, and the feedback takes what leaves the ball as free;
//! the cost is then computed on the whole graph. The result is the lesser of this and boundary: both are bounds.

use super::super::run::{Run, Watchers};
use super::Update;
use super::absorption::{Constraint, Constraints};
use super::boundary;
use faer::linalg::solvers::DenseSolveCore;
use faer::{Mat, MatRef, Side};
use std::collections::VecDeque;

/// Most nodes in the ball; its matrices cost the cube of this per round.
const BALL: usize = 128;

/// Most entries that the feedback matrices of all rounds may have together.
const ENTRIES: usize = 1 << 25;

/// Loss μ² of every node towards the watchers, for Δ = σ = 1: a valid upper bound, usually within a tenth of [`super::optimum`].
///
/// # Guarantee
/// As for [`boundary::loss`], and never above it.
///
/// # Assumes
/// As for [`boundary::loss`].
pub fn loss(run: &Run, watchers: &Watchers, update: Update) -> Vec<f64> {
    let simple = boundary::loss(run, watchers, update);
    let upwards = boundary::upwards(run);
    let constraints = Constraints::new(run, watchers);
    let feedback = Feedback::new(run, watchers, &constraints, update);
    let sources: Vec<usize> = (0..run.nodes()).filter(|&node| !watchers.contains(node)).collect();
    let mut losses = vec![0.0; run.nodes()];
    for sources in sources.chunks(64) {
        let costs = constraints.cost(sources, update, |round, a| feedback.apply(round, sources, a));
        for (&source, cost) in sources.iter().zip(costs) {
            losses[source] = (cost * upwards).min(simple[source]);
        }
    }
    losses
}

/// d½ wished for by the feedback of each round, flattened; the starting point of [`super::optimum`].
pub(super) fn wishes(run: &Run, watchers: &Watchers, update: Update, source: usize) -> Vec<Vec<f64>> {
    let constraints = Constraints::new(run, watchers);
    let feedback = Feedback::new(run, watchers, &constraints, update);
    let mut wishes = Vec::new();
    constraints.cost(&[source], update, |round, a| {
        feedback.apply(round, &[source], a);
        wishes.push(a.to_vec());
    });
    wishes
}

/// The linear feedback on the ball.
struct Feedback {
    ball: Vec<usize>,
    /// Position in the ball of each node of the graph, where it is in.
    place: Vec<Option<usize>>,
    rounds: Vec<Gain>,
}

/// d½ = M (a − G e_u) on the free nodes of the ball.
struct Gain {
    /// Places in the ball of nodes that can absorb and need not coincide.
    free: Vec<usize>,
    response: Mat<f64>,
    arrivals: Mat<f64>,
}

impl Feedback {
    fn new(run: &Run, watchers: &Watchers, constraints: &Constraints, update: Update) -> Self {
        let rounds = constraints.rounds();
        let most = BALL.min((ENTRIES / rounds).isqrt()).max(1);
        let ball = ball_around(run, watchers, most);
        let mut place = vec![None; run.nodes()];
        ball.iter().enumerate().for_each(|(at, &node)| place[node] = Some(at));
        let size = ball.len();
        let mut value = Mat::<f64>::zeros(size, size);
        let mut coming = Mat::<f64>::zeros(size, size);
        let mut gains: Vec<Gain> = Vec::with_capacity(rounds);
        let mut transition: Option<Mat<f64>> = None;
        for round in (0..rounds).rev() {
            let here = constraints.round(round);
            let fixed = run.repeated_phase().is_some();
            let step = transition.take().filter(|_| fixed).unwrap_or_else(|| on_ball(here, &ball, &place));
            // The updates of the next round act on what this one leaves, at those that contribute then.
            let stretch = |place: usize| {
                let contributes = round + 1 == rounds || constraints.round(round + 1).noisy[ball[place]];
                if contributes { update.lipschitz } else { 1.0 }
            };
            let stretched = Mat::from_fn(size, size, |i, j| stretch(i) * step[(i, j)]);
            gains.push(gain(here, &ball, stretched, &mut value, &mut coming));
            transition = Some(step);
        }
        gains.reverse();
        Self { ball, place, rounds: gains }
    }

    /// Replaces the block of distances by the wish of the feedback on the free nodes of the ball.
    fn apply(&self, round: usize, sources: &[usize], block: &mut [f64]) {
        let gain = &self.rounds[round];
        let width = block.len() / self.place.len();
        let at = |free: usize, lane: usize| self.ball[gain.free[free]] * width + lane;
        let offset = |free: usize, source: usize| {
            self.place[source].map_or(0.0, |column| gain.arrivals[(free, column)])
        };
        let input = Mat::from_fn(gain.free.len(), sources.len(), |i, lane| {
            block[at(i, lane)] - offset(i, sources[lane])
        });
        let wish = &gain.response * &input;
        for lane in 0..sources.len() {
            (0..gain.free.len()).for_each(|i| block[at(i, lane)] = wish[(i, lane)]);
        }
    }
}

/// One step of the backward recursion; `value` and `coming` go from the next round to this one.
fn gain(
    here: &Constraint,
    ball: &[usize],
    step: Mat<f64>,
    value: &mut Mat<f64>,
    coming: &mut Mat<f64>,
) -> Gain {
    let size = ball.len();
    let free: Vec<usize> = (0..size).filter(|&at| !here.zero[ball[at]] && here.noisy[ball[at]]).collect();
    let columns = Mat::from_fn(size, free.len(), |i, j| step[(i, free[j])]);
    let arrivals = columns.transpose() * (&*value + &*coming);
    let mut normal = columns.transpose() * &*value * &columns;
    (0..free.len()).for_each(|i| normal[(i, i)] += 1.0);
    let response = inverse(normal.as_ref());
    let offset = &response * &arrivals;
    // Nodes that must coincide pay for all that arrives there; the watchers' own differ in nothing, which costs nothing.
    *value = Mat::from_fn(size, size, |i, j| f64::from(i == j && here.zero[ball[i]]));
    *coming = Mat::zeros(size, size);
    for (i, &row) in free.iter().enumerate() {
        for (j, &column) in free.iter().enumerate() {
            value[(row, column)] = f64::from(i == j) - response[(i, j)];
        }
        (0..size).for_each(|column| coming[(row, column)] = offset[(i, column)]);
    }
    Gain { free, response, arrivals }
}

fn inverse(matrix: MatRef<'_, f64>) -> Mat<f64> {
    // I plus a positive semidefinite matrix always has a factor; the identity is the feasible answer if rounding spoils it.
    match matrix.llt(Side::Lower) {
        Ok(factor) => factor.inverse(),
        Err(_) => Mat::identity(matrix.nrows(), matrix.ncols()),
    }
}

/// The transition of a phase restricted to the ball.
fn on_ball(here: &Constraint, ball: &[usize], place: &[Option<usize>]) -> Mat<f64> {
    let width = super::super::sparse::padded(ball.len());
    let mut units = vec![0.0; place.len() * width];
    ball.iter().enumerate().for_each(|(lane, &node)| units[node * width + lane] = 1.0);
    let after = here.advanced(units, width);
    Mat::from_fn(ball.len(), ball.len(), |i, j| after[ball[i] * width + j])
}

/// The `most` nodes nearest to the watchers, by steps of the first phase's graphs.
fn ball_around(run: &Run, watchers: &Watchers, most: usize) -> Vec<usize> {
    let mut seen = vec![false; run.nodes()];
    let mut queue: VecDeque<usize> = watchers.members().iter().copied().collect();
    let mut ball = Vec::new();
    watchers.members().iter().for_each(|&member| seen[member] = true);
    while let Some(node) = queue.pop_front() {
        if ball.len() == most {
            break;
        }
        ball.push(node);
        for step in run.phase(0).steps() {
            for next in step.matrix().heard_by(node) {
                if !std::mem::replace(&mut seen[next], true) {
                    queue.push_back(next);
                }
            }
        }
    }
    ball
}

//! Averaging rounds with fresh noise on the messages: exact loss.
//!
//! Each message carries noise of its own, τ in units of the inputs' σ, so each observed row gets further coordinates: its own noise and
//! that of earlier messages which was mixed into it. μ²(u) = a_uᵀ (A Aᵀ + N)⁻¹ a_u, with a_u the column of `u` and N the covariance that
//! message noises add. (A Aᵀ + N) is never formed: its triangular factor is built step by step by QR, which keeps
//! the accuracy for small τ.

use super::dense::{squared_norms_behind, upper_factor};
use super::error::{NetworkError, positive};
use super::run::{Phase, Run, Step, Watchers};
use super::sparse::Csr;
use faer::Mat;

/// Who keeps which value when a message is made noisy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    /// Each directed message has noise of its own and the sender goes on with its clean value: gossip on graphs.
    KeepsClean,
    /// The sender adopts the noisy value that it sent, so that both sides average the same numbers: schedules that must end
    /// in consensus.
    Adopts,
}

/// Loss μ² of every node towards the watchers, for Δ = σ = 1 and message noise of standard deviation `tau`.
///
/// # Guarantee
/// As for [`super::rounds::loss`]: exact up to rounding, which is added on top.
///
/// # Assumes
/// As for [`super::rounds::loss`], and that message noises are Gaussian, independent, drawn by the sender and known to no other. Several
/// rounds need [`Sender::Adopts`], because clean values and noisy messages do not end in consensus.
///
/// # Errors
/// τ that is not positive, momentum, or several rounds without consensus.
pub fn loss(run: &Run, watchers: &Watchers, tau: f64, sender: Sender) -> Result<Vec<f64>, NetworkError> {
    check(run, tau, sender)?;
    Ok(loss_of_rounds(run, watchers, tau, sender))
}

/// Refuses what [`loss`] does not cover; cheap enough to do once for all watchers.
pub(crate) fn check(run: &Run, tau: f64, sender: Sender) -> Result<(), NetworkError> {
    positive("message noise", tau)?;
    if run.phases().any(|phase| phase.steps().iter().any(|step| step.momentum() != 0.0)) {
        return Err(NetworkError::Unsupported { analysis: "rounds with message noise", what: "momentum" });
    }
    if sender == Sender::KeepsClean && run.rounds() > 1 {
        return Err(NetworkError::NoConsensus { round: 0, rounds: run.rounds() });
    }
    super::rounds::require_consensus(run)
}

/// As [`loss`], for a run that was checked before.
pub(crate) fn loss_of_rounds(run: &Run, watchers: &Watchers, tau: f64, sender: Sender) -> Vec<f64> {
    if let Some(phase) = run.repeated_phase() {
        let one = loss_of_phase(phase, run.nodes(), watchers, (tau, sender));
        return one.into_iter().map(|mu2| mu2 * run.rounds() as f64).collect();
    }
    let mut total = vec![0.0; run.nodes()];
    for phase in run.phases() {
        let one = loss_of_phase(phase, run.nodes(), watchers, (tau, sender));
        total.iter_mut().zip(one).for_each(|(sum, mu2)| *sum += mu2);
    }
    total
}

fn loss_of_phase(phase: &Phase, nodes: usize, watchers: &Watchers, noise: (f64, Sender)) -> Vec<f64> {
    let mut view = View::new(nodes, noise.0);
    for step in phase.steps().iter().rev() {
        match noise.1 {
            Sender::KeepsClean => view.step_back_clean(step, watchers),
            Sender::Adopts => view.step_back_adopted(step, watchers),
        }
    }
    let contributes: Vec<bool> = (0..nodes).map(|node| phase.contributes(node)).collect();
    view.finish(&contributes)
}

/// The observed rows, written over the states of the step reached so far, and the factor of the noise seen so far.
struct View {
    nodes: usize,
    tau: f64,
    /// Rows of the messages, one after the other, latest first.
    rows: Vec<f64>,
    /// Upper triangular factor of the covariance of the message noises in these rows.
    factor: Mat<f64>,
}

impl View {
    fn new(nodes: usize, tau: f64) -> Self {
        Self { nodes, tau, rows: Vec::new(), factor: Mat::zeros(0, 0) }
    }

    fn count(&self) -> usize {
        self.rows.len() / self.nodes
    }

    /// Clean values go on: the state of x after the step holds the noises of all that it heard, weighted.
    fn step_back_clean(&mut self, step: &Step, watchers: &Watchers) {
        let spread: Vec<f64> =
            (0..self.nodes).map(|node| self.tau * received_noise(step, node, watchers)).collect();
        self.add_noise(&spread);
        self.push(step, watchers);
        for &member in watchers.members() {
            let alone =
                Watchers::new(&[member], self.nodes).expect("a member of a checked coalition is a node");
            for heard in step.heard_by(&alone).into_iter().filter(|&node| !watchers.contains(node)) {
                self.add_message(heard, self.tau);
            }
        }
    }

    /// The noise of a message is in the sender's own state from then on.
    fn step_back_adopted(&mut self, step: &Step, watchers: &Watchers) {
        self.push(step, watchers);
        for heard in step.heard_by(watchers) {
            self.add_message(heard, 0.0);
        }
        let mut spread = vec![0.0; self.nodes];
        for node in 0..self.nodes {
            step.matrix().heard_by(node).for_each(|from| spread[from] = self.tau);
        }
        self.add_noise(&spread);
    }

    /// Writes the rows over the states before the step. The watchers know their own state at every step.
    fn push(&mut self, step: &Step, watchers: &Watchers) {
        let push = Csr::backward(step.matrix());
        let mut before = vec![0.0; self.rows.len()];
        for (row, out) in self.rows.chunks_exact(self.nodes).zip(before.chunks_exact_mut(self.nodes)) {
            push.multiply_one(row, out);
            watchers.members().iter().for_each(|&member| out[member] = 0.0);
        }
        self.rows = before;
    }

    /// Adds independent noise of standard deviation `spread[node]` to each state that the rows read.
    fn add_noise(&mut self, spread: &[f64]) {
        let count = self.count();
        if count == 0 {
            return;
        }
        let noisy: Vec<usize> = (0..self.nodes).filter(|&node| spread[node] > 0.0).collect();
        let stacked = Mat::from_fn(count + noisy.len(), count, |i, j| match i.checked_sub(count) {
            None => self.factor[(i, j)],
            Some(k) => spread[noisy[k]] * self.rows[j * self.nodes + noisy[k]],
        });
        self.factor = upper_factor(stacked);
    }

    /// A message of `node`'s state, with `own` noise that nothing else holds.
    fn add_message(&mut self, node: usize, own: f64) {
        let count = self.count();
        let mut row = vec![0.0; self.nodes];
        row[node] = 1.0;
        self.rows.extend(row);
        let factor = &self.factor;
        self.factor = Mat::from_fn(count + 1, count + 1, |i, j| match (i == count, j == count) {
            (true, true) => own,
            (false, false) => factor[(i, j)],
            _ => 0.0,
        });
    }

    /// The inputs' noise joins, and each input is priced. Who does not contribute adds no noise and has nothing to lose.
    fn finish(mut self, contributes: &[bool]) -> Vec<f64> {
        let count = self.count();
        if count == 0 {
            return vec![0.0; self.nodes];
        }
        let (tau, nodes) = (self.tau, self.nodes);
        let spread: Vec<f64> = contributes.iter().map(|&yes| if yes { 1.0 } else { 0.0 }).collect();
        self.add_noise(&spread);
        debug_assert!(tau > 0.0, "message noise was checked");
        let columns = Mat::from_fn(count, nodes, |row, node| spread[node] * self.rows[row * nodes + node]);
        let losses = squared_norms_behind(self.factor.as_ref(), columns);
        losses.into_iter().map(|mu2| (mu2 * (1.0 + 1e-10)).min(1.0)).collect()
    }
}

/// Standard deviation, for τ = 1, of the message noises in the state of `node` after the step; the watchers know those they sent.
fn received_noise(step: &Step, node: usize, watchers: &Watchers) -> f64 {
    if watchers.contains(node) {
        return 0.0;
    }
    let (columns, values) = step.matrix().row(node);
    let heard = columns.iter().zip(values).filter(|(column, _)| {
        let from = **column as usize;
        from != node && !watchers.contains(from)
    });
    heard.map(|(_, weight)| weight * weight).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use topology::MixingMatrix;

    fn exchange(nodes: u32, bit: u32) -> Step {
        let columns = (0..nodes).flat_map(|i| [i.min(i ^ bit), i.max(i ^ bit)]).collect();
        let offsets = (0..=nodes as usize).map(|i| 2 * i).collect();
        Step::new(MixingMatrix::new(offsets, columns, vec![0.5; 2 * nodes as usize]).unwrap())
    }

    #[test]
    fn an_adopted_noise_hides_the_first_partner_as_theory_says() {
        // Two nodes, one exchange: the watcher sees x + z + τη, so μ² = 1/(1 + τ²).
        let run = Run::new(2, vec![Phase::new(vec![exchange(2, 1)])]).unwrap();
        let watchers = Watchers::new(&[0], 2).unwrap();
        for tau in [0.01, 0.5, 2.0] {
            let found = loss(&run, &watchers, tau, Sender::Adopts).unwrap();
            assert!((found[1] - 1.0 / (1.0 + tau * tau)).abs() < 1e-9, "τ = {tau}: {}", found[1]);
        }
    }

    #[test]
    fn an_adopted_noise_of_a_first_exchange_stays_in_the_second_message() {
        // Four nodes: 0 meets 1, then 2 who holds (y_2 + y_3)/2 with their adopted noises, plus its own new one:
        // the message has variance (1 + τ²)/2 + τ², and 2 and 3 each enter with 1/2.
        let run = Run::new(4, vec![Phase::new(vec![exchange(4, 1), exchange(4, 2)])]).unwrap();
        let watchers = Watchers::new(&[0], 4).unwrap();
        let tau = 0.7f64;
        let found = loss(&run, &watchers, tau, Sender::Adopts).unwrap();
        let expected = 0.25 / ((1.0 + tau * tau) / 2.0 + tau * tau);
        assert!((found[1] - 1.0 / (1.0 + tau * tau)).abs() < 1e-9);
        assert!(
            (found[2] - expected).abs() < 1e-9 && (found[3] - expected).abs() < 1e-9,
            "{found:?} for {expected}"
        );
    }

    #[test]
    fn as_message_noise_vanishes_the_loss_rises_to_that_without() {
        let matrix = matrix_of(&hypercube(4));
        let run = Run::on_graph(matrix, 3, 1).unwrap();
        let watchers = Watchers::new(&[5, 6], 16).unwrap();
        let clean = super::super::rounds::loss(&run, &watchers).unwrap();
        let mut last = vec![0.0; 16];
        for tau in [1.0, 0.1, 1e-3, 1e-6] {
            let found = loss(&run, &watchers, tau, Sender::KeepsClean).unwrap();
            for node in (0..16).filter(|node| !watchers.contains(*node)) {
                assert!(
                    found[node] >= last[node] - 1e-9 && found[node] <= clean[node] + 1e-9,
                    "τ = {tau}, node {node}"
                );
            }
            last = found;
        }
        let gap = (0..16).map(|node| (last[node] - clean[node]).abs()).fold(0.0, f64::max);
        assert!(gap < 1e-6, "{gap}");
    }
}

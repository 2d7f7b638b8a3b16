//! Repeated contributions that do not depend on hidden states (`linear`): exact for linear-Gaussian protocols.
//!
//! Every contribution comes with fresh noise; the watchers see linear functions of all noisy contributions so far. With X_u the
//! projection on the row space of their view restricted to u's contributions, the loss at user level is μ² = Σ_{s,t} |X_u(s,t)|, and
//! never more than the number of contributions.
//!
//! The projection is never built. The innovations (Kalman) recursion gives the same X_u: at each step the part of the messages that
//! could not be predicted from earlier ones, made white, is a set of orthonormal rows of the view; its response to a contribution at
//! an earlier phase follows by stepping backwards. Memory is O(n · degree · T), never (nT)². Where one symmetric step follows each contribution
//! of all, as on a fixed graph, `repeated` gives the same faster.

mod covariance;
mod prior;
mod repeated;
mod response;

use super::dense::{Innovations, innovations};
use super::error::NetworkError;
use super::run::{Phase, Run, Watchers};
use super::sparse::{Csr, padded};
use covariance::{Columns, Covariance};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use prior::Prior;
use response::Tables;
use std::ops::Range;
use std::sync::Arc;
use topology::MixingMatrix;

/// Tables that are kept from one watcher to the next.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    general: Tables,
    repeated: repeated::Tables,
}

/// A message whose unpredictable part is below this share of its variance is a combination of earlier ones.
const PREDICTED: f64 = 1e-11;

/// Loss μ² of every node towards the watchers at user level, for Δ = σ = 1.
///
/// # Guarantee
/// If no contribution depends on what its node received, the view of the watchers is μ-Gaussian-DP with respect to all contributions
/// of each `u` outside the coalition, each changing by at most Δ. For SGD this is what the literature reports and **not** a guarantee:
/// a gradient depends on the hidden model.
///
/// # Assumes
/// Honest-but-curious watchers; independent Gaussian noise at every contribution; contributions that do not depend on received messages.
///
/// # Errors
/// Momentum, which this analysis does not cover.
pub fn loss(run: &Run, watchers: &Watchers) -> Result<Vec<f64>, NetworkError> {
    loss_with(&mut Scratch::default(), run, watchers)
}

/// As [`loss`], with tables that are kept from one watcher to the next: a hundred megabytes on a large run, which the
/// system would otherwise hand out and take back page by page each time.
pub(crate) fn loss_with(
    scratch: &mut Scratch,
    run: &Run,
    watchers: &Watchers,
) -> Result<Vec<f64>, NetworkError> {
    let mut losses = sums_with(scratch, run, watchers)?;
    for (node, mu2) in losses.iter_mut().enumerate() {
        let most = run.phases().filter(|phase| phase.contributes(node)).count() as f64;
        *mu2 = (*mu2 * (1.0 + 1e-10)).min(most);
    }
    Ok(losses)
}

/// Σ_{s,t} |X_u(s,t)| of every node as it is: where contributions of several phases pull the same way it can pass their number,
/// which is a bound too.
pub(crate) fn sums_with(
    scratch: &mut Scratch,
    run: &Run,
    watchers: &Watchers,
) -> Result<Vec<f64>, NetworkError> {
    let by_wave = if has_momentum(run) { None } else { repeated::sums(&mut scratch.repeated, run, watchers) };
    let mut sums = match by_wave {
        Some(sums) => sums,
        None => Projections::new(run, watchers)?.sums_of_absolute_values(&mut scratch.general),
    };
    watchers.members().iter().for_each(|&member| sums[member] = 0.0);
    Ok(sums)
}

/// Loss μ² of the single contribution at `phase` of every node, for Δ = σ = 1: the diagonal entry X_u(s, s).
///
/// # Guarantee
/// As for [`loss`], where only the contribution at `phase` changes.
///
/// # Assumes
/// As for [`loss`].
///
/// # Errors
/// As for [`loss`], or a phase that the run does not have.
pub fn loss_of_contribution(run: &Run, watchers: &Watchers, phase: usize) -> Result<Vec<f64>, NetworkError> {
    if phase >= run.rounds() {
        return Err(NetworkError::OutOfRange {
            name: "the phase",
            range: "one of the run's",
            value: phase as f64,
        });
    }
    let mut losses = Projections::new(run, watchers)?.diagonal(phase);
    for (node, mu2) in losses.iter_mut().enumerate() {
        let counts = run.phase(phase).contributes(node) && !watchers.contains(node);
        *mu2 = if counts { (*mu2 * (1.0 + 1e-10)).min(1.0) } else { 0.0 };
    }
    Ok(losses)
}

/// The whitened innovations of all steps, from which X_u is read off.
struct Projections<'a> {
    run: &'a Run,
    steps: Vec<Observed>,
}

/// What the watchers learnt in one mixing step.
struct Observed {
    /// Nodes whose message brought something new.
    nodes: Vec<usize>,
    whitening: Mat<f64>,
    /// Covariance of the states with the white innovations, node-major, `width` lanes.
    correlation: Vec<f64>,
    width: usize,
    /// The phases whose contributions came right before this step: usually one or none, more where a phase had no step.
    starts: Range<usize>,
    mixing: Arc<Mixing>,
}

impl<'a> Projections<'a> {
    fn new(run: &'a Run, watchers: &Watchers) -> Result<Self, NetworkError> {
        if has_momentum(run) {
            return Err(NetworkError::Unsupported { analysis: "linear", what: "momentum" });
        }
        let mut covariance = prepared(run, watchers);
        let mut matrices: Vec<(Arc<MixingMatrix>, Arc<Mixing>)> = Vec::new();
        let mut steps = Vec::new();
        let mut started = 0;
        for (number, phase) in run.phases().enumerate() {
            let noisy = |node: usize| phase.contributes(node) && !watchers.contains(node);
            covariance.contribute((0..run.nodes()).map(noisy).collect());
            for step in phase.steps() {
                let mixing = kept_once(&mut matrices, step.matrix(), watchers);
                let (nodes, whitening, correlation, width) =
                    observe(&covariance, &step.heard_by(watchers), run.nodes());
                covariance.condition(&correlation, width);
                covariance.advance(&mixing);
                let starts = std::mem::replace(&mut started, number + 1)..number + 1;
                steps.push(Observed { nodes, whitening, correlation, width, starts, mixing });
            }
        }
        Ok(Self { run, steps })
    }
}

fn has_momentum(run: &Run) -> bool {
    match run.repeated_phase() {
        Some(phase) => phase.steps().iter().any(|step| step.momentum() != 0.0),
        None => run.phases().flat_map(Phase::steps).any(|step| step.momentum() != 0.0),
    }
}

/// The covariance at the start, in the form that suits the run.
fn prepared(run: &Run, watchers: &Watchers) -> Covariance {
    let steps = || run.phases().flat_map(Phase::steps);
    let observations: usize = match run.repeated_phase() {
        Some(phase) => {
            run.rounds() * phase.steps().iter().map(|step| step.heard_by(watchers).len()).sum::<usize>()
        }
        None => steps().map(|step| step.heard_by(watchers).len()).sum(),
    };
    let symmetric = |phase: &&Phase| {
        let one_step = phase.steps().len() == 1 && phase.steps()[0].matrix().is_symmetric();
        one_step && phase.all_contribute()
    };
    let prior = match run.repeated_phase().filter(symmetric) {
        Some(phase) => {
            let heard = phase.steps()[0].heard_by(watchers);
            Prior::repeated(run.nodes(), &heard, padded(heard.len()))
        }
        None => Prior::general(run.nodes()),
    };
    Covariance::new(run.nodes(), observations, prior)
}

/// What the messages of `heard` say beyond earlier ones: nodes, whitening, covariance with the states and its width.
fn observe(
    covariance: &Covariance,
    heard: &[usize],
    nodes: usize,
) -> (Vec<usize>, Mat<f64>, Vec<f64>, usize) {
    let width = padded(heard.len());
    let Columns { values, prior } = covariance.columns(heard, width);
    let among = Mat::from_fn(heard.len(), heard.len(), |i, j| values[heard[i] * width + j]);
    let Innovations { independent, whitening } = innovations(among.as_ref(), &prior, PREDICTED);
    let new_width = padded(independent.len());
    let mut correlation = vec![0.0; nodes * new_width];
    if !independent.is_empty() {
        let chosen = Mat::from_fn(nodes, independent.len(), |node, j| values[node * width + independent[j]]);
        let out = MatMut::from_row_major_slice_mut(&mut correlation, nodes, new_width);
        matmul(
            out.subcols_mut(0, independent.len()),
            Accum::Replace,
            chosen.as_ref(),
            whitening.transpose(),
            1.0,
            Par::Seq,
        );
    }
    (independent.into_iter().map(|at| heard[at]).collect(), whitening, correlation, new_width)
}

/// A mixing step in both directions, without the states that the watchers know: their own.
struct Mixing {
    forward: Csr,
    backward: Csr,
    own: Vec<usize>,
}

impl Mixing {
    fn nodes(&self) -> usize {
        self.forward.nodes()
    }

    /// The states after the step; `scratch` is overwritten.
    fn forward(&self, block: &mut Vec<f64>, width: usize, scratch: &mut Vec<f64>) {
        self.apply(&self.forward, block, width, scratch);
    }

    /// Rows over the states after the step, written over those before; `scratch` is overwritten.
    fn backward(&self, block: &mut Vec<f64>, width: usize, scratch: &mut Vec<f64>) {
        self.apply(&self.backward, block, width, scratch);
    }

    fn apply(&self, matrix: &Csr, block: &mut Vec<f64>, width: usize, scratch: &mut Vec<f64>) {
        scratch.resize(block.len(), 0.0);
        matrix.multiply(width, block, scratch);
        self.own.iter().for_each(|&node| scratch[node * width..(node + 1) * width].fill(0.0));
        std::mem::swap(block, scratch);
    }
}

/// The two directions of a matrix, made when it is met first.
fn kept_once(
    kept: &mut Vec<(Arc<MixingMatrix>, Arc<Mixing>)>,
    matrix: &Arc<MixingMatrix>,
    watchers: &Watchers,
) -> Arc<Mixing> {
    if let Some((_, mixing)) = kept.iter().find(|(source, _)| Arc::ptr_eq(source, matrix)) {
        return Arc::clone(mixing);
    }
    let (forward, backward) = (Csr::forward(matrix), Csr::backward(matrix));
    let mixing = Arc::new(Mixing { forward, backward, own: watchers.members().to_vec() });
    kept.push((Arc::clone(matrix), Arc::clone(&mixing)));
    mixing
}

/// A node-major block as a matrix.
fn as_matrix(block: &[f64], nodes: usize, width: usize) -> MatRef<'_, f64> {
    MatRef::from_row_major_slice(block, nodes, width)
}

#[cfg(test)]
mod tests {
    use super::super::Step;
    use super::super::testing::*;
    use super::*;

    #[test]
    fn one_contribution_costs_what_the_averaging_round_costs() {
        for (graph, steps) in [(hypercube(4), 3), (path(8), 5), (ring(9), 4)] {
            let run = Run::on_graph(matrix_of(&graph), steps, 1).unwrap();
            let watchers = Watchers::new(&[1], graph.nodes()).unwrap();
            let exact = super::super::rounds::loss(&run, &watchers).unwrap();
            for (node, mu2) in loss(&run, &watchers).unwrap().into_iter().enumerate() {
                assert!(
                    (mu2 - exact[node]).abs() < 1e-7,
                    "{steps} steps, node {node}: {mu2} for {}",
                    exact[node]
                );
            }
        }
    }

    #[test]
    fn both_ways_to_keep_the_covariance_agree() {
        // Listed phases make the general path; a long run makes the dense form the cheaper one.
        let matrix = Arc::new(matrix_of(&ring(7)));
        let watchers = Watchers::new(&[0, 3], 7).unwrap();
        let phases = vec![Phase::new(vec![Step::new(Arc::clone(&matrix))]); 12];
        let listed = loss(&Run::new(7, phases).unwrap(), &watchers).unwrap();
        let repeated = loss(&Run::on_graph(matrix, 1, 12).unwrap(), &watchers).unwrap();
        for (a, b) in listed.iter().zip(&repeated) {
            assert!((a - b).abs() < 1e-9, "{a} and {b}");
        }
    }

    /// X_u by definition: the projector on the row space of the whole view, as a dense matrix over all noises.
    fn by_projector(run: &Run, watchers: &Watchers) -> Vec<f64> {
        let (nodes, rounds) = (run.nodes(), run.rounds());
        let mut state = Mat::<f64>::zeros(nodes, nodes * rounds);
        let mut view: Vec<Vec<f64>> = Vec::new();
        for (round, phase) in run.phases().enumerate() {
            for node in (0..nodes).filter(|&node| phase.contributes(node)) {
                state[(node, round * nodes + node)] += 1.0;
            }
            for &member in watchers.members() {
                let mut own = vec![0.0; nodes * rounds];
                own[round * nodes + member] = 1.0;
                view.push(own);
            }
            for step in phase.steps() {
                view.extend(
                    step.heard_by(watchers).iter().map(|&node| state.row(node).iter().copied().collect()),
                );
                let weights = Mat::from_fn(nodes, nodes, |i, j| step.matrix().weight(i, j));
                state = weights * &state;
            }
        }
        let view = Mat::from_fn(view.len(), nodes * rounds, |i, j| view[i][j]);
        let svd = view.thin_svd().unwrap();
        let rank = svd.S().column_vector().iter().filter(|&&value| value > 1e-9).count();
        let basis = svd.V().subcols(0, rank);
        let entry = |a: usize, b: usize| basis.row(a) * basis.row(b).transpose();
        let took_part = |node: usize| move |round: &usize| run.phase(*round).contributes(node);
        let sum = |node: usize| -> f64 {
            let pairs = (0..rounds)
                .filter(took_part(node))
                .flat_map(|r| (0..rounds).filter(took_part(node)).map(move |q| (r, q)));
            pairs.map(|(r, q)| entry(r * nodes + node, q * nodes + node).abs()).sum()
        };
        (0..nodes).map(|node| if watchers.contains(node) { 0.0 } else { sum(node) }).collect()
    }

    #[test]
    fn the_wave_gives_what_the_general_recursion_gives() {
        let star: Vec<(u32, u32)> = (1..10).map(|leaf| (0, leaf)).collect();
        let wild: Vec<(u32, u32)> =
            (0..40u32).flat_map(|i| [(i, (i * 7 + 3) % 40), (i, (i * i + 11) % 40)]).collect();
        let wild: Vec<(u32, u32)> = wild.into_iter().filter(|(a, b)| a != b).collect();
        let graphs = [path(30), ring(25), hypercube(4), graph(10, &star), graph(40, &wild)];
        for (case, graph) in graphs.iter().enumerate() {
            for (rounds, members) in
                [(1, vec![0]), (2, vec![3]), (7, vec![1, 4]), (40, vec![5]), (150, vec![0])]
            {
                let run = Run::on_graph(matrix_of(graph), 1, rounds).unwrap();
                let watchers = Watchers::new(&members, graph.nodes()).unwrap();
                let waves = repeated::sums(&mut Default::default(), &run, &watchers).unwrap();
                let general = Projections::new(&run, &watchers).unwrap();
                let general = general.sums_of_absolute_values(&mut Tables::default());
                for (node, (wave, general)) in waves.iter().zip(&general).enumerate() {
                    let what =
                        format!("graph {case}, T = {rounds}, {members:?}, node {node}: {wave} for {general}");
                    let rounding = 1e-13 * (rounds * rounds) as f64;
                    assert!(wave >= &(general * (1.0 - 1e-12) - 1e-14), "{what}");
                    assert!(*wave <= general * (1.0 + 1e-10) + rounding + 1e-12, "{what}");
                    assert!(*general != 0.0 || *wave == 0.0, "{what}");
                }
            }
        }
    }

    #[test]
    fn any_run_costs_what_the_dense_projector_says() {
        let (one, other) = (Arc::new(matrix_of(&path(6))), Arc::new(matrix_of(&ring(6))));
        let skips = |round: usize| (0..6).map(|node| node != 1 || round.is_multiple_of(2)).collect();
        let phase = |round: usize| {
            let first = if round.is_multiple_of(3) { &other } else { &one };
            let late = Step::new(Arc::clone(&one)).with_overheard(vec![(0, 3)]);
            Phase::new(vec![Step::new(Arc::clone(first)), late]).with_contributors(skips(round))
        };
        let mut phases: Vec<Phase> = (0..5).map(phase).collect();
        // Contributions that nobody hears of before the next phase.
        phases[3] = Phase::new(Vec::new());
        let run = Run::new(6, phases).unwrap();
        for members in [vec![0], vec![2], vec![0, 4]] {
            let watchers = Watchers::new(&members, 6).unwrap();
            let expected = by_projector(&run, &watchers);
            for (node, mu2) in loss(&run, &watchers).unwrap().into_iter().enumerate() {
                let most = if node == 1 { 4.0 } else { 5.0f64 };
                let expected = expected[node].min(most);
                assert!((mu2 - expected).abs() < 1e-8, "{members:?}, node {node}: {mu2} for {expected}");
            }
        }
    }
}

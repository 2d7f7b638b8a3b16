//! Pairwise noise as it was really added, towards those who saw a part of an averaging round.
//!
//! Every node says with whom it added pairwise noise. Where both ends of an edge did, it is an edge of the Laplacian L; where one did (the other
//! never heard its key, or published nothing), it is noise of that node's own. Both are positive semidefinite terms of Σ, so what is
//! left out of Σ can only raise a loss. From this follows a bound that needs to know nothing but a node's own part: with k neighbours
//! outside the coalition
//!
//! > μ²(u) ≤ 1/(σ_η²·(1 + k·r²/(1 + r²))), r = σ_Δ/σ_η,
//!
//! by dropping all terms but those of u's own edges (a star; Schur complement), with equality on complete graphs (Sherman and Morrison). It holds
//! whatever the others do, whoever drops out, and whatever part was seen: a node keeps its budget by it.

use faer::Mat;
use topology::Graph;

use super::{Gopa, Parts};
use crate::network::error::NetworkError;
use crate::network::rounds;
use crate::network::run::{Run, Watchers};

/// Nodes up to which the exact figure is computed: an account asks for every watcher.
const MOST_EXACT: usize = 256;

/// Products up to which all coalitions of a size are tried.
const MOST_TRIED: f64 = 1e8;

/// With whom each node added pairwise noise.
#[derive(Clone, Debug, PartialEq)]
pub struct Paired(Vec<Vec<u32>>);

impl Paired {
    /// Nobody with anybody.
    pub fn nobody(nodes: usize) -> Self {
        Self(vec![Vec::new(); nodes])
    }

    /// Everybody with all neighbours in a graph.
    pub fn of_graph(graph: &Graph) -> Self {
        Self((0..graph.nodes()).map(|node| graph.neighbours(node).to_vec()).collect())
    }

    /// Says with whom a node did. Who is not there, and the node itself, are left out: that only raises losses.
    pub fn set(&mut self, node: usize, mut with: Vec<u32>) {
        let nodes = self.0.len();
        with.retain(|&other| (other as usize) < nodes && other as usize != node);
        with.sort_unstable();
        with.dedup();
        if let Some(mine) = self.0.get_mut(node) {
            *mine = with;
        }
    }

    /// With whom a node did, in increasing order.
    pub fn with(&self, node: usize) -> &[u32] {
        self.0.get(node).map_or(&[], Vec::as_slice)
    }

    /// How many noises do not cancel in the sum of what `published` nodes published, each of variance σ_Δ².
    pub fn left_over(&self, published: &[bool]) -> u64 {
        let is_there = |node: usize| published.get(node).copied().unwrap_or(false);
        let cancels = |node: u32, other: u32| {
            is_there(other as usize) && self.with(other as usize).binary_search(&node).is_ok()
        };
        let alone =
            |node: usize| self.with(node).iter().filter(|&&other| !cancels(node as u32, other)).count();
        (0..self.0.len()).filter(|&node| is_there(node)).map(|node| alone(node) as u64).sum()
    }
}

/// What anybody learns of a node of which `neighbours` outside the coalition share noise with it: μ² for a change of length 1 and noise of deviation 1 of its
/// own; pairwise noise has deviation `ratio`. Rounded up.
///
/// # Guarantee
/// All that was published, and all that a coalition knows, is μ-Gaussian-DP with respect to the node's value, whatever the others do.
///
/// # Assumes
/// The node and so many neighbours add independent Gaussian noises, and no coalition member knows the pairwise ones among them; the neighbours add noise of their own
/// where they publish anything.
pub fn of_neighbours(neighbours: usize, ratio: f64) -> f64 {
    let squared = ratio * ratio;
    if !(squared > 0.0 && squared.is_finite()) {
        return 1.0;
    }
    let hidden = 1.0 + neighbours as f64 * (squared / (1.0 + squared));
    (1.0 / hidden * (1.0 + 1e-14)).min(1.0)
}

/// Loss μ² of every node towards watchers in one round of averaging, for a change of length 1 and noise of deviation 1 of its own; pairwise noise has deviation
/// `ratio`. With it the name of the analysis: `gopa`, or `gopa (bound)` where the exact figure would take too long.
///
/// # Guarantee
/// What the watchers received and know is μ-Gaussian-DP with respect to the value of each node; `gopa` is exact up to rounding, which is added on top. 0 for the
/// watchers and for those who contributed nothing.
///
/// # Assumes
/// Watchers follow the protocol; the others added noises as `paired` says, independent and Gaussian; a pairwise noise is known to its two ends only.
///
/// # Errors
/// More than one round, or noise that is none.
pub fn loss_of_run(
    run: &Run,
    paired: &Paired,
    ratio: f64,
    watchers: &Watchers,
) -> Result<(Vec<f64>, &'static str), NetworkError> {
    if run.rounds() != 1 {
        return Err(NetworkError::Unsupported { analysis: "gopa", what: "more than one round" });
    }
    let nodes = run.nodes();
    let phase = run.phase(0);
    let outside = |node: usize| phase.contributes(node) && !watchers.contains(node);
    let Some(parts) = Parts::observed(paired, ratio, &outside, watchers.members())? else {
        let hidden_by = |node: usize| {
            paired.with(node).iter().filter(|&&other| !watchers.contains(other as usize)).count()
        };
        let bound = |node: usize| if outside(node) { of_neighbours(hidden_by(node), ratio) } else { 0.0 };
        return Ok(((0..nodes).map(bound).collect(), "gopa (bound)"));
    };
    let view = rounds::view(phase, nodes, watchers, None);
    let size = parts.left.len();
    let seen: Vec<usize> = (0..size).filter(|&at| view.is_known(parts.left[at])).collect();
    let dense = view.dense();
    let rows = seen.len() + view.dense_rank();
    if rows == 0 || size == 0 {
        return Ok((vec![0.0; nodes], "gopa"));
    }
    let basis = Mat::from_fn(rows, size, |row, at| match row.checked_sub(seen.len()) {
        None => f64::from(u8::from(seen[row] == at)),
        Some(row) => dense[row * nodes + parts.left[at]],
    });
    let covariance = &basis * parts.covariance() * basis.transpose();
    let mut losses = parts.losses(&covariance, basis)?;
    // With noise of one's own alone it is never more.
    losses.iter_mut().for_each(|loss| *loss = loss.min(1.0));
    Ok((losses, "gopa"))
}

/// What any `count` members together, who see all that was published, learn of each of the nodes that `published`: as [`loss_of_run`], the worst over all
/// coalitions, or a bound of that where they are too many to try.
///
/// # Guarantee
/// As [`loss_of_run`], whoever the members are.
///
/// # Assumes
/// As [`loss_of_run`].
///
/// # Errors
/// As [`loss_of_run`].
pub fn loss_towards_any(
    paired: &Paired,
    ratio: f64,
    published: &[bool],
    count: usize,
) -> Result<Vec<f64>, NetworkError> {
    let nodes = published.len();
    let bound = |node: usize| match published[node] {
        true => of_neighbours(paired.with(node).len().saturating_sub(count), ratio),
        false => 0.0,
    };
    let bounds: Vec<f64> = (0..nodes).map(bound).collect();
    if count >= nodes || coalitions(nodes, count) * (nodes as f64).powi(3) > MOST_TRIED {
        return Ok(bounds);
    }
    let mut worst = vec![0.0_f64; nodes];
    let mut members: Vec<usize> = (0..count).collect();
    loop {
        let outside = |node: usize| published[node] && !members.contains(&node);
        let Some(parts) = Parts::observed(paired, ratio, &outside, &members)? else { return Ok(bounds) };
        let size = parts.left.len();
        if size > 0 {
            let found = parts.losses(&parts.covariance(), Mat::identity(size, size))?;
            worst.iter_mut().zip(found).for_each(|(worst, loss)| *worst = worst.max(loss));
        }
        if !advance(&mut members, nodes) {
            break;
        }
    }
    Ok(worst.iter().zip(bounds).map(|(&worst, bound)| worst.min(bound)).collect())
}

impl Parts {
    /// The noise of those outside, as it was added; `None` where there are too many of them.
    fn observed(
        paired: &Paired,
        ratio: f64,
        outside: &dyn Fn(usize) -> bool,
        coalition: &[usize],
    ) -> Result<Option<Self>, NetworkError> {
        let nodes = paired.0.len();
        let noise = Gopa { own: 1.0, pairwise: ratio };
        if nodes > MOST_EXACT {
            return Ok(None);
        }
        Self::check(noise, nodes)?;
        let unknown = |other: &u32| !coalition.contains(&(*other as usize));
        let added = |node: usize| paired.with(node).iter().copied().filter(unknown).collect();
        let left = (0..nodes).filter(|&node| outside(node)).collect();
        Ok(Some(Self { noise, left, added: (0..nodes).map(added).collect() }))
    }
}

/// How many coalitions of a size there are.
fn coalitions(nodes: usize, count: usize) -> f64 {
    (0..count.min(nodes)).map(|at| (nodes - at) as f64 / (at + 1) as f64).product()
}

/// The next subset of `nodes` numbers, in the order of words; `false` after the last.
fn advance(members: &mut [usize], nodes: usize) -> bool {
    let count = members.len();
    let Some(at) = (0..count).rev().find(|&at| members[at] < nodes - count + at) else { return false };
    members[at] += 1;
    for next in at + 1..count {
        members[next] = members[next - 1] + 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use topology::{MixingMatrix, Weights};

    use super::super::{Seen, loss, loss_of_rows, residual_variance};
    use super::*;
    use crate::network::testing::{hypercube, path, ring};
    use crate::network::{Phase, Step};

    const RATIO: f64 = 3.0;
    const NOISE: Gopa = Gopa { own: 1.0, pairwise: RATIO };

    fn close(found: &[f64], expected: &[f64], what: &str) {
        assert_eq!(found.len(), expected.len());
        found.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-10, "{what}: {a} for {b}"));
    }

    fn complete(nodes: u32) -> Graph {
        let edges: Vec<(u32, u32)> = (0..nodes).flat_map(|u| (u + 1..nodes).map(move |v| (u, v))).collect();
        Graph::from_edges(nodes as usize, &edges).unwrap().0
    }

    /// By theory: Σ = (1 + h·r²)·I − r²·11ᵀ on the h left, of which (Σ⁻¹)_uu = (1 + r²)/(1 + h·r²).
    #[test]
    fn on_a_complete_graph_the_bound_is_the_loss() {
        for (nodes, count) in [(5, 1), (8, 2), (9, 3)] {
            let left = f64::from(nodes) - count as f64;
            let expected = (1.0 + RATIO * RATIO) / (1.0 + left * RATIO * RATIO);
            let paired = Paired::of_graph(&complete(nodes));
            let any = loss_towards_any(&paired, RATIO, &vec![true; nodes as usize], count).unwrap();
            close(&any, &vec![expected; nodes as usize], "any");
            assert!((of_neighbours(nodes as usize - 1 - count, RATIO) - expected).abs() < 1e-12);
        }
    }

    /// On a ring two colluders cut a node off; one leaves it one neighbour or more. The worst is found, and never above the bound.
    #[test]
    fn the_worst_coalition_is_found() {
        let paired = Paired::of_graph(&ring(7));
        let one = loss_towards_any(&paired, RATIO, &[true; 7], 1).unwrap();
        let expected = (0..7).map(|member| {
            loss(&ring(7), NOISE, Seen { coalition: &[member], ..Seen::default() }).unwrap()[0]
        });
        assert!((one[0] - expected.fold(0.0, f64::max)).abs() < 1e-12);
        assert!(one.iter().all(|&loss| loss <= of_neighbours(1, RATIO)));
        close(&loss_towards_any(&paired, RATIO, &[true; 7], 2).unwrap(), &[1.0; 7], "two");
    }

    /// A watcher that is sent everybody's value at once has the loss of the vectors; one that hears a mean has that of the row.
    #[test]
    fn a_round_has_the_losses_of_what_was_seen_of_it() {
        let graph = complete(6);
        let matrix = Weights::Metropolis.matrix(&graph).unwrap();
        let watchers = Watchers::new(&[4], 6).unwrap();
        let phase = Phase::new(vec![Step::new(matrix)]);
        let run = Run::new(6, vec![phase]).unwrap();
        let (found, name) = loss_of_run(&run, &Paired::of_graph(&graph), RATIO, &watchers).unwrap();
        let seen = Seen { coalition: &[4], ..Seen::default() };
        close(&found, &loss(&graph, NOISE, seen).unwrap(), name);

        // On a path 0-1-2-3 with steps of one half, node 0 hears y1, then (y0 + y2)/2 + …: rows over 1, 2, 3.
        let graph = path(4);
        let matrix: MixingMatrix = Weights::Metropolis.matrix(&graph).unwrap();
        let row: Vec<f64> = (0..4).map(|node| matrix.weight(1, node)).collect();
        let phase = Phase::new(vec![Step::new(matrix.clone()), Step::new(matrix)]);
        let run = Run::new(4, vec![phase]).unwrap();
        let watchers = Watchers::new(&[0], 4).unwrap();
        let (found, _) = loss_of_run(&run, &Paired::of_graph(&graph), RATIO, &watchers).unwrap();
        let rows = [vec![0.0, 1.0, 0.0, 0.0], row];
        let seen = Seen { coalition: &[0], ..Seen::default() };
        close(&found, &loss_of_rows(&graph, NOISE, seen, &rows).unwrap(), "path");
    }

    #[test]
    fn who_drops_out_and_who_never_heard_a_key_leave_noise_to_the_other_end() {
        let (graph, nodes) = (hypercube(3), 8);
        let matrix = Weights::Metropolis.matrix(&complete(8)).unwrap();
        let mut published = vec![true; nodes];
        published[6] = false;
        let phase = Phase::new(vec![Step::new(matrix)]).with_contributors(published.clone());
        let run = Run::new(nodes, vec![phase]).unwrap();
        let watchers = Watchers::new(&[1], nodes).unwrap();
        let mut paired = Paired::of_graph(&graph);
        let (found, _) = loss_of_run(&run, &paired, RATIO, &watchers).unwrap();
        let seen = Seen { coalition: &[1], dropped: &[6], repaired: false };
        close(&found, &loss(&graph, NOISE, seen).unwrap(), "dropped");
        let cut = residual_variance(&graph, NOISE, Seen { dropped: &[6], ..Seen::default() }).unwrap();
        assert_eq!(paired.left_over(&published) as f64 * RATIO * RATIO, cut);

        // 4 did not hear the key of 5: Σ_55 keeps its noise, and 5 is hidden better than 4.
        paired.set(4, vec![0, 6, 9, 4, 0]);
        assert_eq!(paired.with(4), [0, 6]);
        let (found, _) = loss_of_run(&run, &paired, RATIO, &watchers).unwrap();
        assert!(found[5] < found[4] && found[4] <= of_neighbours(2, RATIO));
        assert_eq!((found[1], found[6], paired.left_over(&published)), (0.0, 0.0, 4));
    }

    #[test]
    fn without_pairwise_noise_nothing_is_hidden_and_two_rounds_are_refused() {
        assert_eq!([of_neighbours(5, 0.0), of_neighbours(5, f64::NAN), of_neighbours(0, 2.0)], [1.0; 3]);
        let graph = complete(4);
        let run = Run::on_graph(Weights::Metropolis.matrix(&graph).unwrap(), 2, 2).unwrap();
        let watchers = Watchers::new(&[0], 4).unwrap();
        assert!(loss_of_run(&run, &Paired::of_graph(&graph), 1.0, &watchers).is_err());
        let run = Run::on_graph(Weights::Metropolis.matrix(&graph).unwrap(), 2, 1).unwrap();
        let (found, _) = loss_of_run(&run, &Paired::nobody(4), 1.0, &watchers).unwrap();
        close(&found, &[0.0, 1.0, 1.0, 1.0], "nobody");
        assert_eq!(coalitions(6, 2), 15.0);
    }
}

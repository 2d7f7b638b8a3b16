//! Loss of a round of recursive doubling, in closed form (`rounds`).
//!
//! In a round that goes as [planned](Plan) every message is the **sum** of a block of inputs, and the messages that one node receives are
//! sums over blocks that do not overlap: its own extra alone, then the blocks across dimension 0, 1, …; an extra hears nothing but the
//! total. Rows over disjoint blocks are orthogonal, so the leverage of `u` is its part of the variance in the one block that holds it:
//! σ_u²/Σσ_w² over the contributors of the block other than the watcher, which is 1/m for m contributors with equal noise. What a node
//! contributes is known to itself, and who contributes nothing starts from a state that all know: neither hides anything.
//!
//! All blocks are stretches of one list, core position by core position with each extra behind its partner, so a watcher costs O(n) and
//! a round O(n²) with no matrix at all. [`super::rounds::loss`] gives the same by linear algebra.

use topology::schedule::{Plan, Role};

/// Relative rounding of sums over up to 2³² unequal variances, with margin.
const UP: f64 = 64.0 * f64::EPSILON;

const NOBODY: u32 = u32::MAX;

/// Who hears which sums in one round of recursive doubling.
#[derive(Debug, Clone)]
pub struct Blocks {
    /// σ² of each node's contribution; 0 for those that contribute nothing.
    variance: Vec<f64>,
    /// Whether sums of variances are exact: all are one.
    exact: bool,
    /// Core position of each node, or of the partner of an extra.
    seat: Vec<u32>,
    /// Node at each core position, and the extra behind it.
    core: Vec<(u32, u32)>,
    /// Contributors, core position by core position.
    contributors: Vec<u32>,
    /// `contributors[starts[p]..starts[p + 1]]` come in by core position `p`.
    starts: Vec<u32>,
    /// Variance of each block of 2^t core positions, level by level.
    sums: Vec<Vec<f64>>,
}

impl Blocks {
    /// The blocks of a round in which these nodes contribute, all with the same noise. Complexity: O(nodes).
    pub fn new(plan: &Plan, contributes: impl Fn(usize) -> bool) -> Self {
        Self::with_variances(plan, |node| f64::from(u8::from(contributes(node))))
    }

    /// As [`Self::new`], where the noise of node `i` has variance `variance(i)`, in any unit; 0 or less for those that contribute nothing.
    pub fn with_variances(plan: &Plan, variance: impl Fn(usize) -> f64) -> Self {
        let variance: Vec<f64> = (0..plan.nodes()).map(|node| variance(node).max(0.0)).collect();
        let core = seats(plan);
        let mut seat = vec![0; plan.nodes()];
        let (mut contributors, mut starts) = (Vec::new(), vec![0]);
        for (position, &(node, extra)) in core.iter().enumerate() {
            for member in [node, extra].into_iter().filter(|&member| member != NOBODY) {
                seat[member as usize] = position as u32;
                if variance[member as usize] > 0.0 {
                    contributors.push(member);
                }
            }
            starts.push(contributors.len() as u32);
        }
        let stretch =
            |position: usize| &contributors[starts[position] as usize..starts[position + 1] as usize];
        let first = (0..core.len()).map(|at| stretch(at).iter().map(|&node| variance[node as usize]).sum());
        let mut sums: Vec<Vec<f64>> = vec![first.collect()];
        while let Some(finer) = sums.last().filter(|level| level.len() > 1) {
            let coarser = finer.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect();
            sums.push(coarser);
        }
        let exact = variance.iter().all(|&variance| variance == 0.0 || variance == 1.0);
        Self { variance, exact, seat, core, contributors, starts, sums }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.variance.len()
    }

    /// Whether all contributors have the same noise, and so the same leverage wherever they are in one sum.
    pub fn is_uniform(&self) -> bool {
        self.exact
    }

    /// Variance of the sum of all contributions; 0 where there is none.
    pub fn total(&self) -> f64 {
        self.sums.last().map_or(0.0, |level| level[0])
    }

    /// Calls `see` with the contributors of each sum that `watcher` receives and the variance of that sum, without what `watcher` itself put
    /// into it. Every other contributor is in exactly one sum; a sum may come in several pieces.
    ///
    /// # Panics
    /// Where there is no such node.
    pub fn heard_by(&self, watcher: usize, mut see: impl FnMut(&[u32], f64)) {
        let position = self.seat[watcher] as usize;
        let (node, extra) = self.core[position];
        if extra as usize == watcher {
            self.total_without(watcher, see);
            return;
        }
        debug_assert_eq!(node as usize, watcher);
        if extra != NOBODY && self.variance[extra as usize] > 0.0 {
            see(&[extra], self.variance[extra as usize]);
        }
        for level in 0..self.dimensions() {
            let block = (position >> level) ^ 1;
            let stretch = self.stretch(block << level, (block + 1) << level);
            if !stretch.is_empty() {
                see(stretch, self.sums[level][block]);
            }
        }
    }

    /// Leverage of every node towards `watcher`, rounded up; 0 for the watcher and for those that contributed nothing. Complexity: O(nodes).
    ///
    /// # Guarantee
    /// What `watcher` received in the round is √l/z-Gaussian-DP with respect to a contribution with noise multiplier z: never below
    /// [`super::rounds::loss`], and equal to it up to rounding.
    ///
    /// # Assumes
    /// The round went as planned, or less of it arrived; an honest-but-curious watcher; independent Gaussian noise of the stated variances.
    ///
    /// # Panics
    /// Where there is no such node, or `out` has another length than there are nodes.
    pub fn leverages(&self, watcher: usize, out: &mut [f64]) {
        assert_eq!(out.len(), self.nodes(), "one leverage per node");
        out.fill(0.0);
        self.heard_by(watcher, |stretch, total| {
            stretch.iter().for_each(|&node| out[node as usize] = self.share(node as usize, total));
        });
    }

    /// Leverage of `source` towards every node, rounded up: a column of what [`Self::leverages`] gives by rows. Complexity: O(nodes).
    ///
    /// # Guarantee
    /// As [`Self::leverages`].
    ///
    /// # Assumes
    /// As [`Self::leverages`].
    ///
    /// # Panics
    /// As [`Self::leverages`].
    pub fn leverages_of(&self, source: usize, out: &mut [f64]) {
        assert_eq!(out.len(), self.nodes(), "one leverage per node");
        out.fill(0.0);
        if self.variance[source] <= 0.0 {
            return;
        }
        let home = self.seat[source] as usize;
        // Whoever first differs from the source in dimension t hears it in its block of 2^t positions.
        let by_level: Vec<f64> =
            (0..self.dimensions()).map(|level| self.share(source, self.sums[level][home >> level])).collect();
        for (position, &(node, extra)) in self.core.iter().enumerate() {
            let apart = position ^ home;
            if apart > 0 {
                out[node as usize] = by_level[apart.ilog2() as usize];
            } else if node as usize != source {
                out[node as usize] = 1.0;
            }
            if extra != NOBODY && extra as usize != source {
                out[extra as usize] = self.share(source, self.variance_without(extra as usize));
            }
        }
    }

    /// σ_u² as a part of the variance of the sum that holds it: the leverage, rounded up.
    pub fn share(&self, node: usize, total: f64) -> f64 {
        let variance = self.variance[node];
        let share = variance / total;
        if !self.exact {
            return (share * (1.0 + UP)).min(1.0);
        }
        // The remainder of the division says whether it was rounded down.
        if libm::fma(share, total, -variance) < 0.0 { share.next_up() } else { share }
    }

    /// All contributors but one.
    fn total_without(&self, watcher: usize, mut see: impl FnMut(&[u32], f64)) {
        let own = self.contributors.iter().position(|&node| node as usize == watcher);
        let (before, after) = match own {
            Some(at) => (&self.contributors[..at], &self.contributors[at + 1..]),
            None => (self.contributors.as_slice(), [].as_slice()),
        };
        let total = self.variance_without(watcher);
        for part in [before, after].into_iter().filter(|part| !part.is_empty()) {
            see(part, total);
        }
    }

    /// Variance of the total without what `watcher` put into it.
    fn variance_without(&self, watcher: usize) -> f64 {
        let all = self.total();
        let own = self.variance[watcher];
        if self.exact || own < 0.5 * all {
            return all - own;
        }
        // Added up afresh: the difference would lose digits where the watcher's own noise is most of it.
        let others = self.contributors.iter().filter(|&&node| node as usize != watcher);
        others.map(|&node| self.variance[node as usize]).sum()
    }

    fn stretch(&self, from: usize, to: usize) -> &[u32] {
        &self.contributors[self.starts[from] as usize..self.starts[to] as usize]
    }

    fn dimensions(&self) -> usize {
        self.sums.len() - 1
    }
}

/// Leverage of every node towards `watcher` in one round: [`Blocks::leverages`] for a single use.
///
/// # Guarantee
/// As [`Blocks::leverages`].
///
/// # Assumes
/// As [`Blocks::leverages`], and the same noise at all contributors.
pub fn leverages(plan: &Plan, contributes: impl Fn(usize) -> bool, watcher: usize, out: &mut [f64]) {
    Blocks::new(plan, contributes).leverages(watcher, out);
}

/// Adds the leverages of one round to `sums`, one row per watcher and one entry per source. Complexity: O(nodes²), one addition per pair.
///
/// # Guarantee
/// Sums of leverages of rounds that each end in exact consensus are the μ² of [`super::rounds::loss`] for Δ = σ = 1, rounded up.
///
/// # Assumes
/// As [`Blocks::leverages`], for every watcher.
///
/// # Panics
/// Where `sums` is not a square of the number of nodes.
pub fn accumulate(blocks: &Blocks, sums: &mut [f64]) {
    let nodes = blocks.nodes();
    assert_eq!(sums.len(), nodes * nodes, "one sum per pair");
    for (watcher, row) in sums.chunks_exact_mut(nodes).enumerate() {
        blocks.heard_by(watcher, |stretch, total| {
            if blocks.exact {
                let share = stretch.first().map_or(0.0, |&node| blocks.share(node as usize, total));
                stretch.iter().for_each(|&node| row[node as usize] += share);
            } else {
                stretch.iter().for_each(|&node| row[node as usize] += blocks.share(node as usize, total));
            }
        });
    }
}

/// The node at each core position, and the extra that folds into it.
///
/// Positions are numbered from any one core node by the dimensions along which the exchanges go: numbering that differs from the plan's own by
/// an exclusive or has the same blocks.
fn seats(plan: &Plan) -> Vec<(u32, u32)> {
    let folds = plan.extras() > 0;
    let core = plan.nodes() - plan.extras();
    let is_core = |node: &usize| !folds || !matches!(plan.role(0, *node), Role::SendTo(_));
    let root = (0..plan.nodes()).find(is_core).expect("a plan has a core node");
    let mut seats = vec![(root as u32, NOBODY); core];
    for position in 1..core {
        let dimension = position.ilog2() as usize;
        let across = seats[position ^ (1 << dimension)].0 as usize;
        let role = plan.role(dimension + usize::from(folds), across);
        let partner = role.partner().expect("core nodes exchange in every dimension");
        seats[position].0 = partner as u32;
    }
    if folds {
        for seat in &mut seats {
            if let Role::ReceiveFrom(extra) = plan.role(0, seat.0 as usize) {
                seat.1 = extra as u32;
            }
        }
    }
    seats
}

#[cfg(test)]
mod tests {
    use super::super::{Phase, Run, Step, Watchers, rounds};
    use super::*;
    use topology::schedule::{RunKey, shuffled_order};

    fn plan_of(nodes: usize, round: u64) -> Plan {
        Plan::with_order(shuffled_order(&RunKey::new("doubling"), round, nodes)).unwrap()
    }

    fn phase_of(plan: &Plan, contributes: &[bool]) -> Phase {
        Phase::new((0..plan.steps()).map(|step| Step::new(plan.matrix(step))).collect())
            .with_contributors(contributes.to_vec())
    }

    /// A reproducible subset: bits of a multiplicative hash.
    fn subset(nodes: usize, salt: usize) -> Vec<bool> {
        (0..nodes).map(|node| (node + 1).wrapping_mul(0x9E37_79B9 + 2 * salt) >> 7 & 3 != 0).collect()
    }

    #[test]
    fn leverages_are_those_of_the_exact_linear_algebra() {
        for nodes in 2..=40 {
            for (round, contributes) in
                [vec![true; nodes], subset(nodes, 1), subset(nodes, 2), vec![false; nodes]]
                    .into_iter()
                    .enumerate()
            {
                let plan = plan_of(nodes, round as u64);
                let run = Run::repeated(nodes, phase_of(&plan, &contributes), 1).unwrap();
                let mut found = vec![0.0; nodes];
                for watcher in 0..nodes {
                    let exact = rounds::loss(&run, &Watchers::new(&[watcher], nodes).unwrap()).unwrap();
                    leverages(&plan, |node| contributes[node], watcher, &mut found);
                    for node in 0..nodes {
                        assert!(
                            (found[node] - exact[node]).abs() < 1e-9 && found[node] <= 1.0,
                            "{nodes} nodes, {node} seen by {watcher}: {} for {}",
                            found[node],
                            exact[node]
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn unequal_noise_is_priced_as_by_the_exact_linear_algebra() {
        for nodes in [2, 3, 5, 8, 13, 22] {
            let plan = plan_of(nodes, 3);
            let noise: Vec<f64> = (0..nodes).map(|node| 0.3 + ((node * 7) % 11) as f64).collect();
            let run = Run::repeated(nodes, phase_of(&plan, &vec![true; nodes]), 1).unwrap();
            let blocks = Blocks::with_variances(&plan, |node| noise[node] * noise[node]);
            let mut found = vec![0.0; nodes];
            for watcher in 0..nodes {
                let watchers = Watchers::new(&[watcher], nodes).unwrap();
                // There Δ = 1 for all; here Δ is in proportion to the node's own noise.
                let exact = rounds::loss_with_noise(&run, &watchers, &noise);
                blocks.leverages(watcher, &mut found);
                for node in 0..nodes {
                    let expected = exact[node] * noise[node] * noise[node];
                    assert!(
                        (found[node] - expected).abs() < 1e-8,
                        "{nodes} nodes: {} {expected}",
                        found[node]
                    );
                }
            }
        }
    }

    #[test]
    fn columns_are_the_transposed_rows_and_sums_add_up() {
        for nodes in [1, 2, 3, 6, 8, 19, 33] {
            let contributes = subset(nodes, 5);
            let blocks = Blocks::new(&plan_of(nodes, 9), |node| contributes[node]);
            let (mut sums, mut row, mut column) =
                (vec![0.0; nodes * nodes], vec![0.0; nodes], vec![0.0; nodes]);
            accumulate(&blocks, &mut sums);
            accumulate(&blocks, &mut sums);
            for source in 0..nodes {
                blocks.leverages_of(source, &mut column);
                for watcher in 0..nodes {
                    blocks.leverages(watcher, &mut row);
                    assert_eq!(row[source], column[watcher], "{nodes} nodes, {source} seen by {watcher}");
                    assert_eq!(sums[watcher * nodes + source], 2.0 * row[source]);
                }
            }
        }
    }

    #[test]
    fn shares_round_up() {
        let blocks = Blocks::new(&plan_of(3, 0), |_| true);
        // 1/3 in doubles lies below the third, 1/2 is exact.
        assert!(blocks.share(0, 3.0) > 1.0 / 3.0);
        assert_eq!(blocks.share(0, 2.0), 0.5);
        assert_eq!(blocks.share(0, 1.0), 1.0);
    }
}

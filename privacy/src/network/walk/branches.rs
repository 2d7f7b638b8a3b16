//! Tokens that were started again: many paths with shared beginnings, priced without walking the beginnings again.
//!
//! The paths are a tree. Its hops are taken in depth-first order, every change of the state is undone on the way back, and a look is charged once for every path
//! that goes through it. The taut string of a node's visits is a lower convex hull, grown point by point: cutting it back is a binary search, and undoing that puts
//! one point back. So the cost is that of the hops that are in no other path, times a logarithm.

use super::{NetworkError, Watchers};

/// A token, or one that left the path of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// The branch that it left, by its place in the list, and behind how many of that branch's own hops.
    pub left: Option<(usize, usize)>,
    /// Who held the token at the hops of its own, and whether it contributed.
    pub hops: Vec<(usize, bool)>,
}

/// The sum over branches of the loss μ² on the whole path of each, from its token's first hop on, for Δ = σ = 1. A holder that added nothing hides nothing: its hop
/// is left out, unless it watches, and has seen the token all the same.
///
/// # Guarantee
/// As [`loss`](super::loss) for each path by itself; the sum bounds what all together show.
///
/// # Assumes
/// As [`loss`](super::loss).
///
/// # Errors
/// A visit of a node that is not there, or a branch that left one that is not before it, or later than that went.
pub fn loss_of_branches(
    branches: &[Branch],
    nodes: usize,
    watchers: &Watchers,
) -> Result<Vec<f64>, NetworkError> {
    let tree = Tree::of(branches, nodes)?;
    let mut string = Taut::new(nodes);
    for root in (0..branches.len()).filter(|&at| branches[at].left.is_none()) {
        tree.walk(root, watchers, &mut string);
    }
    // A sum of non-negative terms: rounding is far below this share.
    Ok(string.losses.into_iter().map(|mu2| mu2 * (1.0 + 1e-12)).collect())
}

struct Tree<'a> {
    branches: &'a [Branch],
    /// Who left each branch, those first that left late.
    children: Vec<Vec<usize>>,
    /// Paths that go through the last hop of each branch's own: its own, and those of whoever left behind it.
    size: Vec<u64>,
}

/// A branch on the way: what of it was taken.
struct Frame {
    branch: usize,
    hop: usize,
    child: usize,
    /// Paths that go on behind the next hop.
    paths: u64,
    /// Length of the log of changes where it began.
    mark: usize,
}

impl<'a> Tree<'a> {
    fn of(branches: &'a [Branch], nodes: usize) -> Result<Self, NetworkError> {
        let mut children = vec![Vec::new(); branches.len()];
        for (at, branch) in branches.iter().enumerate() {
            if let Some((visit, &(node, _))) = branch.hops.iter().enumerate().find(|(_, hop)| hop.0 >= nodes)
            {
                return Err(NetworkError::VisitOutside { visit, node, nodes });
            }
            let Some((parent, behind)) = branch.left else { continue };
            if parent >= at || behind > branches[parent].hops.len() {
                return Err(NetworkError::BranchOutside { branch: at, parent, behind });
            }
            children[parent].push(at);
        }
        let mut size = vec![1_u64; branches.len()];
        for at in (0..branches.len()).rev() {
            children[at].sort_by_key(|&child| branches[child].left.map(|(_, behind)| behind));
            if let Some((parent, _)) = branches[at].left {
                size[parent] += size[at];
            }
        }
        Ok(Self { branches, children, size })
    }

    fn behind(&self, branch: usize) -> usize {
        self.branches[branch].left.map_or(0, |(_, behind)| behind)
    }

    fn begin(&self, branch: usize, string: &Taut) -> Frame {
        Frame { branch, hop: 0, child: 0, paths: self.size[branch], mark: string.log.len() }
    }

    /// All hops below a branch, each once; paths may be many thousands of branches deep.
    fn walk(&self, root: usize, watchers: &Watchers, string: &mut Taut) {
        let mut open = vec![self.begin(root, string)];
        while let Some(frame) = open.last_mut() {
            let branch = &self.branches[frame.branch];
            match self.children[frame.branch].get(frame.child) {
                Some(&child) if self.behind(child) == frame.hop => {
                    frame.child += 1;
                    frame.paths -= self.size[child];
                    open.push(self.begin(child, string));
                }
                _ if frame.hop < branch.hops.len() => {
                    let (holder, released) = branch.hops[frame.hop];
                    frame.hop += 1;
                    if watchers.contains(holder) {
                        string.look(frame.paths);
                    } else if released {
                        string.visit(holder);
                    }
                }
                _ => {
                    string.undo(frame.mark);
                    open.pop();
                }
            }
        }
    }
}

/// The visits of all nodes since the last look, with how to take them back.
struct Taut {
    /// Hops that count so far: those with noise, and looks.
    step: usize,
    hulls: Vec<Hull>,
    visitors: Vec<usize>,
    losses: Vec<f64>,
    log: Vec<Change>,
}

enum Change {
    /// A node's visit: where its hull was cut, what stood there, and how long it was.
    Visit { node: usize, at: usize, stood: Option<Point>, length: usize },
    /// A look: the visits that it ended.
    Look(Vec<(usize, Hull)>),
}

impl Taut {
    fn new(nodes: usize) -> Self {
        let hulls = (0..nodes).map(|_| Hull::default()).collect();
        Self { step: 0, hulls, visitors: Vec::new(), losses: vec![0.0; nodes], log: Vec::new() }
    }

    fn visit(&mut self, node: usize) {
        let hull = &mut self.hulls[node];
        if hull.arrivals == 0 {
            self.visitors.push(node);
        }
        let length = hull.length;
        let (at, stood) = hull.arrive(self.step);
        self.log.push(Change::Visit { node, at, stood, length });
        self.step += 1;
    }

    /// The watcher sees the token, on so many paths.
    fn look(&mut self, paths: u64) {
        let visitors = std::mem::take(&mut self.visitors);
        let ended = visitors.into_iter().map(|node| {
            let hull = std::mem::take(&mut self.hulls[node]);
            self.losses[node] += paths as f64 * hull.energy(self.step);
            (node, hull)
        });
        let ended = ended.collect();
        self.log.push(Change::Look(ended));
        self.step += 1;
    }

    fn undo(&mut self, mark: usize) {
        while self.log.len() > mark
            && let Some(change) = self.log.pop()
        {
            self.step -= 1;
            match change {
                Change::Visit { node, at, stood, length } => {
                    self.hulls[node].leave((at, stood), length);
                    if self.hulls[node].arrivals == 0 {
                        self.visitors.pop();
                    }
                }
                Change::Look(ended) => {
                    self.visitors = ended.iter().map(|(node, _)| *node).collect();
                    ended.into_iter().for_each(|(node, hull)| self.hulls[node] = hull);
                }
            }
        }
    }
}

/// A corner of the taut string: step, what was absorbed before it at most, and the energy up to it.
#[derive(Debug, Clone, Copy)]
struct Point {
    x: f64,
    y: f64,
    energy: f64,
}

impl Point {
    fn slope(&self, x: f64, y: f64) -> f64 {
        (y - self.y) / (x - self.x)
    }
}

/// Least Σξ² that absorbs one unit from each arrival on, all before the look.
///
/// The cumulative absorption stays below the cumulative arrivals: it is free to be zero until the first arrival, below i just before
/// arrival i + 1, and the whole at the look. The lower convex hull of these points is the taut string.
#[derive(Debug, Default)]
struct Hull {
    /// Corners; those behind `length` are kept for going back.
    points: Vec<Point>,
    length: usize,
    arrivals: usize,
}

impl Hull {
    /// How many corners stay when a point is added behind them: those before the first at which the string would no longer turn up.
    fn kept(&self, x: f64, y: f64) -> usize {
        let (mut least, mut most) = (self.length.min(1), self.length);
        while least < most {
            let middle = least.midpoint(most);
            let (first, second) = (self.points[middle - 1], self.points[middle]);
            // Slopes rise, so who turns up stands in front of who does not.
            match first.slope(second.x, second.y) < second.slope(x, y) {
                true => least = middle + 1,
                false => most = middle,
            }
        }
        least
    }

    fn energy_behind(&self, kept: usize, (x, y): (f64, f64)) -> f64 {
        self.points[..kept].last().map_or(0.0, |last| {
            let slope = last.slope(x, y);
            last.energy + slope * slope * (x - last.x)
        })
    }

    /// Adds an arrival; says where the hull was cut, and what stood there.
    fn arrive(&mut self, step: usize) -> (usize, Option<Point>) {
        let (x, y) = (step as f64, self.arrivals as f64);
        let at = self.kept(x, y);
        let point = Point { x, y, energy: self.energy_behind(at, (x, y)) };
        let stood = self.points.get(at).copied();
        match self.points.get_mut(at) {
            Some(place) => *place = point,
            None => self.points.push(point),
        }
        self.length = at + 1;
        self.arrivals += 1;
        (at, stood)
    }

    /// Takes the last arrival back.
    fn leave(&mut self, (at, stood): (usize, Option<Point>), length: usize) {
        match stood {
            Some(point) => self.points[at] = point,
            None => self.points.truncate(at),
        }
        self.length = length;
        self.arrivals -= 1;
    }

    /// What a look at this step costs.
    fn energy(&self, look: usize) -> f64 {
        let end = (look as f64, self.arrivals as f64);
        self.energy_behind(self.kept(end.0, end.1), end)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::loss;
    use super::*;

    /// The whole path of a branch.
    fn path(branches: &[Branch], at: usize) -> Vec<(usize, bool)> {
        let begin = match branches[at].left {
            None => Vec::new(),
            Some((parent, behind)) => {
                let mut whole = path(branches, parent);
                whole.truncate(whole.len() - branches[parent].hops.len() + behind);
                whole
            }
        };
        [begin, branches[at].hops.clone()].concat()
    }

    /// Path by path, as the string is drawn from one end to the other.
    fn one_by_one(branches: &[Branch], nodes: usize, watchers: &Watchers) -> Vec<f64> {
        let mut total = vec![0.0; nodes];
        for at in 0..branches.len() {
            let counts = |(holder, released): &(usize, bool)| *released || watchers.contains(*holder);
            let path: Vec<usize> =
                path(branches, at).into_iter().filter(counts).map(|(holder, _)| holder).collect();
            if !path.is_empty() {
                let one = loss(&path, nodes, watchers).unwrap();
                total.iter_mut().zip(one).for_each(|(sum, mu2)| *sum += mu2);
            }
        }
        total
    }

    const NODES: usize = 5;

    prop_compose! {
        fn branch()(
            parent in any::<prop::sample::Index>(),
            behind in any::<prop::sample::Index>(),
            is_root in prop::bool::weighted(0.2),
            hops in prop::collection::vec((0..NODES, prop::bool::weighted(0.8)), 0..25),
        ) -> (prop::sample::Index, prop::sample::Index, bool, Vec<(usize, bool)>) {
            (parent, behind, is_root, hops)
        }
    }

    proptest! {
        #[test]
        fn a_tree_costs_what_its_paths_cost(drawn in prop::collection::vec(branch(), 1..20), both: bool) {
            let mut branches: Vec<Branch> = Vec::new();
            for (parent, behind, is_root, hops) in drawn {
                let left = (!branches.is_empty() && !is_root).then(|| {
                    let parent = parent.index(branches.len());
                    (parent, behind.index(branches[parent].hops.len() + 1))
                });
                branches.push(Branch { left, hops });
            }
            let watchers = Watchers::new(if both { &[0, 1] } else { &[0] }, NODES).unwrap();
            let found = loss_of_branches(&branches, NODES, &watchers).unwrap();
            for (found, expected) in found.iter().zip(one_by_one(&branches, NODES, &watchers)) {
                prop_assert!((found - expected).abs() <= 1e-13 * (1.0 + expected), "{} {}", found, expected);
            }
        }
    }

    /// A token that is started again behind each of many thousands of hops: path by path that would be 10⁹ hops for one watcher.
    #[test]
    fn thousands_of_restarts_cost_what_theory_says() {
        let count = 50_000;
        let mut branches = vec![Branch { left: None, hops: vec![(1, true); 1] }];
        branches.extend((1..count).map(|at| Branch {
            left: Some((at - 1, 1)),
            hops: vec![(if at % 2 == 0 { 1 } else { 2 }, true)],
        }));
        branches.push(Branch { left: Some((count - 1, 1)), hops: vec![(0, false)] });
        let watchers = Watchers::new(&[0], 3).unwrap();
        let found = loss_of_branches(&branches, 3, &watchers).unwrap();
        // One look: arrivals at every second hop, so the string has slope 1/2 all along.
        let half = count as f64 / 4.0;
        assert!((found[1] - half).abs() < 1e-6 * half, "{}", found[1]);
        // The first arrival of the other is one hop later, and its string is as long before the look.
        assert!((found[2] - half).abs() < 1.0, "{}", found[2]);
    }

    #[test]
    fn branches_that_hang_on_nothing_are_refused() {
        let watchers = Watchers::new(&[0], 3).unwrap();
        let one = |left, hops: Vec<(usize, bool)>| {
            loss_of_branches(
                &[Branch { left: None, hops: vec![(1, true)] }, Branch { left, hops }],
                3,
                &watchers,
            )
        };
        assert!(matches!(one(Some((0, 2)), vec![]), Err(NetworkError::BranchOutside { branch: 1, .. })));
        assert!(matches!(one(Some((1, 0)), vec![]), Err(NetworkError::BranchOutside { .. })));
        assert!(matches!(one(None, vec![(7, true)]), Err(NetworkError::VisitOutside { node: 7, .. })));
        assert!(one(Some((0, 1)), vec![(0, false)]).is_ok());
    }
}

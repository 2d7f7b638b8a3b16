//! Networks that look the same from several nodes: those learn the same, each about the nodes that lie to it as theirs lie to the others.
//!
//! Candidates are guessed by refining colours from two nodes and matching nodes of equal colour. A guess counts only once it is checked to take
//! every weight of the run to the same weight, bit by bit; so what is not found costs time, and nothing wrong is ever used.

use super::run::{Run, Watchers};
use std::sync::Arc;
use topology::MixingMatrix;

/// Nodes of the largest run that is searched: refining colours costs some microseconds a node.
const LARGEST: usize = 1 << 14;

/// Guesses that may fail before the search ends.
const FAILURES: usize = 4;

/// Nodes that get a colour of their own in one guess, at most.
const SINGLED_OUT: usize = 16;

/// Automorphisms of a run, and which of them lead to each node from the one that stands for it.
#[derive(Debug)]
pub(crate) struct Symmetry {
    automorphisms: Vec<Vec<u32>>,
    /// The node and the automorphism that lead here; none at nodes that stand for others.
    from: Vec<Option<(u32, u32)>>,
}

impl Symmetry {
    /// What was found; none where every node stands for itself.
    pub(crate) fn of(run: &Run) -> Option<Self> {
        let phase = run.repeated_phase().filter(|phase| phase.all_contribute())?;
        let mut matrices: Vec<&MixingMatrix> = Vec::new();
        let mut met: Vec<&Arc<MixingMatrix>> = Vec::new();
        for step in phase.steps() {
            if step.has_overheard() {
                return None;
            }
            if !met.iter().any(|known| Arc::ptr_eq(known, step.matrix())) {
                met.push(step.matrix());
                matrices.push(step.matrix());
            }
        }
        let search = Search { nodes: run.nodes(), matrices };
        let automorphisms = if run.nodes() <= LARGEST { search.run() } else { Vec::new() };
        (!automorphisms.is_empty()).then(|| Self::spanned(run.nodes(), automorphisms))
    }

    /// Every node is reached from the first of those that the automorphisms take into each other.
    fn spanned(nodes: usize, automorphisms: Vec<Vec<u32>>) -> Self {
        let (mut from, mut reached) = (vec![None; nodes], vec![false; nodes]);
        for root in 0..nodes {
            let mut queue = if reached[root] { Vec::new() } else { vec![root as u32] };
            reached[root] = true;
            let mut next = 0;
            while let Some(&node) = queue.get(next) {
                next += 1;
                for (number, automorphism) in automorphisms.iter().enumerate() {
                    let to = automorphism[node as usize];
                    if !std::mem::replace(&mut reached[to as usize], true) {
                        from[to as usize] = Some((node, number as u32));
                        queue.push(to);
                    }
                }
            }
        }
        Self { automorphisms, from }
    }

    /// The node that stands for this one.
    pub(crate) fn representative(&self, mut node: usize) -> usize {
        while let Some((before, _)) = self.from[node] {
            node = before as usize;
        }
        node
    }

    /// What is learnt at `node`, made of what is learnt at the one that stands for it.
    pub(crate) fn carry(&self, mut node: usize, known: &[f64], out: &mut [f64]) {
        let mut way = Vec::new();
        while let Some((before, number)) = self.from[node] {
            way.push(&self.automorphisms[number as usize]);
            node = before as usize;
        }
        for (source, &value) in known.iter().enumerate() {
            let to = way.iter().rev().fold(source, |at, automorphism| automorphism[at] as usize);
            out[to] = value;
        }
    }

    /// The only member of each coalition, where all are of one.
    pub(crate) fn lone(coalitions: &[Watchers]) -> Option<Vec<usize>> {
        let lone = |watchers: &Watchers| match watchers.members() {
            [node] => Some(*node),
            _ => None,
        };
        coalitions.iter().map(lone).collect()
    }
}

struct Search<'a> {
    nodes: usize,
    matrices: Vec<&'a MixingMatrix>,
}

impl Search<'_> {
    fn run(&self) -> Vec<Vec<u32>> {
        let start = self.refined(vec![1; self.nodes]);
        let mut found: Vec<Vec<u32>> = Vec::new();
        let (mut failures, mut guessed) = (0, 0);
        let enough = 2 * self.nodes.max(1).ilog2() + 4;
        let mut by_colour: Vec<u32> = (0..self.nodes as u32).collect();
        by_colour.sort_by_key(|&node| (start[node as usize], node));
        for class in by_colour.chunk_by(|a, b| start[*a as usize] == start[*b as usize]) {
            let first = class[0] as usize;
            let mut known: Option<Vec<u64>> = None;
            for &node in &class[1..] {
                if failures == FAILURES || guessed == enough {
                    return found;
                }
                if self.orbit(&found, first)[node as usize] {
                    continue;
                }
                let own = known.get_or_insert_with(|| self.singled_out(&start, first));
                guessed += 1;
                match matched(own, &self.singled_out(&start, node as usize)).filter(|guess| self.holds(guess))
                {
                    Some(automorphism) => found.extend(powers(automorphism)),
                    None => failures += 1,
                }
            }
        }
        found
    }

    /// Where the automorphisms take a node.
    fn orbit(&self, automorphisms: &[Vec<u32>], node: usize) -> Vec<bool> {
        let mut reached = vec![false; self.nodes];
        let mut queue = vec![node];
        reached[node] = true;
        while let Some(node) = queue.pop() {
            for automorphism in automorphisms {
                let to = automorphism[node] as usize;
                if !std::mem::replace(&mut reached[to], true) {
                    queue.push(to);
                }
            }
        }
        reached
    }

    /// Colours in which `node` has one of its own, and then others until few are left that look alike.
    fn singled_out(&self, start: &[u64], node: usize) -> Vec<u64> {
        let mut colours = start.to_vec();
        let mut next = Some(node);
        for turn in 0..SINGLED_OUT {
            let Some(node) = next else { break };
            colours[node] = mixed(colours[node] ^ mixed(turn as u64 + 2));
            colours = self.refined(colours);
            next = next_of_alike(&colours, node);
        }
        colours
    }

    /// Colours that tell apart nodes whose neighbours differ, for as long as that tells more apart.
    fn refined(&self, mut colours: Vec<u64>) -> Vec<u64> {
        let mut kinds = distinct(&colours);
        loop {
            let seen = |node: usize| {
                let (columns, values) = self.matrices[0].row(node);
                let entries = columns.iter().zip(values);
                let around = entries.map(|(&to, w)| mixed(colours[to as usize] ^ mixed(w.to_bits())));
                mixed(colours[node]).wrapping_add(around.fold(0, u64::wrapping_add))
            };
            let finer: Vec<u64> = (0..self.nodes).map(seen).collect();
            let now = distinct(&finer);
            if now <= kinds {
                return colours;
            }
            (kinds, colours) = (now, finer);
        }
    }

    /// Whether every weight is taken to the same weight.
    fn holds(&self, guess: &[u32]) -> bool {
        let row_holds = |matrix: &MixingMatrix, node: usize| {
            let (columns, values) = matrix.row(node);
            let image = guess[node] as usize;
            let same = |(&to, w): (&u32, &f64)| {
                matrix.weight(image, guess[to as usize] as usize).to_bits() == w.to_bits()
            };
            matrix.row(image).0.len() == columns.len() && columns.iter().zip(values).all(same)
        };
        self.matrices.iter().all(|matrix| (0..self.nodes).all(|node| row_holds(matrix, node)))
    }
}

/// The permutation that takes each node to the one of equal colour, in order where several are alike.
fn matched(one: &[u64], other: &[u64]) -> Option<Vec<u32>> {
    let sorted = |colours: &[u64]| {
        let mut order: Vec<u32> = (0..colours.len() as u32).collect();
        order.sort_by_key(|&node| (colours[node as usize], node));
        order
    };
    let mut taken = vec![0; one.len()];
    for (from, to) in sorted(one).into_iter().zip(sorted(other)) {
        if one[from as usize] != other[to as usize] {
            return None;
        }
        taken[from as usize] = to;
    }
    Some(taken)
}

/// An automorphism, its square, the square of that and so on: far nodes are reached in few steps.
fn powers(automorphism: Vec<u32>) -> Vec<Vec<u32>> {
    let mut powers = vec![automorphism];
    let moves = |power: &[u32]| power.iter().enumerate().any(|(at, &to)| at != to as usize);
    while powers.len() <= LARGEST.ilog2() as usize {
        let last = powers.last().expect("there is the first");
        let square: Vec<u32> = last.iter().map(|&to| last[to as usize]).collect();
        if !moves(&square) {
            break;
        }
        powers.push(square);
    }
    powers
}

/// Of the nodes of one colour, the least that several have, the one after `last`: guesses from two nodes then differ by a shift of all that are alike.
fn next_of_alike(colours: &[u64], last: usize) -> Option<usize> {
    let mut sorted = colours.to_vec();
    sorted.sort_unstable();
    let colour = sorted.windows(2).find(|pair| pair[0] == pair[1])?[0];
    let alike = |&node: &usize| colours[node] == colour;
    (last + 1..colours.len()).find(alike).or_else(|| (0..last).find(alike))
}

fn distinct(colours: &[u64]) -> usize {
    let mut sorted = colours.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len()
}

/// A finaliser of 64 bits (Stafford's variant 13).
fn mixed(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use topology::Graph;

    fn symmetry(graph: &Graph) -> Option<Symmetry> {
        Symmetry::of(&Run::on_graph(matrix_of(graph), 2, 1).unwrap())
    }

    fn classes(graph: &Graph) -> usize {
        let nodes = 0..graph.nodes();
        symmetry(graph)
            .map_or(graph.nodes(), |found| nodes.filter(|&node| found.representative(node) == node).count())
    }

    fn star(leaves: u32) -> Graph {
        graph(leaves as usize + 1, &(1..=leaves).map(|leaf| (0, leaf)).collect::<Vec<_>>())
    }

    #[test]
    fn nodes_that_look_alike_are_found() {
        assert_eq!((classes(&hypercube(6)), classes(&ring(101)), classes(&star(100))), (1, 1, 2));
        // A path has one symmetry, its reversal; a path with a pendant has none.
        assert_eq!(classes(&path(9)), 5);
        let lopsided: Vec<(u32, u32)> = (1..9).map(|i| (i - 1, i)).chain([(2, 9)]).collect();
        assert_eq!(classes(&graph(10, &lopsided)), 10);
    }

    #[test]
    fn regular_graphs_without_symmetry_have_none() {
        // The Frucht graph: cubic, and nothing but the identity leaves it as it is.
        let edges = [
            (0, 1),
            (1, 2),
            (2, 3),
            (3, 4),
            (4, 5),
            (5, 6),
            (6, 0),
            (0, 7),
            (1, 7),
            (2, 8),
            (3, 9),
            (4, 9),
            (5, 10),
            (6, 10),
            (7, 11),
            (8, 11),
            (8, 9),
            (10, 11),
        ];
        assert_eq!(classes(&graph(12, &edges)), 12);
    }

    #[test]
    fn a_guess_that_moves_one_weight_is_refused() {
        let matrix = matrix_of(&ring(8));
        let search = Search { nodes: 8, matrices: vec![&matrix] };
        assert!(search.holds(&[1, 2, 3, 4, 5, 6, 7, 0]));
        assert!(!search.holds(&[1, 2, 3, 4, 5, 6, 0, 7]));
        // The same ring with one weight made a little smaller at node 0.
        let (offsets, columns, values) = matrix.csr();
        let mut values = values.to_vec();
        (values[0], values[1]) = (values[0] - 1e-12, values[1] + 1e-12);
        let uneven = MixingMatrix::new(offsets.to_vec(), columns.to_vec(), values).unwrap();
        assert!(!Search { nodes: 8, matrices: vec![&uneven] }.holds(&[1, 2, 3, 4, 5, 6, 7, 0]));
    }
}

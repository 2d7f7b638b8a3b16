//! Random regular graphs, close to uniform among all simple ones, in linear expected time.
//!
//! Pairing model: every node has `degree` stubs, all stubs are shuffled and paired. About (degree² − 1) / 4 pairs
//! are loops or repetitions, whatever the number of nodes; each is removed by a random switching, which replaces
//! the bad pair uv and a random edge xy by ux and vy. S. Janson ("Random graphs with given vertex degrees and
//! switchings", Random Structures & Algorithms 57, 2020) proves that the result is within o(1) of uniform in
//! total variation for bounded degrees. Graphs with many edges for their size (nodes ≤ 32 · degree) are shuffled
//! further by one switching per edge, steps of a Markov chain whose law is uniform; more than half of all pairs
//! are made as the complement. Rejecting whole graphs until one is simple would be exact, but needs e^(degree²/4)
//! attempts.

use super::Edges;
use super::complete::complete;
use crate::stream::Stream;

/// `degree < nodes`, and `nodes · degree` is even.
pub(super) fn regular(nodes: usize, degree: usize, stream: &mut Stream) -> Edges {
    match degree {
        0 => Vec::new(),
        2 => random_ring(nodes, stream),
        _ if degree + 1 == nodes => complete(nodes),
        _ if 2 * degree > nodes - 1 => complement(nodes, &regular_any(nodes, nodes - 1 - degree, stream)),
        _ => regular_any(nodes, degree, stream),
    }
}

/// A uniformly random connected 2-regular graph. Nearly all 2-regular graphs fall into several cycles, so that
/// waiting for a connected one would be hopeless.
fn random_ring(nodes: usize, stream: &mut Stream) -> Edges {
    let mut order: Vec<u32> = (0..nodes as u32).collect();
    stream.shuffle(&mut order);
    (0..nodes).map(|i| (order[i], order[(i + 1) % nodes])).collect()
}

fn regular_any(nodes: usize, degree: usize, stream: &mut Stream) -> Edges {
    if degree == 0 {
        return Vec::new();
    }
    loop {
        let mut pairing = Pairing::new(nodes, degree, stream);
        if pairing.repair(stream) {
            pairing.shuffle_if_dense(stream);
            return pairing.edges;
        }
    }
}

fn complement(nodes: usize, edges: &Edges) -> Edges {
    let mut joined = NeighbourSets::new(nodes, nodes);
    edges.iter().for_each(|&(u, v)| joined.insert(u, v));
    complete(nodes).into_iter().filter(|&(u, v)| !joined.contains(u, v)).collect()
}

/// A simple graph so far, and the pairs that would spoil it.
struct Pairing {
    edges: Edges,
    bad: Edges,
    joined: NeighbourSets,
}

impl Pairing {
    fn new(nodes: usize, degree: usize, stream: &mut Stream) -> Self {
        let mut stubs: Vec<u32> = (0..nodes as u32).flat_map(|v| std::iter::repeat_n(v, degree)).collect();
        stream.shuffle(&mut stubs);
        let mut pairing = Self {
            edges: Vec::with_capacity(stubs.len() / 2),
            bad: Vec::new(),
            joined: NeighbourSets::new(nodes, degree),
        };
        for pair in stubs.chunks_exact(2) {
            let (u, v) = (pair[0], pair[1]);
            if u == v || pairing.joined.contains(u, v) {
                pairing.bad.push((u, v));
            } else {
                pairing.joined.insert(u, v);
                pairing.edges.push((u, v));
            }
        }
        pairing
    }

    /// Switches every bad pair away; false where that does not succeed and a fresh pairing is the better way.
    fn repair(&mut self, stream: &mut Stream) -> bool {
        let mut tries = 1000 + 20 * self.edges.len();
        while let Some(&(u, v)) = self.bad.last() {
            if tries == 0 || self.edges.is_empty() {
                return false;
            }
            tries -= 1;
            let at = stream.below(self.edges.len() as u32) as usize;
            let (x, y) = self.directed_edge(at, stream);
            if self.can_join(u, x) && self.can_join(v, y) {
                self.bad.pop();
                self.joined.remove(x, y);
                self.joined.insert(u, x);
                self.joined.insert(v, y);
                self.edges[at] = (u, x);
                self.edges.push((v, y));
            }
        }
        true
    }

    fn shuffle_if_dense(&mut self, stream: &mut Stream) {
        if !matches!(self.joined, NeighbourSets::Bits { .. }) {
            return;
        }
        for _ in 0..self.edges.len() {
            let first = stream.below(self.edges.len() as u32) as usize;
            let second = stream.below(self.edges.len() as u32) as usize;
            let ((u, v), (x, y)) = (self.edges[first], self.directed_edge(second, stream));
            if first != second && self.can_join(u, x) && self.can_join(v, y) {
                self.joined.remove(u, v);
                self.joined.remove(x, y);
                self.joined.insert(u, x);
                self.joined.insert(v, y);
                self.edges[first] = (u, x);
                self.edges[second] = (v, y);
            }
        }
    }

    fn directed_edge(&self, at: usize, stream: &mut Stream) -> (u32, u32) {
        let (x, y) = self.edges[at];
        if stream.below(2) == 0 { (x, y) } else { (y, x) }
    }

    fn can_join(&self, u: u32, v: u32) -> bool {
        u != v && !self.joined.contains(u, v)
    }
}

/// Who is joined to whom, under change: a table of n × degree slots, or of n × n bits where that is not larger.
enum NeighbourSets {
    Slots { degree: usize, slots: Vec<u32>, used: Vec<u32> },
    Bits { nodes: usize, words: Vec<u64> },
}

impl NeighbourSets {
    fn new(nodes: usize, degree: usize) -> Self {
        if nodes <= 32 * degree {
            Self::Bits { nodes, words: vec![0; (nodes * nodes).div_ceil(64)] }
        } else {
            Self::Slots { degree, slots: vec![0; nodes * degree], used: vec![0; nodes] }
        }
    }

    fn contains(&self, u: u32, v: u32) -> bool {
        match self {
            Self::Bits { nodes, words } => {
                let bit = u as usize * nodes + v as usize;
                words[bit / 64] >> (bit % 64) & 1 == 1
            }
            Self::Slots { degree, slots, used } => {
                let start = u as usize * degree;
                slots[start..start + used[u as usize] as usize].contains(&v)
            }
        }
    }

    fn insert(&mut self, u: u32, v: u32) {
        for (from, to) in [(u, v), (v, u)] {
            match self {
                Self::Bits { .. } => self.flip(from, to),
                Self::Slots { degree, slots, used } => {
                    let count = &mut used[from as usize];
                    slots[from as usize * *degree + *count as usize] = to;
                    *count += 1;
                }
            }
        }
    }

    fn remove(&mut self, u: u32, v: u32) {
        for (from, to) in [(u, v), (v, u)] {
            match self {
                Self::Bits { .. } => self.flip(from, to),
                Self::Slots { degree, slots, used } => {
                    let start = from as usize * *degree;
                    let count = &mut used[from as usize];
                    *count -= 1;
                    let last = start + *count as usize;
                    let at = (start..=last).find(|&at| slots[at] == to).expect("only edges are removed");
                    slots.swap(at, last);
                }
            }
        }
    }

    fn flip(&mut self, u: u32, v: u32) {
        if let Self::Bits { nodes, words } = self {
            let bit = u as usize * *nodes + v as usize;
            words[bit / 64] ^= 1 << (bit % 64);
        }
    }
}

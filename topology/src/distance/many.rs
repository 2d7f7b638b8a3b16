//! Breadth-first search from 256 sources at once: one bit per source and node, so that an arc is looked at once
//! per level for all of them (Then et al., "The More the Merrier", VLDB 2014).

use rayon::prelude::*;

use crate::graph::Graph;

const WORDS: usize = 4;
const LANES: usize = 64 * WORDS;
type Mask = [u64; WORDS];
const NONE: Mask = [0; WORDS];

/// The largest distance and the sum of the distances of all ordered pairs that can reach each other.
pub(super) fn all_pairs(graph: &Graph) -> (u32, u128) {
    let batches = graph.nodes().div_ceil(LANES);
    (0..batches)
        .into_par_iter()
        .map_init(
            || Search::new(graph),
            |search, batch| {
                let first = batch * LANES;
                search.run(first..(first + LANES).min(graph.nodes()))
            },
        )
        .reduce(|| (0, 0), |a, b| (a.0.max(b.0), a.1 + b.1))
}

/// Working memory of one thread: which sources have seen a node, and which reach it on this and the next level.
struct Search<'a> {
    graph: &'a Graph,
    seen: Vec<Mask>,
    frontier: Vec<Mask>,
    next: Vec<Mask>,
    active: Vec<u32>,
    touched: Vec<u32>,
}

impl<'a> Search<'a> {
    fn new(graph: &'a Graph) -> Self {
        let none = vec![NONE; graph.nodes()];
        let (active, touched) = (Vec::new(), Vec::new());
        Self { graph, seen: none.clone(), frontier: none.clone(), next: none, active, touched }
    }

    fn run(&mut self, sources: std::ops::Range<usize>) -> (u32, u128) {
        self.seen.fill(NONE);
        for (lane, source) in sources.enumerate() {
            self.frontier[source][lane / 64] |= 1 << (lane % 64);
            self.seen[source] = self.frontier[source];
            self.active.push(source as u32);
        }
        let (mut level, mut farthest, mut sum) = (0, 0, 0u128);
        while !self.active.is_empty() {
            level += 1;
            self.spread();
            let reached = self.settle();
            if reached > 0 {
                farthest = level;
                sum += u128::from(reached) * u128::from(level);
            }
        }
        (farthest, sum)
    }

    /// Hands the mask of every active node to its neighbours and clears it.
    fn spread(&mut self) {
        for &node in &self.active {
            let mask = std::mem::replace(&mut self.frontier[node as usize], NONE);
            for &other in self.graph.neighbours(node as usize) {
                let slot = &mut self.next[other as usize];
                if *slot == NONE {
                    self.touched.push(other);
                }
                (0..WORDS).for_each(|w| slot[w] |= mask[w]);
            }
        }
        self.active.clear();
    }

    /// Keeps what is new at every touched node and returns how many pairs were reached.
    fn settle(&mut self) -> u64 {
        let mut reached = 0;
        for &node in &self.touched {
            let seen = &mut self.seen[node as usize];
            let mut new = std::mem::replace(&mut self.next[node as usize], NONE);
            for w in 0..WORDS {
                new[w] &= !seen[w];
                seen[w] |= new[w];
                reached += u64::from(new[w].count_ones());
            }
            if new != NONE {
                self.frontier[node as usize] = new;
                self.active.push(node);
            }
        }
        self.touched.clear();
        reached
    }
}

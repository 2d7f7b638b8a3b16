//! From the names in a file to positions `0..n`.
//!
//! Numbers that are exactly 0..n−1 (or below a stated n) stay as they are. Other numbers are sorted and become
//! labels. As soon as one name is not a number, all are names, numbered in order of appearance.

use std::collections::BTreeMap;

use crate::graph::MAX_NODES;

/// Edges with positions, the number of nodes, and the labels where positions alone would lose something.
pub(super) type Numbered = (usize, Vec<(u32, u32)>, Option<Vec<String>>);

/// The edges of a file as they come in.
pub(super) enum Names {
    /// So far every name was a number.
    Numbers(Vec<(u64, u64)>),
    /// At least one was not.
    Words { position_of: BTreeMap<String, u32>, edges: Vec<(u32, u32)> },
}

impl Names {
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Numbers(edges) => edges.is_empty(),
            Self::Words { edges, .. } => edges.is_empty(),
        }
    }

    /// Adds an edge of two names of which at least one is not a number.
    pub(super) fn push_words(&mut self, u: &str, v: &str) {
        if let Self::Numbers(edges) = self {
            let numbers = std::mem::take(edges);
            *self = Self::Words { position_of: BTreeMap::new(), edges: Vec::with_capacity(numbers.len()) };
            numbers.into_iter().for_each(|(u, v)| self.push_words(&u.to_string(), &v.to_string()));
        }
        if let Self::Words { position_of, edges } = self {
            let ends = [u, v].map(|name| match position_of.get(name) {
                Some(&position) => position,
                None => {
                    let position = position_of.len() as u32;
                    position_of.insert(name.to_owned(), position);
                    position
                }
            });
            edges.push((ends[0], ends[1]));
        }
    }

    /// Settles positions and labels; `stated` is the number of nodes on the first line.
    pub(super) fn number(self, stated: Option<usize>) -> Numbered {
        match (self, stated) {
            (Self::Numbers(edges), Some(nodes)) => (nodes, narrowed(&edges, |id| id as u32), None),
            (Self::Numbers(edges), None) => number_numbers(edges),
            (Self::Words { position_of, edges }, _) => {
                let mut labels = vec![String::new(); position_of.len()];
                for (name, position) in position_of {
                    labels[position as usize] = name;
                }
                (labels.len(), edges, Some(labels))
            }
        }
    }
}

fn number_numbers(edges: Vec<(u64, u64)>) -> Numbered {
    let largest = edges.iter().map(|&(u, v)| u.max(v)).max().unwrap_or(0);
    // Compact ids need no sorting, which would take longer than reading the file.
    if largest < MAX_NODES as u64 && largest < 4 * edges.len() as u64 + 64 {
        let mut seen = vec![false; largest as usize + 1];
        for &(u, v) in &edges {
            seen[u as usize] = true;
            seen[v as usize] = true;
        }
        if seen.iter().all(|&seen| seen) {
            return (seen.len(), narrowed(&edges, |id| id as u32), None);
        }
    }
    let mut ids: Vec<u64> = edges.iter().flat_map(|&(u, v)| [u, v]).collect();
    ids.sort_unstable();
    ids.dedup();
    let position = |id: u64| ids.binary_search(&id).expect("every id is in the list") as u32;
    let numbered = narrowed(&edges, position);
    (ids.len(), numbered, Some(ids.iter().map(u64::to_string).collect()))
}

fn narrowed(edges: &[(u64, u64)], position: impl Fn(u64) -> u32) -> Vec<(u32, u32)> {
    edges.iter().map(|&(u, v)| (position(u), position(v))).collect()
}

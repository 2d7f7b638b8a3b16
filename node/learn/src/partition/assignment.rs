//! Which records went to which node.
//!
//! Invariant: every record belongs to exactly one node, every node has at least one, and the records of a node
//! are in increasing order.

use crate::data::Dataset;

/// The result of dividing a data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    parts: Vec<Vec<u32>>,
    moved: usize,
    names: Option<Vec<String>>,
}

impl Assignment {
    /// Takes over parts that a scheme made; `moved` records changed hands to honour the least size.
    pub(super) fn new(mut parts: Vec<Vec<u32>>, moved: usize) -> Self {
        parts.iter_mut().for_each(|part| part.sort_unstable());
        Self { parts, moved, names: None }
    }

    /// The same with the id that each node stands for.
    pub(super) fn with_names(mut self, names: Option<Vec<String>>) -> Self {
        self.names = names;
        self
    }

    /// The name of `node`: the id that it stands for, or its number.
    pub fn name(&self, node: usize) -> String {
        self.names.as_ref().map_or_else(|| node.to_string(), |names| names[node].clone())
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.parts.len()
    }

    /// The records of `node`, in increasing order.
    ///
    /// # Panics
    /// Where there is no such node.
    pub fn records(&self, node: usize) -> &[u32] {
        &self.parts[node]
    }

    /// Number of records of each node.
    pub fn sizes(&self) -> Vec<usize> {
        self.parts.iter().map(Vec::len).collect()
    }

    /// How many records were moved from large nodes to small ones, against the scheme's draw, to honour
    /// `min_size`.
    pub fn moved(&self) -> usize {
        self.moved
    }

    /// The data of `node`, sharing the table of `data`; [`Dataset::compact`] gives it a table of its own.
    ///
    /// # Panics
    /// Where there is no such node, or `data` is not the set that was divided.
    pub fn dataset(&self, data: &Dataset, node: usize) -> Dataset {
        data.subset(&self.parts[node])
    }

    /// The data of every node.
    ///
    /// # Panics
    /// Where `data` is not the set that was divided.
    pub fn datasets(&self, data: &Dataset) -> Vec<Dataset> {
        (0..self.nodes()).map(|node| self.dataset(data, node)).collect()
    }
}

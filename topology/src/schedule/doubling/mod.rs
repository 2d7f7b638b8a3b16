//! Recursive doubling: the exact mean at all nodes after about log2 n pairwise steps, for any number of nodes.
//!
//! Let 2^K be the largest power of two that is at most n. The nodes at positions `2^K..n`, the *extras*, first
//! fold in: the extra at position `2^K + j` sends its value to position `j`. Then in step `t` of K the core
//! positions exchange with position `i XOR 2^t`, and at last the extras adopt the result of their partners.
//!
//! Invariant: a node carries the **sum** of the inputs that have reached it, and the division by n comes last.
//! Both sides of an exchange add the same two numbers and addition commutes, so all nodes end with identical
//! bits; where the sums are exact (integers below 2^24 in `f32`, say) the result is the exactly rounded mean.
//! For the accountant each step is the weighted mean that the sums stand for: a node that holds `a` inputs and
//! hears one with `b` takes the weights `a/(a+b)` and `b/(a+b)`.

use super::Role;
use crate::error::TopologyError;
use crate::graph::check_size;
use crate::matrix::MixingMatrix;

/// Who meets whom in one round of recursive doubling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    nodes: usize,
    /// log2 of the number of core positions.
    dimensions: usize,
    /// Node at each position and position of each node, unless they are equal.
    order: Option<Order>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Order {
    node_at: Vec<u32>,
    position_of: Vec<u32>,
}

/// The plan for `nodes` nodes in their own order.
///
/// # Errors
/// No nodes, or more than [`crate::MAX_NODES`].
pub fn plan(nodes: usize) -> Result<Plan, TopologyError> {
    Plan::new(nodes)
}

impl Plan {
    /// The plan for `nodes` nodes in their own order.
    ///
    /// # Errors
    /// No nodes, or more than [`crate::MAX_NODES`].
    pub fn new(nodes: usize) -> Result<Self, TopologyError> {
        check_size(nodes, 0)?;
        Ok(Self { nodes, dimensions: nodes.ilog2() as usize, order: None })
    }

    /// The plan in which position `i` is taken by node `node_at[i]`.
    ///
    /// # Errors
    /// Too many nodes, none, or an order that is no permutation.
    pub fn with_order(node_at: Vec<u32>) -> Result<Self, TopologyError> {
        let mut plan = Self::new(node_at.len())?;
        let mut position_of = vec![u32::MAX; node_at.len()];
        for (position, &node) in node_at.iter().enumerate() {
            let slot = position_of.get_mut(node as usize);
            let Some(slot) = slot.filter(|slot| **slot == u32::MAX) else {
                return Err(TopologyError::NotAPermutation { position, node: node.into() });
            };
            *slot = position as u32;
        }
        plan.order = Some(Order { node_at, position_of });
        Ok(plan)
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Nodes that fold in before and out after the exchanges.
    pub fn extras(&self) -> usize {
        self.nodes - self.core()
    }

    /// Number of steps: one per dimension, and two more where there are extras.
    pub fn steps(&self) -> usize {
        self.dimensions + if self.extras() > 0 { 2 } else { 0 }
    }

    /// What `node` does in step `step`. Complexity: O(1).
    ///
    /// # Panics
    /// Where there is no such step or node.
    pub fn role(&self, step: usize, node: usize) -> Role {
        let position = self.position_of(node);
        let (core, extras) = (self.core(), self.extras());
        match self.phase(step) {
            Phase::FoldIn if position >= core => Role::SendTo(self.node_at(position - core)),
            Phase::FoldIn if position < extras => Role::ReceiveFrom(self.node_at(position + core)),
            Phase::Exchange(dimension) if position < core => {
                Role::Exchange(self.node_at(position ^ (1 << dimension)))
            }
            Phase::FoldOut if position >= core => Role::Adopt(self.node_at(position - core)),
            Phase::FoldOut if position < extras => Role::GiveTo(self.node_at(position + core)),
            Phase::FoldIn | Phase::Exchange(_) | Phase::FoldOut => Role::Idle,
        }
    }

    /// The roles of all nodes in step `step`. Complexity: O(nodes).
    ///
    /// # Panics
    /// Where there is no such step.
    pub fn roles(&self, step: usize) -> Vec<Role> {
        (0..self.nodes).map(|node| self.role(step, node)).collect()
    }

    /// How many inputs the value of `node` sums up before step `step`. Complexity: O(1).
    ///
    /// # Panics
    /// Where there is no such node, or `step` is larger than the number of steps.
    pub fn inputs_held(&self, step: usize, node: usize) -> usize {
        let position = self.position_of(node);
        if step == self.steps() {
            return self.nodes;
        }
        let dimension = match self.phase(step) {
            Phase::FoldIn => return 1,
            _ if position >= self.core() => return 1,
            Phase::Exchange(dimension) => dimension,
            Phase::FoldOut => return self.nodes,
        };
        let block = 1 << dimension;
        let start = position & !(block - 1);
        block + self.extras().clamp(start, start + block) - start
    }

    /// How many inputs, other than the watcher's own, are in the one message by which `watcher` hears of the input of `source`. What a node hears
    /// are sums over disjoint sets of inputs, so there is exactly one such message; `None` where both are the same node. Complexity: O(1).
    ///
    /// # Panics
    /// Where there is no such node.
    pub fn heard_among(&self, source: usize, watcher: usize) -> Option<usize> {
        let (source, watcher, core) = (self.position_of(source), self.position_of(watcher), self.core());
        if source == watcher {
            return None;
        }
        if watcher >= core {
            // An extra hears nothing but the total.
            return Some(self.nodes - 1);
        }
        let differing = (source % core) ^ watcher;
        if differing == 0 {
            // The watcher's own extra folds in alone.
            return Some(1);
        }
        let dimension = differing.ilog2() as usize;
        let step = dimension + usize::from(self.extras() > 0);
        Some(self.inputs_held(step, self.node_at(watcher ^ (1 << dimension))))
    }

    /// The matrix of step `step` as a weighted mean of the means that the nodes hold. Complexity: O(nodes).
    ///
    /// # Panics
    /// Where there is no such step.
    pub fn matrix(&self, step: usize) -> MixingMatrix {
        let mut offsets = Vec::with_capacity(self.nodes + 1);
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        offsets.push(0);
        for node in 0..self.nodes {
            match self.role(step, node) {
                Role::Idle | Role::SendTo(_) | Role::GiveTo(_) => {
                    columns.push(node as u32);
                    values.push(1.0);
                }
                Role::Adopt(partner) => {
                    columns.push(partner as u32);
                    values.push(1.0);
                }
                Role::ReceiveFrom(partner) | Role::Exchange(partner) => {
                    let own = self.inputs_held(step, node) as f64;
                    let heard = self.inputs_held(step, partner) as f64;
                    let mut pair = [(node, own / (own + heard)), (partner, heard / (own + heard))];
                    pair.sort_unstable_by_key(|&(column, _)| column);
                    columns.extend(pair.iter().map(|&(column, _)| column as u32));
                    values.extend(pair.iter().map(|&(_, value)| value));
                }
            }
            offsets.push(columns.len());
        }
        MixingMatrix::new(offsets, columns, values).expect("rows are means with weights that sum to one")
    }

    fn core(&self) -> usize {
        1 << self.dimensions
    }

    fn phase(&self, step: usize) -> Phase {
        assert!(step < self.steps(), "step {step} of a plan of {} steps", self.steps());
        let folds = usize::from(self.extras() > 0);
        match step.checked_sub(folds) {
            None => Phase::FoldIn,
            Some(dimension) if dimension < self.dimensions => Phase::Exchange(dimension),
            Some(_) => Phase::FoldOut,
        }
    }

    fn node_at(&self, position: usize) -> usize {
        self.order.as_ref().map_or(position, |order| order.node_at[position] as usize)
    }

    fn position_of(&self, node: usize) -> usize {
        assert!(node < self.nodes, "node {node} of a plan for {} nodes", self.nodes);
        self.order.as_ref().map_or(node, |order| order.position_of[node] as usize)
    }
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    FoldIn,
    Exchange(usize),
    FoldOut,
}

/// Runs one round on the values of all nodes: afterwards every node holds the same bits, the mean.
///
/// This is the reference for drivers that do the same by messages.
///
/// # Panics
/// Where the number of values is not that of the plan, or their lengths differ.
pub fn average(plan: &Plan, values: &mut [Vec<f32>]) {
    assert_eq!(values.len(), plan.nodes(), "one value per node");
    for step in 0..plan.steps() {
        if matches!(plan.phase(step), Phase::FoldOut) {
            divide(plan, values);
        }
        let before = values.to_vec();
        for (node, value) in values.iter_mut().enumerate() {
            match plan.role(step, node) {
                Role::Idle | Role::SendTo(_) | Role::GiveTo(_) => {}
                Role::Adopt(partner) => value.clone_from(&before[partner]),
                Role::ReceiveFrom(partner) | Role::Exchange(partner) => add(value, &before[partner]),
            }
        }
    }
    if plan.extras() == 0 {
        divide(plan, values);
    }
}

fn add(sum: &mut [f32], other: &[f32]) {
    assert_eq!(sum.len(), other.len(), "values of one length");
    sum.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
}

/// Turns sums into means; the extras still hold their inputs, which they drop in the next step.
fn divide(plan: &Plan, values: &mut [Vec<f32>]) {
    let count = plan.nodes() as f32;
    values.iter_mut().flatten().for_each(|value| *value /= count);
}

#[cfg(test)]
mod tests;

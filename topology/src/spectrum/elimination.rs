//! Sparse symmetric elimination without fill to speak of: rings, paths, trees, thin grids and road-like networks.
//!
//! `P M Pᵀ = L D Lᵀ` for a positive definite `M`, next pivot always a node with fewest neighbours left (minimum
//! degree: George and Liu, "The evolution of the minimum degree ordering algorithm", 1989). On expanders fill
//! explodes; there the elimination stops early and says so.
//!
//! Invariant: a factor exists only if all pivots are positive, so its existence proves that `M` is definite.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::operator::Operator;

/// Most neighbours that a pivot may have.
const WIDEST: usize = 32;

/// Most entries of the factor, per entry of the matrix.
const FILL: usize = 8;

/// The matrix to factor: `sign · B + shift · I`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shifted {
    pub(super) sign: f64,
    pub(super) shift: f64,
}

/// Why there is no factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    /// Too many entries.
    Fill,
    /// A pivot that is not positive.
    Indefinite,
}

/// `L` and `D`, in the order of elimination.
pub(super) struct Factor {
    order: Vec<u32>,
    offsets: Vec<usize>,
    columns: Vec<u32>,
    factors: Vec<f64>,
    pivots: Vec<f64>,
}

impl Factor {
    /// Eliminates all nodes of `sign · B + shift · I`.
    pub(super) fn new(operator: &Operator<'_>, shifted: Shifted) -> Result<Self, Stopped> {
        let nodes = operator.len();
        let mut rest = Remaining::new(operator, shifted);
        let limit = FILL * (operator.entries() + nodes);
        let mut factor = Self {
            order: Vec::with_capacity(nodes),
            offsets: vec![0],
            columns: Vec::new(),
            factors: Vec::new(),
            pivots: Vec::with_capacity(nodes),
        };
        while let Some(node) = rest.next() {
            let row = std::mem::take(&mut rest.rows[node]);
            let pivot = rest.diagonal[node];
            if pivot.is_nan() || pivot <= 0.0 {
                return Err(Stopped::Indefinite);
            }
            if row.len() > WIDEST || factor.columns.len() + row.len() > limit {
                return Err(Stopped::Fill);
            }
            rest.eliminate(node, &row, pivot);
            factor.order.push(node as u32);
            factor.pivots.push(pivot);
            factor.columns.extend(row.iter().map(|&(column, _)| column));
            factor.factors.extend(row.iter().map(|&(_, value)| value / pivot));
            factor.offsets.push(factor.columns.len());
        }
        Ok(factor)
    }

    /// Replaces `x` by the solution of `M y = x`.
    pub(super) fn solve(&self, x: &mut [f64]) {
        for (at, &node) in self.order.iter().enumerate() {
            let own = x[node as usize];
            for (column, factor) in self.row(at) {
                x[column] -= factor * own;
            }
        }
        for (at, &node) in self.order.iter().enumerate().rev() {
            let later: f64 = self.row(at).map(|(column, factor)| factor * x[column]).sum();
            x[node as usize] = x[node as usize] / self.pivots[at] - later;
        }
    }

    fn row(&self, at: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.offsets[at]..self.offsets[at + 1];
        self.columns[range.clone()].iter().zip(&self.factors[range]).map(|(&column, &l)| (column as usize, l))
    }
}

/// What is left to eliminate.
struct Remaining {
    /// Entries beside the diagonal, by column.
    rows: Vec<Vec<(u32, f64)>>,
    diagonal: Vec<f64>,
    eliminated: Vec<bool>,
    /// Nodes by number of neighbours; outdated entries are skipped.
    queue: BinaryHeap<Reverse<(u32, u32)>>,
}

impl Remaining {
    fn new(operator: &Operator<'_>, shifted: Shifted) -> Self {
        let nodes = operator.len();
        let mut rows = Vec::with_capacity(nodes);
        let mut diagonal = Vec::with_capacity(nodes);
        for node in 0..nodes {
            let mut row = Vec::new();
            let own = operator.entries_of_row(node, |column, value| row.push((column, shifted.sign * value)));
            diagonal.push(shifted.sign * own + shifted.shift);
            rows.push(row);
        }
        let queue =
            rows.iter().enumerate().map(|(node, row)| Reverse((row.len() as u32, node as u32))).collect();
        Self { rows, diagonal, eliminated: vec![false; nodes], queue }
    }

    fn next(&mut self) -> Option<usize> {
        while let Some(Reverse((degree, node))) = self.queue.pop() {
            let node = node as usize;
            if !self.eliminated[node] && self.rows[node].len() == degree as usize {
                self.eliminated[node] = true;
                return Some(node);
            }
        }
        None
    }

    /// Takes `node` out: its neighbours become neighbours of each other.
    fn eliminate(&mut self, node: usize, row: &[(u32, f64)], pivot: f64) {
        for &(neighbour, value) in row {
            let factor = value / pivot;
            self.diagonal[neighbour as usize] -= factor * value;
            let list = &mut self.rows[neighbour as usize];
            let merged = merge(list, row, (node as u32, neighbour), factor);
            *list = merged;
            self.queue.push(Reverse((list.len() as u32, neighbour)));
        }
    }
}

/// `list − factor · row`, both sorted by column, without the columns in `without`.
fn merge(list: &[(u32, f64)], row: &[(u32, f64)], without: (u32, u32), factor: f64) -> Vec<(u32, f64)> {
    let mut merged = Vec::with_capacity(list.len() + row.len());
    let (mut i, mut j) = (0, 0);
    while i < list.len() || j < row.len() {
        let left = list.get(i).map_or(u32::MAX, |entry| entry.0);
        let right = row.get(j).map_or(u32::MAX, |entry| entry.0);
        let column = left.min(right);
        let mut value = 0.0;
        if left == column {
            value += list[i].1;
            i += 1;
        }
        if right == column {
            value -= factor * row[j].1;
            j += 1;
        }
        if column != without.0 && column != without.1 {
            merged.push((column, value));
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;

    fn grid(side: u32) -> Graph {
        let node = |row: u32, column: u32| row * side + column;
        let across = (0..side).flat_map(|r| (1..side).map(move |c| (node(r, c - 1), node(r, c))));
        let down = (1..side).flat_map(|r| (0..side).map(move |c| (node(r - 1, c), node(r, c))));
        Graph::from_edges((side * side) as usize, &across.chain(down).collect::<Vec<_>>()).unwrap().0
    }

    #[test]
    fn a_solution_solves() {
        let graph = grid(9);
        let operator = Operator::Laplacian(&graph);
        let factor = Factor::new(&operator, Shifted { sign: 1.0, shift: 0.01 }).ok().unwrap();
        let wanted: Vec<f64> = (0..81).map(|i| f64::from(i * i % 17) - 8.0).collect();
        let mut x = wanted.clone();
        factor.solve(&mut x);
        let mut image = vec![0.0; 81];
        operator.apply(&x, &mut image);
        assert!((0..81).all(|i| (image[i] + 0.01 * x[i] - wanted[i]).abs() < 1e-10));
    }

    /// The Laplacian of a grid has its largest eigenvalue below 8, so 8 − L is definite and 7 − L is not (on 9×9 the
    /// largest is 4 + 4 cos(π/9) = 7.76).
    #[test]
    fn a_factor_exists_only_of_a_definite_matrix() {
        let graph = grid(9);
        let operator = Operator::Laplacian(&graph);
        assert!(Factor::new(&operator, Shifted { sign: -1.0, shift: 8.0 }).is_ok());
        let stopped = Factor::new(&operator, Shifted { sign: -1.0, shift: 7.7 }).err();
        assert_eq!(stopped, Some(Stopped::Indefinite));
    }

    #[test]
    fn elimination_gives_up_where_it_fills_in() {
        let edges: Vec<(u32, u32)> = (0..60).flat_map(|u| (0..u).map(move |v| (u, v))).collect();
        let graph = Graph::from_edges(60, &edges).unwrap().0;
        let stopped = Factor::new(&Operator::Laplacian(&graph), Shifted { sign: 1.0, shift: 1.0 }).err();
        assert_eq!(stopped, Some(Stopped::Fill));
    }
}

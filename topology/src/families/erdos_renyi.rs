//! G(n, p): every pair joined independently with the same probability.

use super::Edges;
use super::pairs::{Triangle, count, picked};
use crate::stream::Stream;

/// Expected time O(nodes + edges).
pub(super) fn erdos_renyi(nodes: usize, p: f64, stream: &mut Stream) -> Edges {
    let mut triangle = Triangle::default();
    picked(count(nodes), p, stream).map(|position| triangle.pair(position)).collect()
}

//! Least stress by stochastic gradient descent: J. X. Zheng, S. Pawar, D. F. M. Goodman, "Graph drawing by
//! stochastic gradient descent", IEEE TVCG 25 (2018).
//!
//! Stress is Σ d⁻² (|x_u − x_v| − d)² over pairs with graph distance d. Each step moves one pair towards its
//! distance; the step size falls geometrically. Large graphs use the pairs with a few pivots and the edges only.

use super::Point;
use crate::distance::UNREACHABLE;
use crate::graph::Graph;
use crate::stream::Stream;

/// Nodes up to which all pairs are used.
const ALL_PAIRS: usize = 2500;

/// Pivots above that.
const PIVOTS: usize = 60;

/// Passes over the pairs.
const PASSES: usize = 40;

/// A pair and the distance it should have.
struct Term {
    u: u32,
    v: u32,
    distance: f64,
}

pub(super) fn least_stress(graph: &Graph) -> Vec<Point> {
    let mut stream = Stream::new("layout", 0, 0);
    let spread = (graph.nodes() as f64).sqrt();
    let mut places: Vec<Point> =
        (0..graph.nodes()).map(|_| (stream.unit() * spread, stream.unit() * spread)).collect();
    let mut terms = if graph.nodes() <= ALL_PAIRS { all_pairs(graph) } else { with_pivots(graph) };
    if terms.is_empty() {
        return places;
    }
    stream.shuffle(&mut terms);
    let longest = terms.iter().map(|term| term.distance).fold(1.0, f64::max);
    let (first_step, last_step): (f64, f64) = (longest * longest, 0.03);
    let decay = libm::log(first_step / last_step) / (PASSES - 1) as f64;
    for pass in 0..PASSES {
        let step = first_step * libm::exp(-decay * pass as f64);
        terms.iter().for_each(|term| relax(&mut places, term, step));
    }
    places
}

fn relax(places: &mut [Point], term: &Term, step: f64) {
    let (u, v) = (places[term.u as usize], places[term.v as usize]);
    let (dx, dy) = (u.0 - v.0, u.1 - v.1);
    let length = (dx * dx + dy * dy).sqrt();
    if length < 1e-12 {
        return;
    }
    let share = (step / (term.distance * term.distance)).min(1.0);
    let factor = share * (length - term.distance) / (2.0 * length);
    places[term.u as usize] = (u.0 - factor * dx, u.1 - factor * dy);
    places[term.v as usize] = (v.0 + factor * dx, v.1 + factor * dy);
}

fn all_pairs(graph: &Graph) -> Vec<Term> {
    let nodes = graph.nodes();
    let mut terms = Vec::with_capacity(nodes * nodes.saturating_sub(1) / 2);
    for u in 0..nodes {
        let distances = graph.distances_from(u);
        terms.extend((u + 1..nodes).map(|v| term(u, v, distances[v], nodes)));
    }
    terms
}

/// Pivots are spread out: each is the node farthest from those before.
fn with_pivots(graph: &Graph) -> Vec<Term> {
    let nodes = graph.nodes();
    let mut terms: Vec<Term> =
        graph.iter_edges().map(|(u, v)| term(u as usize, v as usize, 1, nodes)).collect();
    let mut nearest = vec![u32::MAX; nodes];
    let mut pivot = 0;
    for _ in 0..PIVOTS.min(nodes) {
        let distances = graph.distances_from(pivot);
        terms.extend((0..nodes).filter(|&v| v != pivot).map(|v| term(pivot, v, distances[v], nodes)));
        for (known, distance) in nearest.iter_mut().zip(&distances) {
            *known = (*known).min(*distance);
        }
        pivot = (0..nodes).max_by_key(|&v| (nearest[v], nodes - v)).unwrap_or(0);
    }
    terms
}

fn term(u: usize, v: usize, hops: u32, nodes: usize) -> Term {
    // Components that cannot reach each other stand apart, but not so far that they shrink to dots.
    let apart = 2.0 + (nodes as f64).sqrt() / 2.0;
    let distance = if hops == UNREACHABLE { apart } else { f64::from(hops) };
    Term { u: u as u32, v: v as u32, distance }
}

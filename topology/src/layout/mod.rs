//! Where the nodes of a drawing stand: natural places for families that have them, least stress for the others.
//!
//! Deterministic: same graph and spec, same places (`libm` and a named stream).

mod natural;
mod stress;
mod tree;

use crate::families::Family;
use crate::graph::Graph;
use crate::spec::{Built, Spec};

/// A place in the plane; only proportions matter.
pub type Point = (f64, f64);

/// Places for the graph that `spec` built: the natural ones of its family, or [`least_stress`].
pub fn of_spec(spec: &Spec, built: &Built) -> Vec<Point> {
    let whole = built.left_out == 0;
    let natural = spec.family().filter(|_| whole).and_then(|family| natural(family, spec.seed(), built));
    natural.unwrap_or_else(|| least_stress(&built.graph))
}

/// Places such that distances in the plane are close to distances in the graph (stress, solved by stochastic
/// gradient descent: J. X. Zheng, S. Pawar, D. F. M. Goodman, 2018). Turned so that the longer side lies flat.
///
/// Complexity: O(n²) up to 2,500 nodes, above that O(pivots · (nodes + edges)).
pub fn least_stress(graph: &Graph) -> Vec<Point> {
    let mut places = stress::least_stress(graph);
    lay_flat(&mut places);
    places
}

fn natural(family: &Family, seed: u64, built: &Built) -> Option<Vec<Point>> {
    Some(match *family {
        Family::Ring { nodes }
        | Family::Exponential { nodes }
        | Family::Complete { nodes }
        | Family::Harary { nodes, .. }
        | Family::WattsStrogatz { nodes, .. } => natural::circle(nodes),
        Family::Star { nodes } => natural::star(nodes),
        Family::Path { nodes } => natural::path(nodes),
        Family::Grid { rows, columns } => natural::grid(rows, columns),
        Family::Torus { rows, columns } => natural::torus(rows, columns),
        Family::Hypercube { nodes } => natural::hypercube(nodes),
        Family::Tree { .. } => tree::radial(&built.graph),
        Family::Cliques { nodes, clique } => natural::cliques(nodes, clique),
        Family::Geometric { nodes, .. } => crate::families::geometric_points(nodes, seed, built.attempts - 1),
        _ => return None,
    })
}

/// Turns the places so that the direction of largest spread is horizontal.
fn lay_flat(places: &mut [Point]) {
    let count = places.len() as f64;
    let (sum_x, sum_y) = places.iter().fold((0.0, 0.0), |(sx, sy), (x, y)| (sx + x, sy + y));
    let (mean_x, mean_y) = (sum_x / count, sum_y / count);
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for place in &mut *places {
        place.0 -= mean_x;
        place.1 -= mean_y;
        xx += place.0 * place.0;
        xy += place.0 * place.1;
        yy += place.1 * place.1;
    }
    let angle = 0.5 * libm::atan2(2.0 * xy, xx - yy);
    let (sin, cos) = (libm::sin(angle), libm::cos(angle));
    for (x, y) in places {
        (*x, *y) = (cos * *x + sin * *y, cos * *y - sin * *x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_gets_one_finite_place_per_node_and_the_same_again() {
        for entry in crate::CATALOGUE.iter().filter(|entry| entry.name != "file") {
            let spec: Spec = entry.example.parse().unwrap();
            let built = spec.build().unwrap();
            let places = of_spec(&spec, &built);
            assert_eq!(places.len(), built.graph.nodes(), "{}", entry.name);
            assert!(places.iter().all(|(x, y)| x.is_finite() && y.is_finite()), "{}", entry.name);
            assert_eq!(places, of_spec(&spec, &built), "{}", entry.name);
        }
    }

    #[test]
    fn no_two_nodes_stand_on_the_same_spot() {
        for entry in crate::CATALOGUE.iter().filter(|entry| entry.name != "file" && entry.name != "grid") {
            let spec: Spec = entry.example.parse().unwrap();
            let mut places = of_spec(&spec, &spec.build().unwrap());
            places.sort_by(|a, b| a.partial_cmp(b).unwrap());
            let apart = places.windows(2).all(|p| (p[0].0 - p[1].0).abs() + (p[0].1 - p[1].1).abs() > 1e-9);
            assert!(apart, "{}", entry.name);
        }
    }

    /// A path of three has a drawing without stress: both ends at distance 1 of the middle, 2 of each other.
    #[test]
    fn a_small_path_is_drawn_straight() {
        let path = Graph::from_edges(3, &[(0, 1), (1, 2)]).unwrap().0;
        let places = least_stress(&path);
        let distance = |a: usize, b: usize| libm::hypot(places[a].0 - places[b].0, places[a].1 - places[b].1);
        for (a, b, expected) in [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 2.0)] {
            assert!((distance(a, b) - expected).abs() < 0.05, "{a} {b}: {}", distance(a, b));
        }
    }

    #[test]
    fn graphs_that_are_not_connected_and_single_nodes_are_laid_out_too() {
        let parts = Graph::from_edges(5, &[(0, 1), (2, 3)]).unwrap().0;
        assert!(least_stress(&parts).iter().all(|(x, y)| x.is_finite() && y.is_finite()));
        assert_eq!(least_stress(&Graph::from_edges(1, &[]).unwrap().0).len(), 1);
    }
}

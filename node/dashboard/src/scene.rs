//! Where nodes stand in the picture, and which edges are drawn.

use protocol::config::Config;
use serde::Serialize;
use topology::layout;

/// Nodes up to which a graph is laid out by stress; that costs O(n²).
const MOST_PLACED: usize = 400;
/// Edges up to which they are drawn; more are a grey disc.
const MOST_EDGES: usize = 3000;

/// Places in [-1, 1]², and edges. Empty where the page finds places by itself: algorithms without a graph, and very large graphs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Scene {
    /// `(x, y)` of each node.
    pub places: Vec<(f32, f32)>,
    /// Pairs that may speak to each other.
    pub edges: Vec<(u32, u32)>,
}

impl Scene {
    /// The picture of a configuration's graph. One that cannot be built is no picture: the run itself reports it.
    pub fn of(config: &Config) -> Self {
        if !config.uses_graph() {
            return Self::default();
        }
        let Ok(spec) = config.graph_spec() else { return Self::default() };
        let Ok(built) = spec.build() else { return Self::default() };
        let edges =
            if built.graph.edges() <= MOST_EDGES { built.graph.iter_edges().collect() } else { Vec::new() };
        let places = if built.graph.nodes() <= MOST_PLACED {
            fitted(&layout::of_spec(&spec, &built))
        } else {
            Vec::new()
        };
        Self { places, edges }
    }
}

/// Moves and scales places into [-1, 1]², with proportions kept.
fn fitted(places: &[layout::Point]) -> Vec<(f32, f32)> {
    let range = |of: fn(&layout::Point) -> f64| {
        let values = places.iter().map(of);
        let (low, high) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        ((low + high) / 2.0, (high - low) / 2.0)
    };
    let ((x, width), (y, height)) = (range(|place| place.0), range(|place| place.1));
    let size = width.max(height).max(f64::MIN_POSITIVE);
    places.iter().map(|place| (((place.0 - x) / size) as f32, ((place.1 - y) / size) as f32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::config::Layer;

    fn scene(settings: &[&str]) -> Scene {
        Scene::of(&Config::from_layers([Layer::from_flags("", settings).unwrap()]).unwrap())
    }

    #[test]
    fn a_graph_is_drawn_within_the_unit_square_and_rounds_have_none() {
        let ring = scene(&["algorithm.kind=gossip", "topology=ring", "nodes=12"]);
        assert_eq!((ring.places.len(), ring.edges.len()), (12, 12));
        assert!(ring.places.iter().all(|(x, y)| x.abs() <= 1.0 && y.abs() <= 1.0));
        assert_eq!(scene(&["nodes=12"]), Scene::default());
    }
}

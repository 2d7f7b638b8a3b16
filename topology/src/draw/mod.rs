//! A graph as an SVG picture, for up to some thousands of nodes: sizes and opacity follow the number of nodes and
//! edges, colours work on light and dark pages, every node has a tooltip.

mod colour;
mod legend;
mod marks;

pub use colour::{Scale, colour_at};

use crate::graph::Graph;
use crate::layout::{Point, least_stress};
use crate::svg::{Element, Svg};
use colour::Range;

/// Width of a drawing in pixels.
const WIDTH: f64 = 960.0;

/// Empty border around the nodes, with room for a name below the lowest.
const MARGIN: f64 = 36.0;

const STYLE: &str = "\
.bg{fill:#fff}.edge{fill:none;stroke:#3b4a63}.node{fill:#2f6fde;stroke:#fff}.unknown{fill:#b5bcc8}\
.mark{fill:none;stroke:#e4572e}.name{fill:#1c2430}.inside{fill:#fff}\
.halo{fill:#1c2430;stroke:#fff;paint-order:stroke;stroke-linejoin:round}\
text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}\
@media (prefers-color-scheme:dark){.bg{fill:#12161d}.edge{stroke:#a9b8d0}.node{fill:#6ea3ff;stroke:#12161d}\
.unknown{fill:#5b6472}.name{fill:#e6ebf3}.inside{fill:#0d1420}.halo{fill:#e6ebf3;stroke:#12161d}.mark{stroke:#ff9169}}";

/// A picture of a graph in the making.
///
/// ```
/// let graph = "karate".parse::<topology::Spec>()?.build()?.graph;
/// let picture = topology::Drawing::new(&graph).title("Karate club").highlight(0).to_svg();
/// assert!(picture.starts_with("<svg"));
/// # Ok::<(), topology::SpecError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Drawing<'a> {
    graph: &'a Graph,
    places: Option<Vec<Point>>,
    title: String,
    colouring: Option<Colouring<'a>>,
    highlighted: Option<usize>,
}

/// Colours for the nodes: a value each, and what the values are.
#[derive(Debug, Clone, Copy)]
pub struct Colouring<'a> {
    /// A value per node; one that is not finite (or not positive on a logarithmic scale) is drawn grey.
    pub values: &'a [f64],
    /// The values at the two ends of the scale, where they are given; a value above the second stretches it. Else the least and the largest that are shown.
    pub ends: Option<(f64, f64)>,
    /// What the values are, for the legend.
    pub legend: &'a str,
    /// How values become colours.
    pub scale: Scale,
}

impl<'a> Drawing<'a> {
    /// A plain drawing.
    pub fn new(graph: &'a Graph) -> Self {
        Self { graph, places: None, title: "Graph".to_owned(), colouring: None, highlighted: None }
    }

    /// Sets the places of the nodes (see [`crate::layout::of_spec`]); the default is least stress.
    ///
    /// # Panics
    /// Where the number of places is not the number of nodes.
    #[must_use]
    pub fn places(mut self, places: Vec<Point>) -> Self {
        assert_eq!(places.len(), self.graph.nodes(), "one place per node");
        self.places = Some(places);
        self
    }

    /// Sets the title.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Colours the nodes by a value and adds a legend.
    ///
    /// # Panics
    /// Where the number of values is not the number of nodes.
    #[must_use]
    pub fn colour(mut self, colouring: Colouring<'a>) -> Self {
        assert_eq!(colouring.values.len(), self.graph.nodes(), "one value per node");
        self.colouring = Some(colouring);
        self
    }

    /// Marks a node with a ring, for example the one from which the values are seen.
    #[must_use]
    pub fn highlight(mut self, node: usize) -> Self {
        self.highlighted = Some(node);
        self
    }

    /// The picture.
    pub fn to_svg(&self) -> String {
        let places = self.places.clone().unwrap_or_else(|| least_stress(self.graph));
        let legend_height = if self.colouring.is_some() { legend::HEIGHT } else { 0.0 };
        let canvas = Canvas::fit(&places);
        let places: Vec<Point> = places.into_iter().map(|place| canvas.place(place)).collect();
        let height = canvas.height + legend_height;
        let mut svg = Svg::new(WIDTH, height).title(&self.title).description(self.description()).style(STYLE);
        let background = Element::new("rect").attribute("class", "bg");
        svg.add(background.number("width", WIDTH).number("height", height));
        marks::Marks::new(self, &places, canvas.height).draw(&mut svg);
        if let Some(colouring) = &self.colouring {
            svg.add(legend::legend(colouring, &Range::of(colouring), canvas.height, WIDTH));
        }
        svg.render()
    }

    fn description(&self) -> String {
        let (nodes, edges) = (self.graph.nodes(), self.graph.edges());
        let mut text = format!("An undirected graph with {nodes} nodes and {edges} edges.");
        if let Some(colouring) = &self.colouring {
            let range = Range::of(colouring);
            text.push_str(&format!(
                " Nodes are coloured by {}, from {} to {}.",
                colouring.legend,
                colour::short(range.low),
                colour::short(range.high)
            ));
        }
        if let Some(node) = self.highlighted {
            text.push_str(&format!(" Node {} is marked.", self.graph.label(node)));
        }
        text
    }
}

/// The frame into which the places are scaled.
struct Canvas {
    height: f64,
    scale: f64,
    from: Point,
    to: Point,
}

impl Canvas {
    /// Keeps proportions; flat drawings get a lower frame.
    fn fit(places: &[Point]) -> Self {
        let bounds = |pick: fn(&Point) -> f64| {
            let values = || places.iter().map(pick);
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
        };
        let ((left, right), (top, bottom)) = (bounds(|p| p.0), bounds(|p| p.1));
        let (wide, high) = ((right - left).max(1e-9), (bottom - top).max(1e-9));
        let inner = WIDTH - 2.0 * MARGIN;
        let height = (high / wide * inner + 2.0 * MARGIN).clamp(160.0, WIDTH);
        let scale = (inner / wide).min((height - 2.0 * MARGIN) / high);
        let middle = ((left + right) / 2.0, (top + bottom) / 2.0);
        Self { height, scale, from: middle, to: (WIDTH / 2.0, height / 2.0) }
    }

    fn place(&self, (x, y): Point) -> Point {
        (self.to.0 + (x - self.from.0) * self.scale, self.to.1 + (y - self.from.1) * self.scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn karate() -> Graph {
        crate::Embedded::Karate.graph()
    }

    #[test]
    fn a_drawing_has_a_mark_for_every_node_and_edge_and_says_what_it_is() {
        let picture = Drawing::new(&karate()).title("Karate <club>").to_svg();
        assert_eq!(picture.matches("<circle").count(), 34);
        assert_eq!(picture.matches('L').count(), 78, "one line per edge");
        assert!(picture.contains("<title>Karate &lt;club&gt;</title>"));
        assert!(picture.contains("34 nodes and 78 edges"));
        assert!(picture.contains("prefers-color-scheme:dark"));
    }

    #[test]
    fn every_node_stays_inside_the_frame() {
        for text in ["path:5", "grid:2x40", "star:9", "karate", "path:1"] {
            let spec: crate::Spec = text.parse().unwrap();
            let built = spec.build().unwrap();
            let places = crate::layout::of_spec(&spec, &built);
            let canvas = Canvas::fit(&places);
            for place in places {
                let (x, y) = canvas.place(place);
                assert!((0.0..=WIDTH).contains(&x) && (0.0..=canvas.height).contains(&y), "{text}: {x} {y}");
            }
        }
    }

    #[test]
    fn coloured_drawings_have_a_legend_and_survive_values_that_are_not_finite() {
        let graph = karate();
        let mut values: Vec<f64> = (0..34).map(|i| libm::exp(-f64::from(i))).collect();
        values[3] = f64::INFINITY;
        values[4] = f64::NAN;
        values[5] = 0.0;
        let colouring = Colouring {
            values: &values,
            ends: None,
            legend: "ε seen from node 0",
            scale: Scale::Logarithmic,
        };
        let picture = Drawing::new(&graph).colour(colouring).highlight(0).to_svg();
        assert!(picture.contains("ε seen from node 0") && picture.contains("linearGradient"));
        assert_eq!(picture.matches("class=\"unknown\"").count(), 4, "three nodes and the legend's key");
        assert!(picture.contains("class=\"mark\""));
        assert!(!picture.contains("NaN") && !picture.contains("inf"));
    }
}

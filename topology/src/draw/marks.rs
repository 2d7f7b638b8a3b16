//! The marks of a drawing: edges below, nodes above, names where there is room.

use std::fmt::Write;

use super::colour::{Range, colour_at, short};
use super::{Drawing, WIDTH};
use crate::layout::Point;
use crate::svg::{Element, Svg, number};

/// Edges drawn one by one, so that crossings darken; more are put together in as many paths.
const PATHS: usize = 8000;

/// Nodes up to which names are written.
const NAMED: usize = 60;

/// Nodes up to which the room between neighbours in the plane is measured.
const MEASURED: usize = 4000;

pub(super) struct Marks<'a> {
    drawing: &'a Drawing<'a>,
    places: &'a [Point],
    /// The radius of a node of mean degree.
    base_radius: f64,
}

impl<'a> Marks<'a> {
    pub(super) fn new(drawing: &'a Drawing<'a>, places: &'a [Point], canvas_height: f64) -> Self {
        let room = WIDTH * canvas_height / places.len() as f64;
        let by_area = (0.17 * room.sqrt()).clamp(1.7, 14.0);
        let by_spacing = median_gap(places).map_or(f64::INFINITY, |gap| (0.42 * gap).max(1.5));
        Self { drawing, places, base_radius: by_area.min(by_spacing) }
    }

    pub(super) fn draw(&self, svg: &mut Svg) {
        svg.add(self.edges());
        svg.add(self.nodes());
        if let Some(node) = self.drawing.highlighted {
            let ring = self.circle(node, self.radius(node) + 4.5);
            svg.add(ring.attribute("class", "mark").attribute("stroke-width", "3"));
        }
        if self.drawing.graph.nodes() <= NAMED {
            svg.add(self.names());
        }
    }

    fn edges(&self) -> Element {
        let count = self.drawing.graph.edges();
        // The length of all edges together, in widths of the frame, says how much ink there is.
        let ink: f64 = self.drawing.graph.iter_edges().map(|(u, v)| self.distance(u, v)).sum::<f64>() / WIDTH;
        let opacity = (9.0 / (ink + 1.0).sqrt()).clamp(0.08, 0.7);
        let width = (2.1 - 0.2 * libm::log1p(ink)).clamp(0.5, 1.8);
        let mut group =
            Element::group("edge").number("stroke-width", width).number("stroke-opacity", opacity);
        let edges: Vec<(u32, u32)> = self.drawing.graph.iter_edges().collect();
        for chunk in edges.chunks(count.div_ceil(PATHS).max(1)) {
            let mut path = String::new();
            for &(u, v) in chunk {
                let (from, to) = (self.places[u as usize], self.places[v as usize]);
                let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(short_number);
                write!(path, "M{x1} {y1}L{x2} {y2}").expect("a string takes everything");
            }
            group.push(Element::new("path").attribute("d", path));
        }
        group
    }

    fn nodes(&self) -> Element {
        let range = self.drawing.colouring.as_ref().map(Range::of);
        let border = (self.base_radius / 5.0).clamp(0.3, 1.5);
        let mut group = Element::group("node").number("stroke-width", border);
        // Small nodes last, so that hubs do not hide them.
        let mut order: Vec<usize> = (0..self.drawing.graph.nodes()).collect();
        order.sort_by_key(|&node| std::cmp::Reverse(self.drawing.graph.degree(node)));
        for node in order {
            let mut circle = self.circle(node, self.radius(node));
            let mut tooltip =
                format!("{}: degree {}", self.drawing.graph.label(node), self.drawing.graph.degree(node));
            if let (Some(range), Some(colouring)) = (&range, &self.drawing.colouring) {
                let value = colouring.values[node];
                circle = match range.share(value) {
                    Some(share) => circle.attribute("fill", colour_at(share)),
                    None => circle.attribute("class", "unknown"),
                };
                let shown = if value.is_finite() { short(value) } else { "none".to_owned() };
                write!(tooltip, ", {} {shown}", colouring.legend).expect("a string takes everything");
            }
            group.push(circle.child(Element::new("title").text(&tooltip)));
        }
        group
    }

    fn names(&self) -> Element {
        let graph = self.drawing.graph;
        let longest = (0..graph.nodes()).map(|node| graph.label(node).chars().count()).max().unwrap_or(0);
        let fits_inside = longest <= 2 && self.base_radius >= 7.0 && self.drawing.colouring.is_none();
        let size = if fits_inside { (self.base_radius * 1.05).clamp(8.0, 13.0) } else { 11.0 };
        let class = if fits_inside { "inside" } else { "halo" };
        let mut group = Element::group(class).number("font-size", size).attribute("text-anchor", "middle");
        if !fits_inside {
            group = group.attribute("stroke-width", "3");
        }
        for node in 0..graph.nodes() {
            let (x, y) = self.places[node];
            let below = if fits_inside { 0.36 * size } else { self.radius(node) + 11.0 };
            group.push(Element::label(x, y + below, &graph.label(node)).attribute("pointer-events", "none"));
        }
        group
    }

    fn circle(&self, node: usize, radius: f64) -> Element {
        let (x, y) = self.places[node];
        Element::new("circle").number("cx", x).number("cy", y).number("r", radius)
    }

    /// Hubs are larger, though by far less than their degree.
    fn radius(&self, node: usize) -> f64 {
        let graph = self.drawing.graph;
        let mean = 2.0 * graph.edges() as f64 / graph.nodes() as f64;
        let share = if mean > 0.0 { graph.degree(node) as f64 / mean } else { 1.0 };
        self.base_radius * libm::pow(share, 0.3).clamp(0.7, 1.8)
    }

    fn distance(&self, u: u32, v: u32) -> f64 {
        let (a, b) = (self.places[u as usize], self.places[v as usize]);
        libm::hypot(a.0 - b.0, a.1 - b.1)
    }
}

/// The median distance of a node to the one that stands nearest, where that is measured.
fn median_gap(places: &[Point]) -> Option<f64> {
    if !(2..=MEASURED).contains(&places.len()) {
        return None;
    }
    let squared = |a: Point, b: Point| (a.0 - b.0) * (a.0 - b.0) + (a.1 - b.1) * (a.1 - b.1);
    let nearest = |i: usize| {
        let others = places.iter().enumerate().filter(|&(j, _)| j != i);
        others.map(|(_, &place)| squared(places[i], place)).fold(f64::INFINITY, f64::min)
    };
    let mut gaps: Vec<f64> = (0..places.len()).map(nearest).collect();
    gaps.sort_by(f64::total_cmp);
    Some(gaps[gaps.len() / 2].sqrt())
}

/// One decimal is finer than a pixel, and shorter.
fn short_number(value: f64) -> String {
    number((value * 10.0).round() / 10.0)
}

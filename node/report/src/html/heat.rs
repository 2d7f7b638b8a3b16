//! All pairs at a glance: a row for each watcher, a column for each node that is watched, as in `murmur privacy pairwise`.

use maud::{Markup, html};
use topology::colour_at;
use topology::svg::{Element, Svg};

use super::sections::figure;
use crate::document::Report;
use crate::number::loss;

/// Cells in each direction at most; more nodes share one, which shows the largest of them.
const MOST_CELLS: usize = 128;
/// Different colours.
const LEVELS: usize = 32;
/// Nodes up to which each cell has a tooltip of its own.
const MOST_TOOLTIPS: usize = 40;

const SIZE: f64 = 520.0;
const MARGIN: f64 = 44.0;

/// The map of a swarm.
pub(super) fn map(report: &Report) -> Markup {
    let nodes = report.participants;
    let finite = || report.nodes.iter().flat_map(|node| &node.peers).map(|peer| peer.figure.epsilon);
    let most = finite().filter(|epsilon| epsilon.is_finite()).fold(0.0, f64::max);
    if most <= 0.0 || report.nodes.len() < 2 {
        return html! {};
    }
    // One scale for all reports of a budget: from nothing to all of it.
    let budget = report.nodes.first().and_then(|node| node.budget.epsilon);
    let most = budget.map_or(most, |budget| budget.max(most));
    let share = nodes.div_ceil(MOST_CELLS);
    let cells = nodes.div_ceil(share);
    let side = SIZE / cells as f64;
    let mut values = vec![f64::NAN; cells * cells];
    for node in &report.nodes {
        for peer in &node.peers {
            let cell = &mut values[(peer.index / share) * cells + node.index / share];
            *cell = cell.max(peer.figure.epsilon);
        }
    }
    let title = "What each node could have learnt about each other";
    let text = format!(
        "Rows: who watched; columns: about whom; brighter is more, from 0 to {} ε = {}{}. Analyses are in the tables below.",
        if budget == Some(most) { "the budget," } else { "the largest," },
        loss(most),
        if share > 1 {
            format!("; each cell stands for {share} × {share} pairs and shows the largest")
        } else {
            String::new()
        }
    );
    let mut svg = Svg::new(SIZE + MARGIN + 90.0, SIZE + MARGIN).title(title).description(&text);
    draw(&mut svg, &values, (cells, side, most));
    if nodes <= MOST_TOOLTIPS {
        tooltips(&mut svg, report, side);
    }
    labels(&mut svg, nodes);
    legend(&mut svg, most);
    figure(svg.render(), &text)
}

/// One path for each colour: a tenth of the size of a rectangle for each cell.
fn draw(svg: &mut Svg, values: &[f64], (cells, side, most): (usize, f64, f64)) {
    let number = topology::svg::number;
    for level in 0..LEVELS {
        let mut path = String::new();
        for (at, &value) in values.iter().enumerate() {
            let share =
                if value.is_finite() { value / most } else { f64::from(u8::from(value == f64::INFINITY)) };
            if !value.is_nan() && ((share * LEVELS as f64) as usize).min(LEVELS - 1) == level {
                let (x, y) = (MARGIN + (at % cells) as f64 * side, (at / cells) as f64 * side);
                path.push_str(&format!(
                    "M{} {}h{}v{}h-{}z",
                    number(x),
                    number(y),
                    number(side),
                    number(side),
                    number(side)
                ));
            }
        }
        if !path.is_empty() {
            let colour = colour_at((level as f64 + 0.5) / LEVELS as f64);
            svg.add(Element::new("path").attribute("d", path).attribute("fill", colour));
        }
    }
}

fn tooltips(svg: &mut Svg, report: &Report, side: f64) {
    for node in &report.nodes {
        for peer in &node.peers {
            let text = format!(
                "node {} about node {}: ε = {} ({})",
                peer.index,
                node.index,
                loss(peer.figure.epsilon),
                peer.figure.analysis
            );
            let cell = Element::new("rect")
                .number("x", MARGIN + node.index as f64 * side)
                .number("y", peer.index as f64 * side)
                .number("width", side)
                .number("height", side)
                .attribute("fill", "transparent");
            svg.add(cell.child(Element::new("title").text(&text)));
        }
    }
}

fn labels(svg: &mut Svg, nodes: usize) {
    let step = nodes.div_ceil(16).max(1);
    for node in (0..nodes).step_by(step) {
        let along = (node as f64 + 0.5) / nodes as f64 * SIZE;
        let name = node.to_string();
        svg.add(
            Element::label(MARGIN - 6.0, along + 4.0, &name)
                .attribute("class", "tick")
                .attribute("text-anchor", "end"),
        );
        svg.add(
            Element::label(MARGIN + along, SIZE + 16.0, &name)
                .attribute("class", "tick")
                .attribute("text-anchor", "middle"),
        );
    }
    svg.add(
        Element::label(MARGIN + SIZE / 2.0, SIZE + 36.0, "about whom")
            .attribute("class", "tick")
            .attribute("text-anchor", "middle"),
    );
}

fn legend(svg: &mut Svg, most: f64) {
    let (left, height) = (MARGIN + SIZE + 16.0, 200.0);
    for level in 0..LEVELS {
        let top = height * (1.0 - (level + 1) as f64 / LEVELS as f64);
        let bar = Element::new("rect")
            .number("x", left)
            .number("y", top)
            .number("width", 14.0)
            .number("height", height / LEVELS as f64 + 0.5);
        svg.add(bar.attribute("fill", colour_at((level as f64 + 0.5) / LEVELS as f64)));
    }
    svg.add(Element::label(left + 20.0, 11.0, &loss(most)).attribute("class", "tick"));
    svg.add(Element::label(left + 20.0, height, "ε = 0").attribute("class", "tick"));
}

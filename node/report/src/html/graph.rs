//! The swarm as a graph, coloured by ε.

use maud::{Markup, PreEscaped, html};
use topology::{Colouring, Drawing, Scale};

use crate::document::{NodeReport, Report};

/// Nodes up to which a picture of the graph is of use.
const MOST_DRAWN: usize = 1_000;

/// What each other node could have learnt about one.
pub(super) fn seen_from(report: &Report, node: &NodeReport) -> Markup {
    let mut values = vec![f64::NAN; report.participants];
    node.peers.iter().for_each(|peer| values[peer.index] = peer.figure.epsilon);
    let caption = format!(
        "Each node in the colour of the ε that it could have learnt about node {}, which is marked; analyses as in the table.",
        node.index
    );
    drawing(report, &values, Some(node.index), &caption)
}

/// What each node lost towards whoever learnt most about it.
pub(super) fn of_swarm(report: &Report) -> Markup {
    let mut values = vec![f64::NAN; report.participants];
    report.nodes.iter().for_each(|node| values[node.index] = node.worst.figure.epsilon);
    drawing(report, &values, None, "Each node in the colour of its worst ε; analyses as in the table.")
}

fn drawing(report: &Report, values: &[f64], marked: Option<usize>, caption: &str) -> Markup {
    let Some((graph, places)) = report.drawn.as_ref().filter(|_| report.participants <= MOST_DRAWN) else {
        return html! {};
    };
    // One scale for all reports of a budget: from nothing to all of it.
    let ends = report.nodes.first().and_then(|node| node.budget.epsilon).map(|budget| (0.0, budget));
    let ends = ends.or(Some((0.0, 0.0)));
    let colouring = Colouring { values, ends, legend: "ε", scale: Scale::Linear };
    let mut drawing =
        Drawing::new(graph).places(places.clone()).title("The swarm, coloured by ε").colour(colouring);
    if let Some(node) = marked {
        drawing = drawing.highlight(node);
    }
    html! { figure.graph { (PreEscaped(drawing.to_svg())) figcaption { (caption) } } }
}

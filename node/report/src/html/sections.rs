//! The parts of the page.

use maud::{Markup, PreEscaped, html};

use super::{chart, graph, heat};
use crate::document::{Figure, NodeReport, Report};
use crate::markdown::{budget, worst_name};
use crate::number::{given, loss, measured};
use crate::words;

/// Nodes up to which a page about all has a table of peers for each.
const MOST_TABLES: usize = 64;

pub(super) fn figures(report: &Report) -> Markup {
    let worst = worst_name(report);
    let any = report.colluding.as_ref().map(|any| (words::colluding(any), &any.figure));
    let mut rows = vec![(worst.as_str(), &report.worst.figure), ("mean over pairs", &report.mean)];
    rows.extend(any.as_ref().map(|(name, figure)| (name.as_str(), *figure)));
    rows.push((words::everybody(report), &report.local));
    html! {
        section id="figures" {
            h2 { "Figures" }
            table {
                caption { "What could have been learnt about " (words::unit(report.adjacency)) ", at δ = " (given(report.delta)) ". Losses are rounded up." }
                thead { tr { th scope="col" { "who watches" } th.n scope="col" { "ε" } th.n scope="col" { "μ²" } th scope="col" { "analysis" } } }
                tbody { @for (name, figure) in rows { tr { th scope="row" { (name) } (cells(figure)) } } }
            }
        }
    }
}

/// ε, μ² and analysis of a figure, as cells.
fn cells(figure: &Figure) -> Markup {
    html! { td.n { (loss(figure.epsilon)) } td.n { (loss(figure.mu2)) } td { code { (figure.analysis) } } }
}

pub(super) fn nodes(report: &Report) -> Markup {
    if let [one] = report.nodes.as_slice() {
        return html! {
            section {
                h2 { "Member by member: who could have learnt how much about " (words::name(one.index, &report.head)) }
                p { (one.label) ": " (words::counted(one.contributions, "contribution")) "; " (budget(&one.budget)) "." }
                (graph::seen_from(report, one))
                (by_distance(one))
                (peers(one, report))
            }
        };
    }
    let listed = report.nodes.iter().any(|node| !node.peers.is_empty());
    html! {
        section {
            h2 { "Node by node" }
            (graph::of_swarm(report))
            @if listed { (heat::map(report)) }
            div.scroll { table {
                caption { "What each node lost, and what is left of its budget." }
                thead { tr {
                    th scope="col" { "node" } th.n scope="col" { "records" } th.n scope="col" { "worst ε" } th scope="col" { "learnt by" } th.n scope="col" { "mean ε" }
                    th.n scope="col" { "local ε" } th scope="col" { "budget" }
                } }
                tbody { @for node in &report.nodes { (row(node, report)) } }
            } }
            @if listed && report.nodes.len() <= MOST_TABLES {
                h3 { "Peer by peer" }
                @for node in &report.nodes {
                    details { summary { "Node " (node.index) ": who could have learnt how much" } (by_distance(node)) (peers(node, report)) }
                }
            } @else {
                p { "A report with every peer of one node: " code { "murmur report RUN --node i" } "." }
            }
        }
    }
}

/// What a node is called, where it has a name.
fn named(node: usize, report: &Report) -> Option<&str> {
    let member = report.head.members.get(node)?;
    (member.name != format!("node {node}")).then_some(member.name.as_str())
}

fn row(node: &NodeReport, report: &Report) -> Markup {
    let shown = |figure: &Figure| html! { (loss(figure.epsilon)) br; code { (figure.analysis) } };
    html! {
        tr {
            th scope="row" title=(node.label) { (node.index) @if let Some(name) = named(node.index, report) { " " (name) } }
            td.n { (node.records.map_or_else(|| "-".into(), |records| records.to_string())) }
            td.n { (shown(&node.worst.figure)) }
            td { @match node.worst.peer { Some(peer) => { "node " (peer) } None => { "-" } } }
            td.n { (shown(&node.mean)) }
            td.n { (shown(&node.local)) }
            td { (budget(&node.budget)) }
        }
    }
}

fn peers(node: &NodeReport, report: &Report) -> Markup {
    html! {
        div.scroll { table {
            caption { "What each other node could have learnt about node " (node.index) ", the most first." }
            thead { tr {
                th scope="col" { "peer" } th.n scope="col" { "distance" } th.n scope="col" { "ε" } th.n scope="col" { "μ²" } th scope="col" { "analysis" }
            } }
            tbody { @for peer in &node.peers {
                tr {
                    th scope="row" { (peer.index) @if let Some(name) = named(peer.index, report) { " " (name) } }
                    td.n { @match peer.distance { Some(distance) => { (distance) } None => { "no way" } } }
                    (cells(&peer.figure))
                }
            } }
        } }
    }
}

/// Largest and mean ε at each distance, where there is more than one.
fn by_distance(node: &NodeReport) -> Markup {
    let mut groups: std::collections::BTreeMap<u32, Vec<f64>> = std::collections::BTreeMap::new();
    for peer in &node.peers {
        if let Some(distance) = peer.distance {
            groups.entry(distance).or_default().push(peer.figure.epsilon);
        }
    }
    if groups.len() < 2 {
        return html! {};
    }
    html! {
        table {
            caption { "By distance on the graph (analyses as in the table of peers)." }
            thead { tr { th scope="col" { "distance" } th.n scope="col" { "nodes" } th.n scope="col" { "largest ε" } th.n scope="col" { "mean ε" } } }
            tbody { @for (distance, losses) in &groups {
                tr {
                    th scope="row" { (distance) }
                    td.n { (losses.len()) }
                    td.n { (loss(losses.iter().copied().fold(0.0, f64::max))) }
                    td.n { (loss(losses.iter().sum::<f64>() / losses.len() as f64)) }
                }
            } }
        }
    }
}

pub(super) fn coalitions(report: &Report) -> Markup {
    if report.coalitions.is_empty() {
        return html! {};
    }
    html! {
        section {
            h2 { "Nodes that pool what they saw" }
            div.scroll { table {
                caption { "The loss of the node outside that loses most towards all members together." }
                thead { tr {
                    th scope="col" { "members" } th scope="col" { "most about" } th.n scope="col" { "ε" } th.n scope="col" { "μ²" } th scope="col" { "analysis" }
                    th scope="col" { "how found" }
                } }
                tbody { @for one in &report.coalitions {
                    tr { th scope="row" { (words::names(&one.members, &report.head)) } td { (words::name(one.node, &report.head)) } (cells(&one.figure)) td { (one.search) } }
                } }
            } }
        }
    }
}

pub(super) fn rounds(report: &Report) -> Markup {
    let rounds = &report.rounds;
    html! {
        section {
            h2 { "Rounds" }
            p {
                (rounds.finished) " of " (rounds.planned) " finished, " (words::counted(rounds.contributions, "contribution")) ", " (rounds.refused) " refused by a budget, "
                (words::counted(rounds.charged_as_local, "round")) " charged as " code { "local" } "."
            }
            (chart::epsilons(report))
            (chart::learning(report))
            @if !rounds.curve.points.is_empty() {
                details { summary { "The numbers of the curves" } div.scroll { table {
                    caption { (rounds.curve.meaning) "." }
                    thead { tr {
                        th.n scope="col" { "round" } th.n scope="col" { "ε worst" } th.n scope="col" { "ε mean" } th.n scope="col" { "ε local" }
                        th.n scope="col" { "training loss" } th.n scope="col" { "test accuracy" }
                    } }
                    tbody { @for point in &rounds.curve.points {
                        tr {
                            th.n scope="row" { (point.round + 1) }
                            @for value in [point.worst, point.mean, point.local] { td.n { (value.map_or_else(|| "-".into(), loss)) } }
                            @for value in [point.train_loss, point.test_acc] { td.n { (value.map_or_else(|| "-".into(), measured)) } }
                        }
                    } }
                } } }
            }
        }
    }
}

pub(super) fn compare(report: &Report) -> Markup {
    let Some(other) = &report.compare else { return html! {} };
    let rows = [
        ("worst pair", &report.worst.figure, &other.worst),
        ("mean over pairs", &report.mean, &other.mean),
        (words::everybody(report), &report.local, &other.local),
    ];
    let shown = |figure: &Figure| html! { "ε = " (loss(figure.epsilon)) " " code { (figure.analysis) } };
    html! {
        section {
            h2 { "Beside " (other.run) }
            table {
                caption { "The same figures of two runs." }
                thead { tr { th scope="col" { "who watches" } th scope="col" { (report.run) } th scope="col" { (other.run) } } }
                tbody { @for (name, mine, theirs) in rows { tr { th scope="row" { (name) } td { (shown(mine)) } td { (shown(theirs)) } } } }
            }
            p { "They differ in " (if other.differing_keys.is_empty() { "nothing".to_owned() } else { other.differing_keys.join(", ") }) "." }
            @if let Some(caution) = &other.caution { p { strong { "Careful: " } (caution) "." } }
        }
    }
}

pub(super) fn run(report: &Report) -> Markup {
    html! {
        section {
            h2 { "The run" }
            dl {
                dt { "Algorithm" } dd { code { (report.algorithm) } ", " (report.participants) " nodes, driver " code { (report.driver) } }
                dt { "Configuration" } dd { "digest " code { (report.config_digest) } ", seed " (report.seed) }
                dt { "Version" } dd { "murmur " (report.version) }
            }
            details.printed { summary { "The whole configuration" } pre { (report.config) } }
        }
    }
}

/// A drawing with what it shows for those who cannot see it.
pub(super) fn figure(svg: String, caption: &str) -> Markup {
    html! { figure { (PreEscaped(svg)) figcaption { (caption) } } }
}

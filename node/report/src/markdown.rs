//! The report as Markdown, for pasting.

use std::fmt::Write;

use crate::document::{Budget, CurvePoint, Figure, NodeReport, Report};
use crate::number::{given, loss, measured};
use crate::{own, words};
use privacy::number::{Precision, down};

/// The report as Markdown.
pub fn markdown(report: &Report) -> String {
    let mut text = String::new();
    write(&mut text, report).expect("a string takes everything");
    text
}

fn write(out: &mut String, report: &Report) -> std::fmt::Result {
    writeln!(out, "# Privacy report: {}\n", escaped(&title(report)))?;
    page_one(out, report)?;
    writeln!(out, "**What was protected.** {}\n", words::adjacency(report.adjacency))?;
    writeln!(out, "**Against whom.** {}\n", words::against(report))?;
    writeln!(out, "**The guarantee.** {}\n", report.guarantee)?;
    list(out, "It assumes", &report.assumes)?;
    list(out, "What was not protected", &report.not_protected)?;
    if !report.counted.is_empty() {
        list(out, "How it was counted", &report.counted)?;
    }
    writeln!(out, "## Figures\n\n| who watches | ε | μ² | analysis |\n|---|---|---|---|")?;
    figure_row(out, &worst_name(report), &report.worst.figure)?;
    figure_row(out, "mean over pairs", &report.mean)?;
    if let Some(any) = &report.colluding {
        figure_row(out, &words::colluding(any), &any.figure)?;
    }
    figure_row(out, words::everybody(report), &report.local)?;
    writeln!(out, "\nδ = {} for all figures. Losses are rounded up.\n", given(report.delta))?;
    nodes(out, report)?;
    coalitions(out, report)?;
    rounds(out, report)?;
    faults(out, report)?;
    compare(out, report)?;
    writeln!(out, "## The run\n")?;
    writeln!(
        out,
        "`{}`, {} nodes, driver `{}`, version {}, configuration `{}`, seed {}.\n",
        report.algorithm,
        report.participants,
        report.driver,
        report.version,
        report.config_digest,
        report.seed
    )?;
    writeln!(out, "```toml\n{}\n```", report.config.trim_end())
}

/// What stands on the first page: the sentence to quote, what ε means, who could have learnt how much, and the head.
fn page_one(out: &mut String, report: &Report) -> std::fmt::Result {
    writeln!(out, "> {}\n", escaped(&report.quote))?;
    report.warnings.iter().try_for_each(|warning| writeln!(out, "**Careful:** {}\n", escaped(warning)))?;
    report.meaning.iter().try_for_each(|sentence| writeln!(out, "{}\n", escaped(sentence)))?;
    writeln!(out, "{}\n", escaped(&report.persons))?;
    writeln!(out, "| who | ε | belief | analysis | rests on |\n|---|---|---|---|---|")?;
    for row in &report.watchers {
        let (epsilon, analysis) = row
            .figure
            .as_ref()
            .map_or_else(|| ("-".to_owned(), "-"), |figure| (loss(figure.epsilon), figure.analysis.as_str()));
        let belief = row.belief.map_or_else(|| "50 %".into(), crate::belief::percent);
        writeln!(
            out,
            "| {} | {epsilon} | {belief} | {analysis} | {} |",
            escaped(&row.who),
            escaped(&row.rests_on)
        )?;
    }
    let head = &report.head;
    let said = |text: &Option<String>| text.as_deref().map_or_else(|| "not in the log".into(), escaped);
    writeln!(
        out,
        "\n- began: {}\n- ended: {}\n- purpose: {}",
        said(&head.began),
        said(&head.ended),
        head.purpose.as_deref().map_or_else(|| "not declared".into(), escaped)
    )?;
    let names: Vec<String> = head.members.iter().take(32).map(|member| escaped(&member.name)).collect();
    writeln!(
        out,
        "- members: {}\n- model: {}, digest {}",
        names.join(", "),
        head.model,
        said(&head.model_digest)
    )?;
    if let [node] = report.nodes.as_slice() {
        let count =
            |number: Option<u64>| number.map_or_else(|| "not in the log".into(), |number| number.to_string());
        writeln!(
            out,
            "- records: {}, persons: {}\n- digest of the data: {}",
            count(node.records),
            count(node.persons),
            said(&node.data_digest)
        )?;
        if let Some(found) = &node.personal {
            writeln!(out, "- own models: {}", own::told(found))?;
        }
    }
    writeln!(out, "- program: murmur {}, commit {}\n", report.version, said(&head.commit))
}

/// Name of the run and of the node, where it is about one.
pub(crate) fn title(report: &Report) -> String {
    match report.nodes.as_slice() {
        [one] if report.participants > 1 => {
            format!("{} in {}", words::name(one.index, &report.head), report.run)
        }
        _ => report.run.clone(),
    }
}

/// `worst pair: what node 3 saw of node 5`.
pub(crate) fn worst_name(report: &Report) -> String {
    match (report.worst.peer, report.worst.node) {
        (Some(peer), Some(node)) => format!("worst pair: what node {peer} saw of node {node}"),
        _ => "worst pair".into(),
    }
}

/// `ε = 1.2 of 2 (worst pair)`.
pub(crate) fn budget(budget: &Budget) -> String {
    let Some((epsilon, left)) = budget.epsilon.zip(budget.left()) else { return "no budget was set".into() };
    format!("{} of ε = {} spent ({}), {} left", loss(budget.spent), given(epsilon), budget.of, floor(left))
}

/// What is left is rounded down.
fn floor(left: f64) -> String {
    down(left, Precision::Decimals(4))
}

fn list(out: &mut String, title: &str, items: &[String]) -> std::fmt::Result {
    writeln!(out, "**{title}:**\n")?;
    items.iter().try_for_each(|item| writeln!(out, "- {}", escaped(item)))?;
    writeln!(out)
}

fn figure_row(out: &mut String, name: &str, figure: &Figure) -> std::fmt::Result {
    writeln!(out, "| {name} | {} | {} | {} |", loss(figure.epsilon), loss(figure.mu2), figure.analysis)
}

fn nodes(out: &mut String, report: &Report) -> std::fmt::Result {
    if let [one] = report.nodes.as_slice() {
        return one_node(out, one);
    }
    writeln!(
        out,
        "## Node by node\n\n| node | worst ε | learnt by | mean ε | local ε | budget |\n|---|---|---|---|---|---|"
    )?;
    for node in &report.nodes {
        let peer = node.worst.peer.map_or_else(|| "-".into(), |peer| format!("node {peer}"));
        writeln!(
            out,
            "| {} | {} ({}) | {peer} | {} ({}) | {} ({}) | {} |",
            node.index,
            loss(node.worst.figure.epsilon),
            node.worst.figure.analysis,
            loss(node.mean.epsilon),
            node.mean.analysis,
            loss(node.local.epsilon),
            node.local.analysis,
            budget(&node.budget)
        )?;
    }
    writeln!(out)
}

fn one_node(out: &mut String, node: &NodeReport) -> std::fmt::Result {
    writeln!(out, "## Who could have learnt how much about node {}\n", node.index)?;
    writeln!(out, "{}; {}.\n", words::counted(node.contributions, "contribution"), budget(&node.budget))?;
    writeln!(out, "| peer | distance | ε | μ² | analysis |\n|---|---|---|---|---|")?;
    for peer in &node.peers {
        let distance = peer.distance.map_or_else(|| "no way".into(), |distance| distance.to_string());
        let figure = &peer.figure;
        writeln!(
            out,
            "| {} | {distance} | {} | {} | {} |",
            peer.index,
            loss(figure.epsilon),
            loss(figure.mu2),
            figure.analysis
        )?;
    }
    writeln!(out)
}

fn coalitions(out: &mut String, report: &Report) -> std::fmt::Result {
    if report.coalitions.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "## Nodes that pool what they saw\n\n| members | most about | ε | μ² | analysis | how found |\n|---|---|---|---|---|---|"
    )?;
    for one in &report.coalitions {
        let (members, figure) = (words::names(&one.members, &report.head), &one.figure);
        writeln!(
            out,
            "| {members} | {} | {} | {} | {} | {} |",
            words::name(one.node, &report.head),
            loss(figure.epsilon),
            loss(figure.mu2),
            figure.analysis,
            one.search
        )?;
    }
    writeln!(out)
}

/// Name, value at a point, and whether it is a loss, which is rounded up.
type Column = (&'static str, fn(&CurvePoint) -> Option<f64>, bool);

fn rounds(out: &mut String, report: &Report) -> std::fmt::Result {
    let rounds = &report.rounds;
    writeln!(
        out,
        "## Rounds\n\n{} of {} finished, {}, {} refused by a budget, {} charged as `local`.\n",
        rounds.finished,
        rounds.planned,
        words::counted(rounds.contributions, "contribution"),
        rounds.refused,
        words::counted(rounds.charged_as_local, "round")
    )?;
    let curve = &rounds.curve.points;
    if curve.is_empty() {
        return Ok(());
    }
    let any = |pick: fn(&CurvePoint) -> Option<f64>| curve.iter().any(|point| pick(point).is_some());
    let mut columns: Vec<Column> =
        vec![("ε worst", |p| p.worst, true), ("ε mean", |p| p.mean, true), ("ε local", |p| p.local, true)];
    columns.push(("training loss", |p| p.train_loss, false));
    columns.push(("test accuracy", |p| p.test_acc, false));
    columns.retain(|column| any(column.1));
    let heads: Vec<&str> = columns.iter().map(|column| column.0).collect();
    writeln!(out, "| round | {} |\n|---|{}", heads.join(" | "), "---|".repeat(heads.len()))?;
    let stride = curve.len().div_ceil(10);
    for point in curve.iter().rev().step_by(stride).collect::<Vec<_>>().into_iter().rev() {
        let cell = |&(_, pick, up): &Column| {
            pick(point).map_or_else(|| "-".into(), |value| if up { loss(value) } else { measured(value) })
        };
        let cells: Vec<String> = columns.iter().map(cell).collect();
        writeln!(out, "| {} | {} |", point.round + 1, cells.join(" | "))?;
    }
    writeln!(out, "\n{}.\n", rounds.curve.meaning)
}

fn faults(out: &mut String, report: &Report) -> std::fmt::Result {
    writeln!(out, "## What went wrong\n")?;
    if report.faults.is_empty() {
        return writeln!(out, "Nothing.\n");
    }
    writeln!(out, "| what | how often | who | rounds | what it cost |\n|---|---|---|---|---|")?;
    for fault in &report.faults {
        let who = if fault.peers.is_empty() { "-".into() } else { words::names(&fault.peers, &report.head) };
        let when =
            fault.rounds.map_or_else(|| "-".into(), |(first, last)| format!("{} to {}", first + 1, last + 1));
        writeln!(out, "| {} | {} | {who} | {when} | {} |", fault.kind, fault.count, fault.cost)?;
    }
    writeln!(out)
}

fn compare(out: &mut String, report: &Report) -> std::fmt::Result {
    let Some(other) = &report.compare else { return Ok(()) };
    writeln!(
        out,
        "## Beside {}\n\n| who watches | {} | {} |\n|---|---|---|",
        escaped(&other.run),
        escaped(&report.run),
        escaped(&other.run)
    )?;
    for (name, mine, theirs) in [
        ("worst pair", &report.worst.figure, &other.worst),
        ("mean over pairs", &report.mean, &other.mean),
        (words::everybody(report), &report.local, &other.local),
    ] {
        let shown = |figure: &Figure| format!("{} ({})", loss(figure.epsilon), figure.analysis);
        writeln!(out, "| {name} | {} | {} |", shown(mine), shown(theirs))?;
    }
    let keys =
        if other.differing_keys.is_empty() { "nothing".into() } else { other.differing_keys.join(", ") };
    writeln!(out, "\nThey differ in {keys}.")?;
    if let Some(caution) = &other.caution {
        writeln!(out, "Careful: {caution}.")?;
    }
    writeln!(out)
}

/// A name from a file must not become markup.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

//! The first lines of a report, in plain language: what was protected, against whom, under what assumptions, and what was not.

use privacy::network::Analysis;
use protocol::account::Table;
use protocol::config::AlgorithmKind;
use protocol::work::Adjacency;

use crate::document::Report;
use crate::fold::has_noise;
use crate::number::{given, loss};
use crate::source::Source;

/// What is protected, as a noun.
pub(crate) fn unit(adjacency: Adjacency) -> &'static str {
    match adjacency {
        Adjacency::Record => "one record of a node",
        Adjacency::Node => "all data of one node",
    }
}

/// What adjacency means.
pub(crate) fn adjacency(adjacency: Adjacency) -> &'static str {
    match adjacency {
        Adjacency::Record => {
            "Record level: the figures compare the run with one in which a single record of a node is blank. They say how much others could learn about \
             one person whose data are one record."
        }
        Adjacency::Node => {
            "Node level: the figures compare the run with one in which all data of a node are replaced. They say how much others could learn about \
             anything that the node holds."
        }
    }
}

/// Against whom.
pub(crate) const AGAINST: &str = "Against every other member of the swarm, who follows the protocol and computes what it can from the messages that it received \
                                  and the models that it holds. The figure `local` holds against anybody who sees every message.";

/// Writes the sentences of a report.
pub(crate) fn fill(report: &mut Report, source: &Source, table: &Table) {
    report.guarantee = guarantee(report, source);
    report.assumes = assumes(report, source, table);
    report.not_protected = not_protected(report, source, table);
}

fn guarantee(report: &Report, source: &Source) -> String {
    let worst = &report.worst;
    let figures = format!(
        "ε = {} at δ = {} (analysis `{}`)",
        loss(worst.figure.epsilon),
        given(report.delta),
        worst.figure.analysis
    );
    if !has_noise(&source.first) || !worst.figure.epsilon.is_finite() {
        return "None: contributions carried no noise, so this run protects nobody.".into();
    }
    if !report.private {
        let why = if report.driver == "sim" {
            "this is a simulation and its noise is seeded"
        } else {
            "the noise of this run was seeded"
        };
        return format!(
            "None: {why}, so it protects nobody. The same run with private noise would give, for {}, towards any single other node, {figures}.",
            unit(report.adjacency)
        );
    }
    let whose = match report.nodes.as_slice() {
        [one] => format!("node {}", one.index),
        _ => "any node".into(),
    };
    let what = match report.adjacency {
        Adjacency::Record => format!("one record of {whose}"),
        Adjacency::Node => format!("the data of {whose}"),
    };
    format!(
        "Whatever any single other node saw of this run, it depends on {what} no more than differential privacy with {figures} allows. Whoever saw every \
         message: ε = {} (analysis `{}`).",
        loss(report.local.epsilon),
        report.local.analysis
    )
}

fn assumes(report: &Report, source: &Source, table: &Table) -> Vec<String> {
    let used = |analysis: &Analysis| {
        let named = |text: &str| text.split([' ', ',']).next() == Some(analysis.name());
        *analysis == Analysis::Local
            || named(table.analysis())
            || report.coalitions.iter().any(|one| named(&one.figure.analysis))
    };
    let mut all: Vec<String> = Analysis::ALL
        .iter()
        .filter(|analysis| used(analysis))
        .map(|analysis| format!("{}: {}", analysis.name(), analysis.assumes()))
        .collect();
    if report.driver != "sim" {
        let told = source.told();
        let without = told.iter().filter(|node| !source.ledgers.contains_key(node)).count();
        if without > 0 {
            all.push("The log is whole: no ledger was found to compare it with.".into());
        }
        if told.len() < report.participants {
            all.push(
                "The log is that of some nodes only. That a round ended in consensus and that every member contributed is taken from the digests and counts \
                 in the messages of the others."
                    .into(),
            );
        }
    }
    all.push("Other runs on the same data are not in these figures: their losses add up.".into());
    all
}

fn not_protected(report: &Report, source: &Source, table: &Table) -> Vec<String> {
    let mut all = Vec::new();
    if !report.private {
        all.push("Anything: the run had no private noise.".to_owned());
    }
    if report.rounds.charged_as_local > 0 {
        all.push(format!(
            "What was contributed in {}: no consensus was proved, so it is charged as `local`, as if everybody had seen it.",
            counted(report.rounds.charged_as_local, "round")
        ));
    }
    if let Some((_, why)) = table.analysis().split_once('(') {
        all.push(format!("No pair has a better figure than `local`: {}.", why.trim_end_matches(')')));
    }
    match source.config.algorithm.kind {
        AlgorithmKind::Gossip => all.push(
            if neighbours_have_everything(report, table) {
                "Direct neighbours: under `gossip` a neighbour is sent every state, so its figure is `local`. Only more distant nodes learn less."
            } else {
                "Direct neighbours: under `gossip` whoever is sent a state right after a contribution learns it with that node's own noise only. The figures of pairs tell \
                 how often that happened."
            }
            .into(),
        ),
        AlgorithmKind::Walk => all.push(
            "The next holder of the token: it sees a contribution with the noise of one step only. The figures of pairs tell how often that happened.".into(),
        ),
        _ => {}
    }
    if report.adjacency == Adjacency::Record {
        all.push(
            "What many records of a node have in common: at record level only single records are hidden."
                .into(),
        );
    }
    if let Some(worst) = report.coalitions.last() {
        all.push(format!(
            "Against nodes that pool what they saw, more can be learnt: {} together, ε = {} (analysis `{}`; {}).",
            names(&worst.members),
            loss(worst.figure.epsilon),
            worst.figure.analysis,
            worst.search
        ));
    } else if report.participants > 2 {
        all.push("Nodes that pool what they saw: name them with `--coalition` to price them.".into());
    }
    all.push("How many records a node holds, who took part and when, timing and sizes of messages.".into());
    all.push(
        "Members that break the protocol on purpose: against them only the figure `local` holds.".into(),
    );
    if report.driver != "sim" && report.rounds.curve.points.iter().any(|point| point.train_loss.is_some()) {
        all.push(
            "The training losses in this report: they were computed on the node's own data without noise."
                .into(),
        );
    }
    all
}

/// Whether every neighbour on the graph has the figure of somebody who sees everything, as a fixed graph without lost nodes makes it.
fn neighbours_have_everything(report: &Report, table: &Table) -> bool {
    let Some((graph, _)) = &report.drawn else { return false };
    let has_everything = |source: u32, watcher: u32| {
        let epsilon = table.epsilon(source as usize, watcher as usize);
        epsilon.is_none_or(|(epsilon, _)| {
            table.local_epsilon(source as usize).is_none_or(|most| epsilon >= most)
        })
    };
    graph.iter_edges().all(|(a, b)| has_everything(a, b) && has_everything(b, a))
}

/// `1 round`, `2 rounds`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// `nodes 1, 2 and 3`.
pub(crate) fn names(nodes: &[usize]) -> String {
    let texts: Vec<String> = nodes.iter().map(usize::to_string).collect();
    match texts.as_slice() {
        [] => "nobody".into(),
        [one] => format!("node {one}"),
        [most @ .., last] => format!("nodes {} and {last}", most.join(", ")),
    }
}

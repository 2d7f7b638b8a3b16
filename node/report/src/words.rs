//! The first lines of a report, in plain language: what was protected, against whom, under what assumptions, and what was not.

use learn::model::{ClippedBy, ModelSpec};
use privacy::network::Analysis;
use protocol::account::Table;
use protocol::config::{AlgorithmKind, Config, NoiseKind, Proofs};
use protocol::work::Adjacency;

use crate::document::{Colluding, Report};
use crate::fold::has_noise;
use crate::head::Head;
use crate::number::{given, loss};
use crate::source::Source;
use crate::{exposed, lost, plain};

/// What is protected, as a noun.
pub(crate) fn unit(adjacency: Adjacency) -> &'static str {
    match adjacency {
        Adjacency::Record => "one record of a node",
        Adjacency::Person => "one person at a node",
        Adjacency::Node => "all data of one node",
    }
}

/// What adjacency means.
pub(crate) fn adjacency(adjacency: Adjacency) -> &'static str {
    match adjacency {
        Adjacency::Record => {
            "One record: the figures compare the run with one in which a single record of a node is blank, that is, adds nothing to any sum. They say how much others \
             could learn about one person whose data are one record."
        }
        Adjacency::Person => {
            "One person: the figures compare the run with one in which all records of a single person at a node are blank, that is, add nothing to any sum. They say \
             how much others could learn about one person, however many records that person has there."
        }
        Adjacency::Node => {
            "All data of a node: the figures compare the run with one in which all data of a node are replaced. They say how much others could learn about \
             anything that the node holds."
        }
    }
}

/// Against whom.
pub(crate) fn against(report: &Report) -> &'static str {
    if report.colluding.is_some() { AGAINST_MASKED } else { AGAINST }
}

/// What the figures of one member, and of some together, rest on.
pub(crate) fn condition(report: &Report) -> &'static str {
    match report.colluding {
        Some(_) => "nobody breaks the masks (X25519, HKDF-SHA256, ChaCha20) and the others add their noise",
        None => "the others follow the protocol",
    }
}

/// Towards whom the figure `local` is: with masks, who sees every message sees totals alone.
pub(crate) fn everybody(report: &Report) -> &'static str {
    if report.colluding.is_some() {
        "somebody who sees every message and breaks the masks"
    } else {
        "somebody who sees every message"
    }
}

/// Who watches.
pub(crate) fn colluding(any: &Colluding) -> String {
    match any.members {
        1 => "any member".to_owned(),
        members => format!("any {members} members together"),
    }
}

const AGAINST_MASKED: &str = "Against every other member of the swarm, whatever it does, against as many together as the table says, and against whoever sees all \
                              traffic, as long as they cannot break X25519, HKDF-SHA256 and ChaCha20 (computational DP). The figure `local` holds against \
                              who can.";

const AGAINST: &str = "Against every other member of the swarm, who follows the protocol and computes what it can from the messages that it received \
                                  and the models that it holds. The figure `local` holds against anybody who sees every message.";

/// Writes the sentences of a report.
pub(crate) fn fill(report: &mut Report, source: &Source, table: &Table) {
    report.guarantee = guarantee(report, source);
    report.assumes = assumes(report, source, table);
    report.not_protected = exposed::not_protected(report, source, table);
    report.counted = exposed::counted_how(report, table);
    report.counted.extend(crate::renewed::sentences(&report.renewals, &report.head));
    report.protection = plain::protection(report);
    report.meaning = plain::meaning(report);
    report.persons = plain::persons(report);
    report.warnings = plain::warnings(report);
    report.warnings.extend(crate::asked::words(source, &report.nodes));
    report.quote = plain::quote(report);
}

/// Whether noise was drawn on integers with exact probabilities, as it always is under masks.
pub(crate) fn on_integers(config: &Config) -> bool {
    config.privacy.noise == NoiseKind::Discrete && config.algorithm.message_noise == 0.0
}

/// Whether all members end with one model.
pub(crate) fn ends_in_consensus(config: &Config) -> bool {
    config.algorithm.kind == AlgorithmKind::Rounds || config.privacy.proofs != Proofs::None
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
    let whose = match (report.nodes.as_slice(), &report.head.about) {
        ([one], Some(name)) if *name != format!("node {}", one.index) => {
            format!("{name} (node {})", one.index)
        }
        ([one], _) => format!("node {}", one.index),
        _ => "any node".into(),
    };
    let what = match report.adjacency {
        Adjacency::Record => format!("one record of {whose}"),
        Adjacency::Person => format!("all records of one person at {whose}"),
        Adjacency::Node => format!("the data of {whose}"),
    };
    if let Some(any) = &report.colluding {
        let together = match any.members {
            1 => " allows. This holds".to_owned(),
            _ => format!(
                " allows; what {} saw, with ε = {} (analysis `{}`). Both hold",
                colluding(any),
                loss(any.figure.epsilon),
                any.figure.analysis
            ),
        };
        return format!(
            "Whatever any single other node saw of this run, it depends on {what} no more than differential privacy with {figures}{together} against observers who \
             cannot break X25519, HKDF-SHA256 and ChaCha20 (computational DP). Whoever can, and saw every message: ε = {} (analysis `{}`).",
            loss(report.local.epsilon),
            report.local.analysis
        );
    }
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
    let none = [];
    let analyses: &[Analysis] = if has_noise(&source.first) { &Analysis::ALL } else { &none };
    let mut all: Vec<String> = analyses
        .iter()
        .filter(|analysis| used(analysis))
        .map(|analysis| format!("{}: {}", analysis.name(), analysis.assumes()))
        .collect();
    all.extend(trainer(source));
    if report.driver != "sim" {
        let told = source.told();
        let without = told.iter().filter(|node| !source.ledgers.contains_key(node)).count();
        if without > 0 && source.lost.is_empty() {
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
    all.extend(lost::sentences(source));
    all.push("Other runs on the same data are not in these figures: their losses add up.".into());
    all
}

/// Which part of the guarantee rests on the program that computed the gradients.
fn trainer(source: &Source) -> Option<String> {
    let ModelSpec::External { clipping, .. } = source.config.model else { return None };
    let text = match (source.config.privacy.adjacency, clipping) {
        (Adjacency::Node, _) => {
            "A trainer computed the updates, and nothing rests on it: whatever it sent was clipped and noised by the node."
        }
        (Adjacency::Record | Adjacency::Person, ClippedBy::Node) => {
            "A trainer computed the gradients of single records. The node clipped every one of them; that each depends on its own record alone rests on the \
             trainer. It was probed before the first contribution and now and then."
        }
        (Adjacency::Record | Adjacency::Person, ClippedBy::Trainer) => {
            "A trainer computed and clipped the gradients of single records (`model.clipping = \"trainer\"`). That the norms it told and the sums it sent belong to \
             the same gradients, and that each depends on its own record alone, rests on the trainer. It was probed before the first contribution and now and then."
        }
    };
    Some(text.into())
}

/// What the algorithm itself leaves open.
pub(crate) fn of_algorithm(report: &Report, kind: AlgorithmKind, table: &Table) -> Option<&'static str> {
    match kind {
        AlgorithmKind::Gossip if neighbours_have_everything(report, table) => Some(
            "Direct neighbours: under `gossip` a neighbour is sent every state, so its figure is `local`. Only more distant nodes learn less.",
        ),
        AlgorithmKind::Gossip => Some(
            "Direct neighbours: under `gossip` whoever is sent a state right after a contribution learns it with that node's own noise only. The figures of pairs tell \
             how often that happened.",
        ),
        AlgorithmKind::Walk => Some(
            "The next holder of the token: it sees a contribution with the noise of one step only. The figures of pairs tell how often that happened.",
        ),
        _ => None,
    }
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

/// `node 1`, or `Zürich (node 1)` where it has a name.
pub(crate) fn name(node: usize, head: &Head) -> String {
    match head.members.get(node) {
        Some(member) if member.name != format!("node {node}") => format!("{} (node {node})", member.name),
        _ => format!("node {node}"),
    }
}

/// `nodes 1, 2 and 3`, or their names where they have any.
pub(crate) fn names(nodes: &[usize], head: &Head) -> String {
    let named = nodes.iter().any(|&node| name(node, head) != format!("node {node}"));
    let texts: Vec<String> =
        nodes.iter().map(|&node| if named { name(node, head) } else { node.to_string() }).collect();
    let (one, several) = if named { ("", "") } else { ("node ", "nodes ") };
    match texts.as_slice() {
        [] => "nobody".into(),
        [only] => format!("{one}{only}"),
        [most @ .., last] => format!("{several}{} and {last}", most.join(", ")),
    }
}

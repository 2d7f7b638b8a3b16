//! What was not protected, and how it was counted: two lists that must not be mixed. What is charged in full is protected.

use protocol::RunEvent;
use protocol::account::Table;
use protocol::work::Adjacency;

use crate::document::Report;
use crate::fold::has_noise;
use crate::number::loss;
use crate::source::Source;
use crate::words::{counted, names, of_algorithm, on_integers};

/// What was not protected.
pub(crate) fn not_protected(report: &Report, source: &Source, table: &Table) -> Vec<String> {
    let mut all = Vec::new();
    if !report.private {
        let why =
            if has_noise(&source.first) { "the run's noise was seeded" } else { "the run had no noise" };
        all.push(format!("Anything: {why}."));
    }
    all.extend(of_algorithm(report, source.config.algorithm.kind, table).map(str::to_owned));
    match report.adjacency {
        Adjacency::Record => {
            all.push("What many records of a node have in common: at record level only single records are hidden.".into());
        }
        Adjacency::Person => all.push(
            "What many persons of a node have in common, and a person whose records are at several nodes: each node hides its own.".into(),
        ),
        Adjacency::Node => {}
    }
    if has_noise(&source.first) {
        all.push(pooled(report));
    }
    all.push("How many records a node holds, who took part and when, timing and sizes of messages.".into());
    all.push(
        "Names of columns, of categories and of classes: all members see them before anything is spent. A category that occurs in one record only gives that record away."
            .into(),
    );
    match report.colluding {
        Some(_) => all.extend(of_masks(source).map(str::to_owned)),
        None => {
            all.push(
                "Members that break the protocol on purpose: against them only the figure `local` holds."
                    .into(),
            );
        }
    }
    all.push(
        "What settings were tried on the same data before this run, unless those runs are in the ledger of the data set; quality measured on records that were kept apart.".into(),
    );
    all.push("Side channels of the machine: timing, caches, power.".into());
    if has_noise(&source.first) && !on_integers(&source.config) {
        all.push(
            "The last bits of the noise: it is drawn in floating point, whose rounding the account bounds for sums but whose lowest bits are not those of a true Gaussian.".into(),
        );
    }
    if report.driver != "sim" && report.rounds.curve.points.iter().any(|point| point.train_loss.is_some()) {
        all.push(
            "The training losses in this report: they were computed on the node's own data without noise."
                .into(),
        );
    }
    all
}

/// What masks do not protect from; where they were shared with neighbours on a circle only, there is more.
fn of_masks(source: &Source) -> impl Iterator<Item = &'static str> {
    let shared = source.lines.iter().any(|line| matches!(line.event, RunEvent::Streams { .. }));
    let steered = "Members that chose whom to win over knowing the order of masks, or who is in the roster: each member shares masks with some others only, and those who pool what they know must not have picked them.";
    ["Whoever breaks the masks: against them only the figure `local` holds."]
        .into_iter()
        .chain(shared.then_some(steered))
        .chain(["The result: a member can lie in its own contribution, and under the masks nobody sees it but in rounds that are looked into."])
}

/// What members that pool what they saw may know, beside what one of them does.
fn pooled(report: &Report) -> String {
    let any = format!(
        "However many of them there are, no more than ε = {} (analysis `{}`).",
        loss(report.local.epsilon),
        report.local.analysis
    );
    let worst = report.coalitions.iter().max_by(|a, b| a.figure.epsilon.total_cmp(&b.figure.epsilon));
    match worst {
        Some(worst) if is_more(worst.figure.epsilon, report.worst.figure.epsilon) => format!(
            "Members that pool what they saw can learn more than one of them: {} together, ε = {} (analysis `{}`; {}). {any}",
            names(&worst.members, &report.head),
            loss(worst.figure.epsilon),
            worst.figure.analysis,
            worst.search
        ),
        Some(worst) => format!(
            "Members that pool what they saw: {} together learn no more than the headline says, ε = {} (analysis `{}`; {}). {any}",
            names(&worst.members, &report.head),
            loss(worst.figure.epsilon),
            worst.figure.analysis,
            worst.search
        ),
        None => format!("Members that pool what they saw may learn more than one of them. {any}"),
    }
}

/// Whether a loss is more than another to the digits that are printed.
fn is_more(loss_of_several: f64, loss_of_one: f64) -> bool {
    loss_of_several > loss_of_one && loss(loss_of_several) != loss(loss_of_one)
}

/// How it was counted, where that is not obvious.
pub(crate) fn counted_how(report: &Report, table: &Table) -> Vec<String> {
    let mut all = Vec::new();
    let local = report.rounds.charged_as_local;
    if local > 0 {
        let last = match report.nodes.len() < report.participants {
            true => " The last round of a node's own log is always among them: no later message confirms it.",
            false => "",
        };
        all.push(format!(
            "What was contributed in {} is in ε in full, as if everybody had seen it (`local`): no consensus was proved there.{last}",
            counted(local, "round")
        ));
    }
    if report.colluding.as_ref().is_some_and(|any| any.figure.analysis == "masked") {
        all.push(
            "A masked round shows its total alone: towards members that pool what they saw, the noise of all others that contributed counts (`masked`)."
                .into(),
        );
    }
    if let Some((_, why)) = table.analysis().split_once('(') {
        all.push(format!("No pair has a better figure than `local`: {}.", why.trim_end_matches(')')));
    }
    if report.head.sampling_rate.is_some_and(|rate| rate < 1.0) {
        let whom = if report.adjacency == Adjacency::Person { "person" } else { "record" };
        all.push(format!(
            "Who takes part in a round is decided by a coin of its own for each {whom} (Poisson sampling), with the probability that is accounted, bit for bit."
        ));
    }
    all
}

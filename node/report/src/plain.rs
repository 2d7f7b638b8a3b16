//! The sentences that a reader may quote: what ε means, and the whole report in one paragraph.

use protocol::work::Adjacency;

use crate::belief::{Protection, SCALE, belief, chance, group, percent};
use crate::document::Report;
use crate::number::{given, loss};
use crate::words;

/// How many names a sentence holds.
const MOST_NAMES: usize = 8;

/// What ε means, in two sentences, with where it lies on the scale.
pub(crate) fn meaning(report: &Report) -> Vec<String> {
    let epsilon = report.worst.figure.epsilon;
    if !epsilon.is_finite() {
        return vec![
            "Contributions carried no noise: whoever received them may know everything about the data."
                .into(),
        ];
    }
    let first = format!(
        "Suppose somebody holds it for as likely as not, 50 %, that {}; after everything that any one member received, that belief can be {} at most, but for a chance of {} (e^ε / (1 + e^ε) with \
         ε = {}, δ = {}).",
        secret(report.adjacency),
        percent(belief(epsilon)),
        chance(report.delta),
        loss(epsilon),
        given(report.delta)
    );
    let second =
        format!("By the scale of this page that is {} protection ({SCALE}).", protection(report).word());
    vec![first, second]
}

/// What somebody might want to know.
fn secret(adjacency: Adjacency) -> &'static str {
    match adjacency {
        Adjacency::Record => "a certain record was among those that were learnt from",
        Adjacency::Person => "a certain person was among those whose records were learnt from",
        Adjacency::Node => "a node holds one set of data and not a certain other one",
    }
}

/// Where the headline lies.
pub(crate) fn protection(report: &Report) -> Protection {
    if !report.private {
        return Protection::None;
    }
    Protection::of(report.worst.figure.epsilon, report.delta, units(report))
}

/// The fewest records, or persons, that a node of this report learns from.
pub(crate) fn units(report: &Report) -> Option<u64> {
    let of = |node: &crate::document::NodeReport| match report.adjacency {
        Adjacency::Record => node.records,
        Adjacency::Person => node.persons,
        Adjacency::Node => None,
    };
    report.nodes.iter().filter_map(of).min()
}

/// Things that somebody should look at twice.
pub(crate) fn warnings(report: &Report) -> Vec<String> {
    let mut all = Vec::new();
    let epsilon = report.worst.figure.epsilon;
    if epsilon.is_finite() && epsilon > 10.0 {
        all.push(format!("ε = {} is above 10: little is promised in the worst case.", loss(epsilon)));
    }
    if let Some(units) = units(report).filter(|&units| report.delta * units as f64 >= 1.0) {
        let what = if report.adjacency == Adjacency::Person { "persons" } else { "records" };
        all.push(format!(
            "δ = {} is not below one over the {units} {what} of a node: it would allow to publish a whole one now and then.",
            given(report.delta)
        ));
    }
    if report.head.commit.as_ref().is_some_and(|commit| commit.contains("modified")) {
        all.push("The program was built from modified source: what ran is not what its commit says.".into());
    }
    all
}

/// The report in one paragraph, for quoting.
pub(crate) fn quote(report: &Report) -> String {
    if !report.private {
        return format!(
            "{} Its figures say what the same run with private noise would cost.",
            unprotected(report)
        );
    }
    [done(report), took_part(report), guaranteed(report), not_covered(report)].join(" ")
}

/// Why a run protects nobody.
pub(crate) fn unprotected(report: &Report) -> String {
    let why = match (report.worst.figure.epsilon.is_finite(), report.driver.as_str()) {
        (false, _) => "contributions carried no noise",
        (true, "sim") => "it was a simulation, and its noise was seeded",
        (true, _) => "its noise was seeded",
    };
    format!("This run protects nobody: {why}.")
}

/// `Between 3 and 5 May 2026 four members (…) trained a logistic model with 13 inputs.`
fn done(report: &Report) -> String {
    let head = &report.head;
    let when = head.period.as_ref().map_or_else(String::new, |period| format!("{period} "));
    let named: Vec<&str> = head.members.iter().map(|member| member.name.as_str()).collect();
    let names = match named.len() {
        many if many > MOST_NAMES => String::new(),
        _ => format!(" ({})", named.join(", ")),
    };
    let inputs = head.inputs.map_or_else(String::new, |inputs| format!(" with {inputs} inputs"));
    let what = match report.algorithm.as_str() {
        "mean" => "computed a mean".to_owned(),
        _ => format!("trained a model of the kind `{}`{inputs}", head.model),
    };
    let purpose = head
        .purpose
        .as_ref()
        .map_or_else(String::new, |purpose| format!(" Its purpose: {}.", purpose.trim_end_matches('.')));
    let text = format!("{when}{} members{names} {what}.{purpose}", report.participants);
    text
}

/// `Long Beach took part with 200 records.`
fn took_part(report: &Report) -> String {
    let range = |of: fn(&crate::document::NodeReport) -> Option<u64>| {
        let all: Vec<u64> = report.nodes.iter().filter_map(of).collect();
        let (least, most) = (all.iter().min()?, all.iter().max()?);
        Some(if least == most { least.to_string() } else { format!("{least} to {most}") })
    };
    let who = report.head.about.clone().unwrap_or_else(|| "Each".into());
    match (range(|node| node.records), range(|node| node.persons)) {
        (Some(records), Some(persons)) => {
            format!("{who} took part with {records} records of {persons} persons.")
        }
        (Some(records), None) => format!("{who} took part with {records} records."),
        (None, _) => format!("This is about {}.", report.head.about.as_deref().unwrap_or("all of them")),
    }
}

fn guaranteed(report: &Report) -> String {
    let (worst, local) = (report.worst.figure.epsilon, report.local.epsilon);
    let whom = match report.adjacency {
        Adjacency::Record => "that a given record was among them",
        Adjacency::Person => "that a given person was among them",
        Adjacency::Node => "in one of two sets of data that the node might hold",
    };
    format!(
        "Whatever any one of the others received, its belief {whom} can have risen from 50 % to at most {} (ε = {}, but for a chance of {}), as long as {}; and to at most {} (ε = {}) whoever works together and whether or not they follow the protocol. Whoever gets only the finished model learns no more than that. By the scale of \
         this report this is {} protection.",
        percent(belief(worst)),
        loss(worst),
        chance(report.delta),
        words::condition(report),
        percent(belief(local)),
        loss(local),
        protection(report).word()
    )
}

fn not_covered(report: &Report) -> String {
    let persons = match report.adjacency {
        Adjacency::Record => "persons with several records, ",
        Adjacency::Person => "persons whose records are at several members, ",
        Adjacency::Node => "",
    };
    format!("Not covered: {persons}{}.", earlier(report))
}

/// What is known of other uses of the same data.
pub(crate) fn earlier(report: &Report) -> String {
    let known: Vec<&protocol::log::Earlier> =
        report.nodes.iter().filter_map(|node| node.earlier.as_ref()).collect();
    match known.iter().max_by(|a, b| a.epsilon.total_cmp(&b.epsilon)) {
        None => "other uses of the data (no ledger of them was kept)".into(),
        Some(most) if most.runs == 0 => "earlier uses of the data (the ledger of this data set: none)".into(),
        Some(most) => format!(
            "earlier uses of the data (the ledger of this data set: {}, together ε = {} at δ = {})",
            words::counted(most.runs, "run"),
            loss(most.epsilon),
            given(most.delta)
        ),
    }
}

/// What several records of one person mean.
pub(crate) fn persons(report: &Report) -> String {
    let most = report.nodes.iter().filter_map(|node| node.most_of_person).max();
    match (report.adjacency, most) {
        (Adjacency::Person, _) => "All records of a person at one node are hidden together. A person with records at several nodes counts as several.".into(),
        (Adjacency::Node, _) => "All records of a node are hidden together, and with them all of any person.".into(),
        (Adjacency::Record, Some(1)) => "No person has more than one record at a node.".into(),
        (Adjacency::Record, most) => {
            let records = most.unwrap_or(3);
            let (epsilon, delta) = group(report.worst.figure.epsilon, report.delta, records);
            let who = match most {
                Some(_) => format!("One person has up to {records} records at a node"),
                None => format!("No column says whom a record is about. Had a person {records} records at a node"),
            };
            format!(
                "{who}: together they are hidden with ε = {} at δ = {} (group privacy), and not with the figure of one record.",
                loss(epsilon),
                privacy::number::up(delta, privacy::number::Precision::Digits(2))
            )
        }
    }
}

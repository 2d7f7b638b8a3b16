//! The pages that are signed: who and what on the first, with the sentence to quote; then what ε means, who could have learnt how much, and the limits.

use maud::{Markup, html};

use super::{list, ticks};
use crate::belief::percent;
use crate::document::Report;
use crate::number::{given, loss, shortened};
use crate::{own, words};

/// Members up to which each has a line on the first page.
const MOST_MEMBERS: usize = 16;

pub(super) fn first_page(report: &Report, title: &str) -> Markup {
    let worst = &report.worst.figure;
    html! {
        header {
            p.kicker { "murmur · privacy report" }
            h1 { (title) }
            div.verdict.none[!report.private] {
                p.number { "ε = " (loss(worst.epsilon)) }
                p.about {
                    @if report.private { (report.protection.word()) " protection; " }
                    "any one member, δ = " (given(report.delta)) ", analysis " code { (worst.analysis) }
                    @if !report.private { br; strong { "This run protects nobody." } }
                }
            }
            @for warning in &report.warnings { p.warning { strong { "Careful: " } (warning) } }
        }
        section {
            h2 { "To quote" }
            blockquote { p { (ticks(&report.quote)) } }
        }
        section {
            h2 { "What this report is about" }
            dl.facts { (when_and_who(report)) (data(report)) (program(report)) }
        }
    }
}

fn when_and_who(report: &Report) -> Markup {
    let head = &report.head;
    let unknown = "not in the log";
    html! {
        dt { "Run" } dd { (report.run) }
        dt { "Began" } dd { (head.began.as_deref().unwrap_or(unknown)) }
        dt { "Ended" } dd { (head.ended.as_deref().unwrap_or(unknown)) }
        dt { "For" } dd { (head.about.as_deref().unwrap_or("all members")) }
        dt { "Purpose" } dd { (head.purpose.as_deref().unwrap_or("not declared (`purpose` of the configuration)").replace('`', "")) }
        dt { "Members" } dd {
            @if head.members.len() <= MOST_MEMBERS {
                @for (at, member) in head.members.iter().enumerate() {
                    @if at > 0 { ", " }
                    (member.name) @if let Some(identity) = &member.identity { " (" code title=(identity) { "…" (tail(identity)) } ")" }
                }
            } @else { (head.members.len()) " members" }
        }
    }
}

/// The end of an identity, by which people tell keys apart.
fn tail(identity: &str) -> &str {
    let from = identity.len().saturating_sub(8);
    identity.get(from..).unwrap_or(identity)
}

fn data(report: &Report) -> Markup {
    let head = &report.head;
    html! {
        @if let [node] = report.nodes.as_slice() {
            dt { "Records" } dd {
                (node.records.map_or_else(|| "not in the log".into(), |records| records.to_string()))
                @if let Some(apart) = node.kept_apart.filter(|&apart| apart > 0) { ", and " (apart) " kept apart to judge by" }
                @if let Some(persons) = node.persons { "; of " (persons) " persons" }
            }
            @if let Some(own) = &node.personal { dt { "Own models" } dd { (own::told(own)) } }
            @if let Some(data) = &node.data { dt { "Data" } dd { code { (data) } } }
            @if let Some(digest) = &node.data_digest { dt { "Digest of the data" } dd { code { (digest) } } }
        } @else {
            dt { "Records" } dd { "of each member: see the appendix" }
        }
        dt { "Model" } dd {
            code { (head.model) }
            @if let Some(inputs) = head.inputs { ", " (inputs) " inputs" }
        }
        @if let Some(digest) = &head.model_digest { dt { "Digest of the model" } dd { code { (digest) } } }
    }
}

fn program(report: &Report) -> Markup {
    let head = &report.head;
    let number = |value: Option<f64>| value.map_or_else(|| "none".into(), shortened);
    html! {
        dt { "Protection" } dd {
            "noise multiplier " (number(head.noise_multiplier)) ", sampling rate " (number(head.sampling_rate)) ", clip norm " (given(head.clip_norm)) ", "
            (report.rounds.finished) " of " (report.rounds.planned) " rounds"
        }
        dt { "Digest of the configuration" } dd { code { (report.config_digest) } }
        dt { "Program" } dd { "murmur " (report.version) @if let Some(commit) = &head.commit { ", commit " code { (commit) } } }
    }
}

pub(super) fn explained(report: &Report) -> Markup {
    html! {
        section.page {
            h2 { "What ε means" }
            @for sentence in &report.meaning { p { (ticks(sentence)) } }
            p { strong { "Several records of one person. " } (report.persons) }
        }
        section {
            h2 { "Who could have learnt how much" }
            div.scroll { table {
                caption { "About " (words::unit(report.adjacency)) ", at δ = " (given(report.delta)) ". A belief of 50 % before can be at most so much after. Losses are rounded up." }
                thead { tr { th scope="col" { "who" } th.n scope="col" { "ε" } th.n scope="col" { "belief" } th scope="col" { "analysis" } th scope="col" { "rests on" } } }
                tbody { @for row in &report.watchers {
                    tr {
                        th scope="row" { (row.who) }
                        @if let Some(figure) = &row.figure {
                            td.n { (loss(figure.epsilon)) } td.n { (row.belief.map_or_else(|| "-".into(), percent)) } td { code { (figure.analysis) } }
                        } @else { td.n { "-" } td.n { "50 %" } td { "-" } }
                        td { (row.rests_on) }
                    }
                } }
            } }
        }
    }
}

pub(super) fn limits(report: &Report) -> Markup {
    html! {
        section {
            h2 { "In plain words" }
            dl {
                dt { "What was protected" } dd { (words::adjacency(report.adjacency)) }
                dt { "Against whom" } dd { (ticks(words::against(report))) }
                dt { "The guarantee" } dd { (ticks(&report.guarantee)) }
                dt { "It assumes" } dd { (list(&report.assumes)) }
                dt { "What was not protected" } dd { (list(&report.not_protected)) }
                @if !report.counted.is_empty() { dt { "How it was counted" } dd { (list(&report.counted)) } }
            }
        }
    }
}

pub(super) fn signatures(report: &Report) -> Markup {
    let who = report.head.about.as_deref().unwrap_or("the members");
    html! {
        section.signatures {
            h2 { "Signatures" }
            p { "Read and accepted for " (who) ":" }
            @for role in ["Responsible for the data", "Data protection"] {
                div.sign { span.line {} span { (role) ", name" } span.line {} span { "place and date, signature" } }
            }
        }
    }
}

pub(super) fn nist(report: &Report) -> Markup {
    html! {
        section {
            h2 { "NIST SP 800-226, point by point" }
            div.scroll { table {
                caption { "Guidelines for Evaluating Differential Privacy Guarantees, 2025." }
                thead { tr { th scope="col" { "section" } th scope="col" { "asks" } th scope="col" { "answer" } } }
                tbody { @for point in &report.nist { tr { th scope="row" { (point.section) } td { (point.asks) } td { (ticks(&point.answer)) } } } }
            } }
        }
    }
}

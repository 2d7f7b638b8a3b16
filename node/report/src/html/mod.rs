//! The report as one HTML file that needs nothing else: no network, no script.

mod chart;
mod graph;
mod heat;
mod sections;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::document::Report;
use crate::markdown::title;
use crate::number::{given, loss};
use crate::words;

const STYLE: &str = include_str!("style.css");

/// The report as a page.
pub fn html(report: &Report) -> String {
    page(report).into_string()
}

fn page(report: &Report) -> Markup {
    let title = format!("Privacy report: {}", title(report));
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "murmur " (report.reported_by) };
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#figures" { "Skip to the figures" }
                main {
                    (opening(report, &title))
                    (sections::figures(report))
                    (sections::nodes(report))
                    (sections::coalitions(report))
                    (sections::rounds(report))
                    (sections::faults(report))
                    (sections::compare(report))
                    (sections::run(report))
                }
                footer { p { "Made by murmur " (report.reported_by) " from the log of a run by murmur " (report.version) "." } }
            }
        }
    }
}

/// What a reader must know before the numbers.
fn opening(report: &Report, title: &str) -> Markup {
    let worst = &report.worst.figure;
    html! {
        header {
            p.kicker { "murmur · privacy report" }
            h1 { (title) }
            div.verdict.none[!report.private] {
                p.number { "ε = " (loss(worst.epsilon)) }
                p.about {
                    "worst pair, δ = " (given(report.delta)) ", analysis " code { (worst.analysis) }
                    @if !report.private { br; strong { "This run protects nobody." } }
                }
            }
        }
        section {
            h2 { "In plain words" }
            dl {
                dt { "What was protected" } dd { (words::adjacency(report.adjacency)) }
                dt { "Against whom" } dd { (ticks(words::AGAINST)) }
                dt { "The guarantee" } dd { (ticks(&report.guarantee)) }
                dt { "It assumes" } dd { (list(&report.assumes)) }
                dt { "What was not protected" } dd { (list(&report.not_protected)) }
            }
        }
    }
}

fn list(items: &[String]) -> Markup {
    html! { ul { @for item in items { li { (ticks(item)) } } } }
}

/// Words between back ticks as code.
fn ticks(text: &str) -> Markup {
    html! {
        @for (at, part) in text.split('`').enumerate() {
            @if at % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

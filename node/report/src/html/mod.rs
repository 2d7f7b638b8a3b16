//! The report as one HTML file that needs nothing else: no network, no script.

mod chart;
mod faults;
mod graph;
mod heat;
mod sections;
mod signed;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::document::Report;
use crate::markdown::title;

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
                    (signed::first_page(report, &title))
                    (signed::explained(report))
                    (signed::limits(report))
                    (faults::in_short(report))
                    (signed::signatures(report))
                    div.appendix {
                        h1 { "Appendix" }
                        (sections::figures(report))
                        (sections::nodes(report))
                        (sections::coalitions(report))
                        (sections::rounds(report))
                        (faults::in_full(report))
                        (sections::compare(report))
                        (signed::nist(report))
                        (sections::run(report))
                    }
                }
                footer { p { "Made by murmur " (report.reported_by) " from the log of a run by murmur " (report.version) "." } }
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

//! What went wrong: in short on the pages that are signed, which are four whatever happened, and in full in the appendix.

use maud::{Markup, html};

use crate::document::{Fault, Report};
use crate::words;

/// Kinds of faults that the pages for signing have room for.
const MOST_KINDS: usize = 6;
/// Names in a line of them.
const MOST_NAMES: usize = 4;

pub(super) fn in_short(report: &Report) -> Markup {
    let mut kinds: Vec<&Fault> = report.faults.iter().collect();
    // What cost something comes first.
    kinds.sort_by_key(|fault| fault.costs_nothing());
    let left_out = kinds.split_off(kinds.len().min(MOST_KINDS));
    html! {
        section {
            h2 { "What went wrong" }
            @if kinds.is_empty() { p { "Nothing." } } @else {
                (table(report, &kinds, MOST_NAMES))
                @if !left_out.is_empty() {
                    p {
                        (words::counted(left_out.len() as u64, "more kind")) " of faults"
                        @if left_out.iter().all(|fault| fault.costs_nothing()) { ", at no cost in privacy" } ": see the appendix."
                    }
                }
            }
        }
    }
}

/// All of it, where the pages for signing had no room.
pub(super) fn in_full(report: &Report) -> Markup {
    let kinds: Vec<&Fault> = report.faults.iter().collect();
    let fits = kinds.len() <= MOST_KINDS && kinds.iter().all(|fault| fault.peers.len() <= MOST_NAMES);
    html! {
        @if !fits { section { h2 { "All that went wrong" } (table(report, &kinds, usize::MAX)) } }
    }
}

fn table(report: &Report, kinds: &[&Fault], most: usize) -> Markup {
    html! {
        div.scroll { table {
            caption { "Faults in the log, and what they cost in privacy." }
            thead { tr {
                th scope="col" { "what" } th.n scope="col" { "how often" } th scope="col" { "who" } th scope="col" { "rounds" }
                th scope="col" { "what it cost" }
            } }
            tbody { @for fault in kinds {
                tr {
                    th scope="row" { (fault.kind) }
                    td.n { (fault.count) }
                    td { (who(report, fault, most)) }
                    td { @match fault.rounds { Some((first, last)) => { (first + 1) " to " (last + 1) } None => { "-" } } }
                    td { (fault.cost) }
                }
            } }
        } }
    }
}

/// Some names, and how many more there are.
fn who(report: &Report, fault: &Fault, most: usize) -> String {
    match fault.peers.len() {
        0 => "-".into(),
        all if all <= most => words::names(&fault.peers, &report.head),
        all => format!("{} and others, {all} in all", words::names(&fault.peers[..1], &report.head)),
    }
}

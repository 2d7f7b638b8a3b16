//! The answer as a table for people or as JSON for programs.

use serde::Serialize;
use topology::{Built, Entry};

use super::analysis::{Analysis, Degree};
use super::numbers::{grouped, short, significant};
use crate::failure::Result;

/// The keys of the JSON output.
#[derive(Debug, Serialize)]
pub(super) struct Record {
    spec: String,
    nodes: usize,
    edges: usize,
    degree: Degree,
    /// The diameter, or a lower bound where `diameter_at_most` is greater; null where the graph is in parts.
    diameter: Option<u32>,
    diameter_at_most: Option<u32>,
    connected: bool,
    weights: String,
    doubly_stochastic: bool,
    lambda2: f64,
    lambda_min: f64,
    spectral_gap: f64,
    tolerance: f64,
    mixing_rounds: Option<u64>,
    chebyshev_rounds: Option<u64>,
    mean_distance: Option<f64>,
    /// Null where `mean_distance` is exact.
    mean_distance_standard_error: Option<f64>,
    messages_per_node: Option<f64>,
    attempts: u64,
    dropped_self_loops: usize,
    dropped_duplicates: usize,
    left_out_nodes: usize,
}

impl Record {
    pub(super) fn of(a: &Analysis<'_>) -> Self {
        Self {
            spec: a.spec.to_string(),
            nodes: a.built.graph.nodes(),
            edges: a.built.graph.edges(),
            degree: a.degree,
            diameter: a.distances.map(|d| d.diameter),
            diameter_at_most: a.distances.map(|d| d.diameter_at_most),
            connected: a.distances.is_some(),
            weights: a.question.weights.to_string(),
            doubly_stochastic: a.doubly_stochastic,
            lambda2: a.spectrum.lambda2,
            lambda_min: a.spectrum.lambda_min,
            spectral_gap: a.spectrum.spectral_gap,
            tolerance: a.question.tolerance,
            mixing_rounds: a.mixing_rounds,
            chebyshev_rounds: a.chebyshev_rounds,
            mean_distance: a.distances.map(|d| d.mean),
            mean_distance_standard_error: a.distances.and_then(|d| d.mean_standard_error),
            messages_per_node: a.messages_per_node(),
            attempts: a.built.attempts,
            dropped_self_loops: a.built.dropped.self_loops,
            dropped_duplicates: a.built.dropped.duplicates,
            left_out_nodes: a.built.left_out,
        }
    }
}

pub(super) fn json(analysis: &Analysis<'_>) -> Result<Vec<u8>> {
    pretty(&Record::of(analysis))
}

pub(super) fn pretty(value: &impl Serialize) -> Result<Vec<u8>> {
    Ok(crate::output::json(value)?.into_bytes())
}

/// Two blocks of numbers and a sentence on what they mean.
pub(super) fn table(a: &Analysis<'_>) -> String {
    let mut text = format!("{}\n", a.spec);
    let family = a.spec.to_string();
    if let Some(entry) = family.split(':').next().and_then(Entry::named) {
        text.push_str(&format!("{}\n", entry.summary));
    }
    text.push('\n');
    text.push_str(&aligned(&graph_lines(a)));
    text.push('\n');
    text.push_str(&aligned(&mixing_lines(a)));
    text.push_str(&format!("\n{}\n", meaning(a)));
    for note in notes(a.built) {
        text.push_str(&format!("Note: {note}.\n"));
    }
    text
}

/// What happened while the graph was made that its reader should know.
pub(super) fn notes(built: &Built) -> Vec<String> {
    let mut notes = Vec::new();
    let dropped = built.dropped;
    if dropped.self_loops + dropped.duplicates > 0 {
        let (loops, duplicates) = (dropped.self_loops, dropped.duplicates);
        notes.push(format!("dropped {loops} self-loops and {duplicates} repeated edges"));
    }
    if built.left_out > 0 {
        notes
            .push(format!("left out {} nodes outside the largest component", grouped(built.left_out as u64)));
    }
    if built.attempts > 1 {
        notes.push(format!("took the first connected graph, after {} attempts", built.attempts));
    }
    notes
}

type Line = (&'static str, String);

fn graph_lines(a: &Analysis<'_>) -> Vec<Line> {
    let degree = if a.degree.min == a.degree.max {
        format!("{} everywhere", a.degree.min)
    } else {
        format!("{} to {}, mean {}", a.degree.min, a.degree.max, short(a.degree.mean))
    };
    let (diameter, mean) = match a.distances {
        Some(d) if d.is_diameter_exact() => (d.diameter.to_string(), d.mean),
        Some(d) => (format!("between {} and {}", d.diameter, d.diameter_at_most), d.mean),
        None => ("infinite".to_owned(), f64::INFINITY),
    };
    let mean_distance = match a.distances.map(|d| d.mean_standard_error) {
        Some(Some(error)) => format!("{} ± {} (estimate)", significant(mean), significant(error)),
        Some(None) => significant(mean),
        None => "infinite".to_owned(),
    };
    vec![
        ("nodes", grouped(a.built.graph.nodes() as u64)),
        ("edges", grouped(a.built.graph.edges() as u64)),
        ("degree", degree),
        ("connected", if a.distances.is_some() { "yes" } else { "no" }.to_owned()),
        ("diameter", diameter),
        ("mean distance", mean_distance),
    ]
}

fn mixing_lines(a: &Analysis<'_>) -> Vec<Line> {
    let keeps = if a.doubly_stochastic {
        "doubly stochastic: gossip keeps the mean"
    } else {
        "NOT doubly stochastic: gossip ends in a weighted mean"
    };
    let never = || "never".to_owned();
    vec![
        ("weights", format!("{} ({keeps})", a.question.weights)),
        ("λ2", significant(a.spectrum.lambda2)),
        ("λmin", significant(a.spectrum.lambda_min)),
        ("spectral gap", significant(a.spectrum.spectral_gap)),
        ("mixing rounds", a.mixing_rounds.map_or_else(never, grouped)),
        ("Chebyshev rounds", a.chebyshev_rounds.map_or_else(never, grouped)),
    ]
}

/// One sentence (or two) on what the numbers mean.
fn meaning(a: &Analysis<'_>) -> String {
    let tolerance = a.question.tolerance;
    let (Some(rounds), Some(messages)) = (a.mixing_rounds, a.messages_per_node()) else {
        let why = if a.distances.is_none() { "the graph is in parts" } else { "an eigenvalue is 1 or -1" };
        return format!("Gossip with these weights never brings all nodes together: {why}.");
    };
    let target = if a.doubly_stochastic { "the mean" } else { "a weighted mean" };
    let accelerated = match a.chebyshev_rounds {
        Some(fewer) if fewer < rounds => {
            format!(" Chebyshev acceleration needs {} rounds instead.", grouped(fewer))
        }
        _ => String::new(),
    };
    format!(
        "After {} round{} of gossip the distance of all nodes from {target} has shrunk to {tolerance} of what it \
         was;\neach node has then sent {} messages on average.{accelerated}",
        grouped(rounds),
        if rounds == 1 { "" } else { "s" },
        grouped(messages.round() as u64),
    )
}

fn aligned(lines: &[Line]) -> String {
    lines.iter().map(|(name, value)| format!("  {name:<16}  {value}\n")).collect()
}

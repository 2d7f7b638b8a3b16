//! What a run came to, for people and for programs.

use protocol::account::Figure;
use protocol::work::Adjacency;
use protocol::{RunResult, Setup};
use serde::Serialize;
use sim::sweep::Summary;

use crate::failure::{Failure, Result};
use crate::table::{Table, rounded_up};
use learn::metrics::MeanSpread;

/// Pretty JSON with a newline.
pub(super) fn json(value: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::of(error, None))?;
    Ok(text + "\n")
}

/// The result as a table.
pub(super) fn table(setup: &Setup, result: &RunResult) -> String {
    let config = &setup.config;
    let mut text = String::new();
    let mut row = |name: &str, value: String| text.push_str(&format!("{name:<20}{value}\n"));
    row("run", result.run.clone());
    row(
        "algorithm",
        format!(
            "{}, {} nodes, {} rounds, seed {}",
            result.algorithm, result.nodes, result.rounds, result.seed
        ),
    );
    row("data", format!("{}, {}", config.data, config.partition));
    let is_mean = setup.model.kind() == "mean";
    if let Some(accuracy) = result.test_acc {
        row("test accuracy", format!("{:.1} %", 100.0 * accuracy));
    }
    if let Some(loss) = result.test_loss {
        row(if is_mean { "squared error" } else { "test loss" }, significant(loss));
    }
    row("consensus distance", result.consensus_distance.map_or_else(|| "not finite".into(), significant));
    row("bytes per node", bytes(result.bytes_per_node));
    row("broken rounds", result.broken_rounds.to_string());
    row("virtual time", format!("{:.3} s", result.time));
    row("noise multiplier", significant(result.noise_multiplier));
    let privacy = &result.privacy;
    text.push_str(&format!("\nPrivacy of one {} at δ = {}\n", unit(privacy.adjacency), privacy.delta));
    let mut figures = Table::new(["who watches", "ε", "analysis"]);
    for (name, figure) in [
        ("worst pair", &privacy.worst),
        ("mean over pairs", &privacy.mean),
        ("sees every message", &privacy.local),
    ] {
        figures.row([name.into(), epsilon(figure), figure.analysis.clone()]);
    }
    text.push_str(&figures.render());
    if !privacy.private {
        text.push_str("\nThis is a simulation: its noise is seeded, so it protects nobody. The figures are what a real run would cost.\n");
    }
    text
}

/// One sentence for the model's metadata.
pub(super) fn guarantee(result: &RunResult) -> String {
    let privacy = &result.privacy;
    let worst = &privacy.worst;
    if privacy.local.epsilon.is_infinite() {
        return "none: contributions had no noise".into();
    }
    format!(
        "none: simulated with seeded noise. A real run would cost ε = {} at δ = {} for one {}, worst pair, by the analysis {}",
        epsilon(worst),
        privacy.delta,
        unit(privacy.adjacency),
        worst.analysis
    )
}

/// A sweep as a table: one row per point, mean ± spread over its seeds.
pub(super) fn sweep_table(keys: &[String], summaries: &[Summary]) -> String {
    let heading = keys.iter().map(String::as_str).chain([
        "seeds",
        "accuracy %",
        "loss",
        "consensus",
        "bytes/node",
        "ε worst",
        "ε mean",
        "ε local",
    ]);
    let mut table = Table::new(heading);
    for summary in summaries {
        let values = summary.set.0.iter().map(|(_, value)| value.clone());
        table.row(values.chain([
            summary.seeds.to_string(),
            spread(summary.test_acc.as_ref(), 100.0),
            spread(summary.test_loss.as_ref(), 1.0),
            spread(summary.consensus_distance.as_ref(), 1.0),
            summary.bytes_per_node.as_ref().map_or_else(String::new, |all| bytes(all.mean)),
            spread(summary.epsilon_worst.as_ref(), 1.0),
            spread(summary.epsilon_mean.as_ref(), 1.0),
            spread(summary.epsilon_local.as_ref(), 1.0),
        ]));
    }
    table.render()
        + "\nSimulations: the noise is seeded, so they protect nobody; ε is what real runs would cost. Spread: standard deviation over seeds.\n"
}

fn unit(adjacency: Adjacency) -> &'static str {
    match adjacency {
        Adjacency::Record => "record",
        Adjacency::Node => "node",
    }
}

fn spread(values: Option<&MeanSpread>, scale: f64) -> String {
    match values {
        None => "-".into(),
        Some(all) if all.count == 1 => significant(scale * all.mean),
        Some(all) => format!("{} ± {}", significant(scale * all.mean), significant(scale * all.spread)),
    }
}

fn epsilon(figure: &Figure) -> String {
    match figure.epsilon {
        f64::INFINITY => "∞".into(),
        0.0 => "0".into(),
        1000.0.. => rounded_up(figure.epsilon, 0),
        100.0.. => rounded_up(figure.epsilon, 1),
        1.0.. => rounded_up(figure.epsilon, 2),
        0.01.. => rounded_up(figure.epsilon, 3),
        _ => rounded_up(figure.epsilon, 6),
    }
}

/// Three digits that count.
fn significant(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        1000.0.. => format!("{value:.0}"),
        100.0.. => format!("{value:.1}"),
        1.0.. => format!("{value:.2}"),
        0.01.. => format!("{value:.3}"),
        _ => format!("{value:.1e}"),
    }
}

fn bytes(count: f64) -> String {
    match count {
        1e9.. => format!("{:.2} GB", count / 1e9),
        1e6.. => format!("{:.2} MB", count / 1e6),
        1e3.. => format!("{:.1} kB", count / 1e3),
        _ => format!("{count:.0} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_keep_their_size() {
        assert_eq!(
            [0.0, 0.000_123, 0.0456, 1.234, 123.4, 12345.6].map(significant),
            ["0", "1.2e-4", "0.046", "1.23", "123.4", "12346"]
        );
        assert_eq!([12.0, 1_500.0, 2_345_678.0].map(bytes), ["12 B", "1.5 kB", "2.35 MB"]);
    }
}

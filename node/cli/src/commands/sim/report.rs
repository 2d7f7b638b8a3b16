//! What a run came to, for people and for programs.

use protocol::{RunResult, Setup};
use sim::sweep::{PersonalSpread, Summary};

use crate::figures::{mean_text, measured, personal_rows, privacy_table, rounds, sentence, short_loss};
use crate::table::Table;
use learn::metrics::MeanSpread;

/// The result as a table.
pub(super) fn table(setup: &Setup, result: &RunResult, model: &[f32]) -> String {
    let config = &setup.config;
    let mut text = String::new();
    let mut row = |name: &str, value: String| text.push_str(&format!("{name:<20}{value}\n"));
    row("run", result.run.clone());
    row(
        "algorithm",
        format!(
            "{}, {} nodes, {}, seed {}",
            result.algorithm,
            result.nodes,
            rounds(u64::from(result.rounds)),
            result.seed
        ),
    );
    row("data", format!("{}, {}", config.data, config.partition));
    let is_mean = setup.model.kind() == "mean";
    if is_mean {
        row("mean", mean_text(setup, model));
    }
    if let Some(accuracy) = result.test_acc {
        row("test accuracy", format!("{:.1} %", 100.0 * accuracy));
    }
    if let Some(loss) = result.test_loss {
        row(if is_mean { "squared error" } else { "test loss" }, measured(loss));
    }
    if let Some(personal) = &result.personal {
        personal_rows(personal).into_iter().for_each(|(name, value)| row(name, value));
    }
    if let Some(clusters) = &result.clusters {
        let groups = match clusters.unmixed {
            Some(true) => ", no two groups in one",
            Some(false) => ", groups are mixed",
            None => "",
        };
        row("slots", format!("{}{groups}", clusters.slots));
    }
    row("consensus distance", result.consensus_distance.map_or_else(|| "not finite".into(), measured));
    row("bytes per node", bytes(result.bytes_per_node));
    row("broken rounds", result.broken_rounds.to_string());
    row("virtual time", format!("{:.3} s", result.time));
    row("noise multiplier", measured(result.noise_multiplier));
    let privacy = &result.privacy;
    text.push_str(&format!("\n{}", privacy_table(privacy)));
    if !privacy.private {
        text.push_str("\nThis is a simulation: its noise is seeded, so it protects nobody. The figures are what a real run would cost.\n");
    }
    text
}

/// One sentence for the model's metadata.
pub(super) fn guarantee(result: &RunResult) -> String {
    let privacy = &result.privacy;
    if privacy.local.epsilon.is_infinite() {
        return "none: contributions had no noise".into();
    }
    format!("none: simulated with seeded noise. A real run would cost {}", sentence(privacy))
}

/// A sweep as a table: one row per point, mean ± spread over its seeds.
pub(super) fn sweep_table(keys: &[String], summaries: &[Summary]) -> String {
    let own = summaries.iter().any(|summary| summary.personal.is_some());
    let of_own: &[&str] = if own { &["own test: personal", "shared", "alone", "worst tenth"] } else { &[] };
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
    let heading = heading.chain(of_own.iter().copied());
    let mut table = Table::new(heading);
    for summary in summaries {
        let values = summary.set.0.iter().map(|(_, value)| value.clone());
        table.row(
            values
                .chain([
                    summary.seeds.to_string(),
                    spread(summary.test_acc.as_ref(), 100.0),
                    spread(summary.test_loss.as_ref(), 1.0),
                    spread(summary.consensus_distance.as_ref(), 1.0),
                    summary.bytes_per_node.as_ref().map_or_else(String::new, |all| bytes(all.mean)),
                    losses(summary.epsilon_worst.as_ref()),
                    losses(summary.epsilon_mean.as_ref()),
                    losses(summary.epsilon_local.as_ref()),
                ])
                .chain(if own { own_cells(summary.personal.as_ref()).to_vec() } else { Vec::new() }),
        );
    }
    table.render()
        + "\nSimulations: the noise is seeded, so they protect nobody; ε is what real runs would cost. Spread: standard deviation over seeds.\n"
}

/// The models of the nodes' own on their own test parts.
fn own_cells(personal: Option<&PersonalSpread>) -> [String; 4] {
    let all = personal.map(|own| [&own.personal, &own.shared, &own.alone, &own.worst_tenth]);
    all.map_or_else(|| [(); 4].map(|()| "-".to_owned()), |all| all.map(|figure| spread(Some(figure), 1.0)))
}

fn spread(values: Option<&MeanSpread>, scale: f64) -> String {
    shown(values, &|value| measured(scale * value))
}

/// Mean and spread of a loss: the mean is rounded up.
fn losses(values: Option<&MeanSpread>) -> String {
    shown(values, &short_loss)
}

fn shown(values: Option<&MeanSpread>, mean: &dyn Fn(f64) -> String) -> String {
    match values {
        None => "-".into(),
        Some(all) if all.count == 1 => mean(all.mean),
        Some(all) => format!("{} ± {}", mean(all.mean), mean(all.spread)),
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
    fn sizes_are_short() {
        assert_eq!([12.0, 1_500.0, 2_345_678.0].map(bytes), ["12 B", "1.5 kB", "2.35 MB"]);
    }

    #[test]
    fn a_mean_loss_over_seeds_is_never_printed_below_itself() {
        let of = |values: &[f64]| MeanSpread::of(values).ok();
        assert_eq!(losses(of(&[2.44492]).as_ref()), "2.45");
        assert_eq!(losses(of(&[2.44492, 2.44492]).as_ref()), "2.45 ± 0");
        assert_eq!(spread(of(&[0.91234]).as_ref(), 100.0), "91.23");
    }
}

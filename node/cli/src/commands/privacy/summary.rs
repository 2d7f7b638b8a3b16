//! Pairwise losses for a person: by distance, the worst pair, the mean, and what it means.

use super::numbers::{plain, rounded_up};
use crate::table::Table;
use privacy::network::Analysis;
use privacy::question::pairwise::Answer;
use privacy::question::{AtDistance, Summary};

/// The default output.
pub(super) fn table(pairs: &Answer) -> String {
    let summary = pairs.summary();
    let mut text = heading(pairs);
    let mut table = Table::new(["distance", "pairs", "ε min", "ε mean", "ε max", "μ² mean"]);
    for at in &summary.by_distance {
        table.row(cells(at.distance.map_or("any".into(), |distance| distance.to_string()), at));
    }
    if summary.by_distance.len() > 1 {
        table.row(cells("all".into(), &summary.all));
    }
    text.push_str(&table.render());
    text.push('\n');
    text.push_str(&closing(pairs, &summary));
    text
}

fn cells(name: String, at: &AtDistance) -> [String; 6] {
    let [least, mean, most, mu2] =
        [at.epsilon.min, at.epsilon.mean, at.epsilon.max, at.mu2_mean].map(rounded_up);
    [name, at.pairs.to_string(), least, mean, most, mu2]
}

fn heading(pairs: &Answer) -> String {
    let method = pairs.method.as_ref().map_or(String::new(), |method| format!(" ({method})"));
    let message_noise = if pairs.message_noise > 0.0 {
        format!(", message noise {}·σ", pairs.message_noise)
    } else {
        String::new()
    };
    let watchers = match (pairs.coalitions.len(), &pairs.coalitions[0]) {
        (1, watchers) if watchers.members().len() > 1 => {
            format!("a coalition of {}", watchers.members().len())
        }
        (1, watchers) => format!("node {}", watchers.members()[0]),
        (count, _) if count == pairs.nodes => "every node, each for itself".into(),
        (count, _) => format!("{count} nodes, each for itself"),
    };
    format!(
        "analysis {}{method}: {} nodes, {} contribution{}, {} mixing step{} after each{message_noise}\n\
         watched by {watchers}; σ = {}, Δ = {}, δ = {}\n\n",
        pairs.analysis,
        pairs.nodes,
        pairs.rounds,
        plural(pairs.rounds),
        pairs.steps,
        plural(pairs.steps),
        plain(pairs.sigma),
        plain(pairs.sensitivity),
        plain(pairs.delta),
    )
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn closing(pairs: &Answer, summary: &Summary) -> String {
    let Some(worst) = summary.worst else { return String::new() };
    let members: Vec<String> =
        pairs.coalitions[worst.row].members().iter().map(|&node| pairs.label(node)).collect();
    let watcher = members.join(" and ");
    let mut text = format!(
        "worst pair  {} about {}: ε = {}   mean  ε = {}   (δ = {}, analysis {})\n",
        watcher,
        pairs.label(worst.source),
        rounded_up(worst.epsilon),
        rounded_up(summary.all.epsilon.mean),
        plain(pairs.delta),
        pairs.analysis
    );
    let meaning = match pairs.local_epsilon {
        Some(local) if local > 0.0 && pairs.analysis != Analysis::Local => format!(
            "The mean ε is {} of that of somebody who sees every message (ε = {}, analysis local).\n",
            percent(summary.all.epsilon.mean / local),
            rounded_up(local),
        ),
        _ => String::new(),
    };
    text.push_str(&meaning);
    text.push_str(&format!("Guarantee: {}\nAssumes: {}\n", pairs.guarantee, pairs.assumes));
    text
}

fn percent(share: f64) -> String {
    format!("{:.0} %", (100.0 * share).ceil())
}

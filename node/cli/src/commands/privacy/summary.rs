//! Pairwise losses for a person: by distance, the worst pair, the mean, and what it means.

use super::model::{Model, Protocol};
use super::numbers::{plain, rounded_up};
use super::priced::{Noise, Priced};
use crate::table::Table;
use ::privacy::network::{Analysis, Watchers};
use std::collections::BTreeMap;
use std::collections::VecDeque;

impl Model {
    /// Steps between each node and the nearest member of the coalition, on the graph or on the first round's exchanges.
    pub(super) fn distances(&self, watchers: &Watchers) -> Option<Vec<Option<u32>>> {
        let graph = self.network.as_ref()?.graph();
        let mut distance = vec![None; graph.nodes()];
        let mut queue: VecDeque<usize> = watchers.members().iter().copied().collect();
        queue.iter().for_each(|&member| distance[member] = Some(0));
        while let Some(node) = queue.pop_front() {
            for &next in graph.neighbours(node) {
                if distance[next as usize].is_none() {
                    distance[next as usize] = distance[node].map(|d| d + 1);
                    queue.push_back(next as usize);
                }
            }
        }
        Some(distance)
    }

    /// What the figures promise: nothing, for paths that were only sampled.
    pub(super) fn guarantee(&self) -> &'static str {
        match self.protocol {
            Protocol::PlannedWalk { .. } => {
                "None before the walk is made: an estimate from sampled paths with a 95 % confidence interval. The path that is walked has a guarantee of its own."
            }
            _ => self.analysis.guarantee(),
        }
    }

    /// What must hold for it, or what a paper takes for granted.
    pub(super) fn assumes(&self) -> &'static str {
        match self.protocol {
            Protocol::MatrixFactorisationSum { .. } => {
                "What the paper assumes: contributions that do not depend on received messages, which those of SGD do."
            }
            Protocol::RandomWalkClosedForm { .. } => {
                "What the paper assumes: a watcher that knows neither the path nor who held the token before, an average path, and update maps that bring no two states farther apart."
            }
            _ => self.analysis.assumes(),
        }
    }
}

/// Least, mean and greatest of some losses.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spread {
    pub(super) count: usize,
    pub(super) least: f64,
    pub(super) most: f64,
    sum: f64,
    sum_mu2: f64,
}

impl Spread {
    pub(super) fn add(&mut self, epsilon: f64, mu2: f64) {
        self.least = if self.count == 0 { epsilon } else { self.least.min(epsilon) };
        self.most = self.most.max(epsilon);
        self.sum += epsilon;
        self.sum_mu2 += mu2;
        self.count += 1;
    }

    pub(super) fn mean(&self) -> f64 {
        self.sum / self.count.max(1) as f64
    }

    pub(super) fn mean_mu2(&self) -> f64 {
        self.sum_mu2 / self.count.max(1) as f64
    }
}

/// All pairs, and all pairs at each distance.
pub(super) struct Summary {
    pub(super) all: Spread,
    pub(super) by_distance: BTreeMap<Option<u32>, Spread>,
    /// Row, source, ε of the pair that loses most.
    pub(super) worst: Option<(usize, usize, f64)>,
}

impl Summary {
    pub(super) fn of(model: &Model, priced: &Priced) -> Self {
        let mut summary = Self { all: Spread::default(), by_distance: BTreeMap::new(), worst: None };
        for (row, watchers) in model.coalitions.iter().enumerate() {
            let distances = model.distances(watchers);
            for node in (0..model.nodes).filter(|&node| !watchers.contains(node)) {
                let (epsilon, mu2) = (priced.epsilon[row][node], priced.mu2[row][node]);
                let distance = distances.as_ref().and_then(|distances| distances[node]);
                summary.all.add(epsilon, mu2);
                summary.by_distance.entry(distance).or_default().add(epsilon, mu2);
                if summary.worst.is_none_or(|(_, _, worst)| epsilon > worst) {
                    summary.worst = Some((row, node, epsilon));
                }
            }
        }
        summary
    }
}

/// The default output.
pub(super) fn table(model: &Model, priced: &Priced, noise: Noise) -> String {
    let summary = Summary::of(model, priced);
    let mut text = heading(model, noise);
    let mut table = Table::new(["distance", "pairs", "ε min", "ε mean", "ε max", "μ² mean"]);
    for (distance, spread) in &summary.by_distance {
        let distance = distance.map_or("any".into(), |distance| distance.to_string());
        table.row(cells(distance, spread));
    }
    if summary.by_distance.len() > 1 {
        table.row(cells("all".into(), &summary.all));
    }
    text.push_str(&table.render());
    text.push('\n');
    text.push_str(&closing(model, &summary, noise));
    text
}

fn cells(name: String, spread: &Spread) -> [String; 6] {
    let numbers = [spread.least, spread.mean(), spread.most, spread.mean_mu2()].map(rounded_up);
    let [least, mean, most, mu2] = numbers;
    [name, spread.count.to_string(), least, mean, most, mu2]
}

fn heading(model: &Model, noise: Noise) -> String {
    let method = model.method.as_ref().map_or(String::new(), |method| format!(" ({method})"));
    let message_noise = if model.message_noise > 0.0 {
        format!(", message noise {}·σ", model.message_noise)
    } else {
        String::new()
    };
    let watchers = match (model.coalitions.len(), &model.coalitions[0]) {
        (1, watchers) if watchers.members().len() > 1 => {
            format!("a coalition of {}", watchers.members().len())
        }
        (1, watchers) => format!("node {}", watchers.members()[0]),
        (count, _) if count == model.nodes => "every node, each for itself".into(),
        (count, _) => format!("{count} nodes, each for itself"),
    };
    format!(
        "analysis {}{method}: {} nodes, {} contribution{}, {} mixing step{} after each{message_noise}\n\
         watched by {watchers}; σ = {}, Δ = {}, δ = {}\n\n",
        model.analysis,
        model.nodes,
        model.rounds,
        plural(model.rounds),
        model.steps,
        plural(model.steps),
        plain(noise.sigma),
        plain(noise.sensitivity),
        plain(noise.delta),
    )
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn closing(model: &Model, summary: &Summary, noise: Noise) -> String {
    let Some((row, source, worst)) = summary.worst else { return String::new() };
    let members: Vec<String> =
        model.coalitions[row].members().iter().map(|&node| model.label(node)).collect();
    let watcher = members.join(" and ");
    let local = local_epsilon(model, noise);
    let mut text = format!(
        "worst pair  {} about {}: ε = {}   mean  ε = {}   (δ = {}, analysis {})\n",
        watcher,
        model.label(source),
        rounded_up(worst),
        rounded_up(summary.all.mean()),
        plain(noise.delta),
        model.analysis
    );
    let meaning = match local {
        Some(local) if local > 0.0 && model.analysis != Analysis::Local => format!(
            "The mean ε is {} of that of somebody who sees every message (ε = {}, analysis local).\n",
            percent(summary.all.mean() / local),
            rounded_up(local),
        ),
        _ => String::new(),
    };
    text.push_str(&meaning);
    text.push_str(&format!("Guarantee: {}\nAssumes: {}\n", model.guarantee(), model.assumes()));
    text
}

fn percent(share: f64) -> String {
    format!("{:.0} %", (100.0 * share).ceil())
}

/// ε of somebody who sees everything, where the protocol says how often each node contributes.
fn local_epsilon(model: &Model, noise: Noise) -> Option<f64> {
    let Protocol::Mixing { run, .. } = &model.protocol else { return None };
    let mu = (run.rounds() as f64).sqrt() * noise.sensitivity / noise.sigma;
    ::privacy::gdp::epsilon(mu, noise.delta).ok()
}

impl Model {
    /// The name of a node: its label, or its number.
    pub(super) fn label(&self, node: usize) -> String {
        match &self.network {
            Some(network) if network.graph().labels().is_some() => {
                format!("{} ({node})", network.graph().label(node))
            }
            _ => format!("node {node}"),
        }
    }
}

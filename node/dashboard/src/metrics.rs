//! `/metrics` for Prometheus, in its text format, version 0.0.4, or in OpenMetrics 1.0 for those who ask for it.
//!
//! Written by hand: every value is read from one picture of the run at the moment of the scrape, so a registry of counters would be a second copy of the state to
//! keep in step, and the format is a dozen lines.

use std::fmt::Write;

use crate::state::row::loss;
use crate::view::{Node, Run, Status};

/// Nodes up to which each has series of its own.
const MOST_NODES: usize = 2000;

/// In which of two close formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Prometheus,
    OpenMetrics,
}

impl Dialect {
    /// What a reader can take, by its `Accept`.
    pub(crate) fn wanted(accept: Option<&str>) -> Self {
        let open = accept.is_some_and(|accept| accept.contains("application/openmetrics-text"));
        if open { Self::OpenMetrics } else { Self::Prometheus }
    }

    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// The text of a scrape.
pub(crate) fn text(run: &Run, dialect: Dialect) -> String {
    let mut page = Page(String::new(), dialect);
    about(&mut page, &run.status);
    counts(&mut page, &run.status);
    epsilons(&mut page, &run.status);
    if run.nodes.len() <= MOST_NODES {
        nodes(&mut page, run);
    }
    if dialect == Dialect::OpenMetrics {
        page.0.push_str("# EOF\n");
    }
    page.0
}

fn about(page: &mut Page, status: &Status) {
    let labels = [("run", status.run.as_str()), ("algorithm", status.algorithm), ("version", status.version)];
    page.family("murmur_run_info", "gauge", "What runs: always 1, the labels tell.");
    page.value("murmur_run_info", &labels, 1.0);
    page.gauge("murmur_run_finished", "1 when the run is over.", Some(f64::from(status.phase == "finished")));
    page.gauge(
        "murmur_run_seconds",
        "Seconds since the run began, by the clocks of its logs.",
        Some(status.time),
    );
    page.gauge("murmur_nodes", "Members of the run.", Some(status.nodes as f64));
    page.gauge("murmur_nodes_here", "Members that take part now or have finished.", Some(status.here as f64));
    page.gauge(
        "murmur_nodes_away",
        "Members that cannot be reached, that died, or that the others went on without.",
        Some(status.away.len() as f64),
    );
    page.gauge(
        "murmur_round",
        "Rounds (for a walk: hops) that at least one node ended.",
        Some(status.round.into()),
    );
    page.gauge(
        "murmur_rounds_planned",
        "Rounds (for a walk: hops) that are planned.",
        Some(status.rounds.into()),
    );
    page.gauge(
        "murmur_training_loss",
        "Mean loss on the nodes' own data at their last contributions; not covered by any epsilon.",
        status.loss,
    );
    page.gauge(
        "murmur_test_accuracy",
        "Mean share of test records that the nodes' models classify rightly.",
        status.accuracy,
    );
    let quality = &status.quality;
    let others = [
        ("murmur_test_auc", "Mean area under the ROC curve on test records.", quality.auc),
        ("murmur_test_log_loss", "Mean log loss on test records.", quality.log_loss),
        (
            "murmur_test_calibration",
            "Mean distance of probabilities from what happened, on test records.",
            quality.calibration,
        ),
        (
            "murmur_test_base_rate",
            "Share of the commonest class among test records: what any model must beat.",
            quality.base_rate,
        ),
        (
            "murmur_test_accuracy_alone",
            "Accuracy of a model that the node trained alone and without noise.",
            quality.alone,
        ),
    ];
    for (name, help, value) in others {
        page.gauge(name, &format!("{help} Not covered by any epsilon."), value);
    }
}

fn counts(page: &mut Page, status: &Status) {
    let counters: [(&str, &str, u64); 9] = [
        (
            "murmur_contributions_total",
            "Contributions that were recorded and may have been sent.",
            status.contributions,
        ),
        ("murmur_contributions_refused_total", "Contributions that a budget refused.", status.refused),
        ("murmur_rounds_broken_total", "Rounds that at least one node gave up.", status.broken_rounds),
        ("murmur_peer_faults_total", "Messages that a peer must not send.", status.peer_faults),
        ("murmur_late_messages_total", "Messages that came too late to be used.", status.late_messages),
        (
            "murmur_bytes_sent_total",
            "Bytes of messages that nodes sent since they were started.",
            status.bytes_sent,
        ),
        (
            "murmur_bytes_received_total",
            "Bytes of messages that nodes received since they were started.",
            status.bytes_received,
        ),
        (
            "murmur_messages_dropped_total",
            "Messages that could not be queued or sent.",
            status.messages_dropped,
        ),
        ("murmur_log_lines_total", "Lines of run logs that were read.", status.log_lines),
    ];
    for (name, help, value) in counters {
        page.family(name, "counter", help);
        page.value(name, &[], value as f64);
    }
}

fn epsilons(page: &mut Page, status: &Status) {
    let epsilon = &status.epsilon;
    page.gauge(
        "murmur_private",
        "1 where the noise came from a private source and every loss is finite; 0: this run protects nobody.",
        status.private.map(f64::from),
    );
    page.gauge("murmur_delta", "Delta of every epsilon.", Some(epsilon.delta));
    page.gauge("murmur_epsilon_budget", "Epsilon that the run was planned for.", status.budget);
    page.gauge(
        "murmur_epsilon_round",
        "Rounds that murmur_epsilon is about; a report says the same about them.",
        epsilon.round.map(f64::from),
    );
    page.family(
        "murmur_epsilon",
        "gauge",
        "Epsilon so far, by who watches (worst pair, mean over pairs, somebody who sees every message) and analysis; +Inf without noise.",
    );
    if let Some(analysis) = epsilon.analysis.as_deref() {
        let infinite = analysis.starts_with("none");
        let shown = |value: Option<f64>| value.map(loss).or(infinite.then_some(f64::INFINITY));
        let rows = [
            ("worst_pair", analysis, shown(epsilon.worst)),
            ("mean_pair", analysis, epsilon.mean.map(loss)),
            ("local", "local", shown(epsilon.local)),
        ];
        for (watcher, analysis, value) in rows {
            if let Some(value) = value {
                page.value("murmur_epsilon", &[("watcher", watcher), ("analysis", analysis)], value);
            }
        }
    }
    page.family(
        "murmur_budget_spent_ratio",
        "gauge",
        "Part of a limit that this node has spent, by its own count: a bound in the units of the limit, priced for a member of partition.min_size and in full until a round is settled. For the loss itself see murmur_epsilon.",
    );
    for (limit, part) in &status.spent {
        page.value("murmur_budget_spent_ratio", &[("limit", limit)], *part);
    }
}

fn nodes(page: &mut Page, run: &Run) {
    let up = |node: &Node| {
        use crate::state::row::Standing::{Finished, Here};
        Some(f64::from(matches!(node.state, Here | Finished)))
    };
    let mut series = |name: &str, help: &str, of: &dyn Fn(&Node) -> Option<f64>| {
        page.family(name, "gauge", help);
        for node in &run.nodes {
            if let Some(value) = of(node) {
                page.value(name, &[("node", &node.node.to_string())], value);
            }
        }
    };
    series("murmur_node_up", "1 where the node takes part or has finished.", &up);
    series("murmur_node_round", "Rounds that the node ended.", &|node| node.round.map(f64::from));
    series("murmur_node_loss", "Loss on the node's own data; not covered by any epsilon.", &|node| node.loss);
    series(
        "murmur_node_epsilon",
        "Epsilon of the node towards the node that saw most, by the analysis of murmur_epsilon.",
        &|node| node.epsilon.map(loss),
    );
    series(
        "murmur_node_epsilon_local",
        "Epsilon of the node towards somebody who sees every message.",
        &|node| node.epsilon_local.map(loss),
    );
}

struct Page(String, Dialect);

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // In OpenMetrics `_total` belongs to the sample of a counter, not to the family.
        let family = match self.1 {
            Dialect::OpenMetrics => name.strip_suffix("_total").unwrap_or(name),
            Dialect::Prometheus => name,
        };
        let _ = write!(self.0, "# HELP {family} {help}\n# TYPE {family} {kind}\n");
    }

    fn gauge(&mut self, name: &str, help: &str, value: Option<f64>) {
        if let Some(value) = value {
            self.family(name, "gauge", help);
            self.value(name, &[], value);
        }
    }

    fn value(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        self.0.push_str(name);
        for (at, (label, text)) in labels.iter().enumerate() {
            let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.0, "{}{label}=\"{text}\"", if at == 0 { '{' } else { ',' });
        }
        let close = if labels.is_empty() { "" } else { "}" };
        let value = if value == f64::INFINITY { "+Inf".to_owned() } else { value.to_string() };
        let _ = writeln!(self.0, "{close} {value}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{Only, Outline};
    use crate::price::Pricer;
    use crate::state::State;
    use crate::testing::{Swarm, setup};

    #[test]
    fn every_series_has_one_help_and_one_type_before_its_values() {
        let setup = setup(&["nodes=3", "rounds=10"]);
        let mut state = State::new(Outline::of(&setup.config, Only::Everybody));
        let mut pricer = Pricer::new(setup.shape(), Only::Everybody);
        for line in Swarm::new(3).rounds(2) {
            state.push(&line);
            pricer.push(&line);
        }
        state.on_priced(pricer.price());
        let run = Run::of(&state);
        let open = text(&run, Dialect::OpenMetrics);
        assert!(
            open.contains("# TYPE murmur_contributions counter\nmurmur_contributions_total 6\n"),
            "{open}"
        );
        assert!(open.ends_with("\n# EOF\n") && open.matches("# EOF").count() == 1, "{open}");
        let text = text(&run, Dialect::Prometheus);
        let mut described = Vec::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                let name = rest.split(' ').next().unwrap().to_owned();
                assert!(!described.contains(&name), "{name} twice");
                assert!(text.contains(&format!("# HELP {name} ")));
                described.push(name);
            } else if !line.starts_with('#') {
                let name = line.split(['{', ' ']).next().unwrap();
                assert_eq!(described.last().map(String::as_str), Some(name), "{line}");
                let value = line.rsplit(' ').next().unwrap();
                assert!(value == "+Inf" || value.parse::<f64>().is_ok(), "{line}");
            }
        }
        assert!(text.contains("murmur_contributions_total 6\n"), "{text}");
        assert!(text.contains("murmur_node_up{node=\"2\"} 1\n"), "{text}");
        assert!(text.contains("analysis=\"rounds\""), "{text}");
    }

    #[test]
    fn labels_are_escaped() {
        let mut page = Page(String::new(), Dialect::Prometheus);
        page.value("x", &[("a", "q\"\\\n")], f64::INFINITY);
        assert_eq!(page.0, "x{a=\"q\\\"\\\\\\n\"} +Inf\n");
    }
}

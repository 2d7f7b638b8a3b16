//! What is served: the JSON objects of `/api/status`, `/api/run` and the stream.

use privacy::number::{Precision, raised};
use protocol::personal::PersonalResult;
use protocol::{PeerIx, Scope};
use serde::{Serialize, Serializer};

use crate::scene::Scene;
use crate::state::State;
use crate::state::curve::News;
use crate::state::flow::Flow;
use crate::state::row::{Brief, Quality, Row, Standing, loss, short};
use crate::state::tail::Entry;

/// `/api/status`: the run in a few numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Status {
    pub(crate) run: String,
    pub(crate) version: &'static str,
    pub(crate) algorithm: &'static str,
    /// `starting`, `running` or `finished`.
    pub(crate) phase: &'static str,
    /// Why it is over, once it is.
    pub(crate) reason: Option<String>,
    pub(crate) nodes: usize,
    /// Nodes that take part now or have finished.
    pub(crate) here: usize,
    /// Nodes that cannot be reached, that died, or that the others went on without.
    pub(crate) away: Vec<PeerIx>,
    /// Rounds (for a walk: hops) that somebody ended.
    pub(crate) round: u32,
    pub(crate) rounds: u32,
    /// Seconds since the run began.
    pub(crate) time: f64,
    /// Mean training loss on the nodes' own data. Not private.
    pub(crate) loss: Option<f64>,
    /// Mean share of test records that the models classify rightly.
    pub(crate) accuracy: Option<f64>,
    /// AUC, log loss, calibration, base rate, and the accuracy of models trained alone; `null` where they are not known.
    #[serde(flatten)]
    pub(crate) quality: Quality,
    /// Models of the nodes' own on the nodes' own records, once they are made.
    pub(crate) personal: Option<PersonalResult>,
    pub(crate) epsilon: Epsilon,
    /// ε that the run was planned for.
    pub(crate) budget: Option<f64>,
    /// Whose view the budget is about: `local`, `worst` or `mean`.
    pub(crate) budget_scope: Scope,
    /// Towards so many members together, where masks make it a matter of how many pool what they know.
    pub(crate) budget_together: Option<usize>,
    /// Limits of the node that is read, where it is one: name, and the part that was spent, rounded up.
    #[serde(serialize_with = "parts")]
    pub(crate) spent: Vec<(String, f64)>,
    /// Whether the figures protect anybody; `null` before the run has begun.
    pub(crate) private: Option<bool>,
    pub(crate) contributions: u64,
    pub(crate) refused: u64,
    pub(crate) broken_rounds: u64,
    pub(crate) peer_faults: u64,
    pub(crate) late_messages: u64,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
    pub(crate) messages_dropped: u64,
    pub(crate) log_lines: u64,
    /// The node that is read, where it is one.
    pub(crate) me: Option<PeerIx>,
    pub(crate) notice: Option<String>,
}

/// ε so far, in JSON rounded up to what the page shows; `null` where it is infinite or not known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Epsilon {
    /// Of the pair that lost most.
    #[serde(serialize_with = "rounded_up")]
    pub(crate) worst: Option<f64>,
    /// Mean over pairs, where pairs are priced.
    #[serde(serialize_with = "rounded_up")]
    pub(crate) mean: Option<f64>,
    /// Towards somebody who sees every message; its analysis is `local`.
    #[serde(serialize_with = "rounded_up")]
    pub(crate) local: Option<f64>,
    /// The analysis behind `worst` and `mean`; `null` before the first figure.
    pub(crate) analysis: Option<String>,
    /// The rounds that the figures are about: those of a report up to there.
    pub(crate) round: Option<u32>,
    pub(crate) delta: f64,
}

impl Status {
    pub(crate) fn of(state: &State) -> Self {
        let standings: Vec<Standing> = state.nodes.iter().map(Row::standing).collect();
        let away = |(node, standing): (usize, &Standing)| standing.is_away().then_some(node as PeerIx);
        let here = |standing: &&Standing| matches!(standing, Standing::Here | Standing::Finished);
        let (outline, totals) = (&state.outline, &state.totals);
        let sum = |of: fn(&Row) -> u64| state.nodes.iter().map(of).sum();
        let mine = state.me.and_then(|me| state.nodes.get(me as usize));
        let begun = state.private_noise.is_some() || totals.lines > 0;
        Self {
            run: outline.run.clone(),
            version: outline.version,
            algorithm: outline.algorithm,
            phase: match (&state.over, begun) {
                (Some(_), _) => "finished",
                (None, true) => "running",
                (None, false) => "starting",
            },
            reason: state.over.clone(),
            nodes: outline.nodes,
            here: standings.iter().filter(here).count(),
            away: standings.iter().enumerate().filter_map(away).collect(),
            round: state.round,
            rounds: outline.rounds,
            time: state.time,
            loss: state.loss(),
            accuracy: state.accuracy(),
            quality: state.quality(),
            personal: state.own(),
            epsilon: Epsilon::of(state),
            budget: outline.budget,
            budget_scope: outline.scope,
            budget_together: outline.together,
            spent: mine.map_or_else(Vec::new, |row| row.spent.clone()),
            private: is_private(state),
            contributions: totals.contributions,
            refused: totals.refused,
            broken_rounds: totals.broken.0,
            peer_faults: totals.faults,
            late_messages: totals.late,
            bytes_sent: sum(|row| row.bytes.0),
            bytes_received: sum(|row| row.bytes.1),
            messages_dropped: sum(|row| row.dropped),
            log_lines: totals.lines,
            me: state.me,
            notice: state.notice.clone(),
        }
    }
}

/// Noise from a private source, and a finite loss.
fn is_private(state: &State) -> Option<bool> {
    let finite = state.epsilon().is_none_or(|(_, _, local)| local.is_finite());
    state.private_noise.map(|private| private && finite)
}

impl Epsilon {
    fn of(state: &State) -> Self {
        let known = state.epsilon();
        let finite = |value: f64| value.is_finite().then_some(value);
        Self {
            worst: known.and_then(|(worst, _, _)| finite(worst)),
            mean: known.and_then(|(_, mean, _)| mean).and_then(finite),
            local: known.and_then(|(_, _, local)| finite(local)),
            analysis: known.and(state.analysis.clone()),
            round: known.and(state.priced_round),
            delta: state.outline.delta,
        }
    }
}

/// A loss as the page shows it.
fn rounded_up<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    value.map(loss).serialize(serializer)
}

/// Parts of limits, which the page shows as tenths of a per cent.
fn parts<S: Serializer>(spent: &[(String, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(spent.iter().map(|(name, part)| (name, raised(*part, Precision::Decimals(3)))))
}

/// `/api/run`: everything that the page shows.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Run {
    pub(crate) status: Status,
    pub(crate) nodes: Vec<Node>,
    pub(crate) curves: Curves,
    pub(crate) log: Vec<Entry>,
    pub(crate) graph: Scene,
}

/// One node.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Node {
    pub(crate) node: PeerIx,
    pub(crate) state: Standing,
    /// Rounds that it ended.
    pub(crate) round: Option<u32>,
    pub(crate) loss: Option<f64>,
    pub(crate) accuracy: Option<f64>,
    /// ε towards the node that saw most.
    #[serde(serialize_with = "rounded_up")]
    pub(crate) epsilon: Option<f64>,
    #[serde(serialize_with = "rounded_up")]
    pub(crate) epsilon_mean: Option<f64>,
    /// ε towards somebody who sees every message.
    #[serde(serialize_with = "rounded_up")]
    pub(crate) epsilon_local: Option<f64>,
    pub(crate) contributions: u64,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
}

/// Points `[round, value]`.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Curves {
    pub(crate) loss: Vec<(f64, f64)>,
    pub(crate) accuracy: Vec<(f64, f64)>,
    pub(crate) epsilon_worst: Vec<(f64, f64)>,
    pub(crate) epsilon_local: Vec<(f64, f64)>,
}

impl Run {
    pub(crate) fn of(state: &State) -> Self {
        let points = |curve: &crate::state::curve::Curve| {
            curve.points().iter().map(|&(x, y)| (short(x), short(y))).collect()
        };
        let losses = |curve: &crate::state::curve::Curve| {
            curve.points().iter().map(|&(x, y)| (short(x), raised(y, Precision::Digits(5)))).collect()
        };
        Self {
            status: Status::of(state),
            nodes: state.nodes.iter().enumerate().map(|(node, row)| Node::of(node, row)).collect(),
            curves: Curves {
                loss: points(&state.curves.loss),
                accuracy: points(&state.curves.accuracy),
                epsilon_worst: losses(&state.curves.worst),
                epsilon_local: losses(&state.curves.local),
            },
            log: state.tail.entries().cloned().collect(),
            graph: state.facts.as_ref().map_or_else(Scene::default, |facts| facts.scene.clone()),
        }
    }
}

impl Node {
    fn of(node: usize, row: &Row) -> Self {
        Self {
            node: node as PeerIx,
            state: row.standing(),
            round: row.round,
            loss: row.loss,
            accuracy: row.judged.and_then(|judged| judged.accuracy),
            epsilon: row.lost.map(|lost| lost.worst),
            epsilon_mean: row.lost.and_then(|lost| lost.mean),
            epsilon_local: row.lost.map(|lost| lost.local),
            contributions: row.contributions,
            bytes_sent: row.bytes.0,
            bytes_received: row.bytes.1,
        }
    }
}

/// What is new since the tick before.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Tick {
    status: Status,
    nodes: Vec<Brief>,
    #[serde(skip_serializing_if = "Option::is_none")]
    loss: Option<News>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<News>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epsilon_worst: Option<News>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epsilon_local: Option<News>,
    log: Vec<Entry>,
    flows: Vec<Flow>,
}

impl Tick {
    /// Takes what is new out of the state.
    pub(crate) fn of(state: &mut State) -> Self {
        let changed = state.take_changed();
        Self {
            nodes: changed.into_iter().map(|node| state.nodes[node].brief(node)).collect(),
            loss: state.curves.loss.news(),
            accuracy: state.curves.accuracy.news(),
            epsilon_worst: state.curves.worst.news(),
            epsilon_local: state.curves.local.news(),
            log: state.tail.news(),
            flows: state.take_flows(),
            status: Status::of(state),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{Only, Outline};
    use crate::price::Pricer;
    use crate::testing::{Swarm, setup};
    use protocol::account::PeerLoss;

    fn told(settings: &[&str]) -> State {
        let setup = setup(settings);
        let mut state = State::new(Outline::of(&setup.config, Only::Everybody));
        let mut pricer = Pricer::new(setup.shape(), Only::Everybody);
        for line in Swarm::new(3).rounds(4) {
            state.push(&line);
            pricer.push(&line);
        }
        state.on_priced(pricer.price());
        state
    }

    #[test]
    fn the_status_says_what_the_contract_names() {
        let state = told(&["nodes=3", "rounds=10", "privacy.epsilon=4"]);
        let status = serde_json::to_value(Status::of(&state)).unwrap();
        for key in
            ["run", "algorithm", "nodes", "round", "rounds", "loss", "accuracy", "epsilon", "budget", "away"]
        {
            assert!(status.get(key).is_some(), "{key}");
        }
        for key in ["worst", "mean", "local", "analysis", "delta"] {
            assert!(status["epsilon"].get(key).is_some_and(|value| !value.is_null()), "{key}: {status}");
        }
        assert_eq!(
            (&status["round"], &status["budget"], &status["phase"]),
            (&4.into(), &4.0.into(), &"running".into())
        );
    }

    #[test]
    fn an_infinite_loss_is_null_and_the_run_is_not_private() {
        let mut state = told(&["nodes=3", "rounds=10", "privacy.noise_multiplier=0"]);
        state.private_noise = Some(true);
        let status = serde_json::to_value(Status::of(&state)).unwrap();
        assert!(status["epsilon"]["worst"].is_null());
        assert_eq!(
            (&status["private"], &status["epsilon"]["analysis"]),
            (&false.into(), &"none (no noise)".into())
        );
    }

    #[test]
    fn a_tick_tells_only_what_changed() {
        let mut state = told(&["nodes=3", "rounds=10"]);
        assert_eq!(Tick::of(&mut state).nodes.len(), 3);
        let quiet = Tick::of(&mut state);
        assert!(quiet.nodes.is_empty() && quiet.log.is_empty() && quiet.loss.is_none());
        state.on_ended(1, false);
        let text = serde_json::to_string(&Tick::of(&mut state)).unwrap();
        assert!(text.contains(r#"[1,"dead",4,"#), "{text}");
    }

    #[test]
    fn no_loss_is_served_below_itself() {
        let lost = Some(PeerLoss { worst: 2.44492, mean: Some(0.12341), local: 123.4 });
        let node = serde_json::to_value(Node::of(0, &Row { lost, ..Row::default() })).unwrap();
        assert_eq!(
            [&node["epsilon"], &node["epsilon_mean"], &node["epsilon_local"]],
            [&2.445.into(), &0.1235.into(), &serde_json::Value::from(123.4)]
        );
        let epsilon = Epsilon {
            worst: Some(2.44492),
            mean: None,
            local: Some(2.44492),
            analysis: None,
            round: None,
            delta: 1e-5,
        };
        let value = serde_json::to_value(&epsilon).unwrap();
        assert_eq!(
            (&value["worst"], &value["local"], value["mean"].is_null()),
            (&2.445.into(), &2.445.into(), true)
        );
        let mut status = Status::of(&told(&["nodes=3", "rounds=10", "privacy.epsilon=4"]));
        status.spent = vec![("ε".into(), 0.44411)];
        assert_eq!(serde_json::to_value(&status).unwrap()["spent"][0][1], 0.445);
    }
}

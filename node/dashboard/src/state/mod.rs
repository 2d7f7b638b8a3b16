//! The picture of a run: a fold over its log, in bounded memory.
//!
//! Pure: lines, what processes say of themselves and prices go in; [views](crate::view) come out. However long the run, the memory is that of its nodes, of
//! curves of a few hundred points and of the last lines.

pub(crate) mod curve;
pub(crate) mod flow;
pub(crate) mod row;
pub(crate) mod tail;

use std::collections::BTreeSet;

use protocol::personal::{Figures, PersonalResult};
use protocol::{LogLine, PeerIx, RunEvent};

use crate::facts::{Facts, Only, Outline, positions};
use crate::price::Priced;
use curve::Curve;
use flow::Flows;
use row::{Process, Quality, Row, Vitals};
use tail::{Entry, Level, Tail};

/// What is known of a run.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) outline: Outline,
    pub(crate) facts: Option<Facts>,
    pub(crate) nodes: Vec<Row>,
    pub(crate) totals: Totals,
    pub(crate) curves: Curves,
    pub(crate) tail: Tail,
    /// Rounds that somebody ended.
    pub(crate) round: u32,
    /// Seconds since the run began.
    pub(crate) time: f64,
    /// Whether the noise protects; `None` before the first line.
    pub(crate) private_noise: Option<bool>,
    pub(crate) analysis: Option<String>,
    /// Rounds that the last prices are about.
    pub(crate) priced_round: Option<u32>,
    pub(crate) notice: Option<String>,
    /// Why the run is over, once it is.
    pub(crate) over: Option<String>,
    /// The node that is read, where it is one.
    pub(crate) me: Option<PeerIx>,
    flows: Flows,
    members: Vec<PeerIx>,
    epoch: u32,
    /// Sum and number of the losses of a round that is under way.
    losses: (u32, f64, u32),
    /// Nodes that changed since the last tick.
    changed: BTreeSet<usize>,
}

/// What is counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) lines: u64,
    pub(crate) contributions: u64,
    pub(crate) refused: u64,
    /// Rounds that at least one node gave up, and the last of them.
    pub(crate) broken: (u64, Option<u32>),
    pub(crate) faults: u64,
    pub(crate) late: u64,
}

/// Curves over rounds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Curves {
    pub(crate) loss: Curve,
    pub(crate) accuracy: Curve,
    pub(crate) worst: Curve,
    pub(crate) local: Curve,
}

impl State {
    pub(crate) fn new(outline: Outline) -> Self {
        let nodes = outline.nodes;
        Self {
            outline,
            facts: None,
            nodes: vec![Row::default(); nodes],
            totals: Totals::default(),
            curves: Curves::default(),
            tail: Tail::default(),
            round: 0,
            time: 0.0,
            private_noise: None,
            analysis: None,
            priced_round: None,
            notice: None,
            over: None,
            me: None,
            flows: Flows::default(),
            members: positions(nodes).collect(),
            epoch: 0,
            losses: (0, 0.0, 0),
            changed: (0..nodes).collect(),
        }
    }

    /// Learns what follows from the data.
    pub(crate) fn know(&mut self, facts: Facts) {
        self.outline.rounds = facts.shape.rounds;
        self.facts = Some(facts);
    }

    /// Takes the next line; lines of one node in their order.
    pub(crate) fn push(&mut self, line: &LogLine) {
        self.totals.lines += 1;
        self.time = self.time.max(line.time.seconds());
        self.tail.push(line);
        if let RunEvent::Run { private_noise, .. } = &line.event {
            self.private_noise = Some(self.private_noise.unwrap_or(true) && *private_noise);
        }
        let Some(node) = line.node.filter(|&node| (node as usize) < self.nodes.len()) else { return };
        self.count(&line.event);
        self.on_node(node as usize, &line.event);
        if let Some(facts) = &self.facts {
            self.flows.push(&facts.shape, &self.members, node, &line.event);
        }
    }

    fn count(&mut self, event: &RunEvent) {
        let totals = &mut self.totals;
        match event {
            RunEvent::Released { .. } => totals.contributions += 1,
            RunEvent::Refused { .. } => totals.refused += 1,
            RunEvent::PeerFault { .. } => totals.faults += 1,
            RunEvent::Late { count, .. } => totals.late += u64::from(*count),
            RunEvent::Mixed { late, .. } => totals.late += late.len() as u64,
            RunEvent::RoundBroken { round, .. } if totals.broken.1.is_none_or(|last| last < *round) => {
                totals.broken = (totals.broken.0 + 1, Some(*round));
            }
            _ => {}
        }
    }

    fn on_node(&mut self, node: usize, event: &RunEvent) {
        self.changed.insert(node);
        let row = &mut self.nodes[node];
        row.seen = true;
        match event {
            RunEvent::Released { round, loss, .. } => {
                row.contributions += 1;
                row.loss = loss.or(row.loss);
                if let Some(loss) = loss {
                    self.on_loss(*round, *loss);
                }
            }
            RunEvent::RoundDone { round, .. }
            | RunEvent::Mixed { round, .. }
            | RunEvent::Held { hop: round, .. } => {
                row.round = Some(row.round.unwrap_or(0).max(round + 1));
                // A token that arrives at its hop has been sent on by the hop before.
                self.round = self.round.max(round + 1).min(self.outline.rounds.max(1));
            }
            RunEvent::Roster { epoch, members, .. } => self.on_roster(*epoch, members),
            RunEvent::Outside { .. } => row.outside = true,
            RunEvent::Finished { .. } => row.finished = true,
            _ => {}
        }
    }

    /// Losses of a round become one point, when the next one begins.
    fn on_loss(&mut self, round: u32, loss: f64) {
        let (current, sum, count) = &mut self.losses;
        if round > *current {
            if *count > 0 {
                self.curves.loss.push(f64::from(*current), *sum / f64::from(*count));
            }
            (*current, *sum, *count) = (round, 0.0, 0);
        }
        (*sum, *count) = (*sum + loss, *count + 1);
    }

    fn on_roster(&mut self, epoch: u32, members: &[PeerIx]) {
        let nodes = self.nodes.len();
        if epoch < self.epoch || members.is_empty() || members.iter().any(|&node| node as usize >= nodes) {
            return;
        }
        self.epoch = epoch;
        self.members = members.to_vec();
        let inside: BTreeSet<PeerIx> = members.iter().copied().collect();
        for (node, row) in self.nodes.iter_mut().enumerate() {
            let outside = !inside.contains(&(node as PeerIx));
            if row.outside != outside {
                row.outside = outside;
                self.changed.insert(node);
            }
        }
    }

    /// Takes what a process says of itself. Of a swarm's process, `node` is the place; a node alone says its own.
    pub(crate) fn on_vitals(&mut self, node: Option<usize>, vitals: Vitals) {
        if self.outline.only == Only::Myself {
            self.me = vitals.position;
            self.on_linked(vitals.linked.as_deref(), vitals.position);
        }
        self.notice = vitals.notice.or(self.notice.take());
        let place = node.or(vitals.position.map(|at| at as usize));
        let Some(row) = place.and_then(|place| self.nodes.get_mut(place)) else { return };
        row.process = Process::Up;
        row.seen |= vitals.phase != "gathering";
        row.finished |= vitals.phase == "done";
        row.bytes = vitals.bytes;
        row.dropped = vitals.dropped;
        row.spent = vitals.spent;
        row.judged = vitals.judged.or(row.judged);
        self.changed.extend(place);
    }

    /// Takes what a process says of models of its own.
    pub(crate) fn on_own(&mut self, node: Option<usize>, figures: Figures) {
        let place = node.or(self.me.map(|at| at as usize));
        if let Some(row) = place.and_then(|place| self.nodes.get_mut(place)) {
            row.own = Some(figures);
        }
    }

    /// How good models of the nodes' own are on the nodes' own records, where some are known.
    pub(crate) fn own(&self) -> Option<PersonalResult> {
        PersonalResult::of(&self.nodes.iter().filter_map(|row| row.own).collect::<Vec<_>>())
    }

    fn on_linked(&mut self, linked: Option<&[PeerIx]>, me: Option<PeerIx>) {
        let (Some(linked), Some(me)) = (linked, me) else { return };
        let linked: BTreeSet<PeerIx> = linked.iter().copied().collect();
        for (node, row) in self.nodes.iter_mut().enumerate().filter(|(node, _)| *node != me as usize) {
            let here = Some(linked.contains(&(node as PeerIx)));
            if row.linked != here {
                row.linked = here;
                self.changed.insert(node);
            }
        }
    }

    /// A process has ended.
    pub(crate) fn on_ended(&mut self, node: usize, well: bool) {
        let Some(row) = self.nodes.get_mut(node) else { return };
        row.process = if well { Process::Ended } else { Process::Died };
        if !well {
            let text = "its process died".to_owned();
            self.tail.add(Entry { t: self.time, node: Some(node as PeerIx), level: Level::Warn, text });
        }
        self.changed.insert(node);
    }

    /// Takes new prices, and adds a point to the curves that grow with them.
    pub(crate) fn on_priced(&mut self, priced: Priced) {
        self.analysis = Some(priced.analysis);
        self.priced_round = Some(priced.round);
        for (node, (row, lost)) in self.nodes.iter_mut().zip(priced.peers).enumerate() {
            if row.lost != lost {
                row.lost = lost;
                self.changed.insert(node);
            }
        }
        let at = f64::from(priced.round);
        if let Some((worst, _, local)) = self.epsilon() {
            self.curves.worst.push(at, worst);
            self.curves.local.push(at, local);
        }
        if let Some(accuracy) = self.accuracy() {
            self.curves.accuracy.push(at, accuracy);
        }
    }

    /// The run is over.
    pub(crate) fn on_over(&mut self, reason: String) {
        let (round, sum, count) = std::mem::take(&mut self.losses);
        if count > 0 {
            self.curves.loss.push(f64::from(round), sum / f64::from(count));
        }
        self.over = Some(reason);
    }

    /// A word to the reader that no log has.
    pub(crate) fn warn(&mut self, text: String) {
        self.tail.add(Entry { t: self.time, node: None, level: Level::Warn, text });
    }

    /// ε of the worst pair, the mean over pairs where it is known, and the largest local one.
    pub(crate) fn epsilon(&self) -> Option<(f64, Option<f64>, f64)> {
        let lost: Vec<_> = self.nodes.iter().filter_map(|row| row.lost).collect();
        if lost.is_empty() {
            return None;
        }
        let most = |of: fn(&protocol::account::PeerLoss) -> f64| lost.iter().map(of).fold(0.0, f64::max);
        let means: Option<Vec<f64>> = lost.iter().map(|lost| lost.mean).collect();
        let mean = means.map(|means| means.iter().sum::<f64>() / means.len() as f64);
        Some((most(|lost| lost.worst), mean, most(|lost| lost.local)))
    }

    /// Mean of the last losses, over nodes that take part.
    pub(crate) fn loss(&self) -> Option<f64> {
        mean(self.nodes.iter().filter(|row| !row.standing().is_away()).filter_map(|row| row.loss))
    }

    /// Mean accuracy of the models that were judged last, over nodes that take part.
    pub(crate) fn accuracy(&self) -> Option<f64> {
        let here = self.nodes.iter().filter(|row| !row.standing().is_away());
        mean(here.filter_map(|row| row.judged.and_then(|judged| judged.accuracy)))
    }

    /// What else is known of those models, each figure a mean over the nodes that said it.
    pub(crate) fn quality(&self) -> Quality {
        let judged = || {
            let here = self.nodes.iter().filter(|row| !row.standing().is_away());
            here.filter_map(|row| row.judged.map(|judged| judged.quality))
        };
        Quality {
            auc: mean(judged().filter_map(|found| found.auc)),
            log_loss: mean(judged().filter_map(|found| found.log_loss)),
            calibration: mean(judged().filter_map(|found| found.calibration)),
            base_rate: mean(judged().filter_map(|found| found.base_rate)),
            alone: mean(judged().filter_map(|found| found.alone)),
        }
    }

    /// Nodes that changed since the last call.
    pub(crate) fn take_changed(&mut self) -> BTreeSet<usize> {
        std::mem::take(&mut self.changed)
    }

    /// Messages to be drawn since the last call.
    pub(crate) fn take_flows(&mut self) -> Vec<flow::Flow> {
        self.flows.take()
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests;

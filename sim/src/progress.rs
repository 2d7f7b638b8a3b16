//! How far the swarm is, read from the lines of its log: when a round is over, and whether anything moves.

use std::collections::BTreeMap;

use protocol::{PeerIx, RunEvent};

use crate::report::Line;

/// Marks a node that does not count: crashed or finished.
const ABSENT: u32 = u32::MAX;

/// Rounds finished, by node and in total.
pub(crate) struct Progress {
    /// Hops that make a round, for a walk.
    hops: Option<u64>,
    /// Rounds of the run: a line of gossip about a later one speaks of messages that came after the end.
    rounds: u32,
    /// Rounds that each node has finished; [`ABSENT`] where it does not count.
    finished: Vec<u32>,
    /// How many nodes that count have finished so many rounds.
    tally: BTreeMap<u32, usize>,
    /// The most rounds that anybody has finished.
    top: u32,
    /// Rounds that were observed.
    pub(crate) observed: u32,
    /// Sum and number of training losses, by round.
    losses: BTreeMap<u32, (f64, u32)>,
    held: u64,
    /// Who released last.
    pub(crate) latest: Option<PeerIx>,
    /// When something was last achieved.
    pub(crate) moved: u64,
}

impl Progress {
    pub(crate) fn new(nodes: usize, rounds: u32, is_walk: bool) -> Self {
        Self {
            hops: is_walk.then_some(nodes as u64),
            rounds,
            finished: vec![0; nodes],
            tally: BTreeMap::from([(0, nodes)]),
            top: 0,
            observed: 0,
            losses: BTreeMap::new(),
            held: 0,
            latest: None,
            moved: 0,
        }
    }

    /// Takes a line of the log into account.
    pub(crate) fn see(&mut self, line: &Line) {
        match line.event {
            RunEvent::Released { round, loss, .. } => {
                self.latest = Some(line.node);
                self.moved = line.time;
                if let Some(loss) = loss {
                    let round = self.hops.map_or(round, |_| self.top);
                    let (sum, count) = self.losses.entry(round).or_insert((0.0, 0));
                    (*sum, *count) = (*sum + loss, *count + 1);
                }
            }
            RunEvent::RoundDone { round, .. } | RunEvent::RoundBroken { round, .. } => {
                self.moved = line.time;
                self.advance(line.node, round.saturating_add(1));
            }
            RunEvent::Mixed { round, .. } => {
                if round < self.rounds {
                    self.moved = line.time;
                    self.advance(line.node, round + 1);
                }
            }
            RunEvent::Held { .. } => {
                self.held += 1;
                self.moved = line.time;
                if let Some(hops) = self.hops {
                    self.top = u32::try_from(self.held / hops).unwrap_or(u32::MAX);
                }
            }
            RunEvent::Finished { .. } => {
                self.moved = line.time;
                self.set(line.node, ABSENT);
            }
            RunEvent::Run { .. }
            | RunEvent::Resumed { .. }
            | RunEvent::Renewed(_)
            | RunEvent::Declared(_)
            | RunEvent::Named { .. }
            | RunEvent::Refused { .. }
            | RunEvent::Paired { .. }
            | RunEvent::Missed { .. }
            | RunEvent::Offered { .. }
            | RunEvent::Roster { .. }
            | RunEvent::TokenRestarted { .. }
            | RunEvent::PeerFault { .. }
            | RunEvent::Late { .. }
            | RunEvent::Outside { .. }
            | RunEvent::Waiting { .. }
            | RunEvent::Streams { .. }
            | RunEvent::Inspected { .. }
            | RunEvent::Question { .. }
            | RunEvent::LostLines { .. } => {}
        }
    }

    /// A node lost its memory, or came back: it counts again once it has finished a round.
    pub(crate) fn on_presence(&mut self, node: PeerIx) {
        self.set(node, ABSENT);
    }

    /// The next round that is over: every node that counts has finished it, or half of them the one after it. The mean training loss comes along.
    pub(crate) fn next_over(&mut self) -> Option<(u32, Option<f64>)> {
        let round = self.observed;
        if round >= self.top || !(self.hops.is_some() || self.is_over(round)) {
            return None;
        }
        self.observed += 1;
        let later = self.losses.split_off(&(round + 1));
        let losses = std::mem::replace(&mut self.losses, later).remove(&round);
        Some((round, losses.map(|(sum, count)| sum / f64::from(count))))
    }

    fn is_over(&self, round: u32) -> bool {
        let all_finished = self.tally.first_key_value().is_none_or(|(&least, _)| least > round);
        let ahead: usize = self.tally.range(round + 2..).map(|(_, &count)| count).sum();
        all_finished || 2 * ahead > self.tally.values().sum()
    }

    fn advance(&mut self, node: PeerIx, rounds: u32) {
        let now = self.finished[node as usize];
        if now == ABSENT || rounds > now {
            self.set(node, rounds);
        }
        self.top = self.top.max(rounds);
    }

    fn set(&mut self, node: PeerIx, rounds: u32) {
        let before = std::mem::replace(&mut self.finished[node as usize], rounds);
        if before != ABSENT
            && let Some(count) = self.tally.get_mut(&before)
        {
            *count -= 1;
            if *count == 0 {
                self.tally.remove(&before);
            }
        }
        if rounds != ABSENT {
            *self.tally.entry(rounds).or_insert(0) += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mixed(node: PeerIx, round: u32) -> Line {
        let event = RunEvent::Mixed { round, missing: Vec::new(), late: Vec::new() };
        Line { time: u64::from(round) + 1, node, event }
    }

    fn released(node: PeerIx, round: u32, loss: f64) -> Line {
        let event = RunEvent::Released {
            round,
            token: 0,
            generation: 0,
            release: None,
            among: None,
            loss: Some(loss),
        };
        Line { time: 0, node, event }
    }

    #[test]
    fn a_round_is_over_when_the_last_node_has_finished_it() {
        let mut progress = Progress::new(3, 10, false);
        progress.see(&released(0, 0, 1.0));
        progress.see(&released(1, 0, 2.0));
        progress.see(&mixed(0, 0));
        progress.see(&mixed(1, 0));
        assert_eq!(progress.next_over(), None);
        progress.see(&mixed(2, 0));
        assert_eq!(progress.next_over(), Some((0, Some(1.5))));
        assert_eq!(progress.next_over(), None);
    }

    #[test]
    fn a_round_does_not_wait_for_the_lost_nor_long_for_the_slow() {
        let mut progress = Progress::new(4, 10, false);
        (0..3).for_each(|node| progress.see(&mixed(node, 0)));
        assert_eq!(progress.next_over(), None);
        progress.on_presence(3);
        assert_eq!(progress.next_over(), Some((0, None)));
        progress.on_presence(3);
        progress.see(&mixed(3, 0));
        (0..2).for_each(|node| progress.see(&mixed(node, 1)));
        assert_eq!(progress.next_over(), None);
        (0..3).for_each(|node| progress.see(&mixed(node, 2)));
        assert_eq!(progress.next_over(), Some((1, None)));
    }
}

//! What a simulated run cost, from its log.

use std::collections::BTreeMap;

use privacy::event::DpEvent;
use protocol::{LogLine, RunEvent, Setup};

use crate::figures::{Figure, Privacy, adjacency_name};

/// A fold over log lines. TODO(issue 5): `protocol::account` knows the pairwise analyses; until it is asked every contribution counts as public,
/// which is sound and says `local`.
pub(crate) struct Accounting {
    adjacency: &'static str,
    delta: f64,
    release: DpEvent,
    rounds: u32,
    /// Contributions of each node by event.
    released: BTreeMap<u32, u64>,
}

impl Accounting {
    pub(crate) fn new(setup: &Setup) -> Self {
        Self {
            adjacency: adjacency_name(setup.work.unit.adjacency()),
            delta: setup.config.privacy.delta,
            release: setup.settings.release.clone(),
            rounds: setup.config.rounds,
            released: BTreeMap::new(),
        }
    }

    pub(crate) fn take(&mut self, line: &LogLine) {
        if let (Some(node), RunEvent::Released { .. }) = (line.node, &line.event) {
            *self.released.entry(node).or_insert(0) += 1;
        }
    }

    /// The figures after a round; not every round is priced.
    pub(crate) fn so_far(&self, round: u32) -> Option<Privacy> {
        let due = round + 1 == self.rounds || (round + 1).is_multiple_of(self.rounds.div_ceil(50));
        due.then(|| self.privacy())
    }

    pub(crate) fn privacy(&self) -> Privacy {
        let most = self.released.values().copied().max().unwrap_or(0);
        let figure = match most {
            0 => Figure::new(0.0, Some(0.0), "local"),
            _ => Figure::of_event(&self.release.clone().repeated(most), self.delta, "local"),
        };
        Privacy {
            adjacency: self.adjacency,
            delta: self.delta,
            private: false,
            worst: figure.clone(),
            mean: figure.clone(),
            local: figure,
        }
    }
}

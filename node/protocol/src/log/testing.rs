//! Lines for the tests of this folder.

use super::{LogLine, RunEvent};
use crate::{Digest, PeerIx, Time};

pub(super) fn line(node: PeerIx, time: u64, event: RunEvent) -> LogLine {
    LogLine { time: Time(time), node: Some(node), event }
}

pub(super) fn released(node: PeerIx, round: u32) -> LogLine {
    let event = RunEvent::Released { round, token: 0, generation: 0, release: None, among: None, loss: None };
    line(node, 100 * u64::from(round), event)
}

pub(super) fn done(node: PeerIx, round: u32) -> LogLine {
    let digest = Digest::default();
    let event = RunEvent::RoundDone { round, epoch: 0, start: digest, end: digest, count: 2 };
    line(node, 100 * u64::from(round) + 50, event)
}

/// The lines of a swarm in which everything goes well.
pub(super) fn rounds(nodes: u32, rounds: u32) -> Vec<LogLine> {
    let round = |round| {
        let contributions = (0..nodes).map(move |node| released(node, round));
        contributions.chain((0..nodes).map(move |node| done(node, round)))
    };
    (0..rounds).flat_map(round).collect()
}

//! Logs of several processes in one order that could have been.
//!
//! Every process has a clock of its own, so lines sorted by time can show an effect before its cause: a node in round 7 while another has not begun round 5. An
//! account that reads such an order must take it for disagreement and charges rounds in full. Here lines are ordered by the round that they belong to, as far as a
//! node's own order allows.

use protocol::{LogLine, RunEvent};
use std::collections::BTreeMap;

/// The lines, round by round; those of one node stay in their order.
pub fn by_round(lines: Vec<LogLine>) -> Vec<LogLine> {
    let mut reached: BTreeMap<Option<u32>, (u32, u8)> = BTreeMap::new();
    let mut placed: Vec<((u32, u8), LogLine)> = Vec::with_capacity(lines.len());
    for line in lines {
        let at = reached.entry(line.node).or_default();
        *at = (*at).max(place(&line.event));
        placed.push((*at, line));
    }
    // Stable: equal places stay in the order of time.
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, line)| line).collect()
}

/// Round, and what comes first in it: the roster, then contributions, then its end.
fn place(event: &RunEvent) -> (u32, u8) {
    match event {
        RunEvent::Roster { round, .. } => (*round, 0),
        RunEvent::Released { round, .. } | RunEvent::Refused { round, .. } => (*round, 1),
        RunEvent::RoundDone { round, .. }
        | RunEvent::RoundBroken { round, .. }
        | RunEvent::Mixed { round, .. } => (*round, 2),
        RunEvent::Held { hop, .. } | RunEvent::Offered { hop, .. } | RunEvent::TokenRestarted { hop, .. } => {
            (*hop, 0)
        }
        RunEvent::Missed { round, .. } => (*round, 1),
        RunEvent::Run { .. }
        | RunEvent::Resumed { .. }
        | RunEvent::PeerFault { .. }
        | RunEvent::Late { .. }
        | RunEvent::Outside { .. }
        | RunEvent::Finished { .. } => (0, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::{Digest, Time};

    fn line(time: u64, node: u32, event: RunEvent) -> LogLine {
        LogLine { time: Time(time), node: Some(node), event }
    }

    fn released(round: u32) -> RunEvent {
        RunEvent::Released { round, token: 0, generation: 0, release: None, loss: None }
    }

    fn done(round: u32) -> RunEvent {
        let digest = Digest::default();
        RunEvent::RoundDone { round, epoch: 0, start: digest, end: digest, count: 2 }
    }

    #[test]
    fn a_clock_that_goes_ahead_does_not_show_effects_before_causes() {
        // Node 1's clock is far behind that of node 0.
        let lines = vec![
            line(1, 0, released(0)),
            line(2, 0, done(0)),
            line(3, 0, released(1)),
            line(4, 0, done(1)),
            line(11, 1, released(0)),
            line(12, 1, done(0)),
            line(13, 1, released(1)),
            line(14, 1, done(1)),
        ];
        let times: Vec<u64> = by_round(lines).into_iter().map(|line| line.time.0).collect();
        assert_eq!(times, [1, 11, 2, 12, 3, 13, 4, 14]);
    }
}

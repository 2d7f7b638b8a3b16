//! Logs of several processes in one order that could have been.
//!
//! Every process has a clock of its own, so lines sorted by time can show an effect before its cause: a node in round 7 while another has not begun round 5. An
//! account that reads such an order must take it for disagreement and charges rounds in full. Here lines are ordered by the round that they belong to, as far as a
//! node's own order allows: [`by_round`] for logs that are finished, [`Merge`](super::Merge) for logs that grow.

use std::collections::BTreeMap;

use super::{Log, LogLine, RunEvent};

/// Where a line belongs: its round, and what comes first in a round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Round; for a walk the hop of the token.
    pub round: u32,
    /// What comes first in it.
    pub part: Part,
}

/// The parts of a round, in their order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Who takes part; the token arrives.
    #[default]
    Beginning,
    /// Contributions.
    Contribution,
    /// Its end.
    End,
}

impl Place {
    /// Behind every line.
    pub(super) const LAST: Self = Self { round: u32::MAX, part: Part::End };
}

impl RunEvent {
    /// The round that a line tells of, from 0, where it tells of one; a walk counts hops.
    pub fn round(&self) -> Option<u32> {
        match self {
            Self::Released { round, .. }
            | Self::RoundDone { round, .. }
            | Self::RoundBroken { round, .. }
            | Self::Mixed { round, .. } => Some(*round),
            Self::Held { hop, .. } => Some(*hop),
            _ => None,
        }
    }

    /// Where an event belongs. One that belongs to no round comes where its node is.
    pub fn place(&self) -> Place {
        let (round, part) = match self {
            Self::Roster { round, .. } | Self::Paired { round, .. } => (*round, Part::Beginning),
            Self::Released { round, .. } | Self::Refused { round, .. } | Self::Missed { round, .. } => {
                (*round, Part::Contribution)
            }
            Self::RoundDone { round, .. }
            | Self::RoundBroken { round, .. }
            | Self::Inspected { round, .. }
            | Self::Mixed { round, .. } => (*round, Part::End),
            Self::Held { hop, .. } | Self::Offered { hop, .. } | Self::TokenRestarted { hop, .. } => {
                (*hop, Part::Beginning)
            }
            Self::Run { .. }
            | Self::Resumed { .. }
            | Self::Renewed(_)
            | Self::Declared(_)
            | Self::Named { .. }
            | Self::PeerFault { .. }
            | Self::Late { .. }
            | Self::Outside { .. }
            | Self::Waiting { .. }
            | Self::Streams { .. }
            | Self::Question { .. }
            | Self::LostLines { .. }
            | Self::Finished { .. } => (0, Part::Beginning),
        };
        Place { round, part }
    }
}

/// The lines, round by round; those of one node stay in their order.
pub fn by_round(lines: Vec<LogLine>) -> Vec<LogLine> {
    let mut reached: BTreeMap<Option<u32>, Place> = BTreeMap::new();
    let mut placed: Vec<(Place, LogLine)> = Vec::with_capacity(lines.len());
    for line in lines {
        let at = reached.entry(line.node).or_default();
        *at = (*at).max(line.event.place());
        placed.push((*at, line));
    }
    // Stable: equal places stay in the order of time.
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, line)| line).collect()
}

impl Log {
    /// The logs of several nodes as one; a single one stays as it is.
    pub fn of_several(logs: Vec<Self>) -> Self {
        let several = logs.len() > 1;
        let mut all = Self::default();
        for log in logs {
            all.lines.extend(log.lines);
            all.lost.extend(log.lost);
        }
        if several {
            all.lines.sort_by_key(|line| (line.node.is_some(), line.time, line.node));
            all.lines = by_round(all.lines);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{done, line, released, rounds};
    use super::*;
    use crate::log::Merge;

    #[test]
    fn a_clock_that_goes_ahead_does_not_show_effects_before_causes() {
        // Node 1's clock is far behind that of node 0.
        let at = |time: u64, of: LogLine| line(of.node.unwrap(), time, of.event);
        let lines = vec![
            at(1, released(0, 0)),
            at(2, done(0, 0)),
            at(3, released(0, 1)),
            at(4, done(0, 1)),
            at(11, released(1, 0)),
            at(12, done(1, 0)),
            at(13, released(1, 1)),
            at(14, done(1, 1)),
        ];
        let times: Vec<u64> = by_round(lines).into_iter().map(|line| line.time.0).collect();
        assert_eq!(times, [1, 11, 2, 12, 3, 13, 4, 14]);
    }

    #[test]
    fn logs_that_are_finished_and_logs_that_grow_come_out_in_the_same_order() {
        let lines = rounds(4, 10);
        let own = |node| lines.iter().filter(move |line| line.node == Some(node)).cloned();
        let logs = (0..4).map(|node| Log { lines: own(node).collect(), lost: Vec::new() }).collect();
        let mut merge = Merge::new(4);
        (0..4).for_each(|node| own(node).for_each(|line| merge.push(node as usize, line)));
        assert_eq!(Log::of_several(logs).lines, lines);
        assert_eq!(merge.finish(), lines);
    }

    #[test]
    fn what_was_lost_of_any_log_is_lost_of_all() {
        let log = |text: &str| Log::of_bytes(text.as_bytes());
        let all = Log::of_several(vec![log("{\"t\""), log("{\"t\":1,\"node\":3,"), log("")]);
        assert_eq!(all.lost.iter().map(|lost| lost.node).collect::<Vec<_>>(), [None, Some(3)]);
    }
}

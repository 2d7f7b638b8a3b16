//! Logs of several processes in one order that could have been, while they grow.
//!
//! Every process has a clock of its own and is read at its own moment, so lines come with effects before causes: a node in round 7 while another has not begun
//! round 5. An account that reads such an order must take it for disagreement and charges rounds in full. Here a line waits until every node that still runs has
//! come as far.

use std::collections::VecDeque;

use protocol::{LogLine, RunEvent};

/// Round, and what comes first in it: the roster, then contributions, then its end.
type Place = (u32, u8);

/// Lines that wait per node at most; beyond, the earliest go on without the others, which costs precision and never a guarantee.
const MOST_WAITING: usize = 256;

/// Lines of several nodes on their way to a fold.
#[derive(Debug)]
pub(crate) struct Merge {
    queues: Vec<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    lines: VecDeque<(Place, LogLine)>,
    reached: Place,
    /// Whether it last said that it left or finished.
    left: bool,
    /// Whether its process has ended.
    gone: bool,
}

impl Merge {
    pub(crate) fn new(logs: usize) -> Self {
        Self { queues: (0..logs).map(|_| Queue::default()).collect() }
    }

    /// Takes the next line of a log.
    pub(crate) fn push(&mut self, log: usize, line: LogLine) {
        let queue = &mut self.queues[log];
        queue.reached = queue.reached.max(place(&line.event));
        queue.left = matches!(line.event, RunEvent::Finished { .. } | RunEvent::Outside { .. });
        queue.lines.push_back((queue.reached, line));
    }

    /// Says whether the process behind a log has ended: nobody waits for it.
    pub(crate) fn set_gone(&mut self, log: usize, gone: bool) {
        self.queues[log].gone = gone;
    }

    /// The lines that need not wait, in order.
    pub(crate) fn take(&mut self) -> Vec<LogLine> {
        let waited_for = self.queues.iter().filter(|queue| !queue.gone && !queue.left);
        let mut up_to = waited_for.map(|queue| queue.reached).min().unwrap_or((u32::MAX, u8::MAX));
        for queue in &self.queues {
            if let Some(over) = queue.lines.len().checked_sub(MOST_WAITING + 1) {
                up_to = up_to.max(queue.lines[over].0);
            }
        }
        self.take_up_to(up_to)
    }

    /// Everything that is left, in order: no log grows any more.
    pub(crate) fn finish(&mut self) -> Vec<LogLine> {
        self.take_up_to((u32::MAX, u8::MAX))
    }

    fn take_up_to(&mut self, up_to: Place) -> Vec<LogLine> {
        let mut taken = Vec::new();
        for queue in &mut self.queues {
            while let Some((place, line)) = queue.lines.pop_front() {
                if place > up_to {
                    queue.lines.push_front((place, line));
                    break;
                }
                taken.push((place, line));
            }
        }
        // Stable: lines of one node stay in their order.
        taken.sort_by_key(|(place, _)| *place);
        taken.into_iter().map(|(_, line)| line).collect()
    }
}

fn place(event: &RunEvent) -> Place {
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
    use crate::testing::{Swarm, done, released};

    #[test]
    fn lines_wait_until_every_node_has_come_as_far() {
        let mut merge = Merge::new(2);
        for line in [released(0, 0, 1.0), done(0, 0, 2), released(0, 1, 1.0), done(0, 1, 2)] {
            merge.push(0, line);
        }
        assert!(merge.take().is_empty());
        merge.push(1, released(1, 0, 1.0));
        assert_eq!(merge.take(), [released(0, 0, 1.0), released(1, 0, 1.0)]);
        merge.push(1, done(1, 0, 2));
        assert_eq!(merge.take(), [done(0, 0, 2), done(1, 0, 2)]);
        // A node that died is not waited for.
        merge.set_gone(1, true);
        assert_eq!(merge.take(), [released(0, 1, 1.0), done(0, 1, 2)]);
    }

    #[test]
    fn logs_that_are_read_one_after_the_other_come_out_as_they_were_written() {
        let lines = Swarm::new(3).rounds(20);
        let mut merge = Merge::new(3);
        for log in 0..3 {
            for line in lines.iter().filter(|line| line.node == Some(log)) {
                merge.push(log as usize, line.clone());
            }
        }
        let mut taken = merge.take();
        taken.extend(merge.finish());
        assert_eq!(taken, lines);
    }

    #[test]
    fn a_node_that_hangs_does_not_fill_the_memory() {
        let mut merge = Merge::new(2);
        let mut taken = 0;
        for round in 0..10_000 {
            merge.push(0, done(0, round, 1));
            taken += merge.take().len();
        }
        assert!(taken >= 10_000 - MOST_WAITING - 1, "{taken}");
    }
}

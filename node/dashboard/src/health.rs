//! `/healthz`: whether a run is being waited for, goes on, is stuck or is over, for those who restart what is stuck.

use std::time::{Duration, Instant};

/// A run is not called stuck before this.
const AT_LEAST: Duration = Duration::from_secs(300);
/// Nor before this many times its longest round so far: training takes as long as it takes.
const LONGEST: u32 = 10;

/// How a run got on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    phase: &'static str,
    round: u32,
    /// When the phase or the round was last another.
    since: Instant,
    longest: Duration,
}

/// What a run does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Health {
    Gathering,
    Running,
    /// No round has ended for so long.
    Stuck(Duration),
    Finished,
}

impl Progress {
    pub(crate) fn new(phase: &'static str, now: Instant) -> Self {
        Self { phase, round: 0, since: now, longest: Duration::ZERO }
    }

    /// After another look.
    pub(crate) fn next(self, phase: &'static str, round: u32, now: Instant) -> Self {
        if (phase, round) == (self.phase, self.round) {
            return self;
        }
        // Waiting for others is no round.
        let took = if phase == self.phase { now.duration_since(self.since) } else { Duration::ZERO };
        Self { phase, round, since: now, longest: self.longest.max(took) }
    }

    pub(crate) fn health(self, now: Instant) -> Health {
        let waited = now.duration_since(self.since);
        match self.phase {
            "finished" => Health::Finished,
            "starting" => Health::Gathering,
            _ if waited > AT_LEAST.max(self.longest.saturating_mul(LONGEST)) => Health::Stuck(waited),
            _ => Health::Running,
        }
    }
}

impl Health {
    /// A line that begins with the word for it.
    pub(crate) fn line(self) -> String {
        match self {
            Self::Gathering => "gathering\n".into(),
            Self::Running => "running\n".into(),
            Self::Stuck(waited) => format!("stuck: no round has ended for {} s\n", waited.as_secs()),
            Self::Finished => "finished\n".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_stuck_after_ten_of_its_longest_rounds_and_not_while_it_gathers_or_is_over() {
        let begun = Instant::now();
        let at = |seconds: u64| begun + Duration::from_secs(seconds);
        let gathering = Progress::new("starting", begun);
        assert_eq!(gathering.health(at(100_000)), Health::Gathering);
        let first = gathering.next("running", 0, at(1000));
        assert_eq!(first.health(at(1300)), Health::Running, "having waited for members is no long round");
        assert_eq!(first.health(at(1301)), Health::Stuck(Duration::from_secs(301)));
        let slow = first.next("running", 1, at(1100));
        assert_eq!(slow.next("running", 1, at(1500)).health(at(2100)), Health::Running);
        let stuck = slow.health(at(2102));
        assert_eq!(stuck.line(), "stuck: no round has ended for 1002 s\n");
        assert_eq!(slow.next("running", 2, at(2103)).health(at(2104)), Health::Running);
        assert_eq!(slow.next("finished", 2, at(2103)).health(at(900_000)), Health::Finished);
    }
}

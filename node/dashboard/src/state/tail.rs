//! The last lines of the log, in words.

use std::collections::VecDeque;

use protocol::{LogLine, PeerIx, RunEvent};
use serde::Serialize;

/// Lines that are kept.
pub(crate) const MOST_LINES: usize = 200;

/// One line in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Entry {
    /// Seconds since the run began.
    pub(crate) t: f64,
    pub(crate) node: Option<PeerIx>,
    pub(crate) level: Level,
    pub(crate) text: String,
}

/// How much it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    Info,
    Warn,
}

/// The tail; `seen` counts all entries, so that a reader knows which are new.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tail {
    entries: VecDeque<Entry>,
    seen: u64,
    told: u64,
    /// The last round that was told of, and when it ended.
    last_round: Option<(u32, f64)>,
}

impl Tail {
    pub(crate) fn add(&mut self, entry: Entry) {
        if self.entries.len() == MOST_LINES {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
        self.seen += 1;
    }

    /// Adds a line of the log, if it is one that people would read.
    pub(crate) fn push(&mut self, line: &LogLine) {
        if let RunEvent::RoundDone { round, .. } = line.event {
            // Every node ends every round; one line in a second leaves room for what matters more.
            let now = line.time.seconds();
            if self.last_round.is_some_and(|(last, told)| last >= round || now < told + 1.0) {
                return;
            }
            self.last_round = Some((round, now));
        }
        if let Some((level, text)) = words(&line.event) {
            // What happens to all is told once, or a large swarm would fill the tail with it.
            let mut last = self.entries.iter().rev().take(8);
            if happens_to_all(&line.event) && last.any(|entry| entry.text == text) {
                return;
            }
            self.add(Entry { t: line.time.seconds(), node: line.node, level, text });
        }
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// What came since the last call.
    pub(crate) fn news(&mut self) -> Vec<Entry> {
        let fresh = usize::try_from(self.seen - self.told).unwrap_or(usize::MAX).min(self.entries.len());
        self.told = self.seen;
        self.entries.iter().skip(self.entries.len() - fresh).cloned().collect()
    }
}

fn happens_to_all(event: &RunEvent) -> bool {
    matches!(
        event,
        RunEvent::Run { .. }
            | RunEvent::Roster { .. }
            | RunEvent::RoundBroken { .. }
            | RunEvent::Finished { .. }
            | RunEvent::Mixed { .. }
    )
}

fn words(event: &RunEvent) -> Option<(Level, String)> {
    Some(match event {
        RunEvent::Run { run, driver, nodes, private_noise, .. } => {
            (Level::Info, format!("run {run} begins: {nodes} nodes, {driver}, {}", noise(*private_noise)))
        }
        RunEvent::Roster { epoch, round, members, .. } => {
            (Level::Info, format!("epoch {epoch} begins at round {round} with {} members", members.len()))
        }
        RunEvent::RoundDone { round, count, .. } => {
            (Level::Info, format!("round {round} ended with {count} contributions"))
        }
        RunEvent::RoundBroken { round, reason, .. } => {
            (Level::Warn, format!("round {round} was given up: {reason}"))
        }
        RunEvent::Refused { round, reason, .. } => {
            (Level::Warn, format!("adds nothing in round {round}: {reason}"))
        }
        RunEvent::PeerFault { peer, fault, round } => {
            (Level::Warn, format!("node {peer} sent what it must not send in round {round}: {fault:?}"))
        }
        RunEvent::Late { peer, count } => (Level::Info, format!("{count} late messages from node {peer}")),
        RunEvent::TokenRestarted { token, hop, .. } => {
            (Level::Warn, format!("token {token} was lost and starts again at hop {hop}"))
        }
        RunEvent::Question { question, epsilon, outcome, .. } => {
            (Level::Info, format!("the question `{question}` (ε = {epsilon}): {outcome}"))
        }
        RunEvent::Waiting { missing } => {
            (Level::Warn, format!("too few members to decide: waiting for {}", listed(missing)))
        }
        RunEvent::Outside { epoch } => (Level::Warn, format!("epoch {epoch} began without this node")),
        RunEvent::Streams { among, neighbours, .. } => {
            (Level::Info, format!("shares masks with {neighbours} of {among} members"))
        }
        RunEvent::Inspected { round, forced, named, .. } => (Level::Warn, looked(*round, *forced, named)),
        RunEvent::LostLines { count } => {
            (Level::Warn, format!("{count} lines of this node's log cannot be read"))
        }
        RunEvent::Finished { rounds, reason, .. } => {
            (Level::Info, format!("finished after {rounds} rounds: {reason}"))
        }
        RunEvent::Mixed { round, missing, .. } if !missing.is_empty() => {
            (Level::Warn, format!("{} messages were missing in round {round}", missing.len()))
        }
        RunEvent::Resumed { private_noise } => {
            (Level::Info, format!("came back, with {}", noise(*private_noise)))
        }
        RunEvent::Renewed(renewed) => {
            let (number, round) = (renewed.number, renewed.round);
            let text = format!("renewal {number} of the swarm file: it goes on with round {round} or later");
            (Level::Info, text)
        }
        RunEvent::Named { peer, name } => (Level::Info, format!("node {peer} is {name}")),
        RunEvent::Released { .. }
        | RunEvent::Declared(_)
        | RunEvent::Paired { .. }
        | RunEvent::Missed { .. }
        | RunEvent::Mixed { .. }
        | RunEvent::Held { .. }
        | RunEvent::Offered { .. } => return None,
    })
}

fn noise(is_private: bool) -> &'static str {
    if is_private { "noise from the operating system" } else { "seeded noise" }
}

fn listed(members: &[PeerIx]) -> String {
    members.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn looked(round: u32, forced: bool, named: &[PeerIx]) -> String {
    let why = if forced { "its total was too long" } else { "a coin said so" };
    let found = match named {
        [] => "nobody is named".to_owned(),
        named => format!("out for good: {}", listed(named)),
    };
    format!("round {round} was looked into, since {why}: {found}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::{Digest, Time};

    fn done(node: PeerIx, round: u32) -> LogLine {
        let digest = Digest::default();
        let event = RunEvent::RoundDone { round, epoch: 0, start: digest, end: digest, count: 2 };
        LogLine { time: Time(u64::from(round) * 500_000), node: Some(node), event }
    }

    #[test]
    fn the_end_of_a_round_is_told_once_and_not_twice_in_a_second() {
        let mut tail = Tail::default();
        for round in 0..1000 {
            tail.push(&done(0, round));
            tail.push(&done(1, round));
        }
        assert_eq!((tail.seen, tail.entries().count(), tail.news().len()), (500, MOST_LINES, MOST_LINES));
        assert!(tail.news().is_empty());
        tail.push(&done(1, 1000));
        assert_eq!(tail.news()[0].text, "round 1000 ended with 2 contributions");
        tail.push(&done(1, 1001));
        assert!(tail.news().is_empty());
    }

    #[test]
    fn what_happens_to_all_is_told_once() {
        let mut tail = Tail::default();
        for node in 0..5 {
            let event = RunEvent::Finished { rounds: 3, model: Digest::default(), reason: "done".into() };
            tail.push(&LogLine { time: Time(0), node: Some(node), event });
            tail.push(&LogLine { time: Time(0), node: Some(node), event: RunEvent::Outside { epoch: 1 } });
        }
        assert_eq!(tail.seen, 1 + 5);
    }
}

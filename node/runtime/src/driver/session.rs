//! A run that has begun: the participant, its roster and its clock.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use libp2p::PeerId;
use privacy::noise::NoiseSource;
use protocol::agreement::{Credentials, DecisionFile, Terms};
use protocol::masks::{Lie, Masks};
use protocol::{Input, Node, PeerIx, RunId, Settings, Snapshot, Time};
use tokio::time::Instant;

use super::hostile::Mouth;
use crate::identity::Roster;
use crate::ledger::{Begun, Found};

/// The clock of a run: microseconds since it began at this node, across restarts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    origin: Instant,
    /// What had passed at `origin`.
    before: u64,
}

impl Clock {
    /// A clock for a run that began at `began` (microseconds since 1970). Steps of the system's clock between two starts are the only ones it sees.
    pub(crate) fn since(began: u64) -> Self {
        Self { origin: Instant::now(), before: unix_micros().saturating_sub(began) }
    }

    pub(crate) fn now(&self) -> Time {
        let passed = u64::try_from(self.origin.elapsed().as_micros()).unwrap_or(u64::MAX);
        Time(self.before.saturating_add(passed))
    }

    /// When a time of the run will be.
    pub(crate) fn at(&self, time: Time) -> Instant {
        let wait = time.0.saturating_sub(self.before).min(u64::MAX / 4);
        // A year is as good as never, and cannot overflow.
        self.origin + Duration::from_micros(wait).min(Duration::from_secs(365 * 24 * 3600))
    }
}

pub(crate) fn unix_micros() -> u64 {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(passed.as_micros()).unwrap_or(u64::MAX)
}

/// A run under way.
pub(crate) struct Session {
    pub(crate) node: Node,
    pub(crate) me: PeerIx,
    /// The name of the run: questions have others.
    pub(crate) run: RunId,
    /// Everybody who ever was a member, by place.
    pub(crate) roster: Roster,
    /// The members now, who are asked questions.
    pub(crate) members: Roster,
    pub(crate) clock: Clock,
    /// Members that said that they have finished.
    pub(crate) finished: BTreeSet<PeerId>,
    /// Since when this node has.
    pub(crate) done: Option<Instant>,
    /// What was saved last.
    pub(crate) saved: Option<Snapshot>,
    /// What all agreed on before the first decision.
    terms: Terms,
    /// Whether it was told to leave.
    pub(crate) leaves: bool,
    /// What it says instead of what it should, in tests.
    pub(crate) mouth: Option<Box<dyn Mouth>>,
}

impl Session {
    /// A participant at its place; with what was found where it comes back.
    pub(crate) fn new(
        (me, begun): (PeerIx, Begun),
        settings: &Settings,
        message_noise: Option<Box<dyn NoiseSource>>,
        masks: Masks,
        clock: Clock,
        (credentials, found): (Credentials, Option<&Found>),
    ) -> Self {
        let (roster, members) = (begun.places().clone(), begun.members().clone());
        let run = run_id(settings.run, &roster);
        let settings = Arc::new(Settings { run, certify: true, ..settings.clone() });
        let terms = credentials.charter.terms().clone();
        let node = Node::new(me, Arc::clone(&settings), message_noise).with_credentials(credentials);
        let mut node = node.with_masks(masks);
        if let Some(found) = found {
            node = node.with_disk(found.disk());
            let saved = found.snapshot.clone().unwrap_or_else(|| Snapshot::first(&settings));
            node = node.restored(&saved.with_unknown(&settings, found.unknown), found.records);
        }
        let saved = found.and_then(|found| found.snapshot.clone());
        Self {
            node,
            me,
            run,
            roster,
            members,
            clock,
            finished: BTreeSet::new(),
            done: None,
            saved,
            terms,
            leaves: false,
            mouth: None,
        }
    }

    /// The same as a member that lies, for tests.
    pub(crate) fn danger_lying(mut self, lie: Option<Lie>, mouth: Option<Box<dyn Mouth>>) -> Self {
        self.mouth = mouth;
        if let Some(lie) = lie {
            self.node = self.node.danger_lying(lie, Time::default());
        }
        self
    }

    pub(crate) fn handle(&mut self, input: Input) {
        self.node.handle(self.clock.now(), input);
    }

    /// Whether a snapshot holds another promise than the one before, or other members (for a walk: other tokens): it must be on disk before what follows is sent.
    pub(crate) fn promises(&self, snapshot: &Snapshot) -> bool {
        let saved = self.saved.as_ref();
        snapshot.agreement != saved.and_then(|saved| saved.agreement.clone())
            || snapshot.members != saved.map_or(&[][..], |saved| &saved.members)
            || snapshot.reserves.promised != saved.map_or(0, |saved| saved.reserves.promised)
    }

    /// The last decision with all that proves it.
    pub(crate) fn decision(&self) -> Option<DecisionFile> {
        let certificate = self.node.certificate()?.clone();
        Some(DecisionFile { terms: self.terms.clone(), certificate })
    }

    /// Whether everybody who is `linked` has finished too.
    pub(crate) fn is_over_for(&self, linked: impl Fn(&PeerId) -> bool) -> bool {
        let mut members = self.members.members().iter();
        members.all(|peer| {
            self.roster.position(peer) == Some(self.me) || self.finished.contains(peer) || !linked(peer)
        })
    }

    /// Whether the others go on without it, as it was told.
    pub(crate) fn has_left(&self) -> bool {
        self.leaves && self.done.is_some() && !self.node.has_reached_the_end()
    }

    /// Whether every member has finished.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over_for(|_| true)
    }
}

/// The run as its configuration names it, and its members: two swarms with one file do not mix.
fn run_id(run: RunId, roster: &Roster) -> RunId {
    let digest = roster.digest().0;
    let (first, _) = digest.split_at(8);
    RunId(run.0 ^ u64::from_le_bytes(first.try_into().expect("eight bytes")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_clock_goes_on_after_a_restart() {
        let clock = Clock::since(unix_micros() - 5_000_000);
        let early = clock.now();
        assert!(early >= Time(5_000_000) && early < Time(6_000_000));
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(clock.now(), early.after(2_000_000));
        assert_eq!(clock.at(clock.now()), Instant::now());
        assert!(clock.at(Time(u64::MAX)) > Instant::now());
        assert!(clock.at(Time(0)) <= Instant::now());
    }
}

//! Before the start: who takes part. All members must stand for the same roster, with no leader.
//!
//! A node *stands* for one roster per attempt and tells everybody. It begins when every member of the roster stood for the same one in the same attempt.
//!
//! Invariant (safety): two nodes never begin with different rosters that share a member that stood in between. A node leaves a roster only for a higher attempt,
//! and only after a member of that roster was seen standing for another one in the same attempt (so nobody can have begun with it), or in a higher attempt
//! (so that member had such a reason), or after a member was gone for [`PATIENCE`]. Only the last is a guess: a member that had begun alone and
//! vanished for so long finds the run closed when it returns.
//!
//! With exactly as many holders of the swarm file as it has nodes there is never more than one roster, and one attempt.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use libp2p::PeerId;

use crate::identity::Roster;

/// How long to wait for a member that was there and went away before the start.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The state of the search.
#[derive(Debug)]
pub(crate) struct Gathering {
    me: PeerId,
    nodes: usize,
    linked: BTreeSet<PeerId>,
    attempt: u32,
    stand: Option<Roster>,
    heard: BTreeMap<PeerId, (u32, Roster)>,
    /// How long a member of our roster has been away.
    away: Duration,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Tell these peers what we stand for.
    Tell(Vec<PeerId>, u32, Roster),
    /// All stand for this: begin.
    Begin(Roster),
}

impl Gathering {
    pub(crate) fn new(me: PeerId, nodes: usize) -> Self {
        Self {
            me,
            nodes,
            linked: BTreeSet::new(),
            attempt: 0,
            stand: None,
            heard: BTreeMap::new(),
            away: Duration::ZERO,
        }
    }

    pub(crate) fn on_linked(&mut self, peer: PeerId) -> Vec<Step> {
        self.linked.insert(peer);
        let mut steps = Vec::new();
        if let Some(roster) = &self.stand {
            // It may have missed what we said before.
            steps.push(Step::Tell(vec![peer], self.attempt, roster.clone()));
        }
        steps.extend(self.advance());
        steps
    }

    pub(crate) fn on_lost(&mut self, peer: PeerId) {
        self.linked.remove(&peer);
    }

    pub(crate) fn on_confirm(&mut self, peer: PeerId, attempt: u32, roster: Roster) -> Vec<Step> {
        if roster.len() != self.nodes {
            return Vec::new();
        }
        if self.heard.get(&peer).is_some_and(|(latest, _)| *latest > attempt) {
            return Vec::new();
        }
        self.heard.insert(peer, (attempt, roster));
        if self.is_contradicted() {
            // Not at once: without a pause two nodes with different knowledge would answer each other at the speed of the network.
            self.stand = None;
            return Vec::new();
        }
        self.advance()
    }

    /// Time has passed.
    pub(crate) fn on_tick(&mut self, elapsed: Duration) -> Vec<Step> {
        let complete = self.stand.as_ref().is_none_or(|roster| {
            roster.members().iter().all(|peer| *peer == self.me || self.linked.contains(peer))
        });
        self.away = if complete { Duration::ZERO } else { self.away + elapsed };
        if self.away > PATIENCE {
            self.attempt = self.attempt.saturating_add(1);
            self.stand = None;
            self.away = Duration::ZERO;
        }
        self.advance()
    }

    /// Whether a member of our roster stands for another; takes its attempt, or the next.
    fn is_contradicted(&mut self) -> bool {
        let Some(ours) = &self.stand else { return false };
        let mut next = self.attempt;
        for (peer, (attempt, theirs)) in &self.heard {
            if ours.position(peer).is_none() {
                continue;
            }
            if *attempt > self.attempt {
                next = next.max(*attempt);
            } else if *attempt == self.attempt && theirs != ours {
                next = next.max(self.attempt.saturating_add(1));
            }
        }
        let contradicted = next != self.attempt;
        self.attempt = next;
        contradicted
    }

    fn advance(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        if self.stand.is_none() {
            let Some(roster) = self.choice() else { return steps };
            // Those whom we leave out must hear it too: they may wait for us.
            steps.push(Step::Tell(self.linked.iter().copied().collect(), self.attempt, roster.clone()));
            self.stand = Some(roster);
        }
        let roster = self.stand.as_ref().expect("it was just set");
        let agrees = |peer: &PeerId| {
            *peer == self.me
                || self
                    .heard
                    .get(peer)
                    .is_some_and(|(attempt, theirs)| *attempt == self.attempt && theirs == roster)
        };
        if roster.position(&self.me).is_some() && roster.members().iter().all(agrees) {
            steps.push(Step::Begin(roster.clone()));
        }
        steps
    }

    /// The first `nodes` of those who are here, if that is enough. Perhaps without us: then we stand aside, and say so.
    fn choice(&self) -> Option<Roster> {
        let mut here: Vec<PeerId> = self.linked.iter().copied().chain([self.me]).collect();
        here.sort_unstable();
        here.truncate(self.nodes);
        (here.len() == self.nodes).then(|| Roster::new(here))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    /// Nodes with a network that loses nothing but may deliver in any order between pairs.
    struct Net {
        ids: Vec<PeerId>,
        nodes: Vec<Gathering>,
        begun: Vec<Option<Roster>>,
        queue: VecDeque<(usize, usize, u32, Roster)>,
    }

    impl Net {
        fn new(present: usize, nodes: usize) -> Self {
            let mut ids: Vec<PeerId> = (0..present).map(|_| PeerId::random()).collect();
            ids.sort_unstable();
            Self {
                nodes: ids.iter().map(|id| Gathering::new(*id, nodes)).collect(),
                begun: vec![None; present],
                queue: VecDeque::new(),
                ids,
            }
        }

        fn apply(&mut self, at: usize, steps: Vec<Step>) {
            for step in steps {
                match step {
                    Step::Tell(to, attempt, roster) => {
                        for peer in to {
                            let to = self.ids.iter().position(|id| *id == peer).unwrap();
                            self.queue.push_back((at, to, attempt, roster.clone()));
                        }
                    }
                    Step::Begin(roster) => self.begun[at] = Some(roster),
                }
            }
        }

        fn link(&mut self, a: usize, b: usize) {
            for (at, peer) in [(a, b), (b, a)] {
                if self.begun[at].is_none() {
                    let steps = self.nodes[at].on_linked(self.ids[peer]);
                    self.apply(at, steps);
                }
            }
        }

        fn deliver(&mut self, pick: usize) {
            let (from, to, attempt, roster) = self.queue.remove(pick % self.queue.len()).unwrap();
            if self.begun[to].is_none() {
                let steps = self.nodes[to].on_confirm(self.ids[from], attempt, roster);
                self.apply(to, steps);
            }
        }

        fn settle(&mut self) {
            for _ in 0..20 {
                while !self.queue.is_empty() {
                    self.deliver(0);
                }
                for at in 0..self.nodes.len() {
                    if self.begun[at].is_none() {
                        let steps = self.nodes[at].on_tick(Duration::from_millis(500));
                        self.apply(at, steps);
                    }
                }
            }
        }
    }

    #[test]
    fn three_of_three_begin_with_the_same_roster() {
        let mut net = Net::new(3, 3);
        net.link(0, 1);
        net.settle();
        assert!(net.begun.iter().all(Option::is_none));
        net.link(1, 2);
        net.settle();
        assert!(net.begun.iter().all(Option::is_none), "not all see each other yet");
        net.link(0, 2);
        net.settle();
        assert!(net.begun.iter().all(|roster| *roster == Some(Roster::new(net.ids.clone()))));
    }

    #[test]
    fn of_more_than_enough_the_same_ones_begin() {
        // 2 of 3: each sees another one first, so three rosters compete.
        let mut net = Net::new(3, 2);
        net.link(1, 2);
        net.link(0, 2);
        net.link(0, 1);
        net.settle();
        let begun: Vec<_> = net.begun.iter().flatten().collect();
        assert_eq!(begun.len(), 2, "{:?}", net.begun);
        assert_eq!(begun[0], begun[1]);
    }

    #[test]
    fn a_member_that_never_returns_makes_room() {
        let mut net = Net::new(4, 3);
        let gone = net.ids[1];
        for at in [0, 2] {
            let steps = net.nodes[at].on_linked(gone);
            net.apply(at, steps);
        }
        net.link(0, 2);
        net.queue.clear();
        net.nodes[0].on_lost(gone);
        net.nodes[2].on_lost(gone);
        net.begun[1] = Some(Roster::new([]));
        net.link(0, 3);
        net.link(2, 3);
        for at in [0, 2] {
            for _ in 0..2 {
                let steps = net.nodes[at].on_tick(PATIENCE);
                net.apply(at, steps);
            }
        }
        net.settle();
        let expected = Roster::new([net.ids[0], net.ids[2], net.ids[3]]);
        assert_eq!([&net.begun[0], &net.begun[2], &net.begun[3]], [&Some(expected.clone()); 3]);
    }

    proptest! {
        #[test]
        fn whatever_the_order_whoever_begins_begins_with_all_members(
            present in 2_usize..6,
            less in 0_usize..3,
            order in proptest::collection::vec(any::<usize>(), 200),
        ) {
            let nodes = present.saturating_sub(less).max(2);
            let mut net = Net::new(present, nodes);
            let mut pairs: Vec<_> = (0..present).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
            for pick in order {
                if pick % 3 == 0 && !pairs.is_empty() {
                    let (a, b) = pairs.swap_remove(pick / 3 % pairs.len());
                    net.link(a, b);
                } else if pick % 7 == 1 {
                    let at = pick / 7 % present;
                    if net.begun[at].is_none() {
                        let steps = net.nodes[at].on_tick(Duration::from_millis(500));
                        net.apply(at, steps);
                    }
                } else if !net.queue.is_empty() {
                    net.deliver(pick / 2);
                }
            }
            pairs.drain(..).for_each(|(a, b)| net.link(a, b));
            net.settle();
            // Twice as many as needed may form two swarms that never met; each must be whole.
            prop_assert!(net.begun.iter().any(Option::is_some), "somebody begins");
            for (at, roster) in net.begun.iter().enumerate() {
                let Some(roster) = roster else { continue };
                prop_assert!(roster.len() == nodes && roster.position(&net.ids[at]).is_some());
                for member in roster.members() {
                    let other = net.ids.iter().position(|id| id == member).unwrap();
                    prop_assert_eq!(net.begun[other].as_ref(), Some(roster));
                }
            }
        }
    }
}

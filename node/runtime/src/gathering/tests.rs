use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;
use crate::identity::Identity;

fn signer() -> Signer {
    Signer::new(Identity::ephemeral().keypair().clone(), protocol::Digest::of_text("a run"))
}

/// Nodes with a network that loses nothing but may deliver in any order between pairs.
struct Net {
    ids: Vec<PeerId>,
    nodes: Vec<Gathering>,
    begun: Vec<Option<Roster>>,
    queue: VecDeque<(usize, usize, u32, Roster, Vec<u8>)>,
}

impl Net {
    fn new(present: usize, nodes: usize) -> Self {
        let mut signers: Vec<Signer> = (0..present).map(|_| signer()).collect();
        signers.sort_by_key(Signer::me);
        let ids: Vec<PeerId> = signers.iter().map(Signer::me).collect();
        Self {
            nodes: signers.into_iter().map(|signer| Gathering::new(signer, nodes)).collect(),
            begun: vec![None; present],
            queue: VecDeque::new(),
            ids,
        }
    }

    fn apply(&mut self, at: usize, steps: Vec<Step>) {
        for step in steps {
            match step {
                Step::Tell(to, attempt, roster, signature) => {
                    for peer in to {
                        let to = self.ids.iter().position(|id| *id == peer).unwrap();
                        self.queue.push_back((at, to, attempt, roster.clone(), signature.clone()));
                    }
                }
                Step::Begin(signed) => self.begun[at] = Some(signed.roster),
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
        let (from, to, attempt, roster, signature) = self.queue.remove(pick % self.queue.len()).unwrap();
        if self.begun[to].is_none() {
            let steps = self.nodes[to].on_confirm(self.ids[from], attempt, roster, signature);
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

/// A card that says that a run is under way, made up by one member: with identities that do not exist, with signatures of others missing or taken from
/// another attempt, or without those of all.
#[test]
fn a_forged_roster_captures_nobody() {
    let (victim, attacker) = (signer(), signer());
    let strangers = [PeerId::random(), PeerId::random()];
    let roster = Roster::new([victim.me(), attacker.me()].into_iter().chain(strangers));
    let mut gathering = Gathering::new(victim.clone(), 4);
    assert_eq!(gathering.on_running(SignedRoster::unsigned(roster.clone())), None);
    let by_attacker = attacker.sign(0, &roster);
    let signatures = vec![by_attacker.clone(); 4];
    assert_eq!(gathering.on_running(SignedRoster { roster, attempt: 0, signatures }), None);
    // Two of two, of whom the victim never signed.
    let pair = Roster::new([victim.me(), attacker.me()]);
    let mut gathering = Gathering::new(victim.clone(), 2);
    let signatures = vec![attacker.sign(0, &pair); 2];
    assert_eq!(gathering.on_running(SignedRoster { roster: pair.clone(), attempt: 0, signatures }), None);
    // What the victim signed in another attempt.
    let sign = |attempt: u32| {
        let by = |peer: &PeerId| {
            if *peer == victim.me() { victim.sign(0, &pair) } else { attacker.sign(attempt, &pair) }
        };
        pair.members().iter().map(by).collect::<Vec<_>>()
    };
    let forged = SignedRoster { roster: pair.clone(), attempt: 1, signatures: sign(1) };
    assert_eq!(gathering.on_running(forged), None);
    let real = SignedRoster { roster: pair.clone(), attempt: 0, signatures: sign(0) };
    assert_eq!(gathering.on_running(real.clone()), Some(Step::Begin(real)));
}

#[test]
fn pinned_members_begin_with_each_other_and_with_nobody_else() {
    let signers: Vec<Signer> = (0..4).map(|_| signer()).collect();
    let roster = Roster::new(signers.iter().map(Signer::me));
    let mut gathering = Gathering::new(signers[0].clone(), 4).pinned(roster.clone(), 3);
    // A roster with the victim, the attacker and two that do not exist, which the attacker signed.
    let forged = Roster::new([signers[0].me(), signers[1].me(), PeerId::random(), PeerId::random()]);
    let signatures = vec![signers[1].sign(0, &forged); 4];
    assert_eq!(gathering.on_running(SignedRoster { roster: forged, attempt: 0, signatures }), None);
    let begin = vec![Step::Begin(SignedRoster::unsigned(roster.clone()))];
    assert!(
        gathering.on_linked(signers[1].me()).is_empty() && gathering.on_linked(PeerId::random()).is_empty()
    );
    assert!(gathering.on_tick(PATIENCE + PATIENCE).is_empty(), "two of four are no quorum");
    assert!(gathering.on_linked(signers[2].me()).is_empty(), "one may still come");
    assert!(gathering.on_tick(PATIENCE).is_empty());
    assert_eq!(gathering.on_tick(PATIENCE), begin, "three are enough");
    let mut gathering = Gathering::new(signers[0].clone(), 4).pinned(roster, 3);
    let links: Vec<Vec<Step>> = signers[1..].iter().map(|other| gathering.on_linked(other.me())).collect();
    assert_eq!(links, [vec![], vec![], begin], "at once when all are here");
}

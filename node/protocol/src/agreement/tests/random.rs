//! Random schedules with hostile members, over thousands of seeds: agreement, validity, no wrong expulsion,
//! and progress once messages flow.

use std::collections::{BTreeMap, BTreeSet};

use super::super::message::Message;
use super::super::{Fingerprint, hostile_by_default};
use super::hostile::{BEHAVIOURS, Behaviour, twist};
use super::{Dice, Net, a_model, standing};
use crate::PeerIx;

/// One life of a swarm that a seed stands for.
struct Play {
    net: Net,
    dice: Dice,
    hostile: BTreeMap<PeerIx, Behaviour>,
    /// Up to where the letters were twisted.
    seen: usize,
    /// The epoch that is to be decided.
    epoch: u32,
}

impl Play {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let members = [4, 4, 5, 6, 7][dice.below(5)];
        let most = hostile_by_default(members) as usize;
        let mut hostile = BTreeMap::new();
        while hostile.len() < most {
            hostile.insert(dice.below(members) as PeerIx, BEHAVIOURS[dice.below(BEHAVIOURS.len())]);
        }
        Self { net: Net::new(members), dice, hostile, seen: 0, epoch: 0 }
    }

    fn honest(&self) -> Vec<PeerIx> {
        self.net.charter.everybody().filter(|member| !self.hostile.contains_key(member)).collect()
    }

    /// What hostile members send is replaced by what they want to say.
    fn twist(&mut self) {
        let letters = std::mem::take(&mut self.net.letters);
        let (fresh, old) = (letters.len().saturating_sub(self.seen), self.seen.min(letters.len()));
        let mut kept = Vec::with_capacity(old + fresh);
        for (at, (from, to, message)) in letters.into_iter().enumerate() {
            match self.hostile.get(&from) {
                Some(&behaviour) if at >= old => {
                    let said = twist(&self.net, (from, to), message, (behaviour, &mut self.dice));
                    kept.extend(said.into_iter().map(|message| (from, to, message)));
                }
                _ => kept.push((from, to, message)),
            }
        }
        self.seen = kept.len();
        self.net.letters = kept;
    }

    /// One thing happens: something arrives, is lost, is repeated, time passes, or somebody restarts.
    fn step(&mut self, is_wild: bool) {
        self.twist();
        let count = self.net.letters.len();
        if count == 0 || (is_wild && self.dice.one_in(40)) {
            self.net.tick();
            return;
        }
        if is_wild && self.dice.one_in(150) {
            let honest = self.honest();
            let at = honest[self.dice.below(honest.len())];
            self.net.kill(at);
            self.net.restart(at);
            self.seen = self.net.letters.len().min(self.seen);
            // Without a standing on its disk it says where it stands, unless that is decided.
            if self.net.epoch(at) < self.epoch {
                self.net.call(at);
            }
            return;
        }
        let pick = if is_wild { self.dice.below(count) } else { 0 };
        let letter = self.net.letters.remove(pick);
        self.seen = self.seen.saturating_sub(1);
        if is_wild && self.dice.one_in(8) {
            return;
        }
        if is_wild && self.dice.one_in(20) {
            self.net.letters.push(letter.clone());
            self.seen = self.net.letters.len();
        }
        self.net.deliver(letter);
    }

    /// Honest members finished the round or not; some are a round behind.
    fn advance(&mut self, version: u32) {
        for member in self.honest() {
            let at = version - u32::from(self.dice.one_in(3));
            let held = |version: u32| a_model(version, version as u8);
            self.net.reports[member as usize] = standing(held(at), at.checked_sub(1).map(held), at);
        }
    }

    fn assemble(&mut self, epoch: u32) {
        self.epoch = epoch;
        let all: Vec<PeerIx> = self.net.charter.everybody().collect();
        for member in all {
            self.net.call(member);
        }
        for _ in 0..self.dice.below(400) {
            self.step(true);
        }
        let honest = self.honest();
        for _ in 0..60_000 {
            if honest.iter().all(|&member| self.net.epoch(member) >= epoch) {
                return;
            }
            // Whoever has not called does so when it hears that others did, or here.
            for &member in &honest {
                let node = self.net.nodes[member as usize].as_ref().expect("honest members are here");
                if !node.is_assembling() && self.net.epoch(member) < epoch {
                    self.net.call(member);
                }
            }
            self.step(false);
        }
        panic!("no decision of epoch {epoch}: {:?}", self.hostile);
    }

    /// Whom all honest members had heard before their first turn of the epoch.
    fn heard_by_all(&self, epoch: u32) -> BTreeSet<PeerIx> {
        let mut first: BTreeMap<PeerIx, (u32, BTreeSet<PeerIx>)> = BTreeMap::new();
        for (from, message) in &self.net.history {
            let Message::Turn(message) = message else { continue };
            let turn = &message.turn;
            if turn.place().epoch != epoch || turn.by() != *from || self.hostile.contains_key(from) {
                continue;
            }
            let heard = turn.content().heard.iter().map(|(member, _)| *member).collect();
            let entry = first.entry(*from).or_insert((turn.place().view, BTreeSet::new()));
            if turn.place().view <= entry.0 {
                *entry = (turn.place().view, heard);
            }
        }
        let mut all = first.into_values().filter(|(view, _)| *view == 0).map(|(_, heard)| heard);
        let start = all.next().unwrap_or_default();
        all.fold(start, |known, heard| known.intersection(&heard).copied().collect())
    }

    fn check(&self, epoch: u32, newest: u32) {
        let honest = self.honest();
        let values: BTreeSet<Fingerprint> = honest
            .iter()
            .flat_map(|&member| &self.net.decided[member as usize])
            .filter(|decided| decided.decision.epoch == epoch)
            .map(|decided| decided.decision.digest())
            .collect();
        assert_eq!(values.len(), 1, "agreement");
        let decision = self.net.last(honest[0]);
        let version = decision.model.version;
        assert_eq!(decision.model, a_model(version, version as u8), "validity: a model that exists");
        assert!(version + 2 >= newest, "validity: {version}, though there is {newest}");
        let held = honest.iter().any(|&member| {
            let report = &self.net.reports[member as usize];
            report.model == decision.model || report.before == Some(decision.model)
        });
        assert!(held || decision.epoch == 1, "validity: an honest member holds it");
        let known = self.heard_by_all(epoch);
        for member in known.iter().filter(|member| !self.hostile.contains_key(member)) {
            assert!(decision.has_seat(*member), "no wrong expulsion: {member} of {known:?}, {decision:?}");
        }
        for member in &decision.banned {
            assert!(self.hostile.contains_key(member), "nobody honest is banned");
        }
        assert!(decision.next_round <= newest + 1, "no number of one member counts");
    }
}

fn play(seed: u64) {
    let mut play = Play::new(seed);
    for epoch in 1..=3 {
        let newest = 3 * (epoch - 1);
        if epoch > 1 {
            play.advance(newest);
        }
        play.assemble(epoch);
        play.check(epoch, newest);
    }
    for (at, faults) in play.net.faults.iter().enumerate() {
        if !play.hostile.contains_key(&(at as PeerIx)) {
            for (member, fault) in faults {
                assert!(play.hostile.contains_key(member), "{member} is honest and was blamed: {fault:?}");
            }
        }
    }
}

fn play_all(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let result = std::panic::catch_unwind(|| play(seed));
        assert!(result.is_ok(), "seed {seed}");
    }
}

#[test]
fn whatever_a_third_does_the_others_agree_and_go_on() {
    play_all(0..SEEDS);
}

/// Thousands, for `./test heavy`.
#[test]
#[ignore = "minutes"]
fn whatever_a_third_does_over_thousands_of_seeds() {
    play_all(SEEDS..10_000);
}

const SEEDS: u64 = 1_000;

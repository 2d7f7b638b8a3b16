//! Views: left by turns, and opened by a quorum of them and nothing else. No number that a peer states moves
//! a view.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::flaw::{self, Flaw};
use super::machine::{Agreement, Fault};
use super::message::{Ask, HeardList, Message, TurnMessage, Turns};
use super::proof::Proof;
use super::sealed::Sealed;
use super::statements::{Locked, Named, Turn};
use crate::PeerIx;

/// A view lasts `silence`, the next twice as long, up to 2⁶ times.
const MOST_DOUBLINGS: u32 = 6;

impl Agreement {
    /// Turns away from the view: neither votes nor commits in it any more.
    pub(super) fn turn(&mut self) {
        let heard = self.standings.named();
        let place = self.place(self.assembly.as_ref().map_or(0, |assembly| assembly.view));
        let Some(assembly) = &self.assembly else { return };
        if assembly.turn.is_some() || self.mute || !self.has_vote(self.me) {
            return;
        }
        let locked = assembly.locked.clone().filter(|_| !flaw::has(Flaw::TurnWithoutLock));
        let lock = locked.as_ref().map(|locked| (locked.lock.place.view, locked.lock.value));
        let turn = Arc::new(Sealed::new(self.me, place, Turn { lock, heard }, self.tools()));
        let message = TurnMessage { turn: turn.clone(), locked };
        let me = self.me;
        if let Some(assembly) = &mut self.assembly {
            assembly.turn = Some(message.clone());
            assembly.turns.insert(me, turn);
        }
        self.persist();
        self.send_all(Message::Turn(message));
        self.progress();
    }

    pub(super) fn on_turn(&mut self, from: PeerIx, message: TurnMessage) {
        let Some(assembly) = &self.assembly else { return self.call_for(from, Message::Turn(message)) };
        let turn = &message.turn;
        let (by, view) = (turn.by(), turn.place().view);
        let newest = if view == assembly.view { assembly.turns.get(&by) } else { assembly.ahead.get(&by) };
        let newest = newest.cloned();
        if view < assembly.view {
            return self.show_turns(from, view);
        }
        // By its content: whoever has the key can sign the same thing in many ways, and that proves nothing.
        let is_known = |known: &Arc<Sealed<Turn>>| {
            let same = (known.place(), known.digest()) == (turn.place(), turn.digest());
            same || known.place().view > view
        };
        if newest.as_ref().is_some_and(is_known) {
            return;
        }
        if !self.is_sound_turn(turn) || !self.shows_its_lock(&message) {
            return self.fault(from, Fault::Forged);
        }
        if let Some(known) = newest.filter(|known| known.place() == turn.place()) {
            return self.note(Proof::of_sealed(&*known, &**turn));
        }
        let turn = turn.clone();
        let Some(assembly) = &mut self.assembly else { return };
        if view == assembly.view {
            assembly.turns.insert(by, turn);
        } else {
            assembly.ahead.insert(by, turn);
        }
        if let Some(locked) = message.locked {
            self.adopt(locked);
        }
        if self.assembly.as_ref().is_some_and(|assembly| view > assembly.view) {
            // A hint that the view was opened, and by whom the turns can be had.
            self.ask(from, Ask::Turns((self.place(0).epoch, view)));
        }
        self.progress();
    }

    /// Whether a turn is one that an honest member with a vote can have made in this epoch.
    pub(super) fn is_sound_turn(&self, turn: &Sealed<Turn>) -> bool {
        let view = turn.place().view;
        let Turn { lock, heard } = turn.content();
        let rises = heard.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let exists = heard.last().is_none_or(|last| (last.0 as usize) < self.charter.members());
        let has_own = heard.iter().any(|(member, _)| *member == turn.by());
        // A lock proves itself: who has not come to its view may have heard of it, and shows the newest.
        let locks = lock.is_none_or(|(of, _)| of >= 1);
        let (charter, keys) = self.tools();
        let ours = turn.place() == self.place(view) && self.has_vote(turn.by());
        ours && rises && exists && has_own && locks && turn.is_signed(charter, keys)
    }

    fn shows_its_lock(&self, message: &TurnMessage) -> bool {
        match (&message.turn.content().lock, &message.locked) {
            (None, None) => true,
            (Some(named), Some(locked)) => {
                (locked.lock.place.view, locked.lock.value) == *named && self.is_sound_lock(locked)
            }
            _ => false,
        }
    }

    pub(super) fn is_sound_lock(&self, locked: &Locked) -> bool {
        let mine = self.assembly.as_ref().and_then(|assembly| assembly.locked.as_deref());
        let ours = locked.lock.place == self.place(locked.lock.place.view);
        let is_known = mine == Some(locked);
        let sound = || locked.lock.is_sound(&self.decision.electorate, self.tools());
        ours && (is_known || (locked.value.digest() == locked.lock.value && sound()))
    }

    /// Takes over a lock that was checked, if it is newer than mine.
    pub(super) fn adopt(&mut self, locked: Arc<Locked>) {
        if let Some(assembly) = &mut self.assembly
            && locked.lock.place.view > assembly.lock_view()
        {
            assembly.locked = Some(locked);
        }
    }

    /// The standings that turns bring: of their senders, and of whom more than f of them have heard. By
    /// member, with the digests that are named.
    pub(super) fn brought(&self, turns: &[Arc<Sealed<Turn>>]) -> BTreeMap<PeerIx, Vec<Named>> {
        let mut named: BTreeMap<PeerIx, (usize, Vec<Named>)> = BTreeMap::new();
        for turn in turns {
            for &(member, digest) in &turn.content().heard {
                let (count, digests) = named.entry(member).or_default();
                *count += 1;
                if !digests.contains(&(member, digest)) {
                    digests.push((member, digest));
                }
            }
        }
        let is_sender = |member: &PeerIx| turns.iter().any(|turn| turn.by() == *member);
        let enough = self.decision.electorate.one_honest();
        named.retain(|member, (count, _)| *count >= enough || is_sender(member));
        named.into_iter().map(|(member, (_, digests))| (member, digests)).collect()
    }

    /// Of what turns bring, what is not here: any standing of the member will do.
    pub(super) fn lacking(&self, turns: &[Arc<Sealed<Turn>>]) -> Vec<Named> {
        let lacks = |(member, _): &(PeerIx, Vec<Named>)| {
            !self.standings.has(*member) && !self.decision.has_banned(*member)
        };
        self.brought(turns).into_iter().filter(lacks).flat_map(|(_, digests)| digests).collect()
    }

    /// Turns of this view from a quorum open the next. Only those whose senders' standings are here: nobody
    /// can keep the others from going on by hiding its own.
    pub(super) fn gather_turns(&mut self) {
        let Some(assembly) = &self.assembly else { return };
        let usable = assembly.turns.values().filter(|turn| {
            self.standings.has(turn.by())
                && turn.content().lock.is_none_or(|(of, _)| of <= assembly.lock_view())
        });
        let turns: Vec<Arc<Sealed<Turn>>> = usable.cloned().collect();
        let unseen = assembly.turns.values().filter(|turn| !self.standings.has(turn.by()));
        let unseen: Vec<(PeerIx, Vec<Named>)> = unseen
            .map(|turn| {
                let own = turn.content().heard.iter().copied().filter(|(member, _)| *member == turn.by());
                (turn.by(), own.collect())
            })
            .collect();
        if turns.len() >= flaw::quorum(&self.decision.electorate) {
            let turns = Arc::new(Turns { turns, locked: assembly.locked.clone() });
            let free = assembly.entering.as_ref().is_none_or(|(_, at)| at.view() <= assembly.view);
            if self.is_informed(&turns) {
                self.enter(turns);
            } else if free {
                self.propose_entry(self.me, turns);
            }
        }
        for (member, heard) in unseen {
            let epoch = self.place(0).epoch;
            self.ask(member, Ask::Standings(HeardList { epoch, heard }));
        }
    }

    fn is_informed(&self, turns: &Turns) -> bool {
        flaw::has(Flaw::EntersUninformed) || self.lacking(&turns.turns).is_empty()
    }

    fn propose_entry(&mut self, from: PeerIx, turns: Arc<Turns>) {
        if let Some(assembly) = &mut self.assembly {
            assembly.entering = Some((from, turns));
        }
    }

    /// Turns that somebody else entered a view by.
    pub(super) fn on_turns(&mut self, from: PeerIx, turns: Turns) {
        let Some(assembly) = &self.assembly else { return self.call_for(from, Message::Turns(turns)) };
        if turns.view() < assembly.view {
            return;
        }
        if !self.are_sound(&turns) {
            return self.fault(from, Fault::Forged);
        }
        if let Some(locked) = turns.locked.clone() {
            self.adopt(locked);
        }
        self.propose_entry(from, Arc::new(turns));
        self.progress();
    }

    /// Whether these are turns of one view from a quorum, with a lock as new as any that they name.
    pub(super) fn are_sound(&self, turns: &Turns) -> bool {
        let rises = turns.turns.windows(2).all(|pair| pair[0].by() < pair[1].by());
        let same = turns.turns.iter().all(|turn| turn.place().view == turns.view());
        let enough = turns.turns.len() >= flaw::quorum(&self.decision.electorate);
        let sound = |turn: &Arc<Sealed<Turn>>| self.is_known_turn(turn) || self.is_sound_turn(turn);
        let newest = turns.turns.iter().filter_map(|turn| turn.content().lock).map(|(view, _)| view).max();
        let shown = turns.locked.as_ref().map(|locked| locked.lock.place.view);
        let locked = turns.locked.as_ref().is_none_or(|locked| self.is_sound_lock(locked));
        rises
            && same
            && enough
            && (newest <= shown || flaw::has(Flaw::IgnoresLocks))
            && locked
            && turns.turns.iter().all(sound)
    }

    fn is_known_turn(&self, turn: &Arc<Sealed<Turn>>) -> bool {
        let Some(assembly) = &self.assembly else { return false };
        assembly.turns.get(&turn.by()) == Some(turn) || assembly.ahead.get(&turn.by()) == Some(turn)
    }

    /// Enters the next view once the standings that its turns bring are here.
    pub(super) fn try_to_enter(&mut self) {
        let Some((from, turns)) = self.assembly.as_ref().and_then(|a| a.entering.clone()) else { return };
        if self.is_informed(&turns) {
            return self.enter(turns);
        }
        let lacking = self.lacking(&turns.turns);
        let epoch = self.place(0).epoch;
        let question = Ask::Standings(HeardList { epoch, heard: lacking });
        if from != self.me {
            return self.ask(from, question);
        }
        // Some of those that have heard them are honest.
        let heard: Vec<PeerIx> = turns.turns.iter().map(|turn| turn.by()).collect();
        heard.into_iter().for_each(|member| self.ask(member, question.clone()));
    }

    pub(super) fn enter(&mut self, turns: Arc<Turns>) {
        let Some(view) = turns.view().checked_add(1) else { return };
        debug_assert!(
            turns.turns.len() >= flaw::quorum(&self.decision.electorate),
            "a quorum of turns opens a view"
        );
        let heard = self.standings.has(self.proposer(view));
        let (now, charter) = (self.now, self.charter.clone());
        let Some(assembly) = &mut self.assembly else { return };
        assembly.entering = None;
        if view <= assembly.view {
            return;
        }
        assembly.view = view;
        assembly.entered = Some(turns);
        assembly.turns = std::mem::take(&mut assembly.ahead);
        assembly.ahead = assembly.turns.extract_if(.., |_, turn| turn.place().view > view).collect();
        assembly.turns.retain(|_, turn| turn.place().view == view);
        (assembly.turn, assembly.vote, assembly.commit, assembly.lead) = (None, None, None, None);
        // Nobody waits for a proposer that was not heard.
        let patience = if heard { charter.silence << (view - 1).min(MOST_DOUBLINGS) } else { 0 };
        assembly.until = now.after(patience);
        assembly.again = now.after(charter.resend);
        assembly.pause = 1;
        if patience == 0 {
            self.turn();
        }
        self.progress();
    }
}

impl Turns {
    /// The view that they leave.
    pub fn view(&self) -> u32 {
        self.turns.first().map_or(0, |turn| turn.place().view)
    }
}

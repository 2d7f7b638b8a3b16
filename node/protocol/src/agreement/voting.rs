//! One view: its proposer proposes, members vote, a quorum of votes is a lock, a quorum of commits a
//! decision.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::codec::Wire;
use super::decision::Decided;
use super::flaw::{self, Flaw};
use super::justify::Verdict;
use super::keys::{Ballot, Kind};
use super::machine::{Agreement, Assembly, Fault, Lead};
use super::message::{Ask, HeardList, Message, Turns};
use super::outcome::outcome;
use super::proof::Proof;
use super::sealed::Sealed;
use super::statements::{Lock, Locked, Propose, Voice};
use crate::PeerIx;

/// Proofs in a proposal have so many bytes at most: a frame has an end, and an honest proposer must be able to send what it proposes.
const MOST_PROVEN: usize = 1 << 20;

impl Agreement {
    /// Proposes, if it is my view and I have not spoken in it.
    pub(super) fn try_to_lead(&mut self) {
        let Some(assembly) = &self.assembly else { return };
        let view = assembly.view;
        let silent = assembly.lead.is_none() && assembly.turn.is_none() && assembly.vote.is_none();
        let Some(entered) = assembly.entered.clone().filter(|_| silent && view > 0) else { return };
        if self.proposer(view) != self.me || self.mute {
            return;
        }
        let locked = assembly.locked.clone().filter(|_| !flaw::has(Flaw::IgnoresLocks));
        let standings = self.standings.named();
        let Some(propose) = self.proposal(&entered, locked, standings) else { return };
        let value = propose.value.digest();
        let propose = Arc::new(Sealed::new(self.me, self.place(view), propose, self.tools()));
        if self.examine(&propose, &self.standings) != Verdict::Justified {
            // Never said, since it would be a proof against me; more standings may mend it.
            return;
        }
        if let Some(assembly) = &mut self.assembly {
            let (votes, commits) = (BTreeMap::new(), BTreeMap::new());
            assembly.lead = Some(Lead { propose: propose.clone(), value, votes, locked: None, commits });
        }
        // My own vote first: it is kept before the proposal leaves.
        self.on_propose(self.me, propose.clone());
        self.send_all(Message::Propose(propose));
        self.try_to_lock();
    }

    /// The value of the newest lock, or what follows from all that I have heard.
    fn proposal(
        &self,
        entered: &Turns,
        locked: Option<Arc<Locked>>,
        standings: Vec<super::Named>,
    ) -> Option<Propose> {
        let proofs = self.shown_proofs();
        let value = match &locked {
            Some(locked) => locked.value.clone(),
            None => {
                let found = self.standings.all(&standings).ok()?;
                let proven = self.proven_by(&proofs, &found);
                Arc::new(outcome(&self.decision, &found, &proven, self.tools())?)
            }
        };
        let lock = locked.map(|locked| locked.lock.clone());
        Some(Propose { turns: entered.turns.clone(), lock, value, standings, proofs })
    }

    /// Proofs that I have, one against each, as far as there is room for them.
    pub(super) fn shown_proofs(&self) -> Vec<Proof> {
        let mut room = MOST_PROVEN;
        let mut fits = |proof: &&Proof| {
            let left = room.checked_sub(proof.to_bytes().len());
            room = left.unwrap_or(room);
            left.is_some()
        };
        self.proofs.values().filter(|proof| fits(proof)).cloned().collect()
    }

    pub(super) fn on_propose(&mut self, from: PeerIx, propose: Arc<Sealed<Propose>>) {
        let Some(assembly) = &self.assembly else { return self.call_for(from, Message::Propose(propose)) };
        let view = propose.place().view;
        if view < assembly.view || assembly.parked.as_ref() == Some(&propose) {
            return;
        }
        // Whoever is proved to lie has said enough.
        if self.proofs.contains_key(&propose.by()) {
            return;
        }
        if view == assembly.view && (assembly.turn.is_some() || assembly.vote.is_some()) && !acts_late() {
            return;
        }
        if !self.is_from_proposer(&propose) {
            return self.fault(from, Fault::Forged);
        }
        match self.examine(&propose, &self.standings) {
            Verdict::Unjustified => self.note_unjustified(propose),
            Verdict::Lacking(heard) => {
                if let Some(assembly) = &mut self.assembly {
                    assembly.parked = Some(propose);
                }
                let epoch = self.place(0).epoch;
                self.ask(from, Ask::Standings(HeardList { epoch, heard }));
            }
            Verdict::Justified => self.follow(&propose),
        }
    }

    /// A parked proposal whose standings have come.
    pub(super) fn try_parked(&mut self) {
        let Some(propose) = self.assembly.as_mut().and_then(|assembly| assembly.parked.take()) else {
            return;
        };
        match self.examine(&propose, &self.standings) {
            Verdict::Justified => self.follow(&propose),
            Verdict::Unjustified => self.note_unjustified(propose),
            Verdict::Lacking(_) => {
                if let Some(assembly) = self.assembly.as_mut().filter(|a| a.view <= propose.place().view) {
                    assembly.parked = Some(propose);
                }
            }
        }
    }

    /// Enters the view of a justified proposal, which brings the turns that opened it, and votes.
    fn follow(&mut self, propose: &Sealed<Propose>) {
        let content = propose.content();
        let locked = content.locked();
        if let Some(locked) = locked.clone() {
            self.adopt(locked);
        }
        let place = propose.place();
        if self.assembly.as_ref().is_some_and(|assembly| assembly.view < place.view) {
            self.enter(Arc::new(Turns { turns: content.turns.clone(), locked }));
        }
        let may_vote = |assembly: &Assembly| {
            let unspoken = assembly.vote.is_none() && assembly.turn.is_none();
            assembly.view == place.view && (unspoken || acts_late())
        };
        let ready = self.assembly.as_deref().is_some_and(may_vote);
        if !ready || self.mute || !self.has_vote(self.me) {
            return;
        }
        let vote = Voice::new(Kind::Vote, (place, content.value.digest()), self.me, self.tools());
        if let Some(assembly) = &mut self.assembly {
            debug_assert!(assembly.vote.is_none() || acts_late(), "nobody votes twice in a view");
            assembly.vote = Some(vote);
        }
        self.persist();
        if propose.by() == self.me {
            self.on_vote(self.me, vote);
        } else {
            self.send(propose.by(), Message::Vote(vote));
        }
    }

    pub(super) fn on_vote(&mut self, from: PeerIx, vote: Voice) {
        let Some(kept) = self.check_voice(from, Kind::Vote, &vote) else { return };
        let Some(lead) = self.assembly.as_mut().and_then(|assembly| assembly.lead.as_mut()) else { return };
        if let Some(other) = kept {
            return self.note(Proof::of_voices(Kind::Vote, &other, &vote));
        }
        lead.votes.insert(from, vote);
        self.try_to_lock();
    }

    /// Whether a vote or commit in my view is its sender's, signed and new; with another one of the same
    /// sender, if there is one.
    fn check_voice(&mut self, from: PeerIx, kind: Kind, voice: &Voice) -> Option<Option<Voice>> {
        let assembly = self.assembly.as_ref()?;
        let lead = assembly.lead.as_ref()?;
        let kept = if kind == Kind::Vote { lead.votes.get(&from) } else { lead.commits.get(&from) };
        let kept = kept.copied();
        if voice.place != self.place(assembly.view) || kept.is_some_and(|kept| kept == *voice) {
            return None;
        }
        if voice.ballot.by != from || !self.has_vote(from) || !voice.is_signed(kind, self.tools()) {
            self.fault(from, Fault::Forged);
            return None;
        }
        let differs = kept.filter(|kept| kept.value != voice.value);
        (kept.is_none() || differs.is_some()).then_some(differs)
    }

    /// The ballots for the value that is proposed.
    fn ballots(voices: &BTreeMap<PeerIx, Voice>, value: super::Fingerprint) -> Vec<Ballot> {
        voices.values().filter(|voice| voice.value == value).map(|voice| voice.ballot).collect()
    }

    fn try_to_lock(&mut self) {
        let quorum = flaw::quorum(&self.decision.electorate);
        let Some(assembly) = &mut self.assembly else { return };
        let Some(lead) = assembly.lead.as_mut().filter(|lead| lead.locked.is_none()) else { return };
        let votes = Self::ballots(&lead.votes, lead.value);
        if votes.len() < quorum {
            return;
        }
        let lock = Lock { place: lead.propose.place(), value: lead.value, votes };
        let locked = Arc::new(Locked { lock, value: lead.propose.content().value.clone() });
        lead.locked = Some(locked.clone());
        self.send_all(Message::Locked(locked.clone()));
        self.commit_to(locked);
    }

    pub(super) fn on_locked(&mut self, from: PeerIx, locked: Arc<Locked>) {
        let Some(assembly) = &self.assembly else { return };
        let view = locked.lock.place.view;
        let useful = view > assembly.lock_view() || (view == assembly.view && assembly.commit.is_none());
        if !useful {
            return;
        }
        if !self.is_sound_lock(&locked) {
            return self.fault(from, Fault::Forged);
        }
        if view > assembly.view {
            self.ask(from, Ask::Turns((self.place(0).epoch, view)));
        }
        self.commit_to(locked);
    }

    /// Takes over a lock that was checked, and commits to it in its own view, unless it has turned.
    fn commit_to(&mut self, locked: Arc<Locked>) {
        self.adopt(locked.clone());
        let place = locked.lock.place;
        let may = |assembly: &Assembly| {
            let here = assembly.view == place.view && assembly.commit.is_none();
            here && (assembly.turn.is_none() || flaw::has(Flaw::ActsAfterTurn))
        };
        let ready = self.assembly.as_deref().is_some_and(may);
        if !ready || self.mute || !self.has_vote(self.me) {
            return;
        }
        let commit = Voice::new(Kind::Commit, (place, locked.lock.value), self.me, self.tools());
        if let Some(assembly) = &mut self.assembly {
            debug_assert!(assembly.lock_view() >= place.view, "a commit stands behind its lock");
            assembly.commit = Some(commit);
        }
        self.persist();
        let proposer = self.proposer(place.view);
        if proposer == self.me {
            self.on_commit(self.me, commit);
        } else {
            self.send(proposer, Message::Commit(commit));
        }
    }

    pub(super) fn on_commit(&mut self, from: PeerIx, commit: Voice) {
        let Some(kept) = self.check_voice(from, Kind::Commit, &commit) else { return };
        let Some(lead) = self.assembly.as_mut().and_then(|assembly| assembly.lead.as_mut()) else { return };
        if let Some(other) = kept {
            return self.note(Proof::of_voices(Kind::Commit, &other, &commit));
        }
        lead.commits.insert(from, commit);
        let commits = Self::ballots(&lead.commits, lead.value);
        if commits.len() >= flaw::quorum(&self.decision.electorate) {
            let view = lead.propose.place().view;
            let decision = lead.propose.content().value.clone();
            self.begin(Arc::new(Decided { decision, view, commits }));
            self.send_all(Message::Decided(self.certificate.clone()));
        }
    }

    /// Says again what the proposer waits for answers to.
    pub(super) fn repeat_lead(&mut self) {
        let Some(lead) = self.assembly.as_ref().and_then(|assembly| assembly.lead.clone()) else { return };
        for member in self.decision.electorate.votes.clone() {
            match &lead.locked {
                None if !lead.votes.contains_key(&member) => {
                    self.send(member, Message::Propose(lead.propose.clone()));
                }
                Some(locked) if !lead.commits.contains_key(&member) => {
                    self.send(member, Message::Locked(locked.clone()));
                }
                _ => {}
            }
        }
    }
}

/// In tests only: votes where it must not.
fn acts_late() -> bool {
    flaw::has(Flaw::VotesTwice) || flaw::has(Flaw::ActsAfterTurn)
}

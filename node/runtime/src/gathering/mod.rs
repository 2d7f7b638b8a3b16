//! Before the start: who takes part.
//!
//! Where members are pinned, the roster is the list in the swarm file and nothing that anybody says can change it: a node begins when all are here, or a
//! quorum has been for `PATIENCE`, and the first assembly gives seats to those who came.
//!
//! Where they are not, all members must sign the same roster, with no leader. A node *stands* for one roster per attempt and tells everybody, with its
//! signature. It begins when every member of the roster has signed the same one in the same attempt, itself among them; these signatures are shown to
//! whoever missed the start, and nothing else makes a node begin.
//!
//! Invariant (safety): two nodes never begin with different rosters that share a member that stood in between. A node leaves a roster only for a higher attempt,
//! and only after a member of that roster was seen standing for another one in the same attempt (so nobody can have begun with it), or in a higher attempt
//! (so that member had such a reason), or after a member was gone for `PATIENCE`. Only the last is a guess: a member that had begun alone and
//! vanished for so long finds the run closed when it returns.
//!
//! A renewed swarm begins so with the members that its file names and no others: a signature of each says that it accepts the renewal.
//!
//! With exactly as many holders of the swarm file as it has nodes there is never more than one roster, and one attempt.

pub mod hearing;
mod signed;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use libp2p::PeerId;

use crate::identity::Roster;
pub(crate) use signed::{SignedRoster, Signer};

/// How long to wait for a member that was there and went away before the start, and for pinned ones that have not come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// As long where members may come late: those who were started at once should begin together.
pub(crate) const GRACE: Duration = Duration::from_secs(2);

/// The state of the search.
#[derive(Debug)]
pub(crate) struct Gathering {
    me: PeerId,
    signer: Signer,
    nodes: usize,
    /// The members, where the swarm file names them, and how many of them are enough to begin.
    pinned: Option<(Roster, usize)>,
    /// The members who must all sign, where they renewed the swarm file.
    all: Option<Roster>,
    linked: BTreeSet<PeerId>,
    attempt: u32,
    stand: Option<Roster>,
    heard: BTreeMap<PeerId, (u32, Roster, Vec<u8>)>,
    /// How long a member of our roster has been away.
    away: Duration,
    patience: Duration,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Tell these peers what we stand for, with our signature.
    Tell(Vec<PeerId>, u32, Roster, Vec<u8>),
    /// Begin with these: pinned, or signed by all.
    Begin(SignedRoster),
}

impl Gathering {
    pub(crate) fn new(signer: Signer, nodes: usize) -> Self {
        Self {
            me: signer.me(),
            signer,
            nodes,
            pinned: None,
            all: None,
            linked: BTreeSet::new(),
            attempt: 0,
            stand: None,
            heard: BTreeMap::new(),
            away: Duration::ZERO,
            patience: PATIENCE,
        }
    }

    /// For members that the swarm file names, of whom so many are enough to begin.
    #[must_use]
    pub(crate) fn pinned(mut self, roster: Roster, enough: usize) -> Self {
        self.pinned = Some((roster, enough));
        self
    }

    /// Once enough are here, the others are not waited for: they may come later.
    #[must_use]
    pub(crate) fn late(mut self) -> Self {
        self.patience = GRACE;
        self
    }

    /// For a renewed swarm: these must all sign, and nobody else counts.
    #[must_use]
    pub(crate) fn all_of(mut self, roster: Roster) -> Self {
        self.all = Some(roster);
        self
    }

    /// Whether a roster can be one of this run.
    fn fits(&self, roster: &Roster) -> bool {
        self.all.as_ref().map_or(roster.len() == self.nodes, |all| all == roster)
    }

    pub(crate) fn on_linked(&mut self, peer: PeerId) -> Vec<Step> {
        self.linked.insert(peer);
        let mut steps = Vec::new();
        if let Some(roster) = &self.stand {
            // It may have missed what we said before.
            let signature = self.signer.sign(self.attempt, roster);
            steps.push(Step::Tell(vec![peer], self.attempt, roster.clone(), signature));
        }
        self.away = Duration::ZERO;
        steps.extend(self.advance());
        steps
    }

    pub(crate) fn on_lost(&mut self, peer: PeerId) {
        self.linked.remove(&peer);
    }

    /// A peer says that the run has begun. That counts where all have signed it, this node among them, or where it is the pinned roster.
    pub(crate) fn on_running(&mut self, said: SignedRoster) -> Option<Step> {
        let mine = said.roster.position(&self.me).is_some();
        let begins = match &self.pinned {
            Some((roster, _)) => mine && said.roster == *roster,
            // Who joins a renewed run later has accepted it by coming; that the others have, they signed.
            None => {
                self.fits(&said.roster) && self.signer.is_signed_by_all(&said) && (mine || self.all.is_some())
            }
        };
        begins.then_some(Step::Begin(said))
    }

    pub(crate) fn on_confirm(
        &mut self,
        peer: PeerId,
        attempt: u32,
        roster: Roster,
        signature: Vec<u8>,
    ) -> Vec<Step> {
        let signed = self.fits(&roster) && self.signer.is_signed(&peer, (attempt, &roster), &signature);
        if !signed || self.pinned.is_some() {
            return Vec::new();
        }
        if self.heard.get(&peer).is_some_and(|(latest, ..)| *latest > attempt) {
            return Vec::new();
        }
        self.heard.insert(peer, (attempt, roster, signature));
        if self.is_contradicted() {
            // Not at once: without a pause two nodes with different knowledge would answer each other at the speed of the network.
            self.stand = None;
            return Vec::new();
        }
        self.advance()
    }

    /// Time has passed.
    pub(crate) fn on_tick(&mut self, elapsed: Duration) -> Vec<Step> {
        if let Some((roster, enough)) = &self.pinned {
            self.away = if self.here(roster) >= *enough { self.away + elapsed } else { Duration::ZERO };
            return self.advance();
        }
        let complete = self.stand.as_ref().is_none_or(|roster| self.here(roster) == roster.len());
        self.away = if complete { Duration::ZERO } else { self.away + elapsed };
        if self.away > PATIENCE {
            self.attempt = self.attempt.saturating_add(1);
            self.stand = None;
            self.away = Duration::ZERO;
        }
        self.advance()
    }

    fn here(&self, roster: &Roster) -> usize {
        roster.members().iter().filter(|peer| **peer == self.me || self.linked.contains(*peer)).count()
    }

    /// Whether a member of our roster stands for another; takes its attempt, or the next.
    fn is_contradicted(&mut self) -> bool {
        let Some(ours) = &self.stand else { return false };
        let mut next = self.attempt;
        for (peer, (attempt, theirs, _)) in &self.heard {
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
        if let Some((roster, _)) = &self.pinned {
            let ready = self.here(roster) == roster.len() || self.away > self.patience;
            let begin = Step::Begin(SignedRoster::unsigned(roster.clone()));
            return if ready { vec![begin] } else { Vec::new() };
        }
        let mut steps = Vec::new();
        if self.stand.is_none() {
            let Some(roster) = self.choice() else { return steps };
            let signature = self.signer.sign(self.attempt, &roster);
            // Those whom we leave out must hear it too: they may wait for us.
            let others = self.linked.iter().copied().collect();
            steps.push(Step::Tell(others, self.attempt, roster.clone(), signature));
            self.stand = Some(roster);
        }
        steps.extend(self.all_have_signed().map(Step::Begin));
        steps
    }

    /// The roster that we stand for with everybody's signature, if all have signed it.
    fn all_have_signed(&self) -> Option<SignedRoster> {
        let roster = self.stand.as_ref().filter(|roster| roster.position(&self.me).is_some())?;
        let signature = |peer: &PeerId| {
            if *peer == self.me {
                return Some(self.signer.sign(self.attempt, roster));
            }
            let (attempt, theirs, signature) = self.heard.get(peer)?;
            (*attempt == self.attempt && theirs == roster).then(|| signature.clone())
        };
        let signatures: Option<Vec<Vec<u8>>> = roster.members().iter().map(signature).collect();
        Some(SignedRoster { roster: roster.clone(), attempt: self.attempt, signatures: signatures? })
    }

    /// The first `nodes` of those who are here, if that is enough. Perhaps without us: then we stand aside, and say so.
    fn choice(&self) -> Option<Roster> {
        if let Some(all) = &self.all {
            return Some(all.clone()).filter(|all| self.here(all) == all.len());
        }
        let mut here: Vec<PeerId> = self.linked.iter().copied().chain([self.me]).collect();
        here.sort_unstable();
        here.truncate(self.nodes);
        (here.len() == self.nodes).then(|| Roster::new(here))
    }
}

#[cfg(test)]
mod tests;

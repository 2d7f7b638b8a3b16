//! Agreement on the next roster and the model that it starts from: one instance of Paxos per epoch (Lamport 2001, "Paxos made simple").
//!
//! Any member may call an assembly: because a peer is silent, because digests differ, or because somebody knocked. The members are the voters; all
//! nodes that answer are present, and those present become the next roster. A decision needs more than half of the members, so a split
//! swarm goes on in one part at most, and the part without a majority waits.
//!
//! Invariant (from Paxos): at most one proposal is decided per epoch, provided that promises survive a crash ([`crate::Snapshot::acceptor`]).

use std::collections::{BTreeMap, BTreeSet};

use super::{Ballot, Proposal};
use crate::node::Acceptor;
use crate::values::Digest;
use crate::{PeerIx, Time};

/// One node's part in an assembly.
pub(super) struct Assembly {
    pub(super) acceptor: Acceptor,
    pub(super) leading: Option<Leading>,
    /// When to say it again (leading) or to call an assembly of my own (following).
    pub(super) again: Time,
    pub(super) since: Time,
}

/// What a proposer has gathered.
pub(super) struct Leading {
    pub(super) ballot: Ballot,
    pub(super) promises: BTreeMap<PeerIx, Standing>,
    pub(super) proposal: Option<Proposal>,
    pub(super) accepts: BTreeSet<PeerIx>,
    /// Nobody is waited for beyond this.
    pub(super) until: Time,
}

/// Where a node stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standing {
    pub(super) accepted: Option<(Ballot, Proposal)>,
    pub(super) version: u32,
    pub(super) model: Digest,
    pub(super) round: u32,
    pub(super) accused: Vec<PeerIx>,
}

impl Assembly {
    pub(super) fn new(epoch: u32, now: Time) -> Self {
        let acceptor = Acceptor { epoch, promised: (0, 0), accepted: None };
        Self { acceptor, leading: None, again: now, since: now }
    }

    /// Moves on to a later epoch's instance where that is the one spoken of.
    pub(super) fn follow(&mut self, epoch: u32, now: Time) {
        if epoch > self.acceptor.epoch {
            *self = Self::new(epoch, now);
        }
    }

    /// A ballot of mine that is higher than any seen.
    pub(super) fn lead(&mut self, me: PeerIx, until: Time) -> Ballot {
        let ballot = (self.acceptor.promised.0.saturating_add(1), me);
        self.acceptor.promised = ballot;
        self.leading = Some(Leading {
            ballot,
            promises: BTreeMap::new(),
            proposal: None,
            accepts: BTreeSet::new(),
            until,
        });
        ballot
    }

    /// Whether to promise to follow this ballot; a lower one than promised is not followed.
    pub(super) fn promises(&mut self, ballot: Ballot) -> bool {
        if ballot < self.acceptor.promised {
            return false;
        }
        if ballot != self.acceptor.promised {
            self.acceptor.promised = ballot;
            self.leading = None;
        }
        true
    }

    /// Whether to accept this proposal.
    pub(super) fn accepts(&mut self, ballot: Ballot, proposal: &Proposal) -> bool {
        let follows = self.promises(ballot);
        if follows {
            self.acceptor.accepted = Some((ballot, proposal.clone()));
        }
        follows
    }
}

impl Leading {
    /// Whether all that can be hoped for have answered: every node but those known to be missing or refused.
    pub(super) fn is_complete(&self, nodes: usize, given_up: &BTreeSet<PeerIx>) -> bool {
        (0..nodes as PeerIx).all(|node| self.promises.contains_key(&node) || given_up.contains(&node))
    }

    /// What to propose, if more than half of the members promised: what may have been decided already, else those present and the newest model.
    pub(super) fn propose(&self, members: &[PeerIx]) -> Option<Proposal> {
        let voters = members.iter().filter(|member| self.promises.contains_key(member)).count();
        if 2 * voters <= members.len() {
            return None;
        }
        let accepted = self.promises.values().filter_map(|standing| standing.accepted.as_ref());
        if let Some((_, proposal)) = accepted.max_by_key(|(ballot, _)| *ballot) {
            return Some(proposal.clone());
        }
        let accused: BTreeSet<PeerIx> =
            self.promises.values().flat_map(|s| s.accused.iter().copied()).collect();
        let present = self.promises.iter().filter(|(node, _)| !accused.contains(node));
        let present: BTreeMap<PeerIx, &Standing> =
            present.map(|(&node, standing)| (node, standing)).collect();
        let version = present.values().map(|standing| standing.version).max()?;
        let model = most_common(present.values().filter(|s| s.version == version).map(|s| s.model))?;
        let (&holder, _) = present.iter().find(|(_, s)| s.version == version && s.model == model)?;
        let round = self.promises.values().map(|standing| standing.round).max()?;
        let members = present.into_keys().collect();
        Some(Proposal { members, round, version, model, holder, banned: accused.into_iter().collect() })
    }

    /// Whether more than half of the members accepted.
    pub(super) fn is_decided(&self, members: &[PeerIx]) -> bool {
        2 * members.iter().filter(|member| self.accepts.contains(member)).count() > members.len()
    }
}

/// The digest that most hold; the smallest of equals.
fn most_common(digests: impl Iterator<Item = Digest>) -> Option<Digest> {
    let mut counts: BTreeMap<Digest, u32> = BTreeMap::new();
    digests.for_each(|digest| *counts.entry(digest).or_default() += 1);
    // The last of equal maxima is taken: in reverse that is the smallest digest.
    counts.into_iter().rev().max_by_key(|&(_, count)| count).map(|(digest, _)| digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(version: u32, model: u8) -> Standing {
        Standing {
            accepted: None,
            version,
            model: Digest([model; 16]),
            round: version + 3,
            accused: Vec::new(),
        }
    }

    fn leading(promises: Vec<(PeerIx, Standing)>) -> Leading {
        Leading {
            ballot: (1, 0),
            promises: promises.into_iter().collect(),
            proposal: None,
            accepts: BTreeSet::new(),
            until: Time(0),
        }
    }

    #[test]
    fn half_of_the_members_decide_nothing() {
        let members = [0, 1, 2, 3];
        assert_eq!(leading(vec![(0, standing(1, 1)), (1, standing(1, 1))]).propose(&members), None);
        let outsiders = leading(vec![(0, standing(1, 1)), (1, standing(1, 1)), (7, standing(1, 1))]);
        assert_eq!(outsiders.propose(&members), None, "an outsider has no vote");
        let three = leading(vec![(0, standing(1, 1)), (1, standing(1, 1)), (3, standing(1, 1))]);
        assert_eq!(three.propose(&members).unwrap().members, [0, 1, 3]);
    }

    #[test]
    fn the_newest_model_that_most_hold_is_taken() {
        let found =
            leading(vec![(0, standing(4, 9)), (1, standing(5, 2)), (2, standing(5, 1)), (3, standing(5, 1))]);
        let proposal = found.propose(&[0, 1, 2, 3]).unwrap();
        assert_eq!((proposal.version, proposal.model, proposal.holder), (5, Digest([1; 16]), 2));
        assert_eq!(proposal.round, 8, "a round number is never used twice");
    }

    #[test]
    fn what_may_have_been_decided_is_proposed_again() {
        let old = Proposal {
            members: vec![0, 2],
            round: 9,
            version: 1,
            model: Digest([7; 16]),
            holder: 0,
            banned: Vec::new(),
        };
        let mut first = standing(1, 1);
        first.accepted = Some(((1, 1), old.clone()));
        let mut second = standing(1, 1);
        second.accepted = Some(((3, 0), Proposal { round: 11, ..old.clone() }));
        let found = leading(vec![(0, first), (1, second), (2, standing(8, 8))]);
        assert_eq!(found.propose(&[0, 1, 2]).unwrap().round, 11, "the highest ballot counts");
    }

    #[test]
    fn the_accused_are_not_taken_in() {
        let mut accuser = standing(1, 1);
        accuser.accused = vec![2];
        let found = leading(vec![(0, accuser), (1, standing(1, 1)), (2, standing(9, 9))]);
        let proposal = found.propose(&[0, 1, 2]).unwrap();
        assert_eq!((proposal.members, proposal.version, proposal.banned), (vec![0, 1], 1, vec![2]));
    }

    #[test]
    fn a_promise_binds_against_lower_ballots() {
        let mut voter = Assembly::new(1, Time(0));
        assert!(voter.promises((2, 5)));
        assert!(!voter.promises((2, 4)) && !voter.promises((1, 9)));
        assert!(voter.promises((2, 5)) && voter.promises((3, 0)));
        let proposal = Proposal {
            members: vec![0],
            round: 0,
            version: 0,
            model: Digest::default(),
            holder: 0,
            banned: Vec::new(),
        };
        assert!(!voter.accepts((2, 5), &proposal));
        assert!(voter.accepts((3, 0), &proposal));
        assert_eq!(voter.acceptor.accepted, Some(((3, 0), proposal)));
    }
}

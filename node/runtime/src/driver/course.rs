//! Which part of a run a node is to take part in: as it was founded, or after renewals of the swarm file. What a node accepts, it accepts here.
//!
//! # Guarantee
//! A node takes part in a renewed run only with a file that names it, that goes on from what this node has accepted before, and whose decisions prove
//! themselves from the founding on; never from an older decision than the last one that it knows, never again in an older part. Its ledger goes on.

use libp2p::PeerId;
use protocol::Setup;
use protocol::agreement::{Certificate, Decided, Fingerprint};
use protocol::log::Renewed;

use super::{DriverError, terms};
use crate::identity::Roster;
use crate::ledger::{Begun, Found, Part};
use crate::renewals::Renewals;
use crate::swarm_file::SwarmFile;

/// The part of the run that a swarm file is about.
pub(super) struct Course {
    part: Part,
    renewals: Renewals,
    /// What this node had accepted before, and when the run began for it.
    known: usize,
    began: Option<u64>,
}

/// Why a node does not go on with a swarm file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this node does not go on with this swarm file: {what}")]
pub struct Declined {
    what: String,
    hint: &'static str,
}

impl protocol::Hint for Declined {
    fn hint(&self) -> Option<String> {
        Some(self.hint.to_owned())
    }
}

const NEWEST: &str = "ask the other operators for the newest file";
const ANEW: &str =
    "make the renewed file anew from the state of the node that was stopped last: `murmur swarm renew`";

fn declined(what: impl Into<String>, hint: &'static str) -> DriverError {
    DriverError::Declined(Declined { what: what.into(), hint })
}

impl Course {
    /// The course that a swarm file sets for a node which finds this in its ledger. What belongs to an older part is taken out of it: the beginning
    /// and what was signed about the next decision, not what was spent.
    pub(super) fn of(
        (swarm, setup): (&SwarmFile, &Setup),
        me: &PeerId,
        found: &mut Found,
    ) -> Result<Option<Self>, DriverError> {
        let digests = swarm.renewal_digests();
        let begun = found.begun.as_ref();
        let accepted = begun.map_or(&[][..], |begun| begun.part.renewals.as_slice());
        if accepted.len() > digests.len() {
            let text =
                format!("it has accepted renewal {}, and the file has {}", accepted.len(), digests.len());
            return Err(declined(text, NEWEST));
        }
        if !digests.starts_with(accepted) {
            let text = format!("it has accepted another renewal {}", differs_at(accepted, &digests));
            return Err(declined(text, NEWEST));
        }
        if digests.is_empty() {
            return Ok(None);
        }
        if let Some(gone) = swarm.renewals.gone().get(me) {
            return Err(declined(gone.clone(), "it needs a new identity, and a renewal that lets it in"));
        }
        if !swarm.roster.iter().any(|member| member.peer == *me) {
            return Err(declined("it is not among its members", "`murmur node id` says who it is"));
        }
        let known = accepted.len();
        let part = part(swarm, setup, digests)?;
        let began = begun.map(|begun| begun.at);
        if known < swarm.renewals.steps.len() {
            check_newest(&swarm.renewals.steps[known].decision, found)?;
            found.begun = None;
            found.finished = false;
            if let Some(snapshot) = &mut found.snapshot {
                snapshot.agreement = None;
            }
        }
        Ok(Some(Self { part, renewals: swarm.renewals.clone(), known, began }))
    }

    /// The beginning of this part, at the time at which the run began for this node.
    pub(super) fn begun(&self, fresh: Begun) -> Begun {
        Begun { part: self.part.clone(), at: self.began.unwrap_or(fresh.at), ..fresh }
    }

    /// Whether this node was in the run before.
    pub(super) fn goes_on(&self) -> bool {
        self.began.is_some()
    }

    /// What the log is to say of renewals that this node accepts now.
    pub(super) fn lines(&self) -> Vec<Renewed> {
        let places = self.renewals.places();
        let place = |peer: &PeerId| places.position(peer);
        let line = |(at, step): (usize, &crate::renewals::Renewal)| Renewed {
            number: at as u32 + 1,
            digest: self.part.renewals[at].to_string(),
            nodes: places.len() as u32,
            gone: step.without.iter().filter_map(place).collect(),
            joined: step.joins.iter().filter_map(|joining| place(&joining.member.peer)).collect(),
            hostile: step.hostile,
            round: step.next_round,
            rounds: step.rounds,
            learning_rate: step.learning_rate,
        };
        self.renewals.steps.iter().enumerate().skip(self.known).map(line).collect()
    }
}

fn differs_at(ours: &[Fingerprint], theirs: &[Fingerprint]) -> usize {
    1 + ours.iter().zip(theirs).take_while(|(one, other)| one == other).count()
}

/// Nothing that this node knows to be decided is taken back.
fn check_newest(base: &Certificate, found: &Found) -> Result<(), DriverError> {
    let memory = found.snapshot.as_ref().and_then(|snapshot| snapshot.agreement.as_ref());
    let Some(ours) = memory.and_then(|memory| memory.certificate.chain.last()) else { return Ok(()) };
    let epoch = |decided: &Decided| decided.decision.epoch;
    let theirs = base.chain.last();
    let (known, from) = (epoch(ours), theirs.map_or(0, |decided| epoch(decided)));
    if known > from {
        let text = format!("it goes on from decision {from}, and this node knows of decision {known}");
        return Err(declined(text, ANEW));
    }
    if known == from && theirs.is_some_and(|theirs| theirs.decision != ours.decision) {
        return Err(declined(format!("its decision {from} is not the one that this node knows"), ANEW));
    }
    Ok(())
}

/// What the members of the last part agree on, each part proved from the one before.
fn part(swarm: &SwarmFile, setup: &Setup, digests: Vec<Fingerprint>) -> Result<Part, DriverError> {
    let renewals = &swarm.renewals;
    let founders = Roster::new(renewals.founders.iter().map(|member| member.peer));
    let mut terms = terms::founding(setup, &founders)?;
    let mut places: Vec<PeerId> = founders.members().to_vec();
    for (step, digest) in renewals.steps.iter().zip(&digests) {
        terms = step.terms(terms, &places, *digest)?;
        places.extend(step.joins.iter().map(|joining| joining.member.peer));
    }
    let members = Roster::new(swarm.roster.iter().map(|member| member.peer));
    let places = Roster::in_order(places);
    Ok(Part { renewals: digests, places: Some(places), members: Some(members), terms: Some(terms) })
}

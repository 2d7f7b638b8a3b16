//! A renewed run: its members accept another list of members, and go on from the last decision.
//!
//! Nobody's vote moves anybody into a renewed run: each of its members accepts it by a signature of its own, before it begins. Members keep their
//! places, whoever is gone keeps an empty one, and who joins gets the next: so accounts, ledgers and reserves go on as they are.

use std::collections::BTreeSet;
use std::sync::Arc;

use topology::Hint;

use super::codec::wire;
use super::decision::{Certificate, CertificateError, Decision};
use super::keys::Keys;
use super::{Charter, Electorate, Fingerprint, Terms, hostile_by_default};
use crate::PeerIx;

/// From where a renewed run goes on, as part of its terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Continued {
    /// The run as it was founded: reserves are signed under it, and hold over renewals.
    pub origin: Fingerprint,
    /// Rounds for which it was planned then: reserves are counted in blocks that follow from it.
    pub planned: u32,
    /// What the members accepted.
    pub renewal: Fingerprint,
    /// The last decision, with what the renewal changes.
    pub start: Arc<Decision>,
}

wire!(Continued { origin: Fingerprint, planned: u32, renewal: Fingerprint, start: Arc<Decision> });

/// What a renewal changes, by places.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Renewal {
    /// Who takes part no more.
    pub gone: BTreeSet<PeerIx>,
    /// The keys of those who join, in the order of their places.
    pub joined: Vec<[u8; 32]>,
    /// f from now on.
    pub hostile: u32,
    /// How many rounds make the result from now on.
    pub rounds: u32,
    /// No round before this one is begun.
    pub next_round: u32,
    /// Names all of it, and the renewals before.
    pub digest: Fingerprint,
}

/// Why a run cannot go on so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenewalError {
    /// What it goes on from is not proved.
    #[error("the decision from which it goes on proves nothing")]
    Certificate(#[from] CertificateError),
    /// There is nothing to go on with.
    #[error("the run is over: {version} of {rounds} rounds are done")]
    Over {
        /// Done.
        version: u32,
        /// Of.
        rounds: u32,
    },
    /// Somebody goes who is not there.
    #[error("member {member} takes no part")]
    Absent {
        /// Who.
        member: PeerIx,
    },
    /// Somebody stays who was proved to be hostile.
    #[error("member {member} was proved to be hostile, and cannot stay")]
    Banned {
        /// Who.
        member: PeerIx,
    },
    /// Too few are left.
    #[error("{members} members are no swarm")]
    Few {
        /// n.
        members: usize,
    },
    /// Too many hostile ones.
    #[error("`members.hostile = {hostile}` of {members} members: fewer than a third can be borne")]
    TooManyHostile {
        /// f.
        hostile: u32,
        /// n.
        members: usize,
    },
    /// Nobody could say which model counts.
    #[error(
        "{stay} of the members that held the model stay: with `members.hostile = {hostile}` {needed} must agree on it"
    )]
    Strangers {
        /// How many stay.
        stay: usize,
        /// f.
        hostile: u32,
        /// f + 1.
        needed: usize,
    },
    /// The model may have as many rounds already.
    #[error("`rounds = {rounds}`: the members may have come to round {next} already")]
    Past {
        /// As wanted.
        rounds: u32,
        /// The next round.
        next: u32,
    },
}

impl Hint for RenewalError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::TooManyHostile { members, .. } => {
                Some(format!("use `--hostile {}` or less", hostile_by_default(*members)))
            }
            Self::Strangers { .. } => Some("take fewer out, or a smaller `--hostile`".into()),
            Self::Banned { .. } => Some("take it out too, with `--without`".into()),
            Self::Few { .. } => Some("at least two must stay or join".into()),
            Self::Past { next, .. } => Some(format!("use at least {}", next.saturating_add(LEAD))),
            Self::Over { .. } | Self::Certificate(_) | Self::Absent { .. } => None,
        }
    }
}

/// Honest members are one round apart, and so is what their models have behind them.
const LEAD: u32 = 2;

impl Terms {
    /// The terms of the run that goes on from what `certificate` proves under `before`, or from its beginning where nothing was decided.
    ///
    /// # Guarantee
    /// The model is not older than the last one that was decided on; nobody who was banned has a vote; more than f of those who vouch for the
    /// model have held it before.
    /// # Assumes
    /// Every member of the renewed run accepts it by its own signature, and refuses it where it knows a later decision.
    ///
    /// # Errors
    /// As [`RenewalError`] says.
    pub fn renewed(
        (before, keys): (&Charter, &dyn Keys),
        certificate: &Certificate,
        renewal: &Renewal,
    ) -> Result<Self, RenewalError> {
        let last = if certificate.is_empty() {
            before.genesis()
        } else {
            certificate.verify((before, keys))?.decision.clone()
        };
        let start = start(before, &last, renewal)?;
        let terms = before.terms();
        let continued = Continued {
            origin: before.origin(),
            planned: before.planned(),
            renewal: renewal.digest,
            start: Arc::new(start),
        };
        let roster = terms.roster.iter().chain(&renewal.joined).copied().collect();
        let (hostile, rounds) = (renewal.hostile, renewal.rounds);
        Ok(Self { roster, hostile, rounds, seats: Vec::new(), continued: Some(continued), ..terms.clone() })
    }
}

/// How the renewed run begins.
fn start(before: &Charter, last: &Decision, renewal: &Renewal) -> Result<Decision, RenewalError> {
    let terms = before.terms();
    if last.model.version >= terms.rounds {
        return Err(RenewalError::Over { version: last.model.version, rounds: terms.rounds });
    }
    let active = before.genesis().electorate.votes.clone();
    if let Some(&member) = renewal.gone.iter().find(|&member| !active.contains(member)) {
        return Err(RenewalError::Absent { member });
    }
    let stays = |member: &PeerIx| !renewal.gone.contains(member);
    if let Some(&member) = last.banned.iter().find(|&member| active.contains(member) && stays(member)) {
        return Err(RenewalError::Banned { member });
    }
    let first = before.members() as PeerIx;
    let joined = first..first + renewal.joined.len() as PeerIx;
    let votes: Vec<PeerIx> = active.into_iter().filter(stays).chain(joined).collect();
    let seats: Vec<_> = last.seats.iter().filter(|seat| stays(&seat.member)).copied().collect();
    check(&votes, (last.seats.len(), seats.len()), renewal)?;
    let next_round = renewal.next_round.max(last.next_round);
    if renewal.rounds != terms.rounds && renewal.rounds < next_round.saturating_add(LEAD) {
        return Err(RenewalError::Past { rounds: renewal.rounds, next: next_round });
    }
    let apart = last.apart.iter().filter(|pair| stays(&pair.one) && stays(&pair.other)).copied().collect();
    let electorate = Electorate { votes, hostile: renewal.hostile };
    Ok(Decision { seats, electorate, apart, next_round, ..last.clone() })
}

fn check(votes: &[PeerIx], (held, stay): (usize, usize), renewal: &Renewal) -> Result<(), RenewalError> {
    let (members, hostile) = (votes.len(), renewal.hostile);
    if members < 2 {
        return Err(RenewalError::Few { members });
    }
    if hostile > hostile_by_default(members) {
        return Err(RenewalError::TooManyHostile { hostile, members });
    }
    let needed = hostile as usize + 1;
    if held > 0 && stay < needed {
        return Err(RenewalError::Strangers { stay, hostile, needed });
    }
    Ok(())
}

impl Charter {
    /// The run as it was founded, whatever was renewed since.
    pub fn origin(&self) -> Fingerprint {
        self.terms().continued.as_ref().map_or(self.run(), |continued| continued.origin)
    }

    /// The rounds for which it was planned then.
    pub fn planned(&self) -> u32 {
        self.terms().continued.as_ref().map_or(self.terms().rounds, |continued| continued.planned)
    }
}

//! Renewals of a swarm file: who goes, who joins, what changes on the way.
//!
//! A renewed file is the file as it was founded, and behind it one renewal after another. Each has a digest over itself and all before it, and carries the
//! last decision of the members before: so it proves from where it goes on, and an older file can be told from a newer one. What is not in a renewal cannot
//! change: the configuration is that of the beginning, and with it the ledgers, the noise and the budgets.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use libp2p::{Multiaddr, PeerId};
use protocol::agreement::{
    Certificate, Charter, CredentialsError, Ed25519, Electorate, Fingerprint, RenewalError, Terms,
    hostile_by_default,
};
use protocol::{Hint, PeerIx};
use serde::{Deserialize, Serialize};

use crate::identity::{Roster, key_of};
use crate::swarm_file::{Entry, Member};

/// The members as the run was founded, and what was renewed since.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Renewals {
    /// The members at first; empty where nothing was renewed.
    pub founders: Vec<Member>,
    /// In order.
    pub steps: Vec<Renewal>,
}

/// One renewal.
#[derive(Debug, Clone, PartialEq)]
pub struct Renewal {
    /// Who takes part no more.
    pub without: Vec<PeerId>,
    /// Who joins.
    pub joins: Vec<Joining>,
    /// At most so many of the members are hostile from now on.
    pub hostile: u32,
    /// The first round that may begin.
    pub next_round: u32,
    /// Rounds of the run from now on, where they change.
    pub rounds: Option<u32>,
    /// Step size from now on, where it changes.
    pub learning_rate: Option<f64>,
    /// What the members decided last.
    pub decision: Certificate,
}

/// A member that joins on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct Joining {
    /// Who.
    pub member: Member,
    /// In whose place, where it is the same member with another key or machine.
    pub replaces: Option<PeerId>,
}

/// As it stands in the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stored {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    without: Vec<String>,
    hostile: u32,
    next_round: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rounds: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    learning_rate: Option<f64>,
    decision: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<Fingerprint>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    join: Vec<StoredJoining>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredJoining {
    peer: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    addresses: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replaces: Option<String>,
}

impl Renewals {
    /// Whether the file is as it was founded.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Every identity that ever was a member, by place: founders in the order of a roster, then who joined.
    pub fn places(&self) -> Roster {
        let founders = Roster::new(self.founders.iter().map(|member| member.peer));
        let joined = self.steps.iter().flat_map(|step| &step.joins).map(|joining| joining.member.peer);
        Roster::in_order(founders.members().iter().copied().chain(joined))
    }

    /// The members now.
    pub fn members(&self) -> Vec<Member> {
        let mut members = self.founders.clone();
        for step in &self.steps {
            members.retain(|member| !step.without.contains(&member.peer));
            members.extend(step.joins.iter().map(|joining| joining.member.clone()));
        }
        members
    }

    /// Who must accept the last renewal before the run goes on: all members now, but those whom it lets in, where they may come late.
    pub fn signers(&self, late: bool) -> Vec<PeerId> {
        let joins = |peer: &PeerId| {
            self.steps
                .last()
                .is_some_and(|step| step.joins.iter().any(|joining| joining.member.peer == *peer))
        };
        let members = self.members().into_iter().map(|member| member.peer);
        members.filter(|peer| !late || !joins(peer)).collect()
    }

    /// Everybody who ever was a member.
    pub fn everybody(&self) -> impl Iterator<Item = &Member> {
        let joined = self.steps.iter().flat_map(|step| &step.joins).map(|joining| &joining.member);
        self.founders.iter().chain(joined)
    }

    /// Who was taken out, and in words by which renewal.
    pub fn gone(&self) -> BTreeMap<PeerId, String> {
        let mut gone = BTreeMap::new();
        for (at, step) in self.steps.iter().enumerate() {
            for peer in &step.without {
                let by = step.joins.iter().find(|joining| joining.replaces.as_ref() == Some(peer));
                let what = if by.is_some() { "got another key" } else { "was taken out of the run" };
                gone.insert(*peer, format!("`{}` {what} by renewal {}", self.name(peer), at + 1));
            }
        }
        gone
    }

    /// What somebody is called.
    pub fn name(&self, peer: &PeerId) -> String {
        let known = self.everybody().find(|member| member.peer == *peer);
        known.and_then(|member| member.name.clone()).unwrap_or_else(|| peer.to_string())
    }

    /// Names each renewal, with all before it: of the run that `founding` names.
    pub fn digests(&self, founding: &str) -> Vec<Fingerprint> {
        let members: Vec<Vec<u8>> = self.founders.iter().map(|member| member.peer.to_bytes()).collect();
        let mut before =
            Fingerprint::of("murmur founding 1", &[founding.as_bytes(), &members.concat()].concat());
        let next = |step: &Renewal| {
            let text = toml::to_string(&step.stored(None)).expect("a renewal has a text");
            before = Fingerprint::of("murmur renewal 1", &[&before.0, text.as_bytes()].concat());
            before
        };
        self.steps.iter().map(next).collect()
    }

    /// What all of it comes to, for the run.
    pub fn totals(&self) -> protocol::Renewals {
        let rounds = self.steps.iter().filter_map(|step| Some((step.next_round, step.rounds?)));
        protocol::Renewals {
            places: self.places().len(),
            members: self.members().len(),
            hostile: self.steps.last().map_or(0, |step| step.hostile),
            rounds: rounds.collect(),
            learning_rate: self.steps.iter().rev().find_map(|step| step.learning_rate),
        }
    }

    /// Whether it can be kept.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn check(&self) -> Result<(), String> {
        let mut now: BTreeSet<PeerId> = self.founders.iter().map(|member| member.peer).collect();
        let mut ever = now.clone();
        for (at, step) in self.steps.iter().enumerate() {
            let number = at + 1;
            if let Some(peer) = step.without.iter().find(|peer| !now.remove(peer)) {
                return Err(format!("renewal {number} takes out {peer}, which takes no part"));
            }
            for joining in &step.joins {
                let peer = joining.member.peer;
                if !ever.insert(peer) {
                    return Err(format!(
                        "renewal {number} lets in {peer}, which is or was a member: who comes back needs a new identity (`murmur node id --state DIR`)"
                    ));
                }
                if joining.replaces.is_some_and(|old| !step.without.contains(&old)) {
                    return Err(format!("renewal {number} replaces a member that it does not take out"));
                }
                now.insert(peer);
            }
            let (members, most) = (now.len(), hostile_by_default(now.len()));
            if members < 2 || step.hostile > most {
                return Err(format!(
                    "renewal {number} leaves {members} members, of whom {} may be hostile: at least two, and at most {most} of them",
                    step.hostile
                ));
            }
        }
        Ok(())
    }
}

/// Why a renewal does not follow from what was before.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// An identity that signs nothing.
    #[error("an identity among the members has no Ed25519 key")]
    NoKey,
    /// Members that cannot decide anything.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// The run cannot go on so.
    #[error(transparent)]
    Renewal(#[from] RenewalError),
}

impl Hint for Unfit {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Renewal(error) => error.hint(),
            Self::NoKey | Self::Credentials(_) => None,
        }
    }
}

impl Renewal {
    /// What the members agree on from now on: those at `places` agreed on `before`, and `digest` names this renewal.
    ///
    /// # Guarantee
    /// As [`Terms::renewed`].
    ///
    /// # Errors
    /// As [`Unfit`] says.
    pub fn terms(&self, before: Terms, places: &[PeerId], digest: Fingerprint) -> Result<Terms, Unfit> {
        let place = |peer: &PeerId| places.iter().position(|place| place == peer).map(|at| at as PeerIx);
        let joined: Option<Vec<[u8; 32]>> =
            self.joins.iter().map(|joining| key_of(&joining.member.peer)).collect();
        let renewal = protocol::agreement::Renewal {
            gone: self.without.iter().filter_map(place).collect(),
            joined: joined.ok_or(Unfit::NoKey)?,
            hostile: self.hostile,
            rounds: self.rounds.unwrap_or(before.rounds),
            next_round: self.next_round,
            digest,
        };
        let keys = Ed25519::of_roster(&before.roster).map_err(CredentialsError::from)?;
        let charter = Charter::new(before, 1, 1).map_err(CredentialsError::from)?;
        Ok(Terms::renewed((&charter, &keys), &self.decision, &renewal)?)
    }

    pub(crate) fn stored(&self, digest: Option<Fingerprint>) -> Stored {
        let join = self.joins.iter().map(|joining| StoredJoining {
            peer: joining.member.peer.to_base58(),
            name: joining.member.name.clone(),
            addresses: joining.member.addresses.iter().map(Multiaddr::to_string).collect(),
            replaces: joining.replaces.map(|peer| peer.to_base58()),
        });
        Stored {
            without: self.without.iter().map(|peer| peer.to_base58()).collect(),
            hostile: self.hostile,
            next_round: self.next_round,
            rounds: self.rounds,
            learning_rate: self.learning_rate,
            decision: self.decision.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect(),
            digest,
            join: join.collect(),
        }
    }

    fn parse(stored: Stored) -> Result<Self, String> {
        let peer = |text: &String| {
            text.parse::<PeerId>().map_err(|_| format!("`{text}` in a renewal is no identity"))
        };
        let join = |joining: StoredJoining| {
            let StoredJoining { peer: text, name, addresses, replaces } = joining;
            let member = Member::parse(Entry { peer: text, name, addresses })?;
            Ok(Joining { member, replaces: replaces.as_ref().map(peer).transpose()? })
        };
        let decision = bytes(&stored.decision).and_then(|bytes| Certificate::from_bytes(&bytes).ok());
        Ok(Self {
            without: stored.without.iter().map(peer).collect::<Result<_, String>>()?,
            joins: stored.join.into_iter().map(join).collect::<Result<_, String>>()?,
            hostile: stored.hostile,
            next_round: stored.next_round,
            rounds: stored.rounds,
            learning_rate: stored.learning_rate,
            decision: decision.ok_or("the decision of a renewal cannot be read")?,
        })
    }
}

/// The renewals of a file, each of which says its digest.
pub(crate) fn parse(founders: Vec<Member>, stored: Vec<Stored>, founding: &str) -> Result<Renewals, String> {
    if stored.is_empty() {
        return Ok(Renewals::default());
    }
    if founders.is_empty() {
        return Err("only members that are named can be renewed: the file has no `roster`".into());
    }
    let stated: Vec<Option<Fingerprint>> = stored.iter().map(|stored| stored.digest).collect();
    let steps = stored.into_iter().map(Renewal::parse).collect::<Result<_, _>>()?;
    let renewals = Renewals { founders, steps };
    let found = renewals.digests(founding);
    if let Some(at) = found.iter().zip(stated).position(|(found, stated)| Some(*found) != stated) {
        return Err(format!("renewal {} was changed by hand: `murmur swarm renew` makes one", at + 1));
    }
    renewals.check()?;
    Ok(renewals)
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = hex.as_bytes().chunks(2);
    pairs.map(|pair| Some((digit(*pair.first()?)? * 16 + digit(*pair.get(1)?)?) as u8)).collect()
}

/// A renewal in words, for whoever is to accept it.
pub struct Words<'a> {
    /// All of them.
    pub renewals: &'a Renewals,
    /// Which one, from 0.
    pub at: usize,
}

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = &self.renewals.steps[self.at];
        let until = Renewals { steps: self.renewals.steps[..=self.at].to_vec(), ..self.renewals.clone() };
        let name = |peer: &PeerId| format!("{} ({peer})", self.renewals.name(peer));
        let replaced = |peer: &&PeerId| step.joins.iter().any(|joining| joining.replaces == Some(**peer));
        writeln!(f, "renewal {} of the swarm file", self.at + 1)?;
        for peer in step.without.iter().filter(|peer| !replaced(peer)) {
            writeln!(f, "  without   {}", name(peer))?;
        }
        for joining in &step.joins {
            let who = name(&joining.member.peer);
            match joining.replaces {
                Some(old) => writeln!(f, "  replaced  {who}, in the place of {old}")?,
                None => writeln!(f, "  joins     {who}")?,
            }
        }
        if let Some(rounds) = step.rounds {
            writeln!(f, "  rounds    {rounds}")?;
        }
        if let Some(rate) = step.learning_rate {
            writeln!(f, "  learning_rate  {rate}")?;
        }
        let members = until.members();
        let votes = Electorate { votes: (0..members.len() as u32).collect(), hostile: step.hostile };
        let names: Vec<String> = members.iter().map(|member| self.renewals.name(&member.peer)).collect();
        writeln!(f, "  members   {}: {}", members.len(), names.join(", "))?;
        writeln!(
            f,
            "  decide    {} of them; {} may be missing, {} hostile (`members.hostile`)",
            votes.quorum(),
            votes.may_be_missing(),
            step.hostile
        )?;
        match step.decision.chain.last() {
            Some(last) => writeln!(
                f,
                "  goes on   from decision {} (model after {} rounds) or what the members hold since, not before round {}",
                last.decision.epoch, last.decision.model.version, step.next_round
            ),
            None => writeln!(f, "  goes on   from the beginning: nothing was decided yet"),
        }
    }
}

#[cfg(test)]
mod tests;

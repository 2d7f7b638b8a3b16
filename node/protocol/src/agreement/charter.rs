//! What all members have agreed on before the first decision: the run, the first roster with its keys, how
//! many may be hostile, when it ends.

use std::sync::Arc;
use topology::Hint;

use topology::schedule::RunKey;

use super::codec::{CodecError, Reader, Wire, wire};
use super::decision::{Decision, Model, Seat};
use super::{Bounds, Continued, Electorate, Fingerprint};
use crate::PeerIx;

/// The first roster and what it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charter {
    terms: Terms,
    run: Fingerprint,
    key: RunKey,
    /// Unheard for so many microseconds, a member is taken to be away.
    pub silence: u64,
    /// What was not answered is said again after so many microseconds.
    pub resend: u64,
    /// What sums can be, where there are some.
    pub(super) bounds: Option<Bounds>,
}

/// What the name of a run in signatures is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// Name of the run.
    pub name: String,
    /// Digest of the configuration.
    pub config: Fingerprint,
    /// The public keys of the members, in the order of their positions.
    pub roster: Vec<[u8; 32]>,
    /// f: at most so many of them are hostile.
    pub hostile: u32,
    /// How many rounds make the result.
    pub rounds: u32,
    /// Digest of the public first model.
    pub model: Fingerprint,
    /// X25519 keys of the members where all of them agreed to begin, so that everybody has a seat at once. Empty: the first assembly seats who
    /// came.
    pub seats: Vec<[u8; 32]>,
    /// From where a renewed run goes on; none in the run as it was founded.
    pub continued: Option<Continued>,
}

impl Terms {
    /// Who has a vote at first: all, but who was taken out by a renewal.
    pub fn votes(&self) -> Vec<PeerIx> {
        let all = || (0..self.roster.len() as PeerIx).collect();
        self.continued.as_ref().map_or_else(all, |continued| continued.start.electorate.votes.clone())
    }

    /// For the disk.
    pub fn to_stored(&self) -> Vec<u8> {
        Wire::to_bytes(self)
    }

    /// From the disk.
    ///
    /// # Errors
    /// Bytes that are no terms.
    pub fn from_stored(bytes: &[u8]) -> Result<Self, CodecError> {
        <Self as Wire>::from_bytes(bytes)
    }

    /// As stored: the name as bytes.
    fn stored(&self) -> StoredTerms {
        StoredTerms {
            name: self.name.clone().into_bytes(),
            config: self.config,
            roster: self.roster.clone(),
            hostile: self.hostile,
            rounds: self.rounds,
            model: self.model,
            seats: self.seats.clone(),
            continued: self.continued.clone(),
        }
    }
}

impl Wire for Terms {
    const LEAST: usize = StoredTerms::LEAST;
    fn write(&self, out: &mut Vec<u8>) {
        self.stored().write(out);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        let StoredTerms { name, config, roster, hostile, rounds, model, seats, continued } =
            Wire::read(from)?;
        let name = String::from_utf8(name).map_err(|_| CodecError::Unknown(0xff))?;
        Ok(Self { name, config, roster, hostile, rounds, model, seats, continued })
    }
}

struct StoredTerms {
    name: Vec<u8>,
    config: Fingerprint,
    roster: Vec<[u8; 32]>,
    hostile: u32,
    rounds: u32,
    model: Fingerprint,
    seats: Vec<[u8; 32]>,
    continued: Option<Continued>,
}

wire!(StoredTerms {
    name: Vec<u8>,
    config: Fingerprint,
    roster: Vec<[u8; 32]>,
    hostile: u32,
    rounds: u32,
    model: Fingerprint,
    seats: Vec<[u8; 32]>,
    continued: Option<Continued>,
});

/// Why terms cannot be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CharterError {
    /// A third or more.
    #[error("`members.hostile = {hostile}` of {members} members: fewer than a third can be borne")]
    TooManyHostile {
        /// f.
        hostile: u32,
        /// n.
        members: usize,
    },
    /// Nobody, or somebody twice.
    #[error("a roster has at least one member, and each key once")]
    BadRoster,
}

impl Hint for CharterError {
    fn hint(&self) -> Option<String> {
        let hint: String = match self {
            Self::TooManyHostile { members, .. } => {
                format!("leave it out, or set at most {}", super::hostile_by_default(*members))
            }
            Self::BadRoster => "compare the members of the swarm file".into(),
        };
        Some(hint)
    }
}

impl Charter {
    /// The charter of these terms. `silence` and `resend` are microseconds; at least one each.
    ///
    /// # Errors
    /// A third of hostile members or more, an empty roster, or a key twice.
    pub fn new(terms: Terms, silence: u64, resend: u64) -> Result<Self, CharterError> {
        let members = terms.votes().len();
        if terms.hostile > super::hostile_by_default(members) {
            return Err(CharterError::TooManyHostile { hostile: terms.hostile, members });
        }
        let members = terms.roster.len();
        let mut keys = terms.roster.clone();
        keys.sort_unstable();
        keys.dedup();
        let unseated = !terms.seats.is_empty() && terms.seats.len() != members;
        if keys.is_empty() || keys.len() < members || unseated || u32::try_from(members).is_err() {
            return Err(CharterError::BadRoster);
        }
        let run = Fingerprint::of("murmur charter 1", &terms.stored().to_bytes());
        let key = RunKey::new(&format!("agreement {run}"));
        Ok(Self { terms, run, key, silence: silence.max(1), resend: resend.max(1), bounds: None })
    }

    /// The same where sums are within these bounds: who signs another one is proved to be hostile.
    #[must_use]
    pub fn with_bounds(self, bounds: Bounds) -> Self {
        Self { bounds: Some(bounds), ..self }
    }

    /// Names the run in every signature: no statement of one swarm means anything in another.
    pub fn run(&self) -> Fingerprint {
        self.run
    }

    /// What it was made of.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Number of members of the first roster.
    pub fn members(&self) -> usize {
        self.terms.roster.len()
    }

    /// All members.
    pub fn everybody(&self) -> impl Iterator<Item = PeerIx> + use<> {
        0..self.members() as PeerIx
    }

    /// Epoch 0: everybody has a vote, and a seat where all agreed to begin; else the first assembly seats who came. A renewed run begins with the
    /// last decision of the one before.
    pub fn genesis(&self) -> Arc<Decision> {
        if let Some(continued) = &self.terms.continued {
            return continued.start.clone();
        }
        Arc::new(Decision {
            epoch: 0,
            seats: self
                .everybody()
                .zip(&self.terms.seats)
                .map(|(member, &key)| Seat { member, key })
                .collect(),
            electorate: Electorate { votes: self.everybody().collect(), hostile: self.terms.hostile },
            banned: Vec::new(),
            apart: Vec::new(),
            signed: super::decision::SignedSums { until: 0, span: 0 },
            model: Model { version: 0, digest: self.terms.model },
            next_round: 0,
            tokens: Vec::new(),
            inspection: None,
            barred: super::looking::Barred::default(),
            coins: Vec::new(),
        })
    }

    /// Who proposes in a view of the assembly for `epoch`: everybody in turn, from one that the run chooses.
    pub fn proposer(&self, electorate: &Electorate, epoch: u32, view: u32) -> PeerIx {
        let votes = &electorate.votes;
        let first = self.key.seed("proposer", epoch.into()) % votes.len().max(1) as u64;
        votes.get(((first + u64::from(view)) % votes.len().max(1) as u64) as usize).copied().unwrap_or(0)
    }
}

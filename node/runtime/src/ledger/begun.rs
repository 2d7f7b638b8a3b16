//! With whom a run began, and which renewals of it a node has accepted.

use protocol::agreement::{Fingerprint, Terms};
use serde::{Deserialize, Serialize};

use crate::identity::Roster;

/// The beginning of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    /// Who takes part.
    pub roster: Roster,
    /// When, in microseconds since 1970, by this node's clock.
    pub at: u64,
    /// The attempt in which all members signed the roster, and their signatures; none where they are pinned.
    pub signed: (u32, Vec<Vec<u8>>),
    /// The renewals that this node has accepted, and what all members agreed on with them.
    pub part: Part,
}

/// Which part of a run: as it was founded, or after so many renewals.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Part {
    /// Names of the renewals that this node has accepted, in order.
    pub renewals: Vec<Fingerprint>,
    /// Everybody who ever was a member, by place; the roster itself where nothing was renewed.
    pub places: Option<Roster>,
    /// The members now, where something was renewed.
    pub members: Option<Roster>,
    /// What the members of this part agreed on before its first decision.
    pub terms: Option<Terms>,
}

impl Begun {
    /// Everybody who ever was a member, by place.
    pub fn places(&self) -> &Roster {
        self.part.places.as_ref().unwrap_or(&self.roster)
    }

    /// The members now, those who have not come yet among them.
    pub fn members(&self) -> &Roster {
        self.part.members.as_ref().unwrap_or(&self.roster)
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredBegun {
    roster: Vec<Vec<u8>>,
    at: u64,
    #[serde(default)]
    attempt: u32,
    #[serde(default)]
    signatures: Vec<Vec<u8>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    renewals: Vec<Fingerprint>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    places: Option<Vec<Vec<u8>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    members: Option<Vec<Vec<u8>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    terms: Option<Vec<u8>>,
}

impl StoredBegun {
    pub(super) fn of(begun: &Begun) -> Self {
        let (attempt, signatures) = begun.signed.clone();
        Self {
            roster: begun.roster.to_bytes(),
            at: begun.at,
            attempt,
            signatures,
            renewals: begun.part.renewals.clone(),
            places: begun.part.places.as_ref().map(Roster::to_bytes),
            members: begun.part.members.as_ref().map(Roster::to_bytes),
            terms: begun.part.terms.as_ref().map(Terms::to_stored),
        }
    }

    pub(super) fn begun(self) -> Option<Begun> {
        let roster = |bytes: Option<Vec<Vec<u8>>>| {
            bytes.map(|bytes| Roster::places_from_bytes(&bytes).ok_or(())).transpose().ok()
        };
        let terms = self.terms.map(|bytes| Terms::from_stored(&bytes)).transpose();
        Some(Begun {
            roster: Roster::from_bytes(&self.roster)?,
            at: self.at,
            signed: (self.attempt, self.signatures),
            part: Part {
                renewals: self.renewals,
                places: roster(self.places)?,
                members: roster(self.members)?,
                terms: terms.ok()?,
            },
        })
    }
}

//! What is said in the open. The order of variants and fields is part of the wire format: append, never reorder.

use serde::{Deserialize, Serialize};

use crate::PeerIx;
use crate::agreement::{Fingerprint, Signature};
use crate::numbers::Load;
use crate::values::Digest;

/// One message of a round in the open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// The epoch of the roster.
    pub epoch: u32,
    /// Digest of the model from which the round started.
    pub start: Digest,
    /// What.
    pub what: What,
    /// The sender's signature, in rounds whose sums are signed.
    pub signature: Option<Signature>,
}

/// What is said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum What {
    /// The sender's contribution, beside it.
    Mine {
        /// Whether it is one: 1, or 0 for zeros.
        count: u32,
    },
    /// Digest of all contributions that the sender has.
    Heard {
        /// The digest.
        set: Fingerprint,
    },
    /// Asks for a contribution, and for what its author has heard.
    Want {
        /// Whose.
        of: PeerIx,
    },
    /// Somebody else's contribution, as the sender heard it.
    Passed {
        /// Whose.
        of: PeerIx,
        /// As its author said.
        count: u32,
    },
}

impl Said {
    pub(crate) fn kind(&self) -> &'static str {
        match self.what {
            What::Mine { .. } => "mine",
            What::Heard { .. } => "heard",
            What::Want { .. } => "want",
            What::Passed { .. } => "passed",
        }
    }

    pub(crate) fn load(&self) -> Load {
        match self.what {
            What::Mine { .. } | What::Passed { .. } => Load::Vector,
            What::Heard { .. } | What::Want { .. } => Load::Nothing,
        }
    }

    /// Whether the sender's own contribution is in it.
    pub(crate) fn contributes(&self) -> bool {
        matches!(self.what, What::Mine { count } if count > 0)
    }
}

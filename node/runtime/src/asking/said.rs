//! What members say to each other about questions, besides the run in which one is answered.

use protocol::Digest;
use serde::{Deserialize, Serialize};

/// The longest question on the wire, with its public numbers.
pub(crate) const LONGEST: usize = 16 << 10;

/// One thing said. The order of variants and fields is the wire format: append, never reorder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Said {
    /// The sender asks this.
    Offer(Offer),
    /// What the sender thinks of a question; told to all, so that each counts for itself.
    Opinion(Opinion),
    /// The question begins now.
    Begin {
        /// Which.
        id: [u8; 16],
        /// Whether every member takes part: then nobody needs to be waited for.
        everybody: bool,
    },
    /// The question does not begin.
    Withdrawn {
        /// Which.
        id: [u8; 16],
    },
    /// Asks for the total that the sender's earlier opinion named.
    Fetch {
        /// Which.
        id: [u8; 16],
    },
    /// The answer to [`Said::Fetch`].
    Stored {
        /// Which.
        id: [u8; 16],
        /// The model of that question.
        model: Vec<f32>,
    },
    /// Asks the asker for the model that its question is about.
    FetchModel {
        /// Which question.
        id: [u8; 16],
    },
    /// The answer to [`Said::FetchModel`].
    Model {
        /// Of which question.
        id: [u8; 16],
        /// The file.
        bytes: Vec<u8>,
    },
}

/// A question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Text and public numbers, as JSON: all members read the same bytes.
    pub ask: String,
    /// Tells it from the same question at another time.
    pub nonce: u64,
}

/// What a member thinks of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opinion {
    /// Which question.
    pub id: [u8; 16],
    /// Whether it takes part at all, if only with noise.
    pub joins: bool,
    /// Why it adds no records; `None` where it does.
    pub declines: Option<String>,
    /// What it knows of an earlier answer.
    pub known: Known,
}

/// What a member knows of the answer to the same question on data that have not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Known {
    /// Nothing, or its data have changed.
    Nothing,
    /// It has contributed to one, and did not hear the answer.
    Contributed,
    /// It holds the answer with this digest.
    Holds([u8; 16]),
}

impl Offer {
    /// Names the question, in this run of these members.
    pub(crate) fn id(&self, run: &str, asker: &str) -> Digest {
        Digest::of_text(&format!("murmur question 1\n{run}\n{asker}\n{}\n{}", self.nonce, self.ask))
    }
}

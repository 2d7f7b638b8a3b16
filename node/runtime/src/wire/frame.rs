//! The kinds of frames.

use std::fmt;

use protocol::{Message, Numbers};
use serde::{Deserialize, Serialize};

use crate::asking::Said;
use crate::schema::Schema;

/// One thing said by a node to another. The order of variants and fields is the wire format: append, never reorder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Frame {
    /// First frame on a stream: a fresh challenge.
    Greeting(Greeting),
    /// Second frame: that the sender knows the swarm's secret.
    Proof([u8; 32]),
    /// Third frame: who the sender is in this run.
    Card(Card),
    /// The sender's configuration, where the digests differ.
    Config(String),
    /// The sender will not talk to the receiver, and why.
    Refuse(Refusal, String),
    /// Whom the sender knows, so that all find all.
    Members(Vec<Known>),
    /// Before the start: the roster that the sender stands for in this attempt.
    Confirm {
        /// Grows whenever two rosters competed.
        attempt: u32,
        /// The members, in order, as bytes of their identities.
        roster: Vec<Vec<u8>>,
        /// The sender's signature under both.
        signature: Vec<u8>,
    },
    /// The sender has finished its run.
    Finished,
    /// Nothing to say, but still here. `answer` asks the receiver to say something too.
    Alive {
        /// Whether an answer is wanted.
        answer: bool,
    },
    /// The protocol's own.
    Message(Message),
    /// The form of the sender's records, where the digests differ.
    Schema(Schema),
    /// Questions: offers, opinions and beginnings.
    Asking(Box<Said>),
    /// Where the sender receives datagrams of this link.
    Datagrams(Doorway),
    /// A frame that did not get through as datagrams.
    Again {
        /// Which of those that were tried.
        number: u64,
        /// As it would stand on the stream.
        bytes: Vec<u8>,
    },
}

/// Where datagrams can be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doorway {
    /// A UDP port of the sender.
    pub port: u16,
    /// A fresh key, under which they are sealed.
    pub key: DatagramKey,
}

/// A key for the datagrams of one direction of one link; not printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatagramKey(pub [u8; 32]);

impl fmt::Debug for DatagramKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DatagramKey(…)")
    }
}

impl Frame {
    /// The numbers behind the header.
    pub fn numbers(&self) -> Option<&Numbers> {
        match self {
            Self::Message(message) => message.numbers.as_ref(),
            _ => None,
        }
    }
}

/// The start of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    /// Fresh randomness that the other side must answer.
    pub challenge: [u8; 32],
}

/// Who somebody is in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// Name of the run.
    pub run: String,
    /// Digest of the configuration that all share.
    pub config: [u8; 16],
    /// Digest of the form of its records.
    pub schema: [u8; 16],
    /// Random number of this process: tells a restarted node from a second one with the same identity.
    pub instance: u64,
    /// Where the sender stands.
    pub standing: Standing,
    /// Where it listens, as multiaddresses.
    pub addresses: Vec<String>,
    /// What it is called; empty where it has no name. The channel proves the key, so the name is that key's word.
    pub name: String,
}

/// Why somebody is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// The run has begun without it.
    Closed,
    /// Another process has the same identity and is here.
    Duplicate,
    /// A run of another name, or of other members.
    OtherRun,
    /// Another configuration.
    Config,
}

/// Where a node stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Standing {
    /// Looking for the others.
    Gathering,
    /// The run has begun with these members, in order.
    Running {
        /// Bytes of their identities.
        roster: Vec<Vec<u8>>,
        /// The attempt in which all of them signed it.
        attempt: u32,
        /// Their signatures; none where members are pinned.
        signatures: Vec<Vec<u8>>,
    },
}

/// A node that somebody knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// Bytes of its identity.
    pub peer: Vec<u8>,
    /// Where it can be reached, as multiaddresses.
    pub addresses: Vec<String>,
}

//! Headers: everything of a frame but its numbers.

use protocol::{AssemblyMessage, Body, Digest, Message, RunId, Values};
use serde::{Deserialize, Serialize};

use super::{Card, Frame, Greeting, Known, Refusal, VERSION};
use crate::schema::Schema;

/// What bincode reads and writes. The order of fields and variants is the wire format: append, never reorder.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header {
    version: u8,
    pub(super) values: u32,
    pub(super) content: Content,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Content {
    Greeting(Greeting),
    Proof([u8; 32]),
    Card(Card),
    Config(String),
    Refuse(Refusal, String),
    Members(Vec<Known>),
    Confirm { attempt: u32, roster: Vec<Vec<u8>> },
    Finished,
    Alive { answer: bool },
    Message { run: u64, round: u32, step: u32, kind: Kind },
    Schema(Schema),
}

/// A [`Body`] without its numbers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Kind {
    Sum { epoch: u32, count: u32, start: [u8; 16], knocked: bool },
    State,
    Token { token: u32, hop: u32, generation: u32 },
    TokenHere { token: u32, hop: u32, generation: u32 },
    TokenSafe { token: u32, hop: u32, generation: u32 },
    Nudge,
    NotYet,
    Assembly(Box<AssemblyMessage>),
    Fetch { digest: [u8; 16] },
    Model { version: u32 },
    Knock { epoch: u32 },
    Over { token: u32 },
}

impl Header {
    pub(super) fn of(frame: &Frame, values: usize) -> Self {
        // A model of four thousand million parameters is refused by the limits long before.
        let values = u32::try_from(values).unwrap_or(u32::MAX);
        let content = match frame.clone() {
            Frame::Greeting(greeting) => Content::Greeting(greeting),
            Frame::Proof(proof) => Content::Proof(proof),
            Frame::Card(card) => Content::Card(card),
            Frame::Config(text) => Content::Config(text),
            Frame::Schema(schema) => Content::Schema(schema),
            Frame::Refuse(refusal, reason) => Content::Refuse(refusal, reason),
            Frame::Members(known) => Content::Members(known),
            Frame::Confirm { attempt, roster } => Content::Confirm { attempt, roster },
            Frame::Finished => Content::Finished,
            Frame::Alive { answer } => Content::Alive { answer },
            Frame::Message(Message { run, round, step, body }) => {
                Content::Message { run: run.0, round, step, kind: Kind::of(body) }
            }
        };
        Self { version: VERSION, values, content }
    }

    pub(super) fn into_frame(self, values: Values) -> Frame {
        match self.content {
            Content::Greeting(greeting) => Frame::Greeting(greeting),
            Content::Proof(proof) => Frame::Proof(proof),
            Content::Card(card) => Frame::Card(card),
            Content::Config(text) => Frame::Config(text),
            Content::Schema(schema) => Frame::Schema(schema),
            Content::Refuse(refusal, reason) => Frame::Refuse(refusal, reason),
            Content::Members(known) => Frame::Members(known),
            Content::Confirm { attempt, roster } => Frame::Confirm { attempt, roster },
            Content::Finished => Frame::Finished,
            Content::Alive { answer } => Frame::Alive { answer },
            Content::Message { run, round, step, kind } => {
                Frame::Message(Message { run: RunId(run), round, step, body: kind.into_body(values) })
            }
        }
    }
}

impl Content {
    pub(super) fn carries_values(&self) -> bool {
        matches!(
            self,
            Self::Message {
                kind: Kind::Sum { .. } | Kind::State | Kind::Token { .. } | Kind::Model { .. },
                ..
            }
        )
    }
}

impl Kind {
    fn of(body: Body) -> Self {
        match body {
            Body::Sum { epoch, values: _, count, start, knocked } => {
                Self::Sum { epoch, count, start: start.0, knocked }
            }
            Body::State { values: _ } => Self::State,
            Body::Token { token, hop, generation, values: _ } => Self::Token { token, hop, generation },
            Body::TokenHere { token, hop, generation } => Self::TokenHere { token, hop, generation },
            Body::TokenSafe { token, hop, generation } => Self::TokenSafe { token, hop, generation },
            Body::Nudge => Self::Nudge,
            Body::NotYet => Self::NotYet,
            Body::Assembly(message) => Self::Assembly(message),
            Body::Fetch { digest } => Self::Fetch { digest: digest.0 },
            Body::Model { version, values: _ } => Self::Model { version },
            Body::Knock { epoch } => Self::Knock { epoch },
            Body::Over { token } => Self::Over { token },
        }
    }

    fn into_body(self, values: Values) -> Body {
        match self {
            Self::Sum { epoch, count, start, knocked } => {
                Body::Sum { epoch, values, count, start: Digest(start), knocked }
            }
            Self::State => Body::State { values },
            Self::Token { token, hop, generation } => Body::Token { token, hop, generation, values },
            Self::TokenHere { token, hop, generation } => Body::TokenHere { token, hop, generation },
            Self::TokenSafe { token, hop, generation } => Body::TokenSafe { token, hop, generation },
            Self::Nudge => Body::Nudge,
            Self::NotYet => Body::NotYet,
            Self::Assembly(message) => Body::Assembly(message),
            Self::Fetch { digest } => Body::Fetch { digest: Digest(digest) },
            Self::Model { version } => Body::Model { version, values },
            Self::Knock { epoch } => Body::Knock { epoch },
            Self::Over { token } => Body::Over { token },
        }
    }
}

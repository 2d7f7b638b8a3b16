//! What can happen next. Numbers point into lists of what is there, so every list of operations can be played.

use std::sync::Arc;

use proptest::prelude::*;
use protocol::rounds::{Agreed, Say, What};
use protocol::{Body, Digest, Message, Numbers, RunId, Values, agreement, walk};

/// One thing that happens.
#[derive(Debug, Clone)]
pub(crate) enum Operation {
    /// A node is told to start, again where it has.
    Start { node: usize },
    /// Time passes; a node is told so.
    Tick { node: usize, micros: u64 },
    /// A message arrives: one of the oldest that are under way, or any that was ever sent.
    Deliver { pick: usize, replay: bool, forgery: Forgery },
    /// A contribution is ready; `again`: one that was handed in before.
    Compute { pick: usize, again: bool },
    /// A record is durable; `again`: said before.
    Record { pick: usize, again: bool },
    /// A number of a record that nobody asked for.
    RecordUnasked { node: usize, id: u64 },
    /// A node stops and comes back with what it had saved. Records that were not answered may be on its disk.
    Crash { node: usize, kept: bool },
    /// For a while nothing goes wrong: contributions are made and recorded, and so many messages arrive in order. An agreement needs it.
    Calm { messages: usize },
}

/// What became of a message on its way.
#[derive(Debug, Clone)]
pub(crate) enum Forgery {
    None,
    Run,
    Sender(u32),
    Receiver(usize),
    Round(u32),
    Step(u32),
    /// Epoch, count, hop or generation.
    Counter(u32),
    Digest,
    Longer,
    Shorter,
    Number(f32),
}

pub(crate) fn operations(most: usize) -> impl Strategy<Value = Vec<Operation>> {
    // All start first: a swarm that never begins does nothing.
    prop::collection::vec(operation(), most / 2..most).prop_map(|rest| {
        let mut all: Vec<Operation> = (0..crate::NODES).map(|node| Operation::Start { node }).collect();
        all.extend(rest);
        all
    })
}

fn operation() -> impl Strategy<Value = Operation> {
    let node = 0..crate::NODES;
    let rarely = prop::bool::weighted(0.1);
    prop_oneof![
        1 => node.clone().prop_map(|node| Operation::Start { node }),
        8 => (node.clone(), prop_oneof![4 => 0..20_000_u64, 1 => 0..30_000_000_u64])
            .prop_map(|(node, micros)| Operation::Tick { node, micros }),
        40 => (0..1000_usize, rarely, forgery())
            .prop_map(|(pick, replay, forgery)| Operation::Deliver { pick, replay, forgery }),
        20 => (0..1000_usize, rarely).prop_map(|(pick, again)| Operation::Compute { pick, again }),
        20 => (0..1000_usize, rarely).prop_map(|(pick, again)| Operation::Record { pick, again }),
        1 => (node.clone(), prop_oneof![0..6_u64, Just(u64::MAX)])
            .prop_map(|(node, id)| Operation::RecordUnasked { node, id }),
        2 => (node, any::<bool>()).prop_map(|(node, kept)| Operation::Crash { node, kept }),
        2 => (0..100_usize).prop_map(|messages| Operation::Calm { messages }),
    ]
}

fn forgery() -> impl Strategy<Value = Forgery> {
    let number = prop_oneof![0..8_u32, Just(u32::MAX), Just(u32::MAX - 1)];
    let value = prop_oneof![Just(f32::NAN), Just(f32::INFINITY), Just(f32::MAX), Just(-0.0), -10.0..10.0_f32];
    prop_oneof![
        40 => Just(Forgery::None),
        1 => Just(Forgery::Run),
        1 => number.clone().prop_map(Forgery::Sender),
        1 => (0..crate::NODES).prop_map(Forgery::Receiver),
        1 => number.clone().prop_map(Forgery::Round),
        1 => number.clone().prop_map(Forgery::Step),
        2 => number.prop_map(Forgery::Counter),
        1 => Just(Forgery::Digest),
        1 => Just(Forgery::Longer),
        1 => Just(Forgery::Shorter),
        2 => value.prop_map(Forgery::Number),
    ]
}

impl Forgery {
    /// The message as it arrives, with its sender and receiver.
    pub(crate) fn apply(
        &self,
        (mut from, mut to, mut message): (u32, usize, Message),
    ) -> (u32, usize, Message) {
        match *self {
            Self::None => {}
            Self::Run => message.run = RunId(8),
            Self::Sender(other) => from = other,
            Self::Receiver(other) => to = other,
            Self::Round(round) => message.round = round,
            Self::Step(step) => message.step = step,
            Self::Counter(counter) => set_counters(&mut message.body, counter),
            Self::Digest => set_digest(&mut message.body),
            Self::Longer => change(&mut message, |values| values.push(1.0)),
            Self::Shorter => change(&mut message, |values| values.truncate(values.len().saturating_sub(1))),
            Self::Number(number) => change(&mut message, |values| {
                if let Some(last) = values.last_mut() {
                    *last = number;
                }
            }),
        }
        (from, to, message)
    }
}

fn set_counters(body: &mut Body, to: u32) {
    match body {
        Body::Rounds(Say::Sum(sum)) => sum.epoch = to,
        Body::Rounds(Say::Robust(said)) => match &mut said.what {
            What::Mine { count } => *count = to,
            What::Want { of } | What::Passed { of, .. } => *of = to,
            What::Heard { .. } => said.epoch = to,
        },
        Body::Rounds(Say::Model { version }) => *version = to,
        Body::Walk(walk::Say::Token(name) | walk::Say::Here(name) | walk::Say::Safe(name)) => {
            if to.is_multiple_of(2) { name.hop = to } else { name.generation = to }
        }
        Body::Rounds(Say::Key(told)) => told.key[..4].copy_from_slice(&to.to_le_bytes()),
        Body::Walk(walk::Say::Over { token }) => *token = to,
        // Statements are signed: what is changed in them is refused, which other tests look at.
        Body::Rounds(Say::Agreement(_) | Say::Fetch { .. }) | Body::Walk(walk::Say::Agreement(_)) => {}
        Body::Gossip(_) | Body::Nudge | Body::NotYet => {}
    }
}

fn set_digest(body: &mut Body) {
    let other = Digest::of_text("forged");
    match body {
        Body::Rounds(Say::Sum(sum)) => sum.start = other,
        Body::Rounds(Say::Robust(said)) => match &mut said.what {
            What::Heard { set } => set.0[0] ^= 1,
            What::Mine { .. } | What::Want { .. } | What::Passed { .. } => said.start = other,
        },
        Body::Rounds(Say::Fetch { digest }) => digest.0[0] ^= 1,
        Body::Rounds(Say::Agreement(said)) => {
            let mut bytes = said.0.to_bytes();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            if let Ok(forged) = agreement::Message::from_bytes(&bytes) {
                *said = Agreed(Arc::new(forged));
            }
        }
        _ => {}
    }
}

fn change(message: &mut Message, with: impl FnOnce(&mut Vec<f32>)) {
    if let Some(Numbers::Reals(values)) = &mut message.numbers {
        let mut numbers = values.as_slice().to_vec();
        with(&mut numbers);
        *values = Values::from_wire(numbers);
    }
}

//! What a hostile member can sign and send.

use std::sync::Arc;

use super::super::keys::{Kind, Signature};
use super::super::message::{Message, TurnMessage};
use super::super::sealed::{Place, Sealed};
use super::super::statements::{Propose, Standing, Turn, Voice};
use super::super::{Agreement, Decision};
use super::{Dice, Net, PlainKeys, a_model};
use crate::PeerIx;

/// The place of a statement in the assembly that the member is in.
pub(super) fn place(net: &Net, like: PeerIx, view: u32) -> Place {
    net.nodes[like as usize].as_ref().expect("it is here").place(view)
}

pub(super) fn seal_standing(net: &Net, by: PeerIx, place: Place, content: Standing) -> Arc<Sealed<Standing>> {
    Arc::new(Sealed::new(by, place, content, (&net.charter, &PlainKeys(by))))
}

pub(super) fn seal_turn(net: &Net, by: PeerIx, place: Place, content: Turn) -> Arc<Sealed<Turn>> {
    Arc::new(Sealed::new(by, place, content, (&net.charter, &PlainKeys(by))))
}

pub(super) fn seal_propose(net: &Net, by: PeerIx, place: Place, content: Propose) -> Arc<Sealed<Propose>> {
    Arc::new(Sealed::new(by, place, content, (&net.charter, &PlainKeys(by))))
}

/// How a hostile member treats what it would send if it were honest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Behaviour {
    /// Says nothing.
    Silent,
    /// Says it to some.
    Withholds,
    /// Says different things to different members: standings, turns, votes, commits, proposals.
    Equivocates,
    /// Claims models that do not exist, rounds and views far away.
    Exaggerates,
    /// Proposes what suits it, and leaves out whom it likes.
    LeavesOut,
    /// Puts others' names under what it says.
    Forges,
    /// Says everything honestly, many times and late.
    Repeats,
}

pub(super) const BEHAVIOURS: [Behaviour; 7] = [
    Behaviour::Silent,
    Behaviour::Withholds,
    Behaviour::Equivocates,
    Behaviour::Exaggerates,
    Behaviour::LeavesOut,
    Behaviour::Forges,
    Behaviour::Repeats,
];

/// What becomes of a message of a hostile member.
pub(super) fn twist(
    net: &Net,
    (by, to): (PeerIx, PeerIx),
    message: Message,
    (behaviour, dice): (Behaviour, &mut Dice),
) -> Vec<Message> {
    match behaviour {
        Behaviour::Silent => Vec::new(),
        Behaviour::Withholds if dice.one_in(2) => Vec::new(),
        Behaviour::Withholds => vec![message],
        Behaviour::Repeats => vec![message; 1 + dice.below(3)],
        Behaviour::Equivocates if (to + dice.below(2) as u32).is_multiple_of(2) => {
            vec![changed(net, by, message, to as u8 + 100)]
        }
        Behaviour::Equivocates => vec![message],
        Behaviour::Exaggerates => vec![exaggerated(net, by, message)],
        Behaviour::LeavesOut => vec![leaving_out(net, by, message, dice)],
        Behaviour::Forges => vec![forged(net, (by + 1) % net.charter.members() as u32, message)],
    }
}

fn changed(net: &Net, by: PeerIx, message: Message, how: u8) -> Message {
    let other =
        |decision: &Decision| Decision { model: a_model(decision.model.version, how), ..decision.clone() };
    let voice = |voice: Voice, kind: Kind| {
        let value = super::Fingerprint([how; 32]);
        Voice::new(kind, (voice.place, value), by, (&net.charter, &PlainKeys(by)))
    };
    match message {
        Message::Standing(standing) if standing.by() == by => {
            let content = Standing { key: [how; 32], ..standing.content().clone() };
            Message::Standing(seal_standing(net, by, standing.place(), content))
        }
        Message::Turn(TurnMessage { turn, locked: None }) => {
            let mut content = turn.content().clone();
            content.heard.retain(|(member, _)| *member == by);
            Message::Turn(TurnMessage { turn: seal_turn(net, by, turn.place(), content), locked: None })
        }
        Message::Propose(propose) => {
            let mut content = propose.content().clone();
            content.value = Arc::new(other(&content.value));
            Message::Propose(seal_propose(net, by, propose.place(), content))
        }
        Message::Vote(vote) => Message::Vote(voice(vote, Kind::Vote)),
        Message::Commit(commit) => Message::Commit(voice(commit, Kind::Commit)),
        other => other,
    }
}

fn exaggerated(net: &Net, by: PeerIx, message: Message) -> Message {
    match message {
        Message::Standing(standing) if standing.by() == by => {
            let false_model = a_model(super::ROUNDS, 66);
            let content = Standing {
                model: false_model,
                before: Some(a_model(1 << 30, 66)),
                next_round: 1 << 30,
                ..standing.content().clone()
            };
            Message::Standing(seal_standing(net, by, standing.place(), content))
        }
        Message::Turn(TurnMessage { turn, locked }) => {
            let place = Place { view: 1 << 30, ..turn.place() };
            Message::Turn(TurnMessage { turn: seal_turn(net, by, place, turn.content().clone()), locked })
        }
        Message::Heard(mut list) => {
            list.epoch = 1 << 30;
            Message::Heard(list)
        }
        Message::Propose(propose) => {
            let place = Place { view: propose.place().view + 1000, ..propose.place() };
            Message::Propose(seal_propose(net, by, place, propose.content().clone()))
        }
        other => other,
    }
}

/// Leaves a member out of a proposal, and where it can makes the value fit.
fn leaving_out(net: &Net, by: PeerIx, message: Message, dice: &mut Dice) -> Message {
    let Message::Propose(propose) = message else { return message };
    let mut content = propose.content().clone();
    if content.standings.is_empty() {
        return Message::Propose(propose);
    }
    content.standings.remove(dice.below(content.standings.len()));
    let node: Option<&Agreement> = net.nodes[by as usize].as_ref();
    if let Some(node) = node
        && let Ok(found) = node.standings.all(&content.standings)
        && let Some(value) = super::super::outcome::outcome(
            &node.decision,
            &found,
            &node.proven_by(&content.proofs, &found),
            node.tools(),
        )
    {
        content.value = Arc::new(value);
    }
    Message::Propose(seal_propose(net, by, propose.place(), content))
}

/// The same in another's name, with a signature that is none.
fn forged(net: &Net, name: PeerIx, message: Message) -> Message {
    struct Nobody;
    impl super::Keys for Nobody {
        fn sign(&self, _: &[u8]) -> Signature {
            Signature([7; 64])
        }
        fn verifies(&self, _: PeerIx, _: &[u8], _: &Signature) -> bool {
            false
        }
    }
    match message {
        Message::Standing(standing) => {
            let content = Standing { model: a_model(2, 66), ..standing.content().clone() };
            let forged = Sealed::new(name, standing.place(), content, (&*net.charter, &Nobody));
            Message::Standing(Arc::new(forged))
        }
        Message::Turn(TurnMessage { turn, locked }) => {
            let forged = Sealed::new(name, turn.place(), turn.content().clone(), (&*net.charter, &Nobody));
            Message::Turn(TurnMessage { turn: Arc::new(forged), locked })
        }
        Message::Vote(mut vote) => {
            vote.ballot.by = name;
            Message::Vote(vote)
        }
        other => other,
    }
}

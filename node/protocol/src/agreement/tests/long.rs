//! What one member says must not grow until honest ones cannot say what they must: a frame has an end, and a link on which something longer is sent ends too.

use std::sync::Arc;

use super::super::message::Message;
use super::super::opened::Opened;
use super::super::proof::{Proof, Unjustified};
use super::super::records::RoundRecord;
use super::super::statements::Standing;
use super::super::{Fault, Fingerprint};
use super::hostile::{place, seal_propose, seal_standing};
use super::{Net, a_model, begun, standing};
use crate::PeerIx;

/// What a frame has room for.
const FRAME: usize = 4 << 20;

/// A standing that just fits into a frame.
fn as_long_as_a_frame(net: &Net, member: PeerIx) -> Standing {
    let opened = Opened {
        keys: Fingerprint::default(),
        place: Fingerprint::default(),
        unmasked: vec![(0, 1); FRAME / 8 - 1024],
        masks: Vec::new(),
        sums: Vec::new(),
    };
    let record = RoundRecord {
        round: 0,
        steps: Vec::new(),
        total: None,
        trouble: None,
        opened: Some(opened),
        shown: None,
        unproved: Vec::new(),
    };
    Standing { rounds: vec![record], ..net.reports[member as usize].clone() }
}

/// Its proposal leaves somebody out, which is a proof that contains all standings: with its own no honest proposal would fit into a frame any more.
#[test]
fn a_standing_as_long_as_a_frame_does_not_keep_honest_members_from_proposing() {
    let mut net = begun(4, 1);
    net.advance_to(1);
    let liar = net.nodes[0].as_ref().unwrap().proposer(1);
    let honest: Vec<PeerIx> = net.charter.everybody().filter(|&member| member != liar).collect();
    net.reports[liar as usize] = as_long_as_a_frame(&net, liar);
    net.call_all();
    for _ in 0..2_000 {
        while !net.letters.is_empty() {
            let (from, to, message) = net.letters.remove(0);
            let message = match message {
                Message::Propose(propose) if from == liar => {
                    let mut content = propose.content().clone();
                    let mut value = (*content.value).clone();
                    value.seats.retain(|seat| seat.member != honest[0]);
                    content.value = Arc::new(value);
                    Message::Propose(seal_propose(&net, liar, propose.place(), content))
                }
                other => other,
            };
            net.deliver((from, to, message));
        }
        if honest.iter().all(|&at| net.epoch(at) >= 2) {
            break;
        }
        net.tick();
    }
    assert!(honest.iter().all(|&at| net.epoch(at) == 2));
    let said = net.history.iter().filter(|(from, _)| *from != liar);
    let longest = said.map(|(_, message)| message.to_bytes().len()).max().unwrap_or(0);
    assert!(longest < FRAME / 64, "an honest member says {longest} bytes at once");
    assert!(net.faults[honest[0] as usize].contains(&(liar, Fault::Forged)), "who sent it is named");
}

/// What is longer than an honest member's is refused, field by field; an honest one's is not.
#[test]
fn standings_are_as_long_as_their_members_have_reason_to() {
    let net = begun(4, 1);
    let said = |change: &dyn Fn(&mut Standing)| {
        let mut content = standing(a_model(1, 1), None, 1);
        change(&mut content);
        let mut net = begun(4, 1);
        let sealed = seal_standing(&net, 3, place(&net, 0, 0), content);
        net.deliver((3, 0, Message::Standing(sealed)));
        net.faults[0].is_empty()
    };
    let twice = |by: PeerIx| {
        let of = |which| seal_standing(&net, by, place(&net, 0, 0), standing(a_model(1, which), None, 1));
        match Proof::of_sealed(&*of(1), &*of(2)) {
            Proof::Twice(twice) => twice,
            Proof::Unjustified(_) => unreachable!("it is of two statements"),
        }
    };
    let record = |steps: u32| {
        let step = |step| super::super::records::StepRecord { step, partner: 1, sent: None, heard: None };
        let steps = (0..steps).map(step).collect();
        RoundRecord {
            round: 1,
            steps,
            total: None,
            trouble: None,
            opened: None,
            shown: None,
            unproved: Vec::new(),
        }
    };
    assert!(said(&|_| {}) && said(&|it| it.rounds = vec![record(64)]));
    assert!(!said(&|it| it.rounds = vec![record(65)]));
    assert!(!said(&|it| it.rounds = vec![record(1), record(2), record(3)]));
    assert!(!said(&|it| it.proofs = vec![twice(1); 2]), "one proof against each");
    assert!(!said(&|it| it.proofs = vec![twice(2), twice(1)]), "in order");
}

/// Proofs are said as far as there is room for them.
#[test]
fn a_proposal_has_room_for_its_proofs_or_goes_without() {
    let mut net = begun(4, 1);
    net.advance_to(1);
    net.call_all();
    net.flow();
    let propose = net.history.iter().find_map(|(_, message)| match message {
        Message::Propose(propose) => Some(propose.clone()),
        _ => None,
    });
    let long = seal_standing(&net, 3, place(&net, 0, 0), as_long_as_a_frame(&net, 3));
    let too_long = Unjustified { propose: propose.expect("somebody proposed"), standings: vec![long] };
    let of = |which| seal_standing(&net, 2, place(&net, 0, 0), standing(a_model(1, which), None, 1));
    let short = Proof::of_sealed(&*of(1), &*of(2));
    let node = net.nodes[0].as_mut().unwrap();
    node.proofs.insert(1, Proof::Unjustified(too_long));
    node.proofs.insert(2, short.clone());
    assert_eq!(node.shown_proofs(), [short]);
}

//! The bad cases of the specification, one after the other, by hand.

use std::sync::Arc;

use super::super::decision::{Certificate, CertificateError, Decided};
use super::super::flaw::{self, Flaw};
use super::super::keys::{Ballot, Ed25519, Kind, Signature};
use super::super::message::{Ask, Message, TurnMessage, Turns};
use super::super::sealed::Place;
use super::super::statements::{Lock, Locked, Turn, Voice};
use super::super::{Agreement, Charter, Fault, Fingerprint, Input, Output, Terms};
use super::hostile::{place, seal_propose, seal_standing, seal_turn};
use super::{Net, PlainKeys, RESEND, ROUNDS, SILENCE, a_model, begun, standing};
use crate::{PeerIx, Time};

/// Who proposes in a view of the assembly that the swarm is in.
fn proposer(net: &Net, view: u32) -> PeerIx {
    net.nodes.iter().flatten().next().expect("somebody is here").proposer(view)
}

fn others(net: &Net, but: PeerIx) -> Vec<PeerIx> {
    net.charter.everybody().filter(|&member| member != but).collect()
}

/// Delivers and drops by a rule until nothing moves; then time passes.
fn settle_with(
    net: &mut Net,
    members: &[PeerIx],
    epoch: u32,
    lose: impl Fn(PeerIx, PeerIx, &Message) -> bool,
) -> bool {
    for _ in 0..2_000 {
        while !net.letters.is_empty() {
            let (from, to, message) = net.letters.remove(0);
            if !lose(from, to, &message) {
                net.deliver((from, to, message));
            }
        }
        if members.iter().all(|&at| net.epoch(at) >= epoch) {
            return true;
        }
        net.tick();
    }
    false
}

#[test]
fn everybody_comes_and_has_a_seat_without_any_timer() {
    for members in [1, 2, 3, 4, 7, 16] {
        let mut net = Net::new(members);
        net.call_all();
        net.flow();
        let all: Vec<PeerIx> = net.charter.everybody().collect();
        for &at in &all {
            assert_eq!(net.seats(at), all, "{members}");
            assert_eq!(net.last(at).electorate.votes, all);
        }
    }
}

#[test]
fn with_real_signatures_a_decision_proves_itself_and_nothing_else() {
    let seeds: Vec<[u8; 32]> = (0..4).map(|member| [member + 40; 32]).collect();
    let roster: Vec<[u8; 32]> = seeds.iter().map(Ed25519::public).collect();
    let terms = Terms {
        name: "real".into(),
        config: Fingerprint([1; 32]),
        roster: roster.clone(),
        hostile: 1,
        rounds: 0,
        model: Fingerprint([5; 32]),
        seats: Vec::new(),
        continued: None,
    };
    let charter = Arc::new(Charter::new(terms.clone(), SILENCE, RESEND).unwrap());
    let mut net = Net::new(4);
    net.charter = charter.clone();
    let keys = |member: usize| Arc::new(Ed25519::new(&seeds[member], &roster).unwrap());
    net.nodes =
        (0..4).map(|member| Some(Agreement::new(charter.clone(), keys(member), member as PeerIx))).collect();
    net.call_all();
    net.flow();
    let certificate = net.nodes[2].as_ref().unwrap().certificate().clone();
    let bytes = certificate.to_bytes();
    let certificate = Certificate::from_bytes(&bytes).unwrap();
    let anybody = Ed25519::of_roster(&roster).unwrap();
    let decision = certificate.verify_model(Fingerprint([5; 32]), (&charter, &anybody)).unwrap();
    assert_eq!((decision.epoch, decision.seats.len()), (1, 4));
    assert!(matches!(
        certificate.verify_model(Fingerprint([6; 32]), (&charter, &anybody)),
        Err(CertificateError::OtherModel { .. })
    ));
    // Another run, or other members: the signatures say nothing there.
    let other = Charter::new(Terms { name: "other".into(), ..terms }, SILENCE, RESEND).unwrap();
    assert!(certificate.verify_model(Fingerprint([5; 32]), (&other, &anybody)).is_err());
    // Every byte that matters does.
    let step = (bytes.len() / 97).max(1);
    for at in (0..bytes.len()).step_by(step) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        let read = Certificate::from_bytes(&damaged);
        assert!(read.is_err() || read.is_ok_and(|c| c.verify((&charter, &anybody)).is_err()), "byte {at}");
    }
}

#[test]
fn a_forged_decision_is_refused_and_named() {
    let mut net = begun(4, 1);
    let now = net.last(0).clone();
    let mut alone = now.clone();
    alone.epoch += 1;
    alone.seats.truncate(1);
    let statement = |by: PeerIx| {
        let place = place(&net, 0, 1);
        Voice::new(Kind::Commit, (place, alone.digest()), by, (&net.charter, &PlainKeys(3))).ballot
    };
    let commits: Vec<Ballot> = (1..4).map(statement).collect();
    let decided = Decided { decision: Arc::new(alone), view: 1, commits };
    let mut certificate = net.nodes[3].as_ref().unwrap().certificate().clone();
    certificate.chain.push(Arc::new(decided));
    net.deliver((3, 0, Message::Decided(certificate)));
    assert_eq!(net.last(0), &now);
    assert_eq!(net.faults[0], [(3, Fault::Forged)]);
}

#[test]
fn a_proposer_that_leaves_somebody_out_is_not_followed_and_is_banned() {
    let mut net = begun(4, 1);
    net.advance_to(1);
    let liar = proposer(&net, 1);
    let victim = others(&net, liar)[0];
    net.call_all();
    let honest = others(&net, liar);
    // Its proposals are replaced by ones without the victim, with a value that would fit.
    for _ in 0..2_000 {
        while !net.letters.is_empty() {
            let (from, to, message) = net.letters.remove(0);
            let message = match message {
                Message::Propose(propose) if from == liar => {
                    let mut content = propose.content().clone();
                    content.standings.retain(|(member, _)| *member != victim);
                    let mut value = (*content.value).clone();
                    value.seats.retain(|seat| seat.member != victim);
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
    for &at in &honest {
        assert!(net.last(at).has_seat(victim), "{at}");
        assert_eq!(net.last(at).banned, [liar], "an unjustified proposal is a proof");
        assert_eq!((net.last(at).electorate.hostile, net.last(at).electorate.quorum()), (0, 2));
    }
}

#[test]
fn a_proposer_that_withholds_costs_a_view_and_no_more() {
    for withheld in ["propose", "locked", "decided"] {
        let mut net = begun(4, 1);
        net.advance_to(1);
        let liar = proposer(&net, 1);
        net.call_all();
        let honest = others(&net, liar);
        let lose = |from: PeerIx, _: PeerIx, message: &Message| from == liar && message.kind() == withheld;
        assert!(settle_with(&mut net, &honest, 2, lose), "{withheld}");
        assert!(net.decided[honest[0] as usize].last().unwrap().view == 2, "{withheld}");
        let digests: Vec<Fingerprint> = honest.iter().map(|&at| net.last(at).digest()).collect();
        assert!(digests.windows(2).all(|pair| pair[0] == pair[1]));
        // What it hid counts nothing more: its own decision, if it made one, is the same.
        if net.epoch(liar) == 2 {
            assert_eq!(net.last(liar).digest(), digests[0]);
        }
    }
}

#[test]
fn two_standings_of_one_member_ban_it() {
    let mut net = begun(4, 1);
    net.advance_to(1);
    net.call_all();
    let second = standing(a_model(1, 77), None, 1);
    let second = seal_standing(&net, 3, place(&net, 0, 0), second);
    net.letters.insert(0, (3, 0, Message::Standing(second)));
    assert!(net.settle(&[0, 1, 2], 2));
    // Whoever proposed may not have seen both; then it is banned by the next decision, in which the proof is
    // stated.
    net.advance_to(2);
    (0..3).for_each(|at| net.call(at));
    assert!(net.settle(&[0, 1, 2], 3));
    assert_eq!((net.last(1).banned.clone(), net.last(1).electorate.votes.clone()), (vec![3], vec![0, 1, 2]));
}

#[test]
fn a_view_is_not_entered_without_the_standings_that_its_turns_name() {
    let mut net = begun(4, 1);
    net.advance_to(1);
    // Member 3 hears no standing but its own.
    for from in 0..3 {
        net.cut.insert((from, 3));
    }
    (0..4).for_each(|at| net.call(at));
    let mut turns: Vec<TurnMessage> = Vec::new();
    for _ in 0..30 {
        while !net.letters.is_empty() {
            let (from, to, message) = net.letters.remove(0);
            if let Message::Turn(turn) = &message
                && turns.iter().all(|known| known.turn.by() != turn.turn.by())
            {
                turns.push(turn.clone());
            }
            if message.kind() != "propose" {
                net.deliver((from, to, message));
            }
        }
        if turns.len() >= 3 {
            break;
        }
        net.tick();
    }
    turns.sort_by_key(|turn| turn.turn.by());
    let turns: Vec<_> = turns.into_iter().map(|turn| turn.turn).filter(|turn| turn.by() != 3).collect();
    net.cut.clear();
    net.letters.clear();
    let turns = Message::Turns(Turns { turns, locked: None });
    let mut eager = net.nodes[3].clone().unwrap();
    flaw::set(Some(Flaw::EntersUninformed));
    eager.handle(net.now, Input::Received { from: 0, message: turns.clone() });
    flaw::set(None);
    assert_eq!(eager.assembly.as_ref().unwrap().view, 1, "without the rule it would be in it");
    net.deliver((0, 3, turns));
    let view = |net: &Net| net.nodes[3].as_ref().unwrap().assembly.as_ref().unwrap().view;
    assert_eq!(view(&net), 0, "it asks first");
    assert!(net.letters.iter().any(|(_, to, m)| *to == 0 && matches!(m, Message::Ask(Ask::Standings(_)))));
    net.flow();
    assert!(net.epoch(3) == 2 || view(&net) >= 1, "and enters when they have come");
}

#[test]
fn a_lone_call_breaks_nothing_however_often_it_comes() {
    let mut net = begun(4, 1);
    let call = seal_standing(&net, 3, place(&net, 0, 0), standing(a_model(1, 1), None, 1));
    for at in 0..3 {
        net.handle(at, Input::Awaiting(Some((at + 1) % 3)));
    }
    for _ in 0..1_000 {
        net.now = net.now.after(RESEND);
        for to in 0..3 {
            net.deliver((3, to, Message::Standing(call.clone())));
        }
    }
    assert_eq!(net.calls[..3], [0, 0, 0]);
    assert!(net.letters.is_empty(), "and costs nothing");
    // But whoever waits for its sum stops, and then all do.
    net.handle(1, Input::Awaiting(Some(3)));
    net.flow();
    assert!(net.calls[..3].iter().all(|&calls| calls >= 1));
}

#[test]
fn numbers_of_one_member_move_nothing() {
    let mut net = begun(4, 1);
    net.advance_to(1);
    let far = 1 << 30;
    let keys = PlainKeys(3);
    let place_of = |epoch: u32, view: u32, net: &Net| Place { epoch, view, ..place(net, 0, 0) };
    for (epoch, view) in [(2, far), (far, 0), (far, far), (u32::MAX, u32::MAX)] {
        let place = place_of(epoch, view, &net);
        let heard = vec![(3, Fingerprint([1; 32]))];
        let turn = seal_turn(&net, 3, place, Turn { lock: None, heard });
        let turn = Message::Turn(TurnMessage { turn, locked: None });
        let voice = Voice::new(Kind::Vote, (place, Fingerprint([1; 32])), 3, (&net.charter, &keys));
        let standing = standing(a_model(far, 66), Some(a_model(ROUNDS, 66)), far);
        let call = Message::Standing(seal_standing(&net, 3, Place { view: 0, ..place }, standing));
        for to in 0..3 {
            for message in [turn.clone(), Message::Vote(voice), Message::Commit(voice), call.clone()] {
                net.deliver((3, to, message));
            }
        }
    }
    assert_eq!(net.calls[..3], [0, 0, 0]);
    (0..3).for_each(|at| net.call(at));
    assert!(net.settle(&[0, 1, 2], 2));
    assert_eq!((net.last(0).next_round, net.last(0).model), (1, a_model(1, 1)));
}

#[test]
fn after_a_flood_nothing_is_kept_and_little_is_written() {
    let mut net = begun(4, 1);
    net.advance_to(1);
    (0..3).for_each(|at| net.call(at));
    let mut written = 0;
    for view in 0..2_000_u32 {
        let place = place(&net, 0, view);
        let heard = vec![(3, Fingerprint([view as u8; 32]))];
        let turn = seal_turn(&net, 3, place, Turn { lock: None, heard });
        let node = net.nodes[0].as_mut().unwrap();
        node.handle(
            net.now,
            Input::Received { from: 3, message: Message::Turn(TurnMessage { turn, locked: None }) },
        );
        while let Some(output) = node.poll_output() {
            written += usize::from(matches!(output, Output::Persist(_)));
        }
        let assembly = node.assembly.as_ref().unwrap();
        assert!(assembly.turns.len() <= 4 && assembly.ahead.len() <= 4);
    }
    assert!(written <= 2, "{written}");
}

#[test]
fn knocks_break_no_round_and_lead_to_a_boundary_that_an_honest_member_named() {
    let mut net = begun(4, 1);
    net.advance_to(1);
    net.kill(3);
    (0..3).for_each(|at| net.call(at));
    assert!(net.settle(&[0, 1, 2], 2));
    net.advance_to(2);
    net.restart(3);
    net.call(3);
    net.flow();
    assert_eq!(net.epoch(3), 2, "it is told what was decided");
    net.call(3);
    for _ in 0..50 {
        net.flow();
        net.tick();
    }
    assert!(!net.knocked[0].is_empty() && net.knocked[0].iter().all(|&member| member == 3));
    assert_eq!(net.calls[..3], [0, 0, 0]);
    // A liar names a boundary at once; nobody stops before an honest member says so too.
    net.handle(2, Input::Stop { before: 0, member: 3 });
    net.flow();
    assert!(net.boundaries[0].is_empty());
    net.handle(0, Input::Stop { before: 9, member: 3 });
    net.flow();
    assert_eq!((&net.boundaries[0][..], &net.boundaries[1][..]), (&[9][..], &[9][..]));
    let heard = net.knocked[0].len();
    net.tick();
    net.flow();
    assert_eq!(net.knocked[0].len(), heard, "who has named a boundary need not hear it again");
    (0..3).for_each(|at| net.call(at));
    assert!(net.settle(&[0, 1, 2, 3], 3));
    assert_eq!(net.seats(1), [0, 1, 2, 3]);
}

#[test]
fn who_shows_a_lock_of_a_view_that_it_has_not_come_to_is_not_blamed() {
    let mut net = begun(7, 2);
    net.advance_to(1);
    (0..2).for_each(|at| net.call(at));
    // Five others have locked a value in view 2; member 0 hears of it in view 0, and turns after a while.
    let value = Arc::new(super::super::Decision { epoch: 2, ..net.last(0).clone() });
    let place = place(&net, 0, 2);
    let vote = |by: PeerIx| {
        Voice::new(Kind::Vote, (place, value.digest()), by, (&net.charter, &PlainKeys(by))).ballot
    };
    let lock = Lock { place, value: value.digest(), votes: (2..7).map(vote).collect() };
    net.deliver((6, 0, Message::Locked(Arc::new(Locked { lock, value }))));
    for by in 2..7 {
        let said = seal_standing(&net, by, Place { view: 0, ..place }, net.reports[by as usize].clone());
        (0..2).for_each(|to| net.deliver((by, to, Message::Standing(said.clone()))));
    }
    net.flow();
    assert_eq!(net.faults[1], []);
    let turns = &net.nodes[1].as_ref().unwrap().assembly.as_ref().unwrap().turns;
    assert_eq!(turns[&0].content().lock.map(|(view, _)| view), Some(2));
}

#[test]
fn a_turn_that_is_signed_in_two_ways_neither_proves_nor_stops_anything() {
    let mut net = begun(4, 1);
    net.advance_to(1);
    net.call_all();
    let mut twins = Vec::new();
    let settled = (0..400).any(|_| {
        while !net.letters.is_empty() {
            let (from, to, message) = net.letters.remove(0);
            if let (3, Message::Turn(TurnMessage { locked: None, .. })) = (from, &message) {
                let mut bytes = message.to_bytes();
                let last_of_signature = bytes.len() - 2;
                bytes[last_of_signature] ^= 1;
                twins.push((from, to, Message::from_bytes(&bytes).unwrap()));
            }
            net.deliver((from, to, message));
            twins.drain(..).for_each(|twin| net.deliver(twin));
        }
        net.tick();
        (0..3).all(|at| net.epoch(at) >= 2)
    });
    assert!(settled);
    assert!(net.faults[..3].iter().all(Vec::is_empty), "{:?}", net.faults);
}

#[test]
fn signatures_under_fewer_votes_do_not_pass_for_a_quorum_of_more() {
    let net = begun(4, 1);
    let decision = Arc::new(super::super::Decision { epoch: 2, ..net.last(0).clone() });
    let electorate = super::super::Electorate { votes: vec![0, 1, 2], hostile: 0 };
    let place = Place { epoch: 2, electorate: electorate.fingerprint(), view: 1 };
    let ballot = |by: PeerIx| {
        Voice::new(Kind::Commit, (place, decision.digest()), by, (&net.charter, &PlainKeys(by))).ballot
    };
    let decided = Decided { decision: decision.clone(), view: 1, commits: (0..3).map(ballot).collect() };
    assert!(decided.is_sound(&electorate, (&net.charter, &PlainKeys(0))));
    assert!(!decided.is_sound(&net.last(0).electorate, (&net.charter, &PlainKeys(0))));
    let none = Decided { commits: vec![Ballot { by: 0, signature: Signature([0; 64]) }; 3], ..decided };
    assert!(!none.is_sound(&electorate, (&net.charter, &PlainKeys(0))));
}

#[test]
fn time_is_only_what_it_is_told() {
    let mut net = Net::new(4);
    net.call(0);
    net.flow();
    assert_eq!(net.nodes[0].as_ref().unwrap().wake_at(), Some(Time(RESEND)));
    assert!(net.decided[0].is_empty());
}

//! Old disks: reserves, and members that cannot be sure of their memory.

use std::sync::Arc;

use super::super::decision::Model;
use super::super::message::Message;
use super::super::reserve::{Recalled, ReserveHeld, block_of, first_block};
use super::super::{Agreement, Fault, Input, Memory, Output, Seen, Witnessed};
use super::{Net, PlainKeys, a_model, begun, standing};
use crate::PeerIx;

#[test]
fn who_cannot_be_sure_of_its_memory_signs_nothing_and_follows() {
    let mut net = begun(4, 1);
    net.advance_to(1);
    net.call_all();
    for _ in 0..20 {
        let letter = net.letters.remove(0);
        net.deliver(letter);
    }
    let before = net.history.iter().filter(|(from, _)| *from == 3).count();
    let old = Memory { certificate: net.memories[3].certificate.clone(), ..Memory::default() };
    net.kill(3);
    let fresh = Agreement::new(net.charter.clone(), Arc::new(PlainKeys(3)), 3);
    net.nodes[3] = Some(fresh.restored(old).mute());
    net.handle(3, Input::Tick);
    net.call(3);
    assert!(net.settle(&[0, 1, 2, 3], 2));
    let signed = net.history.iter().filter(|(from, _)| *from == 3).skip(before);
    let signed = signed.filter(|(_, message)| message.kind() != "ask").count();
    assert_eq!(signed, 0);
    assert!(net.last(0).banned.is_empty());
    // In the next epoch it speaks again.
    net.advance_to(2);
    net.call_all();
    assert!(net.settle(&[0, 1, 2, 3], 3));
    assert!(net.last(0).has_seat(3));
}

#[test]
fn who_forgets_and_speaks_again_is_proved_to_have_said_two_things() {
    let mut net = begun(4, 1);
    net.advance_to(1);
    net.call(3);
    net.flow();
    net.memories[3].standing = None;
    net.kill(3);
    net.restart(3);
    net.reports[3].next_round += 1;
    net.call_all();
    net.flow();
    assert!((0..3).all(|at| net.faults[at].contains(&(3, Fault::Proven))), "{:?}", net.faults);
}

#[test]
fn an_old_disk_and_a_liar_do_not_roll_a_run_back() {
    // Members 0 to 2 hold version 9; 3 lies; 4 comes back without a seat and with version 6, which the liar
    // says it holds too.
    let mut net = begun(5, 1);
    net.advance_to(5);
    net.kill(4);
    (0..4).for_each(|at| net.call(at));
    assert!(net.settle(&[0, 1, 2, 3], 2));
    assert_eq!(net.seats(0), [0, 1, 2, 3]);
    let old = Model { version: 6, ..a_model(6, 66) };
    net.advance_to(8);
    net.advance_to(9);
    net.reports[3] = standing(old, None, 6);
    net.restart(4);
    net.call(4);
    net.flow();
    net.reports[4] = standing(old, None, 6);
    // Only one of those that hold version 9 is heard beside the liar and the old disk: still not theirs.
    net.call(4);
    (0..4).for_each(|at| net.call(at));
    assert!(net.settle(&[0, 1, 2, 4], 3));
    assert_eq!(net.last(4).model, a_model(9, 9));
}

#[test]
fn records_wait_for_a_quorum_and_an_old_disk_learns_what_it_reserved() {
    assert_eq!([block_of(1), block_of(100), block_of(250), block_of(1_000_000)], [1, 1, 3, 64]);
    let mut net = begun(4, 1);
    let now = net.now;
    let node = net.nodes[0].as_mut().unwrap();
    node.handle(now, Input::Reserve(10));
    let said: Vec<Output> = std::iter::from_fn(|| node.poll_output()).collect();
    assert!(matches!(said[0], Output::KeepReserve(_)), "kept before it is said");
    let Output::SendAll(message) = said[1].clone() else { panic!("{said:?}") };
    let mut reserved = Vec::new();
    for holder in 1..4 {
        let other = net.nodes[holder].as_mut().unwrap();
        other.handle(now, Input::Received { from: 0, message: message.clone() });
        let answers: Vec<Output> = std::iter::from_fn(|| other.poll_output()).collect();
        assert!(matches!(answers[0], Output::KeepReserve(_)));
        let Output::Send { to: 0, message: held } = answers[1].clone() else { panic!("{answers:?}") };
        let node = net.nodes[0].as_mut().unwrap();
        node.handle(now, Input::Received { from: holder as PeerIx, message: held });
        reserved.push(node.reserves().reserved());
    }
    // A hundred rounds: the first block and what is on the way are free.
    assert_eq!(reserved, [first_block(100), 10, 10], "three of four");
    // An old disk asks with what it knows, and is told more.
    let mut old = Agreement::new(net.charter.clone(), Arc::new(PlainKeys(0)), 0);
    old.handle(now, Input::Reserve(1));
    while old.poll_output().is_some() {}
    let held = net.nodes[2].as_ref().unwrap().reserves().held().copied().find(|held| held.by == 0);
    let message = Message::ReserveHeld(super::super::ReserveHeld { reserve: held, seen: Default::default() });
    old.handle(now, Input::Received { from: 2, message });
    let kept: Vec<Output> = std::iter::from_fn(|| old.poll_output()).collect();
    assert!(matches!(kept[0], Output::KeepReserve(reserve) if reserve.records == 10), "{kept:?}");
}

#[test]
fn nobody_raises_the_reserve_of_another() {
    let mut net: Net = begun(4, 1);
    let reserve = super::super::Reserve { by: 0, records: 1 << 40, signature: super::Signature([3; 64]) };
    for to in [0, 1] {
        net.deliver((3, to, Message::Reserve(reserve)));
        let held = super::super::ReserveHeld { reserve: Some(reserve), seen: Default::default() };
        net.deliver((3, to, Message::ReserveHeld(held)));
    }
    assert_eq!(net.nodes[1].as_ref().unwrap().reserves().held().count(), 0);
    assert_eq!(net.faults[0], [(3, Fault::Forged), (3, Fault::Forged)]);
}

/// n + f + 1 − q others: two quorums of the others, one that held the reserve and those who answer, have more than f in common.
#[test]
fn among_those_who_answer_is_an_honest_one_that_held_the_reserve() {
    for (members, hostile, expected) in [
        (3, 0, vec![Recalled::Quorum, Recalled::All]),
        (4, 1, vec![Recalled::Few, Recalled::Quorum, Recalled::All]),
        (5, 1, vec![Recalled::Few, Recalled::Few, Recalled::Sure, Recalled::All]),
        (6, 1, vec![Recalled::Few, Recalled::Few, Recalled::Quorum, Recalled::Sure, Recalled::All]),
    ] {
        let net = Net::with(members, hostile);
        let mut old = Agreement::new(net.charter.clone(), Arc::new(PlainKeys(0)), 0);
        old.handle(net.now, Input::Recall);
        let asked = std::iter::from_fn(|| old.poll_output()).find_map(|output| match output {
            Output::SendAll(Message::Reserve(reserve)) => Some(reserve),
            _ => None,
        });
        assert_eq!(asked.map(|reserve| reserve.records), Some(first_block(100)));
        let heard = (1..members as PeerIx).map(|from| {
            let message = Message::ReserveHeld(ReserveHeld { reserve: asked, seen: Default::default() });
            old.handle(net.now, Input::Received { from, message });
            old.recalled()
        });
        assert_eq!(heard.collect::<Vec<_>>(), expected, "{members} members");
    }
}

/// What a member that comes back hears of seven, of whom two may lie.
fn witnessed(said: &[(u32, u32)]) -> Option<Witnessed> {
    let net = Net::with(7, 2);
    let mut old = Agreement::new(net.charter.clone(), Arc::new(PlainKeys(0)), 0);
    old.handle(net.now, Input::Recall);
    let asked = std::iter::from_fn(|| old.poll_output()).find_map(|output| match output {
        Output::SendAll(Message::Reserve(reserve)) => Some(reserve),
        _ => None,
    });
    for (from, &(begun, done)) in (1..).zip(said) {
        let message = Message::ReserveHeld(ReserveHeld { reserve: asked, seen: Seen { begun, done } });
        old.handle(net.now, Input::Received { from, message });
    }
    old.witnessed()
}

#[test]
fn what_was_seen_of_a_member_is_what_one_honest_witness_says_at_most_and_no_less_than_all_do() {
    let honest = [(10, 9), (11, 10), (10, 9), (11, 10)];
    assert_eq!(witnessed(&honest[..2]), None, "both may lie");
    // Fewer than five: the largest, and one more; that a round was done needs three.
    assert_eq!(witnessed(&honest[..3]), Some(Witnessed { done: 9, begun: 12 }));
    let far = (1 << 30, 1 << 30);
    let low = (0, 0);
    for liars in [[far, far], [low, low], [far, low]] {
        let said: Vec<_> = liars.into_iter().chain(honest).collect();
        let found = witnessed(&said).unwrap();
        assert!((9..=10).contains(&found.done), "{found:?}: a round that an honest one finished");
        assert!(
            (11..=12).contains(&found.begun),
            "{found:?}: one more than the least of the honest at least"
        );
    }
}

#[test]
fn a_member_remembers_in_which_rounds_it_was_beside_whom() {
    let mut net = begun(4, 1);
    let seen = |net: &Net, of: PeerIx| net.nodes[0].as_ref().unwrap().seen(of);
    net.handle(0, Input::TookPart(Seen { begun: 7, done: 6 }));
    assert_eq!(seen(&net, 3), Seen { begun: 7, done: 6 });
    net.advance_to(1);
    net.kill(3);
    (0..3).for_each(|at| net.call(at));
    assert!(net.settle(&[0, 1, 2], 2));
    assert!(!net.last(0).has_seat(3));
    net.handle(0, Input::TookPart(Seen { begun: 20, done: 19 }));
    assert_eq!((seen(&net, 3).begun, seen(&net, 2).begun), (7, 20), "it was not beside who has no seat");
    // From the disk, and to who asks.
    let kept = net.nodes[0].as_ref().unwrap().company();
    let mut again = Agreement::new(net.charter.clone(), Arc::new(PlainKeys(0)), 0);
    again.restore_company(kept);
    assert_eq!((again.seen(3), again.seen(1).done), (Seen { begun: 7, done: 6 }, 19));
    let asked = super::super::Reserve { by: 3, records: 5, signature: super::super::Signature([1; 64]) };
    again.handle(net.now, Input::Received { from: 3, message: Message::Reserve(asked) });
    let told = std::iter::from_fn(|| again.poll_output()).find_map(|output| match output {
        Output::Send { to: 3, message: Message::ReserveHeld(held) } => Some(held.seen),
        _ => None,
    });
    assert_eq!(told, Some(Seen { begun: 7, done: 6 }));
}

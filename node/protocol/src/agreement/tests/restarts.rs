//! Members that restart, die and come back.

use std::collections::BTreeMap;

use super::super::Fingerprint;
use super::super::message::Message;
use super::{Net, PlainKeys, ROUNDS, a_model, begun};
use crate::PeerIx;

/// No member of these signed two different votes or commits in a view, or two standings in an epoch.
fn assert_single_minded(net: &Net, members: &[PeerIx]) {
    let mut said: BTreeMap<(PeerIx, &str, u32, u32), Fingerprint> = BTreeMap::new();
    for (from, message) in net.history.iter().filter(|(from, _)| members.contains(from)) {
        let (key, value) = match message {
            Message::Standing(s) if s.by() == *from => ((*from, "standing", s.place().epoch, 0), s.digest()),
            Message::Turn(t) => ((*from, "turn", t.turn.place().epoch, t.turn.place().view), t.turn.digest()),
            Message::Vote(v) => ((*from, "vote", v.place.epoch, v.place.view), v.value),
            Message::Commit(c) => ((*from, "commit", c.place.epoch, c.place.view), c.value),
            _ => continue,
        };
        assert_eq!(*said.entry(key).or_insert(value), value, "{key:?} was said in two ways");
    }
}

#[test]
fn a_restart_between_any_two_events_changes_nothing_that_was_said() {
    for victim in 0..4 {
        for moment in 0..60 {
            let mut net = begun(4, 1);
            net.advance_to(1);
            net.call_all();
            for _ in 0..moment {
                if net.letters.is_empty() {
                    net.tick();
                } else {
                    let letter = net.letters.remove(0);
                    net.deliver(letter);
                }
            }
            net.kill(victim);
            net.restart(victim);
            let all = [0, 1, 2, 3];
            assert!(net.settle(&all, 2), "{victim} {moment}");
            assert_single_minded(&net, &all);
            assert_eq!(net.last(0).digest(), net.last(victim).digest());
            assert!(net.last(0).has_seat(victim) && net.last(0).banned.is_empty(), "{victim} {moment}");
        }
    }
}

#[test]
fn all_restart_at_any_moment_and_go_on() {
    for moment in 0..60 {
        let mut net = begun(4, 1);
        net.advance_to(1);
        net.call_all();
        for _ in 0..moment {
            if net.letters.is_empty() {
                net.tick();
            } else {
                let letter = net.letters.remove(0);
                net.deliver(letter);
            }
        }
        let before: Vec<u32> = (0..4).map(|at| net.epoch(at)).collect();
        (0..4).for_each(|at| net.kill(at));
        assert!(net.letters.is_empty());
        (0..4).for_each(|at| net.restart(at));
        assert!((0..4).all(|at| net.epoch(at) == before[at as usize]), "a decision survives");
        (0..4).filter(|&at| before[at as usize] < 2).for_each(|at| net.call(at));
        assert!(net.settle(&[0, 1, 2, 3], 2), "{moment}");
        assert_single_minded(&net, &[0, 1, 2, 3]);
    }
}

#[test]
fn five_of_sixteen_die_and_the_others_go_on_then_one_more_and_they_wait() {
    let mut net = begun(16, 5);
    net.advance_to(1);
    (11..16).for_each(|at| net.kill(at));
    (0..11).for_each(|at| net.call(at));
    let alive: Vec<PeerIx> = (0..11).collect();
    assert!(net.settle(&alive, 2));
    assert_eq!(net.seats(0), alive);
    assert_eq!(
        net.last(0).electorate.votes.len(),
        16,
        "five hostile of the eleven could be a majority of nine"
    );
    net.advance_to(2);
    net.kill(10);
    (0..10).for_each(|at| net.call(at));
    assert!(!net.settle(&alive[..10], 3), "ten are no quorum of sixteen");
    assert_eq!(net.missing[0], (10..16).collect::<Vec<_>>());
    // One comes back, of those that died first: enough.
    net.restart(12);
    net.call(12);
    let mut now = alive[..10].to_vec();
    assert!(net.settle(&now, 3));
    now.push(12);
    assert_eq!(net.seats(0), now);
}

#[test]
fn without_hostile_members_a_majority_goes_on_and_again() {
    let mut net = begun(5, 0);
    for (epoch, alive) in [(2, vec![0, 1, 2]), (3, vec![0, 1])] {
        net.advance_to(epoch - 1);
        (0..5).filter(|at| !alive.contains(at)).for_each(|at| net.kill(at));
        alive.iter().for_each(|&at| net.call(at));
        assert!(net.settle(&alive, epoch));
        assert_eq!(net.last(0).electorate.votes, alive);
    }
    net.advance_to(3);
    net.kill(1);
    net.call(0);
    assert!(!net.settle(&[0], 4), "one of two is no majority");
}

#[test]
fn the_end_is_decided_with_one_away_who_takes_it_from_anybody() {
    let mut net = begun(4, 1);
    net.advance_to(ROUNDS);
    net.kill(2);
    [0, 1, 3].into_iter().for_each(|at| net.call(at));
    assert!(net.settle(&[0, 1, 3], 2));
    assert!(net.nodes[0].as_ref().unwrap().is_over());
    assert_eq!(net.last(0).model, a_model(ROUNDS, ROUNDS as u8));
    net.restart(2);
    net.call(2);
    net.flow();
    assert_eq!(net.last(2).model, a_model(ROUNDS, ROUNDS as u8));
    assert!(!net.nodes[1].as_ref().unwrap().is_assembling(), "who is done is not called again");
}

#[test]
fn who_missed_many_decisions_takes_the_last_with_its_chain() {
    let mut net = begun(5, 1);
    net.kill(4);
    for epoch in 2..=6 {
        net.advance_to(epoch);
        // The votes change again and again: without member 3, with it.
        let alive: Vec<PeerIx> = if epoch % 2 == 0 { vec![0, 1, 2, 3] } else { vec![0, 1, 2] };
        if epoch % 2 == 1 {
            net.kill(3);
        } else if net.nodes[3].is_none() {
            net.restart(3);
            net.call(3);
            net.flow();
        }
        alive.iter().for_each(|&at| net.call(at));
        assert!(net.settle(&alive, epoch), "{epoch}");
    }
    net.restart(4);
    net.call(4);
    net.flow();
    assert_eq!(net.last(4), net.last(0));
    let certificate = net.nodes[4].as_ref().unwrap().certificate();
    assert!(certificate.chain.len() <= 3, "what goes in a circle is left out: {}", certificate.chain.len());
    certificate.verify((&net.charter, &PlainKeys(0))).unwrap();
}

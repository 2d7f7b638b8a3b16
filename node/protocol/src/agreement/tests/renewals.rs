//! Renewals: what a renewed run goes on from, and what it cannot be made to forget.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::decision::Certificate;
use super::super::{Agreement, Charter, Fingerprint, Renewal, RenewalError, Terms};
use super::{Net, PlainKeys, RESEND, ROUNDS, SILENCE, a_model, begun, standing};
use crate::PeerIx;

/// Without these, with so many who join.
fn change(gone: &[PeerIx], joined: u8, hostile: u32) -> Renewal {
    Renewal {
        gone: gone.iter().copied().collect(),
        joined: (0..joined).map(|one| [one + 100; 32]).collect(),
        hostile,
        rounds: ROUNDS,
        next_round: 0,
        digest: Fingerprint([3; 32]),
    }
}

/// What the members of a swarm agree on when they renew it by what member 0 knows.
fn renewed(net: &Net, renewal: &Renewal) -> Result<Terms, RenewalError> {
    let certificate = net.nodes[0].as_ref().expect("it is here").certificate().clone();
    Terms::renewed((&net.charter, &PlainKeys(99)), &certificate, renewal)
}

/// The renewed swarm, before its first assembly: nobody whose place is empty is there.
fn next(before: &Net, terms: Terms) -> Net {
    let charter = Arc::new(Charter::new(terms, SILENCE, RESEND).expect("terms that can be kept"));
    let places = charter.members();
    let votes = charter.genesis().electorate.clone();
    let node =
        |me: PeerIx| votes.has(me).then(|| Agreement::new(charter.clone(), Arc::new(PlainKeys(me)), me));
    let mut net = Net::with(places, 0);
    net.nodes = charter.everybody().map(node).collect();
    net.reports[..before.reports.len()].clone_from_slice(&before.reports);
    net.charter = charter;
    net
}

/// Everybody in the swarm without 3 holds the model of round 40; the last decision was on that of round 20.
fn at_forty() -> Net {
    let mut net = begun(4, 1);
    net.advance_to(20);
    net.call_all();
    assert!(net.settle(&[0, 1, 2, 3], 2));
    net.advance_to(40);
    net.kill(3);
    net
}

#[test]
fn a_dead_member_goes_another_joins_and_the_newest_model_that_was_held_counts() {
    let before = at_forty();
    let mut net = next(&before, renewed(&before, &change(&[3], 1, 1)).unwrap());
    let genesis = net.charter.genesis();
    assert_eq!((genesis.epoch, genesis.model), (2, a_model(20, 20)), "what was decided last");
    net.call_all();
    assert!(net.settle(&[0, 1, 2, 4], 3));
    for at in [0, 1, 2, 4] {
        assert_eq!((net.seats(at), net.last(at).model), (vec![0, 1, 2, 4], a_model(40, 40)), "{at}");
        assert_eq!((net.last(at).next_round, &net.last(at).electorate.votes), (40, &vec![0, 1, 2, 4]));
    }
    let certificate = net.nodes[4].as_ref().unwrap().certificate().clone();
    assert!(certificate.verify((&net.charter, &PlainKeys(99))).is_ok());
    assert!(
        certificate.verify((&before.charter, &PlainKeys(99))).is_err(),
        "the run before decided nothing of it"
    );
}

/// Those who join hold whatever they say: they cannot roll the run back, however many they are.
#[test]
fn who_joins_does_not_say_which_model_counts() {
    let before = at_forty();
    let mut net = next(&before, renewed(&before, &change(&[3], 4, 2)).unwrap());
    for report in &mut net.reports[4..] {
        *report = standing(a_model(60, 66), None, 60);
    }
    net.call_all();
    assert!(net.settle(&[0, 1, 2], 3));
    assert_eq!(net.last(0).model, a_model(40, 40));
}

#[test]
fn no_round_before_the_one_that_the_file_names_is_begun() {
    let before = at_forty();
    let mut net = next(&before, renewed(&before, &Renewal { next_round: 57, ..change(&[3], 0, 0) }).unwrap());
    net.call_all();
    assert!(net.settle(&[0, 1, 2], 3));
    assert_eq!(net.last(1).next_round, 57);
}

#[test]
fn what_cannot_be_renewed_is_refused_with_its_reason() {
    let net = at_forty();
    let refused = |renewal: &Renewal| renewed(&net, renewal).unwrap_err();
    assert_eq!(refused(&change(&[7], 0, 0)), RenewalError::Absent { member: 7 });
    assert_eq!(refused(&change(&[1, 2, 3], 0, 0)), RenewalError::Few { members: 1 });
    assert_eq!(refused(&change(&[3], 0, 1)), RenewalError::TooManyHostile { hostile: 1, members: 3 });
    // f + 1 of those who held the model: with one of them and one hostile nobody could tell.
    let strangers = RenewalError::Strangers { stay: 1, hostile: 1, needed: 2 };
    assert_eq!(refused(&change(&[1, 2, 3], 3, 1)), strangers);
    let past = refused(&Renewal { rounds: 41, next_round: 40, ..change(&[3], 0, 0) });
    assert_eq!(past, RenewalError::Past { rounds: 41, next: 40 });
    assert!(renewed(&net, &Renewal { rounds: 42, next_round: 40, ..change(&[3], 0, 0) }).is_ok());
}

/// Nobody is hostile enough to be in a certificate and not in its proofs: a decision that too few signed opens no renewed run.
#[test]
fn a_decision_that_too_few_signed_is_nothing_to_go_on_from() {
    let net = at_forty();
    let mut certificate = net.nodes[0].as_ref().unwrap().certificate().clone();
    let mut last = (**certificate.chain.last().unwrap()).clone();
    last.commits.truncate(2);
    certificate.chain = vec![Arc::new(last)];
    let found = Terms::renewed((&net.charter, &PlainKeys(99)), &certificate, &change(&[3], 0, 0));
    assert!(matches!(found, Err(RenewalError::Certificate(_))), "{found:?}");
}

#[test]
fn nothing_is_renewed_once_the_run_is_over_and_no_proved_liar_stays() {
    let mut net = begun(4, 1);
    net.advance_to(ROUNDS);
    net.call_all();
    assert!(net.settle(&[0, 1, 2, 3], 2));
    let over = renewed(&net, &change(&[3], 0, 0)).unwrap_err();
    assert_eq!(over, RenewalError::Over { version: ROUNDS, rounds: ROUNDS });
    // Banned by what a decision says.
    let net = at_forty();
    let terms = renewed(&net, &change(&[], 0, 1)).unwrap();
    let mut continued = terms.continued.clone().unwrap();
    Arc::make_mut(&mut continued.start).banned = vec![2];
    let charter = Charter::new(Terms { continued: Some(continued), ..terms }, SILENCE, RESEND).unwrap();
    let again = |gone: &[PeerIx]| {
        Terms::renewed((&charter, &PlainKeys(99)), &Certificate::default(), &change(gone, 0, 0))
    };
    assert_eq!(again(&[3]).unwrap_err(), RenewalError::Banned { member: 2 });
    assert!(again(&[2]).is_ok());
}

/// Two renewals, one after the other: the second starts from what the first decided, places stay, and the name of the founding with them.
#[test]
fn renewals_follow_each_other() {
    let before = at_forty();
    let mut net = next(&before, renewed(&before, &change(&[3], 1, 1)).unwrap());
    net.call_all();
    assert!(net.settle(&[0, 1, 2, 4], 3));
    net.advance_to(50);
    let second = Renewal { joined: vec![[200; 32]], ..change(&[1], 0, 1) };
    let mut last = next(&net, renewed(&net, &second).unwrap());
    assert_eq!(last.charter.origin(), before.charter.run());
    assert_ne!(last.charter.run(), net.charter.run());
    last.call_all();
    assert!(last.settle(&[0, 2, 4, 5], 4));
    assert_eq!((last.seats(5), last.last(5).model), (vec![0, 2, 4, 5], a_model(50, 50)));
    let gone: BTreeSet<PeerIx> = [1, 3].into();
    assert!(last.charter.terms().votes().iter().all(|member| !gone.contains(member)));
    assert_eq!(renewed(&last, &change(&[3], 0, 0)).unwrap_err(), RenewalError::Absent { member: 3 });
}

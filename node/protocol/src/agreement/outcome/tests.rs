use std::sync::Arc;

use super::super::Fingerprint;
use super::super::records::{RoundRecord, Trouble, TroubleKind};
use super::super::statements::TokenCopy;
use super::super::tests::{PlainKeys, a_model, charter_with, standing};
use super::*;

fn decision(members: PeerIx, hostile: u32, version: u32) -> (Arc<Charter>, Decision) {
    let charter = charter_with(members as usize, hostile);
    let seats = (0..members).map(|member| Seat { member, key: [0; 32] }).collect();
    let model = a_model(version, version as u8);
    let decision = Decision { epoch: 1, seats, model, next_round: version, ..(*charter.genesis()).clone() };
    (charter, decision)
}

fn holds(version: u32) -> Standing {
    standing(a_model(version, version as u8), version.checked_sub(1).map(|v| a_model(v, v as u8)), version)
}

fn next(charter: &Charter, before: &Decision, standings: &[(PeerIx, Standing)]) -> Option<Decision> {
    let named = standings.iter().map(|(member, standing)| (*member, standing)).collect();
    outcome(before, &named, &BTreeSet::new(), (charter, &PlainKeys(0)))
}

fn accuses(whom: &[PeerIx]) -> Standing {
    let record = |(round, &with): (usize, &PeerIx)| RoundRecord {
        round: 5 + round as u32,
        steps: Vec::new(),
        total: None,
        trouble: Some(Trouble { kind: TroubleKind::Malformed, with, step: 0 }),
        opened: None,
        shown: None,
        unproved: Vec::new(),
    };
    Standing { rounds: whom.iter().enumerate().map(record).collect(), ..holds(5) }
}

fn seats(decision: &Decision) -> Vec<PeerIx> {
    decision.seats.iter().map(|seat| seat.member).collect()
}

#[test]
fn the_newest_model_that_more_than_two_thirds_hold_is_taken() {
    let (charter, before) = decision(4, 1, 5);
    let some_ahead = [(0, holds(7)), (1, holds(7)), (2, holds(6)), (3, holds(6))];
    assert_eq!(next(&charter, &before, &some_ahead).unwrap().model.version, 6, "all hold it");
    let most_ahead = [(0, holds(7)), (1, holds(7)), (2, holds(7)), (3, holds(6))];
    assert_eq!(next(&charter, &before, &most_ahead).unwrap().model.version, 7);
}

#[test]
fn a_model_that_one_claims_is_not_taken_whatever_its_version() {
    let (charter, before) = decision(4, 1, 5);
    let liar = standing(a_model(100, 66), Some(a_model(6, 66)), 1 << 30);
    let found = next(&charter, &before, &[(0, holds(6)), (1, holds(6)), (2, holds(6)), (3, liar)]).unwrap();
    assert_eq!((found.model, found.next_round), (a_model(6, 6), 6));
}

#[test]
fn a_seat_that_liars_cut_off_does_not_set_the_model() {
    // Seven, two hostile: 4 was led to a version 7 of their own, which they claim to hold; 0 to 3 are at 6.
    let (charter, before) = decision(7, 2, 5);
    let led = standing(a_model(7, 66), Some(a_model(6, 6)), 7);
    let mut standings: Vec<(PeerIx, Standing)> = (0..4).map(|member| (member, holds(6))).collect();
    standings.extend((4..7).map(|member| (member, led.clone())));
    assert_eq!(next(&charter, &before, &standings).unwrap().model, a_model(6, 6));
    // Rivals of one version with as many holders: neither, but the one before, which all hold.
    let rival = |which| standing(a_model(7, which), Some(a_model(6, 6)), 7);
    let (charter, before) = decision(6, 1, 5);
    let split: Vec<(PeerIx, Standing)> = (0..6).map(|m| (m, rival(60 + (m % 2) as u8))).collect();
    assert_eq!(next(&charter, &before, &split).unwrap().model, a_model(6, 6));
}

/// One seat is heard that holds the newest model, beside a liar; and somebody without a seat whose disk is old.
#[test]
fn who_has_no_seat_holds_nothing_and_would_roll_a_run_back_if_it_did() {
    let (charter, mut before) = decision(4, 1, 5);
    before.seats.retain(|seat| seat.member != 3);
    let told = [(1, holds(9)), (2, holds(6)), (3, holds(6))];
    assert_eq!(next(&charter, &before, &told), None, "it waits for others");
    flaw::set(Some(Flaw::HoldersWithoutSeat));
    let rolled_back = next(&charter, &before, &told);
    flaw::set(None);
    assert_eq!(rolled_back.map(|decision| decision.model.version), Some(6));
}

#[test]
fn without_a_model_that_enough_seats_hold_nothing_is_decided() {
    let (charter, mut before) = decision(4, 1, 5);
    before.seats.truncate(3);
    // An old disk without a seat and a liar hold the same.
    let old = standing(a_model(6, 66), None, 6);
    let standings = [(0, holds(4)), (2, old.clone()), (3, old)];
    assert_eq!(next(&charter, &before, &standings), None);
    flaw::set(Some(Flaw::HoldersWithoutSeat));
    let rolled_back = next(&charter, &before, &standings);
    flaw::set(None);
    assert_eq!(rolled_back.map(|decision| decision.model), Some(a_model(6, 66)), "the rule is needed");
}

#[test]
fn a_false_accuser_loses_its_seat_and_nobody_else_does() {
    let (charter, before) = decision(4, 1, 5);
    let standings = [(0, holds(5)), (1, holds(5)), (2, holds(5)), (3, accuses(&[0, 1]))];
    let found = next(&charter, &before, &standings).unwrap();
    assert_eq!(seats(&found), [0, 1, 2]);
    assert!(found.banned.is_empty(), "bans need proof");
    assert_eq!(found.electorate.votes, [0, 1, 2, 3], "three seats cannot bear a hostile one: votes stay");
    assert!(found.signs(5 + 1023) && !found.signs(5 + 1024), "sums are signed for a while");
    // One accusation proves nothing about who lies.
    let standings = [(0, holds(5)), (1, holds(5)), (2, holds(5)), (3, accuses(&[0]))];
    let found = next(&charter, &before, &standings).unwrap();
    assert_eq!(seats(&found), [0, 1, 2, 3]);
    assert_eq!(found.apart_in(1_000_000).collect::<Vec<_>>(), [(0, 3)]);
}

#[test]
fn where_nobody_is_hostile_one_accuser_is_enough_unless_it_is_accused_back() {
    let (charter, before) = decision(3, 0, 5);
    let found = next(&charter, &before, &[(0, accuses(&[2])), (1, holds(5)), (2, holds(5))]).unwrap();
    assert_eq!(seats(&found), [0, 1]);
    let found = next(&charter, &before, &[(0, accuses(&[2])), (1, holds(5)), (2, accuses(&[0]))]).unwrap();
    assert_eq!(seats(&found), [0, 1, 2]);
    let found = next(&charter, &before, &[(0, holds(5)), (1, holds(5)), (2, accuses(&[0, 1]))]).unwrap();
    assert_eq!(seats(&found), [0, 1], "who accuses everybody is apart from everybody");
}

#[test]
fn a_silent_pair_is_apart_for_a_while_and_longer_each_time() {
    let (charter, mut before) = decision(4, 1, 5);
    let waits = |with: PeerIx, round: u32| Standing {
        rounds: vec![RoundRecord {
            round,
            steps: Vec::new(),
            total: None,
            trouble: Some(Trouble { kind: TroubleKind::Silent, with, step: 0 }),
            opened: None,
            shown: None,
            unproved: Vec::new(),
        }],
        next_round: round,
        ..holds(5)
    };
    let mut spans = Vec::new();
    for round in [6, 80, 210] {
        let others = |member: PeerIx| (member, Standing { next_round: round, ..holds(5) });
        let standings = [(0, waits(3, round)), others(1), others(2), others(3)];
        before = next(&charter, &before, &standings).unwrap();
        spans.push((before.apart[0].until - before.next_round, before.apart.len(), before.seats.len()));
    }
    assert_eq!(spans, [(64, 1, 4), (128, 1, 4), (256, 1, 4)]);
    assert_eq!(before.signed.until, 0, "silence is no reason to sign");
}

#[test]
fn who_is_apart_from_more_than_half_has_no_seat_for_a_while() {
    let (charter, before) = decision(5, 1, 5);
    let waits = |member: PeerIx| {
        let trouble = Some(Trouble { kind: TroubleKind::Silent, with: 4, step: 0 });
        let record = RoundRecord {
            round: 5,
            steps: Vec::new(),
            total: None,
            trouble,
            opened: None,
            shown: None,
            unproved: Vec::new(),
        };
        (member, Standing { rounds: vec![record], ..holds(5) })
    };
    let standings = [waits(0), waits(1), waits(2), (3, holds(5)), (4, holds(5))];
    let found = next(&charter, &before, &standings).unwrap();
    assert_eq!((found.apart.len(), found.seats.len()), (1, 5), "three waited for it: that is one pair");
    // It was silent towards one after the other.
    let mut found = found;
    for waiting in [1, 2] {
        let mut standings: Vec<(PeerIx, Standing)> = (0..5).map(|member| (member, holds(5))).collect();
        standings[waiting] = waits(waiting as PeerIx);
        found = next(&charter, &found, &standings).unwrap();
    }
    assert_eq!(seats(&found), [0, 1, 2, 3]);
    let later = Standing { next_round: 80, ..holds(5) };
    let standings: Vec<(PeerIx, Standing)> = (0..5).map(|member| (member, later.clone())).collect();
    assert_eq!(seats(&next(&charter, &found, &standings).unwrap()), [0, 1, 2, 3, 4]);
}

/// Four machines that start again one after the other: each is apart from two, and all speak.
#[test]
fn silence_never_leaves_too_few_seats() {
    let (charter, before) = decision(4, 1, 5);
    let waits = |with: PeerIx| {
        let trouble = Some(Trouble { kind: TroubleKind::Silent, with, step: 0 });
        Standing {
            rounds: vec![RoundRecord {
                round: 5,
                steps: Vec::new(),
                total: None,
                trouble,
                opened: None,
                shown: None,
                unproved: Vec::new(),
            }],
            ..holds(5)
        }
    };
    let first = [(0, waits(3)), (1, waits(2)), (2, holds(5)), (3, holds(5))];
    let found = next(&charter, &before, &first).unwrap();
    assert_eq!((found.apart.len(), found.seats.len()), (2, 4));
    let again = [(0, waits(2)), (1, waits(3)), (2, holds(5)), (3, holds(5))];
    let found = next(&charter, &found, &again).unwrap();
    assert_eq!((found.apart.len(), found.seats.len()), (0, 4), "links that failed are tried again");
    // A contradiction is no silence: it stays.
    let lies = [(0, accuses(&[3])), (1, waits(2)), (2, holds(5)), (3, holds(5))];
    let found = next(&charter, &before, &lies).unwrap();
    let again = [(0, waits(2)), (1, waits(3)), (2, holds(5)), (3, holds(5))];
    let found = next(&charter, &found, &again).unwrap();
    assert_eq!(found.apart_in(1_000_000).collect::<Vec<_>>(), [(0, 3)]);
    assert_eq!(found.seats.len(), 4);
}

#[test]
fn proofs_take_votes_and_lower_what_must_be_borne() {
    let (charter, before) = decision(7, 2, 5);
    let standings: Vec<Standing> = (0..7).map(|_| holds(6)).collect();
    let named: Standings<'_> = (0..).zip(&standings).collect();
    let found = outcome(&before, &named, &BTreeSet::from([6]), (&charter, &PlainKeys(0))).unwrap();
    assert_eq!((found.banned.as_slice(), found.electorate.hostile), (&[6][..], 1));
    assert_eq!((found.electorate.votes.len(), found.electorate.quorum()), (6, 4));
    assert!(!found.has_seat(6));
}

#[test]
fn votes_stay_where_the_seats_could_not_bear_the_hostile() {
    let (charter, before) = decision(8, 2, 5);
    let of = |members: PeerIx| -> Vec<(PeerIx, Standing)> { (0..members).map(|m| (m, holds(6))).collect() };
    assert_eq!(next(&charter, &before, &of(7)).unwrap().electorate.votes.len(), 7);
    let six = next(&charter, &before, &of(6)).unwrap();
    assert_eq!((six.seats.len(), six.electorate.votes.len()), (6, 8));
}

#[test]
fn who_leaves_has_no_seat_and_its_vote_goes_where_the_others_suffice() {
    let (charter, before) = decision(5, 1, 5);
    let mut standings: Vec<(PeerIx, Standing)> = (0..5).map(|member| (member, holds(6))).collect();
    standings[4].1.leaving = true;
    let found = next(&charter, &before, &standings).unwrap();
    assert_eq!(found.electorate.votes, [0, 1, 2, 3]);
}

#[test]
fn a_token_starts_again_where_an_honest_member_has_seen_it() {
    let (charter, before) = decision(4, 1, 0);
    let copy = |hop: u32, generation: u32| {
        let copy = TokenCopy { token: 0, generation, hop, digest: Fingerprint([hop as u8; 32]) };
        Standing { tokens: vec![copy], ..holds(0) }
    };
    let standings = [(0, copy(7, 1)), (1, copy(9, 1)), (2, copy(8, 1)), (3, copy(1 << 30, 5))];
    let start = next(&charter, &before, &standings).unwrap().tokens[0];
    assert_eq!((start.hop, start.generation, start.holder), (9, 2, 1));
    assert_eq!(start.digest, Fingerprint([9; 32]));
    // What was opened before is not opened again, though the second largest copy is older than that.
    let renewed = Decision { tokens: vec![start], ..before };
    let standings = [(0, copy(12, 2)), (1, copy(9, 1)), (2, copy(8, 1)), (3, copy(0, 0))];
    let start = next(&charter, &renewed, &standings).unwrap().tokens[0];
    assert_eq!((start.hop, start.generation, start.holder), (9, 3, 1));
}

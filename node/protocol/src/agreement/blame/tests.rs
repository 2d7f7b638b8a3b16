use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::records::Heard;
use super::super::tests::{PlainKeys, a_model, charter_with, standing};
use super::super::{Bounds, Decision, Keys, Outline, Seat, SignedSums};
use super::*;

/// The digest of a sum with this number.
fn sum(number: u8) -> Fingerprint {
    Fingerprint([number; 32])
}

fn decision(members: PeerIx, hostile: u32) -> (Arc<Charter>, Decision) {
    let charter = charter_with(members as usize, hostile);
    let seats = (0..members).map(|member| Seat { member, key: [0; 32] }).collect();
    let decision = Decision { epoch: 1, seats, ..(*charter.genesis()).clone() };
    (charter, decision)
}

fn with(member_says: RoundRecord) -> Standing {
    Standing { rounds: vec![member_says], ..standing(a_model(0, 0), None, 1) }
}

fn step(step: u32, partner: PeerIx, sent: u8, heard: u8) -> StepRecord {
    let heard = (heard > 0).then(|| Heard { digest: sum(heard), signature: None });
    StepRecord { step, partner, sent: (sent > 0).then(|| sum(sent)), heard }
}

fn trouble(kind: TroubleKind, with: PeerIx, step: u32) -> Option<Trouble> {
    Some(Trouble { kind, with, step })
}

fn find(records: Vec<RoundRecord>, hostile: u32, signed: bool) -> Blame {
    let (charter, mut before) = decision(records.len() as PeerIx, hostile);
    if signed {
        before.signed = SignedSums { until: 9, span: 9 };
    }
    let standings: Vec<Standing> = records.into_iter().map(with).collect();
    let named: BTreeMap<PeerIx, &Standing> = (0..).zip(&standings).collect();
    blame(&named, &before, (&charter, &PlainKeys(0)))
}

/// Four members, two steps of doubling: 0–1 and 2–3, then 0–2 and 1–3. Inputs 1 to 4, halves 12 and 34, total
/// 99.
fn honest() -> Vec<RoundRecord> {
    let record = |steps| RoundRecord {
        round: 0,
        steps,
        total: Some(sum(99)),
        trouble: None,
        opened: None,
        shown: None,
        unproved: Vec::new(),
    };
    vec![
        record(vec![step(0, 1, 1, 2), step(1, 2, 12, 34)]),
        record(vec![step(0, 0, 2, 1), step(1, 3, 12, 34)]),
        record(vec![step(0, 3, 3, 4), step(1, 0, 34, 12)]),
        record(vec![step(0, 2, 4, 3), step(1, 1, 34, 12)]),
    ]
}

#[test]
fn nobody_is_blamed_for_an_honest_round() {
    assert_eq!(find(honest(), 1, false), Blame::default());
}

/// Four members by halving: on the way in (steps 0 to 3) each message has a number of its own, on the way back (4, 5) partners exchange quarters of the
/// total, then halves. Parts on the way in are all different.
fn honest_by_halving() -> Vec<RoundRecord> {
    let record = |steps| RoundRecord {
        round: 0,
        steps,
        total: Some(sum(99)),
        trouble: None,
        opened: None,
        shown: None,
        unproved: Vec::new(),
    };
    // Who keeps the lower half speaks first: its number is the even one.
    let lower = |at, partner, sent, heard| [step(at, partner, sent, 0), step(at + 1, partner, 0, heard)];
    let upper = |at, partner, sent, heard| [step(at, partner, 0, heard), step(at + 1, partner, sent, 0)];
    let way_in = |one: [StepRecord; 2], two: [StepRecord; 2], back: [StepRecord; 2]| {
        record(one.into_iter().chain(two).chain(back).collect())
    };
    vec![
        way_in(lower(0, 1, 10, 20), lower(2, 2, 11, 21), [step(4, 2, 1, 3), step(5, 1, 13, 24)]),
        way_in(upper(0, 0, 20, 10), lower(2, 3, 31, 41), [step(4, 3, 2, 4), step(5, 0, 24, 13)]),
        way_in(lower(0, 3, 50, 60), upper(2, 0, 21, 11), [step(4, 0, 3, 1), step(5, 3, 13, 24)]),
        way_in(upper(0, 2, 60, 50), upper(2, 1, 41, 31), [step(4, 1, 4, 2), step(5, 2, 24, 13)]),
    ]
}

#[test]
fn nobody_is_blamed_for_an_honest_halving_and_who_changes_words_on_its_way_back_is_apart() {
    let honest = honest_by_halving();
    assert!(honest.iter().all(RoundRecord::is_sound));
    assert_eq!(find(honest.clone(), 1, false), Blame::default());
    // 3 hands on another half than it and 1 made of the same two quarters, and says so.
    let mut records = honest.clone();
    records[3].steps[5].sent = Some(sum(77));
    records[2].steps[5].heard = step(5, 3, 0, 77).heard;
    assert_eq!(find(records, 1, false).contradictions, BTreeSet::from([(1, 3)]));
    // On the way in: 0 says that it sent other words than 1 heard.
    let mut records = honest;
    records[0].steps[0].sent = Some(sum(77));
    assert_eq!(find(records, 1, false).contradictions, BTreeSet::from([(0, 1)]));
}

#[test]
fn one_that_says_it_sent_something_else_is_apart_from_its_partner_only() {
    let mut records = honest();
    records[3].steps[1].sent = Some(sum(50));
    let found = find(records, 1, false);
    // 3 also states another result of the same two sums than 2.
    assert_eq!(found.contradictions, BTreeSet::from([(1, 3), (2, 3)]));
    assert!(found.liars.is_empty() && found.silences.is_empty());
}

#[test]
fn where_sums_are_signed_the_signature_says_who_lies() {
    // 1 heard 34 from 3, which says that it sent 50.
    let mut records = honest();
    records[3].steps[1].sent = Some(sum(50));
    records[3].steps[0] = step(0, 2, 4, 0);
    assert_eq!(
        find(records.clone(), 1, true).liars,
        BTreeSet::from([1]),
        "without the signature it is the hearer"
    );
    let (charter, before) = decision(4, 1);
    let place = Place { epoch: 1, electorate: before.electorate.fingerprint(), view: 0 };
    let bytes = sum_statement(place, 1, 1, sum(34)).bytes(&charter);
    let heard = records[1].steps[1].heard.as_mut().unwrap();
    heard.signature = Some(PlainKeys(3).sign(&bytes));
    assert_eq!(find(records, 1, true).liars, BTreeSet::from([3]));
}

#[test]
fn colluding_blockmates_are_apart_from_all_honest_members_of_their_block() {
    // 2 and 3 made 77 of the same two sums, and say so to 0 and 1: all heard what was sent.
    let record = |steps, total| RoundRecord {
        round: 0,
        steps,
        total: Some(sum(total)),
        trouble: None,
        opened: None,
        shown: None,
        unproved: Vec::new(),
    };
    let records = vec![
        record(vec![step(0, 1, 1, 2), step(1, 2, 12, 34)], 99),
        record(vec![step(0, 0, 2, 1), step(1, 3, 12, 34)], 99),
        record(vec![step(0, 3, 3, 4), step(1, 0, 34, 12)], 77),
        record(vec![step(0, 2, 4, 3), step(1, 1, 34, 12)], 77),
    ];
    let found = find(records, 1, false);
    assert_eq!(found.contradictions, BTreeSet::from([(0, 2), (0, 3), (1, 2), (1, 3)]));
}

#[test]
fn silence_is_followed_to_the_last_pair() {
    // 1 never heard 0 in step 0; so 3 waits for 1 in step 1, and 2 for 0, which came through.
    let mut records = honest();
    records[1] = RoundRecord {
        round: 0,
        steps: vec![step(0, 0, 2, 0)],
        total: None,
        trouble: trouble(TroubleKind::Silent, 0, 0),
        opened: None,
        shown: None,
        unproved: Vec::new(),
    };
    records[3].steps[1] = step(1, 1, 34, 0);
    (records[3].total, records[3].trouble) = (None, trouble(TroubleKind::Silent, 1, 1));
    let found = find(records, 1, false);
    assert_eq!(found.silences, BTreeSet::from([(0, 1)]), "3 waited for 1, which waited itself");
    assert!(found.contradictions.is_empty());
}

#[test]
fn a_circle_of_waiting_ends_where_steps_do_not_fall() {
    let waits = |with, step| RoundRecord {
        round: 0,
        steps: Vec::new(),
        total: None,
        trouble: trouble(TroubleKind::Silent, with, step),
        opened: None,
        shown: None,
        unproved: Vec::new(),
    };
    let found = find(vec![waits(1, 3), waits(2, 2), waits(0, 1), waits(3, 0)], 1, false);
    assert_eq!(
        found.silences,
        BTreeSet::from([(0, 2)]),
        "the liar 2 says that it waits for 0, which is far ahead"
    );
}

#[test]
fn an_accusation_is_a_pair_and_others_are_not_in_it() {
    let mut records = honest();
    records[0].trouble = trouble(TroubleKind::Malformed, 2, 1);
    let found = find(records, 1, false);
    assert_eq!(found.contradictions, BTreeSet::from([(0, 2)]));
    assert_eq!(found.accusations, BTreeSet::from([(0, 2)]));
}

/// Whatever hostile members state, two honest ones are never in a contradiction.
#[test]
fn two_honest_members_are_never_taken_for_liars() {
    let mut dice = super::super::tests::Dice(5);
    for _ in 0..2_000 {
        let mut records = honest();
        let liar = dice.below(4);
        let steps =
            (0..2).map(|at| step(at, dice.below(4) as PeerIx, pick(&mut dice), pick(&mut dice))).collect();
        let kinds = [TroubleKind::Silent, TroubleKind::Differs, TroubleKind::Malformed];
        let trouble = trouble(kinds[dice.below(3)], dice.below(5) as PeerIx, dice.below(3) as u32);
        records[liar] = RoundRecord {
            round: 0,
            steps,
            total: Some(sum(pick(&mut dice))),
            trouble,
            opened: None,
            shown: None,
            unproved: Vec::new(),
        };
        let found = find(records, 1, dice.one_in(2));
        for (one, other) in &found.contradictions {
            assert!(*one == liar as PeerIx || *other == liar as PeerIx, "{found:?}");
        }
    }
}

fn pick(dice: &mut super::super::tests::Dice) -> u8 {
    [0, 1, 2, 3, 4, 12, 34, 99, 50][dice.below(9)]
}

/// Three sums between four members; 1 left the round for what 3 sent it in step 1.
fn accusing(shown: Outline, signer: Option<PeerIx>) -> Blame {
    let (charter, mut before) = decision(4, 1);
    before.signed = SignedSums { until: 9, span: 9 };
    let charter = (*charter).clone().with_bounds(Bounds::new(2, 3.0));
    let place = Place { epoch: 1, electorate: before.electorate.fingerprint(), view: 0 };
    let bytes = sum_statement(place, 1, 1, shown.digest()).bytes(&charter);
    let signature = signer.map(|by| PlainKeys(by).sign(&bytes));
    let mut records = honest();
    records[1].steps[1].heard = Some(Heard { digest: shown.digest(), signature });
    (records[1].total, records[1].trouble) = (None, trouble(TroubleKind::Malformed, 3, 1));
    records[1].shown = Some(shown);
    // 3 says nothing about what it sent: else that is the contradiction.
    records[3].steps.truncate(1);
    records[3].total = None;
    let standings: Vec<Standing> = records.into_iter().map(with).collect();
    let named: BTreeMap<PeerIx, &Standing> = (0..).zip(&standings).collect();
    blame(&named, &before, (&charter, &PlainKeys(0)))
}

#[test]
fn a_malformed_sum_is_a_proof_against_who_signed_it_and_against_nobody_else() {
    let too_large = Outline::of(1, &[100.0, 0.0], 1e4);
    assert_eq!(accusing(too_large, Some(3)).liars, BTreeSet::from([3]));
    let of_nothing = Outline::of(0, &[0.1, 0.0], 0.01);
    assert_eq!(accusing(of_nothing, Some(3)).liars, BTreeSet::from([3]));
    // Without its signature, or under that of another, it is one word against another; and what fits proves nothing, whoever is accused.
    for (shown, signer) in
        [(too_large, None), (too_large, Some(1)), (Outline::of(1, &[1.0, 0.0], 1.0), Some(3))]
    {
        let found = accusing(shown, signer);
        assert!(found.liars.is_empty(), "{found:?}");
        assert!(found.contradictions.contains(&(1, 3)));
    }
}

#[test]
fn an_outline_that_is_not_the_sum_that_was_heard_proves_nothing() {
    let (charter, mut before) = decision(4, 1);
    before.signed = SignedSums { until: 9, span: 9 };
    let charter = (*charter).clone().with_bounds(Bounds::new(2, 3.0));
    let place = Place { epoch: 1, electorate: before.electorate.fingerprint(), view: 0 };
    let honest_sum = Outline::of(1, &[1.0, 0.0], 1.0);
    let bytes = sum_statement(place, 1, 1, honest_sum.digest()).bytes(&charter);
    let mut records = honest();
    let signature = Some(PlainKeys(3).sign(&bytes));
    records[1].steps[1].heard = Some(Heard { digest: honest_sum.digest(), signature });
    records[1].trouble = trouble(TroubleKind::Malformed, 3, 1);
    records[1].shown = Some(Outline { square: 1e9_f64.to_bits(), ..honest_sum });
    records[3].steps.truncate(1);
    let standings: Vec<Standing> = records.into_iter().map(with).collect();
    let named: BTreeMap<PeerIx, &Standing> = (0..).zip(&standings).collect();
    let found = blame(&named, &before, (&charter, &PlainKeys(0)));
    assert!(!found.liars.contains(&3), "{found:?}");
}

/// More than may be hostile must say whose contribution proves nothing, and where nobody is taken to be hostile still two. By itself a member is a liar; of a pair one is.
#[test]
fn whose_contribution_proves_nothing_counts_once_an_honest_member_says_so() {
    let found = |witnesses: u32, hostile: u32| {
        let said = |member: u32| if member < witnesses { vec![(6, 6), (5, 4), (9, 9)] } else { Vec::new() };
        let record = |member: u32| RoundRecord {
            round: 0,
            steps: Vec::new(),
            total: None,
            trouble: None,
            opened: None,
            shown: None,
            unproved: said(member),
        };
        find((0..7).map(record).collect(), hostile, false)
    };
    for (witnesses, hostile) in [(2, 2), (1, 0), (0, 0)] {
        assert_eq!(found(witnesses, hostile), Blame::default(), "{witnesses} of {hostile}");
    }
    for (witnesses, hostile) in [(3, 2), (5, 2), (2, 1), (2, 0)] {
        let found = found(witnesses, hostile);
        // Who has no seat is in no round.
        assert_eq!(found.liars, BTreeSet::from([6]), "{witnesses} of {hostile}");
        assert_eq!(found.contradictions, BTreeSet::from([(4, 5)]), "{witnesses} of {hostile}");
        assert!(found.silences.is_empty() && found.accusations.is_empty());
    }
}

//! Four members, two steps of doubling, masks of all pairs; member 3 lies.

use super::super::super::records::{Heard, Trouble, TroubleKind};
use super::super::super::tests::{PlainKeys, a_model, charter_with, standing};
use super::super::super::{CheckWords, OpenedStep, OpenedSum, Seat, SharedMask};
use super::super::{Fingerprint, blame};
use super::*;
use crate::agreement::Standing;

const LIAR: PeerIx = 3;

/// The mask that two share.
fn mask(one: PeerIx, other: PeerIx) -> CheckWords {
    let number = u64::from(one.min(other)) * 1_000 + u64::from(one.max(other)) + 1;
    CheckWords([number, number * 77, number << 40])
}

fn word(number: u64) -> CheckWords {
    CheckWords([0, number, 0])
}

/// What a member puts in: its masks.
fn own(member: PeerIx) -> CheckWords {
    (0..4).filter(|other| *other != member).fold(CheckWords::default(), |sum, other| {
        if member < other { sum.plus(mask(member, other)) } else { sum.minus(mask(member, other)) }
    })
}

/// A sum over these members, with `lie` in it where the liar is among them.
fn sum(of: &[PeerIx], lie: CheckWords) -> OpenedSum {
    let zeros = of.iter().fold(CheckWords::default(), |sum, &member| sum.plus(own(member)));
    let zeros = if of.contains(&LIAR) { zeros.plus(lie) } else { zeros };
    let names: Vec<u8> = of.iter().map(|&member| member as u8).collect();
    OpenedSum { count: 0, start: 0, others: Fingerprint::of("test", &names), zeros: Some(zeros) }
}

/// What all state about a round in which the liar put `lie` into its own words.
fn told(lie: CheckWords) -> Vec<RoundRecord> {
    let record = |member: PeerIx| {
        let (near, far) = (member ^ 1, member ^ 2);
        let half = |member: PeerIx| [member & !1, member | 1];
        let sums = vec![
            OpenedStep { sent: Some(sum(&[member], lie)), heard: Some(sum(&[near], lie)) },
            OpenedStep { sent: Some(sum(&half(member), lie)), heard: Some(sum(&half(far), lie)) },
        ];
        let shared = (0..4).filter(|other| *other != member);
        let masks = shared
            .map(|with| SharedMask { with, words: mask(member, with), key: Fingerprint::default() })
            .collect();
        let place = Fingerprint([9; 32]);
        let opened = Opened { keys: Fingerprint([8; 32]), place, unmasked: Vec::new(), masks, sums };
        fitted(RoundRecord {
            round: 0,
            steps: [(0, near), (1, far)]
                .map(|(step, partner)| StepRecord { step, partner, sent: None, heard: None })
                .into(),
            total: Some(sum(&[0, 1, 2, 3], lie).digest()),
            trouble: None,
            opened: Some(opened),
            shown: None,
            unproved: Vec::new(),
        })
    };
    (0..4).map(record).collect()
}

/// With the digests of what it opens.
fn fitted(mut record: RoundRecord) -> RoundRecord {
    let sums = record.opened.as_ref().unwrap().sums.clone();
    for (step, sums) in record.steps.iter_mut().zip(sums) {
        step.sent = sums.sent.map(|sum| sum.digest());
        step.heard = sums.heard.map(|sum| Heard { digest: sum.digest(), signature: None });
    }
    record
}

fn find_with(records: Vec<RoundRecord>, change: impl Fn(PeerIx, &mut Standing)) -> Blame {
    let charter = charter_with(4, 1);
    let seats = (0..4).map(|member| Seat { member, key: [1; 32] }).collect();
    let before = Decision { epoch: 1, seats, ..(*charter.genesis()).clone() };
    let stated = (0..).zip(records).map(|(member, record)| {
        let mut said = Standing { key: [1; 32], rounds: vec![record], ..standing(a_model(0, 0), None, 1) };
        change(member, &mut said);
        said
    });
    let standings: Vec<Standing> = stated.collect();
    let named = (0..).zip(&standings).collect();
    blame(&named, &before, (&charter, &PlainKeys(0)))
}

fn find(records: Vec<RoundRecord>) -> Blame {
    find_with(records, |_, _| {})
}

#[test]
fn nobody_is_blamed_where_masks_cancel() {
    assert_eq!(find(told(CheckWords::default())), Blame::default());
}

#[test]
fn who_says_truly_what_it_sent_is_a_liar() {
    let found = find(told(word(5)));
    assert_eq!(found.liars, BTreeSet::from([LIAR]));
    assert!(found.contradictions.is_empty());
}

/// Each way to hide false zeros, and what shows it.
#[test]
fn every_way_to_hide_them_is_found_and_no_two_honest_members_are_blamed() {
    type Hide = fn(&mut RoundRecord);
    let hide: [(&str, Hide); 9] = [
        ("another mask with 1", |it| {
            let mask = &mut it.opened.as_mut().unwrap().masks[1].words;
            *mask = mask.minus(word(5));
        }),
        ("a mask left out", |it| {
            it.opened.as_mut().unwrap().masks.remove(0);
        }),
        ("zeros that fit, under the digest of others", |it| {
            let sum = it.opened.as_mut().unwrap().sums[0].sent.as_mut().unwrap();
            sum.zeros = sum.zeros.map(|zeros| zeros.minus(word(5)));
        }),
        ("a sum that was not sent", |it| {
            let sum = it.opened.as_mut().unwrap().sums[0].sent.as_mut().unwrap();
            sum.zeros = sum.zeros.map(|zeros| zeros.minus(word(5)));
            *it = fitted(it.clone());
        }),
        ("nothing opened", |it| it.opened = None),
        ("another place", |it| it.opened.as_mut().unwrap().place = Fingerprint([1; 32])),
        ("another roster", |it| it.opened.as_mut().unwrap().keys = Fingerprint([1; 32])),
        ("others without masks", |it| it.opened.as_mut().unwrap().unmasked = vec![(0, 3)]),
        ("nothing sent", |it| {
            it.steps.clear();
            it.opened.as_mut().unwrap().sums.clear();
            it.total = None;
            it.trouble = Some(Trouble { kind: TroubleKind::Silent, with: 2, step: 0 });
        }),
    ];
    for (how, hide) in hide {
        let mut records = told(word(5));
        hide(&mut records[LIAR as usize]);
        let found = find(records);
        assert!(found.liars.iter().all(|member| *member == LIAR), "{how}: {found:?}");
        assert!(found.contradictions.iter().all(|(_, other)| *other == LIAR), "{how}: {found:?}");
        assert!(!(found.liars.is_empty() && found.contradictions.is_empty()), "{how}");
    }
}

#[test]
fn who_goes_on_without_a_sum_that_was_sent_contradicts_its_sender() {
    // 3 left out what 2 sent, and says that it never came.
    let mut records = told(CheckWords::default());
    let opened = records[3].opened.as_mut().unwrap();
    opened.sums[0].heard = None;
    opened.sums[1].sent = opened.sums[0].sent;
    records[3] = fitted(records[3].clone());
    records[3].steps[0].heard = None;
    let found = find(records);
    assert!(found.contradictions.contains(&(2, 3)) && !found.contradictions.contains(&(0, 1)), "{found:?}");
}

#[test]
fn who_forgets_a_void_round_lies_or_is_another_process() {
    let forget = |key: [u8; 32]| {
        move |member: PeerIx, said: &mut Standing| {
            if member == LIAR {
                (said.rounds, said.key) = (Vec::new(), key);
            }
        }
    };
    let same = find_with(told(word(5)), forget([1; 32]));
    assert_eq!(same.contradictions, BTreeSet::from([(1, 3), (2, 3)]));
    let another = find_with(told(word(5)), forget([2; 32]));
    assert_eq!((another.contradictions.len(), another.silences), (0, BTreeSet::from([(1, 3), (2, 3)])));
    // A round that was whole, or that nobody ended: machines do start again.
    assert_eq!(find_with(told(CheckWords::default()), forget([2; 32])), Blame::default());
}

//! A masked round of four by doubling, with real words, streams and digests, looked into stage by stage.

use privacy::mechanisms::grid::{WordSize, Words};

use super::super::blame::blame;
use super::super::decision::Seat;
use super::super::looking::{
    Coins, Measure, Projected, ProjectedStep, Projection, Shown, Wanted, next_link, stream_digest,
    words_digest,
};
use super::super::opened::{CheckWords, Opened, OpenedStep, OpenedSum, SharedMask};
use super::super::records::{Heard, RoundRecord, StepRecord};
use super::super::tests::{a_model, charter_with, standing};
use super::*;
use crate::masks::inspection::Rows;

const D: usize = 200;
const K: usize = 8;
const SIZE: WordSize = WordSize::Bits32;
const MEMBERS: PeerIx = 4;

/// Honest words are at most 100 each: squared projections far below this.
const MOST: f64 = 1e9;

fn measure() -> Measure {
    let (directions, dimension) = (K as u32, D as u64);
    Measure { directions, dimension, bits: 32, most: MOST.to_bits(), toss: u64::MAX, tosses: 2 }
}

fn wanted() -> Wanted {
    Wanted { round: 5, coin: None }
}

fn key(one: PeerIx, other: PeerIx) -> [u8; 32] {
    [1 + (one.min(other) * MEMBERS + one.max(other)) as u8; 32]
}

/// What a member put in, under its masks.
fn words(member: PeerIx, added: i64) -> Words {
    let own =
        (0..D + K).map(|at| (at as i64 * 37 + i64::from(member) * 11) % 100 + if at < D { added } else { 0 });
    let mut words = Words::of(SIZE, own);
    for other in (0..MEMBERS).filter(|&other| other != member) {
        words.combine_masks(&[(&key(member, other), member < other)]);
    }
    words
}

fn plus(one: &Words, other: &Words) -> Words {
    let mut sum = one.clone();
    sum.add(other).unwrap();
    sum
}

fn bytes(words: &Words) -> Vec<u8> {
    let Words::Narrow(words) = words else { panic!("narrow") };
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// One round: 0 meets 1 and 2 meets 3, then 0 meets 2 and 1 meets 3.
struct Round {
    /// What each sent and heard, by step.
    steps: Vec<[(PeerIx, Words, Words); 2]>,
}

impl Round {
    /// `liar` adds that to each of its numbers.
    fn with(liar: PeerIx, added: i64) -> Self {
        let all: Vec<Words> =
            (0..MEMBERS).map(|member| words(member, if member == liar { added } else { 0 })).collect();
        let of = |member: PeerIx| &all[member as usize];
        let steps = (0..MEMBERS).map(|member| {
            let (first, second) = (member ^ 1, member ^ 2);
            let mine = plus(of(member), of(first));
            let theirs = plus(of(second), of(second ^ 1));
            [(first, of(member).clone(), of(first).clone()), (second, mine, theirs)]
        });
        Self { steps: steps.collect() }
    }

    fn record(&self, member: PeerIx) -> RoundRecord {
        let sum = |words: &Words| OpenedSum {
            count: 0,
            start: 0,
            others: words_digest(&bytes(words)),
            zeros: Some(CheckWords::default()),
        };
        let steps = &self.steps[member as usize];
        let opened = |(_, sent, heard): &(PeerIx, Words, Words)| OpenedStep {
            sent: Some(sum(sent)),
            heard: Some(sum(heard)),
        };
        let stated = |(at, (partner, sent, heard)): (usize, &(PeerIx, Words, Words))| StepRecord {
            step: at as u32,
            partner: *partner,
            sent: Some(sum(sent).digest()),
            heard: Some(Heard { digest: sum(heard).digest(), signature: None }),
        };
        let others = (0..MEMBERS).filter(|&other| other != member);
        let mask =
            |with| SharedMask { with, words: CheckWords::default(), key: stream_digest(&key(member, with)) };
        let (_, sent, heard) = &steps[1];
        RoundRecord {
            round: 5,
            steps: steps.iter().enumerate().map(stated).collect(),
            total: Some(sum(&plus(sent, heard)).digest()),
            trouble: None,
            shown: None,
            unproved: Vec::new(),
            opened: Some(Opened {
                keys: Fingerprint::default(),
                place: Fingerprint::default(),
                unmasked: Vec::new(),
                masks: others.map(mask).collect(),
                sums: steps.iter().map(opened).collect(),
            }),
        }
    }

    fn projected(&self, rows: &Rows, member: PeerIx) -> Projected {
        let of = |words: &Words| Some(Projection::of(&rows.project_part(words, 0)));
        let sums = self.steps[member as usize].iter();
        let others = (0..MEMBERS).filter(|&other| other != member);
        Projected {
            sums: sums.map(|(_, sent, heard)| ProjectedStep { sent: of(sent), heard: of(heard) }).collect(),
            streams: others
                .map(|other| Projection::of(&rows.project_stream(SIZE, &key(member, other))))
                .collect(),
        }
    }
}

fn draw(member: PeerIx) -> [u8; 32] {
    [member as u8; 32]
}

/// A standing that says this of looks.
fn says(look: Look) -> Standing {
    Standing { look: Some(look), key: [1; 32], ..standing(a_model(0, 0), None, 6) }
}

fn before() -> Decision {
    let seats = (0..MEMBERS).map(|member| Seat { member, key: [1; 32] }).collect();
    Decision { epoch: 1, seats, ..(*charter_with(4, 1).genesis()).clone() }
}

/// What follows, and what is found, where all members but the silent say this.
fn follows(before: &Decision, say: impl Fn(PeerIx) -> Standing) -> (Decision, Blame) {
    let all: Vec<Standing> = (0..MEMBERS).map(say).collect();
    let standings: Standings<'_> = (0..).zip(&all).collect();
    let charter = charter_with(4, 1);
    let mut found = blame(&standings, before, (&charter, &super::super::tests::PlainKeys(0)));
    let Next { inspection, barred, coins } = next(before, &standings, &mut found);
    (Decision { inspection, barred, coins, epoch: before.epoch + 1, ..before.clone() }, found)
}

/// The look once there is a seed.
fn with_seed(round: &Round) -> Decision {
    let begun = follows(&before(), |member| {
        let (measure, wants) = (Some(measure()), Some(wanted()));
        let look = Look { measure, wants, draw: Look::commitment(member, draw(member)), ..Look::default() };
        Standing { rounds: vec![round.record(member)], ..says(look) }
    });
    assert_eq!(begun.1, Blame::default());
    let drawn = follows(&begun.0, |member| says(Look { drawn: Some(draw(member)), ..Look::default() }));
    assert_eq!(drawn.1, Blame::default());
    drawn.0
}

fn rows(decision: &Decision) -> Rows {
    measure().rows(decision.inspection.as_ref().unwrap().seed.unwrap()).unwrap()
}

/// What all state once there is a seed, changed for one.
fn states(
    round: &Round,
    rows: &Rows,
    (liar, change): (PeerIx, &dyn Fn(&mut Look)),
) -> impl Fn(PeerIx) -> Standing {
    let all: Vec<Look> = (0..MEMBERS)
        .map(|member| {
            let (bound, projected) = (Some(round.record(member)), Some(round.projected(rows, member)));
            let mut look = Look { bound, projected, ..Look::default() };
            if member == liar {
                change(&mut look);
            }
            look
        })
        .collect();
    move |member| says(all[member as usize].clone())
}

fn liars(found: &Blame) -> Vec<PeerIx> {
    found.liars.iter().copied().collect()
}

#[test]
fn an_honest_round_names_nobody_and_bars_the_next_look() {
    let round = Round::with(9, 0);
    let decided = with_seed(&round);
    let rows = rows(&decided);
    let (after, found) = follows(&decided, states(&round, &rows, (9, &|_| {})));
    assert_eq!(found, Blame::default());
    assert!(after.inspection.is_none());
    assert_eq!((after.barred.until, after.barred.span), (5 + 1 + 64, 64));
    assert_eq!(after.barred.after(100).span, 128);
}

#[test]
fn who_put_in_too_much_is_named_by_what_it_states() {
    let round = Round::with(2, 1 << 20);
    let decided = with_seed(&round);
    let rows = rows(&decided);
    let (after, found) = follows(&decided, states(&round, &rows, (9, &|_| {})));
    assert_eq!(liars(&found), [2]);
    assert!(found.contradictions.is_empty() && found.silences.is_empty());
    assert!(after.inspection.is_none());
    assert_eq!(after.barred.span, 0, "it is out for good: nothing is barred");
}

fn hidden(rows: &Rows) -> Words {
    rows.project_part(&Words::of(SIZE, (0..D).map(|_| 1 << 20)), 0)
}

fn less(projection: &mut Projection, by: &Words) {
    let mut words = projection.words(SIZE);
    words.subtract(by).unwrap();
    *projection = Projection::of(&words);
}

fn more(projection: &mut Projection, by: &Words) {
    let mut words = projection.words(SIZE);
    words.add(by).unwrap();
    *projection = Projection::of(&words);
}

/// What both ends show in the last stage, the liar something else.
fn shows(round: &Round, dispute: super::super::looking::Dispute, member: PeerIx) -> Vec<Shown> {
    let other = if dispute.one == member { dispute.other } else { dispute.one };
    match dispute.step {
        None => vec![Shown::Stream((key(member, other), other))],
        Some(step) => {
            let (_, sent, heard) = &round.steps[member as usize][step as usize];
            vec![Shown::Sum((step, bytes(if dispute.one == member { sent } else { heard })))]
        }
    }
}

/// One lie in one pair is proof: the honest end shows the key to which both are bound.
#[test]
fn a_false_stream_or_a_false_sum_is_shown_to_be_one() {
    let round = Round::with(2, 1 << 20);
    let decided = with_seed(&round);
    let rows = rows(&decided);
    let by = hidden(&rows);
    // 2 shares streams with 0, 1 and 3, in this order; towards 3 it adds.
    let stream = |look: &mut Look| more(&mut look.projected.as_mut().unwrap().streams[2], &by);
    let sums = |look: &mut Look| {
        let sums = &mut look.projected.as_mut().unwrap().sums;
        sums.iter_mut().for_each(|step| less(step.sent.as_mut().unwrap(), &by));
    };
    type Change<'a> = (&'a str, &'a dyn Fn(&mut Look), usize);
    let changes: [Change<'_>; 2] = [("stream", &stream, 1), ("sums", &sums, 2)];
    for (what, change, count) in changes {
        let (disputed, found) = follows(&decided, states(&round, &rows, (2, change)));
        assert_eq!(liars(&found), [] as [PeerIx; 0], "{what}: hidden so far");
        let inspection = disputed.inspection.clone().unwrap();
        assert_eq!(inspection.disputes.len(), count, "{what}");
        assert!(inspection.disputes.iter().all(|it| it.one == 2 || it.other == 2), "{what}");
        assert_eq!(inspection.seed, decided.inspection.as_ref().unwrap().seed, "one seed, ever");
        let stated = states(&round, &rows, (2, change));
        let (after, found) = follows(&disputed, |member| {
            let mut said = stated(member);
            let of_it = inspection.disputes.iter().filter(|it| it.one == member || it.other == member);
            // The liar shows nothing.
            if member != 2 {
                said.look.as_mut().unwrap().shown = of_it.flat_map(|it| shows(&round, *it, member)).collect();
            }
            said
        });
        assert_eq!(liars(&found), [2], "{what}");
        assert!(found.contradictions.is_empty() && after.inspection.is_none(), "{what}");
        // Where nobody shows anything one of the two lies, and nobody is named.
        let (_, found) = follows(&disputed, &stated);
        assert!(found.liars.is_empty(), "{what}");
        assert_eq!(found.contradictions.len(), count, "{what}");
        // Who states something else than before states nothing.
        let (_, found) = follows(&disputed, states(&round, &rows, (9, &|_| {})));
        assert!(found.silences.contains(&(0, 2)) && found.liars.is_empty(), "{what}");
    }
}

#[test]
fn who_contradicts_itself_is_named() {
    let round = Round::with(2, 1 << 20);
    let decided = with_seed(&round);
    let rows = rows(&decided);
    let by = hidden(&rows);
    let change = |look: &mut Look| less(look.projected.as_mut().unwrap().sums[0].sent.as_mut().unwrap(), &by);
    let (_, found) = follows(&decided, states(&round, &rows, (2, &change)));
    assert_eq!(liars(&found), [2]);
}

/// The silent lose the seat, no more: everybody else is apart from them for a while.
#[test]
fn who_opens_nothing_is_left_out_and_named_by_nobody() {
    let round = Round::with(2, 1 << 20);
    let decided = with_seed(&round);
    let rows = rows(&decided);
    let silences = BTreeSet::from([(0, 2), (1, 2), (2, 3)]);
    let changes: [&dyn Fn(&mut Look); 4] = [
        &|look| look.projected = None,
        &|look| look.bound = None,
        &|look| look.projected.as_mut().unwrap().streams.truncate(1),
        &|look| look.projected.as_mut().unwrap().sums[1].heard = Some(Projection(vec![0; K - 1])),
    ];
    for change in changes {
        let (after, found) = follows(&decided, states(&round, &rows, (2, change)));
        assert_eq!((liars(&found), found.silences), (Vec::new(), silences.clone()));
        assert_eq!(after.barred.span, 64, "it may come back, so the next look waits");
    }
}

/// Who withholds its draw knows the seed and the others do not: there is another without it.
#[test]
fn a_withheld_draw_is_one_more_and_costs_the_seat() {
    let round = Round::with(9, 0);
    let begun = follows(&before(), |member| {
        let (measure, wants) = (Some(measure()), Some(wanted()));
        let look = Look { measure, wants, draw: Look::commitment(member, draw(member)), ..Look::default() };
        Standing { rounds: vec![round.record(member)], ..says(look) }
    });
    let commits = |member: PeerIx| Look::commitment(member, draw(member + 40));
    let (again, found) = follows(&begun.0, |member| {
        // 1 opens what it did not commit itself to.
        let opens = if member == 1 { draw(7) } else { draw(member) };
        says(Look { drawn: Some(opens), draw: commits(member), ..Look::default() })
    });
    let inspection = again.inspection.clone().unwrap();
    assert_eq!(inspection.seed, None);
    assert_eq!(inspection.draws.iter().map(|(member, _)| *member).collect::<Vec<_>>(), [0, 2, 3]);
    assert_eq!(found.silences, BTreeSet::from([(0, 1), (1, 2), (1, 3)]));
    let (after, _) =
        follows(&again, |member| says(Look { drawn: Some(draw(member + 40)), ..Look::default() }));
    let seed = after.inspection.unwrap().seed.unwrap();
    assert_ne!(Some(seed), with_seed(&round).inspection.unwrap().seed);
}

#[test]
fn one_member_alone_begins_no_look_and_neither_do_records_that_differ() {
    let round = Round::with(9, 0);
    let begins = |by: PeerIx, change: &dyn Fn(PeerIx, &mut RoundRecord)| {
        let (after, _) = follows(&before(), |member| {
            let mut record = round.record(member);
            change(member, &mut record);
            let wants = (member < by).then(wanted);
            Standing {
                rounds: vec![record],
                ..says(Look { wants, measure: Some(measure()), ..Look::default() })
            }
        });
        after.inspection.is_some()
    };
    let same = |_: PeerIx, _: &mut RoundRecord| {};
    assert!(begins(4, &same) && begins(2, &same), "f + 1 are enough");
    assert!(!begins(1, &same));
    let other_key = |member: PeerIx, record: &mut RoundRecord| {
        if member == 3 {
            record.opened.as_mut().unwrap().masks[0].key = Fingerprint([7; 32]);
        }
    };
    assert!(!begins(4, &other_key), "the two are apart, and nothing is opened");
}

/// A member's own coin is enough, once the chain proves it: it cannot toss another one, nor more often than the rate allows.
#[test]
fn one_members_coin_is_enough_where_its_chain_has_it() {
    let round = Round::with(9, 0);
    let chain: Vec<Fingerprint> =
        std::iter::successors(Some(Fingerprint([3; 32])), |link| Some(next_link(*link))).take(12).collect();
    // The epoch begins with round 4: the coin of round 5 is two links from the end.
    let (head, coin) = (chain[11], chain[9]);
    let begins = |coin: Fingerprint, heeded: u32, measure: Measure| {
        let coins = vec![Coins { member: 2, head, heeded }];
        let before = Decision { next_round: 4, coins, ..before() };
        let (after, found) = follows(&before, |member| {
            let wants = (member == 2).then_some(Wanted { round: 5, coin: Some(coin.0) });
            let look = Look { wants, measure: Some(measure), ..Look::default() };
            Standing { rounds: vec![round.record(member)], ..says(look) }
        });
        assert!(found.silences.is_empty());
        let heeded = after.coins.iter().find(|coins| coins.member == 2).unwrap().heeded;
        after.inspection.map(|it| (it.round, it.forced, heeded))
    };
    let usual = measure();
    assert_eq!(begins(coin, 0, usual), Some((5, false, 1)));
    assert_eq!(begins(coin, 2, usual), None, "heeded often enough");
    assert_eq!(begins(chain[8], 0, usual), None, "the coin of another round");
    assert_eq!(begins(Fingerprint([8; 32]), 0, usual), None, "no coin of the chain");
    assert_eq!(begins(coin, 0, Measure { toss: 0, ..usual }), None, "it does not say so");
}

/// Numbers that a peer states make nobody allocate.
#[test]
fn measures_that_nobody_can_look_by_are_not_heeded() {
    let measure = measure();
    let bad = [
        Measure { directions: 0, ..measure },
        Measure { directions: 65, ..measure },
        Measure { dimension: 8, ..measure },
        Measure { dimension: u64::MAX, ..measure },
        Measure { bits: 16, ..measure },
    ];
    assert!(measure.is_sound() && bad.iter().all(|measure| !measure.is_sound()));
}

//! A question between participants in virtual time: the total is what the members' records and noise add up to, and a member gives records at most once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::VecDeque;
use std::sync::Arc;

use privacy::noise::{NoiseSource, danger_from_seed};
use protocol::masks::{MaskSecret, Masks};
use protocol::work::question::{Answering, Ask, Leg, Members, Question, Total, ready};
use protocol::work::{Desk, NodeState, Room, carry_out};
use protocol::{Input, Message, Node, Output, PeerIx, RunId, Time, Timeouts};
use questions::columns::{Columns, Row};
use questions::contribution::{add_noise, sum};
use questions::noise::{Trust, Unit};
use questions::plan::{Method, SumPlan};

const NODES: usize = 5;
const RECORDS: usize = 40;

fn columns() -> Columns {
    let mut columns = Columns::default();
    columns.declare("age:bounds=0..110,integer".parse().unwrap()).unwrap();
    columns.declare("code:text=2".parse().unwrap()).unwrap();
    columns
}

fn question(text: &str) -> Arc<Question> {
    trusting(text, Trust::Masked)
}

fn trusting(text: &str, trust: Trust) -> Arc<Question> {
    at(1.0, text, trust)
}

fn at(epsilon: f64, text: &str, trust: Trust) -> Arc<Question> {
    let ask = Ask {
        question: text.into(),
        epsilon,
        delta: 1e-5,
        unit: Unit::Record,
        records: (NODES * RECORDS) as u64,
        trust,
        model: None,
    };
    let members = Members { nodes: NODES, colluders: 1, hostile: 1, timeouts: Timeouts::LAN };
    Arc::new(Question::new(ask, Arc::new(columns()), members).unwrap())
}

fn rows(node: usize) -> Arc<[Row]> {
    let age = |record: usize| ((11 * record + 17 * node) % 100).to_string();
    let code = |record: usize| if record.is_multiple_of(4) { format!("x{record}") } else { "aa".into() };
    let cell = |name: &str, record: usize| if name == "age" { age(record) } else { code(record) };
    (0..RECORDS).map(|record| columns().read(|name| Some(cell(name, record).leak().as_bytes()))).collect()
}

fn noise(node: usize) -> impl NoiseSource {
    danger_from_seed(7, &format!("question/{node}"))
}

/// What happened at a member.
#[derive(Default)]
struct Seen {
    /// Records that were put down.
    records: usize,
    /// Whether anything but keys was sent before the record was durable.
    early: bool,
}

struct Swarm {
    nodes: Vec<Node>,
    works: Vec<Answering>,
    seen: Vec<Seen>,
    mail: VecDeque<(PeerIx, PeerIx, Message)>,
    now: Time,
    /// Whose messages are lost.
    silent: Option<usize>,
}

impl Swarm {
    fn new(question: &Arc<Question>, refuses: impl Fn(usize) -> bool) -> Self {
        Self::of_leg(question, &Arc::new(question.first().unwrap()), refuses)
    }

    fn of_leg(question: &Arc<Question>, leg: &Arc<Leg>, refuses: impl Fn(usize) -> bool) -> Self {
        let node = |me: usize| {
            let settings = Arc::new(leg.settings(RunId(42 + leg.number() as u64), refuses(me)));
            let masks = Masks::Real(MaskSecret::new([me as u8 + 1; 32]));
            Node::new(me as PeerIx, settings, None).with_masks(masks)
        };
        Self {
            nodes: (0..NODES).map(node).collect(),
            works: (0..NODES)
                .map(|me| Answering::new(question.clone(), leg.clone(), ready(rows(me).to_vec())))
                .collect(),
            seen: (0..NODES).map(|_| Seen::default()).collect(),
            mail: VecDeque::new(),
            now: Time(0),
            silent: None,
        }
    }

    fn drain(&mut self, me: usize) {
        while let Some(output) = self.nodes[me].poll_output() {
            let answer = match output {
                Output::Compute(job) => {
                    let (mut room, mut state) = (Room::default(), NodeState::default());
                    let position = me as PeerIx;
                    let desk = &mut Desk { node: 0, position, room: &mut room, state: &mut state };
                    Some(Input::Computed(carry_out(&self.works[me], desk, &job, &mut noise(me)).unwrap()))
                }
                Output::Record(record) => {
                    self.seen[me].records += 1;
                    Some(Input::Recorded(record.id))
                }
                Output::Send { to, message } => {
                    self.seen[me].early |= message.numbers.is_some() && self.seen[me].records == 0;
                    self.mail.extend(to.iter().map(|&to| (to, me as PeerIx, message.clone())));
                    None
                }
                Output::Log(_) | Output::Save(_) | Output::Forgotten(_) | Output::Done => None,
            };
            if let Some(input) = answer {
                self.nodes[me].handle(self.now, input);
            }
        }
    }

    fn start(&mut self) {
        for me in 0..NODES {
            self.nodes[me].handle(self.now, Input::Start);
            self.drain(me);
        }
    }

    /// The next message, if there is one.
    fn deliver(&mut self) {
        let Some((to, from, message)) = self.mail.pop_front() else { return };
        if ![to, from].iter().any(|&end| self.silent == Some(end as usize)) {
            self.nodes[to as usize].handle(self.now, Input::Received { from, message });
            self.drain(to as usize);
        }
    }

    /// Until all but the silent one are done.
    fn run(&mut self) {
        for _ in 0..10_000 {
            while !self.mail.is_empty() {
                self.deliver();
            }
            if (0..NODES).all(|me| self.nodes[me].is_done() || self.silent == Some(me)) {
                return;
            }
            self.now = self.now.after(50_000);
            for me in 0..NODES {
                if self.nodes[me].wake_at().is_some_and(|wake| self.now >= wake) {
                    self.nodes[me].handle(self.now, Input::Tick);
                    self.drain(me);
                }
            }
        }
        panic!("the members come to no end");
    }

    fn totals(&self, question: &Question) -> Vec<Option<Total>> {
        let done = |node: &&Node| node.has_reached_the_end();
        self.nodes
            .iter()
            .filter(done)
            .map(|node| question.read(node.model()).map(|mut totals| totals.remove(0)))
            .collect()
    }
}

fn summed(method: &Method) -> &SumPlan {
    match method {
        Method::Sum(plan) => plan,
        other => panic!("no sum: {other:?}"),
    }
}

/// The sums of these nodes' records and everybody's noise, without any protocol.
fn expected(question: &Question, gives: impl Fn(usize) -> bool) -> Vec<i64> {
    let plan = question.plan(NODES).unwrap();
    let planned = summed(&plan.method);
    let mut total = vec![0; planned.coordinates()];
    for node in 0..NODES {
        let mut own = match gives(node) {
            true => sum(&plan.question, planned, rows(node).iter()),
            false => vec![0; planned.coordinates()],
        };
        add_noise(planned, &mut own, &mut noise(node));
        total.iter_mut().zip(own).for_each(|(total, own)| *total += own);
    }
    total
}

/// Equal but for single precision.
fn assert_same(total: &[i64], expected: &[i64]) {
    assert_eq!(total.len(), expected.len());
    for (&a, &b) in total.iter().zip(expected) {
        assert!((a - b).abs() as f64 <= 6e-8 * (b as f64).abs(), "{a} for {b}");
    }
}

#[test]
fn all_members_hold_the_total_of_everybodys_records_and_noise() {
    for text in ["SELECT count(*), mean(age) FROM swarm", "SELECT median(age), histogram(age, 5) FROM swarm"]
    {
        let question = question(text);
        let mut swarm = Swarm::new(&question, |_| false);
        swarm.start();
        swarm.run();
        let totals = swarm.totals(&question);
        assert_eq!(totals.len(), NODES);
        for total in totals {
            let total = total.unwrap();
            assert_eq!((total.members, total.givers), (NODES, NODES));
            assert_same(&total.sum, &expected(&question, |_| true));
        }
        assert!(swarm.seen.iter().all(|seen| seen.records == 1 && !seen.early));
    }
}

#[test]
fn who_refuses_adds_noise_and_records_nothing() {
    let question = question("SELECT count(*) FROM swarm");
    let mut swarm = Swarm::new(&question, |node| node >= 3);
    swarm.start();
    swarm.run();
    let total = swarm.totals(&question)[0].clone().unwrap();
    assert_eq!((total.members, total.givers), (NODES, 3));
    assert_same(&total.sum, &expected(&question, |node| node < 3));
    let records: Vec<usize> = swarm.seen.iter().map(|seen| seen.records).collect();
    assert_eq!(records, [1, 1, 1, 0, 0]);
}

/// A member that dies after any number of messages: before keys, in the exchange, at the end. Those who gave records once never do again.
#[test]
fn whoever_dies_whenever_nobody_gives_records_twice_and_all_others_agree() {
    let question = question("SELECT count(*) FROM swarm");
    let (mut answered, mut unanswered) = (0, 0);
    for delivered in (0..72).step_by(4) {
        let mut swarm = Swarm::new(&question, |_| false);
        swarm.start();
        (0..delivered).for_each(|_| swarm.deliver());
        swarm.silent = Some(2);
        swarm.run();
        assert!(swarm.seen.iter().all(|seen| seen.records <= 1), "after {delivered} messages");
        let given: usize = swarm.seen.iter().map(|seen| seen.records).sum();
        let mut totals = swarm.totals(&question);
        totals.dedup();
        assert_eq!(totals.len(), 1, "after {delivered} messages: {totals:?}");
        match &totals[0] {
            Some(total) if total.givers > 0 => {
                assert!(total.givers <= given && total.givers <= total.members, "{total:?}");
                answered += 1;
            }
            _ => unanswered += 1,
        }
    }
    // Both happen, or the test looks at one moment only.
    assert!(answered > 0 && unanswered > 0, "{answered} answered, {unanswered} not");
}

#[test]
fn a_model_that_is_no_total_is_not_read() {
    let question = question("SELECT count(*) FROM swarm");
    let read = |model: &[f32]| question.read(model);
    assert!(read(&[-10.0, -5.0, -4.0]).is_some());
    for model in [
        &[][..],
        &[-10.0, -5.0],
        &[0.0, 0.0, 0.0],
        &[-1.0, -3.0, -4.0],
        &[-1.0, -6.0, -1.0],
        &[-1.0, f32::NAN, -1.0],
    ] {
        assert!(read(model).is_none(), "{model:?}");
    }
}

/// All legs of a question, one after the other: each among participants of its own, as the driver does it.
fn answered(question: &Arc<Question>, refuses: impl Fn(usize) -> bool + Copy) -> Vec<Total> {
    let (mut totals, mut leg) = (Vec::new(), question.first().unwrap());
    let mut models = Vec::new();
    loop {
        let shared = Arc::new(leg);
        let mut swarm = Swarm::of_leg(question, &shared, refuses);
        swarm.start();
        swarm.run();
        let model = swarm.nodes[0].model().to_vec();
        assert!(swarm.nodes.iter().all(|node| node.model() == model && node.has_reached_the_end()));
        let total = shared.read(&model).unwrap();
        models.extend(model);
        let next = question.next(&shared, &total).unwrap();
        totals.push(total);
        match next {
            Some(next) => leg = next,
            None => break,
        }
    }
    // As a book keeps them, and no shorter or longer.
    assert_eq!(question.read(&models).as_ref(), Some(&totals));
    assert_eq!(question.read(&models[..models.len() - 1]), None);
    assert_eq!(question.read(&[&models[..], &[0.0]].concat()), None);
    totals
}

/// 30 of 40 records of each node are `aa`, three begin with `x2`: 150 and 15 in all, above the threshold of two sums at ε = 4; three values are held by 5 records each.
#[test]
fn a_search_over_bytes_is_a_total_for_each_and_finds_what_is_common() {
    let question = at(4.0, "SELECT frequent(code, 2) FROM swarm", Trust::Masked);
    let totals = answered(&question, |_| false);
    assert_eq!(totals.iter().map(|total| total.sum.len()).collect::<Vec<_>>()[0], 256);
    assert_eq!(totals.len(), 2);
    let answers = question.answers(&totals, false).unwrap().unwrap();
    let answer = &answers.lines[0].answers[0];
    assert_eq!(answer.labels[..2], ["aa", "x2"]);
    let [low, high] = [&answer.low, &answer.high].map(|end| end.as_ref().unwrap().numbers()[0]);
    assert!(low < 150.0 && 150.0 < high, "{low} to {high}");
    // With half of the members adding noise only, their records are not in it.
    let fewer = question.answers(&answered(&question, |node| node >= 3), false).unwrap().unwrap();
    assert!(fewer.lines[0].answers[0].value.as_ref().unwrap().numbers()[0] < 130.0);
}

/// Seven different values, each at all five nodes: the estimate may be up to 1/(1 − e^−ε) times as high, and the interval says so.
#[test]
fn different_values_are_counted_by_which_residues_are_zero() {
    let question = at(4.0, "SELECT count(DISTINCT code) FROM swarm", Trust::Masked);
    let totals = answered(&question, |_| false);
    assert_eq!(totals.len(), 1);
    let answer = question.answers(&totals, false).unwrap().unwrap().lines.remove(0).answers.remove(0);
    let [low, high] = [&answer.low, &answer.high].map(|end| end.as_ref().unwrap().numbers()[0]);
    // What is not zero says nothing: among 4,096 buckets about (1 − f)^{n/h}·m are empty, f = 1/(e⁴ + 1).
    let empty = totals[0].sum.iter().filter(|&&residue| residue == 0).count() as f64;
    let expected = 4096.0 * (1.0 - 1.0 / (4f64.exp() + 1.0)).powf(5.0 / 4.0);
    assert!((empty - expected).abs() < 5.0 * (expected * 0.022f64).sqrt() + 7.0, "{empty} for {expected}");
    assert!(totals[0].sum.iter().any(|&residue| residue.abs() > 1 << 20));
    assert!(low <= 7.0 && (7.0..200.0).contains(&high), "{low} to {high}");
}

/// Each node is one person: its noise alone is enough, so the total of n has n times the variance.
#[test]
fn who_trusts_nobody_pays_with_noise_of_its_own() {
    let noise = |trust| {
        let plan = trusting("SELECT count(*) FROM swarm", trust).plan(NODES).unwrap();
        summed(&plan.method).blocks[0].noise
    };
    let ratio = noise(Trust::Gossip) / noise(Trust::Masked);
    assert!((ratio - 4f64.sqrt()).abs() < 1e-3, "h = 4 of 5 honest: {ratio}");
    assert!((noise(Trust::Local) / noise(Trust::Gossip) - 1.0).abs() < 1e-12);
    let question = trusting("SELECT count(*) FROM swarm", Trust::Gossip);
    let totals = answered(&question, |_| false);
    assert_same(&totals[0].sum, &expected(&question, |_| true));
}

/// A response of each person: at ε = 20 nobody lies (e^−20 for each), so the counts are exact.
#[test]
fn in_the_local_model_each_member_gives_one_response() {
    let question = at(20.0, "SELECT histogram(age, 11) FROM swarm", Trust::Local);
    let totals = answered(&question, |node| node == 4);
    assert_eq!(totals[0].sum.iter().sum::<i64>(), 4);
    let answer = question.answers(&totals, false).unwrap().unwrap().lines.remove(0).answers.remove(0);
    let mut truth = vec![0.0; 12];
    (0..4).for_each(|node| truth[(17 * node % 100) / 10] += 1.0);
    for (found, truth) in answer.raw.unwrap().numbers().iter().zip(truth) {
        assert!((found - truth).abs() < 1e-3, "{found} for {truth}");
    }
}

//! A question between participants in virtual time: the total is what the members' records and noise add up to, and a member gives records at most once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::VecDeque;
use std::sync::Arc;

use privacy::noise::{NoiseSource, danger_from_seed};
use protocol::masks::{MaskSecret, Masks};
use protocol::work::question::{Answering, Ask, Members, Question, Total};
use protocol::work::{Desk, NodeState, Room, carry_out};
use protocol::{Input, Message, Node, Output, PeerIx, RunId, Time, Timeouts};
use questions::columns::{Columns, Row};
use questions::contribution::{add_noise, sum};
use questions::noise::Unit;

const NODES: usize = 5;
const RECORDS: usize = 40;

fn columns() -> Columns {
    let mut columns = Columns::default();
    columns.declare("age:bounds=0..110,integer".parse().unwrap()).unwrap();
    columns
}

fn question(text: &str) -> Arc<Question> {
    let ask = Ask {
        question: text.into(),
        epsilon: 1.0,
        delta: 1e-5,
        unit: Unit::Record,
        records: (NODES * RECORDS) as u64,
    };
    let members = Members { nodes: NODES, colluders: 1, hostile: 1, timeouts: Timeouts::LAN };
    Arc::new(Question::new(ask, Arc::new(columns()), members).unwrap())
}

fn rows(node: usize) -> Arc<[Row]> {
    let age = |record: usize| ((11 * record + 17 * node) % 100).to_string();
    (0..RECORDS).map(|record| columns().read(|_| Some(age(record).leak().as_bytes()))).collect()
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
        let node = |me: usize| {
            let settings = Arc::new(question.settings(RunId(42), refuses(me)));
            let masks = Masks::Real(MaskSecret::new([me as u8 + 1; 32]));
            Node::new(me as PeerIx, settings, None).with_masks(masks)
        };
        Self {
            nodes: (0..NODES).map(node).collect(),
            works: (0..NODES).map(|me| Answering::new(question.clone(), rows(me))).collect(),
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
        self.nodes.iter().filter(done).map(|node| question.read(node.model())).collect()
    }
}

/// The sums of these nodes' records and everybody's noise, without any protocol.
fn expected(question: &Question, gives: impl Fn(usize) -> bool) -> Vec<i64> {
    let (plan, planned) = question.plan(NODES).unwrap();
    let mut total = vec![0; planned.coordinates()];
    for node in 0..NODES {
        let mut own = match gives(node) {
            true => sum(&plan.question, &planned, rows(node).iter()),
            false => vec![0; planned.coordinates()],
        };
        add_noise(&planned, &mut own, &mut noise(node));
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

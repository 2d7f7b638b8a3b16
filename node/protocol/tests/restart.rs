//! A snapshot that is taken while a record is under way: whoever comes back from it is charged for that record once, neither twice nor not at all.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up should panic")]

mod harness;

use std::sync::Arc;

use harness::{cycle, gossip, release, settings, walk};
use privacy::event::DpEvent;
use protocol::account::Price;
use protocol::walk::{Name, Say};
use protocol::work::Computed;
use protocol::{
    Algorithm, Body, BudgetRule, Input, Message, Node, Output, PeerIx, Scope, Settings, Snapshot, Time,
    Values, gossip as mixing,
};
use topology::WalkKernel;

/// One contribution costs one of so many.
const LIMIT: f64 = 100.0;

/// Node 0, driven by hand; nothing that it asks for is done by itself.
struct Alone {
    node: Node,
    settings: Arc<Settings>,
    saved: Option<Snapshot>,
    records: u64,
    tokens: Vec<(PeerIx, Name)>,
    job: Option<u32>,
    now: Time,
}

impl Alone {
    fn new(mut settings: Settings) -> Self {
        settings.budget = vec![BudgetRule {
            scope: Scope::Local,
            limit: LIMIT,
            price: Price::Releases,
            name: "all".into(),
        }];
        let settings = Arc::new(settings);
        let node = Node::new(0, settings.clone(), None);
        let mut alone =
            Self { node, settings, saved: None, records: 0, tokens: Vec::new(), job: None, now: Time(0) };
        alone.feed(Input::Start);
        alone
    }

    fn feed(&mut self, input: Input) {
        self.node.handle(self.now, input);
        while let Some(output) = self.node.poll_output() {
            match output {
                Output::Compute(job) => self.job = Some(job.round),
                Output::Record(record) => {
                    assert_eq!(record.id, self.records, "records have no gaps");
                    self.records += 1;
                }
                Output::Save(snapshot) => self.saved = Some(*snapshot),
                Output::Send { to, message } => {
                    if let Body::Walk(Say::Token(name)) = message.body {
                        self.tokens.extend(to.iter().map(|&to| (to, name)));
                    }
                }
                Output::Log(_) | Output::Done | Output::Forgotten(_) => {}
            }
        }
    }

    fn hear(&mut self, from: PeerIx, round: u32, body: impl Into<Body>, numbers: Option<Values>) {
        let numbers = numbers.map(Into::into);
        let message = Message { run: self.settings.run, round, step: 0, body: body.into(), numbers };
        self.feed(Input::Received { from, message });
    }

    /// The contribution is computed, and its record asked for.
    fn compute(&mut self) {
        let round = self.job.take().unwrap();
        let contribution = release(vec![1.0, 0.5]).into();
        let computed = Computed { round, contribution, release: DpEvent::NonPrivate, loss: None };
        self.feed(Input::Computed(computed));
    }

    /// What it has spent if it comes back from what is on disk now.
    fn spent_after_a_crash(&self) -> f64 {
        let back = Node::new(0, self.settings.clone(), None);
        let back = back.restored(self.saved.as_ref().unwrap(), self.records);
        (back.spent()[0] * LIMIT * 1e6).round() / 1e6
    }
}

/// Two tokens at node 0: the first has gone to a neighbour, the second is being recorded.
fn walker() -> Alone {
    let kernel = WalkKernel::Simple.matrix(&cycle(6)).unwrap();
    let mut alone = Alone::new(settings(6, 30, vec![0.0; 2], walk(kernel, vec![0, 0])));
    alone.compute();
    alone.feed(Input::Recorded(0));
    assert_eq!((alone.tokens.len(), alone.records), (1, 1));
    alone.compute();
    assert_eq!(alone.records, 2, "the second record is under way");
    alone
}

/// The snapshot counts the record that is under way among its records, so it must have charged it.
#[test]
fn a_walk_that_passes_a_copy_on_anew_while_a_record_is_under_way_charges_it_once() {
    let mut alone = walker();
    assert_eq!(alone.spent_after_a_crash(), 2.0, "the record came after the snapshot");
    let (_, sent) = alone.tokens[0];
    alone.now = alone.now.after(alone.settings.timeouts.silence + 1);
    alone.feed(Input::Tick);
    let (_, again) = *alone.tokens.last().unwrap();
    assert_eq!((again.token, again.hop), (sent.token, sent.hop));
    assert!(again.generation > sent.generation, "it goes to another one, under a new name");
    assert_eq!(alone.saved.as_ref().unwrap().records, 2, "saved while the record is under way");
    assert_eq!(alone.spent_after_a_crash(), 2.0);
    alone.feed(Input::Recorded(1));
    assert_eq!(alone.spent_after_a_crash(), 2.0, "and once it is durable");
}

#[test]
fn a_walk_that_forgets_a_copy_while_a_record_is_under_way_charges_it_once() {
    let mut alone = walker();
    let (to, name) = alone.tokens[0];
    alone.hear(to, name.hop, Say::Here(name), None);
    alone.hear(to, name.hop, Say::Safe(name), None);
    assert_eq!(alone.saved.as_ref().unwrap().records, 2, "saved while the record is under way");
    assert_eq!(alone.spent_after_a_crash(), 2.0);
    alone.feed(Input::Recorded(1));
    assert_eq!(alone.spent_after_a_crash(), 2.0, "and once it is durable");
}

/// A node of `gossip` saves at the end of a round, when its record has been answered, or was charged when it was left behind.
#[test]
fn gossip_that_leaves_a_round_while_a_record_is_under_way_charges_it_once() {
    let algorithm = Algorithm::Gossip(gossip(cycle(3), 1).0);
    let mut alone = Alone::new(settings(3, 30, vec![0.0; 2], algorithm));
    alone.compute();
    assert_eq!(alone.records, 1);
    // Both neighbours are five rounds ahead: it jumps there, and contributes to that round.
    for from in [1, 2] {
        alone.hear(from, 5, mixing::Say::State, Some(Values::from_wire(vec![0.0; 2])));
    }
    assert_eq!(alone.job, Some(5));
    alone.feed(Input::Recorded(0));
    alone.compute();
    alone.feed(Input::Recorded(1));
    for from in [1, 2] {
        alone.hear(from, 5, mixing::Say::State, Some(Values::from_wire(vec![0.0; 2])));
    }
    let saved = alone.saved.as_ref().unwrap();
    assert_eq!((saved.round, saved.records), (6, 2));
    assert_eq!(alone.spent_after_a_crash(), 2.0);
    alone.compute();
    assert_eq!(alone.spent_after_a_crash(), 3.0, "a record after the snapshot is charged too");
}

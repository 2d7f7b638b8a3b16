//! Plays a list of operations on a swarm and asserts, after each, what must hold at every node.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use learn::gradient::{ExampleGradient, Shareable};
use privacy::clip::ClipNorm;
use privacy::noise::danger_from_seed;
use protocol::work::{Computed, Job};
use protocol::{
    Digest, Input, Message, Node, Numbers, Output, PeerIx, Record, RunEvent, Settings, Snapshot, Time,
};

use crate::NODES;
use crate::algorithms::{LIMIT, settings};
use crate::operation::Operation;

/// Of the messages that are under way, how many may overtake each other.
const OVERTAKING: usize = 6;

/// What is different in a second play.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Change {
    /// The contribution, by the order in which they were handed in, that has other numbers.
    pub(crate) contribution: Option<usize>,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Played {
    /// Every output of every node in words, with the digest of its numbers.
    pub(crate) outputs: Vec<String>,
    pub(crate) log: Vec<(PeerIx, RunEvent)>,
    /// How many outputs there were when the record of the changed contribution was answered.
    pub(crate) recorded_at: Option<usize>,
    /// The most records that a node asked for.
    pub(crate) most_records: u64,
}

/// A node, and what its driver knows of it.
struct Participant {
    node: Node,
    saved: Option<Snapshot>,
    /// Records that are durable.
    ledger: Vec<Record>,
    /// What is on its way to the disk, in order.
    disk: VecDeque<Write>,
    next_id: u64,
    jobs: Vec<Job>,
    old_jobs: Vec<Job>,
    /// The contribution that was handed in last.
    handed_in: usize,
    /// Rounds whose record was answered and that were not released yet.
    may_release: Vec<u32>,
    /// What was released in this life.
    released: BTreeSet<(u32, u32, u32)>,
}

/// Something that a driver is to make durable.
enum Write {
    /// With the contribution behind it.
    Record(Record, usize),
    Snapshot(Snapshot),
}

struct Swarm {
    settings: Arc<Settings>,
    participants: Vec<Participant>,
    under_way: Vec<(PeerIx, usize, Message)>,
    sent: Vec<(PeerIx, usize, Message)>,
    now: Time,
    contributions: usize,
    change: Change,
    /// A node was charged for rounds that its disk does not know: what follows is not played.
    is_charged: bool,
    played: Played,
}

pub(crate) fn play(algorithm: &str, list: &[Operation], change: Change) -> Played {
    let settings = Arc::new(settings(algorithm));
    let participant = |me: usize| Participant {
        node: Node::new(me as PeerIx, settings.clone(), None),
        saved: None,
        ledger: Vec::new(),
        disk: VecDeque::new(),
        next_id: 0,
        jobs: Vec::new(),
        old_jobs: Vec::new(),
        handed_in: 0,
        may_release: Vec::new(),
        released: BTreeSet::new(),
    };
    let mut swarm = Swarm {
        participants: (0..NODES).map(participant).collect(),
        settings,
        under_way: Vec::new(),
        sent: Vec::new(),
        now: Time(0),
        contributions: 0,
        change,
        is_charged: false,
        played: Played::default(),
    };
    for operation in list {
        swarm.step(operation);
        if swarm.is_charged {
            break;
        }
    }
    swarm.played
}

impl Swarm {
    fn step(&mut self, operation: &Operation) {
        match operation {
            Operation::Start { node } => self.feed(*node, Input::Start),
            Operation::Tick { node, micros } => {
                self.now = self.now.after(*micros);
                self.feed(*node, Input::Tick);
            }
            Operation::Deliver { pick, replay, forgery } => {
                let message = match replay {
                    true if self.sent.is_empty() => return,
                    true => self.sent[pick % self.sent.len()].clone(),
                    false if self.under_way.is_empty() => return,
                    false => self.under_way.remove(pick % self.under_way.len().min(OVERTAKING)),
                };
                let (from, to, message) = forgery.apply(message);
                self.feed(to, Input::Received { from, message });
            }
            Operation::Compute { pick, again } => self.compute(*pick, *again),
            Operation::Record { pick, again } => self.record(*pick, *again),
            Operation::RecordUnasked { node, id } => {
                let asked = |write: &Write| matches!(write, Write::Record(record, _) if record.id == *id);
                if !self.participants[*node].disk.iter().any(asked) {
                    self.feed(*node, Input::Recorded(*id));
                }
            }
            Operation::Crash { node, kept } => self.crash(*node, *kept),
            Operation::Calm { messages } => self.calm(*messages),
        }
    }

    fn calm(&mut self, messages: usize) {
        for _ in 0..messages {
            for node in 0..NODES {
                self.compute(node, false);
                self.record(node, false);
            }
            if self.under_way.is_empty() {
                return;
            }
            let (from, to, message) = self.under_way.remove(0);
            self.feed(to, Input::Received { from, message });
        }
    }

    fn compute(&mut self, pick: usize, again: bool) {
        let node = pick % NODES;
        let participant = &mut self.participants[node];
        let from = if again { &mut participant.old_jobs } else { &mut participant.jobs };
        if from.is_empty() {
            return;
        }
        let job = from.remove(pick / NODES % from.len());
        participant.old_jobs.push(job.clone());
        participant.handed_in = self.contributions;
        let value = self.contributions as f32 * 0.25 - 1.0;
        let changed = self.change.contribution == Some(self.contributions);
        let contribution = contribution(vec![value, if changed { 7.0 } else { 1.0 }]);
        self.contributions += 1;
        let release = self.settings.release.clone();
        self.feed(
            node,
            Input::Computed(Computed {
                round: job.round,
                contribution: contribution.into(),
                release,
                loss: None,
            }),
        );
    }

    fn record(&mut self, pick: usize, again: bool) {
        let node = pick % NODES;
        let participant = &mut self.participants[node];
        if again {
            if let Some(old) = participant.ledger.last() {
                let id = old.id;
                self.feed(node, Input::Recorded(id));
            }
            return;
        }
        let Some((record, contribution)) = participant.write_up_to_a_record() else { return };
        let id = record.id;
        participant.may_release.push(record.round);
        if self.change.contribution == Some(contribution) {
            self.played.recorded_at.get_or_insert(self.played.outputs.len());
        }
        self.feed(node, Input::Recorded(id));
    }

    fn crash(&mut self, node: usize, kept: bool) {
        let first = Snapshot {
            epoch: 0,
            members: (0..NODES as PeerIx).collect(),
            round: 0,
            version: 0,
            model: self.settings.initial.clone(),
            records: 0,
            spent: Vec::new(),
            before: None,
            agreement: None,
            reserves: Default::default(),
        };
        let participant = &mut self.participants[node];
        while kept && participant.write_up_to_a_record().is_some() {}
        participant.disk.clear();
        let records = participant.ledger.len() as u64;
        let fresh = Node::new(node as PeerIx, self.settings.clone(), None);
        participant.node = fresh.restored(participant.saved.as_ref().unwrap_or(&first), records);
        participant.next_id = records;
        participant.jobs.clear();
        participant.may_release.clear();
        participant.released.clear();
        self.feed(node, Input::Start);
    }

    fn feed(&mut self, node: usize, input: Input) {
        self.participants[node].node.handle(self.now, input);
        while let Some(output) = self.participants[node].node.poll_output().filter(|_| !self.is_charged) {
            self.note(node, &output);
            self.on_output(node, output);
        }
        // What a disk may have forgotten is charged whatever the limit.
        if self.is_charged {
            return;
        }
        for part in self.participants[node].node.spent() {
            assert!(part <= 1.0 + 1e-9, "node {node} spent {part} of a budget");
        }
    }

    fn on_output(&mut self, node: usize, output: Output) {
        let participant = &mut self.participants[node];
        match output {
            Output::Compute(job) => participant.jobs.push(job),
            Output::Record(record) => {
                assert_eq!(record.id, participant.next_id, "node {node}: records have no gaps");
                assert!(record.id < LIMIT, "node {node} passes its budget");
                assert_eq!(record.release, self.settings.release);
                participant.next_id += 1;
                self.played.most_records = self.played.most_records.max(participant.next_id);
                participant.disk.push_back(Write::Record(record, participant.handed_in));
            }
            Output::Send { to, message } => {
                let finite = message.numbers.as_ref().is_none_or(Numbers::is_finite);
                assert!(finite, "node {node} sends numbers that are not finite");
                for to in to.iter().map(|&to| to as usize) {
                    assert!(to < NODES && to != node, "node {node} sends to {to}");
                    self.under_way.push((node as PeerIx, to, message.clone()));
                    self.sent.push((node as PeerIx, to, message.clone()));
                }
            }
            Output::Log(event) => {
                if let RunEvent::Released { round, token, generation, .. } = &*event {
                    participant.release((*round, *token, *generation));
                }
                self.played.log.push((node as PeerIx, *event));
            }
            Output::Save(snapshot) => participant.disk.push_back(Write::Snapshot(*snapshot)),
            // Others saw it in a round that its disk has lost, be it that it added nothing there: too much is charged then, never too little.
            Output::Forgotten(_) => self.is_charged = true,
            Output::Done => assert!(participant.node.is_done()),
        }
    }

    /// In words; numbers are not printed, so their digest stands for them.
    fn note(&mut self, node: usize, output: &Output) {
        let numbers = match output {
            Output::Send { message, .. } => message.numbers.as_ref().and_then(Numbers::reals),
            Output::Compute(job) => Some(&job.params),
            Output::Save(snapshot) => Some(&snapshot.model),
            Output::Record(_) | Output::Forgotten(_) | Output::Log(_) | Output::Done => None,
        };
        let digest = numbers.map(|values| Digest::of(values.as_slice()));
        self.played.outputs.push(format!("{node}: {output:?} {digest:?}"));
    }
}

impl Participant {
    /// A disk writes in order: the next record becomes durable, and the snapshots before it.
    fn write_up_to_a_record(&mut self) -> Option<(Record, usize)> {
        while let Some(write) = self.disk.pop_front() {
            match write {
                Write::Snapshot(snapshot) => self.saved = Some(snapshot),
                Write::Record(record, contribution) => {
                    self.ledger.push(record.clone());
                    return Some((record, contribution));
                }
            }
        }
        None
    }

    fn release(&mut self, (round, token, generation): (u32, u32, u32)) {
        let answered = self.may_release.iter().position(|&at| at == round);
        let answered =
            answered.unwrap_or_else(|| panic!("round {round} is released without a durable record"));
        self.may_release.remove(answered);
        assert!(self.released.insert((round, token, generation)), "round {round} is released twice");
    }
}

/// A contribution whose numbers the test knows.
pub(crate) fn contribution(values: Vec<f32>) -> Shareable {
    let sum = ExampleGradient::of_node(values).clip(ClipNorm::new(1e6).unwrap());
    sum.release(0.0, &mut danger_from_seed(0, "none")).unwrap().0
}

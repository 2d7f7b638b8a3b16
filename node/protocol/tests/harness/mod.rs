//! Several nodes on a virtual clock, in one thread, without a network: what each test needs to drive the state machines by hand.
//!
//! Invariant that every test checks for free: while a contribution is computed or recorded, a node sends no numbers that are not public already.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up should panic")]
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use learn::gradient::ExampleGradient;
use learn::optimiser::{OptimiserSpec, StepSizes};
use privacy::clip::ClipNorm;
use privacy::event::DpEvent;
use privacy::noise::{NoiseSource, RootSeed, danger_from_seed};
use protocol::work::{Computed, Job};
use protocol::{
    Algorithm, Body, Digest, FaultKind, GossipSettings, Input, Message, Node, Numbers, Output, PeerIx,
    RunEvent, RunId, Settings, Snapshot, StepRule, Time, Timeouts, Values, WalkSettings, Words, gossip,
};
use rand_chacha::rand_core::Rng;
use topology::schedule::RunKey;
use topology::{Graph, MixingMatrix, Schedule, Weights};

pub(crate) const DELAY: u64 = 1_000;

/// What happens to a message: the delays of the copies that arrive.
pub(crate) type Fate = Vec<u64>;

type Links = dyn FnMut(PeerIx, PeerIx, &Message) -> Fate;
type Gradient = dyn Fn(PeerIx, &Job) -> Vec<f32>;

/// Round, missing and late messages of a `Mixed` line.
pub(crate) type Mixed = (u32, Vec<(u32, PeerIx)>, Vec<(u32, u32, PeerIx)>);

pub(crate) fn settings(nodes: usize, rounds: u32, initial: Vec<f32>, algorithm: Algorithm) -> Settings {
    Settings {
        run: RunId(7),
        key: RunKey::new("hand-driven"),
        nodes,
        rounds,
        algorithm,
        initial: Values::from_wire(initial),
        step: StepRule {
            sizes: StepSizes::Constant { step_size: 0.5 },
            optimiser: OptimiserSpec::Sgd { radius: None },
            penalty: 0.0,
        },
        release: DpEvent::NonPrivate,
        largest_norm: 1000.0,
        mechanism: protocol::work::Mechanism::Reals,
        budget: Vec::new(),
        timeouts: Timeouts::default(),
        hostile: 0,
        certify: true,
    }
}

pub(crate) fn graph(nodes: usize, edges: &[(u32, u32)]) -> Arc<Graph> {
    Arc::new(Graph::from_edges(nodes, edges).unwrap().0)
}

pub(crate) fn cycle(nodes: u32) -> Arc<Graph> {
    let edges: Vec<(u32, u32)> = (0..nodes).map(|node| (node, (node + 1) % nodes)).collect();
    graph(nodes as usize, &edges)
}

/// `steps` mixing steps by Metropolis weights, and the matrix.
pub(crate) fn gossip(graph: Arc<Graph>, steps: usize) -> (GossipSettings, Arc<MixingMatrix>) {
    let nodes = graph.nodes();
    let matrix = Arc::new(Weights::Metropolis.matrix(&graph).unwrap());
    let schedule = Schedule::Fixed { graph, matrix: matrix.clone(), steps };
    (GossipSettings::new(Arc::new(schedule), nodes).unwrap(), matrix)
}

pub(crate) fn walk(kernel: MixingMatrix, starts: Vec<PeerIx>) -> Algorithm {
    Algorithm::Walk(WalkSettings::new(Arc::new(kernel), starts))
}

pub(crate) struct Net {
    pub(crate) settings: Arc<Settings>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) now: Time,
    pub(crate) log: Vec<(PeerIx, RunEvent)>,
    pub(crate) sent: Vec<(PeerIx, PeerIx, Message)>,
    pub(crate) saved: Vec<Option<Snapshot>>,
    pub(crate) records: Vec<u64>,
    pub(crate) computed: Vec<u32>,
    /// Nodes that are gone: they get nothing and say nothing.
    pub(crate) crashed: BTreeSet<PeerIx>,
    queue: BTreeMap<(Time, u64), (PeerIx, Input)>,
    sequence: u64,
    fate: Box<Links>,
    gradient: Box<Gradient>,
    public: BTreeSet<Digest>,
    unrecorded: Vec<bool>,
}

impl Net {
    pub(crate) fn new(settings: Settings, gradient: impl Fn(PeerIx, &Job) -> Vec<f32> + 'static) -> Self {
        let nodes = settings.nodes;
        let settings = Arc::new(settings);
        let noise =
            |node: u32| -> Box<dyn NoiseSource> { Box::new(danger_from_seed(1, &format!("m/{node}"))) };
        let node = |me: u32| Node::new(me, settings.clone(), Some(noise(me)));
        let mut net = Self {
            nodes: (0..nodes as u32).map(node).collect(),
            now: Time(0),
            log: Vec::new(),
            sent: Vec::new(),
            saved: vec![None; nodes],
            records: vec![0; nodes],
            computed: vec![0; nodes],
            crashed: BTreeSet::new(),
            queue: BTreeMap::new(),
            sequence: 0,
            fate: Box::new(|_, _, _| vec![DELAY]),
            gradient: Box::new(gradient),
            public: [Digest::of(settings.initial.as_slice())].into(),
            unrecorded: vec![false; nodes],
            settings,
        };
        (0..nodes as u32).for_each(|node| net.enqueue(0, node, Input::Start));
        net
    }

    pub(crate) fn with_fate(mut self, fate: impl FnMut(PeerIx, PeerIx, &Message) -> Fate + 'static) -> Self {
        self.fate = Box::new(fate);
        self
    }

    pub(crate) fn message(&self, round: u32, step: u32, body: impl Into<Body>) -> Message {
        Message { run: self.settings.run, round, step, body: body.into(), numbers: None }
    }

    pub(crate) fn state(&self, round: u32, step: u32, values: &[f32]) -> Message {
        self.with_numbers(round, step, gossip::Say::State, values)
    }

    /// Residues where the protocol has real numbers.
    pub(crate) fn with_words(&self, round: u32, step: u32, body: impl Into<Body>) -> Message {
        let words = Words::modulo_32(vec![1; self.settings.initial.len()]);
        Message { numbers: Some(Numbers::Words(words)), ..self.message(round, step, body) }
    }

    pub(crate) fn with_numbers(
        &self,
        round: u32,
        step: u32,
        body: impl Into<Body>,
        values: &[f32],
    ) -> Message {
        let numbers = Some(Numbers::Reals(Values::from_wire(values.to_vec())));
        Message { numbers, ..self.message(round, step, body) }
    }

    /// Delivers a message now.
    pub(crate) fn inject(&mut self, from: PeerIx, to: PeerIx, message: Message) {
        self.feed(to, Input::Received { from, message });
    }

    /// Every process ends at once: what was on its way to one of them, or to a disk, is gone.
    pub(crate) fn crash_all(&mut self) {
        self.crashed = (0..self.nodes.len() as PeerIx).collect();
        self.queue.clear();
    }

    /// A node comes back with what it had saved.
    pub(crate) fn revive(&mut self, node: PeerIx) {
        self.crashed.remove(&node);
        let at = node as usize;
        let snapshot = self.saved[at].clone().unwrap_or_else(|| Snapshot::first(&self.settings));
        self.nodes[at] = Node::new(node, self.settings.clone(), None).restored(&snapshot, self.records[at]);
        self.unrecorded[at] = false;
        self.feed(node, Input::Start);
    }

    /// Runs until every node that is not crashed is done, or for so many seconds; `true` if all are done.
    pub(crate) fn run(&mut self, seconds: f64) -> bool {
        let end = self.now.after((seconds * 1e6) as u64);
        for _ in 0..2_000_000 {
            let alive = |node: &&Node| self.is_alive(node);
            if self.nodes.iter().filter(alive).all(Node::is_done) {
                return true;
            }
            let event = self.queue.keys().next().map(|key| key.0);
            let wake = (0..self.nodes.len()).filter_map(|node| Some((self.wake(node)?, node))).min();
            let event_first = event.is_some_and(|event| wake.is_none_or(|(time, _)| event <= time));
            let Some(next) = (if event_first { event } else { wake.map(|wake| wake.0) }) else {
                return false;
            };
            if next > end {
                self.now = end;
                return false;
            }
            self.now = self.now.max(next);
            if event_first {
                let (_, (node, input)) = self.queue.pop_first().expect("it was looked at");
                self.feed(node, input);
            } else if let Some((_, node)) = wake {
                self.feed(node as u32, Input::Tick);
            }
        }
        panic!("the nodes are busy without end at {:?}", self.now);
    }

    fn is_alive(&self, node: &Node) -> bool {
        let at = self.nodes.iter().position(|other| std::ptr::eq(other, node)).expect("one of ours");
        !self.crashed.contains(&(at as u32))
    }

    fn wake(&self, node: usize) -> Option<Time> {
        if self.crashed.contains(&(node as u32)) { None } else { self.nodes[node].wake_at() }
    }

    pub(crate) fn feed(&mut self, node: PeerIx, input: Input) {
        if self.crashed.contains(&node) {
            return;
        }
        if matches!(input, Input::Recorded(_)) {
            self.unrecorded[node as usize] = false;
        }
        self.nodes[node as usize].handle(self.now, input);
        while let Some(output) = self.nodes[node as usize].poll_output() {
            self.on_output(node, output);
        }
    }

    fn on_output(&mut self, node: PeerIx, output: Output) {
        match output {
            Output::Compute(job) => {
                self.unrecorded[node as usize] = true;
                self.computed[node as usize] += 1;
                let contribution = release((self.gradient)(node, &job));
                let computed = Computed {
                    round: job.round,
                    contribution: contribution.into(),
                    release: DpEvent::NonPrivate,
                    loss: None,
                };
                self.enqueue(3 * DELAY, node, Input::Computed(computed));
            }
            Output::Record(record) => {
                assert_eq!(record.id, self.records[node as usize], "records have no gaps");
                self.records[node as usize] += 1;
                self.enqueue(DELAY / 2, node, Input::Recorded(record.id));
            }
            Output::Send { to, message } => {
                to.iter().for_each(|&to| self.on_send(node, to, message.clone()));
            }
            Output::Log(event) => self.log.push((node, *event)),
            Output::Save(snapshot) => self.saved[node as usize] = Some(*snapshot),
            Output::Forgotten(records) => self.records[node as usize] = records.end,
            Output::Done => assert!(self.nodes[node as usize].is_done()),
        }
    }

    fn on_send(&mut self, from: PeerIx, to: PeerIx, message: Message) {
        if let Some(values) = message.numbers.as_ref().and_then(Numbers::reals) {
            let fresh = self.public.insert(Digest::of(values.as_slice()));
            assert!(
                !(fresh && self.unrecorded[from as usize]),
                "node {from} sent before its record was durable"
            );
        }
        for delay in (self.fate)(from, to, &message) {
            self.enqueue(delay, to, Input::Received { from, message: message.clone() });
        }
        self.sent.push((from, to, message));
    }

    fn enqueue(&mut self, delay: u64, node: PeerIx, input: Input) {
        self.sequence += 1;
        self.queue.insert((self.now.after(delay), self.sequence), (node, input));
    }

    pub(crate) fn models(&self) -> Vec<Vec<f32>> {
        self.nodes.iter().map(|node| node.model().to_vec()).collect()
    }

    pub(crate) fn faults(&self, at: PeerIx) -> Vec<(PeerIx, FaultKind)> {
        let fault = |(node, event): &(PeerIx, RunEvent)| match event {
            RunEvent::PeerFault { peer, fault, .. } if *node == at => Some((*peer, *fault)),
            _ => None,
        };
        self.log.iter().filter_map(fault).collect()
    }

    /// The `Mixed` lines of a node.
    pub(crate) fn mixed(&self, at: PeerIx) -> Vec<Mixed> {
        let line = |(node, event): &(PeerIx, RunEvent)| match event {
            RunEvent::Mixed { round, missing, late } if *node == at => {
                Some((*round, missing.clone(), late.clone()))
            }
            _ => None,
        };
        self.log.iter().filter_map(line).collect()
    }

    /// `(token, generation, hop, node)` of every `Held` line, in order.
    pub(crate) fn held(&self) -> Vec<(u32, u32, u32, PeerIx)> {
        let line = |(node, event): &(PeerIx, RunEvent)| match event {
            RunEvent::Held { token, hop, generation, .. } => Some((*token, *generation, *hop, *node)),
            _ => None,
        };
        self.log.iter().filter_map(line).collect()
    }

    pub(crate) fn count(&self, wanted: impl Fn(&RunEvent) -> bool) -> usize {
        self.log.iter().filter(|(_, event)| wanted(event)).count()
    }
}

/// A contribution without noise: tests know what it is.
pub(crate) fn release(values: Vec<f32>) -> learn::gradient::Shareable {
    let sum = ExampleGradient::of_node(values).clip(ClipNorm::new(1e6).unwrap());
    sum.release(0.0, &mut danger_from_seed(0, "none")).unwrap().0
}

/// Links that lose and repeat so many messages in a hundred and delay each copy by up to `jitter`.
pub(crate) fn chance(
    seed: u64,
    (loss, twice): (u64, u64),
    jitter: u64,
) -> impl FnMut(PeerIx, PeerIx, &Message) -> Fate {
    let mut rng = RootSeed(seed).stream(RootSeed::LINKS);
    let mut below = move |bound: u64| rng.next_u64() % bound;
    move |_, _, _| {
        let delays = [DELAY + below(jitter), DELAY + below(jitter)];
        let copies = if below(100) < loss { 0 } else { 1 + usize::from(below(100) < twice) };
        delays[..copies].to_vec()
    }
}

//! A few nodes on a virtual clock, driven by hand: what a round is, and what happens when it breaks.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up should panic")]

mod budgets;
mod crowded;
mod findings;
mod old_disks;
mod proofs;
mod renewals;
mod slow;

use std::collections::BTreeMap;
use std::sync::Arc;

use learn::gradient::ExampleGradient;
use learn::optimiser::{OptimiserSpec, StepSizes};
use privacy::clip::ClipNorm;
use privacy::event::DpEvent;
use privacy::noise::danger_from_seed;
use proptest::prelude::*;
use topology::schedule::RunKey;

use protocol::account::Price;
use protocol::rounds::{Agreed, Say, Sum};
use protocol::work::{Computed, Job};
use protocol::{
    Algorithm, Body, BudgetRule, FaultKind, Input, Message, Node, Numbers, Output, PeerIx, RoundsSettings,
    RunEvent, RunId, Scope, Settings, Snapshot, StepRule, Time, Timeouts, Values,
};

const LATENCY: u64 = 1_000;

fn settings(nodes: usize, rounds: u32) -> Settings {
    Settings {
        run: RunId(7),
        key: RunKey::new("test"),
        nodes,
        rounds,
        algorithm: Algorithm::Rounds(RoundsSettings::new(rounds)),
        initial: Values::from_wire(vec![0.0, 0.0]),
        step: StepRule {
            sizes: StepSizes::Constant { step_size: 1.0 },
            optimiser: OptimiserSpec::Sgd { radius: None },
            penalty: 0.0,
        },
        release: DpEvent::NonPrivate,
        largest_norm: 1e6,
        mechanism: protocol::work::Mechanism::Reals,
        budget: Vec::new(),
        timeouts: Timeouts { resend: 10_000, silence: 100_000, slow: 0, give_up: 20_000_000 },
        hostile: protocol::agreement::hostile_by_default(nodes),
        certify: true,
    }
}

type Fate = Box<dyn FnMut(u64, PeerIx, PeerIx, &mut Message) -> bool>;

/// All nodes, one queue, ties broken by sequence.
struct Swarm {
    settings: Arc<Settings>,
    nodes: Vec<Option<Node>>,
    saved: Vec<Option<Snapshot>>,
    records: Vec<u64>,
    queue: BTreeMap<(u64, u64), (PeerIx, Input)>,
    sequence: u64,
    now: u64,
    log: Vec<(PeerIx, RunEvent)>,
    /// Whether a message arrives; may change it.
    fate: Fate,
    /// How long a node takes for the contribution of a round.
    takes: fn(PeerIx, u32) -> u64,
}

impl Swarm {
    fn new(settings: Settings) -> Self {
        let settings = Arc::new(settings);
        let count = settings.nodes;
        let nodes = (0..count).map(|me| Some(Node::new(me as PeerIx, settings.clone(), None))).collect();
        let mut swarm = Self {
            settings,
            nodes,
            saved: vec![None; count],
            records: vec![0; count],
            queue: BTreeMap::new(),
            sequence: 0,
            now: 0,
            log: Vec::new(),
            fate: Box::new(|_, _, _, _| true),
            takes: |_, _| 100,
        };
        (0..count as PeerIx).for_each(|node| swarm.push(0, node, Input::Start));
        swarm
    }

    fn push(&mut self, at: u64, to: PeerIx, input: Input) {
        self.queue.insert((at, self.sequence), (to, input));
        self.sequence += 1;
    }

    /// Runs until nothing is left, everybody is done, or `until`.
    fn run_until(&mut self, until: u64) {
        while let Some((&(at, _), _)) = self.queue.first_key_value() {
            if at > until || self.nodes.iter().flatten().all(Node::is_done) {
                break;
            }
            let (_, (to, input)) = self.queue.pop_first().expect("the queue has a first entry");
            self.now = at;
            self.deliver(to, input);
        }
        self.now = self.now.max(until.min(u64::MAX - 1));
    }

    fn run(&mut self) {
        self.run_until(3_600_000_000);
    }

    fn deliver(&mut self, to: PeerIx, input: Input) {
        let Some(mut node) = self.nodes[to as usize].take() else { return };
        node.handle(Time(self.now), input);
        while let Some(output) = node.poll_output() {
            self.on_output(to, output);
        }
        if let Some(wake) = node.wake_at() {
            self.push(wake.0.max(self.now + 1), to, Input::Tick);
        }
        self.nodes[to as usize] = Some(node);
    }

    fn on_output(&mut self, of: PeerIx, output: Output) {
        match output {
            Output::Compute(job) => {
                let ready = self.now + (self.takes)(of, job.round);
                self.push(ready, of, Input::Computed(contribution(of, &job)));
            }
            Output::Record(record) => {
                assert_eq!(record.id, self.records[of as usize], "records have no gaps");
                self.records[of as usize] += 1;
                self.push(self.now + 1, of, Input::Recorded(record.id));
            }
            Output::Send { to, message } => {
                for &to in &*to {
                    let mut message = message.clone();
                    if (self.fate)(self.now, of, to, &mut message) {
                        self.push(self.now + LATENCY, to, Input::Received { from: of, message });
                    }
                }
            }
            Output::Log(event) => self.log.push((of, *event)),
            Output::Save(snapshot) => self.saved[of as usize] = Some(*snapshot),
            Output::Forgotten(records) => self.records[of as usize] = records.end,
            Output::Done => {}
        }
    }

    fn crash(&mut self, node: PeerIx) {
        self.nodes[node as usize] = None;
        self.queue.retain(|_, (to, _)| *to != node);
    }

    fn come_back(&mut self, node: PeerIx) {
        self.come_back_with(node, protocol::Disk::Sure);
    }

    fn come_back_with(&mut self, node: PeerIx, disk: protocol::Disk) {
        let fresh = Node::new(node, self.settings.clone(), None);
        let back = match &self.saved[node as usize] {
            Some(snapshot) => fresh.restored(snapshot, self.records[node as usize]),
            None => fresh,
        };
        self.nodes[node as usize] = Some(back.with_disk(disk));
        self.push(self.now + 1, node, Input::Start);
    }

    fn model(&self, node: usize) -> Vec<u32> {
        let node = self.nodes[node].as_ref().expect("the node is there");
        node.model().iter().map(|value| value.to_bits()).collect()
    }

    fn count(&self, wanted: impl Fn(&RunEvent) -> bool) -> usize {
        self.log.iter().filter(|(_, event)| wanted(event)).count()
    }

    fn assert_all_done_and_equal(&self, who: impl Iterator<Item = usize> + Clone) {
        let first = who.clone().next().expect("somebody is asked about");
        for node in who {
            assert!(self.nodes[node].as_ref().is_some_and(Node::is_done), "node {node} is done");
            assert_eq!(self.model(node), self.model(first), "node {node}");
        }
    }
}

/// Node i wants to go from θ towards (i, 1): gradient θ − (i, 1), times a half.
fn contribution(node: PeerIx, job: &Job) -> Computed {
    let params = job.params.as_slice();
    let gradient = vec![0.5 * (params[0] - node as f32), 0.5 * (params[1] - 1.0)];
    let clipped = ExampleGradient::of_node(gradient).clip(ClipNorm::new(1e5).unwrap());
    let (contribution, release) = clipped.release(0.0, &mut danger_from_seed(1, "noise")).unwrap();
    Computed { round: job.round, contribution: contribution.into(), release, loss: None }
}

fn is_broken(event: &RunEvent) -> bool {
    matches!(event, RunEvent::RoundBroken { .. })
}

#[test]
fn all_members_take_the_mean_step_and_hold_the_same_bits_for_every_size() {
    for nodes in 1..=17 {
        let mut swarm = Swarm::new(settings(nodes, 5));
        swarm.run();
        swarm.assert_all_done_and_equal(0..nodes);
        // θ ← θ − ½(θ − target) five times from zero: target·(1 − 2⁻⁵); the mean target is ((n−1)/2, 1).
        let part = 1.0 - 0.5_f64.powi(5);
        let model: Vec<f32> = swarm.model(0).into_iter().map(f32::from_bits).collect();
        let expected = [(nodes as f64 - 1.0) / 2.0 * part, part];
        for (found, expected) in model.iter().zip(expected) {
            assert!((f64::from(*found) - expected).abs() < 1e-5, "{nodes} nodes: {found} for {expected}");
        }
        assert_eq!(swarm.count(is_broken), 0);
        assert_eq!(swarm.count(|event| matches!(event, RunEvent::RoundDone { .. })), 5 * nodes);
    }
}

fn is_release_of(expected: u32, output: &Output) -> bool {
    let Output::Log(event) = output else { return false };
    matches!(**event, RunEvent::Released { round, .. } if round == expected)
}

#[test]
fn nothing_is_sent_before_its_record_is_durable() {
    let mut swarm = Swarm::new(settings(2, 1));
    // Deliver by hand up to the request to record, and answer nothing.
    let node = swarm.nodes[0].as_mut().unwrap();
    node.handle(Time(0), Input::Start);
    let outputs: Vec<Output> = std::iter::from_fn(|| node.poll_output()).collect();
    let job = outputs.iter().find_map(|output| match output {
        Output::Compute(job) => Some(job.clone()),
        _ => None,
    });
    node.handle(Time(1), Input::Computed(contribution(0, &job.unwrap())));
    let outputs: Vec<Output> = std::iter::from_fn(|| node.poll_output()).collect();
    assert!(matches!(outputs[..], [Output::Record(_)]), "{outputs:?}");
    node.handle(Time(2), Input::Tick);
    assert!(node.poll_output().is_none());
    node.handle(Time(3), Input::Recorded(0));
    let outputs: Vec<Output> = std::iter::from_fn(|| node.poll_output()).collect();
    assert!(is_release_of(0, &outputs[0]), "{outputs:?}");
    assert!(outputs.iter().any(|output| matches!(output, Output::Send { .. })), "{outputs:?}");
}

#[test]
fn lost_messages_are_asked_for_again_and_no_round_breaks() {
    let mut settings = settings(6, 8);
    // Forty tries before somebody counts as silent, as by default.
    settings.timeouts.silence = 40 * settings.timeouts.resend;
    let mut swarm = Swarm::new(settings);
    let mut state = 5_u64;
    // Three messages in ten are lost, whatever they are.
    swarm.fate = Box::new(move |_, _, _, _| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % 10 >= 3
    });
    swarm.run();
    swarm.assert_all_done_and_equal(0..6);
    assert_eq!(swarm.count(is_broken), 0);
}

#[test]
fn a_peer_that_stays_away_is_dropped_and_the_run_goes_on() {
    let mut swarm = Swarm::new(settings(5, 12));
    swarm.run_until(20_000);
    swarm.crash(3);
    swarm.run();
    swarm.assert_all_done_and_equal([0, 1, 2, 4].into_iter());
    assert!(swarm.count(is_broken) >= 1);
    let roster = swarm.log.iter().find_map(|(_, event)| match event {
        RunEvent::Roster { members, .. } => Some(members.clone()),
        _ => None,
    });
    assert_eq!(roster.unwrap(), [0, 1, 2, 4]);
    let last = swarm.nodes[0].as_ref().unwrap().round();
    assert_eq!(last, 12, "broken rounds are made up for");
}

#[test]
fn a_node_that_comes_back_is_taken_in_with_the_current_model() {
    let mut swarm = Swarm::new(settings(4, 400));
    swarm.run_until(20_000);
    swarm.crash(2);
    swarm.run_until(500_000);
    assert!(
        swarm.count(|event| matches!(event, RunEvent::Roster { members, .. } if members.len() == 3)) >= 3
    );
    swarm.come_back(2);
    swarm.run();
    swarm.assert_all_done_and_equal(0..4);
    assert!(
        swarm.count(|event| matches!(event, RunEvent::Roster { members, .. } if members.len() == 4)) >= 4
    );
}

#[test]
fn a_quick_restart_is_noticed_before_anybody_is_given_up() {
    let mut swarm = Swarm::new(settings(4, 30));
    swarm.run_until(20_000);
    swarm.crash(1);
    swarm.run_until(25_000);
    swarm.come_back(1);
    swarm.run();
    swarm.assert_all_done_and_equal(0..4);
    assert_eq!(
        swarm.count(|event| matches!(event, RunEvent::Roster { members, .. } if members.len() == 3)),
        0
    );
}

#[test]
fn the_part_without_a_majority_waits_and_both_parts_agree_after_the_partition() {
    let mut swarm = Swarm::new(settings(5, 40));
    let apart = |node: PeerIx| node < 2;
    swarm.fate =
        Box::new(move |now, from, to, _| !(30_000..2_000_000).contains(&now) || apart(from) == apart(to));
    swarm.run();
    swarm.assert_all_done_and_equal(0..5);
    // Nobody of the small part ever decided on a roster of its own.
    assert_eq!(
        swarm.count(|event| matches!(event, RunEvent::Roster { members, .. } if members.len() <= 2)),
        0
    );
}

#[test]
fn malformed_sums_name_the_offender_and_cost_it_its_place() {
    type Spoil = fn(&mut Message);
    let spoil: [(Spoil, FaultKind); 4] = [
        (|message| replace_values(message, vec![f32::NAN, 0.0]), FaultKind::NotFinite),
        (|message| replace_values(message, vec![1e30, 0.0]), FaultKind::TooLarge),
        (|message| replace_values(message, vec![0.0]), FaultKind::WrongLength),
        (|message| message.run = RunId(8), FaultKind::WrongRun),
    ];
    for (spoil, expected) in spoil {
        let mut swarm = Swarm::new(settings(5, 10));
        swarm.fate = Box::new(move |_, from, _, message| {
            if from == 2 && matches!(message.body, Body::Rounds(Say::Sum(_))) {
                spoil(message);
            }
            true
        });
        swarm.run();
        swarm.assert_all_done_and_equal([0, 1, 3, 4].into_iter());
        let named = swarm.log.iter().any(
            |(_, event)| matches!(event, RunEvent::PeerFault { peer: 2, fault, .. } if *fault == expected),
        );
        assert!(named, "{expected:?}");
        let others = swarm
            .log
            .iter()
            .filter(|(_, event)| matches!(event, RunEvent::PeerFault { peer, .. } if *peer != 2));
        assert_eq!(others.count(), 0, "{expected:?}: {:?}", swarm.log);
        // The others' mean target is (8/4, 1): without the hostile node's contribution.
        let model: Vec<f32> = swarm.model(0).into_iter().map(f32::from_bits).collect();
        assert!((model[0] - 2.0).abs() < 0.01, "{expected:?}: {model:?}");
    }
}

fn said(round: u32, body: Body) -> Message {
    Message { run: RunId(7), round, step: 0, body, numbers: None }
}

fn replace_values(message: &mut Message, new: Vec<f32>) {
    message.numbers = Some(Numbers::Reals(Values::from_wire(new)));
}

#[test]
fn a_flood_of_old_messages_changes_nothing() {
    let result = |flood: bool| {
        let mut swarm = Swarm::new(settings(4, 10));
        if flood {
            let mut old: Option<Message> = None;
            swarm.run_until(5_000);
            swarm.fate = Box::new(move |_, from, _, message| {
                if from == 1 && matches!(message.body, Body::Rounds(Say::Sum(_))) {
                    old.get_or_insert_with(|| message.clone());
                }
                true
            });
            let message = said(0, Body::NotYet);
            for _ in 0..2_000 {
                swarm.push(6_000, 0, Input::Received { from: 1, message: message.clone() });
                let sum = Sum { epoch: 0, count: 1, start: protocol::Digest::default(), signature: None };
                let mut replay = said(0, Say::Sum(Box::new(sum)).into());
                replace_values(&mut replay, vec![1.0, 1.0]);
                swarm.push(9_000, 0, Input::Received { from: 1, message: replay });
            }
        }
        swarm.run();
        swarm.assert_all_done_and_equal(0..4);
        swarm.model(0)
    };
    assert_eq!(result(true), result(false));
}

#[test]
fn a_word_about_an_old_round_that_was_only_slow_breaks_nothing() {
    let mut swarm = Swarm::new(settings(4, 30));
    swarm.run_until(40_000);
    let round = swarm.nodes[1].as_ref().unwrap().round();
    assert!(round > 3, "round {round}");
    let nudge = said(round - 2, Body::Nudge);
    swarm.push(40_000, 1, Input::Received { from: 0, message: nudge });
    swarm.run();
    swarm.assert_all_done_and_equal(0..4);
    assert!(!swarm.log.iter().any(|(_, event)| matches!(event, RunEvent::RoundBroken { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever is lost, duplicated or down for a while: the survivors agree, every release is on record, and no round number is released twice by
    /// one node.
    #[test]
    fn survivors_agree_whatever_happens(seed in any::<u64>(), nodes in 3_usize..8, victim in 0_u32..3, back in any::<bool>()) {
        let mut swarm = Swarm::new(settings(nodes, 12));
        let mut state = seed | 1;
        swarm.fate = Box::new(move |_, _, _, _| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % 10 != 0
        });
        swarm.run_until(10_000 + seed % 40_000);
        swarm.crash(victim);
        swarm.run_until(10_000 + seed % 40_000 + seed % 700_000);
        if back {
            swarm.come_back(victim);
        }
        swarm.run();
        let here: Vec<usize> = (0..nodes).filter(|&node| swarm.nodes[node].is_some()).collect();
        swarm.assert_all_done_and_equal(here.iter().copied());
        for node in 0..nodes as PeerIx {
            let mut rounds: Vec<u32> = swarm.log.iter().filter(|(at, _)| *at == node).filter_map(|(_, event)| match event {
                RunEvent::Released { round, .. } => Some(*round),
                _ => None,
            }).collect();
            let released = rounds.len();
            rounds.sort_unstable();
            rounds.dedup();
            prop_assert_eq!(rounds.len(), released, "node {} released twice in one round", node);
            prop_assert!(released as u64 <= swarm.records[node as usize], "node {}", node);
        }
    }
}

//! Members that lie under masks: the rounds that they make void are few, they lose their seats, and the others learn.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod swarm;

use std::collections::{BTreeMap, BTreeSet};

use protocol::rounds::Masks;
use protocol::{LogLine, PeerIx, RunEvent, Setup};
use sim::{Hook, Options, simulate_with};
use swarm::setup;

/// Eight members of whom two may be hostile.
fn lied_to(nodes: &[PeerIx], kind: &str) -> Setup {
    lied_to_by("doubling", nodes, kind)
}

fn lied_to_by(exchange: &str, nodes: &[PeerIx], kind: &str) -> Setup {
    let exchange = format!("algorithm.exchange={exchange}");
    let hostile = format!("faults.hostile=[{{ nodes = {nodes:?}, kind = \"{kind}\", from = \"20ms\" }}]");
    setup(&[
        "algorithm.kind=rounds",
        "privacy.masking=pairwise",
        "nodes=8",
        "rounds=30",
        "privacy.noise_multiplier=0.1",
        &exchange,
        &hostile,
    ])
}

/// Masks, or none where the simulator only pretends.
struct Worn(bool);

impl Hook for Worn {
    fn masks(&self, setup: &Setup, node: PeerIx, life: u32) -> Masks {
        if self.0 { sim::seeded_masks(setup.config.seed, node, life) } else { Masks::DangerPretended }
    }
}

/// What became of a run.
struct Told {
    /// Members of the last roster that an honest node wrote down.
    seats: BTreeSet<PeerIx>,
    /// Rounds that an honest node gave up.
    void: usize,
    /// Rounds in the models of honest nodes, and their accuracy where it is known.
    models: Vec<Vec<f32>>,
}

fn told(setup: &Setup, masks: bool, liars: &[PeerIx]) -> Told {
    let mut lines: Vec<LogLine> = Vec::new();
    let options = Options { check: true, ..Options::default() };
    let mut sink = |line: &LogLine| lines.push(line.clone());
    let finished = simulate_with(setup, &options, &Worn(masks), &mut sink, &mut |_| ()).unwrap();
    let honest = (0..8).find(|node| !liars.contains(node)).unwrap();
    let (mut seats, mut void) = (BTreeSet::new(), BTreeSet::new());
    for line in lines.iter().filter(|line| line.node == Some(honest)) {
        match &line.event {
            RunEvent::Roster { members, .. } => seats = members.iter().copied().collect(),
            RunEvent::RoundBroken { round, .. } => {
                void.insert(*round);
            }
            _ => {}
        }
    }
    let models = (0..8).filter(|node| !liars.contains(node));
    let models = models.map(|node| finished.models[node as usize].clone()).collect();
    Told { seats, void: void.len(), models }
}

/// Part of the test records that a model gets right.
fn accuracy(setup: &Setup, params: &[f32]) -> f64 {
    let test = setup.test.as_ref().unwrap();
    learn::evaluation::evaluate(setup.model.as_ref(), params, test).unwrap().accuracy.unwrap()
}

/// By the rules: who contradicts itself has no seat after the first void round; who contradicts others, after one with each of f + 1.
#[test]
fn who_sends_false_zeros_loses_its_seat_and_the_others_learn() {
    let most: BTreeMap<&str, usize> = BTreeMap::from([("false-zeros", 1), ("false-mask", 3)]);
    for (kind, most) in most {
        for (liars, masks) in [(&[6][..], false), (&[2, 6][..], true)] {
            let setup = lied_to(liars, kind);
            let told = told(&setup, masks, liars);
            assert!(told.seats.iter().all(|seat| !liars.contains(seat)), "{kind}: {:?}", told.seats);
            assert_eq!(told.seats.len(), 8 - liars.len(), "{kind}: nobody honest loses a seat");
            assert!((1..=most * liars.len() + 1).contains(&told.void), "{kind}: {} void rounds", told.void);
            assert!(told.models.iter().all(|model| *model == told.models[0]), "{kind}");
            let right = accuracy(&setup, &told.models[0]);
            assert!(right > 0.75, "{kind}: {right}");
        }
    }
}

/// Garbage with the right zeros is not noticed yet, but it stops no run and no model leaves its bounds.
#[test]
fn huge_words_have_everybodys_room_and_no_more() {
    let told = told(&lied_to(&[6], "huge-words"), true, &[6]);
    assert_eq!(told.void, 0);
    assert!(told.models.iter().flatten().all(|value| value.abs() < 1e3));
}

/// By halving the words that must be zero travel in some parts only; the same is found.
#[test]
fn who_lies_about_masks_is_found_by_halving_too() {
    for (kind, most) in [("false-zeros", 1), ("false-mask", 3)] {
        let setup = lied_to_by("halving", &[6], kind);
        let told = told(&setup, true, &[6]);
        assert!(!told.seats.contains(&6) && told.seats.len() == 7, "{kind}: {:?}", told.seats);
        assert!((1..=most + 1).contains(&told.void), "{kind}: {} void rounds", told.void);
        assert!(told.models.iter().all(|model| *model == told.models[0]), "{kind}");
    }
}

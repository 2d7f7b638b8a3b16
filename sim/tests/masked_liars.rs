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
    setup_of("nodes=8", exchange, nodes, kind)
}

fn setup_of(members: &str, exchange: &str, nodes: &[PeerIx], kind: &str) -> Setup {
    let exchange = format!("algorithm.exchange={exchange}");
    let hostile = format!("faults.hostile=[{{ nodes = {nodes:?}, kind = \"{kind}\", from = \"20ms\" }}]");
    let mut pairs = SETTINGS.to_vec();
    pairs.extend([members, &exchange, &hostile]);
    setup(&pairs)
}

const SETTINGS: [&str; 4] =
    ["algorithm.kind=rounds", "privacy.masking=pairwise", "rounds=30", "privacy.noise_multiplier=0.1"];

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
    /// Who was thrown out after each look.
    looks: Vec<Vec<PeerIx>>,
    /// Rounds in the models of honest nodes, and their accuracy where it is known.
    models: Vec<Vec<f32>>,
}

fn told(setup: &Setup, masks: bool, liars: &[PeerIx]) -> Told {
    let mut lines: Vec<LogLine> = Vec::new();
    let options = Options { check: true, ..Options::default() };
    let mut sink = |line: &LogLine| lines.push(line.clone());
    let finished = simulate_with(setup, &options, &Worn(masks), &mut sink, &mut |_| ()).unwrap();
    let members = setup.settings.nodes as PeerIx;
    let honest = (0..members).find(|node| !liars.contains(node)).unwrap();
    let (mut seats, mut void, mut looks) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for line in lines.iter().filter(|line| line.node == Some(honest)) {
        match &line.event {
            RunEvent::Roster { members, .. } => seats = members.iter().copied().collect(),
            RunEvent::Inspected { named, .. } => looks.push(named.clone()),
            RunEvent::RoundBroken { round, .. } => {
                void.insert(*round);
            }
            _ => {}
        }
    }
    let models = (0..members).filter(|node| !liars.contains(node));
    let models = models.map(|node| finished.models[node as usize].clone()).collect();
    Told { seats, void: void.len(), looks, models }
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

/// By the rules one look is enough for a member that adds too much, however it hides that: one round, and another where several lie in turn. Who says nothing has no
/// seat for 64 rounds, longer than the run.
#[test]
fn who_adds_huge_numbers_is_out_after_one_look_and_the_others_learn() {
    let kinds = ["huge-words", "half-words", "false-stream", "false-sums", "no-projections", "no-draw"];
    for (kind, named) in kinds.into_iter().zip([true, true, true, true, false, true]) {
        // Twice half of the ring is nothing: two that add it to the same numbers do no harm, and there is no reason to look.
        let many = if kind == "half-words" { &[2][..] } else { &[2, 6][..] };
        for (exchange, liars, masks) in [("doubling", &[6][..], true), ("halving", many, true)] {
            let setup = lied_to_by(exchange, liars, kind);
            let told = told(&setup, masks, liars);
            let what = format!("{kind}, {exchange}, {liars:?}");
            assert!(told.seats.iter().all(|seat| !liars.contains(seat)), "{what}: {:?}", told.seats);
            assert_eq!(told.seats.len(), 8 - liars.len(), "{what}: nobody honest loses a seat");
            assert!((1..=2).contains(&told.void), "{what}: {} rounds lost", told.void);
            assert_eq!(told.looks.len(), 1, "{what}: {:?}", told.looks);
            assert_eq!(told.looks[0], if named { liars.to_vec() } else { Vec::new() }, "{what}");
            assert!(told.models.iter().all(|model| *model == told.models[0]), "{what}");
            let right = accuracy(&setup, &told.models[0]);
            assert!(right > 0.75, "{what}: {right}");
        }
    }
}

/// Rosters in which some fold in and out: what they put in is found there too, in any place.
#[test]
fn whoever_lies_is_named_in_rosters_of_any_size() {
    for exchange in ["doubling", "halving"] {
        for (nodes, liar) in [("nodes=5", 0), ("nodes=6", 5), ("nodes=7", 3), ("nodes=11", 10)] {
            let setup = setup_of(nodes, exchange, &[liar], "huge-words");
            let told = told(&setup, true, &[liar]);
            assert_eq!(told.looks, [[liar]], "{exchange}, {nodes}");
            assert!(!told.seats.contains(&liar) && told.models.iter().all(|it| *it == told.models[0]));
        }
    }
}

/// Who shares masks with nobody, since the simulator leaves them out, is found all the same.
#[test]
fn pretended_masks_are_looked_under_too() {
    let told = told(&lied_to(&[6], "huge-words"), false, &[6]);
    assert_eq!((told.looks, told.void), (vec![vec![6]], 1));
}

/// An honest run of as many rounds is not looked into.
#[test]
fn nobody_looks_where_nobody_lies() {
    let mut pairs = SETTINGS.to_vec();
    pairs.extend(["nodes=8", "faults.drop_prob=0.01"]);
    let told = told(&setup(&pairs), true, &[]);
    assert!(told.looks.is_empty());
}

/// Five times as long as an honest contribution can be: no total shows it, and a look passes it with probability below 10⁻⁶. With a coin in half of the rounds the chance that none of 25
/// says so is 10⁻⁷. Nobody honest is named by any of them, and no round that counted is lost.
#[test]
fn who_is_too_long_is_named_by_a_coin() {
    let mut pairs = SETTINGS.to_vec();
    let hostile = "faults.hostile=[{ nodes = [6], kind = \"long-words\", from = \"20ms\" }]";
    pairs.extend(["nodes=8", "privacy.inspect=0.5", hostile]);
    let setup = setup(&pairs);
    let told = told(&setup, true, &[6]);
    assert!(!told.seats.contains(&6) && told.seats.len() == 7, "{:?}", told.seats);
    let named: Vec<&Vec<PeerIx>> = told.looks.iter().filter(|named| !named.is_empty()).collect();
    assert_eq!(named, [&vec![6]], "{:?}", told.looks);
    assert!(told.models.iter().all(|model| *model == told.models[0]));
    assert!(accuracy(&setup, &told.models[0]) > 0.75);
}

/// Sums are checked against records, and two that differ are apart: at most f + 1 rounds are lost, and nothing is opened.
#[test]
fn who_changes_sums_is_out_after_one_lost_round_with_each_of_three() {
    for exchange in ["doubling", "halving"] {
        let told = told(&lied_to_by(exchange, &[6], "changed-sum"), true, &[6]);
        assert!(!told.seats.contains(&6) && told.seats.len() == 7, "{exchange}: {:?}", told.seats);
        assert!((1..=4).contains(&told.void), "{exchange}: {} rounds lost", told.void);
    }
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

/// Small samples: every contribution has paid for a look into its round, so the look costs nothing more, nothing is put down for it, and plan and account agree.
#[test]
fn a_look_into_samples_is_paid_for_and_names_who_lies() {
    let hostile = "faults.hostile=[{ nodes = [6], kind = \"huge-words\", from = \"20ms\" }]";
    let mut config = setup(&[&SETTINGS[..], &["nodes=8", "batch_size=4", hostile]].concat()).config;
    (config.privacy.epsilon, config.privacy.noise_multiplier) = (Some(1.0), None);
    let setup = Setup::new(config).unwrap();
    let mut lines: Vec<LogLine> = Vec::new();
    let options = Options { check: true, ..Options::default() };
    let mut sink = |line: &LogLine| lines.push(line.clone());
    simulate_with(&setup, &options, &Worn(true), &mut sink, &mut |_| ()).unwrap();
    let named = |line: &LogLine| matches!(&line.event, RunEvent::Inspected { named, .. } if *named == [6]);
    assert!(lines.iter().any(named), "who lies is named");
    let apart = |line: &&LogLine| matches!(line.event, RunEvent::Released { among: None, .. });
    assert_eq!(lines.iter().filter(apart).count(), 0, "no record of a look");
    let mut account = protocol::account::Account::new(setup.shape()).unwrap();
    lines.iter().for_each(|line| account.push(line));
    account.settle_final();
    let (found, planned) = (account.summary().coalition.unwrap(), setup.planned.coalition.unwrap());
    // Rényi divergences, a little fewer members for a while, and a round that was lost.
    assert_eq!((found.members, planned.0), (2, 2));
    assert!(found.epsilon < 1.3 * planned.1 && found.epsilon > 0.8, "{} {}", found.epsilon, planned.1);
}

//! Nodes whose data differ: models of their own cost no message, slots stay hidden, and what is kept is charged.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod swarm;

use std::sync::Mutex;

use protocol::account::Account;
use protocol::personal::mine;
use protocol::{LogLine, Setup};
use sim::run::Done;
use sim::{Delivery, Hook, Options, simulate_with};
use swarm::{run, setup};

const ROUNDS: [&str; 4] = ["algorithm.kind=rounds", "rounds=12", "personal.kind=proximal", "test_fraction=0"];

fn done(setup: &Setup) -> Done {
    sim::run::run(setup, &Options::default(), &mut |_| {}, &mut |_| {}).unwrap()
}

/// Every vector that anybody was sent.
#[derive(Default)]
struct Ear(Mutex<Vec<Vec<f32>>>);

impl Hook for Ear {
    fn delivered(&self, delivery: &Delivery<'_>) {
        if let Some(values) = delivery.message.numbers.as_ref().and_then(|numbers| numbers.reals()) {
            self.0.lock().unwrap().push(values.as_slice().to_vec());
        }
    }
}

fn heard(setup: &Setup) -> (String, Vec<Vec<f32>>, Vec<Vec<f32>>) {
    let (ear, mut log) = (Ear::default(), String::new());
    let mut sink = |line: &LogLine| {
        // The first line has the configuration, which may differ.
        if line.node.is_some() {
            log += &(serde_json::to_string(line).unwrap() + "\n");
        }
    };
    let finished = simulate_with(setup, &Options::default(), &ear, &mut sink, &mut |_| ()).unwrap();
    (log, ear.0.into_inner().unwrap(), finished.models)
}

#[test]
fn a_model_of_one_s_own_changes_no_message_and_is_in_none() {
    for kind in ["algorithm.kind=rounds", "algorithm.kind=gossip"] {
        let with = setup(&[&ROUNDS[..], &[kind, "rounds=6"]].concat());
        let without = Setup { personal: None, ..with.clone() };
        let ((log, messages, models), (plain_log, plain, _)) = (heard(&with), heard(&without));
        assert_eq!((&log, &messages), (&plain_log, &plain), "{kind}");
        assert!(!messages.is_empty());
        for (node, model) in models.iter().enumerate().take(4) {
            let mine = mine(&with, node, model).unwrap();
            let own = mine.own.unwrap();
            assert_ne!(own.params, mine.shared);
            for secret in [&own.params, &own.alone] {
                assert!(messages.iter().all(|message| message != secret), "{kind}: node {node}");
                // Not as text either: the first numbers that are not zero, as the log would print them.
                let printed = secret.iter().filter(|value| **value != 0.0).take(8);
                assert!(
                    printed.clone().count() > 0
                        && printed.clone().all(|value| !log.contains(&value.to_string()))
                );
            }
        }
    }
}

#[test]
fn a_model_of_one_s_own_is_better_than_the_shared_one_where_data_differ() {
    let pairs =
        ["partition.kind=pathological", "partition.min_size=8", "privacy.noise_multiplier=0", "rounds=40"];
    let result = done(&setup(&[&ROUNDS[..], &pairs].concat())).result;
    let personal = result.personal.unwrap();
    let [own, shared, alone] = personal.means();
    assert_eq!(personal.nodes(), 16);
    assert!(own > shared && own > 0.95 && alone > 0.9, "{own} {shared} {alone}");
    let json = serde_json::to_value(&done(&setup(&ROUNDS)).result).unwrap();
    assert!(json["personal"]["personal_acc"].is_number() && json.get("clusters").is_none());
}

const SLOTS: [&str; 5] =
    ["algorithm.kind=rounds", "rounds=40", "clusters.slots=3", "turned=2", "test_fraction=0"];

#[test]
fn nodes_find_the_slot_of_their_group_and_nobody_sees_which() {
    let setup = setup(&[&SLOTS[..], &["privacy.noise_multiplier=0"]].concat());
    let result = done(&setup).result;
    let clusters = result.clusters.unwrap();
    assert_eq!((clusters.slots, clusters.unmixed), (3, Some(true)));
    // With noise every slot of every sum has noise, and all messages of a step are of one size.
    let noisy = swarm::setup(&[&SLOTS[..], &["rounds=3"]].concat());
    let (_, messages, _) = heard(&noisy);
    let size = noisy.layout.parameters;
    assert_eq!(noisy.settings.initial.len(), 3 * size);
    for message in messages.iter().filter(|message| message.len() == 3 * size) {
        assert!(
            message.chunks(size).all(|slot| slot.iter().filter(|value| **value != 0.0).count() > size / 2)
        );
    }
}

/// μ² of k choices at z is k/z², charged in full towards everybody: the account of the run passes that of the same contributions alone by as much, and
/// the target holds with both.
#[test]
fn private_choices_are_charged_in_full_and_leave_room_in_the_budget() {
    let pairs = ["privacy.epsilon=8", "clusters.choice_noise=4", "rounds=20", "privacy.adjacency=record"];
    let setup = setup(&[&SLOTS[..], &pairs].concat());
    let lines = run(&setup, 2).lines;
    let priced = |kept| {
        let mut account = Account::new(protocol::account::Shape { kept, ..setup.shape() }).unwrap();
        lines.iter().for_each(|line| account.push(line));
        account.settle_final();
        account.summary()
    };
    let (with, without) = (priced(setup.shape().kept), priced(None));
    let more = with.worst.mu2 - without.worst.mu2;
    assert!((more - 4.0 / 16.0).abs() < 1e-6, "{more}");
    assert!(with.worst.epsilon <= 8.0 && with.worst.epsilon > without.worst.epsilon);
    assert!((with.local.mu2 - without.local.mu2 - 0.25).abs() < 1e-6);
    assert_eq!(with.releases, without.releases);
    assert!(
        (setup.planned.worst - with.worst.epsilon).abs() < 1e-6,
        "{} {}",
        setup.planned.worst,
        with.worst.epsilon
    );
}

#[test]
fn choices_that_eat_the_budget_are_refused() {
    use protocol::Hint;
    use protocol::config::{Config, Layer};
    let pairs = ["clusters.slots=3", "clusters.choice_noise=0.5", "privacy.epsilon=2"];
    let config = Config::from_layers([Layer::from_flags("--set", &pairs).unwrap()]).unwrap();
    let error = Setup::new(config).unwrap_err();
    assert!(error.hint().unwrap().contains("clusters.choice_noise"), "{error}");
}

#[test]
fn own_noise_that_comes_back_is_priced_for_somebody_who_sees_everything() {
    let pairs = [
        "algorithm.kind=rounds",
        "rounds=6",
        "privacy.adjacency=node",
        "privacy.target=local",
        "local.scaffold=true",
    ];
    let summary = done(&setup(&pairs)).result.privacy;
    assert_eq!(summary.worst.epsilon, summary.local.epsilon);
    assert!(summary.worst.analysis.contains("local"), "{}", summary.worst.analysis);
    let plain = done(&setup(&pairs[..4])).result.privacy;
    assert!(plain.worst.epsilon < plain.local.epsilon);
}

/// Drift: nodes with few classes and many local steps. No noise.
#[test]
fn control_variates_and_d2_learn_where_plain_steps_drift() {
    let node = [
        "algorithm.kind=rounds",
        "nodes=10",
        "rounds=15",
        "privacy.adjacency=node",
        "privacy.noise_multiplier=0",
        "privacy.clip_norm=100",
        "learning_rate=0.5",
        "local_steps=20",
        "partition.kind=pathological",
        "partition.min_size=8",
    ];
    let accuracy = |pairs: &[&str]| done(&setup(pairs)).result.test_acc.unwrap();
    let (scaffold, plain) = (accuracy(&[&node[..], &["local.scaffold=true"]].concat()), accuracy(&node));
    assert!(scaffold > plain + 0.01 && scaffold > 0.85, "{scaffold} {plain}");
    let ring = [
        "algorithm.kind=gossip",
        "algorithm.mixing_steps=1",
        "topology=ring",
        "weights=lazy-metropolis",
        "rounds=200",
        "learning_rate=0.5",
        "privacy.clip_norm=100",
        "privacy.noise_multiplier=0",
        "partition.kind=pathological",
    ];
    let (d2, gossip) = (accuracy(&[&ring[..], &["algorithm.correction=d2"]].concat()), accuracy(&ring));
    assert!(d2 > gossip, "{d2} {gossip}");
}

#[test]
fn a_clip_norm_follows_the_updates_and_nodes_may_stay_out() {
    let pairs = [
        "algorithm.kind=rounds",
        "rounds=60",
        "privacy.adjacency=node",
        "privacy.noise_multiplier=0",
        "learning_rate=0.5",
        "privacy.clip_norm=10",
        "privacy.clip_quantile=0.5",
    ];
    let adaptive = setup(&pairs);
    let finished = run(&adaptive, 2).finished;
    let clip = adaptive.layout.log_clip(&finished.models[0]).unwrap().exp();
    // One step of size 0.5 on the digits moves the model by well below one.
    assert!(clip < 1.0 && clip > 0.01, "{clip}");
    assert!(done(&adaptive).result.test_acc.unwrap() > 0.7);
    let out = setup(&[
        "algorithm.kind=rounds",
        "rounds=40",
        "privacy.adjacency=node",
        "privacy.noise_multiplier=0",
        "learning_rate=0.5",
        "algorithm.check_in=0.5",
    ]);
    assert!(done(&out).result.test_acc.unwrap() > 0.7);
    // With noise the event of update and bit together is that of one update.
    let noisy = swarm::setup(&[
        "algorithm.kind=rounds",
        "rounds=3",
        "privacy.adjacency=node",
        "privacy.noise_multiplier=3",
        "privacy.clip_quantile=0.5",
    ]);
    let priced = |setup: &Setup| done(setup).result.privacy.local.epsilon;
    let plain = swarm::setup(&[
        "algorithm.kind=rounds",
        "rounds=3",
        "privacy.adjacency=node",
        "privacy.noise_multiplier=3",
    ]);
    assert_eq!(priced(&noisy), priced(&plain));
}

/// The best guess between two nodes in different slots, from all of a contribution and with both signals known: right with probability Φ(d/2σ), d ≤ √2·C being
/// their distance. 200 guesses; five standard deviations are allowed for, a false alarm in less than one of a million; seeds are fixed.
#[test]
fn whoever_sees_a_contribution_tells_its_slot_no_better_than_the_noise_allows() {
    use privacy::noise::danger_from_seed;
    use protocol::work::{Desk, Job, NodeState, Room, own_slot};
    let node = ["privacy.adjacency=node", "learning_rate=0.5", "rounds=40", "privacy.clip_norm=0.2"];
    let trained = heard(&setup(&[&SLOTS[..], &node, &["privacy.noise_multiplier=0"]].concat())).2.remove(0);
    let with = |noise: &str| setup(&[&SLOTS[..], &node, &[noise]].concat());
    let contribution = |setup: &Setup, node: usize, seed: u64| {
        let (mut room, mut state) = (Room::default(), NodeState::default());
        let desk = &mut Desk { node, position: node as u32, room: &mut room, state: &mut state };
        let job = Job::new(39, protocol::Values::from_wire(trained.clone()));
        let made = setup.door.contribute(desk, &job, &mut danger_from_seed(seed, "audit")).unwrap();
        made.contribution.into_reals().unwrap().into_values()
    };
    let (same, noisy) = (with("privacy.noise_multiplier=0"), with("privacy.noise_multiplier=2"));
    let signals = [0, 1].map(|node| contribution(&same, node, 1));
    let slot =
        |node: usize| own_slot(same.model.as_ref(), &same.layout, &trained, &same.train[node]).unwrap();
    assert_ne!(slot(0), slot(1), "turned images have a slot of their own");
    let way: Vec<f64> =
        signals[0].iter().zip(&signals[1]).map(|(a, b)| f64::from(*a) - f64::from(*b)).collect();
    let distance = way.iter().map(|x| x * x).sum::<f64>().sqrt();
    assert!(distance <= 2f64.sqrt() * 0.2 * (1.0 + 1e-6), "{distance}");
    let middle: f64 = way
        .iter()
        .zip(signals[0].iter().zip(&signals[1]))
        .map(|(w, (a, b))| w * 0.5 * f64::from(a + b))
        .sum();
    let right = |seed: u64| {
        let node = (seed % 2) as usize;
        let seen = contribution(&noisy, node, seed);
        let side: f64 = way.iter().zip(&seen).map(|(w, x)| w * f64::from(*x)).sum();
        (side > middle) == (node == 0)
    };
    let found = (0..200).filter(|&seed| right(seed)).count() as f64 / 200.0;
    // σ = 2·C: at most Φ(√2/4) = 0.638, and for signals of full length about that.
    assert!(found <= 0.638 + 5.0 * (0.25f64 / 200.0).sqrt(), "{found}");
}

/// Models of nodes' own, pulled towards their neighbours': where they come to rest, ∇f_i(θ_i) + λ·Σ w_ij(θ_i − θ_j) is zero but for the length of a step. With L = I − W the
/// rule θ ← (I − ηλL)(θ − ηg) rests exactly where g + λLθ = ηλLg.
#[test]
fn models_that_are_pulled_rest_between_their_own_data_and_their_neighbours() {
    let (rate, pull) = (0.05, 0.4);
    let pairs = [
        "algorithm.kind=gossip",
        "topology=ring",
        "rounds=2000",
        "nodes=6",
        "data=two-clusters:nodes=6,dim=3,records=20",
        "partition.kind=natural",
        "model.kind=linear",
        "learning_rate=0.05",
        "algorithm.pull=0.4",
        "privacy.noise_multiplier=0",
        "privacy.clip_norm=1000",
        "test_fraction=0",
    ];
    let setup = setup(&pairs);
    let models = run(&setup, 2).finished.models;
    let slope = |node: usize| -> Vec<f64> {
        let found = learn::model::gradient(setup.model.as_ref(), &models[node], &setup.train[node]).unwrap();
        found.iter().map(|&value| f64::from(value)).collect()
    };
    let slopes: Vec<Vec<f64>> = (0..6).map(slope).collect();
    let values: Vec<Vec<f64>> =
        models.iter().map(|model| model.iter().map(|&value| f64::from(value)).collect()).collect();
    // Metropolis weights of a ring are thirds.
    let apart = |all: &[Vec<f64>], node: usize, at: usize| {
        let beside = [(node + 1) % 6, (node + 5) % 6];
        beside.iter().map(|&other| (all[node][at] - all[other][at]) / 3.0).sum::<f64>()
    };
    let mut largest = 0.0_f64;
    for node in 0..6 {
        for at in 0..values[0].len() {
            let rest = slopes[node][at] + pull * apart(&values, node, at);
            let exact = rate * pull * apart(&slopes, node, at);
            assert!((rest - exact).abs() < 2e-5, "node {node}, {at}: {rest} {exact}");
            largest = largest.max(slopes[node][at].abs());
        }
    }
    assert!(largest > 0.01, "the pull holds them back: {largest}");
    assert_ne!(models[0], models[1], "they do not become one");
}

/// The messages of pulled models are noisy as those of gossip are, and so is their price: for direct neighbours everything that was released.
#[test]
fn a_pull_is_priced_like_gossip() {
    let gossip =
        ["algorithm.kind=gossip", "topology=ring", "rounds=5", "learning_rate=1", "algorithm.mixing_steps=1"];
    let priced = |pairs: &[&str]| done(&setup(pairs)).result.privacy;
    let (pulled, plain) = (priced(&[&gossip[..], &["algorithm.pull=0.2"]].concat()), priced(&gossip));
    assert_eq!(pulled.local.epsilon, plain.local.epsilon);
    assert_eq!(pulled.worst.epsilon, pulled.local.epsilon);
    assert_eq!(pulled.mean.analysis, plain.mean.analysis);
    assert!(pulled.mean.epsilon <= pulled.local.epsilon && pulled.mean.epsilon > 0.0);
}

//! What follows from a configuration and the data.

use super::*;
use crate::algorithm::Algorithm;
use crate::config::Layer;
use crate::work::Unit;
use topology::Hint;

fn config(pairs: &[&str]) -> Config {
    Config::from_layers([Layer::from_flags("--set", pairs).unwrap()]).unwrap()
}

fn setup(pairs: &[&str]) -> Setup {
    Setup::new(config(pairs)).unwrap_or_else(|error| panic!("{pairs:?}: {error:?}"))
}

#[test]
fn every_record_is_for_one_node_or_for_the_test() {
    let setup = setup(&["nodes=10", "privacy.epsilon=inf"]);
    let train: usize = setup.train.iter().map(Dataset::len).sum();
    // A fifth of the 1797 digits, to the nearest record.
    assert_eq!((setup.train.len(), train, setup.test.unwrap().len()), (10, 1797 - 359, 359));
    assert_eq!(setup.settings.initial.len(), 65 * 10);
    assert_eq!(setup.settings.release, DpEvent::NonPrivate);
}

#[test]
fn the_run_is_another_where_name_seed_or_shared_keys_differ() {
    let run = |pairs: &[&str]| setup(&[pairs, &["nodes=4", "privacy.epsilon=inf"]].concat()).settings.run;
    let first = run(&[]);
    assert_eq!(first, run(&["faults.drop_prob=0.5"]));
    for other in ["name=b", "seed=2", "rounds=3"] {
        assert_ne!(first, run(&[other]), "{other}");
    }
}

#[test]
fn at_node_level_local_steps_take_the_learning_rate_and_the_mean_is_applied_whole() {
    let pairs = [
        "nodes=4",
        "privacy.adjacency=node",
        "privacy.noise_multiplier=3",
        "learning_rate=0.1",
        "local_steps=5",
    ];
    let setup = setup(&pairs);
    assert_eq!(setup.settings.step.sizes, StepSizes::Constant { step_size: 1.0 });
    let Unit::Node { local, .. } = &setup.work.unit else { panic!("{:?}", setup.work.unit) };
    assert_eq!((local.steps, local.schedule), (5, StepSizes::Constant { step_size: 0.1 }));
    // Noise 3C on a sensitivity of 2C.
    assert_eq!(setup.settings.release, DpEvent::Gaussian { noise_multiplier: 1.5 });
    assert_eq!(setup.rho, None);
}

#[test]
fn a_walk_has_as_many_hops_as_nodes_and_rounds_make_and_starts_far_apart() {
    let setup =
        setup(&["nodes=12", "algorithm.kind=walk", "rounds=5", "algorithm.tokens=3", "privacy.epsilon=inf"]);
    assert_eq!(setup.settings.rounds, 20);
    let Algorithm::Walk(walk) = &setup.settings.algorithm else { panic!("not a walk") };
    assert_eq!(walk.starts, [0, 4, 8]);
}

#[test]
fn the_mean_starts_from_zeros_and_protects_nodes() {
    let setup = setup(&["nodes=16", "algorithm.kind=mean", "topology=ring", "privacy.noise_multiplier=1"]);
    assert_eq!((setup.settings.rounds, setup.settings.initial.len()), (1, 64));
    assert!(setup.settings.initial.as_slice().iter().all(|&value| value == 0.0) && setup.test.is_none());
    assert_eq!(setup.work.unit.adjacency(), Adjacency::Node);
    assert_eq!(setup.train.iter().map(Dataset::len).sum::<usize>(), 1797);
}

#[test]
fn acceleration_has_one_coefficient_per_step() {
    let pairs = [
        "nodes=16",
        "algorithm.kind=gossip",
        "algorithm.accelerate=true",
        "topology=ring",
        "privacy.epsilon=inf",
    ];
    let setup = setup(&pairs);
    let Algorithm::Gossip(gossip) = &setup.settings.algorithm else { panic!("not gossip") };
    assert_eq!((gossip.accelerate.len(), gossip.accelerate[0]), (10, 1.0));
    assert!(
        gossip.accelerate[1..].iter().all(|&omega| omega > 1.0 && omega < 2.0),
        "{:?}",
        gossip.accelerate
    );
}

/// The noise meets the target: priced here by the accountant for Gaussians, whose closed form the privacy crate tests.
#[test]
fn the_noise_meets_the_target() {
    for pairs in [
        ["nodes=8", "privacy.epsilon=2", "rounds=20", "batch_size=all", "privacy.adjacency=record"],
        ["nodes=8", "privacy.epsilon=2", "rounds=20", "batch_size=16", "privacy.adjacency=record"],
        ["nodes=8", "privacy.epsilon=2", "rounds=20", "batch_size=all", "privacy.adjacency=node"],
    ] {
        let pairs = [pairs.as_slice(), &["privacy.target=local"]].concat();
        let setup = setup(&pairs);
        let all = setup.settings.release.clone().repeated(20);
        let epsilon = learn::calibrate::epsilon(&all, 1e-5).unwrap();
        assert!(epsilon <= 2.0 && epsilon > 1.9, "{pairs:?}: {epsilon}");
    }
}

#[test]
fn rho_needs_a_bound_on_rows_and_a_plain_step() {
    let certified = |pairs: &[&str]| {
        setup(
            &[pairs, &["nodes=4", "data=breast-cancer", "model.kind=logistic", "privacy.epsilon=inf"]]
                .concat(),
        )
        .rho
    };
    // β = (30 + 1)/4 for thirty features in 0..1: a step of 0.1 is below 2/β.
    assert_eq!(certified(&["learning_rate=0.1"]), Some(1.0));
    assert!(certified(&["learning_rate=1"]).unwrap() > 1.0);
    assert_eq!(certified(&["learning_rate=0.1", "optimiser.kind=momentum"]), None);
    assert!(certified(&["learning_rate=0.1", "batch_size=10"]).unwrap() > 1.0);
}

#[test]
fn a_real_participant_comes_to_the_same_settings_from_its_own_data() {
    let common = ["nodes=4", "privacy.noise_multiplier=1", "partition.min_size=300"];
    let all = setup(&[&common[..], &["privacy.adjacency=node"]].concat());
    let alone = Setup::for_node(all.config.clone(), all.train[2].clone(), None).unwrap();
    assert_eq!(alone.settings.run, all.settings.run);
    assert_eq!(alone.settings.initial, all.settings.initial);
    assert_eq!(alone.settings.release, all.settings.release);
    // Whole batches of unknown size would give every node noise of its own.
    let whole = setup(&common);
    let refused = Setup::for_node(whole.config, whole.train[2].clone(), None);
    assert!(matches!(refused, Err(SetupError::NeedsBatchSize)));
    let batches = setup(&[&common[..], &["batch_size=64"]].concat());
    let alone = Setup::for_node(batches.config, batches.train[2].clone(), None).unwrap();
    assert!(matches!(alone.work.unit, Unit::Record { common, .. } if common.divisor == 64.0));
    let few = all.train[0].subset(&[0, 1]);
    assert!(matches!(
        Setup::for_node(all.config, few, None),
        Err(SetupError::TooFewRecords { records: 2, .. })
    ));
}

#[test]
fn what_cannot_be_prepared_is_said_with_a_hint() {
    for (pairs, words) in [
        (&["nodes=5000"][..], "use at most"),
        (&["model.kind=linear"], "linear"),
        (&["privacy.row_norm=0.5"], "privacy.row_norm"),
        (&["data=missing.csv:label=y"], "missing.csv"),
    ] {
        let error = Setup::new(config(pairs)).expect_err("must be refused");
        let mut text = format!("{error} | {}", error.hint().unwrap_or_default());
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            text += &format!(" | {cause}");
            source = cause.source();
        }
        assert!(text.contains(words), "`{words}` is not in: {text}");
    }
}

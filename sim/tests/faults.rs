//! What goes wrong in networks: learning goes on, and the log never says less than the ledgers.

mod swarm;

use protocol::RunEvent;
use sim::Ended;
use swarm::{ALGORITHMS, Run, run, setup};

/// Algorithms that learn; `mean` has nothing to learn.
const LEARNERS: std::ops::Range<usize> = 0..3;

#[track_caller]
fn learns(algorithm: usize, faults: &[&str], survivors: usize) -> Run {
    let more = ["rounds=30", "privacy.noise_multiplier=0.1"];
    let setup = setup(&[ALGORITHMS[algorithm], &more, faults].concat());
    let run = run(&setup, 2);
    run.assert_learnt(survivors);
    for (node, (&records, releases)) in
        run.finished.records_per_node.iter().zip(run.releases(setup.settings.nodes)).enumerate()
    {
        assert!(releases >= records, "node {node} has {records} records and {releases} releases");
    }
    run
}

#[test]
fn a_quiet_network_loses_nothing() {
    for algorithm in LEARNERS {
        let run = learns(algorithm, &[], 16);
        assert_eq!(run.finished.dropped, 0);
        assert_eq!(run.finished.rounds, 30);
        assert!(run.faults().is_empty(), "{:?}", run.faults());
    }
}

#[test]
fn a_fifth_of_the_messages_may_be_lost() {
    for algorithm in LEARNERS {
        let run = learns(algorithm, &["faults.drop_prob=0.2"], 12);
        let part = run.finished.dropped as f64 / run.finished.messages as f64;
        assert!((0.15..0.25).contains(&part), "{part}");
        assert!(run.faults().is_empty(), "{:?}", run.faults());
    }
}

#[test]
fn three_in_ten_nodes_may_be_off_at_a_time() {
    for algorithm in LEARNERS {
        let run =
            learns(algorithm, &["faults.online_prob=0.7", "faults.slot=100ms", "members.hostile=0"], 10);
        assert!(run.finished.dropped > 0);
    }
}

#[test]
fn a_quarter_of_the_nodes_may_be_lost_for_good() {
    for algorithm in LEARNERS {
        let run = learns(algorithm, &["faults.crash=[{ fraction = 0.25, at = \"20ms\" }]"], 12);
        assert_eq!(run.finished.models.iter().filter(|model| model.is_empty()).count(), 4);
    }
}

#[test]
fn nodes_that_crash_come_back_with_what_they_had() {
    for algorithm in LEARNERS {
        let faults = ["faults.crash=[{ nodes = [2, 9], at = \"20ms\", back = \"500ms\" }]", "rounds=400"];
        let run = learns(algorithm, &faults, 16);
        assert!(run.finished.models.iter().all(|model| !model.is_empty()));
    }
}

#[test]
fn a_partition_heals() {
    for algorithm in LEARNERS {
        let faults = "faults.partition=[{ fraction = 0.3, from = \"20ms\", until = \"1s\" }]";
        let run = learns(algorithm, &[faults, "rounds=60"], 10);
        assert!(run.finished.dropped > 0);
    }
}

#[test]
fn a_slow_node_slows_but_does_not_stop() {
    let run = learns(0, &["faults.slow=[{ nodes = [7], factor = 20.0 }]"], 16);
    assert!(run.nodes_with(|event| matches!(event, RunEvent::RoundBroken { .. })).is_empty());
}

/// Under masks a member without data still sends the noise and the masks on which the others count.
#[test]
fn under_masks_who_is_too_slow_adds_no_data_and_breaks_no_round() {
    for exchange in ["algorithm.exchange=doubling", "algorithm.exchange=halving"] {
        let masked = [ALGORITHMS[0], &["privacy.masking=pairwise", exchange, "rounds=40"]].concat();
        let slow = ["faults.slow=[{ nodes = [7], factor = 100.0 }]", "timeouts.slow=\"30ms\""];
        let run = run(&setup(&[&masked, &slow[..]].concat()), 2);
        assert!(run.nodes_with(|event| matches!(event, RunEvent::RoundBroken { .. })).is_empty());
        assert!(run.faults().is_empty(), "{:?}", run.faults());
        assert_eq!(run.finished.rounds, 40);
        let records = &run.finished.records_per_node;
        assert!((0..16).all(|node| records[node] == if node == 7 { 0 } else { 40 }), "{records:?}");
        assert!(run.finished.models.iter().all(|model| *model == run.finished.models[0]));
    }
}

#[test]
fn a_run_in_which_nobody_reaches_anybody_ends() {
    for algorithm in ALGORITHMS {
        let setup = setup(&[algorithm, &["faults.drop_prob=1", "timeouts.give_up=2s"]].concat());
        let run = run(&setup, 2);
        assert!(run.finished.time.seconds() < 3600.0, "{:?} {:?}", run.finished.ended, run.finished.time);
        assert_ne!(run.finished.dropped, 0);
        assert!([Ended::AllDone, Ended::Stalled, Ended::Quiet].contains(&run.finished.ended));
    }
}

#[test]
fn mixing_conserves_the_mean() {
    // Without noise the mean of the states is the mean of what the nodes hold, before and after mixing.
    let mean = |steps: &str| {
        let more = ["privacy.noise_multiplier=0", steps, "data=digits"];
        let run = run(&setup(&[ALGORITHMS[3], &more].concat()), 2);
        let models = run.finished.models;
        let sum = |at: usize| models.iter().map(|model| f64::from(model[at])).sum::<f64>();
        (0..models[0].len()).map(|at| sum(at) / models.len() as f64).collect::<Vec<f64>>()
    };
    let (once, often) = (mean("algorithm.mixing_steps=1"), mean("algorithm.mixing_steps=30"));
    assert!(once.iter().any(|value| value.abs() > 0.01));
    let worst = once.iter().zip(&often).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst < 1e-6, "{worst}");
}

//! The log and the models depend on the setup alone: not on threads, not on the run.

mod swarm;

use swarm::{ALGORITHMS, run, setup};

/// Everything that can go wrong at once.
const FAULTS: [&str; 9] = [
    "faults.drop_prob=0.05",
    "faults.duplicate_prob=0.1",
    "faults.reorder_prob=0.1",
    "faults.online_prob=0.9",
    "faults.slot=50ms",
    "faults.jitter=3ms",
    "faults.bandwidth=10000000",
    "faults.crash=[{ nodes = [1, 2], at = \"40ms\", back = \"300ms\" }, { nodes = [5], at = \"60ms\", back = \"200ms\", pause = true }]",
    "faults.slow=[{ nodes = [3], factor = 4.0 }]",
];

#[test]
fn any_number_of_threads_gives_the_same_bytes_whatever_goes_wrong() {
    for algorithm in ALGORITHMS {
        for faults in [&[][..], &FAULTS[..]] {
            let setup = setup(&[algorithm, faults].concat());
            let one = run(&setup, 1);
            assert!(one.lines.len() > 16, "{algorithm:?}: nothing happened");
            for threads in [1, 2, 4] {
                let other = run(&setup, threads);
                assert!(
                    one.log == other.log,
                    "{algorithm:?}, faults: {}, threads: {threads}",
                    !faults.is_empty()
                );
                assert_eq!(one.finished.models, other.finished.models);
                assert_eq!(one.finished.bytes_per_node, other.finished.bytes_per_node);
                assert_eq!(
                    (one.finished.messages, one.finished.dropped),
                    (other.finished.messages, other.finished.dropped)
                );
            }
        }
    }
}

#[test]
fn another_seed_gives_another_run() {
    for algorithm in ALGORITHMS {
        let [first, second] = ["seed=1", "seed=2"].map(|seed| {
            let run = run(&setup(&[algorithm, &[seed]].concat()), 2);
            (run.log.lines().skip(1).collect::<Vec<_>>().join("\n"), run.finished.models)
        });
        assert!(first.0 != second.0 && first.1 != second.1, "{algorithm:?}");
    }
}

#[test]
fn lines_are_in_order_of_time_and_node() {
    let run = run(&setup(&[ALGORITHMS[1], &FAULTS[..]].concat()), 2);
    let keys: Vec<_> = run.lines.iter().map(|line| (line.time, line.node)).collect();
    assert!(keys.is_sorted());
}

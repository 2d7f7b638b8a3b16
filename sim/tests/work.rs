//! Contributions come through one door: whatever stands behind it, the swarm runs the same, and what a node keeps outlives its crashes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod swarm;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use learn::train::TrainError;
use privacy::noise::NoiseSource;
use protocol::work::{Computed, Desk, Form, Job, Work};
use swarm::{ALGORITHMS, run, setup};

/// Makes what another work makes, and counts in the node's state how often.
#[derive(Debug)]
struct Counting {
    inner: Arc<dyn Work>,
    /// By node: what its state said after each contribution, and who was to be added up with it.
    seen: Mutex<BTreeMap<usize, Vec<(f32, usize)>>>,
}

impl Work for Counting {
    fn nodes(&self) -> usize {
        self.inner.nodes()
    }

    fn form(&self) -> Form {
        self.inner.form()
    }

    fn records(&self, node: usize) -> usize {
        self.inner.records(node)
    }

    fn contribute(
        &self,
        desk: &mut Desk<'_>,
        job: &Job,
        noise: &mut dyn NoiseSource,
    ) -> Result<Computed, TrainError> {
        let count = desk.state.get("count").map_or(0.0, |count| count[0]) + 1.0;
        desk.state.set("count", vec![count]);
        let among = job.among.as_ref().map_or(0, |members| members.len());
        self.seen.lock().unwrap().entry(desk.node).or_default().push((count, among));
        self.inner.contribute(desk, job, noise)
    }
}

#[test]
fn another_work_behind_the_door_makes_the_same_run_and_keeps_its_state_through_a_crash() {
    let faults = ["faults.crash=[{nodes=[3], at=\"60ms\", back=\"300ms\"}]", "faults.compute=10ms"];
    for algorithm in &ALGORITHMS[..3] {
        let plain = setup(&[algorithm, &faults[..]].concat());
        let counting = Arc::new(Counting { inner: plain.door.clone(), seen: Mutex::default() });
        let counted = plain.clone().with_work(counting.clone());
        assert_eq!(run(&counted, 2).log, run(&plain, 1).log, "{algorithm:?}");
        let seen = counting.seen.lock().unwrap();
        for (node, counts) in seen.iter() {
            let expected: Vec<f32> = (1..=counts.len()).map(|count| count as f32).collect();
            let found: Vec<f32> = counts.iter().map(|(count, _)| *count).collect();
            assert_eq!(found, expected, "{algorithm:?}: node {node} lost what it keeps");
        }
        assert!(seen[&3].len() > 1, "{algorithm:?}: the node that crashed contributes again");
        let rosters = algorithm[0] == "algorithm.kind=rounds";
        let first = seen[&0][0].1;
        assert_eq!(first, if rosters { 16 } else { 0 }, "{algorithm:?}: whose contributions are added up");
    }
}

#[test]
fn the_form_of_contributions_is_that_of_the_records() {
    let setup = setup(&["algorithm.kind=rounds", "rounds=1"]);
    let form = setup.door.form();
    assert_eq!((form.features, form.target, form.classes), (64, "classes", Some(10)));
    assert_eq!(form.parameters, setup.settings.initial.len());
    let records: usize = (0..setup.door.nodes()).map(|node| setup.door.records(node)).sum();
    assert_eq!(records, setup.train.iter().map(learn::data::Dataset::len).sum::<usize>());
    assert_eq!(setup.of_node(5).door.nodes(), 1);
}

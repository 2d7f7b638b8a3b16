//! A hook sees what nodes receive, and one that only listens changes nothing.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod swarm;

use std::sync::Mutex;

use learn::train::TrainError;
use protocol::work::{Computed, Desk};
use protocol::{LogLine, PeerIx};
use sim::{Delivery, Due, Hook, Options, contribution_noise, simulate_with};
use swarm::{ALGORITHMS, run, setup};

#[derive(Default)]
struct Ear {
    heard: Mutex<Vec<(u64, PeerIx, PeerIx, usize)>>,
}

impl Hook for Ear {
    fn delivered(&self, delivery: &Delivery<'_>) {
        let numbers = delivery.message.numbers.as_ref().map_or(0, |numbers| numbers.len());
        self.heard.lock().unwrap().push((delivery.time.0, delivery.from, delivery.to, numbers));
    }
}

fn log_with(setup: &protocol::Setup, hook: &dyn Hook, threads: usize) -> String {
    let mut log = String::new();
    let mut sink = |line: &LogLine| log += &(serde_json::to_string(line).unwrap() + "\n");
    let options = Options { threads, check: true, ..Options::default() };
    simulate_with(setup, &options, hook, &mut sink, &mut |_| ()).unwrap();
    log
}

#[test]
fn a_hook_that_only_listens_changes_nothing_and_hears_everything() {
    for algorithm in ALGORITHMS {
        let setup = setup(algorithm);
        let plain = run(&setup, 2);
        let ear = Ear::default();
        assert_eq!(log_with(&setup, &ear, 2), plain.log, "{algorithm:?}");
        let heard = ear.heard.into_inner().unwrap();
        // Nothing is lost here; what is under way when the last node ends is not delivered.
        let sent = plain.finished.messages as usize;
        assert!(heard.len() <= sent && 10 * heard.len() > 9 * sent, "{} of {sent}", heard.len());
        assert!(heard.iter().any(|(.., numbers)| *numbers == setup.settings.initial.len()));
        assert!(heard.iter().all(|(_, from, to, _)| from != to));
    }
}

/// Gives every node the records of node 0.
struct Same;

impl Hook for Same {
    fn contribution(&self, due: &Due<'_>, desk: &mut Desk<'_>) -> Result<Computed, TrainError> {
        let setup = due.setup;
        let mut noise = contribution_noise(setup.config.seed, due.node, due.count);
        desk.node = 0;
        setup.door.contribute(desk, due.job, &mut noise)
    }
}

#[test]
fn a_hook_can_make_the_contributions() {
    let setup = setup(&["algorithm.kind=rounds", "rounds=3"]);
    let (replaced, again) = (log_with(&setup, &Same, 1), log_with(&setup, &Same, 3));
    assert_eq!(replaced, again);
    assert_ne!(replaced, run(&setup, 1).log);
}

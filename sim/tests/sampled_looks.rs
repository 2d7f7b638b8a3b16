//! Looks into masked rounds of samples: they are in the price of every round, and a look that is made costs nothing more.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod swarm;

use std::collections::BTreeMap;

use privacy::accountant::Accountant;
use privacy::event::DpEvent;
use privacy::network::inspection;
use privacy::rdp::RdpAccountant;
use protocol::account::{Account, Shape};
use protocol::rounds::Masks;
use protocol::{LogLine, PeerIx, RunEvent, Setup};
use sim::{Hook, Options, simulate_with};
use swarm::setup;

/// Eight members that draw ten of some 180 records a round; with `more`.
fn sampled(more: &[&str]) -> Setup {
    let pairs = [
        "algorithm.kind=rounds",
        "privacy.masking=pairwise",
        "nodes=8",
        "rounds=40",
        "batch_size=10",
        "privacy.epsilon=4",
        // So many looks that room for them would be dear.
        "privacy.inspect=0.5",
    ];
    let known = pairs.iter().chain(more);
    setup(&known.copied().collect::<Vec<_>>())
}

struct Worn;

impl Hook for Worn {
    fn masks(&self, setup: &Setup, node: PeerIx, life: u32) -> Masks {
        sim::seeded_masks(setup.config.seed, node, life)
    }
}

fn lines_of(setup: &Setup) -> Vec<LogLine> {
    let mut lines = Vec::new();
    let options = Options { check: true, ..Options::default() };
    let mut sink = |line: &LogLine| lines.push(line.clone());
    simulate_with(setup, &options, &Worn, &mut sink, &mut |_| ()).unwrap();
    lines
}

/// ε of node 0 towards members 1 and 2 together, as an account of the log has it.
fn accounted(shape: Shape, lines: &[LogLine]) -> f64 {
    let mut account = Account::new(shape).unwrap();
    lines.iter().for_each(|line| account.push(line));
    account.settle_final();
    account.coalition(&[1, 2]).unwrap().0[0]
}

/// The same by the theorem, with an accountant of its own: each contribution is a sampled Gaussian step with 1/(n − 2) of a full charge and the share of a look in it.
fn by_theory(setup: &Setup, lines: &[LogLine]) -> f64 {
    let DpEvent::PoissonSampled { rate, event } = setup.settings.release.clone() else { panic!("a sample") };
    let DpEvent::Gaussian { noise_multiplier } = *event else { panic!("Gaussian noise") };
    let mut made: BTreeMap<u32, u64> = BTreeMap::new();
    for line in lines.iter().filter(|line| line.node == Some(0)) {
        if let RunEvent::Released { among, .. } = line.event {
            *made.entry(among.expect("nothing is released to everybody")).or_default() += 1;
        }
    }
    let looks = setup.settings.algorithm.looks().unwrap();
    let share = inspection::share(32, setup.settings.initial.len() as u64, looks.t).unwrap();
    let mut accountant = RdpAccountant::default();
    for (among, count) in made {
        let part = 1.0 / f64::from(among - 2) + share;
        let noise_multiplier = noise_multiplier / part.sqrt();
        accountant.compose(&DpEvent::Gaussian { noise_multiplier }.poisson_sampled(rate), count).unwrap();
    }
    accountant.epsilon(0.98 * setup.config.privacy.delta).unwrap()
}

#[test]
fn a_run_of_samples_uses_its_budget_and_a_look_costs_nothing_more() {
    let hostile = "faults.hostile=[{ nodes = [6], kind = \"huge-words\", from = \"20ms\" }]";
    for (more, looks) in [(&[][..], 0), (&[hostile][..], 1)] {
        let setup = sampled(more);
        let lines = lines_of(&setup);
        let found = lines.iter().filter(|line| {
            line.node == Some(0) && matches!(&line.event, RunEvent::Inspected { named, .. } if named == &[6])
        });
        assert_eq!(found.count(), looks);
        assert!(matches!(lines[0].event, RunEvent::Run { looked: Some(part), .. } if part > 0.1));
        let (epsilon, theory) = (accounted(setup.shape(), &lines), by_theory(&setup, &lines));
        // The account has fewer orders to choose from.
        assert!((theory..1.05 * theory).contains(&epsilon), "{epsilon} {theory}");
        // Somebody else's report has the configuration and the first line only.
        let logged = Shape::of_logged(&setup.config, &lines[0].event).unwrap();
        assert_eq!(accounted(logged, &lines), epsilon);
        assert!(epsilon <= 4.0, "{epsilon}");
        if looks == 0 {
            assert!(epsilon > 3.9, "nothing is kept back for looks: {epsilon}");
        }
    }
}

/// All records in every round: there is nothing to amplify, and a look is a record of its own.
#[test]
fn without_samples_looks_are_priced_by_themselves() {
    let setup = sampled(&["batch_size=all"]);
    assert!(setup.settings.algorithm.looks().is_some_and(|looks| !looks.always));
    assert_eq!(setup.shape().looked, 0.0);
}

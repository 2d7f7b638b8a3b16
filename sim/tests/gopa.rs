//! Noise that neighbours share, in a simulation: the sum of an average is as noisy as stated, its price is that of the theory, and drop-outs are counted.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod swarm;

use std::collections::BTreeMap;
use std::sync::Mutex;

use privacy::network::gopa::{self, Gopa, Seen};
use protocol::account::{Account, Summary};
use protocol::{LogLine, PeerIx, RunEvent, Setup};
use sim::{Delivery, Hook, Options, simulate_with};
use swarm::setup;
use topology::Spec;

const NODES: usize = 8;
const RATIO: f64 = 3.0;
const CLIP: f64 = 10.0;
const Z: f64 = 0.5;

const GOPA: [&str; 9] = [
    "algorithm.kind=mean",
    "privacy.masking=gopa",
    "nodes=8",
    "topology=complete",
    "algorithm.mixing_steps=1",
    "privacy.clip_norm=10",
    "privacy.noise_multiplier=0.5",
    "faults.delay=5ms",
    "faults.compute=50ms",
];

/// After keys have been told, before anything is contributed.
const GONE: &str = "faults.crash=[{ nodes = [3], at = \"30ms\" }]";

fn shared(more: &[&str]) -> Setup {
    setup(&[&GOPA, more].concat())
}

/// Keeps what every node published: its first message.
#[derive(Default)]
struct Ear(Mutex<BTreeMap<PeerIx, Vec<f32>>>);

impl Hook for Ear {
    fn delivered(&self, delivery: &Delivery<'_>) {
        let message = delivery.message;
        if let (0, Some(values)) =
            (message.step, message.numbers.as_ref().and_then(|numbers| numbers.reals()))
        {
            self.0.lock().unwrap().insert(delivery.from, values.as_slice().to_vec());
        }
    }
}

/// What was published, and the lines of the log.
fn listened(setup: &Setup) -> (BTreeMap<PeerIx, Vec<f32>>, Vec<LogLine>) {
    let (mut lines, ear) = (Vec::new(), Ear::default());
    let options = Options { check: true, ..Options::default() };
    let mut sink = |line: &LogLine| lines.push(line.clone());
    simulate_with(setup, &options, &ear, &mut sink, &mut |_| ()).unwrap();
    (ear.0.into_inner().unwrap(), lines)
}

fn summary(setup: &Setup, lines: &[LogLine]) -> (Account, Summary) {
    let mut account = Account::new(setup.shape()).unwrap();
    lines.iter().for_each(|line| account.push(line));
    account.settle_final();
    let summary = account.summary();
    (account, summary)
}

/// The mean of a node's records.
fn value(setup: &Setup, node: usize, column: usize) -> f64 {
    let part = &setup.train[node];
    (0..part.len()).map(|row| f64::from(part.row(row)[column])).sum::<f64>() / part.len() as f64
}

/// Errors of the sum of what was published, and of single values: of 64 coordinates, 8 seeds.
fn errors(more: &[&str], published: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut sums, mut single) = (Vec::new(), Vec::new());
    for seed in 1..=8 {
        let seed = format!("seed={seed}");
        let setup = shared(&[&[seed.as_str()][..], more].concat());
        let (found, _) = listened(&setup);
        assert_eq!(found.len(), published);
        for column in 0..setup.settings.initial.len() {
            let error = |(node, values): (&PeerIx, &Vec<f32>)| {
                f64::from(values[column]) - value(&setup, *node as usize, column)
            };
            sums.push(found.iter().map(error).sum::<f64>());
            single.push(error((&5, &found[&5])));
        }
    }
    (sums, single)
}

/// Mean and variance, over what they should be: 0 and `variance`.
///
/// 512 numbers: the mean has deviation 1/√512 = 0.044, the variance √(2/512) = 0.0625. Beyond 0.25 and 0.35 with probability below 10⁻⁷ each; seeds are fixed.
#[track_caller]
fn assert_like(errors: &[f64], variance: f64) {
    assert_eq!(errors.len(), 512);
    let mean = errors.iter().sum::<f64>() / errors.len() as f64 / variance.sqrt();
    let found = errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64 / variance;
    assert!(mean.abs() < 0.25 && (found - 1.0).abs() < 0.35, "mean {mean}, variance {found}");
}

#[test]
fn shared_noise_is_in_every_value_and_not_in_the_sum() {
    let (sums, single) = errors(&[], NODES);
    let own = (Z * CLIP).powi(2);
    assert_like(&sums, 8.0 * own);
    assert_like(&single, own * (1.0 + 7.0 * RATIO * RATIO));
}

#[test]
fn who_drops_out_leaves_its_noise_in_the_sum() {
    let (sums, single) = errors(&[GONE], NODES - 1);
    let own = (Z * CLIP).powi(2);
    // Seven own noises, and seven edges to the one that is gone.
    assert_like(&sums, own * (7.0 + 7.0 * RATIO * RATIO));
    assert_like(&single, own * (1.0 + 7.0 * RATIO * RATIO));
}

/// (1 + r²)/(1 + h·r²) of the loss of one's own noise, for h that are not together; on a complete graph everybody sees every value.
#[test]
fn everybody_loses_what_theory_says() {
    let setup = shared(&[]);
    let (_, lines) = listened(&setup);
    let (mut account, summary) = summary(&setup, &lines);
    let local = (2.0 / Z).powi(2);
    let expected = |left: f64| local * (1.0 + RATIO * RATIO) / (1.0 + left * RATIO * RATIO);
    assert!((account.mu2(2, 6) / expected(7.0) - 1.0).abs() < 1e-6, "{}", account.mu2(2, 6));
    assert!((summary.local.mu2 / local - 1.0).abs() < 1e-6);
    let any = summary.coalition.unwrap();
    let together = protocol::account::epsilon_of_mu2(expected(6.0), 1e-5);
    assert_eq!((any.members, any.analysis.as_str(), summary.left_over), (2, "gopa", Some(0.0)));
    assert!((any.epsilon / together - 1.0).abs() < 1e-6 && summary.worst.analysis == "gopa");
    // From its own lines alone a node knows as much of itself here, where the bound is the loss.
    let mut own = Account::new(setup.shape().with_witnesses([2])).unwrap();
    lines.iter().filter(|line| line.node == Some(2)).for_each(|line| own.push(line));
    own.settle_final();
    assert!((own.mu2(2, 6) / expected(7.0) - 1.0).abs() < 1e-6, "{}", own.mu2(2, 6));
    assert_eq!(own.summary().coalition.unwrap().analysis, "gopa (bound)");
    // What was planned is what happened.
    assert_eq!(setup.planned.analysis, "gopa");
    assert!((setup.planned.worst / summary.worst.epsilon - 1.0).abs() < 1e-6);
}

#[test]
fn with_a_drop_out_the_price_is_that_of_who_was_there() {
    let setup = shared(&[GONE]);
    let (_, lines) = listened(&setup);
    let (mut account, summary) = summary(&setup, &lines);
    let graph = "complete:8".parse::<Spec>().unwrap().build().unwrap().graph;
    let noise = Gopa { own: 1.0, pairwise: RATIO };
    let seen = Seen { coalition: &[6], dropped: &[3], repaired: false };
    let expected = gopa::loss(&graph, noise, seen).unwrap();
    for source in [0, 1, 2, 4, 5, 7] {
        let found = account.mu2(source, 6) * (Z / 2.0).powi(2);
        assert!((found / expected[source] - 1.0).abs() < 1e-6, "{source}: {found}");
    }
    assert_eq!(summary.left_over, Some(7.0 * RATIO * RATIO));
    assert_eq!(summary.releases, 7);
}

/// Keys get lost: some noise is at one end only. What the log says accounts for all of the residue, and nothing is free.
#[test]
fn lost_keys_are_counted_and_raise_no_promise() {
    let lossy = [
        "faults.drop_prob=0.6",
        "timeouts.resend=45ms",
        "algorithm.mixing_steps=3",
        "nodes=16",
        "topology=regular:degree=4",
    ];
    let setup = shared(&lossy);
    let (_, lines) = listened(&setup);
    let paired: BTreeMap<u32, Vec<u32>> = lines
        .iter()
        .filter_map(|line| match &line.event {
            RunEvent::Paired { peers, .. } => Some((line.node.unwrap(), peers.clone())),
            _ => None,
        })
        .collect();
    let one_sided = paired
        .iter()
        .flat_map(|(node, peers)| peers.iter().filter(|peer| !paired[*peer].contains(node)))
        .count();
    let (mut account, summary) = summary(&setup, &lines);
    assert!(paired.len() == 16 && paired.values().any(|peers| peers.len() < 4), "{paired:?}");
    assert_eq!(summary.left_over, Some(one_sided as f64 * RATIO * RATIO));
    let local = (2.0 / Z).powi(2);
    for source in 0..16 {
        for watcher in (0..16).filter(|&watcher| watcher != source) {
            let others = paired[&(source as u32)].iter().filter(|&&peer| peer != watcher as u32).count();
            let bound = local * gopa::of_neighbours(others, RATIO) * (1.0 + 1e-6);
            assert!(account.mu2(source, watcher) <= bound, "{source} to {watcher}");
        }
    }
}

#[test]
fn who_shares_with_too_few_for_the_budget_adds_nothing() {
    let target = ["privacy.noise_multiplier=", "privacy.epsilon=2"];
    let flags: Vec<&str> = GOPA.iter().filter(|flag| !flag.starts_with(target[0])).copied().collect();
    let planned = |more: &[&str]| setup(&[&flags[..], &target[1..], more].concat());
    let whole = planned(&[]);
    let (_, lines) = listened(&whole);
    let (_, kept) = summary(&whole, &lines);
    assert!(kept.releases == 8 && kept.coalition.unwrap().epsilon <= 2.0 && kept.local.epsilon > 2.0);

    let cut = planned(&["faults.partition=[{ nodes = [0], from = \"0ms\", until = \"10s\" }]"]);
    let (_, lines) = listened(&cut);
    let refused = |line: &&LogLine| matches!(line.event, RunEvent::Refused { .. });
    let who: Vec<_> = lines.iter().filter(refused).map(|line| line.node).collect();
    let (_, kept) = summary(&cut, &lines);
    assert!(who.contains(&Some(0)) && kept.coalition.unwrap().epsilon <= 2.0, "{who:?}");
}

//! Masked rounds in a simulation: totals to the bit, words that say nothing, and a price that does not depend on how a round goes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod swarm;

use std::collections::BTreeMap;
use std::sync::Mutex;

use protocol::account::Account;
use protocol::rounds::Masks;
use protocol::work::Mechanism;
use protocol::{LogLine, Numbers, PeerIx, RunEvent, Setup};
use sim::{Delivery, Hook, Options, simulate_with};
use swarm::{Run, run, setup};

const MASKED: [&str; 3] = ["algorithm.kind=rounds", "privacy.masking=pairwise", "rounds=6"];

fn masked(more: &[&str]) -> Setup {
    setup(&[&MASKED, &["topology=exponential"][..], more].concat())
}

/// By place of a message (round, step, sender, receiver): its words.
type Heard = BTreeMap<(u32, u32, PeerIx, PeerIx), Vec<u32>>;

/// Keeps all words that are sent; with masks or without.
struct Ear {
    pretends: bool,
    heard: Mutex<Heard>,
}

impl Ear {
    fn new(pretends: bool) -> Self {
        Self { pretends, heard: Mutex::default() }
    }
}

impl Hook for Ear {
    fn delivered(&self, delivery: &Delivery<'_>) {
        if let Some(Numbers::Words(words)) = &delivery.message.numbers {
            let place = (delivery.message.round, delivery.message.step, delivery.from, delivery.to);
            self.heard.lock().unwrap().insert(place, words.as_32().unwrap().to_vec());
        }
    }

    fn masks(&self, setup: &Setup, node: PeerIx, life: u32) -> Masks {
        if self.pretends { Masks::DangerPretended } else { sim::seeded_masks(setup.config.seed, node, life) }
    }
}

/// Log, models and all words of a run.
fn listened(setup: &Setup, pretends: bool) -> (String, Vec<Vec<u32>>, Heard) {
    let (mut log, ear) = (String::new(), Ear::new(pretends));
    let mut sink = |line: &LogLine| log += &(serde_json::to_string(line).unwrap() + "\n");
    let options = Options { check: true, ..Options::default() };
    let finished = simulate_with(setup, &options, &ear, &mut sink, &mut |_| ()).unwrap();
    let bits = |model: &Vec<f32>| model.iter().map(|value| value.to_bits()).collect();
    (log, finished.models.iter().map(bits).collect(), ear.heard.into_inner().unwrap())
}

/// How masked words are added up.
const EXCHANGES: [&str; 2] = ["algorithm.exchange=doubling", "algorithm.exchange=halving"];

/// The first step in which words may be those of totals: the last one of doubling where some members were left over, or the way back of halving.
fn totals_from(nodes: usize, exchange: &str) -> u32 {
    let (dimensions, folds) = (nodes.ilog2(), u32::from(!nodes.is_power_of_two()));
    if exchange == EXCHANGES[1] { folds + 2 * dimensions } else { folds + dimensions }
}

#[test]
fn masks_change_no_bit_of_any_model_and_every_word_on_the_way() {
    for exchange in EXCHANGES {
        for nodes in [3, 5, 8, 13] {
            let setup = masked(&[&format!("nodes={nodes}"), exchange]);
            let (_, models, words) = listened(&setup, false);
            let (_, clear_models, clear_words) = listened(&setup, true);
            assert_eq!(models, clear_models, "{nodes}");
            assert_eq!(words.len(), clear_words.len());
            for (place, words) in &words {
                let equal = words.iter().zip(&clear_words[place]).filter(|(a, b)| a == b).count();
                // Words that are totals are the same with masks or without, and only those.
                let total = place.1 >= totals_from(nodes, exchange);
                let expected = if total { words.len()..=words.len() } else { 0..=2 };
                assert!(expected.contains(&equal), "{exchange}, {nodes}: {equal} equal words in {place:?}");
            }
        }
    }
}

/// Words add up in any order: models have the same bits. By theory a member sends 2d(1 − 1/n) words a round instead of d·log₂ n.
#[test]
fn halving_ends_with_the_bits_of_doubling_and_sends_fewer_words() {
    for nodes in [3_usize, 8, 11, 16] {
        let size = format!("nodes={nodes}");
        let [doubling, halving] = EXCHANGES.map(|exchange| listened(&masked(&[&size, exchange]), false));
        assert_eq!(doubling.1, halving.1, "{nodes}");
        let count = |heard: &Heard| heard.values().map(Vec::len).sum::<usize>();
        if nodes.is_power_of_two() {
            let words = doubling.2.values().next().unwrap().len();
            assert_eq!(count(&doubling.2), 6 * nodes * words * nodes.ilog2() as usize);
            assert_eq!(count(&halving.2), 6 * 2 * words * (nodes - 1));
        }
    }
}

/// Correlation of the numbers that words stand for.
fn correlation(a: &[u32], b: &[u32]) -> f64 {
    let centred = |words: &[u32]| -> Vec<f64> { words.iter().map(|&word| f64::from(word as i32)).collect() };
    let (a, b) = (centred(a), centred(b));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt()
}

/// What is sent in the first step is one contribution. With N words an independent pair has a correlation of deviation 1/√N: six of them with
/// probability below 2·10⁻⁹ for each of 48.
/// Contributions of the run without masks are the planted signal. Without masks the wire shows them, with masks nothing before the total does: six deviations of an
/// independent pair come with probability below 2·10⁻⁹ for each of at most 192 messages.
#[test]
fn a_planted_signal_is_on_the_wire_without_masks_and_in_the_total_only_with_them() {
    for exchange in EXCHANGES {
        let setup = masked(&["nodes=8", "rounds=4", exchange]);
        let (_, _, words) = listened(&setup, false);
        let (_, _, clear) = listened(&setup, true);
        let (mut seen, mut hidden) = (0, 0);
        for (place, words) in &words {
            let found = correlation(words, &clear[place]);
            if place.1 >= totals_from(8, exchange) {
                assert!(found > 0.999, "totals are not masked: {place:?}");
                seen += 1;
            } else {
                let bound = 6.0 / (words.len() as f64).sqrt();
                assert!(found.abs() < bound, "{exchange}, {place:?}: {found} of {bound}");
                hidden += 1;
            }
        }
        let halves = exchange == EXCHANGES[1];
        assert_eq!((seen, hidden), if halves { (4 * 24, 4 * 24) } else { (0, 4 * 24) });
    }
}

#[test]
fn no_message_shows_the_contribution_in_it() {
    let setup = masked(&["nodes=8", "rounds=2", "privacy.noise_multiplier=0.5"]);
    let (_, _, words) = listened(&setup, false);
    let (_, _, clear) = listened(&setup, true);
    let firsts: Vec<_> = words.iter().filter(|((_, step, ..), _)| *step == 0).collect();
    assert_eq!(firsts.len(), 16);
    for (place, words) in firsts {
        let seen = correlation(words, &clear[place]).abs();
        assert!(seen < 6.0 / (words.len() as f64).sqrt(), "{place:?}: {seen}");
        // Without masks the same ear hears everything.
        assert!(correlation(&clear[place], &clear[place]) > 0.99);
    }
    // All bytes of all messages before the last step: χ² with 255 degrees of freedom, beyond 400 with probability below 10⁻⁸; without masks far beyond.
    let chi2 = |heard: &Heard| {
        let mut counts = [0_f64; 256];
        let early = heard.iter().filter(|((_, step, ..), _)| *step < 2);
        let bytes = early.flat_map(|(_, words)| words.iter().flat_map(|word| word.to_le_bytes()));
        bytes.for_each(|byte| counts[byte as usize] += 1.0);
        let expected = counts.iter().sum::<f64>() / 256.0;
        counts.iter().map(|count| (count - expected).powi(2) / expected).sum::<f64>()
    };
    assert!(chi2(&words) < 400.0, "{}", chi2(&words));
    assert!(chi2(&clear) > 1000.0, "{}", chi2(&clear));
}

/// Noise of s steps alone: the root mean square of 650 such words is more than 17 % from s with probability below 10⁻⁸.
#[test]
fn who_is_not_drawn_sends_noise_and_no_data() {
    let setup = masked(&["algorithm.sample=5", EXCHANGES[0]]);
    let (_, models, words) = listened(&setup, true);
    let Mechanism::Grid(on) = &setup.settings.mechanism else { panic!("masks go over words") };
    let mut silent = 0;
    for ((round, _, from, _), words) in words.iter().filter(|((_, step, ..), _)| *step == 0) {
        let drawn = setup.settings.algorithm.drawn(&setup.settings.key, *round, 16).unwrap()[*from as usize];
        assert_eq!(words[words.len() - 4], u32::from(drawn), "whether it added data");
        let square = words[..650].iter().map(|&word| f64::from(word as i32).powi(2)).sum::<f64>() / 650.0;
        let steps = square.sqrt() / on.mechanism.noise() as f64;
        assert!(drawn || (steps - 1.0).abs() < 0.17, "{from} in round {round}: {steps}");
        silent += u32::from(!drawn);
    }
    assert_eq!(silent, 6 * 11);
    assert_eq!(models, listened(&setup, false).1);
}

fn account(setup: &Setup, run: &Run) -> protocol::account::Summary {
    let mut account = Account::new(setup.shape()).unwrap();
    run.lines.iter().for_each(|line| account.push(line));
    account.settle_final();
    account.summary()
}

#[test]
fn a_target_is_met_against_the_colluders_with_data_in_every_round() {
    let setup = masked(&["privacy.noise_multiplier=0.5"]);
    let config = protocol::config::Config {
        privacy: protocol::config::PrivacyConfig {
            epsilon: Some(3.0),
            noise_multiplier: None,
            ..setup.config.privacy.clone()
        },
        ..setup.config.clone()
    };
    for batch in [None, Some(20)] {
        let setup = Setup::new(protocol::config::Config { batch_size: batch, ..config.clone() }).unwrap();
        let run = run(&setup, 2);
        assert_eq!(run.releases(16), vec![6; 16], "nobody is refused");
        let summary = account(&setup, &run);
        let coalition = summary.coalition.unwrap();
        assert_eq!((coalition.members, coalition.analysis.as_str()), (5, "masked"));
        // What is left is room for one look: a third of a full charge at 650 parameters, beside six elevenths for six rounds; so at least 3·√0.6 of all records,
        // and less of samples, which make rounds cheaper but no look.
        let least = if batch.is_none() { 2.3 } else { 1.0 };
        assert!(coalition.epsilon <= 3.0 && coalition.epsilon > least, "{}", coalition.epsilon);
        let planned = setup.planned.coalition.unwrap().1;
        assert!((coalition.epsilon / planned - 1.0).abs() < 1e-3, "{} for {planned}", coalition.epsilon);
        assert!(summary.worst.epsilon < coalition.epsilon && coalition.epsilon < summary.local.epsilon);
        assert_eq!(summary.worst.analysis, "masked");
    }
}

/// By theory: a contribution among m costs one member 1/(m − 1), whether its round ends or not.
#[test]
fn a_broken_round_costs_what_a_clean_one_costs_and_who_comes_back_has_a_new_key() {
    let faults = ["faults.crash=[{ nodes = [3, 7], at = \"30ms\", back = \"400ms\" }]", "rounds=40"];
    let setup = masked(&faults);
    let run = run(&setup, 2);
    run.assert_learnt(16);
    let broken = run.lines.iter().filter(|line| matches!(line.event, RunEvent::RoundBroken { .. })).count();
    assert!(broken > 0, "a crash breaks a round");
    let mut mu2 = vec![0.0; 16];
    for line in &run.lines {
        if let (Some(node), RunEvent::Released { among, .. }) = (line.node, &line.event) {
            let among = among.unwrap();
            assert!((14..=16).contains(&among));
            mu2[node as usize] += 1.0 / (f64::from(among) - 1.0) / (0.5 * 0.5);
        }
    }
    let summary = account(&setup, &run);
    let worst = mu2.into_iter().fold(0.0, f64::max);
    assert!((summary.worst.mu2 / worst - 1.0).abs() < 1e-6, "{} for {worst}", summary.worst.mu2);
    assert!(run.faults().is_empty(), "{:?}", run.faults());
}

#[test]
fn masked_rounds_survive_what_plain_ones_survive() {
    for faults in [
        &["faults.drop_prob=0.2"][..],
        &["faults.online_prob=0.7", "faults.slot=100ms", "members.hostile=0"],
        &["faults.crash=[{ fraction = 0.25, at = \"20ms\" }]"],
        &["faults.crash=[{ fraction = 0.25, at = \"20ms\" }]", "algorithm.sample=9"],
        &["faults.duplicate_prob=0.2", "faults.reorder_prob=0.2", "faults.jitter=3ms"],
    ] {
        for exchange in EXCHANGES {
            let more = ["rounds=30", "privacy.noise_multiplier=0.1", exchange];
            let run = run(&masked(&[faults, &more].concat()), 2);
            run.assert_learnt(10);
            assert!(run.faults().is_empty(), "{faults:?}, {exchange}: {:?}", run.faults());
            // Nobody's records contradict another's: pairs are apart for silence only.
            let contradicts = |line: &&LogLine| matches!(&line.event, RunEvent::Roster { apart, .. } if apart.iter().any(|pair| pair.2 == u32::MAX));
            assert_eq!(run.lines.iter().find(contradicts), None, "{faults:?}, {exchange}");
        }
    }
}

/// It says where it stands, with its key, is killed, and comes back with another before the decision that seats it with the first.
#[test]
fn who_is_killed_between_its_standing_and_the_decision_is_not_taken_for_a_liar() {
    let mut hit = 0;
    for at in (90..260).step_by(10) {
        let again = format!("{{ nodes = [3], at = \"{at}ms\", back = \"{}ms\" }}", at + 4);
        let faults = format!("faults.crash=[{{ nodes = [2], at = \"20ms\" }}, {again}]");
        let timeouts = ["timeouts.silence=100ms", "timeouts.resend=10ms"];
        let more = [&["nodes=4", "rounds=60", faults.as_str()], &timeouts[..]].concat();
        let run = run(&masked(&more), 2);
        for line in &run.lines {
            if let RunEvent::Roster { apart, members, .. } = &line.event {
                assert!(apart.iter().all(|pair| pair.2 != u32::MAX), "{at} ms: {members:?}, apart {apart:?}");
            }
            hit += usize::from(
                matches!(&line.event, RunEvent::RoundBroken { reason, .. } if reason.contains("void")),
            );
        }
        let last = |line: &&LogLine| line.node == Some(3) && matches!(line.event, RunEvent::Released { .. });
        let released = run.lines.iter().filter(last).count();
        assert!(released > 30, "{at} ms: node 3 contributed {released} times");
        assert!(run.faults().is_empty(), "{at} ms: {:?}", run.faults());
    }
    assert_eq!(hit, 0, "no round is void");
}

#[test]
fn node_level_and_wide_words_learn_too() {
    let setup = masked(&[
        "privacy.adjacency=node",
        "local_steps=3",
        "privacy.grid=64",
        "rounds=20",
        "privacy.noise_multiplier=0.02",
    ]);
    run(&setup, 2).assert_learnt(16);
}

#[test]
fn discrete_noise_without_masks_learns_as_well() {
    let discrete = setup(&[
        "algorithm.kind=rounds",
        "rounds=12",
        "privacy.noise=discrete",
        "privacy.noise_multiplier=0.1",
    ]);
    run(&discrete, 2).assert_learnt(16);
    let mean = setup(&["algorithm.kind=mean", "algorithm.mixing_steps=12", "privacy.noise=discrete"]);
    assert_eq!(run(&mean, 2).releases(16), vec![1; 16]);
}

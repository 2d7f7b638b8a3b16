//! One average under masks with proofs: what comes out, what it costs, and who is out of it for a lie.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod swarm;

use std::collections::BTreeSet;
use std::path::Path;

use protocol::account::{Account, Summary};
use protocol::config::{Config, Layer};
use protocol::{FaultKind, LogLine, PeerIx, RunEvent, Setup};
use sim::{Options, simulate};
use swarm::setup;

const CLIP: f64 = 10.0;
const Z: f64 = 0.01;

const PROVED: [&str; 6] = [
    "data=blobs:dim=8,nodes=7",
    "algorithm.kind=mean",
    "privacy.proofs=range",
    "nodes=7",
    "privacy.clip_norm=10",
    "privacy.noise_multiplier=0.01",
];

fn proved(more: &[&str]) -> Setup {
    setup(&[&PROVED, more].concat())
}

fn config(pairs: &[&str]) -> Config {
    Config::from_layers(pairs.iter().map(|pair| Layer::from_flags("--set", &[pair]).unwrap())).unwrap()
}

fn lied_to(liars: &[PeerIx], kind: &str, more: &[&str]) -> Setup {
    let hostile = format!("faults.hostile=[{{ nodes = {liars:?}, kind = \"{kind}\" }}]");
    proved(&[&[hostile.as_str()], more].concat())
}

/// What became of a run, as honest nodes tell it.
struct Told {
    lines: Vec<LogLine>,
    models: Vec<Vec<f32>>,
    /// Members of the last roster.
    seats: BTreeSet<PeerIx>,
    /// Rounds that were given up, and why.
    broken: Vec<(u32, String)>,
    /// Who is named by itself.
    named: BTreeSet<PeerIx>,
    /// How many added data to the mean.
    count: Option<u32>,
    ended: String,
}

fn told(setup: &Setup, liars: &[PeerIx]) -> Told {
    let mut lines: Vec<LogLine> = Vec::new();
    let options = Options { check: true, ..Options::default() };
    let finished = simulate(setup, &options, &mut |line| lines.push(line.clone()), &mut |_| ()).unwrap();
    let members = setup.settings.nodes as PeerIx;
    let honest: Vec<PeerIx> = (0..members).filter(|node| !liars.contains(node)).collect();
    let models = honest.iter().map(|&node| finished.models[node as usize].clone()).collect();
    let mut told = Told {
        lines: Vec::new(),
        models,
        seats: (0..members).collect(),
        broken: Vec::new(),
        named: BTreeSet::new(),
        count: None,
        ended: String::new(),
    };
    for line in lines.iter().filter(|line| line.node == Some(honest[0])) {
        match &line.event {
            RunEvent::Roster { members, .. } => told.seats = members.iter().copied().collect(),
            RunEvent::RoundBroken { round, reason, .. } => told.broken.push((*round, reason.clone())),
            RunEvent::PeerFault { peer, fault: FaultKind::Unproved, .. } => {
                told.named.insert(*peer);
            }
            RunEvent::RoundDone { count, .. } => told.count = Some(*count),
            RunEvent::Finished { reason, .. } => told.ended.clone_from(reason),
            _ => {}
        }
    }
    Told { lines, ..told }
}

fn summary(setup: &Setup, lines: &[LogLine]) -> Summary {
    let mut account = Account::new(setup.shape()).unwrap();
    lines.iter().for_each(|line| account.push(line));
    account.settle_final();
    account.summary()
}

/// The mean over nodes of the mean of their records.
fn mean_of(setup: &Setup, nodes: impl Iterator<Item = usize> + Clone) -> Vec<f64> {
    let count = nodes.clone().count() as f64;
    let mut mean = vec![0.0; setup.train[0].columns()];
    for node in nodes {
        let part = &setup.train[node];
        let share = 1.0 / (part.len() as f64 * count);
        for row in 0..part.len() {
            mean.iter_mut().zip(part.row(row)).for_each(|(to, &value)| *to += share * f64::from(value));
        }
    }
    mean
}

/// Largest distance of a coordinate.
fn off(model: &[f32], expected: &[f64]) -> f64 {
    assert_eq!(model.len(), expected.len());
    model.iter().zip(expected).map(|(&a, b)| (f64::from(a) - b).abs()).fold(0.0, f64::max)
}

/// Six deviations of one number of the mean of so many.
fn slack(count: usize) -> f64 {
    6.0 * Z * CLIP / (count as f64).sqrt()
}

/// By theory: noise of deviation zC in each contribution, so zC/√n in the mean; 64 numbers, so that their variance is within 60 % but for one time in 10⁴. Towards
/// one member the six others hide each contribution, whose change is 2C: μ² = 4/(6z²).
#[test]
fn the_mean_is_as_noisy_as_stated_and_costs_what_one_masked_round_costs() {
    let setup = proved(&["data=digits"]);
    let told = told(&setup, &[]);
    assert!(told.models.iter().all(|model| *model == told.models[0]), "all hold the same");
    assert_eq!((told.count, told.broken.len(), told.seats.len()), (Some(7), 0, 7));
    let truth = mean_of(&setup, 0..7);
    let errors: Vec<f64> = told.models[0].iter().zip(&truth).map(|(&a, b)| f64::from(a) - b).collect();
    let variance = errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64;
    let stated = (Z * CLIP).powi(2) / 7.0;
    assert!((variance / stated - 1.0).abs() < 0.6, "{variance} for {stated}");
    let summary = summary(&setup, &told.lines);
    assert_eq!((summary.worst.analysis.as_str(), summary.releases), ("masked", 7));
    let mu2 = 4.0 / (6.0 * Z * Z);
    assert!((summary.worst.mu2 / mu2 - 1.0).abs() < 1e-9, "{} for {mu2}", summary.worst.mu2);
}

/// All who lie in one attempt are named in it, by everybody; the next is of the others alone.
#[test]
fn who_lies_alone_is_named_and_the_mean_goes_on_without_it() {
    for (kind, says) in [
        ("out-of-range", "did not prove that its numbers are in range"),
        ("huge-words", "sent something else than it committed to"),
    ] {
        for liars in [&[3][..], &[2, 5]] {
            let setup = lied_to(liars, kind, &[]);
            let told = told(&setup, liars);
            assert_eq!(told.named, liars.iter().copied().collect(), "{kind}");
            assert_eq!(told.broken.len(), 1, "{kind}: {:?}", told.broken);
            assert!(told.broken[0].1.contains(says), "{kind}: {:?}", told.broken);
            let left = 7 - liars.len();
            assert_eq!((told.seats.len(), told.count), (left, Some(left as u32)), "{kind}");
            assert!(told.seats.iter().all(|seat| !liars.contains(seat)), "{kind}");
            assert!(told.models.iter().all(|model| *model == told.models[0]), "{kind}");
            let honest = (0..7).filter(|&node| !liars.contains(&(node as PeerIx)));
            let off = off(&told.models[0], &mean_of(&setup, honest));
            assert!(off < slack(left), "{kind}: {off}");
            // Each of the honest in both attempts; a liar in the first.
            let summary = summary(&setup, &told.lines);
            assert_eq!(summary.releases as usize, 7 + left, "{kind}");
        }
    }
}

/// Two that commit to different masks: one lies, and only it comes into more pairs than may be hostile. Then it is out.
#[test]
fn who_differs_about_masks_is_out_after_one_attempt_with_each_of_three() {
    let setup = lied_to(&[3], "false-mask", &[]);
    let told = told(&setup, &[3]);
    assert!(told.named.is_empty(), "{:?}", told.named);
    assert_eq!(told.broken.len(), 3, "{:?}", told.broken);
    assert!(told.broken.iter().all(|(_, why)| why.contains("and 3 committed to different masks")));
    assert_eq!((told.seats.len(), told.count), (6, Some(6)));
    let off = off(&told.models[0], &mean_of(&setup, (0..7).filter(|&node| node != 3)));
    assert!(off < slack(6), "{off}");
}

/// A number in range is all that is proved: one member moves each number of the mean by at most its range over the number of members, and its range is what an honest
/// contribution with its noise needs: L + 12z clip norms, where all can be of length one.
#[test]
fn within_its_range_a_lie_is_bounded_and_not_named() {
    let setup = lied_to(&[3], "long-words", &[]);
    let told = told(&setup, &[3]);
    assert_eq!((told.seats.len(), told.count, told.broken.len()), (7, Some(7), 0));
    let truth = mean_of(&setup, 0..7);
    let moved = off(&told.models[0], &truth);
    // z over the clip norm, and a hundredth for rounding.
    let range = CLIP * (1.0 + 12.0 * Z) * 1.01;
    assert!(moved > 0.5 * range / 7.0 && moved < (range + CLIP) / 7.0, "{moved} of {range}");
}

/// A plan has room for one attempt that comes to nothing. After two nobody has anything left: there is no mean, and everybody says why.
#[test]
fn a_plan_has_room_for_one_attempt_more_and_says_when_it_is_used_up() {
    let planned = |kind: &str| {
        let hostile = format!("faults.hostile=[{{ nodes = [3], kind = \"{kind}\" }}]");
        let waits = ["timeouts.resend=20ms", "timeouts.silence=200ms", "privacy.epsilon=4"];
        let pairs = [&PROVED[..5], &waits, &[hostile.as_str()]].concat();
        Setup::new(config(&pairs)).unwrap()
    };
    let spoilt = planned("huge-words");
    let told_spoilt = told(&spoilt, &[3]);
    assert_eq!((told_spoilt.broken.len(), told_spoilt.count), (1, Some(6)));
    let cost = summary(&spoilt, &told_spoilt.lines);
    assert!(cost.worst.epsilon <= 4.0 && cost.worst.analysis == "masked", "{}", cost.worst.epsilon);
    let lost = planned("false-mask");
    let told_lost = told(&lost, &[3]);
    assert_eq!(told_lost.count, None);
    assert!(told_lost.ended.contains("nobody has anything left to give"), "{}", told_lost.ended);
    assert!(summary(&lost, &told_lost.lines).worst.epsilon <= 4.0);
}

/// Other lies that any round must bear: to each something else, nothing at all.
#[test]
fn who_tells_others_different_things_or_nothing_is_out() {
    for kind in ["equivocation", "silence"] {
        let setup = lied_to(&[3], kind, &[]);
        let told = told(&setup, &[3]);
        assert!(told.models.iter().all(|model| *model == told.models[0]), "{kind}");
        assert!(told.count.is_some_and(|count| count >= 6), "{kind}: {:?} {:?}", told.count, told.broken);
        let off = off(&told.models[0], &mean_of(&setup, (0..7).filter(|&node| node != 3)));
        assert!(off < slack(6), "{kind}: {off}");
    }
}

/// The file that people run.
#[test]
fn the_scenario_names_its_liar() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/liars/out-of-range.toml");
    let config = Config::from_toml(&std::fs::read_to_string(path).unwrap(), "out-of-range").unwrap();
    let setup = Setup::new(config).unwrap();
    let told = told(&setup, &[7]);
    assert_eq!((told.named, told.count), (BTreeSet::from([7]), Some(7)));
}

#[test]
fn too_many_numbers_are_refused_with_a_hint() {
    let Err(error) = Setup::new(config(&[&PROVED[..], &["data=blobs:dim=1025"]].concat())) else {
        panic!("1,025 numbers were taken")
    };
    assert!(error.to_string().contains("1025"), "{error}");
}

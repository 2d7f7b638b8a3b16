//! Members that are drawn in public for a round, and the mean of the last rounds: what they cost, and that everybody comes to the same model.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod swarm;

use std::collections::BTreeMap;

use protocol::account::Account;
use protocol::{LogLine, RunEvent, Setup};
use swarm::{run, setup};

const NODES: usize = 16;
const DRAWN: [&str; 4] = ["algorithm.kind=rounds", "algorithm.sample=5", "rounds=12", "test_fraction=0"];

fn priced(shape: protocol::account::Shape, lines: &[LogLine]) -> Account {
    let mut account = Account::new(shape).unwrap();
    lines.iter().for_each(|line| account.push(line));
    account.settle_final();
    account
}

/// Contributions of each node.
fn released(lines: &[LogLine]) -> BTreeMap<usize, u32> {
    let mut counts = BTreeMap::new();
    for line in lines {
        if let (Some(node), RunEvent::Released { .. }) = (line.node, &line.event) {
            *counts.entry(node as usize).or_insert(0) += 1;
        }
    }
    counts
}

/// Five equal noises hide each other with leverage between 1/5 and 1, and nobody else hides anybody: with z = ½ a contribution costs at least 4/5 and at
/// most 4 towards everybody else.
#[test]
fn five_are_drawn_for_each_round_and_only_they_hide_one_another() {
    let setup = setup(&DRAWN);
    let lines = run(&setup, 2).lines;
    let counts = lines.iter().filter_map(|line| match line.event {
        RunEvent::RoundDone { count, .. } => Some(count),
        _ => None,
    });
    assert!(counts.clone().count() >= 12 * NODES && counts.clone().all(|count| count == 5));
    let released = released(&lines);
    assert_eq!(released.values().sum::<u32>(), 5 * 12);
    assert!(released.len() > 12, "who is drawn changes: {released:?}");
    let mut all = priced(setup.shape().with_private_noise(false), &lines);
    for source in 0..NODES {
        let times = f64::from(released.get(&source).copied().unwrap_or(0));
        for watcher in (0..NODES).filter(|&watcher| watcher != source) {
            let mu2 = all.mu2(source, watcher);
            // Noise is larger than z·C by the slack for rounding, far below one part of a thousand.
            assert!(
                mu2 >= 0.8 * times * 0.999 && mu2 <= 4.0 * times * (1.0 + 1e-9),
                "{source} to {watcher}: {mu2}"
            );
        }
    }
    // What one node's own log proves is the same, but for the last round, of which it does not know how it ended elsewhere.
    for me in [0, 7] {
        let own: Vec<LogLine> =
            lines.iter().filter(|line| line.node.is_none_or(|node| node as usize == me)).cloned().collect();
        let mut mine = priced(setup.shape().with_private_noise(false).with_witnesses([me]), &own);
        for watcher in (0..NODES).filter(|&watcher| watcher != me) {
            let (found, exact) = (mine.mu2(me, watcher), all.mu2(me, watcher));
            assert!(found >= exact - 1e-6 && found <= exact + 4.0 + 1e-6, "{watcher}: {found} {exact}");
        }
    }
}

#[test]
fn the_noise_for_drawn_members_keeps_the_target_and_the_plan_is_what_comes_out() {
    let pairs = ["privacy.epsilon=8", "privacy.adjacency=node", "local_steps=2"];
    for pairs in [&pairs[..1], &pairs] {
        let setup = setup(&[&DRAWN[..], pairs].concat());
        let lines = run(&setup, 2).lines;
        let worst = priced(setup.shape().with_private_noise(false), &lines).summary().worst.epsilon;
        assert!(worst <= 8.0 && worst > 1.0, "{worst}");
        assert!((worst - setup.planned.worst).abs() < 1e-6, "{worst} {}", setup.planned.worst);
        let done = lines.iter().filter(|line| matches!(line.event, RunEvent::RoundDone { .. })).count();
        assert_eq!(done, 12 * NODES, "the budget lets all rounds happen");
    }
}

/// Everybody stays in the roster and adds noise, so a contribution hides among 15 others; who was not drawn released nothing and is charged nothing.
#[test]
fn under_masks_who_is_drawn_hides_among_all_and_pays_for_its_own_rounds_only() {
    let setup = setup(&[&DRAWN[..], &["privacy.masking=pairwise"]].concat());
    let lines = run(&setup, 2).lines;
    let (mut rounds, mut among) = (Vec::new(), Vec::new());
    for line in &lines {
        match line.event {
            RunEvent::RoundDone { count, .. } => rounds.push(count),
            RunEvent::Released { among: said, .. } => among.push(said),
            _ => {}
        }
    }
    assert!(rounds.len() == 12 * NODES && rounds.iter().all(|count| *count == 5), "{rounds:?}");
    assert!(among.iter().all(|among| *among == Some(NODES as u32)), "{among:?}");
    let released = released(&lines);
    assert_eq!(released.values().sum::<u32>(), 5 * 12);
    let most = f64::from(*released.values().max().unwrap());
    let summary = priced(setup.shape().with_private_noise(false), &lines).summary();
    // z = ½: 4 in full, of which one member sees a fifteenth and any five together an eleventh; noise is larger by the slack for rounding.
    let seen = summary.worst.mu2 / (most * 4.0 / 15.0);
    assert!((0.999..=1.0 + 1e-9).contains(&seen), "{seen}");
    let coalition = summary.coalition.unwrap();
    let expected = privacy::gdp::epsilon((most * 4.0 / 11.0).sqrt(), setup.config.privacy.delta).unwrap();
    assert_eq!(coalition.members, 5);
    assert!((coalition.epsilon / expected - 1.0).abs() < 1e-3, "{} for {expected}", coalition.epsilon);
}

/// Noise is planned for the member that is drawn most often, and nobody is refused.
#[test]
fn under_masks_the_plan_for_drawn_members_is_what_comes_out() {
    for level in [&["batch_size=all"][..], &["batch_size=20"], &["privacy.adjacency=node", "local_steps=2"]] {
        let pairs = ["privacy.masking=pairwise", "privacy.epsilon=8"];
        let all = setup(&[&DRAWN[..], &pairs, level, &["algorithm.sample=all"]].concat());
        let setup = setup(&[&DRAWN[..], &pairs, level].concat());
        let lines = run(&setup, 2).lines;
        assert_eq!(released(&lines).values().sum::<u32>(), 5 * 12, "the budget lets all rounds happen");
        let found = priced(setup.shape().with_private_noise(false), &lines).summary();
        let (coalition, planned) = (found.coalition.unwrap().epsilon, setup.planned.coalition.unwrap().1);
        assert!((coalition / planned - 1.0).abs() < 2e-3, "{level:?}: {coalition} {planned}");
        assert!(coalition <= 8.0 && coalition > 2.0, "{level:?}: {coalition}");
        // With samples each member's figure is by an order of its own there and by one for all here.
        assert!((found.mean.epsilon / setup.planned.mean - 1.0).abs() < 5e-2, "{level:?}");
        assert!((found.local.epsilon / setup.planned.local - 1.0).abs() < 2e-3, "{level:?}");
        assert!(setup.planned.noise_multiplier < all.planned.noise_multiplier, "{level:?}");
    }
}

#[test]
fn the_result_is_the_mean_of_the_last_rounds_and_the_same_at_all() {
    let common = ["algorithm.kind=rounds", "rounds=8", "privacy.noise_multiplier=0"];
    let plain = setup(&common);
    let after = |rounds: &str| {
        let short = setup(&[&common[..], &[rounds]].concat());
        run(&short, 2).finished.models.remove(0)
    };
    let last: Vec<Vec<f32>> = ["rounds=6", "rounds=7", "rounds=8"].map(after).to_vec();
    assert_eq!(last[2], run(&plain, 2).finished.models[3]);
    let averaged = run(&setup(&[&common[..], &["average=0.3"]].concat()), 2).finished.models;
    // ⌈0.3·8⌉ = 3.
    for (at, found) in averaged[0].iter().enumerate() {
        let mean = last.iter().map(|model| f64::from(model[at])).sum::<f64>() / 3.0;
        assert!((f64::from(*found) - mean).abs() < 1e-4, "{at}: {found} {mean}");
    }
    assert!(averaged.iter().all(|model| *model == averaged[0]));
    assert_ne!(averaged[0], last[2]);
}

/// A node that is away in the last rounds is given the model with its mean, and ends where the others do.
#[test]
fn who_comes_back_ends_with_the_same_mean() {
    let pairs =
        ["algorithm.kind=rounds", "rounds=400", "average=0.9", "optimiser.kind=adam", "learning_rate=0.01"];
    let crash = "faults.crash=[{ nodes = [2, 9], at = \"20ms\", back = \"500ms\" }]";
    let setup: Setup = setup(&[&pairs[..], &[crash]].concat());
    let run = run(&setup, 2);
    let came_back = run.lines.iter().any(|line| matches!(line.event, RunEvent::Roster { .. }));
    assert!(came_back, "somebody was away");
    let models: Vec<_> = run.finished.models.iter().filter(|model| !model.is_empty()).collect();
    assert!(models.len() == NODES && models.iter().all(|model| *model == models[0]));
}

/// What others do with a server, on the same data by the same commands: clients drawn for each round, clusters that the server is told, models that are good after
/// one step, and models of the nodes' own. No noise. A model for each group beats one for all, and one of the nodes' own beats the shared one.
#[test]
fn methods_with_a_server_run_on_the_same_data() {
    let common = [
        "algorithm.kind=fedavg",
        "privacy.adjacency=node",
        "privacy.noise_multiplier=0",
        "privacy.clip_norm=100",
        "learning_rate=0.5",
        "local_steps=5",
        "rounds=30",
        "personal.kind=proximal",
        "test_fraction=0",
    ];
    let done = |pairs: &[&str]| {
        let setup = setup(&[&common[..], pairs].concat());
        sim::run::run(&setup, &sim::Options::default(), &mut |_| {}, &mut |_| {}).unwrap().result
    };
    let turned = ["turned=2", "personal.lambda=inf"];
    let shared = |result: &protocol::RunResult| result.personal.as_ref().unwrap().means()[1];
    let (one, three) = (done(&turned), done(&[&turned[..], &["clusters.slots=3"]].concat()));
    assert!(shared(&three) > shared(&one) + 0.03, "{} {}", shared(&three), shared(&one));
    assert_eq!(three.clusters.unwrap().unmixed, Some(true));
    let mixed = done(&[&turned[..], &["clusters.slots=3", "clusters.mixture=true"]].concat());
    let [own, ..] = mixed.personal.as_ref().unwrap().means();
    assert!(own > shared(&one) + 0.03, "FedEM: {own} {}", shared(&one));
    let skewed = ["partition.kind=pathological", "partition.min_size=8"];
    let sampled = done(&[&skewed[..], &["algorithm.sample=4"]].concat());
    let [own, all, _] = sampled.personal.as_ref().unwrap().means();
    assert!(own > all + 0.05 && all > 0.5, "Ditto on sampled clients: {own} {all}");
    // Two vectors of 650 numbers for 4 of 16 clients in each of 30 rounds.
    assert!((sampled.bytes_per_node - 2.0 * 4.0 * 650.0 * 30.0 / 4.0).abs() < 1e-6);
    let ahead =
        done(&[&skewed[..], &["local.look_ahead=0.1", "personal.lambda=0", "personal.steps=1"]].concat());
    let [own, all, _] = ahead.personal.as_ref().unwrap().means();
    assert!(own > all, "one step makes it better: {own} {all}");
}

/// pFedMe (Dinh et al. 2020) releases v − θ, where v minimises f(v) + (λ/2)‖v − θ‖²: with steps enough that is what `local.proximal` releases. For f(v) = ½(v − b)²
/// it is (b − θ)/(1 + λ).
#[test]
fn a_pull_on_local_steps_releases_the_way_to_the_personal_model() {
    use learn::data::{Dataset, Targets};
    use learn::model::Mean;
    use learn::objective::Objective;
    use learn::optimiser::{LocalSteps, OptimiserSpec, StepSizes, node_update};
    let data = Dataset::new(vec![2.0, 4.0], 1, Targets::None).unwrap();
    let (mean, shared) = (Mean::new(1).unwrap(), [1.0_f32]);
    let local = LocalSteps {
        steps: 200,
        batch: 2,
        schedule: StepSizes::Constant { step_size: 0.5 },
        optimiser: OptimiserSpec::Sgd { radius: None },
    };
    for lambda in [0.25, 1.0, 2.0] {
        let objective = Objective::new(&mean, &data).pulled(lambda, &shared);
        let update = node_update(&objective, &shared, &local, 1).unwrap();
        let sum = update.clip(privacy::clip::ClipNorm::new(10.0).unwrap());
        let (released, _) = sum.release(0.0, &mut privacy::noise::danger_from_seed(1, "way")).unwrap();
        let expected = (3.0 - 1.0) / (1.0 + lambda);
        assert!(
            (f64::from(released.values()[0]) - expected).abs() < 1e-5,
            "{:?} {expected}",
            released.values()
        );
    }
}

//! What a configuration takes, refuses, prints and shares.

use proptest::prelude::*;
use topology::Hint;

use super::*;

pub(super) fn with(pairs: &[&str]) -> Result<Config, ConfigError> {
    Config::from_layers([Layer::from_flags("--set", pairs)?])
}

/// Message, places and hint in one text, as a person reads them.
fn message(error: &ConfigError) -> String {
    let source = std::error::Error::source(error).map_or(String::new(), |place| format!(" | {place}"));
    format!("{error}{source} | {}", error.hint().unwrap_or_default())
}

#[track_caller]
pub(super) fn refused(pairs: &[&str], parts: &[&str]) {
    let error = with(pairs).expect_err(&format!("{pairs:?} should be refused"));
    let text = message(&error);
    parts.iter().for_each(|part| assert!(text.contains(part), "`{part}` is not in: {text}"));
}

/// For each key a value that is not the default, with what else it needs.
const EACH: &[(&str, &[&str])] = &[
    ("name=other", &[]),
    ("purpose=a question", &[]),
    ("nodes=10", &[]),
    ("rounds=7", &[]),
    ("local_steps=3", &["privacy.adjacency=node"]),
    ("batch_size=16", &[]),
    ("learning_rate=0.25", &[]),
    ("average=0.25", &[]),
    ("seed=99", &[]),
    ("data=breast-cancer", &[]),
    ("test_fraction=0.3", &[]),
    ("turned=2", &[]),
    ("topology=ring", &[]),
    ("weights=max-degree", &[]),
    ("partition.kind=natural", &[]),
    ("partition.alpha=0.1", &["partition.kind=dirichlet"]),
    ("partition.per_node=3", &["partition.kind=shards"]),
    ("partition.classes_per_node=3", &["partition.kind=pathological"]),
    ("partition.min_size=4", &[]),
    ("model.kind=logistic", &[]),
    ("model.hidden=[8, 4]", &["model.kind=mlp"]),
    ("model.activation=tanh", &["model.kind=mlp"]),
    ("model.penalty=0.5", &["model.kind=ridge"]),
    ("model.clipping=trainer", &["model.kind=external"]),
    ("model.initial=first.safetensors", &["model.kind=external"]),
    ("optimiser.kind=adam", &[]),
    ("optimiser.radius=5", &[]),
    ("optimiser.momentum=0.5", &["optimiser.kind=momentum"]),
    ("algorithm.kind=gossip", &[]),
    ("algorithm.pull=0.5", &["algorithm.kind=gossip"]),
    ("algorithm.mixing_steps=4", &[]),
    ("algorithm.accelerate=true", &[]),
    ("algorithm.schedule=random-matching", &[]),
    ("algorithm.message_noise=0.5", &[]),
    ("algorithm.kernel=lazy", &[]),
    ("algorithm.tokens=4", &[]),
    (
        "algorithm.correction=d2",
        &["algorithm.kind=gossip", "weights=lazy-metropolis", "privacy.target=local"],
    ),
    ("algorithm.check_in=0.5", &["privacy.adjacency=node"]),
    ("algorithm.sample=5", &[]),
    ("algorithm.exchange=doubling", &[]),
    ("robust.tolerate=8", &[]),
    ("privacy.epsilon=3", &[]),
    ("privacy.delta=1e-6", &[]),
    ("privacy.noise_multiplier=1.5", &[]),
    ("privacy.clip_norm=0.7", &[]),
    ("privacy.unit=node", &[]),
    ("privacy.target=mean", &[]),
    ("privacy.row_norm=2", &[]),
    ("privacy.clip_quantile=0.5", &["privacy.adjacency=node"]),
    ("privacy.masking=pairwise", &[]),
    ("privacy.proofs=range", &["algorithm.kind=mean"]),
    ("privacy.pairwise_noise=2", &["privacy.masking=gopa", "algorithm.kind=mean"]),
    ("privacy.noise=discrete", &[]),
    ("privacy.colluders=3", &["privacy.masking=pairwise"]),
    ("privacy.least=5", &["privacy.masking=pairwise"]),
    ("privacy.inspect=0.5", &["privacy.masking=pairwise"]),
    ("privacy.grid=64", &["privacy.noise=discrete"]),
    ("privacy.largest=7", &["privacy.noise=discrete"]),
    ("personal.kind=proximal", &[]),
    ("personal.lambda=0.1", &[]),
    ("personal.steps=7", &[]),
    ("personal.parameters=[\"linear.bias\"]", &[]),
    ("personal.test_fraction=0.5", &[]),
    ("clusters.slots=3", &[]),
    ("clusters.deal=0.2", &[]),
    ("clusters.choices=5", &[]),
    ("clusters.choice_noise=9", &[]),
    ("clusters.loss_clip=2", &[]),
    (
        "clusters.mixture=true",
        &["algorithm.kind=fedavg", "clusters.slots=3", "privacy.adjacency=node", "privacy.epsilon=inf"],
    ),
    ("local.proximal=0.1", &["privacy.adjacency=node"]),
    ("local.scaffold=true", &["privacy.adjacency=node", "privacy.target=local"]),
    ("local.look_ahead=0.1", &["privacy.adjacency=node"]),
    ("members.hostile=1", &[]),
    ("members.late=true", &[]),
    ("questions.only=true", &[]),
    ("timeouts.resend=20ms", &[]),
    ("timeouts.silence=3", &[]),
    ("timeouts.slow=20s", &[]),
    ("timeouts.give_up=5min", &[]),
    ("faults.drop_prob=0.1", &[]),
    ("faults.duplicate_prob=0.1", &[]),
    ("faults.reorder_prob=0.1", &[]),
    ("faults.online_prob=0.7", &[]),
    ("faults.slot=2s", &[]),
    ("faults.delay=15us", &[]),
    ("faults.jitter=0.5", &[]),
    ("faults.bandwidth=1000000", &[]),
    ("faults.compute=20ms", &[]),
    (
        "faults.crash=[{ nodes = [1, 2], at = \"2s\", back = 3.5 }, { fraction = 0.25, at = 1, pause = true }]",
        &[],
    ),
    ("faults.slow=[{ nodes = [1], factor = 3 }]", &[]),
    ("faults.partition=[{ fraction = 0.5, from = \"1s\", until = \"2s\" }]", &[]),
    (
        "faults.hostile=[{ nodes = [3], kind = \"wrong-length\", from = \"1ms\" }, { fraction = 0.1, kind = \"push:0.3\" }]",
        &[],
    ),
];

#[test]
fn every_key_can_be_set_and_changes_the_config() {
    let set: Vec<&str> =
        EACH.iter().filter_map(|(pair, _)| pair.split_once('=')).map(|(key, _)| key).collect();
    assert_eq!(set, keys().map(|key| key.name).collect::<Vec<_>>(), "one line for each key");
    for (pair, needs) in EACH {
        let base = with(needs).unwrap();
        let all: Vec<&str> = needs.iter().chain([pair]).copied().collect();
        let changed = with(&all).unwrap_or_else(|error| panic!("{pair}: {}", message(&error)));
        assert_ne!(changed, base, "{pair}");
        assert_eq!(Config::from_toml(&changed.to_toml(), "dump").unwrap(), changed, "{pair}");
        let key = pair.split_once('=').unwrap().0;
        let whose = keys().find(|known| known.name == key).unwrap().whose;
        if whose == Whose::All {
            assert!(changed.differing_keys(&base).contains(&key), "{pair}");
            assert_ne!(changed.digest(), base.digest(), "{pair}");
        } else {
            assert_eq!(changed.digest(), base.digest(), "{pair}");
        }
    }
}

#[test]
fn the_defaults_are_the_built_in_story() {
    let config = Config::default();
    assert_eq!((config.nodes, config.algorithm.kind), (64, AlgorithmKind::Rounds));
    assert_eq!((config.data.name().as_str(), config.privacy.delta), ("digits", 1e-5));
    assert_eq!((config.privacy.adjacency, config.privacy.target), (Adjacency::Record, Scope::Worst));
}

#[test]
fn a_file_reads_as_people_write_it() {
    let text = "
        nodes = 10
        topology = 'ring'
        [partition]
        kind = 'dirichlet'
        alpha = 0.1
        [privacy]
        epsilon = 'inf'
        [timeouts]
        resend = '20ms'
        [[faults.crash]]
        nodes = [1]
        at = '2s'
        [[faults.crash]]
        fraction = 0.5
        at = 4
    ";
    let config = Config::from_toml(text, "run.toml").unwrap();
    assert_eq!(config.partition.to_string(), "dirichlet:alpha=0.1");
    assert_eq!(config.privacy.epsilon, Some(f64::INFINITY));
    assert_eq!(config.timeouts.resend, 20_000);
    assert_eq!(config.faults.crash[1].at, 4_000_000);
    assert_eq!(config.graph_spec().unwrap().to_string(), "ring:10");
}

#[test]
fn a_later_layer_covers_an_earlier_one_and_forgets_what_it_replaces() {
    let file = || Layer::from_toml("partition = 'dirichlet:alpha=0.1'\nprivacy.epsilon = 2", "f").unwrap();
    let over = |pair: &str| Config::from_layers([file(), Layer::from_flags("--set", &[pair]).unwrap()]);
    assert_eq!(over("partition.kind=iid").unwrap().partition.to_string(), "iid");
    assert_eq!(over("partition.alpha=0.5").unwrap().partition.to_string(), "dirichlet:alpha=0.5");
    let noisy = over("privacy.noise_multiplier=3").unwrap().privacy;
    assert_eq!((noisy.epsilon, noisy.noise_multiplier), (None, Some(3.0)));
}

#[test]
fn a_topology_with_a_size_decides_the_number_of_nodes() {
    assert_eq!(with(&["topology=karate"]).unwrap().nodes, 34);
    assert_eq!(with(&["topology=regular,degree=6", "nodes=20"]).unwrap().nodes, 20);
    refused(&["topology=karate", "nodes=64"], &["nodes = 64", "karate", "34", "--set nodes=64"]);
    refused(&["topology=hypercube", "nodes=10"], &["hypercube", "power of two"]);
    refused(&["topology=file:friends.txt"], &["file:friends.txt", "nodes"]);
    assert_eq!(with(&["topology=regular,degree=4", "seed=7"]).unwrap().graph_spec().unwrap().seed(), 7);
    assert_eq!(with(&["topology=regular,degree=4,seed=3"]).unwrap().graph_spec().unwrap().seed(), 3);
}

#[test]
fn unknown_keys_are_refused_with_the_nearest_known_one() {
    refused(&["privacy.epsilom=2"], &["`privacy.epsilom`", "did you mean `privacy.epsilon`?", "--set"]);
    refused(&["epsilon=2"], &["did you mean `privacy.epsilon`?"]);
    refused(&["banana=2"], &["known are name, purpose, nodes"]);
    refused(&["privacy=2"], &["section", "privacy.epsilon"]);
    refused(&["faults.crash=[{ nodez = [1], at = 1 }]"], &["faults.crash.nodez", "faults.crash.nodes"]);
    let error = Config::from_toml("nodes = 4\n[privacy]\nepsilon = 1\nclip = 2\n", "run.toml").unwrap_err();
    assert!(message(&error).contains("`run.toml`, line 4"), "{}", message(&error));
}

#[test]
fn bad_values_are_refused_with_key_value_and_place() {
    for (pair, parts) in [
        ("nodes=0", ["nodes = 0", "whole number"]),
        ("nodes=-3", ["nodes = -3", "whole number"]),
        ("rounds=1.5", ["rounds = 1.5", "whole number"]),
        ("learning_rate=nan", ["learning_rate = nan", "positive"]),
        ("learning_rate=inf", ["learning_rate = inf", "positive"]),
        ("batch_size=none", ["batch_size = \"none\"", "\"all\""]),
        ("batch_size=0", ["batch_size = 0", "from 1"]),
        ("test_fraction=1", ["test_fraction = 1", "below 1"]),
        ("privacy.clip_norm=0", ["privacy.clip_norm = 0", "positive"]),
        ("privacy.epsilon=0", ["privacy.epsilon = 0", "inf"]),
        ("privacy.epsilon=nan", ["privacy.epsilon = nan", "positive"]),
        ("privacy.delta=1", ["privacy.delta = 1", "below 1"]),
        ("privacy.adjacency=people", ["privacy.unit", "record, person, node"]),
        ("algorithm.kind=gosip", ["gosip", "did you mean `gossip`?"]),
        ("algorithm.accelerate=7", ["algorithm.accelerate = 7", "true or false"]),
        ("algorithm.schedule=doublin", ["doublin", "schedule"]),
        ("algorithm.tokens=100", ["algorithm.tokens = 100", "64 nodes"]),
        ("model.kind=softmx", ["softmx", "did you mean `softmax`?"]),
        ("model.hidden=[4]", ["model.hidden = [4]", "no such key"]),
        ("partition.kind=dirichlt", ["dirichlt", "did you mean `dirichlet`?"]),
        ("partition.alpha=0.5", ["partition.alpha = 0.5", "iid"]),
        ("partition=dirichlet:alpha=x", ["partition", "`x`"]),
        ("topology=rign", ["rign", "did you mean `ring`"]),
        ("weights=heavy", ["heavy", "metropolis"]),
        ("data=digitz", ["digitz", "data"]),
        ("timeouts.resend=soon", ["timeouts.resend", "250ms"]),
        ("timeouts.resend=0", ["timeouts.resend = 0", "longer"]),
        ("faults.drop_prob=1.5", ["faults.drop_prob = 1.5", "probability"]),
        ("faults.crash=7", ["faults.crash = 7", "list"]),
        ("faults.crash=[{ nodes = [64], at = 1 }]", ["faults.crash", "no node 64"]),
        ("faults.crash=[{ at = 1 }]", ["faults.crash", "`fraction`"]),
        ("faults.crash=[{ nodes = [1], at = \"soon\" }]", ["faults.crash", "soon"]),
        ("faults.partition=[{ fraction = 0.5, from = 2, until = 1 }]", ["faults.partition", "later"]),
        ("faults.hostile=[{ nodes = [1], kind = \"rude\" }]", ["faults.hostile", "rude"]),
        ("faults.hostile=[{ nodes = [1], kind = \"push\" }]", ["faults.hostile", "push:0.3"]),
        ("faults.hostile=[{ kind = \"sign\" }]", ["faults.hostile", "`fraction`"]),
        ("local_steps=2", ["local_steps = 2", "privacy.unit"]),
        ("personal.lambda=-1", ["personal.lambda = -1", "not negative"]),
        ("personal.kind=ditto", ["ditto", "none, proximal"]),
        ("clusters.slots=65", ["clusters.slots = 65", "64"]),
        ("local.proximal=0.1", ["local.proximal = 0.1", "one record moves the state"]),
        ("algorithm.check_in=0", ["algorithm.check_in = 0", "above 0"]),
        ("privacy.clip_quantile=0.5", ["privacy.clip_quantile = 0.5", "privacy.unit"]),
        ("name=../up", ["name", "folder"]),
        ("seed=-1", ["seed = -1", "whole number"]),
    ] {
        refused(&[pair], &parts);
    }
    refused(&["privacy.epsilon=1", "privacy.noise_multiplier=1"], &["privacy.epsilon = 1", "one of them"]);
    refused(&["algorithm.kind=mean", "privacy.adjacency=record"], &["mean", "node"]);
    refused(&["nodes"], &["key=value"]);
}

#[test]
fn text_that_is_not_toml_is_refused_with_its_line() {
    let error = Config::from_toml("nodes = 4\nrounds = = 3\n", "run.toml").unwrap_err();
    assert!(message(&error).contains("`run.toml`, line 2"), "{}", message(&error));
}

#[test]
fn data_and_faults_are_each_nodes_own() {
    let (a, b) = (with(&["data=breast-cancer"]).unwrap(), with(&["faults.drop_prob=0.5"]).unwrap());
    assert_eq!(a.digest(), b.digest());
    assert!(a.differing_keys(&b).is_empty());
    let c = with(&["privacy.clip_norm=2", "rounds=3"]).unwrap();
    assert_eq!(a.differing_keys(&c), ["rounds", "privacy.clip_norm"]);
}

proptest! {
    #[test]
    fn what_is_printed_reads_back_equal(
        picks in prop::collection::vec(any::<bool>(), EACH.len()),
        rate in 1e-6_f64..1e6,
        delta in 1e-12_f64..0.99,
        delay in 0_u64..10_000_000_000,
    ) {
        let mut pairs = vec![
            format!("learning_rate={rate:e}"),
            format!("privacy.delta={delta:e}"),
            format!("faults.delay={delay}us"),
        ];
        for ((pair, needs), _) in EACH.iter().zip(picks).filter(|(_, pick)| *pick) {
            pairs.extend(needs.iter().chain([pair]).map(|pair| (*pair).to_owned()));
        }
        // Combinations that exclude each other are refused; what is taken reads back.
        if let Ok(config) = Layer::from_flags("--set", &pairs).and_then(|layer| Config::from_layers([layer])) {
            prop_assert_eq!(Config::from_toml(&config.to_toml(), "dump").unwrap(), config);
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,80}", key in 0..EACH.len(), value in "\\PC{0,20}") {
        let _ = Config::from_toml(&text, "text");
        let _ = with(&[&format!("{}={value}", EACH[key].0.split_once('=').unwrap().0)]);
    }
}

/// The rules of what may be claimed where data differ, each named in the hint.
#[test]
fn state_that_no_analysis_covers_is_refused() {
    for kind in ["gossip", "walk", "local"] {
        let pairs = [format!("algorithm.kind={kind}"), "clusters.slots=3".to_owned()];
        let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
        refused(&pairs, &["clusters.slots = 3", "algorithm.kind = \"rounds\""]);
    }
    let node = "privacy.adjacency=node";
    refused(&[node, "local.scaffold=true"], &["own noise", "privacy.target = \"local\""]);
    refused(&[node, "local.scaffold=true", "privacy.noise_multiplier=1"], &["own noise"]);
    let gossip = ["algorithm.kind=gossip", "algorithm.correction=d2"];
    refused(&[&gossip[..], &["weights=lazy-metropolis"]].concat(), &["own noise"]);
    refused(&[&gossip[..], &["privacy.epsilon=inf"]].concat(), &["lazy-metropolis"]);
    refused(&["algorithm.correction=d2", "privacy.epsilon=inf"], &["gossip"]);
    refused(&[node, "privacy.clip_quantile=0.5", "optimiser.kind=adam"], &["optimiser.kind = \"sgd\""]);
    // A person has several records: nothing that records may not have is free for persons.
    for state in
        ["clusters.slots=3", "local.proximal=0.1", "privacy.clip_quantile=0.5", "algorithm.check_in=0.5"]
    {
        refused(&["privacy.unit=person", state], &["privacy.unit = \"person\"", "privacy.unit = \"node\""]);
    }
    let server = ["algorithm.kind=fedavg", "clusters.slots=3"];
    refused(&server, &["whole nodes", "privacy.unit = \"node\""]);
    refused(&[&server[..], &[node]].concat(), &["told which slot", "algorithm.kind = \"rounds\""]);
    refused(&["nodes=8", "algorithm.sample=9"], &["algorithm.sample = 9", "number of nodes, 8"]);
    let scaffold = [node, "local.scaffold=true", "privacy.epsilon=inf"];
    refused(&[&scaffold[..], &["algorithm.sample=5"]].concat(), &["variates", "algorithm.sample = 5"]);
    for kind in ["gossip", "walk", "mean", "alone"] {
        let kind = format!("algorithm.kind={kind}");
        refused(&[&kind, "algorithm.sample=5"], &["algorithm.sample = 5", "algorithm.kind = \"rounds\""]);
        refused(&[&kind, "average=0.5"], &["average = 0.5", "algorithm.kind = \"rounds\""]);
    }
    refused(&["average=1.5"], &["average = 1.5", "from 0 to 1"]);
    refused(&["algorithm.pull=0.5"], &["algorithm.pull = 0.5", "algorithm.kind = \"gossip\""]);
    let pull = ["algorithm.kind=gossip", "algorithm.pull=0.5"];
    refused(&[&pull[..], &["algorithm.mixing_steps=2"]].concat(), &["make the models one"]);
    refused(&[&pull[..], &["learning_rate=3"]].concat(), &["learning_rate = 3", "at most 1"]);
    refused(&[&pull[..], &["algorithm.schedule=random-matching"]].concat(), &["fixed graph"]);
    refused(&["clusters.mixture=true", "clusters.slots=2"], &["clusters.mixture = true", "fedavg"]);
    for fine in [
        &[node, "local.scaffold=true", "privacy.epsilon=inf"][..],
        &["algorithm.kind=fedavg", "algorithm.sample=5", "average=0.5"],
        &["algorithm.sample=5", "privacy.masking=pairwise"],
        &[node, "local.scaffold=true", "privacy.target=local"],
        &[&gossip[..], &["weights=lazy-metropolis", "privacy.epsilon=inf"]].concat(),
        &["clusters.slots=3"],
    ] {
        assert!(with(fine).is_ok(), "{fine:?}");
    }
}

#[test]
fn masks_need_a_total_three_members_somebody_to_hide_behind_and_integers() {
    let masks = "privacy.masking=pairwise";
    for kind in ["gossip", "walk", "mean"] {
        refused(
            &[masks, &format!("algorithm.kind={kind}")],
            &["masks cancel only", kind, "privacy.masking = \"none\""],
        );
    }
    refused(&[masks, "nodes=2"], &["nodes = 2", "each knows the other's part"]);
    refused(&[masks, "nodes=5", "privacy.colluders=4"], &["privacy.colluders = 4", "at most 3"]);
    refused(
        &[masks, "nodes=5", "privacy.colluders=3", "privacy.least=3"],
        &["privacy.least = 3", "2 members are left"],
    );
    refused(&[masks, "privacy.noise=gaussian"], &["privacy.noise = \"gaussian\"", "integers"]);
    refused(&[masks, "privacy.noise_multiplier=0"], &["privacy.noise_multiplier = 0", "hides nothing"]);
    refused(
        &["algorithm.exchange=halving"],
        &["algorithm.exchange = \"halving\"", "see others' contributions"],
    );
    refused(
        &["privacy.noise=discrete", "algorithm.kind=gossip"],
        &["privacy.noise = \"discrete\"", "gossip"],
    );
    // What a comparison has no use for does not stand in its way.
    assert_eq!(with(&[masks, "algorithm.kind=central"]).unwrap().privacy.masking, Masking::Unsaid);
}

#[test]
fn pairwise_noise_needs_an_average_of_reals_with_noise_of_ones_own() {
    let gopa = ["privacy.masking=gopa", "algorithm.kind=mean"];
    for kind in ["gossip", "walk", "rounds"] {
        let kind = format!("algorithm.kind={kind}");
        refused(&[gopa[0], &kind], &["cancels in one average", "algorithm.kind = \"mean\""]);
    }
    let refused = |more: &[&str], expected: &[&str]| refused(&[&gopa, more].concat(), expected);
    refused(&["nodes=2"], &["nodes = 2", "each knows the other's part"]);
    refused(&["nodes=5", "privacy.colluders=4"], &["privacy.colluders = 4", "at most 3"]);
    refused(&["privacy.noise=discrete"], &["real numbers"]);
    refused(&["privacy.noise_multiplier=0"], &["in the clear"]);
    refused(&["privacy.pairwise_noise=0"], &["privacy.pairwise_noise", "positive"]);
    let config = with(&[&gopa[..], &["privacy.pairwise_noise=2.5"]].concat()).unwrap();
    assert_eq!((config.privacy.masking, config.privacy.pairwise_noise), (Masking::Gopa, 2.5));
    assert_eq!(Config::from_toml(&config.to_toml(), "shown").unwrap(), config);
}

#[test]
fn colluders_are_fewer_than_a_third_and_auto_masks_where_it_can() {
    for (nodes, colluders) in [("nodes=3", 1), ("nodes=7", 2), ("nodes=64", 21)] {
        assert_eq!(with(&[nodes]).unwrap().privacy.colluders, colluders);
    }
    let auto = |pairs: &[&str]| with(&[&["privacy.masking=auto"], pairs].concat()).unwrap().privacy.masking;
    assert_eq!((auto(&[]), auto(&["nodes=3"])), (Masking::Pairwise, Masking::Pairwise));
    for without in [
        "nodes=2",
        "algorithm.kind=gossip",
        "privacy.epsilon=inf",
        "privacy.noise_multiplier=0",
        "privacy.noise=gaussian",
    ] {
        assert_eq!(auto(&[without]), Masking::Unsaid, "{without}");
    }
    // Said or not, what was decided comes back from what is shown.
    for pairs in [&["privacy.masking=auto"][..], &["privacy.masking=none"], &[]] {
        let config = with(pairs).unwrap();
        assert_eq!(Config::from_toml(&config.to_toml(), "shown").unwrap(), config);
    }
}

//! The tables of docs/HETEROGENEITY.md: `cargo run --release --example heterogeneity -- [SEEDS] [SETTING]…`, Markdown on stdout.
#![expect(clippy::print_stdout, reason = "a table is what it is for")]

mod charges;
mod hypotheses;

use std::error::Error;
use std::sync::Arc;

use learn::data::Dataset;
use learn::metrics::MeanSpread;
use learn::model::Model;
use protocol::Setup;
use protocol::config::{Config, Layer};
use protocol::work::BuiltIn;
use sim::Options;
use sim::sweep::{Axis, Figures, Summary, Sweep};

/// A setting: its name, what all of its runs have in common, and what is compared.
struct Setting {
    name: &'static str,
    common: &'static [&'static str],
    rows: &'static [(&'static str, &'static [&'static str])],
}

const DIGITS: [&str; 5] =
    ["data=digits", "test_fraction=0", "learning_rate=2", "privacy.clip_norm=1", "personal.kind=proximal"];

const SETTINGS: &[Setting] = &[
    Setting {
        name: "A",
        common: &[
            "nodes=64",
            "rounds=100",
            "partition.kind=dirichlet",
            "partition.alpha=0.1",
            "partition.min_size=4",
            "personal.lambda=0.03",
        ],
        rows: &[
            ("no noise", &["privacy.epsilon=inf"]),
            ("ε 8", &["privacy.epsilon=8"]),
            ("ε 2", &["privacy.epsilon=2"]),
            ("ε 2, masks", &["privacy.epsilon=2", "privacy.masking=pairwise"]),
        ],
    },
    Setting {
        name: "B",
        common: &["nodes=16", "rounds=100", "partition.min_size=10", "privacy.epsilon=2"],
        rows: &[
            ("`dirichlet` 0.1", &["partition.kind=dirichlet", "partition.alpha=0.1"]),
            (
                "`dirichlet` 0.1, masks",
                &["partition.kind=dirichlet", "partition.alpha=0.1", "privacy.masking=pairwise"],
            ),
            ("`pathological` 2", &["partition.kind=pathological", "partition.classes_per_node=2"]),
        ],
    },
    Setting {
        name: "C",
        common: &["nodes=16", "rounds=100", "turned=2", "personal.lambda=inf"],
        rows: &[
            ("3 slots, no noise", &["clusters.slots=3", "privacy.epsilon=inf"]),
            ("1 slot, no noise", &["privacy.epsilon=inf"]),
            ("3 slots, ε 8", &["clusters.slots=3", "privacy.epsilon=8"]),
            ("1 slot, ε 8", &["privacy.epsilon=8"]),
        ],
    },
    Setting {
        name: "F",
        common: &[
            "nodes=10",
            "rounds=20",
            "partition.kind=dirichlet",
            "partition.alpha=0.1",
            "partition.min_size=4",
            "privacy.adjacency=node",
            "local_steps=20",
            "learning_rate=0.5",
            "privacy.clip_norm=100",
            "privacy.epsilon=inf",
            "personal.kind=none",
            "test_fraction=0.2",
        ],
        rows: &[
            ("SCAFFOLD", &["local.scaffold=true"]),
            ("FedAvg", &[]),
            ("FedProx, μ 0.1", &["local.proximal=0.1"]),
            ("Per-FedAvg, α 0.1", &["local.look_ahead=0.1"]),
        ],
    },
    Setting {
        name: "G",
        common: &[
            "nodes=16",
            "rounds=300",
            "topology=ring",
            "weights=lazy-metropolis",
            "algorithm.kind=gossip",
            "algorithm.mixing_steps=1",
            "partition.kind=pathological",
            "learning_rate=0.5",
            "privacy.clip_norm=100",
            "privacy.epsilon=inf",
            "personal.kind=none",
            "test_fraction=0.2",
        ],
        rows: &[("D²", &["algorithm.correction=d2"]), ("gossip", &[])],
    },
    Setting {
        name: "H",
        common: &[
            "data=../shared/data/heart_disease.csv.gz:label=num,above=0,id=hospital,fill=0,scale=age@0..100+sex@0..1+cp@1..4+trestbps@0..200+chol@0..600+fbs@0..1+restecg@0..2+thalach@0..220+exang@0..1+oldpeak@-3..7+slope@0..3+ca@0..3+thal@0..7",
            "nodes=4",
            "rounds=60",
            "partition.kind=natural",
            "model.kind=logistic",
            "learning_rate=1",
            "personal.lambda=0.03",
        ],
        rows: &[("ε 2", &["privacy.epsilon=2"]), ("no noise", &["privacy.epsilon=inf"])],
    },
];

/// Methods of this field on one data set, without noise.
const METHODS: Setting = Setting {
    name: "M",
    common: &[
        "nodes=16",
        "rounds=100",
        "algorithm.kind=fedavg",
        "partition.kind=dirichlet",
        "partition.alpha=0.1",
        "partition.min_size=10",
        "privacy.unit=node",
        "privacy.epsilon=inf",
        "privacy.clip_norm=100",
        "learning_rate=0.5",
        "local_steps=5",
        "personal.lambda=inf",
    ],
    rows: &[
        ("FedAvg", &[]),
        ("FedAvg, 4 of 16 clients", &["algorithm.sample=4"]),
        ("FedProx, μ 0.1", &["local.proximal=0.1"]),
        ("SCAFFOLD", &["algorithm.kind=rounds", "local.scaffold=true"]),
        ("Per-FedAvg, α 0.1", &["local.look_ahead=0.1", "personal.lambda=0", "personal.steps=1"]),
        ("Ditto, λ 0.1", &["personal.lambda=0.1"]),
        ("Ditto, λ auto", &["personal.lambda=auto"]),
        ("IFCA, 3 models", &["clusters.slots=3"]),
        ("slots, 3 models, no server", &["algorithm.kind=rounds", "clusters.slots=3"]),
        ("FedEM, 3 models", &["clusters.slots=3", "clusters.mixture=true"]),
        (
            "pulled to neighbours, λ 0.1",
            &["algorithm.kind=gossip", "topology=complete", "algorithm.pull=0.1"],
        ),
        ("pulled, λ 0.02", &["algorithm.kind=gossip", "topology=complete", "algorithm.pull=0.02"]),
    ],
};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let seeds: u64 = args.first().map_or(Ok(5), |text| text.parse())?;
    let wanted = |name: &str| args.len() < 2 || args[1..].iter().any(|arg| arg == name);
    println!("In brackets the mean of the tenth of the nodes that each model serves worst.\n");
    println!("| | run | personal | shared | alone | all records | common test | unmixed |");
    println!("|---|---|---|---|---|---|---|---|");
    for setting in SETTINGS.iter().chain([&METHODS]).filter(|setting| wanted(setting.name)) {
        for (row, pairs) in setting.rows {
            let all: Vec<&str> = DIGITS.iter().chain(setting.common).chain(*pairs).copied().collect();
            let layer = Layer::from_flags("--set", &all)?;
            let sweep = Sweep::new(&[layer], &[] as &[Axis], seeds)?;
            let results = sweep.run(0, &Options::default(), &Figures(|| {}))?;
            println!("{}", line(setting.name, row, &sweep.summary(&results)[0]));
        }
    }
    if wanted("D") {
        println!("\n{}", hypotheses::table(seeds)?);
    }
    if wanted("E") {
        println!("\n{}", charges::table(seeds)?);
    }
    Ok(())
}

fn line(setting: &str, row: &str, summary: &Summary) -> String {
    let own = summary.personal.as_ref();
    let both = |mean: Option<&MeanSpread>, tenth: Option<&MeanSpread>| {
        mean.zip(tenth)
            .map_or_else(String::new, |(mean, tenth)| format!("{} ({:.3})", shown(mean), tenth.mean))
    };
    let cells = [
        both(own.map(|own| &own.personal), own.map(|own| &own.worst_tenth)),
        both(own.map(|own| &own.shared), own.map(|own| &own.shared_worst_tenth)),
        both(own.map(|own| &own.alone), own.map(|own| &own.alone_worst_tenth)),
        own.map_or_else(String::new, |own| shown(&own.pooled)),
        summary.test_acc.as_ref().map_or_else(String::new, shown),
        summary.unmixed.map_or_else(String::new, |part| format!("{part:.1}")),
    ];
    format!("| {setting} | {row} | {} |", cells.join(" | "))
}

/// Mean ± standard deviation over seeds.
fn shown(figure: &MeanSpread) -> String {
    format!("{:.3} ± {:.3}", figure.mean, figure.spread)
}

/// The setup of a run by these pairs on records that no source names; what the configuration calls `data` only has as many nodes and columns.
///
/// # Assumes
/// Node level: no figure depends on how many records a node has.
fn with_data(
    pairs: &[&str],
    train: Vec<Dataset>,
    model: Option<Arc<dyn Model>>,
) -> Result<Setup, Box<dyn Error>> {
    let like = format!("data=two-clusters:nodes={},dim={},records=1", train.len(), train[0].columns());
    let nodes = format!("nodes={}", train.len());
    let common = [&like, &nodes, "partition.kind=natural", "test_fraction=0", "privacy.adjacency=node"];
    let config = Config::from_layers([Layer::from_flags("--set", &[&common[..], pairs].concat())?])?;
    let mut setup = match model {
        Some(model) => Setup::with_model(config, |_| Ok(model))?,
        None => Setup::new(config)?,
    };
    setup.train = train.into();
    let door = Arc::new(BuiltIn::new(setup.work.clone(), setup.model.clone(), setup.train.clone()));
    Ok(setup.with_work(door))
}

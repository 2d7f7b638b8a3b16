//! One protocol, two drivers: the same run in the simulator and over libp2p ends with the same bits.

use protocol::Setup;
use protocol::config::{Config, Layer};
use runtime::Secret;
use runtime::driver::{Danger, Driver, Options, Outcome};
use runtime::identity::Identity;
use runtime::network::Patience;
use runtime::swarm_file::{Member, SwarmFile};
use tempfile::TempDir;

fn setup(settings: &[&str]) -> Setup {
    let config = Config::from_layers([Layer::from_flags("", settings).expect("keys exist")]);
    Setup::new(config.expect("values fit")).expect("the run can be prepared")
}

/// The nodes of a run in this process, each with the share of the data that its number says.
async fn over_libp2p(setup: &Setup) -> Vec<Outcome> {
    let nodes = setup.config.nodes;
    let mut identities: Vec<Identity> = (0..nodes).map(|_| Identity::ephemeral()).collect();
    identities.sort_by_key(Identity::peer_id);
    let member = |identity: &Identity| Member { peer: identity.peer_id(), addresses: Vec::new(), name: None };
    let swarm = SwarmFile {
        name: setup.config.name.clone(),
        nodes,
        config: setup.config.to_toml(),
        secret: Secret::generate().expect("randomness"),
        roster: identities.iter().map(member).collect(),
        schema: None,
        relays: Vec::new(),
        renewals: Default::default(),
    };
    let folders: Vec<TempDir> = (0..nodes).map(|_| tempfile::tempdir().expect("a folder")).collect();
    let mut drivers = Vec::new();
    let mut first = None;
    for (node, identity) in identities.iter().enumerate() {
        identity.save(folders[node].path()).expect("a fresh folder");
        let own = setup.clone().of_node(node);
        let driver = Driver::start(Options {
            respondent: None,
            stays: false,
            swarm: swarm.clone(),
            setup: own,
            state: folders[node].path().to_owned(),
            listen: vec!["/ip4/127.0.0.1/tcp/0".parse().expect("a constant")],
            peers: first.iter().cloned().collect(),
            mdns: false,
            relays: Vec::new(),
            patience: Patience::default(),
            danger: Some(danger(setup.config.seed)),
            counts: None,
            declared: protocol::log::Declared::default(),
        })
        .expect("the node starts");
        let mut status = driver.status();
        drivers.push(tokio::spawn(driver.run(std::future::pending())));
        if first.is_none() {
            let listening = status.wait_for(|status| !status.addresses.is_empty()).await.expect("it runs");
            first = listening.addresses.first().cloned();
        }
    }
    let mut outcomes = Vec::new();
    for driver in drivers {
        outcomes.push(driver.await.expect("no panic").expect("the node ends well"));
    }
    outcomes
}

fn danger(seed: u64) -> Danger {
    Danger {
        contribution: Box::new(move |node, count| sim::contribution_noise(seed, node, count)),
        message: Box::new(move |node, life| sim::message_noise(seed, node, life)),
    }
}

async fn both_end_with_the_same_bits(settings: &[&str]) {
    let setup = setup(settings);
    let simulated = sim::simulate(&setup, &sim::Options::default(), &mut |_| {}, &mut |_| {});
    let simulated = simulated.expect("the simulation ends");
    let real = over_libp2p(&setup).await;
    assert_eq!(simulated.models.len(), real.len());
    for (node, (simulated, real)) in simulated.models.iter().zip(&real).enumerate() {
        assert!(real.finished, "node {node}: {:?}", real.status);
        let bits = |model: &[f32]| model.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(simulated), bits(&real.model), "node {node} of {settings:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rounds_of_eight() {
    both_end_with_the_same_bits(&["nodes=8", "rounds=6"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rounds_of_a_number_that_is_no_power_of_two() {
    both_end_with_the_same_bits(&["nodes=5", "rounds=6"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rounds_with_a_memory_of_earlier_steps() {
    both_end_with_the_same_bits(&["nodes=3", "rounds=6", "optimiser.kind=momentum"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rounds_in_the_open() {
    both_end_with_the_same_bits(&["nodes=5", "rounds=6", "robust.tolerate=1"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gossip_on_a_ring() {
    both_end_with_the_same_bits(&["nodes=6", "rounds=4", "algorithm.kind=gossip", "topology=ring"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_walk() {
    both_end_with_the_same_bits(&["nodes=4", "rounds=3", "algorithm.kind=walk", "topology=complete"]).await;
}

/// Keys come from the operating system here and from a seed there: masks cancel to the bit.
#[tokio::test(flavor = "multi_thread")]
async fn masked_rounds() {
    both_end_with_the_same_bits(&["nodes=5", "rounds=6", "privacy.masking=pairwise"]).await;
}

/// Who is not drawn adds noise, here as there.
#[tokio::test(flavor = "multi_thread")]
async fn masked_rounds_of_drawn_members() {
    let sample = "algorithm.sample=2";
    both_end_with_the_same_bits(&["nodes=5", "rounds=8", "privacy.masking=pairwise", sample]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn masked_rounds_by_halving() {
    let halving = "algorithm.exchange=halving";
    both_end_with_the_same_bits(&["nodes=5", "rounds=6", "privacy.masking=pairwise", halving]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn masked_rounds_of_whole_nodes_in_wide_words() {
    let level = ["privacy.adjacency=node", "local_steps=2", "privacy.grid=64"];
    both_end_with_the_same_bits(&[&["nodes=4", "rounds=4", "privacy.masking=pairwise"], &level[..]].concat())
        .await;
}

/// Keys of this process and of the simulation differ, and so does the noise that neighbours share: in every model it shows, in their mean it cancels.
#[tokio::test(flavor = "multi_thread")]
async fn an_average_with_noise_that_neighbours_share() {
    let setup = setup(&[
        "nodes=8",
        "algorithm.kind=mean",
        "privacy.masking=gopa",
        "privacy.noise_multiplier=1",
        "topology=ring",
        "algorithm.mixing_steps=1",
    ]);
    let simulated = sim::simulate(&setup, &sim::Options::default(), &mut |_| {}, &mut |_| {});
    let simulated = simulated.expect("the simulation ends").models;
    let real: Vec<Vec<f32>> = over_libp2p(&setup)
        .await
        .into_iter()
        .map(|node| {
            assert!(node.finished, "{:?}", node.status);
            node.model
        })
        .collect();
    let sum = |models: &[Vec<f32>], at: usize| models.iter().map(|model| f64::from(model[at])).sum::<f64>();
    for at in 0..simulated[0].len() {
        let (here, there) = (sum(&real, at), sum(&simulated, at));
        // Values of a few units in single precision, eight of them.
        assert!((here - there).abs() < 1e-4, "coordinate {at}: {here} and {there}");
    }
    assert!(real.iter().zip(&simulated).all(|(here, there)| (here[0] - there[0]).abs() > 1e-4));
}

//! Noise that everybody can compute never follows private noise in one ledger.

use privacy::event::DpEvent;
use protocol::config::{Config, Layer};
use protocol::{Hint, Record, Setup};
use runtime::Secret;
use runtime::driver::{Danger, Driver, DriverError, Options};
use runtime::identity::Identity;
use runtime::ledger::{Ledger, Owner};
use runtime::network::Patience;
use runtime::swarm_file::SwarmFile;

fn danger() -> Danger {
    Danger {
        contribution: Box::new(|node, count| sim::contribution_noise(1, node, count)),
        message: Box::new(|node, life| sim::message_noise(1, node, life)),
    }
}

#[tokio::test]
async fn seeded_noise_on_a_ledger_with_private_records_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = Config::from_layers([Layer::from_flags("", &["nodes=2", "rounds=3"]).expect("keys exist")]);
    let setup = Setup::new(config.expect("values fit")).expect("the run can be prepared").of_node(0);
    let identity = Identity::ephemeral();
    identity.save(folder.path()).expect("a fresh folder");
    let swarm = SwarmFile {
        name: setup.config.name.clone(),
        nodes: 2,
        config: setup.config.to_toml(),
        secret: Secret::generate().expect("randomness"),
        roster: Vec::new(),
        schema: None,
        relays: Vec::new(),
        renewals: Default::default(),
    };
    let owner =
        Owner { identity: identity.peer_id().to_base58(), run: format!("{} ({})", swarm.name, setup.digest) };
    let (ledger, _) = Ledger::open(folder.path(), &owner).expect("a ledger");
    let record =
        Record { id: 0, round: 0, release: DpEvent::Gaussian { noise_multiplier: 1.0 }, among: None };
    ledger.record(&record, None).expect("a record");
    drop(ledger);
    let options = |danger| Options {
        respondent: None,
        stays: false,
        swarm: swarm.clone(),
        setup: setup.clone(),
        state: folder.path().to_owned(),
        listen: vec!["/ip4/127.0.0.1/tcp/0".parse().expect("a constant")],
        peers: Vec::new(),
        mdns: false,
        relays: Vec::new(),
        patience: Patience::default(),
        danger,
        counts: None,
        declared: protocol::log::Declared::default(),
    };
    let refused = Driver::start(options(Some(danger()))).err().expect("it must not start");
    assert!(matches!(refused, DriverError::SeededAfterPrivate { records: 1, .. }), "{refused}");
    assert!(refused.hint().is_some());
    Driver::start(options(None)).expect("private noise goes on");
}

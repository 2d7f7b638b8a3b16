//! Nodes over real TCP on loopback: who finds whom, and who is not let in.

use std::time::Duration;

use libp2p::{Multiaddr, PeerId};
use protocol::Digest;
use runtime::Secret;
use runtime::identity::Identity;
use runtime::network::{Event, Network, Patience, Settings};
use runtime::schema::Schema;
use runtime::swarm_file::Member;
use runtime::wire::{Frame, Limits, Refusal, Standing};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

const CONFIG: &str = "rounds = 3\n[privacy]\nepsilon = 4.0\n";

fn settings(secret: &Secret, peers: &[Multiaddr]) -> Settings {
    Settings {
        identity: Identity::ephemeral(),
        secret: secret.clone(),
        name: String::new(),
        run: "digits".into(),
        nodes: 3,
        digest: Digest::of_text(CONFIG),
        config: CONFIG.into(),
        schema: Schema::default().into(),
        limits: Limits::for_model(10),
        patience: Patience::default(),
        listen: vec!["/ip4/127.0.0.1/tcp/0".parse().expect("a constant")],
        peers: peers.to_vec(),
        roster: Vec::new(),
        gone: Default::default(),
        mdns: false,
        relays: Vec::new(),
        is_relay: false,
        announce: Vec::new(),
    }
}

/// A running node and where it listens.
async fn start(settings: Settings) -> (Network, Multiaddr) {
    let mut network = Network::start(settings, Standing::Gathering).expect("the network starts");
    let address = until(&mut network, |event| match event {
        Event::Listening(address) => Some(address),
        _ => None,
    })
    .await;
    (network, address)
}

/// The first event of a kind. The limit is for tests that would otherwise hang when they fail.
async fn until<T>(network: &mut Network, pick: impl Fn(Event) -> Option<T>) -> T {
    let search = async {
        loop {
            let event = network.events.recv().await.expect("the network runs");
            if let Some(found) = pick(event) {
                return found;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), search).await.expect("it happens within a minute")
}

async fn linked(network: &mut Network) -> PeerId {
    until(network, |event| match event {
        Event::Linked { link, .. } => Some(link.peer),
        _ => None,
    })
    .await
}

async fn turned_away(network: &mut Network) -> String {
    until(network, |event| match event {
        Event::TurnedAway { reason, .. } | Event::Differs { reason, .. } => Some(reason),
        Event::Linked { link, .. } => panic!("{} was let in", link.peer),
        _ => None,
    })
    .await
}

/// Where somebody was that could not be understood.
async fn garbled(network: &mut Network) -> Multiaddr {
    until(network, |event| match event {
        Event::Garbled { address, .. } => Some(address.iter().take(2).collect()),
        Event::Linked { link, .. } => panic!("{} was let in", link.peer),
        _ => None,
    })
    .await
}

#[tokio::test]
async fn nodes_that_know_one_of_them_find_all() {
    let secret = Secret::generate().unwrap();
    let (mut first, address) = start(settings(&secret, &[])).await;
    let mut others = Vec::new();
    for _ in 0..7 {
        others.push(start(settings(&secret, std::slice::from_ref(&address))).await.0);
    }
    for _ in 0..7 {
        linked(&mut first).await;
    }
    for network in &mut others {
        for _ in 0..7 {
            linked(network).await;
        }
    }
    first.close().await;
    for network in others {
        network.close().await;
    }
}

#[tokio::test]
async fn frames_reach_the_other_side() {
    let secret = Secret::generate().unwrap();
    let (mut first, address) = start(settings(&secret, &[])).await;
    let (mut second, _) = start(settings(&secret, &[address])).await;
    let link = until(&mut first, |event| match event {
        Event::Linked { link, .. } => Some(link),
        _ => None,
    })
    .await;
    let said = Frame::Confirm { attempt: 3, roster: vec![vec![1; 38]], signature: vec![2; 64] };
    link.send(said.clone()).unwrap();
    let heard = until(&mut second, |event| match event {
        Event::Frame { frame, .. } => Some(frame),
        _ => None,
    })
    .await;
    assert_eq!(heard, said);
    // What is queued when a node ends still arrives.
    link.send(Frame::Finished).unwrap();
    drop(link);
    first.close().await;
    let heard = until(&mut second, |event| match event {
        Event::Frame { frame, .. } => Some(frame),
        _ => None,
    })
    .await;
    assert_eq!(heard, Frame::Finished);
    until(&mut second, |event| matches!(event, Event::Lost { .. }).then_some(())).await;
}

#[tokio::test]
async fn without_the_secret_nobody_gets_in() {
    let secret = Secret::generate().unwrap();
    let (mut first, address) = start(settings(&secret, &[])).await;
    let stranger = Secret::generate().unwrap();
    let (mut stranger, _) = start(settings(&stranger, std::slice::from_ref(&address))).await;
    garbled(&mut first).await;
    // The other side is told too, and where: who typed a wrong secret would otherwise wait for ever.
    assert_eq!(garbled(&mut stranger).await, address.iter().take(2).collect::<Multiaddr>());
    let member = settings(&secret, &[address]);
    let expected = member.identity.peer_id();
    let (_member, _) = start(member).await;
    assert_eq!(linked(&mut first).await, expected);
}

#[tokio::test]
async fn another_configuration_is_refused_by_name() {
    let secret = Secret::generate().unwrap();
    let (mut first, address) = start(settings(&secret, &[])).await;
    let config = CONFIG.replace("4.0", "8.0");
    let mut other = settings(&secret, &[address]);
    other.digest = Digest::of_text(&config);
    other.config = config;
    let (mut second, _) = start(other).await;
    let reason = turned_away(&mut first).await;
    assert!(reason.contains("privacy.epsilon: ours 4.0, theirs 8.0"), "{reason}");
    let reason = turned_away(&mut second).await;
    assert!(reason.contains("privacy.epsilon: ours 8.0, theirs 4.0"), "{reason}");
}

#[tokio::test]
async fn whom_the_roster_does_not_name_is_not_let_in() {
    let secret = Secret::generate().unwrap();
    let expected = settings(&secret, &[]);
    let mut listening = settings(&secret, &[]);
    listening.roster = vec![Member { peer: expected.identity.peer_id(), addresses: Vec::new(), name: None }];
    let (mut first, address) = start(listening).await;
    let (_stranger, _) = start(settings(&secret, std::slice::from_ref(&address))).await;
    turned_away(&mut first).await;
    let member = expected.identity.peer_id();
    let (_member, _) = start(Settings { peers: vec![address], ..expected }).await;
    assert_eq!(linked(&mut first).await, member);
}

#[tokio::test]
async fn who_sends_garbage_disturbs_nobody() {
    let secret = Secret::generate().unwrap();
    let (mut first, address) = start(settings(&secret, &[])).await;
    let port = address.to_string().split('/').nth(4).unwrap().parse::<u16>().unwrap();
    let mut open = Vec::new();
    for garbage in [&[0_u8; 4096][..], &[0xff; 4096], b"GET / HTTP/1.1\r\n\r\n", &u32::MAX.to_le_bytes()] {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        // The node may hang up before all is written.
        let _ = stream.write_all(garbage).await;
        open.push(stream);
    }
    // And some that say nothing at all.
    for _ in 0..50 {
        open.push(TcpStream::connect(("127.0.0.1", port)).await.unwrap());
    }
    let member = settings(&secret, &[address]);
    let expected = member.identity.peer_id();
    let (_member, _) = start(member).await;
    assert_eq!(linked(&mut first).await, expected);
}

#[tokio::test]
async fn a_second_process_with_the_same_identity_is_told_so() {
    let secret = Secret::generate().unwrap();
    let (mut first, address) = start(settings(&secret, &[])).await;
    let original = settings(&secret, std::slice::from_ref(&address));
    let copy = original.clone();
    let (_original, _) = start(original).await;
    linked(&mut first).await;
    let (mut copy, _) = start(copy).await;
    let refusal = until(&mut copy, |event| match event {
        Event::Refused { refusal, .. } => Some(refusal),
        // It may hear of the original first, and find itself there.
        Event::Twin { .. } => Some(Refusal::Duplicate),
        _ => None,
    })
    .await;
    assert_eq!(refusal, Refusal::Duplicate);
}

#[tokio::test]
async fn a_node_that_restarts_is_let_in_again() {
    let secret = Secret::generate().unwrap();
    let (mut first, address) = start(settings(&secret, &[])).await;
    let again = settings(&secret, &[address]);
    let expected = again.identity.peer_id();
    for _ in 0..3 {
        let (network, _) = start(again.clone()).await;
        assert_eq!(linked(&mut first).await, expected);
        network.close().await;
    }
}

#[tokio::test]
async fn who_comes_after_the_start_hears_that_the_run_is_closed() {
    let secret = Secret::generate().unwrap();
    let (mut first, address) = start(settings(&secret, &[])).await;
    let roster: Vec<PeerId> = (0..3).map(|_| PeerId::random()).collect();
    let roster = runtime::identity::Roster::new(roster);
    first.control().begin(Standing::Running {
        roster: roster.to_bytes(),
        attempt: 0,
        signatures: Vec::new(),
    });
    let (mut late, _) = start(settings(&secret, &[address])).await;
    let (refusal, reason) = until(&mut late, |event| match event {
        Event::Refused { refusal, reason, .. } => Some((refusal, reason)),
        _ => None,
    })
    .await;
    assert_eq!(refusal, Refusal::Closed, "{reason}");
    turned_away(&mut first).await;
}

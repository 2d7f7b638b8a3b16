//! Throughput of models between two processes: our links, and a plain libp2p stream over the same transport.
//!
//! `exchange receive WAY MESSAGES PARAMETERS` prints where it listens; `exchange send WAY MESSAGES PARAMETERS ADDRESS` sends; then the receiver prints
//! one JSON object. Ways: `ours`, `plain` (a long-lived stream inside the private network), `open` (the same without the private network).
//! `benches/swarm/bench.py` runs both and compares.

use std::error::Error;
use std::io::Write;
use std::time::Instant;

use futures::{AsyncReadExt, AsyncWriteExt, StreamExt, TryFutureExt};
use libp2p::core::transport::{Transport, upgrade};
use libp2p::pnet::{PnetConfig, PreSharedKey};
use libp2p::swarm::SwarmEvent;
use libp2p::{Multiaddr, StreamProtocol, Swarm, noise, tcp, yamux};
use protocol::gossip::Say;
use protocol::{Digest, Message, Numbers, RunId, Values};
use runtime::Secret;
use runtime::identity::Identity;
use runtime::network::{Event, Link, Network, Patience, SendError, Settings};
use runtime::wire::{Frame, Limits, Standing};

type Outcome<T> = Result<T, Box<dyn Error>>;

const PROTOCOL: StreamProtocol = StreamProtocol::new("/exchange/1");
/// Both processes know it; nothing here is worth a secret.
const SECRET: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
const LISTEN: &str = "/ip4/127.0.0.1/tcp/0";

/// What is to be done.
struct Task {
    ours: bool,
    private: bool,
    messages: usize,
    parameters: usize,
    to: Option<Multiaddr>,
}

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [role, way, messages, parameters, to @ ..] = words.as_slice() else {
        return Err("usage: exchange receive|send ours|plain|open MESSAGES PARAMETERS [ADDRESS]".into());
    };
    let task = Task {
        ours: way == "ours",
        private: way != "open",
        messages: messages.parse()?,
        parameters: parameters.parse()?,
        to: to.first().map(|address| address.parse()).transpose()?,
    };
    // One thread, as in a node.
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    tokio.block_on(async {
        match (role.as_str(), task.ours) {
            ("receive", true) => receive_ours(&task).await,
            ("receive", false) => receive_plain(&task).await,
            ("send", true) => send_ours(&task).await,
            ("send", false) => send_plain(&task).await,
            _ => Err("the first word is `receive` or `send`".into()),
        }
    })
}

fn say(line: &str) -> Outcome<()> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{line}")?;
    Ok(stdout.flush()?)
}

/// The first message starts the clock and is not counted.
fn report(task: &Task, since: Instant) -> Outcome<()> {
    let bytes = (task.messages - 1) * task.parameters * 4;
    let seconds = since.elapsed().as_secs_f64();
    say(&format!("{{\"bytes\":{bytes},\"seconds\":{seconds}}}"))
}

fn network(task: &Task) -> Outcome<Network> {
    let settings = Settings {
        identity: Identity::ephemeral(),
        secret: Secret::from_hex(SECRET).ok_or("no secret")?,
        name: String::new(),
        run: "exchange".into(),
        nodes: 2,
        digest: Digest::of_text(""),
        config: String::new(),
        schema: runtime::schema::Schema::default().into(),
        limits: Limits::for_model(task.parameters),
        patience: Patience::default(),
        listen: vec![LISTEN.parse()?],
        peers: task.to.iter().cloned().collect(),
        roster: Vec::new(),
        mdns: false,
        relays: Vec::new(),
        gone: Default::default(),
        is_relay: false,
        announce: Vec::new(),
    };
    Ok(Network::start(settings, Standing::Gathering)?)
}

async fn receive_ours(task: &Task) -> Outcome<()> {
    let mut network = network(task)?;
    let (mut since, mut heard, mut links) = (Instant::now(), 0, Vec::new());
    while heard < task.messages {
        match network.events.recv().await.ok_or("the network ended")? {
            Event::Listening(address) => say(&address.to_string())?,
            // It ends when its owner drops it.
            Event::Linked { link, .. } => links.push(link),
            Event::Frame { .. } => {
                if heard == 0 {
                    since = Instant::now();
                }
                heard += 1;
            }
            _ => {}
        }
    }
    report(task, since)
}

async fn send_ours(task: &Task) -> Outcome<()> {
    let mut network = network(task)?;
    let link: Link = loop {
        if let Event::Linked { link, .. } = network.events.recv().await.ok_or("the network ended")? {
            break link;
        }
    };
    let numbers: Vec<f32> = (0..task.parameters).map(|at| at as f32 * 0.001).collect();
    let numbers = Some(Numbers::Reals(Values::from_wire(numbers)));
    let message = Message { run: RunId(1), round: 0, step: 0, body: Say::State.into(), numbers };
    for _ in 0..task.messages {
        // A copy of the numbers each time, as the protocol makes one for every message.
        while let Err(error) = link.send(Frame::Message(message.clone())) {
            if error == SendError::Ended {
                return Ok(());
            }
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    }
    while !matches!(network.events.recv().await, Some(Event::Lost { .. }) | None) {}
    Ok(())
}

fn plain(task: &Task) -> Outcome<Swarm<libp2p_stream::Behaviour>> {
    let keypair = libp2p::identity::Keypair::generate_ed25519();
    let key = PnetConfig::new(PreSharedKey::new([7; 32]));
    let tcp = tcp::tokio::Transport::new(tcp::Config::default());
    let noise = noise::Config::new(&keypair)?;
    let transport = if task.private {
        tcp.and_then(move |socket, _| key.handshake(socket).map_err(std::io::Error::other))
            .upgrade(upgrade::Version::V1Lazy)
            .authenticate(noise)
            .multiplex(yamux::Config::default())
            .boxed()
    } else {
        tcp.upgrade(upgrade::Version::V1Lazy).authenticate(noise).multiplex(yamux::Config::default()).boxed()
    };
    let config = libp2p::swarm::Config::with_tokio_executor()
        .with_idle_connection_timeout(std::time::Duration::from_secs(60));
    Ok(Swarm::new(transport, libp2p_stream::Behaviour::new(), keypair.public().to_peer_id(), config))
}

async fn receive_plain(task: &Task) -> Outcome<()> {
    let mut swarm = plain(task)?;
    swarm.listen_on(LISTEN.parse()?)?;
    let mut streams = swarm.behaviour().new_control().accept(PROTOCOL)?;
    let me = *swarm.local_peer_id();
    let read = async {
        let (_, mut stream) = streams.next().await.ok_or("no stream")?;
        let mut buffer = vec![0; task.parameters * 4];
        stream.read_exact(&mut buffer).await?;
        let since = Instant::now();
        for _ in 1..task.messages {
            stream.read_exact(&mut buffer).await?;
        }
        report(task, since)
    };
    let drive = async {
        loop {
            if let SwarmEvent::NewListenAddr { address, .. } = swarm.select_next_some().await {
                let full = address.with_p2p(me).unwrap_or_else(|address| address);
                say(&full.to_string())?;
            }
        }
    };
    tokio::select! { done = read => done, failed = drive => failed }
}

async fn send_plain(task: &Task) -> Outcome<()> {
    let mut swarm = plain(task)?;
    let mut control = swarm.behaviour().new_control();
    swarm.dial(task.to.clone().ok_or("no address")?)?;
    let peer = loop {
        if let SwarmEvent::ConnectionEstablished { peer_id, .. } = swarm.select_next_some().await {
            break peer_id;
        }
    };
    let write = async {
        let mut stream = control.open_stream(peer, PROTOCOL).await?;
        let buffer = vec![7; task.parameters * 4];
        for _ in 0..task.messages {
            stream.write_all(&buffer).await?;
        }
        stream.flush().await?;
        // Until the other side has all of it.
        let _ = stream.read(&mut [0]).await;
        Ok(())
    };
    let drive = async {
        loop {
            swarm.select_next_some().await;
        }
    };
    tokio::select! { done = write => done, () = drive => Ok(()) }
}

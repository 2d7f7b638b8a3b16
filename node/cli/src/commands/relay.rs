//! `murmur relay`: a place in the open through which members behind routers reach each other.

use crate::failure::{Failure, Result};
use crate::output::say;
use runtime::Multiaddr;
use runtime::identity::Identity;
use runtime::network::{Event, Network, Patience, Settings};
use runtime::swarm_file::SwarmFile;
use runtime::wire::{Limits, Standing};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use super::node::{Log, stop};

const EXAMPLES: &str = "\
Examples:
  murmur relay --swarm clinic.toml --listen /ip4/0.0.0.0/tcp/7000          prints its addresses
  murmur relay --swarm clinic.toml --announce /dns4/relay.example/tcp/7000
  murmur node --swarm clinic.toml --data patients.csv --relay /dns4/relay.example/tcp/7000/p2p/12D3KooW…

A relay is no member: it holds no data, hears no message in clear (members encrypt from end to end, inside the swarm's
private network) and learns who talks to whom, when, and how many bytes. Only holders of the swarm file get a place.
Members that can be reached in a straight way, or can punch a hole through their routers, leave it again.";

/// Arguments of `murmur relay`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The swarm file that all members hold
    #[arg(long, value_name = "FILE")]
    swarm: PathBuf,
    /// Where to listen, over TCP
    #[arg(long, value_name = "ADDR", default_value = "/ip4/0.0.0.0/tcp/7000")]
    listen: Vec<Multiaddr>,
    /// Where members can call it, where that is another address: a name, or a port that a router passes on
    #[arg(long, value_name = "ADDR")]
    announce: Vec<Multiaddr>,
    /// The folder with its identity
    #[arg(long, default_value = "murmur-relay", value_name = "DIR")]
    state: PathBuf,
    /// What to print: lines for people on stderr, or JSON lines on stdout
    #[arg(long, value_enum, default_value_t = Log::Text)]
    log: Log,
    /// Ends when stdin does
    #[arg(long, hide = true)]
    child: bool,
}

/// Serves until it is stopped.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let swarm = SwarmFile::load(&args.swarm)?;
    if let Some(wrong) = args.listen.iter().find(|address| !address.to_string().contains("/tcp/")) {
        return Err(Failure::new(format!("a relay listens over TCP, not on `{wrong}`")).hint(
            "over QUIC there is no private network, and strangers would get in: use `/ip4/0.0.0.0/tcp/7000`",
        ));
    }
    let identity = Identity::load_or_create(&args.state)?;
    let me = identity.peer_id();
    let settings = Settings {
        identity,
        secret: swarm.secret,
        name: "relay".into(),
        run: swarm.name,
        nodes: swarm.nodes,
        digest: protocol::Digest::of_text(&swarm.config),
        config: swarm.config,
        schema: runtime::schema::Schema::default().into(),
        limits: Limits::for_model(0),
        patience: Patience::default(),
        listen: args.listen.clone(),
        peers: Vec::new(),
        roster: swarm.roster,
        gone: swarm.renewals.gone(),
        mdns: false,
        relays: Vec::new(),
        is_relay: true,
        announce: args.announce.clone(),
    };
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let served = tokio.block_on(serve(args, settings, me.to_string()));
    tokio.shutdown_background();
    served
}

async fn serve(args: &Args, settings: Settings, me: String) -> Result<ExitCode> {
    for address in &args.announce {
        said(args.log, "address", &format!("{address}/p2p/{me}"));
    }
    let mut network = Network::start(settings, Standing::Gathering)?;
    let asked = Arc::default();
    let stopped = stop::requested(args.child.then(|| network.control()), &asked);
    tokio::pin!(stopped);
    loop {
        tokio::select! {
            () = &mut stopped => break,
            event = network.events.recv() => match event {
                Some(event) => tell(args.log, event),
                None => break,
            },
        }
    }
    network.close().await;
    Ok(asked.get().map_or(ExitCode::SUCCESS, |by| by.code().into()))
}

fn tell(log: Log, event: Event) {
    match event {
        Event::Listening(address) => said(log, "address", &address.to_string()),
        Event::Linked { link, .. } => said(log, "here", &link.peer.to_string()),
        Event::Lost { peer, .. } => said(log, "gone", &peer.to_string()),
        Event::TurnedAway { reason, .. } => said(log, "turned away", &reason),
        Event::Garbled { address, .. } => {
            said(log, "turned away", &format!("{address} does not know the secret"))
        }
        _ => {}
    }
}

fn said(log: Log, what: &str, whom: &str) {
    match log {
        Log::Text => say!("{what:<12}{whom}"),
        Log::Json => {
            let line = format!("{}\n", json!({"event": what.replace(' ', "_"), "about": whom}));
            // It serves on where nobody listens any more.
            let _ = crate::output::write(None, line.as_bytes());
        }
    }
}

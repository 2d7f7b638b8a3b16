//! `murmur swarm init`: the swarm file.

use super::check::configuration;
use crate::failure::{Failure, Result};
use runtime::swarm_file::{Member, SwarmFile};
use runtime::{Multiaddr, PeerId, Secret};
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `murmur swarm init`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Configuration to start from
    config: Option<PathBuf>,
    /// Name of the run [default: that of the configuration]
    #[arg(long)]
    name: Option<String>,
    /// Number of members: the run starts when so many are there; needed where no configuration says so
    #[arg(long, required_unless_present = "config")]
    nodes: Option<usize>,
    /// A setting of the run, such as `privacy.epsilon=4`
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// A member that is known beforehand, `PEER_ID` or `ADDR/p2p/PEER_ID`; if any is given, only those are let in
    #[arg(long, value_name = "MEMBER")]
    member: Vec<String>,
    /// Where to write the file
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Writes the file.
pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let config = configuration(args.config.as_deref(), &args.set, args.nodes, args.name.as_deref())?;
    let secret = Secret::generate().map_err(|error| Failure::of(error, None))?;
    let roster = args.member.iter().map(|text| member(text)).collect::<Result<Vec<_>>>()?;
    let file = SwarmFile {
        name: config.name.clone(),
        nodes: config.nodes,
        config: config.to_toml(),
        secret,
        roster,
    };
    file.create(&args.out)?;
    eprintln!(
        "wrote `{}`: whoever holds it may join. Copy it to {} machines and start `murmur node --swarm {} --data …` on each.",
        args.out.display(),
        config.nodes,
        args.out.display()
    );
    Ok(ExitCode::SUCCESS)
}

fn member(text: &str) -> Result<Member> {
    let bad = || {
        Failure::new(format!("`{text}` names no member"))
            .hint("`murmur node id` prints the identity of a node; an address ends in `/p2p/IDENTITY`")
    };
    if let Ok(peer) = text.parse::<PeerId>() {
        return Ok(Member { peer, addresses: Vec::new() });
    }
    let (address, peer) = text.rsplit_once("/p2p/").ok_or_else(bad)?;
    let peer = peer.parse().map_err(|_| bad())?;
    let address: Multiaddr = address.parse().map_err(|_| bad())?;
    Ok(Member { peer, addresses: vec![address] })
}

//! `murmur swarm init`: the swarm file.

use super::check::{configuration, configuration_by_rule};
use crate::failure::{Failure, Result};
use crate::output::say;
use learn::schema::Schema;
use protocol::config::Config;
use protocol::log::readable_name;
use runtime::swarm_file::{Member, SwarmFile};
use runtime::{Multiaddr, PeerId, Secret};
use std::path::{Path, PathBuf};
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
    /// A member that is known beforehand, `PEER_ID` or `ADDR/p2p/PEER_ID`, with its name in front where it has one (`Zürich=PEER_ID`); if any is given, only those are let in
    #[arg(long, value_name = "MEMBER")]
    member: Vec<String>,
    /// A relay for members that cannot be called, as `murmur relay` prints it (`murmur node id --state murmur-relay` says its identity beforehand)
    #[arg(long, value_name = "ADDR", value_parser = runtime::swarm_file::parse_relay)]
    relay: Vec<Multiaddr>,
    /// What the columns of everybody's tables are; `murmur data FILE --schema` drafts one. Nodes then need `--data FILE` and nothing else
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// A swarm for questions only (`murmur ask`): it trains nothing; needs `--schema`
    #[arg(long, requires = "schema")]
    questions: bool,
    /// Where to write the file
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Writes the file.
pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let by_rule = args.schema.is_some() && !args.questions;
    let configuration = if by_rule { configuration_by_rule } else { configuration };
    let set = if args.questions { with_questions(args)? } else { args.set.clone() };
    let config = configuration(args.config.as_deref(), &set, args.nodes, args.name.as_deref())?;
    let schema = args.schema.as_deref().map(|path| schema(path, &config)).transpose()?;
    let secret = Secret::generate().map_err(|error| Failure::of(error, None))?;
    let roster = args.member.iter().map(|text| member(text)).collect::<Result<Vec<_>>>()?;
    let file = SwarmFile {
        name: config.name.clone(),
        nodes: config.nodes,
        config: shared(&config, schema.as_ref()),
        secret,
        roster,
        schema,
        relays: args.relay.clone(),
        renewals: Default::default(),
    };
    refuse_other_numbers(&file)?;
    file.create(&args.out)?;
    let (out, nodes) = (args.out.display(), config.nodes);
    let who =
        if file.roster.is_empty() { "whoever holds it may join" } else { "only the members in it may join" };
    let data = if file.schema.is_some() { "--data FILE" } else { "--data FILE:label=COLUMN" };
    say!(
        "wrote `{out}`: {who}. Copy it to {nodes} machines and start `murmur node --swarm {out} {data}` on each."
    );
    if config.questions_only {
        say!("Then ask: `murmur ask \"SELECT count(*) FROM swarm\" --swarm {out}` where one of them runs.");
    }
    if file.schema.is_none() && needs_all_sizes(&config) {
        say!(
            "warning: `batch_size = \"all\"` works only where all nodes take a share of one data set (`--shard`); with files of their own agree on a number, such as `--set batch_size=32`"
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// What a swarm has that trains nothing: the least of everything that a run has.
fn with_questions(args: &Args) -> Result<Vec<String>> {
    let Some(nodes) = args.nodes.filter(|nodes| *nodes >= 3) else {
        return Err(Failure::new("a sum over fewer than three members hides nobody")
            .hint("name at least three: `--nodes 3`"));
    };
    let nothing = format!("data=blobs:nodes={nodes},records=20,dim=1,classes=2");
    let least = ["questions.only=true", &nothing, "rounds=1", "privacy.noise_multiplier=1", "batch_size=2"];
    Ok(least.map(str::to_owned).into_iter().chain(args.set.iter().cloned()).collect())
}

/// The configuration as everybody gets it. With a schema all have files of their own, and to name a data set would be to name one that nobody uses.
fn shared(config: &Config, schema: Option<&Schema>) -> String {
    let text = config.to_toml();
    if schema.is_none() {
        return text;
    }
    text.lines().filter(|line| !line.starts_with("data = ")).map(|line| format!("{line}\n")).collect()
}

/// A schema that somebody has confirmed, for a run that can be made with files that only their owners know.
fn schema(path: &Path, config: &Config) -> Result<Schema> {
    let schema = Schema::load(path).map_err(learn::data::DataError::from)?;
    if schema.draft {
        return Err(Failure::new(format!("`{}` is a draft that nobody has confirmed", path.display())).hint(
            "its bounds and values come from one file: read every line, put in what is known about the columns, then delete `draft = true`",
        ));
    }
    if config.questions_only {
        return Ok(schema);
    }
    if schema.label.is_none() && config.algorithm.kind.trains() {
        return Err(Failure::new(format!("`{}` does not say what is to be predicted", path.display()))
            .hint("add `label = \"COLUMN\"` under `[schema]`"));
    }
    if config.partition.min_size <= 1 && config.privacy.adjacency.is_sampled() {
        return Err(Failure::new("nobody has said how many records every member has at least").hint(
            "`--set partition.min_size=200`, say: the noise is planned for a member with so many, after `test_fraction` of them was kept apart",
        ));
    }
    Ok(schema)
}

/// Whether whole batches are asked for where nobody knows how many records the others have.
fn needs_all_sizes(config: &Config) -> bool {
    config.batch_size.is_none() && config.privacy.adjacency.is_sampled() && config.algorithm.kind.trains()
}

/// A run with other numbers could never start.
fn refuse_other_numbers(file: &SwarmFile) -> Result<()> {
    let members: std::collections::BTreeSet<PeerId> = file.roster.iter().map(|member| member.peer).collect();
    if members.is_empty() || members.len() == file.nodes {
        return Ok(());
    }
    let text = format!(
        "{} members are named, and the run has {} nodes: it could never start",
        members.len(),
        file.nodes
    );
    Err(Failure::new(text).hint(format!("name all with `--member`, or use `--nodes {}`", members.len())))
}

pub(super) fn member(text: &str) -> Result<Member> {
    let bad = || {
        Failure::new(format!("`{text}` names no member"))
            .hint("`murmur node id` prints the identity of a node; an address ends in `/p2p/IDENTITY`")
    };
    let (name, place) = match text.split_once('=') {
        Some((name, place)) => (Some(name), place),
        None => (None, text),
    };
    let name = name.map(|name| readable_name(name).ok_or_else(bad)).transpose()?;
    if let Ok(peer) = place.parse::<PeerId>() {
        return Ok(Member { peer, addresses: Vec::new(), name });
    }
    let (address, peer) = place.rsplit_once("/p2p/").ok_or_else(bad)?;
    let peer = peer.parse().map_err(|_| bad())?;
    let address: Multiaddr = address.parse().map_err(|_| bad())?;
    Ok(Member { peer, addresses: vec![address], name })
}

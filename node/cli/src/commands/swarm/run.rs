//! Runs a swarm of processes on this machine.

use super::check::configuration;
use super::child::{self, Child};
use super::ended::{Ended, How};
use super::live::Live;
use super::merge::merge;
use super::report::{Ending, Left};
use crate::commands::node::own::figures;
use crate::commands::node::{room, stop};
use crate::commands::page::HttpArgs;
use crate::commands::warnings;
use crate::failure::{Failure, Result};
use crate::output::say;
use crate::output::{self, Format};
use dashboard::{Board, Facts, Only, Outline};
use learn::checkpoint;
use protocol::config::Config;
use protocol::{LogLine, RunEvent, Setup, folder};
use report::Folder;
use runtime::Secret;
use runtime::driver::Phase;
use runtime::identity::Identity;
use runtime::swarm_file::{Member, SwarmFile};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tokio::sync::mpsc;

/// How long after a node's death the others are given to show that the run had begun: they report ten times a second.
const DOUBT: Duration = Duration::from_secs(1);
/// How long children may take to stop when asked.
const FAREWELL: Duration = Duration::from_secs(10);

/// Arguments of `murmur swarm`.
#[derive(Debug, clap::Args)]
pub(super) struct RunArgs {
    /// Configuration of the run [default: handwritten digits]
    config: Option<PathBuf>,
    /// Number of processes
    #[arg(long)]
    nodes: Option<usize>,
    /// A setting of the run, such as `rounds=50`
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// What to print at the end
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Folder in which the run gets a folder of its own
    #[arg(long, value_name = "DIR", default_value = "runs")]
    out: PathBuf,
    #[command(flatten)]
    http: HttpArgs,
}

/// Starts the processes, waits for them and reports.
pub(super) fn run(args: &RunArgs) -> Result<ExitCode> {
    let nodes = args.nodes.or(args.config.is_none().then_some(8));
    let config = configuration(args.config.as_deref(), &args.set, nodes, None)?;
    // What cannot be read, divided or paid for is said once, here, and not by every child.
    let setup = Setup::new(config)?;
    warnings::say(&warnings::about(&setup));
    let config = &setup.config;
    room::for_processes(config.nodes)?;
    let place = args.http.take()?;
    let mut run_folder = Folder::create(&args.out, &config.name, &config.to_toml())?;
    let folder = run_folder.path().to_owned();
    let swarm = prepare(config, &folder)?;
    let logs = (0..config.nodes).map(|node| folder::node(&folder, node).join(folder::LOG)).collect();
    let facts = Facts::of(&setup);
    let mut page = args.http.serve(place, Outline::of(config, Only::Everybody), logs, || Ok(facts))?;
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = tokio.block_on(supervise(config, &swarm, &folder, page.board()))?;
    tokio.shutdown_background();
    let at_once = stop::AtOnce::new();
    if let Some(board) = page.board() {
        let own = |node| Some((node, figures(&folder::node(&folder, node))?));
        (0..config.nodes).filter_map(own).for_each(|(node, figures)| board.own(node, figures));
    }
    page.over(if ended.interrupted { "stopped" } else { "finished" });
    let lines = merge(&mut run_folder, config.nodes)?;
    if ended.interrupted {
        farewell(&lines, &setup, &folder);
    }
    if ended.killed {
        return Ok(ended.code());
    }
    if lines.is_empty() {
        return if ended.interrupted { Ok(ended.code()) } else { Err(ended.nothing(&folder)) };
    }
    report(args, &setup, (&lines, &ended), &run_folder)?;
    drop(at_once);
    page.close();
    Ok(ended.code())
}

/// Writes and prints what the run came to.
fn report(
    args: &RunArgs,
    setup: &Setup,
    (lines, ended): (&[LogLine], &Ended),
    run_folder: &Folder,
) -> Result<()> {
    let folder = run_folder.path();
    let models = (0..setup.config.nodes).filter_map(|node| model(setup, &folder::node(folder, node)));
    let left = Left {
        setup,
        lines,
        models: models.collect(),
        figures: (0..setup.config.nodes).filter_map(|node| figures(&folder::node(folder, node))).collect(),
        bytes: ended.bytes,
        run: folder.display().to_string(),
        compare: !ended.interrupted,
    };
    let report = Ending::new(&left)?;
    report.write(&left, run_folder)?;
    let written = crate::commands::report::write_for(folder)?;
    let text = match args.format {
        Format::Table => format!("{}\nThe report: {}\n", report.table(setup), written.display()),
        Format::Json => report.json()?,
    };
    output::write(None, text.as_bytes())
}

/// Where a run stands that was stopped.
fn farewell(lines: &[LogLine], setup: &Setup, folder: &Path) {
    let released = |line: &LogLine| match line.event {
        RunEvent::Released { round, .. } => Some(round),
        _ => None,
    };
    let contributions = lines.iter().filter_map(released).count();
    let stands = match lines.iter().filter_map(released).max() {
        Some(round) => format!(
            "in round {round} of {} with {contributions} contributions of all nodes",
            setup.settings.rounds
        ),
        None => "before anything was sent".to_owned(),
    };
    say!("stopped {stands}; what the nodes have is in `{}`", folder.display());
}

/// Makes the folders, the identities and the swarm file. Identities are given out in their order, so that node `i` has position `i`.
fn prepare(config: &Config, folder: &Path) -> Result<PathBuf> {
    let mut identities: Vec<Identity> = (0..config.nodes).map(|_| Identity::ephemeral()).collect();
    identities.sort_by_key(Identity::peer_id);
    for (node, identity) in identities.iter().enumerate() {
        identity.save(&folder::node(folder, node))?;
    }
    let secret = Secret::generate().map_err(|error| Failure::of(error, None))?;
    let member = |identity: &Identity| Member { peer: identity.peer_id(), addresses: Vec::new(), name: None };
    let file = SwarmFile {
        name: config.name.clone(),
        nodes: config.nodes,
        config: config.to_toml(),
        secret,
        roster: identities.iter().map(member).collect(),
        schema: None,
        relays: Vec::new(),
        renewals: Default::default(),
    };
    let path = folder.join(folder::SWARM);
    file.create(&path)?;
    Ok(path)
}

async fn supervise(config: &Config, swarm: &Path, folder: &Path, board: Option<Board>) -> Result<Ended> {
    let (report, mut reports) = mpsc::channel(256);
    // Before the first child: a signal must find somebody who stops them.
    let mut signals = stop::Signals::new();
    let mut children = Vec::new();
    for node in 0..config.nodes {
        let place = (node, config.nodes);
        children.push(Child::start(
            place,
            swarm,
            &folder::node(folder, node),
            report.clone(),
            board.is_some(),
        )?);
    }
    drop(report);
    let mut live = Live::new(config.nodes, u64::from(config.rounds), board);
    let (mut ended, mut given_up) = (Ended::default(), false);
    let deadline = tokio::time::sleep(Duration::MAX);
    tokio::pin!(deadline);
    while children.iter().any(|child| child.ended.is_none()) {
        tokio::select! {
            Some((node, report)) = reports.recv() => {
                on_report(&mut children, node, report, &mut live).await;
            }
            () = tokio::time::sleep(DOUBT), if !given_up && cannot_begin(&children) => {
                given_up = true;
                children.iter_mut().for_each(Child::stop);
                deadline.as_mut().reset(tokio::time::Instant::now() + FAREWELL);
            }
            asked = signals.next() => {
                ended.asked = Some(asked);
                if ended.interrupted {
                    ended.killed = true;
                    children.iter_mut().for_each(Child::kill);
                }
                ended.interrupted = true;
                children.iter_mut().for_each(Child::stop);
                deadline.as_mut().reset(tokio::time::Instant::now() + FAREWELL);
            }
            () = &mut deadline => children.iter_mut().for_each(Child::kill),
        }
    }
    live.finish();
    ended.bytes = children.iter().map(|child| child.bytes).sum();
    let died = children.iter().enumerate().filter(|(_, child)| child.ended == Some(How::Died));
    ended.failed = died.map(|(node, child)| (node, child.last_words())).collect();
    let early = children.iter().enumerate().filter(|(_, child)| child.ended == Some(How::Early));
    ended.early = early.map(|(node, _)| node).collect();
    if !ended.killed {
        say!("{}", ended.told());
    }
    Ok(ended)
}

/// A run begins when all are there: where one died before, it never will.
fn cannot_begin(children: &[Child]) -> bool {
    children.iter().any(|child| child.ended.is_some_and(|how| how != How::Well))
        && !children.iter().any(|child| child.begun)
}

async fn on_report(children: &mut [Child], node: usize, report: child::News, live: &mut Live) {
    match report {
        child::News::Told(told) => {
            live.show(node, &told);
            let status = &told.status;
            children[node].bytes = status.bytes.0;
            children[node].begun |= status.phase != Phase::Gathering;
            let Some(address) = status.addresses.first().map(ToString::to_string) else { return };
            if children[node].address.is_none() {
                for other in 0..children.len() {
                    if let Some(known) = children[other].address.clone() {
                        children[node].introduce(&known).await;
                        children[other].introduce(&address).await;
                    }
                }
                children[node].address = Some(address);
            }
        }
        child::News::Ended(status) => {
            let how = How::of(status);
            live.ended(node, how == How::Well);
            children[node].ended = Some(how);
        }
    }
}

/// The model that a node left; none where it died before the end.
fn model(setup: &Setup, folder: &Path) -> Option<Vec<f32>> {
    let (params, _) = checkpoint::load(&folder.join(folder::MODEL), setup.model.as_ref()).ok()?;
    Some(params)
}

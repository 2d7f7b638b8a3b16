//! `murmur node`: one participant, over libp2p.

mod data;
mod judge;
mod metrics;
mod policy;
mod quality;
mod screen;
mod seen;
pub(crate) mod stop;
mod told;

use super::page::HttpArgs;
use super::warnings;
use crate::failure::{Failure, Result};
use dashboard::{Board, Facts, Only, Outline, Scene};
use protocol::{Setup, folder};
use runtime::Multiaddr;
use runtime::driver::{Driver, Options, Outcome};
use runtime::identity::Identity;
use runtime::network::Patience;
use runtime::swarm_file::SwarmFile;
use std::path::PathBuf;
use std::process::ExitCode;
pub(crate) use told::Told;

const EXAMPLES: &str = "\
Examples:
  murmur node --swarm clinic.toml --data patients.csv:label=sick   finds the others on the local network and trains
  murmur node --swarm clinic.toml --data patients.csv:label=sick --peer /dns4/b.example/tcp/7000
  murmur node --swarm demo.toml --shard 0/8                        the first eighth of the run's own data set
  murmur node --swarm demo.toml --shard 0/8 --http 7070            with a live page at http://127.0.0.1:7070/
  murmur node --swarm clinic.toml --data patients.csv              columns as the schema in the swarm file says
  murmur node id --state DIR --listen /ip4/0.0.0.0/tcp/7000        who would I be, and where?

Stop it with ctrl-c and start it with the same command: it goes on where it was.";

/// Arguments of `murmur node`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Sub>,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Sub {
    /// Print the identity of a node, made at the first call, and the addresses that others can call
    Id(IdArgs),
}

#[derive(Debug, clap::Args)]
struct IdArgs {
    /// The folder of the node
    #[arg(long, default_value = "murmur-state", value_name = "DIR")]
    state: PathBuf,
    /// Where it will listen [default: /ip4/0.0.0.0/tcp/0]
    #[arg(long, value_name = "ADDR")]
    listen: Vec<Multiaddr>,
}

/// Arguments of a run.
#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// The swarm file that all members hold; `murmur swarm init` makes one
    #[arg(long, value_name = "FILE", required = true)]
    swarm: Option<PathBuf>,
    #[command(flatten)]
    data: data::DataArgs,
    /// Where to listen [default: /ip4/0.0.0.0/tcp/0]
    #[arg(long, value_name = "ADDR")]
    listen: Vec<Multiaddr>,
    /// Where another member listens; needed only where the local network does not say
    #[arg(long, value_name = "ADDR")]
    peer: Vec<Multiaddr>,
    /// Do not look for members on the local network
    #[arg(long)]
    no_mdns: bool,
    /// The folder of the node: its identity, its ledger, its log
    #[arg(long, default_value = "murmur-state", value_name = "DIR")]
    state: PathBuf,
    /// A limit of this node alone, such as `budget.epsilon=2`: it goes on mixing but adds nothing that could pass it
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// What to print: a screen for people, or JSON lines
    #[arg(long, value_enum, default_value_t = Log::Text)]
    log: Log,
    #[command(flatten)]
    http: HttpArgs,
    /// For tests: noise that everybody can compute. The run protects nobody
    #[arg(long, hide = true, value_name = "SEED")]
    danger_seed: Option<u64>,
    /// Ends when stdin does, and takes `peer ADDR` lines from it
    #[arg(long, hide = true)]
    child: bool,
    /// Says in JSON lines how good the model is, for the page of a swarm
    #[arg(long, hide = true)]
    judge: bool,
}

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Log {
    /// A screen for people, on stderr
    Text,
    /// One JSON object per line, on stdout
    Json,
}

/// Runs a node, or prints who it is.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    match &args.command {
        Some(Sub::Id(args)) => print_identity(args),
        None => run_node(&args.run),
    }
}

fn print_identity(args: &IdArgs) -> Result<ExitCode> {
    let identity = Identity::load_or_create(&args.state)?;
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let listen = or_everywhere(&args.listen);
    let reached = tokio.block_on(runtime::reach::addresses(identity.peer_id(), &listen))?;
    let mut text = format!("{}\n", identity.peer_id());
    let mut unknown = false;
    for address in reached {
        // A port that is not known yet must not look like one that can be called.
        let shown = address.to_string().replace("/tcp/0/", "/tcp/PORT/").replace("/udp/0/", "/udp/PORT/");
        unknown |= shown.contains("/PORT/");
        text.push_str(&format!("{shown}\n"));
    }
    if unknown {
        eprintln!(
            "PORT is known when the node has started, which prints it; `--listen /ip4/0.0.0.0/tcp/7000` fixes it beforehand"
        );
    }
    crate::output::write(None, text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Where to listen: everywhere at a free port, unless something was said.
fn or_everywhere(listen: &[Multiaddr]) -> Vec<Multiaddr> {
    match listen {
        [] => vec!["/ip4/0.0.0.0/tcp/0".parse().expect("a constant address")],
        some => some.to_vec(),
    }
}

fn run_node(args: &RunArgs) -> Result<ExitCode> {
    let path = args.swarm.as_deref().ok_or_else(|| Failure::new("`--swarm FILE` is missing"))?;
    let swarm = SwarmFile::load(path)?;
    let policy = policy::Policy::parse(&args.set)?;
    let place = args.http.take()?;
    screen::start_log(args.log);
    let setup = policy.apply(args.data.setup(&swarm)?)?;
    let seen = seen::Seen::of(&setup, &args.state);
    if !args.child {
        let mut warnings = warnings::about(&setup);
        warnings.extend(seen.change());
        warnings::say(&warnings);
    }
    let (model, digest, about) = (setup.model.clone(), setup.digest, setup.about());
    let exam = quality::Exam::of(&setup);
    let (outline, facts) = about_page(&setup);
    let mut page = args.http.serve(place, outline, vec![args.state.join(folder::LOG)], facts)?;
    let options = Options {
        swarm,
        setup,
        state: args.state.clone(),
        listen: or_everywhere(&args.listen),
        peers: args.peer.clone(),
        mdns: !args.no_mdns,
        patience: Patience::default(),
        danger: args.danger_seed.map(data::danger),
    };
    // One thread for the network: gradients and the disk have their own.
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = tokio.block_on(drive(options, args, page.board()));
    // A reader of stdin may still wait for a line, however the node ended.
    tokio.shutdown_background();
    let outcome = outcome?;
    seen.keep();
    let model_file = args.state.join(folder::MODEL);
    data::save_model(&model_file, (model.as_ref(), digest, &about), &outcome)?;
    screen::farewell(&outcome, &args.state);
    if let (Some(exam), true) = (exam, outcome.finished && !outcome.model.is_empty()) {
        exam.last_row(&outcome.model, &outcome.status, &metrics::Metrics::in_folder(&args.state));
        // A swarm on one machine compares for all of its processes.
        if !args.child {
            exam.judge(&outcome.model, &args.state)?;
            screen::next_steps(&args.state, &model_file);
        }
    }
    page.over(if outcome.finished { "finished" } else { "stopped" });
    page.close();
    Ok(ExitCode::SUCCESS)
}

/// What the page needs to know of the run.
fn about_page(
    setup: &Setup,
) -> (Outline, impl FnOnce() -> std::result::Result<Facts, String> + Send + 'static) {
    let (shape, config) = (setup.shape(), setup.config.clone());
    let outline = Outline::of(&config, Only::Myself);
    (outline, move || Ok(Facts { shape, scene: Scene::of(&config) }))
}

async fn drive(options: Options, args: &RunArgs, board: Option<Board>) -> Result<Outcome> {
    let judge = judge::Judge::new(&options.setup);
    let driver = Driver::start(options)?;
    let metrics = metrics::Metrics::in_folder(&args.state);
    let judged = judge.map(|judge| judge.start(driver.glimpse(), (metrics, driver.status())));
    // The status lines of a swarm's processes say so only where that was asked for.
    let shown = judged.clone().filter(|_| args.judge || board.is_some());
    if let Some(board) = board {
        tokio::spawn(judge::tell(board, driver.status(), judged));
    }
    let shown = tokio::spawn(screen::show(driver.status(), shown, args.log));
    let stop = stop::requested(args.child.then(|| driver.control()));
    let outcome = driver.run(stop).await;
    // The driver is gone, so the screen ends after its last picture.
    let _ = shown.await;
    Ok(outcome?)
}

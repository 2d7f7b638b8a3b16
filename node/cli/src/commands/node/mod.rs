//! `murmur node`: one participant, over libp2p.

mod data;
mod declared;
mod judge;
mod metrics;
pub(crate) mod own;
mod policy;
mod quality;
mod questions;
pub(crate) mod room;
mod screen;
mod seen;
pub(crate) mod stop;
mod told;
mod uses;

use super::page::HttpArgs;
use super::warnings;
use crate::failure::{Failure, Result};
use crate::output::say;
use dashboard::{Board, Cost, Facts, Only, Outline, Scene};
use protocol::config::Config;
use protocol::log::Declared;
use protocol::{Setup, folder};
use runtime::Multiaddr;
use runtime::asking::Respondent;
use runtime::driver::{Driver, DriverError, Options, Outcome};
use runtime::identity::Identity;
use runtime::network::Patience;
use runtime::swarm_file::SwarmFile;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
pub(crate) use told::Told;
pub(crate) use uses::{in_scope, spent};

const EXAMPLES: &str = "\
Examples:
  murmur node --swarm clinic.toml --data patients.csv:label=sick   finds the others on the local network and trains
  murmur node --swarm clinic.toml --data patients.csv:label=sick --peer /dns4/b.example/tcp/7000
  murmur node --swarm demo.toml --shard 0/8                        the first eighth of the run's own data set
  murmur node --swarm demo.toml --shard 0/8 --http 7070            with a live page at http://127.0.0.1:7070/
  murmur node --swarm clinic.toml --data patients.csv              columns as the schema in the swarm file says
  murmur node --swarm clinic.toml --data patients.csv --stay       goes on answering `murmur ask` when the run is over
  murmur node leave --state DIR                                    tells the others, which go on without it
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
    /// Leave the run for good: the node tells the others, which go on without it and without its vote
    Leave(LeaveArgs),
}

#[derive(Debug, clap::Args)]
struct LeaveArgs {
    /// The folder of the node
    #[arg(long, default_value = "murmur-state", value_name = "DIR")]
    state: PathBuf,
}

#[derive(Debug, clap::Args)]
struct IdArgs {
    /// The folder of the node
    #[arg(long, default_value = "murmur-state", value_name = "DIR")]
    state: PathBuf,
    /// Where it will listen [default: /ip4/0.0.0.0/tcp/0]
    #[arg(long, value_name = "ADDR", value_parser = runtime::reach::parse_address)]
    listen: Vec<Multiaddr>,
}

/// Arguments of a run.
#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// The swarm file that all members hold; `murmur swarm init` makes one
    #[arg(long, value_name = "FILE", required = true)]
    swarm: Option<PathBuf>,
    /// What this node is called in reports and on screens, such as `--name "Long Beach"`; the others hear it [default: as the swarm file says]
    #[arg(long, value_name = "NAME", value_parser = declared::name)]
    name: Option<String>,
    #[command(flatten)]
    data: data::DataArgs,
    /// Where to listen [default: /ip4/0.0.0.0/tcp/0]
    #[arg(long, value_name = "ADDR", value_parser = runtime::reach::parse_address)]
    listen: Vec<Multiaddr>,
    /// Where another member listens; needed only where the local network does not say
    #[arg(long, value_name = "ADDR", value_parser = runtime::reach::parse_address)]
    peer: Vec<Multiaddr>,
    /// A relay through which members can reach this node, as `murmur relay` prints it; for nodes behind routers
    #[arg(long, value_name = "ADDR", value_parser = runtime::swarm_file::parse_relay)]
    relay: Vec<Multiaddr>,
    /// Do not look for members on the local network
    #[arg(long)]
    no_mdns: bool,
    /// The folder of the node: its identity, its ledger, its log
    #[arg(long, default_value = "murmur-state", value_name = "DIR")]
    state: PathBuf,
    /// A limit of this node alone, such as `budget.epsilon=2`: it goes on mixing but adds nothing that could pass it
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Go on answering questions when the run is over, until it is stopped
    #[arg(long)]
    stay: bool,
    /// What to print: a screen for people, or JSON lines
    #[arg(long, value_enum, default_value_t = Log::Text)]
    log: Log,
    /// How much to say about the node's life on stderr [default: warn, with `--log json` info]
    #[arg(long, value_enum, value_name = "LEVEL")]
    log_level: Option<screen::Level>,
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
        Some(Sub::Leave(args)) => leave(&args.state),
        None => run_node(&args.run),
    }
}

/// Leaves a note that the running node finds, or that it finds when it is started again.
fn leave(state: &Path) -> Result<ExitCode> {
    if !state.join("identity.key").is_file() {
        let hint = "name the folder of the node that is to leave: `--state DIR`";
        return Err(Failure::new(format!("there is no node in `{}`", state.display())).hint(hint));
    }
    crate::output::write(Some(&state.join(runtime::driver::LEAVE)), b"")?;
    say!(
        "the node with the state in `{}` leaves at the next decision, which it asks for; if it does not run, start it with its usual command",
        state.display()
    );
    Ok(ExitCode::SUCCESS)
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
        say!(
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

fn options(
    args: &RunArgs,
    swarm: SwarmFile,
    (setup, respondent): (Setup, Option<Respondent>),
    declared: Declared,
) -> Options {
    let stays = args.stay || setup.config.questions_only;
    Options {
        declared,
        respondent,
        stays,
        swarm,
        setup,
        state: args.state.clone(),
        listen: or_everywhere(&args.listen),
        peers: args.peer.clone(),
        mdns: !args.no_mdns,
        relays: args.relay.clone(),
        patience: Patience::default(),
        danger: args.danger_seed.map(data::danger),
        counts: counts(),
    }
}

/// Where records are counted outside of the node's folder.
fn counts() -> Option<PathBuf> {
    let counts = runtime::ledger::outside();
    if counts.is_none() {
        say!(
            "warning: neither `HOME` nor `{}` names a folder for the count of this node's records: an old copy of its state would not be noticed",
            runtime::data_ledger::VARIABLE
        );
    }
    counts
}

fn run_node(args: &RunArgs) -> Result<ExitCode> {
    let path = args.swarm.as_deref().ok_or_else(|| Failure::new("`--swarm FILE` is missing"))?;
    let swarm = SwarmFile::load(path)?;
    runtime::swarm_file::no_member_is_a_relay(&args.relay, &swarm.roster).map_err(Failure::new)?;
    let (rules, words) = questions::rules(&args.set)?;
    let policy = policy::Policy::parse(&words)?;
    let setup = policy.apply(args.data.setup(&swarm)?)?;
    room::check(swarm.nodes, setup.settings.initial.len())?;
    let table = args.data.table()?;
    let only = setup.config.questions_only;
    let place_of_data = (args.data.account(), policy.total, args.state.as_path());
    let respondent = questions::respondent(&swarm, rules, table.as_ref(), place_of_data)?;
    if only {
        return run_questions(args, swarm, setup, respondent);
    }
    let place = args.http.take()?;
    screen::start_log(args.log, args.log_level);
    told::renewal(&swarm);
    let declared = declared::of(&setup, (args.name.as_deref(), &args.state), &swarm)?;
    let (setup, declared, mut account) =
        match uses::begin(&policy, setup, declared, (args.data.account(), &args.state))? {
            uses::Begun::Allowed(begun) => *begun,
            uses::Begun::Refused(why) => {
                say!("refused: {why}");
                return Ok(ExitCode::from(1));
            }
        };
    let seen = seen::Seen::of(&setup, &args.state);
    if !args.child {
        let mut warnings = warnings::about(&setup);
        warnings.extend(seen.change());
        warnings::say(&warnings);
    }
    let owner = setup.clone();
    let exam = quality::Exam::of(&setup);
    let (outline, facts) = about_page(&setup);
    let mut page = args.http.serve(place, outline, vec![args.state.join(folder::LOG)], facts)?;
    let options = options(args, swarm, (setup, respondent), declared);
    // One thread for the network: gradients and the disk have their own.
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let asked = Arc::new(OnceLock::new());
    let outcome = tokio.block_on(drive(options, args, page.board(), &asked));
    // A reader of stdin may still wait for a line, however the node ended.
    tokio.shutdown_background();
    let outcome = outcome.map_err(|error| uses::after(error, account.take()))?;
    seen.keep();
    let cost = uses::cost(&args.state);
    if let Some(account) = account {
        account.settle(cost.as_ref())?;
    }
    let ended_well = keep(args, &owner, &outcome, (exam, cost.as_ref()))?;
    if let (Some(board), Some(figures)) = (page.board(), own::figures(&args.state).filter(|_| ended_well)) {
        board.own(0, figures);
    }
    page.over(if ended_well { "finished" } else { "stopped" });
    page.close();
    Ok(exit_code(&outcome, asked.get().copied()))
}

/// A member of a swarm that only answers questions: there is no run to account for, and every question is in its book and the ledger of its data.
fn run_questions(
    args: &RunArgs,
    swarm: SwarmFile,
    setup: Setup,
    respondent: Option<Respondent>,
) -> Result<ExitCode> {
    let place = args.http.take()?;
    screen::start_log(args.log, args.log_level);
    let declared = declared::of_table(&respondent, (args.name.as_deref(), &args.state), &swarm)?;
    let (outline, facts) = about_page(&setup);
    let mut page = args.http.serve(place, outline, vec![args.state.join(folder::LOG)], facts)?;
    let options = options(args, swarm, (setup, respondent), declared);
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let asked = Arc::new(OnceLock::new());
    let outcome = tokio.block_on(drive(options, args, page.board(), &asked));
    tokio.shutdown_background();
    let outcome = outcome?;
    page.over("stopped");
    page.close();
    Ok(exit_code(&outcome, asked.get().copied()))
}

/// Writes what is left of a run, and says it; whether the run reached its end.
fn keep(
    args: &RunArgs,
    owner: &Setup,
    outcome: &Outcome,
    (exam, cost): (Option<quality::Exam>, Option<&::report::Report>),
) -> Result<bool> {
    let model_file = args.state.join(folder::MODEL);
    let mine = own::of(owner, outcome)?;
    if let Some(mine) = &mine {
        let owner = (owner, args.danger_seed.is_none());
        data::save_model(&model_file, owner, (&mine.shared, outcome.status.round))?;
    }
    save_decision(&args.state, outcome)?;
    screen::farewell(outcome, &args.state, cost.filter(|_| !args.child));
    let ended_well = outcome.finished && outcome.reached;
    if let (Some(mine), true) = (mine, ended_well) {
        own::keep(owner, &mine, (outcome, &args.state))?;
        if let Some(exam) = exam {
            exam.last_row(&mine.shared, &outcome.status, &metrics::Metrics::in_folder(&args.state));
            // A swarm on one machine compares for all of its processes.
            if !args.child {
                exam.judge(&mine.shared, &args.state)?;
            }
        }
    }
    if !args.child && cost.is_some() {
        screen::next_steps(
            &args.state,
            Some(model_file.as_path()).filter(|file| ended_well && file.is_file()),
        );
    }
    Ok(ended_well)
}

/// 0 where the run reached its end, 1 where it ended before for a reason that was set, and after a signal that of the signal.
fn exit_code(outcome: &Outcome, asked: Option<stop::Asked>) -> ExitCode {
    match (outcome.finished, outcome.reached, asked) {
        (true, true, _) => ExitCode::SUCCESS,
        (false, _, Some(asked)) => ExitCode::from(asked.code()),
        (true, false, _) | (false, _, None) => ExitCode::from(1),
    }
}

/// Writes what proves the model, beside it.
fn save_decision(state: &Path, outcome: &Outcome) -> Result<()> {
    let Some(decision) = &outcome.decision else { return Ok(()) };
    let path = state.join(folder::DECISION);
    crate::output::write(Some(&path), &decision.to_bytes())?;
    runtime::identity::close_to_others(&path);
    Ok(())
}

/// What the page needs to know of the run.
fn about_page(
    setup: &Setup,
) -> (Outline, impl FnOnce() -> std::result::Result<Facts, String> + Send + 'static) {
    let (nodes, rounds) = (setup.settings.nodes, setup.settings.rounds);
    let (shape, config) = (setup.shape(), Config { nodes, rounds, ..setup.config.clone() });
    let outline = Outline::of(&config, Only::Myself);
    (outline, move || Ok(Facts { shape, scene: Scene::of(&config) }))
}

async fn drive(
    options: Options,
    args: &RunArgs,
    board: Option<Board>,
    asked: &Arc<OnceLock<stop::Asked>>,
) -> Result<Outcome> {
    let judge = judge::Judge::new(&options.setup, board.is_some() && !args.child);
    let shape = options.setup.shape();
    let driver = Driver::start(options)?;
    let metrics = metrics::Metrics::in_folder(&args.state);
    let judged = judge.map(|judge| judge.start(driver.glimpse(), (metrics, driver.status())));
    // The status lines of a swarm's processes say so only where that was asked for.
    let shown = judged.clone().filter(|_| args.judge || board.is_some());
    if let Some(board) = board {
        tokio::spawn(judge::tell(board, driver.status(), judged));
    }
    // A screen says what a report would; JSON lines are for programs, which have the page or the report.
    let cost = match args.log {
        Log::Text => Cost::follow(args.state.join(folder::LOG), shape),
        Log::Json => Cost::unknown(),
    };
    let shown = tokio::spawn(screen::show(driver.status(), shown, (args.log, cost)));
    let stop = stop::requested(args.child.then(|| driver.control()), asked);
    let outcome = driver.run(stop).await;
    // The driver is gone, so the screen ends after its last picture.
    let _ = shown.await;
    outcome.map_err(|error| {
        // That the others did not come before `timeouts.give_up` is an end that was asked for.
        let code = if matches!(error, DriverError::Alone { .. }) { 1 } else { 2 };
        Failure::from(error).with_code(code)
    })
}

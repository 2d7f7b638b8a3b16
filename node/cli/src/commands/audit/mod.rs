//! `murmur audit`: attacks on a scenario, beside what its account says.

mod ask;
mod help;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use audit::{Attack, Audit, Request, Sabotage, Verdict};
use protocol::config::{Config, Layer};
use protocol::{Setup, folder};

use crate::failure::{Failure, Result};
use crate::output::{self, Format};
use crate::progress;

/// Attack a scenario as its own nodes could: lower bounds on ε beside the account's upper bound
#[derive(Debug, clap::Args)]
#[command(after_help = help::EXAMPLES, after_long_help = help::LONG, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Sub>,

    /// A configuration as for `murmur sim`, or the folder or `log.jsonl` of a run, whose account is then what is held against the attacks; without one, eight nodes and
    /// little data
    #[arg(value_name = "CONFIG")]
    config: Option<PathBuf>,

    /// Set a key: `--set privacy.noise_multiplier=2`; `murmur sim --help` lists the keys
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// Attack to make, repeatable [default: all that apply]
    #[arg(long, value_name = "ATTACK", value_parser = attack)]
    attack: Vec<Attack>,

    /// Runs with the change, and as many without, for `distinguish`
    #[arg(long, value_name = "N", default_value_t = audit::TRIALS)]
    trials: usize,

    /// Probability that all deciding lower bounds hold at once
    #[arg(long, value_name = "P", default_value_t = 0.95)]
    confidence: f64,

    /// Whose data, and who watches: `--pair 3,0` [default: the pair that lost most by the account]
    #[arg(long, value_name = "I,J", value_parser = pair)]
    pair: Option<(usize, usize)>,

    /// Nodes that pool what they saw, for `distinguish`: `--coalition 0,1`; the watcher of `--pair` joins them [default: one watcher]
    #[arg(long, value_name = "I,J,…", value_parser = node, value_delimiter = ',')]
    coalition: Vec<usize>,

    /// Seed of the audit's own dice; the scenario keeps its own
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// Threads [default: as many as there are cores]; the result does not depend on it
    #[arg(long, value_name = "T", default_value_t = 0, hide_default_value = true)]
    threads: usize,

    /// What to print: a table for people, or one JSON object
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// Folder for audit.json, audit.svg and audit.md; made if it does not exist
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// FOR DEMONSTRATION: break the mechanism of the simulated nodes (noise-halved, noise-reused, clip-skipped; masked: member-without-noise, mask-key-reused, mask-round-left-out, mask-wrong-sign, words-in-clear, late-sum, wrap, words-as-f32) and see the audit fail
    #[arg(long = "break", value_name = "WHAT", value_parser = sabotage)]
    sabotage: Option<Sabotage>,
}

#[derive(Debug, clap::Subcommand)]
enum Sub {
    /// Attack a question as its own members could
    Ask(ask::Args),
}

/// Exit code 1 where a lower bound is above the account's upper bound, 2 where none of the attacks that were asked for applies.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if let Some(Sub::Ask(args)) = &args.command {
        return ask::run(args);
    }
    show(&audited(args, Setup::new(config(args)?)?)?, args.format, args.out.as_deref())
}

fn show(report: &Audit, format: Format, folder: Option<&Path>) -> Result<ExitCode> {
    let json = output::json(report)?;
    if let Some(folder) = folder {
        write_folder(folder, report, &json)?;
    }
    let text = match format {
        Format::Table => table::text(report),
        Format::Json => json,
    };
    output::write(None, text.as_bytes())?;
    Ok(match report.verdict {
        Verdict::Passed | Verdict::Undecided => ExitCode::SUCCESS,
        Verdict::Failed => ExitCode::from(1),
        Verdict::Nothing => ExitCode::from(2),
    })
}

fn audited(args: &Args, setup: Setup) -> Result<Audit> {
    let mut request = Request {
        trials: args.trials,
        confidence: args.confidence,
        pair: args.pair,
        coalition: args.coalition.clone(),
        seed: args.seed,
        threads: args.threads,
        sabotage: args.sabotage,
        log: args.config.as_deref().and_then(log_of),
        ..Request::new(setup)
    };
    if !args.attack.is_empty() {
        request.attacks.clone_from(&args.attack);
    }
    let bar = progress::bar(request.runs(), "runs");
    let report = audit::run(&request, &|runs| bar.inc(runs));
    bar.finish_and_clear();
    Ok(report?)
}

/// The log of the run, where a run was given.
fn log_of(path: &Path) -> Option<PathBuf> {
    match path.is_dir() {
        true => Some(path.join(folder::LOG)),
        false => path.extension().is_some_and(|extension| extension == "jsonl").then(|| path.to_owned()),
    }
}

/// The file, or that of the run's folder, or what its log says, or the built-in scenario; then the flags.
fn config(args: &Args) -> Result<Config> {
    let set: Vec<&str> = args.set.iter().map(String::as_str).collect();
    let Some(path) = &args.config else { return Ok(audit::built_in(&set)?) };
    let beside = path.join(folder::CONFIG);
    let base = match log_of(path) {
        Some(_) if beside.is_file() => read(&beside)?,
        Some(log) => {
            let text = audit::config_in_log(&log)?.to_toml();
            Layer::from_toml(&text, &log.display().to_string())?
        }
        None => read(path)?,
    };
    Ok(Config::from_layers([base, Layer::from_flags("--set", &set)?])?)
}

fn read(path: &Path) -> Result<Layer> {
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::from(error)
            .context(format!("cannot read `{shown}`"))
            .hint("`murmur sim --dump-config` prints a configuration to begin with")
    })?;
    Ok(Layer::from_toml(&text, &shown)?)
}

fn write_folder(folder: &Path, report: &Audit, json: &str) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::from(error).context(format!("cannot make the folder `{}`", folder.display()))
    })?;
    output::write(Some(&folder.join("audit.json")), json.as_bytes())?;
    output::write(Some(&folder.join("audit.svg")), audit::report::picture(report).as_bytes())?;
    output::write(Some(&folder.join("audit.md")), audit::report::markdown(report).as_bytes())
}

fn attack(text: &str) -> std::result::Result<Attack, String> {
    named(text, &Attack::ALL)
}

fn sabotage(text: &str) -> std::result::Result<Sabotage, String> {
    named(text, &Sabotage::ALL)
}

fn named<T: Copy>(text: &str, all: &[(&'static str, T)]) -> std::result::Result<T, String> {
    let found = all.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
    let names = || all.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    found.ok_or_else(|| format!("use one of {}", names()))
}

fn node(text: &str) -> std::result::Result<usize, String> {
    text.trim().parse().map_err(|_| "use numbers of nodes: `0,1` are nodes 0 and 1 together".to_owned())
}

fn pair(text: &str) -> std::result::Result<(usize, usize), String> {
    let numbers = text
        .split_once(',')
        .and_then(|(source, watcher)| Some((source.trim().parse().ok()?, watcher.trim().parse().ok()?)));
    numbers.ok_or_else(|| "use two numbers of nodes: `3,0` is what node 0 learns about node 3".to_owned())
}

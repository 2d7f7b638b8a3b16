//! `murmur privacy account`: what a series of releases reveals, by every accountant side by side.

use super::numbers::number;
use super::{event_spec, pretty_json};
use crate::failure::{Failure, Result};
use crate::output::{self, Format};
use privacy::event::{DpEvent, Neighbours};
use privacy::question::account::{Answer, Ask, Question, Status};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  murmur privacy account --event gaussian:sigma=1,rate=0.01,count=10000 --delta 1e-5
  murmur privacy account --event laplace:scale=10,count=20 --event gaussian:sigma=5 --delta 1e-6
  murmur privacy account --file events.json --delta 1e-5 --format json
  murmur privacy account --event gaussian:sigma=2,rate=0.01,count=10000 --epsilon 1";

/// Arguments of `murmur privacy account`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{}\n\n{EXAMPLES}", event_spec::SYNTAX))]
pub(super) struct Args {
    /// A release, `kind:key=value,…`; repeat for several (`--help` lists the kinds)
    #[arg(long = "event", value_name = "EVENT")]
    events: Vec<String>,

    /// Read events from a JSON file: one event, or a list, in the form that ledgers use
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// The δ at which ε is computed
    #[arg(long, required_unless_present = "epsilon", allow_negative_numbers = true)]
    delta: Option<f64>,

    /// Compute δ at this ε instead
    #[arg(long, conflicts_with = "delta", allow_negative_numbers = true)]
    epsilon: Option<f64>,

    /// Use only this accountant; repeat for several
    #[arg(long = "accountant", value_name = "NAME", value_parser = ["basic", "advanced", "renyi", "gaussian", "pld"])]
    accountants: Vec<String>,

    /// What to print: a table for people, or JSON for programs
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// Write to this file instead of the terminal; it is replaced only when everything is ready
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let events = read_events(args)?;
    let ask = match (args.delta, args.epsilon) {
        (Some(delta), _) => Ask::EpsilonAt(delta),
        (None, Some(epsilon)) => Ask::DeltaAt(epsilon),
        (None, None) => {
            return Err(Failure::new("neither --delta nor --epsilon given").hint("add --delta 1e-5"));
        }
    };
    let answer = Question { events, ask, accountants: args.accountants.clone() }.answer()?;
    let bytes = match args.format {
        Format::Table => table(&answer, ask).into_bytes(),
        Format::Json => pretty_json(&answer)?,
    };
    output::write(args.out.as_deref(), &bytes)?;
    Ok(ExitCode::SUCCESS)
}

fn read_events(args: &Args) -> Result<Vec<DpEvent>> {
    let mut events = Vec::new();
    for text in &args.events {
        events.push(event_spec::parse(text)?);
    }
    if let Some(path) = &args.file {
        events.extend(read_file(path)?);
    }
    Ok(events)
}

fn read_file(path: &Path) -> Result<Vec<DpEvent>> {
    let name = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::from(error).context(format!("cannot read `{name}`")).hint("check the path")
    })?;
    let hint = "write an event like {\"kind\":\"gaussian\",\"noise_multiplier\":1.0}, or a list of them";
    let is_list = text.trim_start().starts_with('[');
    let parsed = if is_list {
        serde_json::from_str::<Vec<DpEvent>>(&text)
    } else {
        serde_json::from_str::<DpEvent>(&text).map(|event| vec![event])
    };
    let events = parsed.map_err(|error| {
        Failure::of(error, Some(hint.into())).context(format!("`{name}` does not hold events"))
    })?;
    for (index, event) in events.iter().enumerate() {
        event
            .validate()
            .map_err(|error| event_spec::event_failure(&format!("{name}, event {}", index + 1), error))?;
    }
    Ok(events)
}

fn table(answer: &Answer, ask: Ask) -> String {
    let (asked, given) = match ask {
        Ask::EpsilonAt(delta) => ("ε", format!("δ = {delta:e}")),
        Ask::DeltaAt(epsilon) => ("δ", format!("ε = {epsilon}")),
    };
    let mut text = format!("{:<10}  {asked:>12}  {:<4}  analysis\n", "accountant", "");
    for entry in &answer.accountants {
        let figure = match ask {
            Ask::EpsilonAt(_) => entry.epsilon,
            Ask::DeltaAt(_) => entry.delta,
        };
        let shown = match entry.status {
            Status::Ok | Status::Infinite => number(figure.unwrap_or(f64::INFINITY)),
            Status::Unsupported => "—".to_owned(),
        };
        let mark = if answer.best == Some(entry.name) { "best" } else { "" };
        let note = entry.reason.as_deref().unwrap_or(entry.analysis);
        text.push_str(&format!("{:<10}  {shown:>12}  {mark:<4}  {note}\n", entry.name));
    }
    let neighbours = match answer.adjacency {
        Neighbours::Any => "for the adjacency under which the sensitivities were taken",
        Neighbours::AddOrRemove => "for adding or removing one record",
        Neighbours::Replace => "for replacing one record",
    };
    let meaning = match answer.best {
        Some(name) => {
            format!("All figures are upper bounds at {given}, {neighbours}; use the smallest ({name}).")
        }
        None => {
            format!("No accountant has a finite bound at {given}: something was released without protection.")
        }
    };
    format!("{text}\n{meaning}\n")
}

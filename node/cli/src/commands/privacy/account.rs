//! `murmur privacy account`: what a series of releases reveals, by every accountant side by side.

use super::event_spec;
use crate::failure::{Failure, Result};
use crate::output::{self, Format};
use privacy::accountant::{AccountError, Accountant, all};
use privacy::event::{Adjacency, DpEvent};
use serde::Serialize;
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
    let question = Question::of(args)?;
    let adjacency = common_adjacency(&events)?;
    let mut rows = Vec::new();
    for accountant in all() {
        if args.accountants.is_empty() || args.accountants.iter().any(|name| name == accountant.name()) {
            rows.push(price(accountant, &events, question)?);
        }
    }
    let best = best(&rows);
    let bytes = match args.format {
        Format::Table => table(&rows, best, question, adjacency).into_bytes(),
        Format::Json => json(&rows, best, &events, question, adjacency)?,
    };
    output::write(args.out.as_deref(), &bytes)?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Debug, Clone, Copy)]
enum Question {
    EpsilonAt(f64),
    DeltaAt(f64),
}

impl Question {
    fn of(args: &Args) -> Result<Self> {
        let question = match (args.delta, args.epsilon) {
            (Some(delta), _) => Self::EpsilonAt(delta),
            (None, Some(epsilon)) => Self::DeltaAt(epsilon),
            (None, None) => {
                return Err(Failure::new("neither --delta nor --epsilon given").hint("add --delta 1e-5"));
            }
        };
        // An empty accountant answers valid questions with 0 and refuses the others by name.
        let probe = privacy::accountant::BasicAccountant::default();
        question.ask(&probe)?;
        Ok(question)
    }

    fn ask(self, accountant: &dyn Accountant) -> std::result::Result<f64, AccountError> {
        match self {
            Self::EpsilonAt(delta) => accountant.epsilon(delta),
            Self::DeltaAt(epsilon) => accountant.delta(epsilon),
        }
    }
}

/// What one accountant says.
#[derive(Debug)]
struct Row {
    name: &'static str,
    analysis: &'static str,
    answer: std::result::Result<f64, String>,
}

fn price(mut accountant: Box<dyn Accountant>, events: &[DpEvent], question: Question) -> Result<Row> {
    let (name, analysis) = (accountant.name(), accountant.analysis());
    for event in events {
        match accountant.compose(event, 1) {
            Ok(()) => {}
            // No theorem in this accountant: the others may have one.
            Err(error @ AccountError::Unsupported { .. }) => {
                return Ok(Row { name, analysis, answer: Err(error.to_string()) });
            }
            Err(error @ (AccountError::Ledger(_) | AccountError::Question(_) | AccountError::Order(_))) => {
                return Err(error.into());
            }
        }
    }
    let answer = question.ask(accountant.as_ref())?;
    Ok(Row { name, analysis, answer: Ok(answer) })
}

fn read_events(args: &Args) -> Result<Vec<DpEvent>> {
    let mut events = Vec::new();
    for text in &args.events {
        events.push(event_spec::parse(text)?);
    }
    if let Some(path) = &args.file {
        events.extend(read_file(path)?);
    }
    if events.is_empty() {
        return Err(Failure::new("no events given")
            .hint("add --event gaussian:sigma=1,count=10, or --file events.json"));
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

fn common_adjacency(events: &[DpEvent]) -> Result<Adjacency> {
    Ok(events.iter().try_fold(Adjacency::Any, |all, event| all.and(event.adjacency()?))?)
}

/// The accountant with the smallest finite answer.
fn best(rows: &[Row]) -> Option<&'static str> {
    let answered = rows.iter().filter_map(|row| row.answer.as_ref().ok().map(|answer| (row.name, *answer)));
    answered.filter(|(_, answer)| answer.is_finite()).min_by(|a, b| a.1.total_cmp(&b.1)).map(|(name, _)| name)
}

fn table(rows: &[Row], best: Option<&str>, question: Question, adjacency: Adjacency) -> String {
    let (asked, given) = match question {
        Question::EpsilonAt(delta) => ("ε", format!("δ = {delta:e}")),
        Question::DeltaAt(epsilon) => ("δ", format!("ε = {epsilon}")),
    };
    let mut text = format!("{:<10}  {asked:>12}  {:<4}  analysis\n", "accountant", "");
    for row in rows {
        let (answer, note) = match &row.answer {
            Ok(answer) => (number(*answer), row.analysis),
            Err(reason) => ("—".to_owned(), reason.as_str()),
        };
        let mark = if best == Some(row.name) { "best" } else { "" };
        text.push_str(&format!("{:<10}  {answer:>12}  {mark:<4}  {note}\n", row.name));
    }
    let neighbours = match adjacency {
        Adjacency::Any => "for the adjacency under which the sensitivities were taken",
        Adjacency::AddOrRemove => "for adding or removing one record",
        Adjacency::Replace => "for replacing one record",
    };
    let meaning = match best {
        Some(name) => {
            format!("All figures are upper bounds at {given}, {neighbours}; use the smallest ({name}).")
        }
        None => {
            format!("No accountant has a finite bound at {given}: something was released without protection.")
        }
    };
    format!("{text}\n{meaning}\n")
}

#[derive(Serialize)]
struct Report<'a> {
    delta: Option<f64>,
    epsilon: Option<f64>,
    adjacency: Adjacency,
    events: &'a [DpEvent],
    accountants: Vec<Entry>,
    best: Option<&'static str>,
}

/// One accountant's answer; what is infinite or refused is null, and `status` says which.
#[derive(Serialize)]
struct Entry {
    name: &'static str,
    analysis: &'static str,
    status: &'static str,
    epsilon: Option<f64>,
    delta: Option<f64>,
    reason: Option<String>,
}

fn json(
    rows: &[Row],
    best: Option<&'static str>,
    events: &[DpEvent],
    question: Question,
    adjacency: Adjacency,
) -> Result<Vec<u8>> {
    let entry = |row: &Row| {
        let answer = row.answer.as_ref().ok().copied();
        let status = match answer {
            Some(answer) if answer.is_finite() => "ok",
            Some(_) => "infinite",
            None => "unsupported",
        };
        let finite = answer.filter(|answer| answer.is_finite());
        let (epsilon, delta) = match question {
            Question::EpsilonAt(delta) => (finite, Some(delta)),
            Question::DeltaAt(epsilon) => (Some(epsilon), finite),
        };
        let reason = row.answer.as_ref().err().cloned();
        Entry { name: row.name, analysis: row.analysis, status, epsilon, delta, reason }
    };
    let (delta, epsilon) = match question {
        Question::EpsilonAt(delta) => (Some(delta), None),
        Question::DeltaAt(epsilon) => (None, Some(epsilon)),
    };
    let report =
        Report { delta, epsilon, adjacency, events, accountants: rows.iter().map(entry).collect(), best };
    Ok(output::json(&report)?.into_bytes())
}

/// Six significant digits, rounded up in the last one, because these are bounds.
pub(super) fn number(value: f64) -> String {
    six_digits(value, |scaled| (scaled * (1.0 - 1e-12)).ceil())
}

/// Six significant digits, rounded down, for what must not be exceeded.
pub(super) fn number_down(value: f64) -> String {
    six_digits(value, |scaled| (scaled * (1.0 + 1e-12)).floor())
}

fn six_digits(value: f64, round: impl Fn(f64) -> f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !value.is_finite() {
        return "∞".into();
    }
    let exponent = value.abs().log10().floor() as i32;
    if !(-4..7).contains(&exponent) {
        let scale = 10f64.powi(5 - exponent);
        let rounded = round(value * scale) / scale;
        return format!("{:.5e}", if rounded.is_finite() { rounded } else { value });
    }
    let digits = (5 - exponent).max(0) as usize;
    let scale = 10f64.powi(digits as i32);
    let text = format!("{:.digits$}", round(value * scale) / scale);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_never_rounded_down() {
        for (value, text) in [
            (0.0, "0"),
            (f64::INFINITY, "∞"),
            (1.0, "1"),
            (0.945_678_91, "0.945679"),
            (0.945_678_1, "0.945679"),
            (12.345_671, "12.3457"),
            (123_456.1, "123457"),
            (1e-9, "1.00000e-9"),
            (1.234_561e12, "1.23457e12"),
        ] {
            assert_eq!(number(value), text, "{value}");
        }
        assert_eq!((number_down(0.268_051_9), number_down(2.0)), ("0.268051".into(), "2".into()));
    }
}

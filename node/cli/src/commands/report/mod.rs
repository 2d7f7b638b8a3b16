//! `murmur report`: what a run cost, pair by pair, for people to read, print and sign.

mod browser;
mod together;

use crate::output::say;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use report::{LedgerCopy, Options, Report, Source};
use runtime::identity::close_to_others;
use runtime::ledger::{self, LedgerError};

use crate::failure::{Failure, Result};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  murmur report runs/digits                       writes report.html and report.json beside the log, prints the summary
  murmur report runs/digits --node 3 --open       about one node, in the browser
  murmur report murmur-state                      a node's own report, from its own log and ledger
  murmur report runs/a --coalition 1,4 --format md
  murmur report runs/a --compare runs/b --format json
  murmur report runs/a --format card              a model card with front matter
  murmur report state-1 state-2                   what two runs on the same data cost together";

/// Arguments of `murmur report`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Folder of a run, state folder of a node, or a log; several are priced together
    #[arg(value_name = "RUN", required_unless_present = "schema")]
    runs: Vec<PathBuf>,
    /// Report about one node only
    #[arg(long, value_name = "i")]
    node: Option<usize>,
    /// Write to stdout in this format [default: report.html and report.json in the folder of the run]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Nodes that pool what they saw, in a row of their own beside the worst of two and three; written to a file of its own
    #[arg(long, value_name = "i,j", value_delimiter = ',')]
    coalition: Vec<usize>,
    /// Another run to put beside it
    #[arg(long, value_name = "RUN2")]
    compare: Option<PathBuf>,
    /// Show the page in the browser
    #[arg(long)]
    open: bool,
    /// Write to this file instead
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Show training losses of a real run, which are computed on private data without noise
    #[arg(long)]
    with_loss: bool,
    /// Print the JSON schema of `--format json`
    #[arg(long)]
    schema: bool,
}

/// In which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A page that needs nothing else
    Html,
    /// Markdown, for pasting
    Md,
    /// JSON, for programs
    Json,
    /// A model card, with front matter
    Card,
}

/// Writes the report.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if args.schema {
        output::write(None, report::SCHEMA.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let options = Options { node: args.node, coalition: args.coalition.clone(), with_loss: args.with_loss };
    let path = match args.runs.as_slice() {
        [] => return Err(Failure::new("`RUN` is missing")),
        [one] => one.as_path(),
        several => return together::run(several, &options, (args.format, args.out.as_deref())),
    };
    let source = open(path)?;
    let mut report = Report::new(&source, &options)?;
    if let Some(other) = &args.compare {
        report.compare_with(&source, &open(other)?)?;
    }
    let to_stdout = args.format.is_some() && !args.open;
    if to_stdout || args.out.is_some() {
        let format = args.format.unwrap_or_else(|| by_name(args.out.as_deref()));
        output::write(args.out.as_deref(), rendered(&report, format)?.as_bytes())?;
        if let (true, Some(out)) = (args.open, &args.out) {
            browser::show(out)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let written = write_beside(&report, path, &name(args))?;
    let summary = summary(&report, &written);
    output::write(None, summary.as_bytes())?;
    if args.open {
        browser::show(&written)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What the files are called: a report that was asked for in another way never takes the place of the whole one.
fn name(args: &Args) -> String {
    let mut name = "report".to_owned();
    if let Some(node) = args.node {
        name.push_str(&format!("-node-{node}"));
    }
    if !args.coalition.is_empty() {
        let members: Vec<String> = args.coalition.iter().map(usize::to_string).collect();
        name.push_str(&format!("-coalition-{}", members.join("-")));
    }
    name
}

/// Writes `NAME.html` and `NAME.json` beside the log; the path of the page.
fn write_beside(report: &Report, run: &Path, name: &str) -> Result<PathBuf> {
    let folder = if run.is_dir() { run } else { run.parent().unwrap_or(run) };
    let page = folder.join(format!("{name}.html"));
    output::write(Some(&page), rendered(report, Format::Html)?.as_bytes())?;
    let json = folder.join(format!("{name}.json"));
    output::write(Some(&json), rendered(report, Format::Json)?.as_bytes())?;
    // As private as what it lies beside: it names losses, people and places.
    [&page, &json].into_iter().for_each(|file| close_to_others(file));
    Ok(page)
}

/// Makes the report of a run that has just ended, in its folder.
pub(crate) fn write_for(folder: &Path) -> Result<PathBuf> {
    let report = Report::new(&open(folder)?, &Options::default())?;
    write_beside(&report, folder, "report")
}

fn summary(report: &Report, page: &Path) -> String {
    let list = |name: &str, items: &[String]| {
        let items: String = items.iter().map(|item| format!("  - {item}\n")).collect();
        if items.is_empty() { items } else { format!("{name}:\n{items}\n") }
    };
    let careful: String = report.warnings.iter().map(|text| format!("Careful: {text}\n\n")).collect();
    format!(
        "{}\n\n{}\n\n{careful}{}{}{}The whole report: {}\n",
        report.guarantee,
        report.quote,
        list("It assumes", &report.assumes),
        list("Not protected", &report.not_protected),
        list("How it was counted", &report.counted),
        page.display()
    )
}

fn by_name(path: Option<&Path>) -> Format {
    match path.and_then(|path| path.extension()).and_then(|extension| extension.to_str()) {
        Some("json") => Format::Json,
        Some("md") => Format::Md,
        _ => Format::Html,
    }
}

fn rendered(report: &Report, format: Format) -> Result<String> {
    Ok(match format {
        Format::Html => report::html(report),
        Format::Md => report::markdown(report),
        Format::Card => report::card(report),
        Format::Json => report::json(report).map_err(|error| Failure::of(error, None))?,
    })
}

/// Reads a run with the ledgers that lie in it.
pub(crate) fn open(path: &Path) -> Result<Source> {
    let mut source = Source::open(path)?;
    for (node, folder) in Source::ledger_folders(path) {
        match ledger::check(&folder, ledger::outside().as_deref()) {
            Ok(None) => {}
            Ok(Some(checked)) => {
                let peeked = checked.charged();
                let names = |roster: &runtime::identity::Roster| {
                    roster.members().iter().map(ToString::to_string).collect()
                };
                let members = peeked.roster.as_ref().map_or_else(Vec::new, names);
                let (records, forgotten) = (peeked.records, peeked.forgotten);
                source.add_ledger(node, LedgerCopy { records, members, forgotten });
            }
            Err(LedgerError::InUse { .. }) => {
                say!(
                    "note: a node is running in `{}`; this report is made from its log alone",
                    folder.display()
                );
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(source)
}

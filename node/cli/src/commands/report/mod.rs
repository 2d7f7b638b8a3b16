//! `murmur report`: what a run cost, pair by pair, for people to read, print and sign.

mod browser;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use report::{Ledger, Options, Report, Source};
use runtime::ledger::{self, LedgerError};

use crate::failure::{Failure, Result};
use crate::output;

const EXAMPLES: &str = "\
Examples:
  murmur report runs/digits                       writes report.html and report.json beside the log, prints the summary
  murmur report runs/digits --node 3 --open       about one node, in the browser
  murmur report murmur-state                      a node's own report, from its own log and ledger
  murmur report runs/a --coalition 1,4 --format md
  murmur report runs/a --compare runs/b --format json";

/// Arguments of `murmur report`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Folder of a run, state folder of a node, or a log
    #[arg(value_name = "RUN", required_unless_present = "schema")]
    run: Option<PathBuf>,
    /// Report about one node only
    #[arg(long, value_name = "i")]
    node: Option<usize>,
    /// Write to stdout in this format [default: report.html and report.json in the folder of the run]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Nodes that pool what they saw [default: the worst of two and three is looked for]
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
}

/// Writes the report.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if args.schema {
        output::write(None, report::SCHEMA.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let path = args.run.as_deref().ok_or_else(|| Failure::new("`RUN` is missing"))?;
    let source = open(path)?;
    let options = Options { node: args.node, coalition: args.coalition.clone(), with_loss: args.with_loss };
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
    let written = write_beside(&report, path, args.node)?;
    let summary = summary(&report, &written);
    output::write(None, summary.as_bytes())?;
    if args.open {
        browser::show(&written)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes `report.html` and `report.json` (for one node `report-node-3.html`, …) beside the log; the path of the page.
fn write_beside(report: &Report, run: &Path, node: Option<usize>) -> Result<PathBuf> {
    let folder = if run.is_dir() { run } else { run.parent().unwrap_or(run) };
    let name = node.map_or_else(|| "report".to_owned(), |node| format!("report-node-{node}"));
    let page = folder.join(format!("{name}.html"));
    output::write(Some(&page), rendered(report, Format::Html)?.as_bytes())?;
    output::write(Some(&folder.join(format!("{name}.json"))), rendered(report, Format::Json)?.as_bytes())?;
    Ok(page)
}

/// Makes the report of a run that has just ended, in its folder.
pub(crate) fn write_for(folder: &Path) -> Result<PathBuf> {
    let report = Report::new(&open(folder)?, &Options::default())?;
    write_beside(&report, folder, None)
}

fn summary(report: &Report, page: &Path) -> String {
    let list = |items: &[String]| items.iter().map(|item| format!("  - {item}\n")).collect::<String>();
    format!(
        "{}\n\nIt assumes:\n{}\nNot protected:\n{}\nThe whole report: {}\n",
        report.guarantee,
        list(&report.assumes),
        list(&report.not_protected),
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
        Format::Json => report::json(report).map_err(|error| Failure::of(error, None))?,
    })
}

/// Reads a run with the ledgers that lie in it.
fn open(path: &Path) -> Result<Source> {
    let mut source = Source::open(path)?;
    for (node, folder) in Source::ledger_folders(path) {
        match ledger::peek(&folder) {
            Ok(None) => {}
            Ok(Some(peeked)) => {
                let names = |roster: &runtime::identity::Roster| {
                    roster.members().iter().map(ToString::to_string).collect()
                };
                let members = peeked.roster.as_ref().map_or_else(Vec::new, names);
                source.add_ledger(node, Ledger { records: peeked.records, members });
            }
            Err(LedgerError::InUse { .. }) => {
                eprintln!(
                    "note: a node is running in `{}`; this report is made from its log alone",
                    folder.display()
                );
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(source)
}

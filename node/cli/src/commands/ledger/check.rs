//! `murmur ledger check`: whether the ledger of a node is whole, and the last one.

use std::path::PathBuf;
use std::process::ExitCode;

use runtime::ledger::{self, Checked};
use serde::Serialize;

use crate::failure::{Failure, Result};
use crate::output::{self, Format};

/// Arguments of `murmur ledger check`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder of the node
    #[arg(default_value = "murmur-state", value_name = "STATE")]
    state: PathBuf,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// What was found.
#[derive(Debug, Serialize)]
struct Findings {
    ledger: PathBuf,
    owner: Option<String>,
    /// Records that are whole.
    records: usize,
    /// Of these, those that stand for what an old copy of the folder had forgotten.
    forgotten: u64,
    members: Option<usize>,
    finished: bool,
    /// Records that were counted outside of the folder; `null` where nothing was.
    counted: Option<u64>,
    /// Records that were counted and are not there.
    missing: u64,
}

/// Prints what was found. Exit code 0 for a ledger that is whole and the last one, 1 for an old copy; what is damaged is an error.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let outside = ledger::outside();
    let Some(checked) = ledger::check(&args.state, outside.as_deref())? else {
        let text = format!("there is no ledger in `{}`", args.state.display());
        return Err(Failure::new(text).hint("name the folder of a node: `murmur ledger check DIR`"));
    };
    if !checked.fits(&args.state) {
        let text = format!("the ledger in `{}` is not that of the key beside it", args.state.display());
        return Err(Failure::new(text).hint("put key and ledger of one node together"));
    }
    let findings = Findings::of(checked);
    let text = match args.format {
        Format::Json => output::json(&findings)?,
        Format::Table => findings.text(),
    };
    output::write(None, text.as_bytes())?;
    Ok(if findings.missing == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

impl Findings {
    fn of(checked: Checked) -> Self {
        Self {
            missing: checked.missing(),
            records: checked.peeked.records.len(),
            forgotten: checked.peeked.forgotten,
            members: checked.peeked.roster.as_ref().map(runtime::identity::Roster::len),
            ledger: checked.path,
            owner: checked.owner,
            finished: checked.finished,
            counted: checked.counted,
        }
    }

    fn text(&self) -> String {
        let mut lines = vec![
            format!("ledger     {}", self.ledger.display()),
            format!("of         {}", self.owner.as_deref().unwrap_or("nobody yet")),
            format!("records    {}, each with its number and checksum; every page matches", self.records),
        ];
        if self.forgotten > 0 {
            lines.push(format!(
                "forgotten  {} of them stand for what an old copy had forgotten",
                self.forgotten
            ));
        }
        lines.push(match self.members {
            None => "run        not begun".into(),
            Some(members) => {
                format!("run        {} members, {}", members, if self.finished { "over" } else { "not over" })
            }
        });
        lines.push(match (self.counted, self.missing) {
            (None, _) => "counted    nowhere else: an old copy could not be told".into(),
            (Some(counted), 0) => format!("counted    {counted} outside of the folder: nothing is missing"),
            (Some(counted), missing) => format!(
                "counted    {counted} outside of the folder: this is an old copy, {missing} contributions are missing and count in full"
            ),
        });
        lines.join("\n") + "\n"
    }
}

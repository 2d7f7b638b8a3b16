//! `murmur ledger`: what was spent on each data set, over all runs.

mod check;

use std::process::ExitCode;

use ::report::{Options, Report};
use privacy::number::{Precision, given, raised, up};
use runtime::data_ledger::{DataLedger, Use};
use serde::Serialize;

use super::node::{in_scope, spent};
use super::report;
use crate::failure::Result;
use crate::output::{self, Format};
use crate::table::Table;

const EXAMPLES: &str = "\
Examples:
  murmur ledger                      every data set of this user, with the runs on it
  murmur ledger --format json
  murmur ledger check murmur-state   is the ledger of this node whole, and the last one?

A node that runs with `--data FILE` puts its run down here, under `--data-name NAME` or else the path of the file, before it sends anything.
`murmur node --set budget.total_epsilon=6` refuses a run that the data set's budget no longer allows. `MURMUR_LEDGER=DIR` keeps the ledgers elsewhere.";

/// Arguments of `murmur ledger`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Sub>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Debug, clap::Subcommand)]
enum Sub {
    /// Check the ledger of a node: every page and record, and whether it is the last one that was written
    Check(check::Args),
}

/// One data set.
#[derive(Debug, Serialize)]
struct DataSet {
    data: String,
    /// The sum of the runs' ε: what they cost together for `unit` and towards `scope`.
    epsilon: f64,
    /// The smallest unit of the runs, for which all figures hold; none where some are about persons and some about records.
    unit: Option<String>,
    /// The narrowest scope of the runs, in which all figures hold.
    scope: String,
    /// The sum of their δ.
    delta: f64,
    /// How often the records were others than in the run before.
    changes: usize,
    runs: Vec<Use>,
}

/// Prints the ledgers, or checks one.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if let Some(Sub::Check(args)) = &args.command {
        return check::run(args);
    }
    let ledger = DataLedger::of_user()?;
    let sets: Vec<DataSet> = ledger.all()?.into_iter().map(DataSet::new).collect();
    let text = match args.format {
        Format::Json => output::json(&sets)?,
        Format::Table if sets.is_empty() => {
            format!("nothing was spent yet: no run in `{}`\n", ledger.folder().display())
        }
        Format::Table => sets.iter().map(DataSet::table).collect::<Vec<_>>().join("\n"),
    };
    output::write(None, text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

impl DataSet {
    fn new((data, uses): (String, Vec<Use>)) -> Self {
        let runs: Vec<Use> = uses.into_iter().map(settled).collect();
        let sum = spent(&runs);
        let changes = runs.windows(2).filter(|pair| pair[0].digest != pair[1].digest).count();
        let least = |order: [&str; 3], word: fn(&Use) -> &str| {
            let place = |word: &str| order.iter().position(|known| *known == word);
            runs.iter().map(word).min_by_key(|word| place(word)).unwrap_or_default().to_owned()
        };
        let unit = least(["record", "person", "node"], |used| &used.unit);
        let scope = least(["mean", "worst", "local"], |used| &used.scope);
        let unit = runs.iter().all(|used| used.is_bound_of(&unit, &scope)).then_some(unit);
        Self { data, epsilon: sum.epsilon, unit, scope, delta: sum.delta, changes, runs }
    }

    fn table(&self) -> String {
        let mut table = Table::new(["run", "unit", "scope", "ε", "δ", ""]);
        for used in &self.runs {
            let state = if used.settled { "" } else { "at most: not settled" };
            table.row([
                used.run.clone(),
                used.unit.clone(),
                used.scope.clone(),
                up(used.epsilon, Precision::Digits(4)),
                given(used.delta),
                state.into(),
            ]);
        }
        let (epsilon, delta) =
            (up(self.epsilon, Precision::Digits(4)), given(raised(self.delta, Precision::Digits(4))));
        let together = match &self.unit {
            Some(unit) => format!("together ε = {epsilon} at δ = {delta} (for one {unit}, {})", self.scope),
            None => "no figure together: what a run cost one record and what one cost a person do not add up"
                .into(),
        };
        let changes = match self.changes {
            0 => String::new(),
            1 => "; the records changed once between runs".into(),
            many => format!("; the records changed {many} times between runs"),
        };
        format!("{}\n{}{together}{changes}\n", self.data, table.render())
    }
}

/// A use that is still open, with what its own folder says that it cost; as it is where that cannot be read, or where a node is running there.
pub(crate) fn settled(used: Use) -> Use {
    if used.settled {
        return used;
    }
    let told = || {
        // Without the ledger of the run its log may be short: what it may have cost counts.
        runtime::ledger::peek(&used.state).ok().flatten()?;
        let report = Report::new(&report::open(&used.state).ok()?, &Options::default()).ok()?;
        let [node] = report.nodes.as_slice() else { return None };
        let same = report.config_digest == used.config && node.label == used.identity;
        Some(in_scope(node, &used.scope)).filter(|epsilon| same && epsilon.is_finite())
    };
    match told() {
        Some(epsilon) => Use { epsilon, settled: true, ..used },
        None => used,
    }
}

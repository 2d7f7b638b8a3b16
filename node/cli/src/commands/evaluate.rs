//! `murmur evaluate MODEL DATA`: whether a model is any good, on records that it has not learnt from.

use crate::commands::model::load;
use crate::failure::{Failure, Result};
use crate::output;
use learn::data::{DataSource, LabelUse};
use learn::evaluation::{Evaluation, evaluate};
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  murmur evaluate murmur-state/model.safetensors test.csv
  murmur evaluate murmur-state/model.safetensors patients.csv:split=part       only the rows that say `test`
  murmur evaluate model.safetensors test.csv --format json

These figures are computed from the records and are not covered by any ε: they are for whoever holds the records.";

/// Arguments of `murmur evaluate`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A model of murmur: `model.safetensors`
    model: PathBuf,
    /// Records with what was to be predicted; the model knows how to read them
    #[arg(allow_hyphen_values = true)]
    data: String,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Text for people
    Table,
    /// One JSON object
    Json,
}

/// Reads, judges and shows.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let saved = load(&args.model)?;
    let source: DataSource = args.data.parse()?;
    let data = saved.read(&source, LabelUse::Needed)?;
    let found = evaluate(saved.model.as_ref(), &saved.params, &data)?;
    let text = match args.format {
        Format::Table => table(&found),
        Format::Json => {
            serde_json::to_string_pretty(&found).map_err(|error| Failure::of(error, None))? + "\n"
        }
    };
    output::write(None, text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The figures, one per line.
pub(crate) fn table(found: &Evaluation) -> String {
    let mut text = format!("{:<12}{}\n", "records", found.records);
    let mut row = |name: &str, value: Option<f64>, note: &str| {
        if let Some(value) = value {
            text.push_str(&format!("{name:<12}{value:.4}{note}\n"));
        }
    };
    let common =
        found.base_class.as_ref().map_or_else(String::new, |class| format!("   always answering `{class}`"));
    row("accuracy", found.accuracy, "");
    row("base rate", found.base_rate, &common);
    row("AUC", found.auc, "");
    row("log loss", found.log_loss, "");
    row("calibration", found.calibration, "   mean distance of probabilities from what happened");
    row("rmse", found.rmse, "   in units of the declared bounds");
    row("base rmse", found.base_rmse, "   always answering the mean");
    if let Some(words) = found.in_words() {
        text.push_str(&format!("\nThe model is {words}.\n"));
    }
    text
}

//! `murmur predict MODEL DATA`: what a model says about new records, beside what they are.

use crate::commands::model::load;
use crate::failure::{Failure, Result};
use crate::output;
use learn::data::{DataSource, DecimalSign, LabelUse, RawTable, SourceKind, read_table};
use learn::model::Predictions;
use learn::saved::Saved;
use learn::schema::{Column, Schema};
use protocol::folder;
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  murmur predict murmur-state/model.safetensors new.csv --out scored.csv
  murmur predict murmur-state new.csv --personal                       with this node's own model
  psql clinic -c 'COPY visits TO STDOUT CSV HEADER' | murmur predict model.safetensors -

The model carries its schema: columns are found by name, whatever their order, delimiter or decimal sign.";

/// Arguments of `murmur predict`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A model of murmur: `model.safetensors`, or the folder of a node
    model: PathBuf,
    /// Records; what is to be predicted need not be there
    #[arg(allow_hyphen_values = true)]
    data: String,
    /// Use this node's own model, `personal.safetensors` beside the one named
    #[arg(long)]
    personal: bool,
    /// Write to this file instead of stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Reads, predicts and writes the records with what was predicted.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let saved = load(&path(args)?)?;
    let source: DataSource = args.data.parse()?;
    let data = saved.read(&source, LabelUse::IfThere)?;
    let predictions = saved.predict(&data)?;
    let table = match &source.kind {
        SourceKind::Csv(path, options) => read_table(path, options)?,
        _ => RawTable { names: Vec::new(), rows: vec![Vec::new(); data.len()], decimal: DecimalSign::Point },
    };
    if table.rows.len() != data.len() {
        return Err(Failure::new("the records to predict are not those of the file: leave `split` out"));
    }
    output::write(args.out.as_deref(), &csv_text(&saved, &table, &predictions)?)?;
    Ok(ExitCode::SUCCESS)
}

/// The file of the model that is meant.
fn path(args: &Args) -> Result<PathBuf> {
    let name = if args.personal { folder::PERSONAL } else { folder::MODEL };
    let beside = if args.model.is_dir() { args.model.join(name) } else { args.model.with_file_name(name) };
    if args.personal && !beside.exists() {
        return Err(Failure::new(format!("there is no `{}`", beside.display())).hint(
            "a node makes a model of its own where the run's configuration says `personal.kind = \"proximal\"`",
        ));
    }
    Ok(if args.personal || args.model.is_dir() { beside } else { args.model.clone() })
}

fn csv_text(saved: &Saved, table: &RawTable, predictions: &Predictions) -> Result<Vec<u8>> {
    let written = |error: csv::Error| Failure::of(error, None);
    let mut text = csv::Writer::from_writer(Vec::new());
    let added = column_names(saved, predictions).into_iter().map(|name| free_name(name, &table.names));
    text.write_record(table.names.iter().cloned().chain(added)).map_err(written)?;
    let labels = predictions.labels();
    for (record, row) in table.rows.iter().enumerate() {
        let prediction = match (&labels, predictions) {
            (Some(labels), _) => saved.class_name(labels[record] as usize),
            (None, Predictions::Values(values)) => in_units(saved, values[record]).to_string(),
            (None, _) => String::new(),
        };
        let cells = row.iter().cloned().chain([prediction]).chain(probabilities(predictions, record));
        text.write_record(cells).map_err(written)?;
    }
    text.into_inner().map_err(|error| Failure::new(error.to_string()))
}

fn column_names(saved: &Saved, predictions: &Predictions) -> Vec<String> {
    let classes = match predictions {
        Predictions::Values(_) => 0,
        Predictions::Binary(_) => 2,
        Predictions::Classes { classes, .. } => *classes,
    };
    let of_class = (0..classes).map(|class| format!("probability_{}", saved.class_name(class)));
    std::iter::once("prediction".to_owned()).chain(of_class).collect()
}

/// A column of the file may have the name already.
fn free_name(name: String, taken: &[String]) -> String {
    if taken.contains(&name) { format!("murmur_{name}") } else { name }
}

fn probabilities(predictions: &Predictions, record: usize) -> Vec<String> {
    match predictions {
        Predictions::Values(_) => Vec::new(),
        Predictions::Binary(ones) => vec![(1.0 - ones[record]).to_string(), ones[record].to_string()],
        Predictions::Classes { classes, probabilities } => {
            probabilities[record * classes..(record + 1) * classes].iter().map(f32::to_string).collect()
        }
    }
}

/// A number in the units of its column: models predict it in units 0 to 1.
fn in_units(saved: &Saved, value: f32) -> f32 {
    let bounds = saved.about.schema.as_ref().and_then(Schema::label_column).and_then(Column::bounds);
    bounds.map_or(value, |range| (range.low + f64::from(value) * (range.high - range.low)) as f32)
}

//! `murmur data SOURCE`: what is in a data set, and how it would be divided.

use crate::commands::warnings;
use crate::failure::{Failure, Result};
use crate::output::{self, say};
use crate::table::Table;
use learn::data::{DataError, DataSource, Dataset, Loaded, SourceKind, Task, read_every_row, read_table};
use learn::partition::{Assignment, LabelTable, PartitionSpec};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Sources: digits, breast-cancer, blobs:KEYS, two-clusters:KEYS, mnist:FOLDER, or a CSV, NPY, NPZ, IDX or libsvm
file, plain or gzipped, with keys behind it: patients.csv:label=sick,id=hospital,categorical=sex+region,fill=0

Examples:
  murmur data digits
  murmur data digits --partition dirichlet:alpha=0.5 --nodes 10 --seed 1
  murmur data patients.csv:label=sick,id=patient --schema --out schema.toml
  murmur data heart.csv:label=num,above=0,id=hospital,fill=0 --partition natural --format svg --out skew.svg";

/// What gradients are cut to where nothing else is said: rows far above it want scaling.
const USUAL_CLIP_NORM: f64 = 1.0;

/// Nodes to divide among where nothing says otherwise.
const NODES: usize = 10;

/// Arguments of `murmur data`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A data set by name or file, with keys: `digits`, `blobs:nodes=5`, `file.csv:label=y`
    #[arg(allow_hyphen_values = true)]
    source: String,
    /// How to divide it: iid, shards:per_node=2, dirichlet:alpha=0.5, pathological:classes_per_node=2,
    /// quantity-skew:alpha=0.5, natural; each also with min_size=N
    #[arg(long, value_name = "SCHEME")]
    partition: Option<String>,
    /// Among how many nodes [default: 10; with `natural` one per id]
    #[arg(long)]
    nodes: Option<usize>,
    /// Seed of the division and of synthetic data
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Draft a schema from a table: proposals for a person to confirm. Behind the file: `label=COLUMN,id=PERSON`
    #[arg(long, conflicts_with_all = ["partition", "nodes", "format"])]
    schema: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Write to this file instead of stdout
    #[arg(long)]
    out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Text for people
    Table,
    /// One JSON object
    Json,
    /// A picture of the labels by node
    Svg,
}

/// Loads, divides and shows.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let source: DataSource = args.source.parse()?;
    if args.schema {
        output::write(args.out.as_deref(), draft(&source)?.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let spec = partition_spec(args)?;
    let loaded = source.load(args.seed)?;
    warnings::say(&warnings::of_data(&loaded.train, USUAL_CLIP_NORM));
    let division = spec.map(|spec| Division::new(spec, args, &loaded.train)).transpose()?;
    let text = match (args.format, &division) {
        (Format::Table, _) => table(&source, &loaded, division.as_ref()),
        (Format::Json, _) => json_text(&source, &loaded, division.as_ref())?,
        (Format::Svg, Some(division)) => division.labels.svg(&division.title(&source)),
        (Format::Svg, None) => {
            let failure = Failure::new("there is nothing to draw: `--format svg` shows a partition");
            return Err(failure.hint("add `--partition dirichlet:alpha=0.5` or another scheme"));
        }
    };
    output::write(args.out.as_deref(), text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// A schema of a table, as far as one file tells.
fn draft(source: &DataSource) -> Result<String> {
    let SourceKind::Csv(path, options) = &source.kind else {
        return Err(Failure::new("a schema is for tables with names above their columns: CSV"));
    };
    let table = read_table(path, options)?;
    let file = || path.display().to_string();
    let rows = read_every_row(path, options)?.rows.len();
    if rows > table.rows.len() {
        let (left_out, file) = (rows - table.rows.len(), file());
        say!(
            "warning: {left_out} of {rows} rows have more or fewer fields than `{file}` has columns, and are not in this draft; `murmur data {file}` names them"
        );
    }
    if table.rows.is_empty() {
        return Err(DataError::Empty { file: file() }.into());
    }
    if let Some(column) = table.names.iter().find(|name| twice(&table.names, name)) {
        return Err(DataError::ColumnConflict {
            file: file(),
            column: column.clone(),
            why: "is there twice",
        }
        .into());
    }
    let (label, person) = (options.label.as_deref(), options.id.as_deref());
    for name in [label, person].into_iter().flatten() {
        if !table.names.iter().any(|column| column == name) {
            let (wanted, columns) = (vec![name.to_owned()], table.names.clone());
            return Err(DataError::UnknownColumn { file: file(), wanted, columns }.into());
        }
    }
    Ok(learn::schema::draft(&table, label, person))
}

/// Whether two columns have this name; those without one are not declared.
fn twice(names: &[String], name: &str) -> bool {
    !name.is_empty() && names.iter().filter(|other| other.as_str() == name).count() > 1
}

/// A data set divided among nodes.
struct Division {
    spec: PartitionSpec,
    seed: u64,
    assignment: Assignment,
    labels: LabelTable,
}

impl Division {
    fn new(spec: PartitionSpec, args: &Args, data: &Dataset) -> Result<Self> {
        let nodes = args.nodes.or_else(|| spec.own_nodes(data)).unwrap_or(NODES);
        let assignment = spec.divide(data, nodes, args.seed)?;
        let labels = LabelTable::new(data, &assignment);
        Ok(Self { spec, seed: args.seed, assignment, labels })
    }

    fn title(&self, source: &DataSource) -> String {
        format!("{}: {} over {} nodes, seed {}", source.name(), self.spec, self.assignment.nodes(), self.seed)
    }
}

/// `--nodes` alone asks for an even division.
fn partition_spec(args: &Args) -> Result<Option<PartitionSpec>> {
    match (&args.partition, args.nodes) {
        (Some(text), _) => Ok(Some(text.parse()?)),
        (None, Some(_)) => Ok(Some("iid".parse()?)),
        (None, None) => Ok(None),
    }
}

fn table(source: &DataSource, loaded: &Loaded, division: Option<&Division>) -> String {
    let data = &loaded.train;
    let mut text = String::new();
    let mut row = |name: &str, value: String| text.push_str(&format!("{name:<18}{value}\n"));
    row("source", source.to_string());
    row("records", data.len().to_string());
    if let Some(test) = &loaded.test {
        row("test records", test.len().to_string());
    }
    row("features", data.columns().to_string());
    if let Some(shape) = data.image_shape() {
        row("image", format!("{}×{}", shape.height, shape.width));
    }
    row("target", task_text(data));
    if let Some(ids) = data.group_names() {
        row("ids", ids.len().to_string());
    }
    let (low, high) = value_range(data);
    row("values", format!("{low} to {high}"));
    row("largest row norm", format!("{:.4}", largest_norm(data)));
    match division {
        Some(division) => {
            text.push_str(&format!("\n{}\n\n{}", division.title(source), division.labels.text()));
            if division.assignment.moved() > 0 {
                let moved = division.assignment.moved();
                text.push_str(&format!("{moved} records moved to honour min_size\n"));
            }
        }
        None => text.push_str(&class_table(data)),
    }
    text
}

fn task_text(data: &Dataset) -> String {
    match data.task() {
        Task::Classification { classes: 1 } => "1 class".to_string(),
        Task::Classification { classes } => format!("{classes} classes"),
        Task::Regression => "real".to_string(),
        Task::Unlabelled => "none".to_string(),
    }
}

/// Records per class, or nothing where there are no classes.
fn class_table(data: &Dataset) -> String {
    let mut table = Table::new(["class", "records"]);
    let counts = class_counts(data);
    counts.iter().for_each(|(name, count)| table.row([name.clone(), count.to_string()]));
    if counts.is_empty() { String::new() } else { format!("\n{}", table.render()) }
}

fn class_counts(data: &Dataset) -> Vec<(String, usize)> {
    let (Some(labels), Some(classes)) = (data.labels(), data.classes()) else { return Vec::new() };
    let mut counts = vec![0; classes];
    labels.iter().for_each(|&label| counts[label as usize] += 1);
    let name =
        |class: usize| data.class_names().map_or_else(|| class.to_string(), |names| names[class].clone());
    counts.into_iter().enumerate().map(|(class, count)| (name(class), count)).collect()
}

fn value_range(data: &Dataset) -> (f32, f32) {
    let rows = (0..data.len()).flat_map(|record| data.row(record));
    rows.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &value| (low.min(value), high.max(value)))
}

fn largest_norm(data: &Dataset) -> f64 {
    let square = |record: usize| data.row(record).iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>();
    (0..data.len()).map(square).fold(0.0, f64::max).sqrt()
}

fn json_text(source: &DataSource, loaded: &Loaded, division: Option<&Division>) -> Result<String> {
    let data = &loaded.train;
    let (low, high) = value_range(data);
    let classes: Vec<Value> = class_counts(data)
        .into_iter()
        .map(|(name, records)| json!({ "name": name, "records": records }))
        .collect();
    let task = match data.task() {
        Task::Classification { .. } => "classification",
        Task::Regression => "regression",
        Task::Unlabelled => "unlabelled",
    };
    let value = json!({
        "source": source.to_string(),
        "records": data.len(),
        "test_records": loaded.test.as_ref().map_or(0, Dataset::len),
        "columns": data.columns(),
        "feature_names": data.feature_names(),
        "image": data.image_shape().map(|shape| [shape.height, shape.width]),
        "task": task,
        "classes": classes,
        "ids": data.group_names().map(<[String]>::len),
        "values": [low, high],
        "largest_row_norm": largest_norm(data),
        "partition": division.map(partition_json),
    });
    output::json(&value)
}

fn partition_json(division: &Division) -> Value {
    json!({
        "scheme": division.spec.to_string(),
        "nodes": division.assignment.nodes(),
        "seed": division.seed,
        "moved": division.assignment.moved(),
        "label_skew": division.labels.label_skew(),
        "names": division.labels.nodes,
        "columns": division.labels.columns,
        "counts": division.labels.counts,
        "sizes": division.labels.sizes,
    })
}

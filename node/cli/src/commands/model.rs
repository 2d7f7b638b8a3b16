//! `murmur model`: what is in a saved model, and the same for other programs.

use crate::failure::{Failure, Result};
use crate::output;
use crate::table::Table;
use learn::data::Task;
use learn::export;
use learn::saved::Saved;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  murmur model show murmur-state/model.safetensors
  murmur model export murmur-state/model.safetensors --format onnx --out model.onnx
  murmur model export murmur-state/model.safetensors --format sklearn --out model.json     and model.py, which loads it";

/// Arguments of `murmur model`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, clap::Subcommand)]
enum Sub {
    /// Print what a model was made for and, for linear models, its coefficients by name
    Show(ShowArgs),
    /// Write a model for onnxruntime or scikit-learn
    Export(ExportArgs),
}

#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// A model of murmur: `model.safetensors`
    model: PathBuf,
    /// What to print
    #[arg(long, value_enum, default_value_t = ShowFormat::Table)]
    format: ShowFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ShowFormat {
    /// Text for people
    Table,
    /// One JSON object
    Json,
}

#[derive(Debug, clap::Args)]
struct ExportArgs {
    /// A model of murmur: `model.safetensors`
    model: PathBuf,
    /// For whom
    #[arg(long, value_enum)]
    format: ExportFormat,
    /// Where to write it
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ExportFormat {
    /// One file for onnxruntime and whatever else reads ONNX
    Onnx,
    /// JSON, and beside it a Python file that makes a scikit-learn pipeline of it, without pickle
    Sklearn,
}

/// Shows or exports.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    match &args.command {
        Sub::Show(args) => show(args)?,
        Sub::Export(args) => export_to(args)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A model with what it was made for.
pub(crate) fn load(path: &Path) -> Result<Saved> {
    Ok(Saved::load(path)?)
}

fn show(args: &ShowArgs) -> Result<()> {
    let saved = load(&args.model)?;
    let text = match args.format {
        ShowFormat::Json => {
            let value = serde_json::json!({
                "kind": saved.model.kind(),
                "parameters": saved.params.len(),
                "round": saved.info.round,
                "config_digest": saved.info.config_digest,
                "guarantee": saved.info.guarantee,
                "about": saved.about.entries(),
                "coefficients": coefficients(&saved).into_iter().map(|row| serde_json::json!({
                    "feature": row.feature, "class": row.class, "value": row.value,
                })).collect::<Vec<_>>(),
            });
            serde_json::to_string_pretty(&value).map_err(|error| Failure::of(error, None))? + "\n"
        }
        ShowFormat::Table => table(&saved),
    };
    output::write(None, text.as_bytes())
}

fn table(saved: &Saved) -> String {
    let about = &saved.about;
    let predicts = match about.task {
        Task::Classification { classes } => {
            (0..classes).map(|class| saved.class_name(class)).collect::<Vec<_>>().join(", ")
        }
        Task::Regression => "a number".into(),
        Task::Unlabelled => "nothing".into(),
    };
    let mut text = String::new();
    let mut row = |name: &str, value: String| text.push_str(&format!("{name:<12}{value}\n"));
    row("model", format!("{}, {} parameters", saved.model.kind(), saved.params.len()));
    row("run", about.facts.get("run").cloned().unwrap_or_else(|| "not known".into()));
    row("round", saved.info.round.to_string());
    row("inputs", about.inputs.to_string());
    row("predicts", predicts);
    let label = about.schema.as_ref().and_then(|schema| schema.label.as_ref());
    row("label", label.map_or_else(|| "not known".into(), |label| label.column.clone()));
    row(
        "columns",
        if about.schema.is_some() { "declared by a schema" } else { "as the data were read" }.into(),
    );
    row("guarantee", saved.info.guarantee.clone());
    row("digest", saved.info.config_digest.clone());
    let rows = coefficients(saved);
    if !rows.is_empty() {
        let mut table = Table::new(["coefficient", "class", "value"]);
        rows.into_iter().for_each(|row| table.row([row.feature, row.class, format!("{:.4}", row.value)]));
        text.push_str(&format!(
            "\n{}\nPer unit of scaled features: 0 to 1 between declared bounds.\n",
            table.render()
        ));
    }
    text
}

struct Coefficient {
    feature: String,
    class: String,
    value: f32,
}

/// Of models with one layer, in the order of the features.
fn coefficients(saved: &Saved) -> Vec<Coefficient> {
    let tensors = saved.model.tensors();
    let [weight, bias] = tensors.as_slice() else { return Vec::new() };
    let (outputs, inputs) = (bias.count(), saved.about.inputs);
    if weight.shape != [outputs, inputs] {
        return Vec::new();
    }
    let class = |output: usize| match (saved.about.task, outputs) {
        (Task::Classification { .. }, 1) => saved.class_name(1),
        (Task::Classification { .. }, _) => saved.class_name(output),
        _ => String::new(),
    };
    let name = |input: usize| saved.about.features.get(input).cloned().unwrap_or_else(|| input.to_string());
    let (weights, biases) = saved.params.split_at(weight.count());
    let of_output = |output: usize| {
        let own = (0..inputs).map(move |input| (name(input), weights[output * inputs + input]));
        let all = own.chain([("(constant)".to_owned(), biases[output])]).collect::<Vec<_>>();
        let class = class(output);
        all.into_iter().map(move |(feature, value)| Coefficient { feature, class: class.clone(), value })
    };
    (0..outputs).flat_map(of_output).collect()
}

fn export_to(args: &ExportArgs) -> Result<()> {
    let saved = load(&args.model)?;
    let cannot = |error: export::ExportError| {
        Failure::of(
            error,
            Some("linear models and perceptrons can be; any model can be read from its safetensors".into()),
        )
    };
    match args.format {
        ExportFormat::Onnx => output::write(Some(&args.out), &export::onnx(&saved).map_err(cannot)?),
        ExportFormat::Sklearn => {
            let value = export::sklearn(&saved).map_err(cannot)?;
            let text = serde_json::to_string(&value).map_err(|error| Failure::of(error, None))?;
            output::write(Some(&args.out), text.as_bytes())?;
            output::write(Some(&args.out.with_extension("py")), export::PYTHON.as_bytes())
        }
    }
}

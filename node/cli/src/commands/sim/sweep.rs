//! Several runs: a table with mean ± spread, or all results as JSON.

use std::process::ExitCode;

use protocol::RunResult;
use protocol::config::Layer;
use serde_json::{Value, json};
use sim::Options;
use sim::sweep::{Axis, Figures, Sweep};

use super::kept::{self, Folders, Stopped};
use super::{Args, Format, plot, report};
use crate::failure::{Failure, Result};
use crate::output;
use crate::progress;

pub(super) fn run(args: &Args, layers: &[Layer], axes: &[Axis]) -> Result<ExitCode> {
    let sweep = Sweep::new(layers, axes, args.seeds.unwrap_or(1))?;
    let bar = progress::bar(sweep.runs.len() as u64, "runs");
    let results = match &args.out {
        Some(parent) => {
            let keeper = Folders { parent, sweep: &sweep, told: || bar.inc(1) };
            sweep.run(args.threads, &Options::default(), &keeper).map_err(|Stopped(failure)| failure)
        }
        None => sweep.run(args.threads, &Options::default(), &Figures(|| bar.inc(1))).map_err(Failure::from),
    };
    bar.finish_and_clear();
    let results = results?;
    if let Some(parent) = &args.out {
        kept::write_table(parent, &sweep, &results)?;
    }
    let summaries = sweep.summary(&results);
    let text = match args.format {
        Format::Table => {
            let keys: Vec<String> = axes.iter().map(|axis| axis.key.clone()).collect();
            report::sweep_table(&keys, &summaries)
        }
        Format::Json => {
            output::json(&json!({ "runs": runs(&sweep, &results)?, "summary": set_as_objects(&summaries)? }))?
        }
        Format::Svg => plot::svg(&summaries).ok_or_else(|| {
            Failure::new("there is no accuracy to draw").hint("`--format table` shows what there is")
        })?,
    };
    output::write(None, text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Every result with the values that it was run with.
fn runs(sweep: &Sweep, results: &[RunResult]) -> Result<Vec<Value>> {
    let one = |(planned, result): (&sim::sweep::Planned, &RunResult)| {
        let mut value = serde_json::to_value(result).map_err(|error| Failure::of(error, None))?;
        value["set"] = object(&sweep.points[planned.point].0);
        Ok(value)
    };
    sweep.runs.iter().zip(results).map(one).collect()
}

fn set_as_objects(summaries: &[sim::sweep::Summary]) -> Result<Vec<Value>> {
    let one = |summary: &sim::sweep::Summary| {
        let mut value = serde_json::to_value(summary).map_err(|error| Failure::of(error, None))?;
        value["set"] = object(&summary.set.0);
        Ok(value)
    };
    summaries.iter().map(one).collect()
}

fn object(pairs: &[(String, String)]) -> Value {
    Value::Object(pairs.iter().map(|(key, text)| (key.clone(), value(text))).collect())
}

/// Numbers as numbers, so that other programs see amounts and not names; `inf`, which JSON has no number for, stays a text.
fn value(text: &str) -> Value {
    serde_json::from_str(text)
        .ok()
        .filter(|value: &Value| value.is_number() || value.is_boolean())
        .unwrap_or_else(|| Value::String(text.trim_matches(['"', '\'']).to_owned()))
}

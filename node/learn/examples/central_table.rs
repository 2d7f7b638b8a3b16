//! Writes docs/CENTRAL.md: accuracy of central DP-SGD against ε, with seeds and spread.
//!
//!     cargo run --release -p murmuration-learn --example central_table [-- --only NAME]
//!
//! With `--only` the row is printed and no file is written. Sets whose files are not in `../shared/data` beside the
//! repository are named and left out.

#![allow(clippy::print_stdout, reason = "progress is the output")]

#[path = "../tests/recipes/mod.rs"]
mod recipes;

use std::fmt::Write;
use std::path::Path;

use learn::data::Dataset;
use learn::metrics::MeanSpread;
use recipes::{DELTA, Recipe};

const EPSILONS: [f64; 6] = [0.5, 1.0, 2.0, 4.0, 8.0, f64::INFINITY];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let only = match arguments.as_slice() {
        [] => None,
        [flag, name] if flag == "--only" => Some(name.as_str()),
        _ => return Err("usage: central_table [--only NAME]".into()),
    };
    let mut rows = String::new();
    let mut settings = String::new();
    for recipe in recipes::all().iter().filter(|recipe| only.is_none_or(|name| recipe.name == name)) {
        let Some(row) = table_row(recipe)? else {
            println!("left out: {} (its files are not in ../shared/data)", recipe.name);
            continue;
        };
        println!("{row}");
        writeln!(rows, "{row}")?;
        writeln!(settings, "{}", settings_row(recipe)?)?;
    }
    if only.is_none() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/CENTRAL.md");
        std::fs::create_dir_all(path.parent().expect("the file lies in a folder"))?;
        std::fs::write(&path, page(&rows, &settings))?;
        println!("written: docs/CENTRAL.md");
    }
    Ok(())
}

/// Accuracy at every ε, or `None` where the data are missing.
fn table_row(recipe: &Recipe) -> Result<Option<String>, Box<dyn std::error::Error>> {
    let mut columns = Vec::new();
    let mut data: Vec<(Dataset, Dataset)> = Vec::new();
    for seed in 0..recipe.seeds {
        let Some(parts) = recipe.load(seed)? else { return Ok(None) };
        data.push(parts);
    }
    for epsilon in EPSILONS {
        let scores: Result<Vec<f64>, _> = (0..)
            .zip(&data)
            .map(|(seed, (train, test))| recipe.accuracy_on(train, test, epsilon, seed))
            .collect();
        let MeanSpread { mean, spread, .. } = MeanSpread::of(&scores?)?;
        columns.push(format!("{:.1} ± {:.1}", 100.0 * mean, 100.0 * spread));
    }
    let (train, test) = &data[0];
    let sizes = format!("{} / {}", train.len(), test.len());
    Ok(Some(format!("| {} | {} | {} |", recipe.name, sizes, columns.join(" | "))))
}

fn settings_row(recipe: &Recipe) -> Result<String, Box<dyn std::error::Error>> {
    let (train, _) = recipe.load(0)?.ok_or("the row was made from these data")?;
    let model = recipe.model.build(&train)?;
    let noise = |epsilon| recipe.training(train.len(), epsilon).map(|training| training.noise_multiplier);
    Ok(format!(
        "| {} | {} ({}) | {:.0} | {} / {} | {} | {} | {} | {:.2} / {:.2} | {} |",
        recipe.name,
        model.kind(),
        model.parameter_count(),
        recipe.batch.min(train.len() as f64),
        recipe.steps,
        recipe.plain_steps,
        recipe.clip,
        recipe.step_size,
        recipe.momentum,
        noise(2.0)?,
        noise(8.0)?,
        recipe.seeds,
    ))
}

fn page(rows: &str, settings: &str) -> String {
    format!(
        "# Central DP-SGD: the reference

What a trusted curator who holds all records can reach. Test accuracy in per cent, mean ± standard deviation over seeds
(of the split, the samples and the noise), at record level, δ = {DELTA:e}; ε = ∞ is training without noise
(and with more steps, which then cost nothing).
Made by `cargo run --release -p murmuration-learn --example central_table`; sets that are not built in are read from
`../shared/data` beside the repository.

| data | train / test | ε = 0.5 | ε = 1 | ε = 2 | ε = 4 | ε = 8 | ε = ∞ |
|---|---|---|---|---|---|---|---|
{rows}
## Settings

One setting per row: only the noise changes with ε. Steps fall linearly to zero. Noise is calibrated by privacy-loss
distributions (exact Gaussian composition where the batch is all records); the column shows the multiplier at ε = 2
and ε = 8. Features are brought to units by declared bounds; settings were chosen by hand on these
sets, and that choice is not part of ε.

| data | model (parameters) | batch | steps private / plain | clip | step size | momentum | noise at ε = 2 / 8 | seeds |
|---|---|---|---|---|---|---|---|---|
{settings}"
    )
}

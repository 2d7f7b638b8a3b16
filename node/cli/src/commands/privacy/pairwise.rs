//! `murmur privacy pairwise`: who learns how much about whom?

use super::model::{Model, ModelArgs};
use super::priced::{Noise, NoiseArgs, Priced};
use super::{heat_map, summary};
use crate::failure::{Failure, Result};
use crate::output;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `murmur privacy pairwise`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,

    #[command(flatten)]
    noise: NoiseArgs,

    /// `table` sums up by distance; `json` and `csv` have every pair; `npy` is the matrix of μ² (watchers × nodes, NaN for oneself);
    /// `svg` is a heat map, or with one watcher the graph coloured by ε
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// Write to this file instead of the terminal; it is replaced only when everything is ready
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  murmur privacy pairwise --topology karate --steps 4 --analysis rounds
  murmur privacy pairwise --topology karate --steps 4 --analysis rounds --message-noise 0.1
  murmur privacy pairwise --schedule shuffled-doubling --nodes 64 --rounds 100 --sigma 5 --analysis rounds
  murmur privacy pairwise --topology hypercube:64 --rounds 20 --analysis contractive --method riccati --watcher 0
  murmur privacy pairwise --topology karate --analysis rounds --steps 3 --coalition 0,33 --format svg --out pairs.svg";

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Table,
    Json,
    Csv,
    Npy,
    Svg,
}

/// Prices the model and prints it.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let model = args.model.model()?;
    let noise = args.noise.noise();
    let priced = model.priced(noise)?;
    let bytes = match args.format {
        Format::Table => summary::table(&model, &priced, noise).into_bytes(),
        Format::Json => json(&model, &priced, noise)?,
        Format::Csv => csv(&model, &priced)?,
        Format::Npy => npy(&model, &priced),
        Format::Svg => heat_map::picture(&model, &priced, noise)?.into_bytes(),
    };
    output::write(args.out.as_deref(), &bytes)?;
    Ok(ExitCode::SUCCESS)
}

fn json(model: &Model, priced: &Priced, noise: Noise) -> Result<Vec<u8>> {
    let members: Vec<usize> =
        model.coalitions.iter().flat_map(|watchers| watchers.members().to_vec()).collect();
    let head = serde_json::json!({
        "analysis": model.analysis.name(), "method": model.method, "nodes": model.nodes, "steps": model.steps, "rounds": model.rounds,
        "sigma": noise.sigma, "sensitivity": noise.sensitivity, "delta": noise.delta, "message_noise": model.message_noise,
        "guarantee": model.guarantee(), "assumes": model.assumes(), "watchers": members,
    });
    let head = serde_json::to_string(&head).map_err(|error| Failure::of(error, None))?;
    let mut bytes = head.trim_end_matches('}').as_bytes().to_vec();
    let tables = [
        ("mu2", Some(&priced.mu2)),
        ("epsilon", Some(&priced.epsilon)),
        ("mu2_margin_95", priced.margin.as_ref()),
        ("renyi_2_upper_95", priced.renyi_2.as_ref()),
    ];
    for (name, table) in tables.into_iter().filter_map(|(name, table)| Some((name, table?))) {
        write!(bytes, ",\"{name}\":[")?;
        for (at, row) in table.iter().enumerate() {
            bytes.extend_from_slice(if at == 0 { b"[" } else { b",[" });
            let watchers = &model.coalitions[at];
            for (node, value) in row.iter().enumerate() {
                if node > 0 {
                    bytes.push(b',');
                }
                let shown = (!watchers.contains(node)).then_some(value);
                serde_json::to_writer(&mut bytes, &shown).map_err(|error| Failure::of(error, None))?;
            }
            bytes.push(b']');
        }
        bytes.push(b']');
    }
    bytes.extend_from_slice(b"}\n");
    Ok(bytes)
}

fn csv(model: &Model, priced: &Priced) -> Result<Vec<u8>> {
    let mut bytes = b"watcher,source,distance,mu2,epsilon,analysis\n".to_vec();
    let analysis = model.analysis;
    for (row, watchers) in model.coalitions.iter().enumerate() {
        let names: Vec<String> = watchers.members().iter().map(usize::to_string).collect();
        let name = names.join("+");
        let distances = model.distances(watchers);
        for node in (0..model.nodes).filter(|&node| !watchers.contains(node)) {
            let distance = distances
                .as_ref()
                .and_then(|distances| distances[node])
                .map_or(String::new(), |d| d.to_string());
            let (mu2, epsilon) = (priced.mu2[row][node], priced.epsilon[row][node]);
            writeln!(bytes, "{name},{node},{distance},{mu2:?},{epsilon:?},{analysis}")?;
        }
    }
    Ok(bytes)
}

/// NumPy's format 1.0: a magic number, a padded header, the values.
fn npy(model: &Model, priced: &Priced) -> Vec<u8> {
    let shape = (priced.mu2.len(), model.nodes);
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", shape.0, shape.1);
    let padding = 64 - (10 + header.len() + 1) % 64;
    let length = (header.len() + padding % 64 + 1) as u16;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(length.to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(std::iter::repeat_n(b' ', padding % 64));
    bytes.push(b'\n');
    for (row, watchers) in priced.mu2.iter().zip(&model.coalitions) {
        let shown = |(node, mu2): (usize, &f64)| if watchers.contains(node) { f64::NAN } else { *mu2 };
        row.iter().enumerate().map(shown).for_each(|value| bytes.extend(value.to_le_bytes()));
    }
    bytes
}

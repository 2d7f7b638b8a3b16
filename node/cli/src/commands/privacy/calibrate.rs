//! `murmur privacy calibrate`: how much noise for a target?

use super::model::{ModelArgs, Protocol};
use super::numbers::{not_negative, plain, positive, probability, rounded_up};
use super::priced::Noise;
use super::summary::Summary;
use crate::failure::{Failure, Result};
use crate::output::{self, Format};
use ::privacy::network::calibrate::{Target, per_node_sigma, sigma};
use ::privacy::network::{Analysis, Pricing};
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

/// Arguments of `murmur privacy calibrate`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The ε to meet
    #[arg(long, value_name = "E", value_parser = not_negative, allow_hyphen_values = true)]
    epsilon: f64,

    /// The δ to meet it at
    #[arg(long, value_name = "D", value_parser = probability, allow_hyphen_values = true)]
    delta: f64,

    /// Which loss is to meet it: worst, mean, pNN (a quantile such as p95), or pair:u,v (what v learns about u)
    #[arg(long, value_name = "WHICH", default_value = "worst")]
    of: Of,

    /// Noise for each node of its own, so that those who are seen less add less (rounds only, worst pair)
    #[arg(long)]
    per_node: bool,

    #[command(flatten)]
    model: ModelArgs,

    /// Largest change (L2) of a contribution when the protected data change
    #[arg(long, value_name = "Δ", value_parser = positive, allow_hyphen_values = true, default_value = "1")]
    sensitivity: f64,

    /// What to print: `table` for people, `json` for programs
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// Write to this file instead of the terminal
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  murmur privacy calibrate --epsilon 1 --delta 1e-5 --schedule shuffled-doubling --nodes 64 --rounds 100 --analysis rounds
  murmur privacy calibrate --epsilon 1 --delta 1e-5 --of mean --topology torus:8x8 --rounds 50 --analysis contractive
  murmur privacy calibrate --epsilon 2 --delta 1e-6 --of pair:3,0 --topology karate --steps 4 --analysis rounds";

/// [`Target`] as a flag, with the words that named it.
#[derive(Debug, Clone)]
struct Of {
    target: Target,
    name: String,
}

impl FromStr for Of {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let target = match text {
            "worst" => Some(Target::Worst),
            "mean" => Some(Target::Mean),
            _ => text.strip_prefix("pair:").map_or_else(|| quantile(text), pair),
        };
        let target = target.ok_or("must be worst, mean, pNN with NN between 0 and 100, or pair:u,v")?;
        Ok(Self { target, name: text.to_owned() })
    }
}

fn quantile(text: &str) -> Option<Target> {
    let percent: f64 = text.strip_prefix('p')?.parse().ok()?;
    (0.0..=100.0).contains(&percent).then_some(Target::Quantile(percent / 100.0))
}

fn pair(text: &str) -> Option<Target> {
    let (source, watcher) = text.split_once(',')?;
    Some(Target::Pair { source: source.trim().parse().ok()?, watcher: watcher.trim().parse().ok()? })
}

/// Finds the noise and prints it.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let model = args.model.model()?;
    if model.analysis == Analysis::Published {
        return Err(Failure::new("a published figure is no guarantee, so no noise is calibrated to it")
            .hint("use --analysis rounds or contractive"));
    }
    let unit = model.unit_losses()?;
    let unit_mu2 = args.of.target.of(&unit, &model.coalitions)?;
    let sigma = sigma(unit_mu2, args.epsilon, args.delta, args.sensitivity)?;
    let sigmas = if args.per_node { Some(per_node(args, &model)?) } else { None };
    let noise = Noise { sigma, sensitivity: args.sensitivity, delta: args.delta };
    let summary = Summary::of(&model, &model.converted(unit, noise)?);
    let text = match args.format {
        Format::Json => json(args, &model, (sigma, unit_mu2, sigmas), &summary)?,
        Format::Table => table(args, &model, (sigma, sigmas), &summary),
    };
    output::write(args.out.as_deref(), text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn per_node(args: &Args, model: &super::model::Model) -> Result<Vec<f64>> {
    match &model.protocol {
        Protocol::Mixing { run, pricing: Pricing::Rounds } if args.of.target == Target::Worst => {
            Ok(per_node_sigma(run, &model.coalitions, (args.epsilon, args.delta), args.sensitivity)?)
        }
        _ => Err(Failure::new(
            "--per-node is for --analysis rounds without message noise and for the worst pair",
        )),
    }
}

type Found = (f64, f64, Option<Vec<f64>>);

fn json(args: &Args, model: &super::model::Model, found: Found, summary: &Summary) -> Result<String> {
    let (sigma, unit_mu2, sigmas) = found;
    let mut value = serde_json::json!({
        "sigma": sigma, "of": args.of.name, "epsilon": args.epsilon, "delta": args.delta, "sensitivity": args.sensitivity,
        "unit_mu2": unit_mu2, "analysis": model.analysis.name(), "method": model.method, "nodes": model.nodes, "steps": model.steps,
        "rounds": model.rounds, "message_noise": model.message_noise, "guarantee": model.guarantee(), "assumes": model.assumes(),
        "worst": summary.worst.map(|(_, _, epsilon)| epsilon), "mean": summary.all.mean(),
    });
    if let Some(sigmas) = sigmas {
        value["sigmas"] = serde_json::json!(sigmas);
    }
    output::json(&value)
}

fn table(
    args: &Args,
    model: &super::model::Model,
    (sigma, sigmas): (f64, Option<Vec<f64>>),
    summary: &Summary,
) -> String {
    let worst = summary.worst.map_or(0.0, |(_, _, epsilon)| epsilon);
    let mut text = format!(
        "σ = {} for ε = {} at δ = {} of {} (analysis {}, Δ = {})\nwith it  worst pair ε = {}, mean ε = {}\n",
        rounded_up(sigma),
        plain(args.epsilon),
        plain(args.delta),
        args.of.name,
        model.analysis,
        plain(args.sensitivity),
        rounded_up(worst),
        rounded_up(summary.all.mean()),
    );
    if let Some(sigmas) = sigmas {
        let shown: Vec<String> = sigmas.iter().map(|sigma| rounded_up(*sigma)).collect();
        text.push_str(&format!("σ per node instead: {}\n", shown.join(" ")));
    }
    text.push_str(&format!("Guarantee: {}\nAssumes: {}\n", model.guarantee(), model.assumes()));
    text
}

//! `murmur trainer check CMD`: whether a program keeps the trainer protocol, in any language.

use crate::failure::Result;
use crate::output;
use crate::output::say;
use privacy::clip::ClipNorm;
use privacy::noise::{NoiseSource, danger_from_seed};
use protocol::config::Config;
use protocol::work::external::{Ask, Kind, Occasion, TOLERANCE, Trainer, Trouble, probe};
use runtime::trainer::{Command, Process};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use topology::Hint;

const EXAMPLES: &str = "\
Examples:
  murmur trainer check 'python3 trainer.py --data patients.csv'
  murmur trainer check 'unshare -rn -- python3 trainer.py'     without a network: a trainer needs none

Starts the program as a node would and asks it as a node would: its hello, every answer that it offers, the probes that must not
make a difference, and whether it is the same after a restart. Exit code 1 if something failed.";

/// Arguments of `murmur trainer`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, clap::Subcommand)]
enum Sub {
    /// Check whether a program keeps the trainer protocol
    Check(CheckArgs),
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
struct CheckArgs {
    /// The command as for `murmur node --trainer`, in quotes
    #[arg(value_name = "CMD")]
    trainer: Command,
    /// How long it may take for one answer, in seconds
    #[arg(long, default_value_t = 60.0, value_name = "SECONDS")]
    patience: f64,
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let Sub::Check(args) = &args.command;
    let limit = Duration::try_from_secs_f64(args.patience).unwrap_or(Duration::MAX / 4);
    // That of a run is not known here: the default.
    let clip = ClipNorm::new(Config::default().privacy.clip_norm)?;
    let mut process = Process::start(args.trainer.clone(), limit)?;
    let mut findings = Findings::default();
    let hello = process.hello().clone();
    let answers = hello.answers.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
    let (parameters, tensors) = (hello.parameters(), hello.tensors.len());
    findings.ok(
        "hello",
        &format!("{} records, {parameters} parameters in {tensors} tensors, offers {answers}", hello.records),
    );
    process.begin();
    for (name, params) in models(parameters) {
        for &kind in &hello.answers {
            process.begin();
            let begun = Instant::now();
            let done = check(&mut process, kind, &params, clip);
            findings.add(
                kind.name(),
                done.map(|()| format!("at {name}, {:.0} ms", begun.elapsed().as_secs_f64() * 1e3)),
            );
        }
    }
    let (_, params) = models(parameters).into_iter().last().unwrap_or_default();
    if let Some(&kind) = hello.answers.iter().find(|kind| **kind != Kind::Sum) {
        findings.add("restart", restart(&mut process, kind, &params));
    }
    findings.print()
}

/// Zeros, and a point away from them.
fn models(parameters: usize) -> Vec<(&'static str, Vec<f32>)> {
    let mut random = vec![0.0; parameters];
    danger_from_seed(1, "trainer check").standard_normals_f32(&mut random);
    random.iter_mut().for_each(|value| *value *= 0.1);
    vec![("zeros", vec![0.0; parameters]), ("random parameters", random)]
}

fn check(
    process: &mut Process,
    kind: Kind,
    params: &[f32],
    clip: ClipNorm,
) -> std::result::Result<(), Trouble> {
    let seed = 20;
    if kind != Kind::Update {
        return probe(process, kind, Occasion { round: 0, seed, params, clip });
    }
    process.answer(&Ask { kind, round: 0, seed, records: &[], params, factors: &[] }).map(|_| ())
}

/// A trainer that was started anew says the same hello, and gives the same rows.
fn restart(process: &mut Process, kind: Kind, params: &[f32]) -> std::result::Result<String, Trouble> {
    let records: &[u32] = if kind == Kind::Update { &[] } else { &[0] };
    let ask = Ask { kind, round: 0, seed: 21, records, params, factors: &[] };
    process.begin();
    let before = process.answer(&ask)?;
    process.end();
    process.begin();
    let after = process.answer(&ask)?;
    let square = |x: f32| f64::from(x) * f64::from(x);
    let apart: f64 = before.numbers.iter().zip(&after.numbers).map(|(a, b)| square(a - b)).sum();
    let length: f64 = before.numbers.iter().map(|&a| square(a)).sum();
    let same = apart.sqrt() <= TOLERANCE * length.sqrt();
    Ok(match (same, kind) {
        (true, _) => "the same hello, the same answer".into(),
        (false, Kind::Update) => "the same hello; another update, which is allowed".into(),
        (false, _) => return Err(Trouble::Changed),
    })
}

/// What was found, line by line.
#[derive(Default)]
struct Findings {
    lines: Vec<String>,
    hints: Vec<String>,
}

impl Findings {
    fn ok(&mut self, what: &str, text: &str) {
        self.lines.push(format!("ok      {what:<8} {text}"));
    }

    fn add(&mut self, what: &str, found: std::result::Result<String, Trouble>) {
        match found {
            Ok(text) => self.ok(what, &text),
            Err(trouble) => {
                self.lines.push(format!("failed  {what:<8} {trouble}"));
                self.hints.extend(trouble.hint().filter(|hint| !self.hints.contains(hint)));
            }
        }
    }

    fn print(&self) -> Result<ExitCode> {
        let failed = self.lines.iter().filter(|line| line.starts_with("failed")).count();
        let mut text = self.lines.join("\n");
        match failed {
            0 => text.push_str("\nThis program keeps the trainer protocol, version 1.\n"),
            count => text.push_str(&format!("\n{count} of {} checks failed.\n", self.lines.len())),
        }
        output::write(None, text.as_bytes())?;
        self.hints.iter().for_each(|hint| say!("hint: {hint}"));
        Ok(ExitCode::from(u8::from(failed > 0)))
    }
}

//! `murmur ask`: statistics over everybody's data, with the guarantee, the price and the error shown before anything is spent.

mod args;
mod csv;
mod data;
mod declared;
mod json;
pub(crate) mod model;
mod picture;
mod swarm;
mod table;

use crate::output::say;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

pub(crate) use args::Args;
use args::Format;
pub(crate) use data::Table;
pub(crate) use declared::declared_columns;
use learn::data::{CsvOptions, DataError};
use learn::schema::Schema;
use model::Model;
use privacy::noise::{NoiseSource, SystemNoise, danger_from_seed};
use questions::answer::Answers;
use questions::columns::{Columns, Row};
use questions::contribution::chosen;
use questions::language::parse;
use questions::noise::{Terms, Trust, Unit};
use questions::plan::{QuestionPlan, plan};
use questions::refusal::Refusal;
use questions::simulate::simulate;
pub(crate) use swarm::Swarm;

use crate::failure::{Failure, Result};
use crate::output;

/// δ of a simulation where nothing is said.
const DELTA: f64 = 1e-5;

/// Members below which a sum hides nobody.
const LEAST_MEMBERS: u64 = 3;

/// Plans, asks whether to go on, answers.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    args.check()?;
    if let Some(path) = &args.swarm {
        return swarm::run(args, path);
    }
    let given = match (&args.schema, &args.model) {
        (Some(path), Some(_)) => Some(Schema::load(path).map_err(DataError::from)?),
        _ => None,
    };
    let model = Model::of(args, given.as_ref())?;
    let of_file = match &model {
        Some(model) => model.file_columns(args)?,
        None => declared::columns(args)?,
    };
    let (columns, text) = match &model {
        Some(model) => (model.judged.columns(&of_file)?, model.question(args)),
        None => (of_file.clone(), args.question.clone()),
    };
    // Everything that the text alone can get wrong is said before the records are opened.
    let question = parse(&text, &columns)?;
    let Some(file) = &args.try_file else {
        let failure = Failure::new("nobody is named who could answer");
        return Err(failure.hint(
            "ask a running swarm with `--swarm FILE`, or try the question on a file of your own: `--try FILE --nodes 64`",
        ));
    };
    let mut data = data::Table::read(file, &CsvOptions::default(), &of_file, args.by.as_deref())?;
    if let Some(model) = &model {
        data = data.judged(&model.judged, &model.exam(args, file)?);
    }
    let nodes = data.divide(args);
    let terms = terms(args, nodes.len() as u64, columns.person.as_deref())?;
    let records = args.expect.unwrap_or(data.records() as u64);
    let plan = plan(question, terms, records)?;
    if args.plan {
        return show_plan(args, &plan, args.total());
    }
    if !args.yes && !confirmed(&plan, args.total())? {
        say!("nothing was asked and nothing was spent");
        return Ok(ExitCode::from(1));
    }
    let counted = counted(&data, &nodes, terms.unit, args.seed);
    let answers = answered(args, &plan, &counted)?;
    write(args, (&plan, &answers), (args.epsilon, args.total() - args.epsilon))
}

fn terms(args: &Args, contributors: u64, person: Option<&str>) -> Result<Terms> {
    let trust = args.trust();
    if trust != Trust::Local && contributors < LEAST_MEMBERS {
        return Err(Refusal::TooFewContributors { found: contributors, needed: LEAST_MEMBERS }.into());
    }
    let colluders = args.colluders.unwrap_or_else(|| (contributors.saturating_sub(1) / 3).max(1));
    let honest = match trust {
        Trust::Masked => contributors.saturating_sub(colluders),
        Trust::Gossip | Trust::Local => contributors,
    };
    if args.epsilon > args.total() {
        let rule = "questions.total".to_owned();
        return Err(Refusal::OverRule { asked: args.epsilon, rule, limit: args.total() }.into());
    }
    Ok(Terms {
        epsilon: args.epsilon,
        delta: args.delta.unwrap_or(DELTA),
        contributors,
        honest,
        trust,
        unit: args.unit(person)?,
    })
}

/// The records that count at each node: all, one of each person, or at most so many.
fn counted<'a>(data: &'a data::Table, nodes: &[Vec<usize>], unit: Unit, seed: u64) -> Vec<Vec<&'a Row>> {
    let of_node = |(at, records): (usize, &Vec<usize>)| {
        let persons =
            data.persons().map(|persons| records.iter().map(|&i| persons[i].clone()).collect::<Vec<_>>());
        let key = format!("{seed}/{at}");
        let kept = chosen(records.len(), persons.as_deref(), unit, key.as_bytes());
        kept.into_iter().map(|i| data.row(records[i])).collect()
    };
    nodes.iter().enumerate().map(of_node).collect()
}

fn answered(args: &Args, plan: &QuestionPlan, nodes: &[Vec<&Row>]) -> Result<Answers> {
    let mut noise = |node: usize| -> Box<dyn NoiseSource> {
        match args.seed {
            0 => match SystemNoise::new() {
                Ok(system) => Box::new(system),
                Err(_) => Box::new(danger_from_seed(0, &format!("noise/{node}"))),
            },
            seed => Box::new(danger_from_seed(seed, &format!("noise/{node}"))),
        }
    };
    Ok(simulate(plan, nodes, &mut noise, args.population)?)
}

fn show_plan(args: &Args, plan: &QuestionPlan, left: f64) -> Result<ExitCode> {
    let text = match args.format {
        Format::Table => table::plan(plan, left),
        Format::Json => json::text(&json::plan_only(plan))?,
        Format::Csv => csv::plan(plan),
    };
    output::write(args.out.as_deref(), text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Shows the plan and lets the person decide; where nobody sits at the terminal the answer is no.
fn confirmed(plan: &QuestionPlan, left: f64) -> Result<bool> {
    say!("{}", table::plan(plan, left));
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    eprint!("Ask it? [y/N] ");
    std::io::stderr().flush()?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

fn write(
    args: &Args,
    (plan, answers): (&QuestionPlan, &Answers),
    (spent, left): (f64, f64),
) -> Result<ExitCode> {
    let text = match args.format {
        Format::Table => table::answers(plan, answers, (spent, left), args.population),
        Format::Json => json::text(&json::answers(plan, answers, (spent, left)))?,
        Format::Csv => csv::answers(plan, answers)?,
    };
    if let Some(path) = &args.svg {
        let svg = picture::svg(plan, answers).ok_or_else(|| {
            Failure::new("there is nothing to draw")
                .hint("ask for `histogram(x)`, `survival(t, died)` or `crosstab(a, b)`")
        })?;
        output::write(Some(path), svg.as_bytes())?;
    }
    output::write(args.out.as_deref(), text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The columns of a plan's groups, as JSON and CSV name them.
fn group_names(plan: &QuestionPlan) -> Vec<String> {
    plan.question.groups.iter().map(|levels| levels.text.clone()).collect()
}

/// All declared columns must be in the file.
fn missing_columns(columns: &Columns, header: &[String]) -> Option<String> {
    let absent: Vec<&str> = columns
        .all()
        .iter()
        .map(|c| c.name.as_str())
        .filter(|name| !header.iter().any(|h| h == name))
        .collect();
    (!absent.is_empty()).then(|| absent.join(", "))
}

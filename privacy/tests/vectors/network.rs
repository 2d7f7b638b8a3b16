//! What one node of a network learns about another: averaging, coalitions, message noise, the analyses of many contributions, walks, published formulas.

use std::error::Error;

use privacy::network::contractive::{Update, boundary, optimum, riccati};
use privacy::network::message_noise::Sender;
use privacy::network::{Run, Watchers, linear, message_noise, published, rounds, walk};
use serde_json::Value;

use super::graphs::matrix;
use super::harness::{Case, Comparison, Outcome, Part, Section};

pub(crate) const SECTIONS: &[Section] = &[
    section("averaging", &["n", "edges", "steps", "watcher"], averaging),
    section("coalition", &["n", "edges", "steps", "watchers"], coalition),
    section("message_noise", &["n", "edges", "steps", "watcher", "tau"], noisy),
    section("contractive", &["n", "edges", "steps", "watcher", "rho", "sources"], contractive),
    Section {
        unstated: is_of_the_watcher,
        ..section("linear", &["n", "edges", "steps", "watcher"], user_level)
    },
    section("walk", &["path", "source", "watcher"], walked),
    Section {
        part: Part::With("formula", "muffliato-2022"),
        unstated: is_of_the_watcher,
        ..section("published", &["n", "edges", "steps", "watcher"], muffliato)
    },
    Section {
        part: Part::With("formula", "random-walk-2024"),
        unstated: |_, pointer| is_diagonal(pointer),
        ..section("published", &["n", "edges", "steps"], random_walk)
    },
];

const fn section(
    file: &'static str,
    inputs: &'static [&'static str],
    check: fn(&Case<'_>, &mut Comparison) -> Outcome,
) -> Section {
    Section { file, part: Part::All, inputs, check, unstated: |_, _| false }
}

fn is_of_the_watcher(case: &Value, pointer: &str) -> bool {
    pointer.rsplit('/').next() == Some(&case["watcher"].to_string())
}

fn is_diagonal(pointer: &str) -> bool {
    let mut last = pointer.rsplit('/');
    last.next() == last.next()
}

/// A run of one kind of step on the graph of a case.
fn run(case: &Case<'_>, steps: usize, contributions: usize) -> Result<Run, Box<dyn Error>> {
    Ok(Run::on_graph(matrix(case)?, steps, contributions)?)
}

fn watcher(case: &Case<'_>, run: &Run) -> Result<Watchers, Box<dyn Error>> {
    Ok(Watchers::new(&[case.get("watcher")?], run.nodes())?)
}

/// μ² of one contribution. The program says nothing of what watchers learn of themselves; the vectors have all there is, which is 1.
fn one_contribution(
    case: &Case<'_>,
    compare: &mut Comparison,
    mut found: Vec<f64>,
    watchers: &Watchers,
) -> Outcome {
    watchers.members().iter().for_each(|&member| found[member] = 1.0);
    compare.all_near("μ²", &found, &case.get::<Vec<f64>>("mu2")?, 1e-9);
    Ok(())
}

fn averaging(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let run = run(case, case.get("steps")?, 1)?;
    let watchers = watcher(case, &run)?;
    one_contribution(case, compare, rounds::loss(&run, &watchers)?, &watchers)
}

fn coalition(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let run = run(case, case.get("steps")?, 1)?;
    let watchers = Watchers::new(&case.get::<Vec<usize>>("watchers")?, run.nodes())?;
    one_contribution(case, compare, rounds::loss(&run, &watchers)?, &watchers)
}

fn noisy(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let run = run(case, case.get("steps")?, 1)?;
    let watchers = watcher(case, &run)?;
    let found = message_noise::loss(&run, &watchers, case.get("tau")?, Sender::KeepsClean)?;
    one_contribution(case, compare, found, &watchers)
}

/// Boundary and optimum as they are, the clipped feedback between them.
fn contractive(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let run = run(case, 1, case.get("steps")?)?;
    let (watchers, update) = (watcher(case, &run)?, Update::lipschitz(case.get("rho")?)?);
    let above = boundary::loss(&run, &watchers, update);
    let between = riccati::loss(&run, &watchers, update);
    let least = optimum::loss(&run, &watchers, update)?;
    let expected = case.get::<Vec<f64>>("boundary")?.into_iter().zip(case.get::<Vec<f64>>("optimum")?);
    for (source, (highest, lowest)) in case.get::<Vec<usize>>("sources")?.into_iter().zip(expected) {
        let at =
            |losses: &[f64]| losses.get(source).copied().ok_or_else(|| format!("there is no node {source}"));
        let (above, between, least) = (at(&above)?, at(&between)?, at(&least)?);
        compare.near(format_args!("boundary of {source}"), above, highest, 1e-9);
        // The reference solver stops a little above the least value; a feasible point below it is no error.
        let is_least = least <= lowest + 1e-6 && least >= lowest * (1.0 - 1e-6);
        compare.holds(is_least, format_args!("optimum of {source}: {least} for {lowest}"));
        let is_between = between <= above && between >= least * (1.0 - 1e-9) && between <= 1.1 * lowest;
        compare.holds(is_between, format_args!("riccati of {source}: {between} in {least} … {above}"));
    }
    Ok(())
}

/// All contributions of a node together, capped at the local loss; its last one alone; and the sum of the paper, which has no cap.
fn user_level(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let steps: usize = case.get("steps")?;
    let run = run(case, 1, steps)?;
    let (watchers, own) = (watcher(case, &run)?, case.get::<usize>("watcher")?);
    let sums: Vec<f64> = case.get("sum_abs")?;
    let found = linear::loss(&run, &watchers)?;
    let published = published::matrix_factorisation(&matrix(case)?, steps, own)?;
    for node in (0..run.nodes()).filter(|node| *node != own) {
        let sum = *sums.get(node).ok_or("a sum is missing")?;
        compare.near(format_args!("μ² of {node}"), found[node], sum.min(steps as f64), 2e-9);
        compare.near(format_args!("published μ² of {node}"), published[node], sum, 2e-9);
    }
    let last = linear::loss_of_contribution(&run, &watchers, steps - 1)?;
    compare.all_near("μ² of the last", &last, &case.get::<Vec<f64>>("diagonal_last")?, 2e-9);
    Ok(())
}

fn walked(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let path: Vec<usize> = case.get("path")?;
    let nodes = path.iter().max().ok_or("an empty path")? + 1;
    let found = walk::loss(&path, nodes, &Watchers::new(&[case.get("watcher")?], nodes)?)?;
    let source: usize = case.get("source")?;
    compare.near("μ²", *found.get(source).ok_or("the source is not on the path")?, case.get("mu2")?, 2e-10);
    Ok(())
}

fn muffliato(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let (watcher, mut expected): (usize, Vec<f64>) = (case.get("watcher")?, case.get("mu2")?);
    let found = published::muffliato(&matrix(case)?, case.get("steps")?, watcher)?;
    *expected.get_mut(watcher).ok_or("there is no such watcher")? = found[watcher];
    compare.all_near("μ²", &found, &expected, 1e-9);
    Ok(())
}

/// The vectors hold Rényi epsilons at order 2, that is μ².
fn random_walk(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let found = published::random_walk(&matrix(case)?, case.get("steps")?)?;
    for (u, row) in case.get::<Vec<Vec<f64>>>("epsilon")?.into_iter().enumerate() {
        for (v, expected) in row.into_iter().enumerate().filter(|(v, _)| *v != u) {
            let found = *found.get(v).and_then(|row| row.get(u)).ok_or("a pair too many")?;
            compare.near(format_args!("{u} seen from {v}"), found, expected, 1e-6 * expected.abs().max(1.0));
        }
    }
    Ok(())
}

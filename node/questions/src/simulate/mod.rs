//! A question answered in one process: every node's sum and noise as in a swarm, and the truth beside it. Protects nobody.

mod truth;

use privacy::noise::NoiseSource;

use crate::answer::{self, Answer, Answers, Figure, single};
use crate::columns::Row;
use crate::contribution::{self, DistinctResponse};
use crate::kinds::distinct::BUCKETS;
use crate::kinds::frequent::Search;
use crate::language::ast::{Kind, TextColumn};
use crate::plan::{FrequentPlan, Method, QuestionPlan, SumPlan};
use crate::refusal::Refusal;

/// Records of each node.
pub type Nodes<'a> = [Vec<&'a Row>];

/// Answers with the truth in them; `noise` gives the source of each node.
///
/// # Guarantee
/// None: noise of a seed protects nobody, and the truth is shown.
///
/// # Errors
/// If the local model refuses the question.
pub fn simulate(
    plan: &QuestionPlan,
    nodes: &Nodes<'_>,
    noise: &mut dyn FnMut(usize) -> Box<dyn NoiseSource>,
    population: bool,
) -> Result<Answers, Refusal> {
    match &plan.method {
        Method::Sum(sum) => Ok(summed(plan, sum, nodes, noise, population)),
        Method::Frequent(search) => Ok(single(searched(plan, search, nodes, noise))),
        Method::Distinct => Ok(single(distinct(plan, nodes, noise))),
        Method::Response(response) => responded(plan, response.categories, nodes, noise).map(single),
    }
}

fn summed(
    plan: &QuestionPlan,
    sum_plan: &SumPlan,
    nodes: &Nodes<'_>,
    noise: &mut dyn FnMut(usize) -> Box<dyn NoiseSource>,
    population: bool,
) -> Answers {
    let mut total = vec![0_i64; sum_plan.coordinates()];
    let mut exact = total.clone();
    for (at, rows) in nodes.iter().enumerate() {
        let mut own = contribution::sum(&plan.question, sum_plan, rows.iter().copied());
        add(&mut exact, &own);
        contribution::add_noise(sum_plan, &mut own, noise(at).as_mut());
        add(&mut total, &own);
    }
    let mut answers = answer::answers(plan, sum_plan, &total, population);
    let rows: Vec<&Row> = nodes.iter().flatten().copied().collect();
    truth::fill(plan, sum_plan, &exact, &rows, &mut answers);
    answers
}

fn add(total: &mut [i64], own: &[i64]) {
    total.iter_mut().zip(own).for_each(|(total, own)| *total = total.saturating_add(*own));
}

fn searched(
    plan: &QuestionPlan,
    search_plan: &FrequentPlan,
    nodes: &Nodes<'_>,
    noise: &mut dyn FnMut(usize) -> Box<dyn NoiseSource>,
) -> Answer {
    let Some(Kind::Frequent(column, values)) = plan.question.aggregates.first().map(|a| &a.kind) else {
        return Answer::none("nothing was asked");
    };
    let mut sources: Vec<Box<dyn NoiseSource>> = (0..nodes.len()).map(noise).collect();
    let mut search = Search::new(*values, search_plan.levels);
    while !search.is_done() {
        let mut counts = vec![0_i64; search.coordinates()];
        for (rows, source) in nodes.iter().zip(&mut sources) {
            let question = (&plan.question, search_plan, *column);
            let own = contribution::search_level(question, &search, rows.iter().copied(), source.as_mut());
            add(&mut counts, &own);
        }
        let scaled: Vec<f64> = counts.iter().map(|&count| count as f64 / search_plan.grid.scale()).collect();
        search.advance(&scaled, search_plan.noise);
    }
    let mut answer = answer::frequent(search_plan, &search);
    answer.truth = Some(Figure::List(held(plan, *column, nodes, &search)));
    answer
}

/// How many records really hold each value that was found.
fn held(plan: &QuestionPlan, column: TextColumn, nodes: &Nodes<'_>, search: &Search) -> Vec<f64> {
    use crate::columns::Cell;
    let passes = |row: &&&Row| plan.question.filter.as_ref().is_none_or(|filter| filter.holds(row));
    let trimmed = |text: &[u8]| text.iter().rposition(|&byte| byte != 0).map_or(0, |at| at + 1);
    let holds = |row: &Row, value: &[u8]| match row.get(column.column) {
        Some(Cell::Text(text)) => text[..trimmed(text)] == *value,
        _ => false,
    };
    let count = |value: &[u8]| nodes.iter().flatten().filter(passes).filter(|row| holds(row, value)).count();
    search.found().iter().map(|(value, _)| count(value) as f64).collect()
}

fn distinct(
    plan: &QuestionPlan,
    nodes: &Nodes<'_>,
    noise: &mut dyn FnMut(usize) -> Box<dyn NoiseSource>,
) -> Answer {
    let Some(response) = DistinctResponse::of(plan) else { return Answer::none("nothing was asked") };
    let distinct = response.distinct;
    let mut total = vec![0_u32; BUCKETS];
    for (at, rows) in nodes.iter().enumerate() {
        let own = response.residues(rows.iter().copied(), noise(at).as_mut());
        total.iter_mut().zip(own).for_each(|(total, own)| *total = total.wrapping_add(own));
    }
    let empty = total.iter().filter(|&&residue| residue == 0).count();
    let mut answer = answer::distinct(&distinct, empty);
    answer.truth = Some(Figure::Number(response.values(nodes.iter().flatten().copied()).len() as f64));
    answer
}

/// Every record is a person who answers for itself.
fn responded(
    plan: &QuestionPlan,
    categories: usize,
    nodes: &Nodes<'_>,
    noise: &mut dyn FnMut(usize) -> Box<dyn NoiseSource>,
) -> Result<Answer, Refusal> {
    let epsilon = plan.terms.epsilon;
    let mut counts = vec![0_u64; categories];
    for (at, rows) in nodes.iter().enumerate() {
        let mut source = noise(at);
        for row in rows {
            counts[contribution::respond(plan, categories, row, source.as_mut())?] += 1;
        }
    }
    let mut answer = answer::responses(&plan.question, epsilon, &counts)?;
    let rows: Vec<&Row> = nodes.iter().flatten().copied().collect();
    answer.truth = truth::of_response(plan, &rows);
    Ok(answer)
}

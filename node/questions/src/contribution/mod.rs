//! What one node adds: the sum of its records' features, and its part of the noise.

mod chosen;
mod distinct;

pub use chosen::chosen;
pub use distinct::{DistinctResponse, bucket};

use privacy::mechanisms::KaryResponse;
use privacy::mechanisms::discrete::{DiscreteGaussian, Fraction};
use privacy::noise::NoiseSource;

use crate::answer::category;
use crate::columns::Row;
use crate::kinds::frequent::Search;
use crate::language::ast::{Question, TextColumn};
use crate::plan::{FrequentPlan, PlannedBlock, QuestionPlan, SumPlan};
use crate::refusal::Refusal;

/// The exact sum of a node's records in grid steps. Not to be shown: [`add_noise`] comes next.
#[must_use]
pub fn sum<'a>(question: &Question, plan: &SumPlan, rows: impl IntoIterator<Item = &'a Row>) -> Vec<i64> {
    let mut sum = vec![0; plan.coordinates()];
    let mut seen = vec![false; plan.groups.len()];
    for row in rows {
        if question.filter.as_ref().is_some_and(|filter| !filter.holds(row)) {
            continue;
        }
        let group = group(question, row);
        seen[group] = true;
        for (at, planned) in plan.blocks.iter().enumerate() {
            let start = plan.start(at, group);
            let own = &mut sum[start..start + planned.coordinates];
            planned.block.add(row, planned.grid.bits, own);
        }
    }
    finish(plan, &seen, &mut sum);
    sum
}

/// Columns of T are made once, and a node says where it has records.
fn finish(plan: &SumPlan, seen: &[bool], sum: &mut [i64]) {
    for (at, planned) in plan.blocks.iter().enumerate() {
        for (group, seen) in seen.iter().enumerate() {
            let start = plan.start(at, group);
            let own = &mut sum[start..start + planned.coordinates];
            if plan.routes.nodes == Some(at) {
                own[0] = i64::from(*seen) << planned.grid.bits;
            } else if *seen {
                planned.block.finish(planned.grid.bits, own);
            }
        }
    }
}

/// The position of a record's group.
#[must_use]
pub fn group(question: &Question, row: &Row) -> usize {
    question.groups.iter().fold(0, |group, levels| group * levels.names.len() + levels.of(row))
}

/// Adds a node's part of the noise: discrete Gaussians, exact, block by block.
///
/// # Guarantee
/// With every honest member's part the released sum costs what the plan says.
///
/// # Assumes
/// `noise` is private; the sum is sent once, and fresh noise is drawn for every other sum.
pub fn add_noise(plan: &SumPlan, sum: &mut [i64], noise: &mut dyn NoiseSource) {
    let mut rest = sum;
    for planned in &plan.blocks {
        let (own, after) = rest.split_at_mut(planned.coordinates * plan.groups.len());
        planned.add_noise(own, noise);
        rest = after;
    }
}

/// The parts of a node's sum, each with the noise that it needs: for those who draw it as they send.
#[must_use]
pub fn parts<'a>(plan: &SumPlan, sum: &'a [i64]) -> Vec<(DiscreteGaussian, &'a [i64])> {
    let mut rest = sum;
    let mut part = |planned: &PlannedBlock| {
        let (own, after) = rest.split_at(planned.coordinates * plan.groups.len());
        rest = after;
        (law(planned.node_variance), own)
    };
    plan.blocks.iter().map(&mut part).collect()
}

impl PlannedBlock {
    fn add_noise(&self, values: &mut [i64], noise: &mut dyn NoiseSource) {
        add_gaussians(self.node_variance, values, noise);
    }
}

fn add_gaussians(variance: u64, values: &mut [i64], noise: &mut dyn NoiseSource) {
    values.copy_from_slice(&law(variance).release(values, noise).value);
}

fn law(variance: u64) -> DiscreteGaussian {
    let variance = Fraction::new(variance.max(1), 1).expect("both are at least 1");
    // The price is that of the plan's event (masking.md, theorem 2); the mechanism's own sensitivity is not used.
    DiscreteGaussian::new(variance, 1.0).expect("plans keep variances in range")
}

/// The response of one person among so many categories.
///
/// # Guarantee
/// ε-DP for whatever the person's record holds, against everybody.
///
/// # Assumes
/// `noise` is private; the person answers once.
///
/// # Errors
/// If ε or the number of categories is refused.
pub fn respond(
    plan: &QuestionPlan,
    categories: usize,
    row: &Row,
    noise: &mut dyn NoiseSource,
) -> Result<usize, Refusal> {
    let epsilon = plan.terms.epsilon;
    let refused = |_| Refusal::Epsilon { value: epsilon };
    let mechanism = KaryResponse::new(epsilon, categories).map_err(refused)?;
    let category = category(&plan.question, categories, row);
    Ok(mechanism.release(category, noise).map_err(refused)?.value)
}

/// A node's counts of the next level of a search, with its part of the noise.
///
/// # Guarantee
/// All levels together cost what the plan says.
///
/// # Assumes
/// As [`add_noise`].
#[must_use]
pub fn search_level<'a>(
    (question, plan, column): (&Question, &FrequentPlan, TextColumn),
    search: &Search,
    rows: impl IntoIterator<Item = &'a Row>,
    noise: &mut dyn NoiseSource,
) -> Vec<i64> {
    let mut counts = level_counts((question, plan, column), search, rows);
    add_gaussians(plan.node_variance, &mut counts, noise);
    counts
}

/// The noise of each count of a search, for those who draw it as they send.
#[must_use]
pub fn level_law(plan: &FrequentPlan) -> DiscreteGaussian {
    law(plan.node_variance)
}

/// A node's exact counts of the next level of a search, in grid steps. Not to be shown.
#[must_use]
pub fn level_counts<'a>(
    (question, plan, column): (&Question, &FrequentPlan, TextColumn),
    search: &Search,
    rows: impl IntoIterator<Item = &'a Row>,
) -> Vec<i64> {
    let mut counts = vec![0; search.coordinates()];
    for row in rows {
        if question.filter.as_ref().is_some_and(|filter| !filter.holds(row)) {
            continue;
        }
        if let Some(crate::columns::Cell::Text(value)) = row.get(column.column)
            && let Some(at) = search.coordinate(value)
        {
            counts[at] += 1 << plan.grid.bits;
        }
    }
    counts
}

//! What the noisy sum says: figures, intervals, and what people should look at.

mod group;
mod number;
mod searched;
mod survey;
mod table;
mod words;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use searched::{distinct, frequent};
pub use survey::{category, responses};
pub use words::in_words;

use crate::kinds::root::Decoder;
use crate::kinds::survival::{Times, log_rank};
use crate::language::ast::Kind;
use crate::plan::{PlannedBlock, QuestionPlan, SumPlan};
use privacy::special::normal_cdf;

/// Deviations by which a group must pass the least number of nodes: one side of 5 %.
const NODES_MARGIN: f64 = 1.64;

/// A number, a list or a table; what is not finite is null in JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Figure {
    /// One number.
    Number(f64),
    /// Cells of a histogram, coefficients, points of a curve.
    List(Vec<f64>),
    /// Rows of a table.
    Table(Vec<Vec<f64>>),
    /// Several tables.
    Tables(Vec<Vec<Vec<f64>>>),
}

/// The answer to one aggregate in one group.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Answer {
    /// What people should look at: cleaned, or nothing where there are too few records.
    pub value: Option<Figure>,
    /// Lower end of the 95 % interval of the raw figure.
    pub low: Option<Figure>,
    /// Upper end.
    pub high: Option<Figure>,
    /// The figure as it came out of the sum.
    pub raw: Option<Figure>,
    /// The figure without noise, in a simulation.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub truth: Option<Figure>,
    /// Names of the cells of a list, or of the rows of a table.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub labels: Vec<String>,
    /// Names of the columns of a table.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub columns: Vec<String>,
    /// Why there is no value, or what to know about it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note: Option<String>,
    /// Further figures: the half-width for all cells at once, Cramér's V.
    #[serde(flatten)]
    pub more: BTreeMap<String, f64>,
}

impl Figure {
    /// All its numbers, row by row.
    #[must_use]
    pub fn numbers(&self) -> Vec<f64> {
        match self {
            Self::Number(x) => vec![*x],
            Self::List(list) => list.clone(),
            Self::Table(rows) => rows.concat(),
            Self::Tables(tables) => tables.concat().concat(),
        }
    }
}

/// What a question with too little data says.
pub const TOO_FEW: &str = "too few";

impl Answer {
    /// No answer, for a reason.
    #[must_use]
    pub fn none(note: &str) -> Self {
        Self { note: Some(note.to_owned()), ..Self::default() }
    }

    /// The name of number `at`: that of its cell, or of its row and column.
    #[must_use]
    pub fn cell_name(&self, at: usize) -> String {
        let name = |names: &[String], at: usize| names.get(at).cloned().unwrap_or_default();
        match self.columns.len() {
            0 => name(&self.labels, at),
            width => format!("{} × {}", name(&self.labels, at / width), name(&self.columns, at % width)),
        }
    }
}

/// Answers of one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The level of each GROUP BY.
    pub group: Vec<String>,
    /// The position of the group in the plan.
    pub index: usize,
    /// One answer for each aggregate.
    pub answers: Vec<Answer>,
}

/// A test between two groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Test {
    /// Of which answer.
    pub of: String,
    /// What test.
    pub test: String,
    /// Between which groups.
    pub groups: [Vec<String>; 2],
    /// Its statistic, noise in its variance.
    pub z: f64,
    /// Two-sided.
    pub p: f64,
}

/// Everything that is answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answers {
    /// One line for each group that may be shown.
    pub lines: Vec<Line>,
    /// Groups that too few nodes hold.
    pub hidden: usize,
    /// Tests between groups.
    pub tests: Vec<Test>,
}

/// The answer of a question that is asked alone.
#[must_use]
pub fn single(answer: Answer) -> Answers {
    let line = Line { group: Vec::new(), index: 0, answers: vec![answer] };
    Answers { lines: vec![line], hidden: 0, tests: Vec::new() }
}

/// A noisy sum beside its plan, ready to be read.
pub(crate) struct Reading<'a> {
    pub(crate) plan: &'a SumPlan,
    pub(crate) sum: &'a [f64],
    pub(crate) decoders: &'a [Option<Decoder>],
    pub(crate) population: bool,
}

impl<'a> Reading<'a> {
    /// The coordinates of a block in a group, in records.
    pub(crate) fn coordinates(&self, block: usize, group: usize) -> &'a [f64] {
        let start = self.plan.start(block, group);
        &self.sum[start..start + self.plan.blocks[block].coordinates]
    }

    pub(crate) fn block(&self, block: usize) -> &'a PlannedBlock {
        &self.plan.blocks[block]
    }
}

/// Answers from the released sum in grid steps; with `population` intervals hold sampling too.
#[must_use]
pub fn answers(plan: &QuestionPlan, sum_plan: &SumPlan, sum: &[i64], population: bool) -> Answers {
    let scaled = in_records(sum_plan, sum);
    let decoders = decoders(sum_plan);
    let reading = Reading { plan: sum_plan, sum: &scaled, decoders: &decoders, population };
    let shown: Vec<usize> =
        (0..sum_plan.groups.len()).filter(|&group| is_shown(plan, &reading, group)).collect();
    let line = |&group: &usize| Line {
        group: sum_plan.groups[group].clone(),
        index: group,
        answers: group::answers(&plan.question, &reading, group),
    };
    let lines = shown.iter().map(line).collect();
    Answers { lines, hidden: sum_plan.groups.len() - shown.len(), tests: tests(plan, &reading, &shown) }
}

/// The answers of one group from a reading that is already in records.
pub(crate) fn of_group(
    question: &crate::language::Question,
    reading: &Reading<'_>,
    group: usize,
) -> Vec<Answer> {
    group::answers(question, reading, group)
}

/// Grid steps divided out.
pub(crate) fn in_records(plan: &SumPlan, sum: &[i64]) -> Vec<f64> {
    let mut scaled = Vec::with_capacity(sum.len());
    let mut rest = sum;
    for block in &plan.blocks {
        let (here, after) = rest.split_at(block.coordinates * plan.groups.len());
        scaled.extend(here.iter().map(|&x| x as f64 / block.grid.scale()));
        rest = after;
    }
    scaled
}

/// The way back from columns of T, for the blocks that have them.
pub(crate) fn decoders(plan: &SumPlan) -> Vec<Option<Decoder>> {
    use crate::blocks::Block;
    use crate::kinds::root::integer_column;
    let decoder = |block: &PlannedBlock| match block.block {
        Block::Cumulative { bins, .. } | Block::ClassCumulative { bins, .. } => {
            Some(Decoder::of_integers(&integer_column(bins, block.grid.bits), block.grid.bits))
        }
        _ => None,
    };
    plan.blocks.iter().map(decoder).collect()
}

/// Whether enough nodes hold a group: the noisy count must pass the least by 1.64 deviations.
fn is_shown(plan: &QuestionPlan, reading: &Reading<'_>, group: usize) -> bool {
    match (plan.question.least_nodes, reading.plan.routes.nodes) {
        (Some(least), Some(block)) => {
            reading.coordinates(block, group)[0] >= least as f64 + NODES_MARGIN * reading.block(block).noise
        }
        _ => true,
    }
}

/// The log-rank test, where survival was asked of exactly two declared groups.
fn tests(plan: &QuestionPlan, reading: &Reading<'_>, shown: &[usize]) -> Vec<Test> {
    let declared = |group: usize| {
        let names = &reading.plan.groups[group];
        plan.question
            .groups
            .iter()
            .zip(names)
            .all(|(levels, name)| levels.names[..levels.declared].contains(name))
    };
    let compared: Vec<usize> = shown.iter().copied().filter(|&group| declared(group)).collect();
    let [first, second] = compared.as_slice() else { return Vec::new() };
    let survivals = plan.question.aggregates.iter().zip(&reading.plan.routes.of_aggregate);
    survivals
        .filter(|(aggregate, _)| matches!(aggregate.kind, Kind::Survival(..)))
        .map(|(aggregate, route)| {
            let times = |group: usize| Times::halves(reading.coordinates(route.block, group));
            let found = log_rank(times(*first), times(*second), reading.block(route.block).noise);
            Test {
                of: aggregate.written.clone(),
                test: "log-rank".into(),
                groups: [*first, *second].map(|group| reading.plan.groups[group].clone()),
                z: found.z,
                p: 2.0 * normal_cdf(-found.z.abs()),
            }
        })
        .collect()
}

//! Which block answers what: aggregates of one column share a block, so that they share its price.

use super::ResponsePlan;
use crate::blocks::{Block, Counted, KENDALL_BINS};
use crate::kinds::u_statistic::Kernel;
use crate::language::ast::{Aggregate, Described, Kind, Question, Value};
use crate::local::{categories_for_quantile, categories_for_u};
use crate::noise::Terms;
use crate::refusal::Refusal;

/// The block of each aggregate, and that of the nodes where they are counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Routes {
    /// One for each aggregate.
    pub of_aggregate: Vec<Route>,
    /// The block that counts nodes.
    pub nodes: Option<usize>,
}

/// How an aggregate is read off a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The block.
    pub block: usize,
    /// `count(*)` read off a block of one column: all its coordinates together.
    pub as_total: bool,
}

/// The blocks of a question and who uses them.
pub(super) fn blocks(question: &Question) -> (Vec<Block>, Routes) {
    let mut blocks: Vec<Block> = Vec::new();
    let mut routes = vec![None; question.aggregates.len()];
    let kinds: Vec<&Kind> = question.aggregates.iter().map(|aggregate| &aggregate.kind).collect();
    for (at, aggregate) in question.aggregates.iter().enumerate() {
        if let Some(block) = wanted(&aggregate.kind, &kinds) {
            routes[at] = Some(Route { block: position(&mut blocks, block), as_total: false });
        }
    }
    for (at, aggregate) in question.aggregates.iter().enumerate() {
        if routes[at].is_none() {
            routes[at] = Some(count_route(aggregate, &mut blocks));
        }
    }
    let nodes = question.least_nodes.map(|_| position(&mut blocks, Block::Nodes));
    (blocks, Routes { of_aggregate: routes.into_iter().flatten().collect(), nodes })
}

fn position(blocks: &mut Vec<Block>, block: Block) -> usize {
    blocks.iter().position(|known| *known == block).unwrap_or_else(|| {
        blocks.push(block);
        blocks.len() - 1
    })
}

/// The block of an aggregate that is not a mere count.
fn wanted(kind: &Kind, all: &[&Kind]) -> Option<Block> {
    Some(match kind {
        Kind::Count | Kind::CountOf(_) | Kind::MissingOf(_) | Kind::Frequent(..) | Kind::Distinct(_) => {
            return None;
        }
        Kind::Clamped(value) => Block::Count(Counted::Clamped(value.clone())),
        Kind::Sum(value) | Kind::Mean(value) | Kind::Variance(value) | Kind::Stddev(value) => {
            let missing = value.may_be_missing && all.contains(&&Kind::Count);
            if is_varied(value, all) {
                Block::Variance { value: value.clone(), missing }
            } else {
                Block::Mean { value: value.clone(), missing }
            }
        }
        Kind::Histogram(levels) => Block::Histogram(levels.clone()),
        Kind::Quantile(value, _) | Kind::Gini(value) | Kind::Described(value, _) => {
            let missing =
                all.iter().any(|kind| matches!(kind, Kind::Described(of, Described::Missing) if of == value));
            Block::Cumulative { value: value.clone(), bins: value.fine_bins(), missing }
        }
        Kind::Auc(value, label) => {
            Block::ClassCumulative { value: value.clone(), label: *label, bins: value.fine_bins() }
        }
        Kind::Crosstab(a, b) => Block::Table(a.clone(), b.clone()),
        Kind::Pairs(columns) => Block::Tables(columns.clone()),
        Kind::Corr(values) | Kind::Linreg(values) => Block::Moments(values.clone()),
        Kind::Kendall(x, y) => Block::Ranks(x.clone(), y.clone()),
        Kind::Survival(time, died) => Block::Survival(time.clone(), *died),
        Kind::Confusion(a, b) | Kind::Accuracy(a, b) => Block::Confusion(a.clone(), b.clone()),
    })
}

/// Whether somebody asks for the variance of this value.
fn is_varied(value: &Value, all: &[&Kind]) -> bool {
    all.iter().any(|kind| matches!(kind, Kind::Variance(of) | Kind::Stddev(of) if of == value))
}

/// Counts are read off a block of few coordinates where there is one, and are a block of their own elsewhere.
fn count_route(aggregate: &Aggregate, blocks: &mut Vec<Block>) -> Route {
    use crate::language::ast::Scalar;
    let is_column = |value: &Value, at: usize| value.scalar == Scalar::Column(at);
    let found = blocks.iter().position(|block| match (block, &aggregate.kind) {
        (Block::Mean { value, missing } | Block::Variance { value, missing }, Kind::Count) => {
            *missing || !value.may_be_missing
        }
        (Block::Mean { value, .. } | Block::Variance { value, .. }, Kind::CountOf(at)) => {
            is_column(value, *at)
        }
        (Block::Mean { value, missing } | Block::Variance { value, missing }, Kind::MissingOf(at)) => {
            *missing && is_column(value, *at)
        }
        _ => false,
    });
    if let Some(block) = found {
        return Route { block, as_total: aggregate.kind == Kind::Count };
    }
    let counted = match aggregate.kind {
        Kind::CountOf(at) => Counted::Present(at),
        Kind::MissingOf(at) => Counted::Missing(at),
        _ => Counted::All,
    };
    Route { block: position(blocks, Block::Count(counted)), as_total: false }
}

/// Whether one response of each person answers the question, and among how many categories.
pub(super) fn response(question: &Question, terms: &Terms) -> Result<Option<ResponsePlan>, Refusal> {
    let [aggregate] = question.aggregates.as_slice() else { return Ok(None) };
    if !question.groups.is_empty() || question.least_nodes.is_some() {
        return Ok(None);
    }
    let (epsilon, people) = (terms.epsilon, terms.contributors);
    let everybody = |values: &[&Value]| {
        if question.filter.is_some() {
            return Err(Refusal::Local {
                what: "everybody answers a question about pairs: WHERE is not possible",
            });
        }
        if values.iter().any(|value| value.may_be_missing) {
            return Err(Refusal::Local { what: "everybody needs a value for a question about pairs" });
        }
        Ok(())
    };
    let outside = usize::from(question.filter.is_some());
    let categories = match &aggregate.kind {
        Kind::Histogram(levels) => levels.names.len() + outside,
        // One more for those without a value or outside the filter.
        Kind::Quantile(..) => categories_for_quantile(epsilon, people) + 1,
        Kind::Gini(value) => {
            everybody(&[value])?;
            categories_for_u(epsilon, people, Kernel::distance)
        }
        Kind::Variance(value) | Kind::Stddev(value) => {
            everybody(&[value])?;
            categories_for_u(epsilon, people, Kernel::half_square)
        }
        Kind::Kendall(x, y) => {
            everybody(&[x, y])?;
            (2..=KENDALL_BINS).rev().find(|side| side * side <= 16).unwrap_or(2).pow(2)
        }
        _ => return Ok(None),
    };
    Ok(Some(ResponsePlan { categories }))
}

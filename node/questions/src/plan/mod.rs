//! The plan: which blocks a question needs, how many numbers, how much noise, and how exact the answers will be.
//!
//! A plan follows from the text, the declared columns, the terms and public numbers alone: each member makes it itself, and
//! all of them get the same.

mod expect;
mod route;

use privacy::event::DpEvent;
use serde::{Deserialize, Serialize};

pub use expect::{Expectation, expectations, records_per_group};
pub use route::{Route, Routes};

use crate::blocks::Block;
use crate::columns::Columns;
use crate::grid::{Grid, node_parameter};
use crate::kinds::{distinct, frequent};
use crate::language::ast::{Kind, Question};
use crate::noise::{Terms, Trust};
use crate::refusal::Refusal;

/// The most numbers of a question.
pub const MOST_COORDINATES: u128 = 65_536;

/// The largest s² that the exact sampler takes (whole numbers).
const MOST_VARIANCE: f64 = 3.0e15;

/// A question with its price.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionPlan {
    /// What is asked.
    pub question: Question,
    /// At what price, among whom.
    pub terms: Terms,
    /// Records that are expected in all, a public number.
    pub records: u64,
    /// How it is answered.
    pub method: Method,
}

/// How a question is answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Method {
    /// One sum of vectors.
    Sum(SumPlan),
    /// A sum for each byte.
    Frequent(FrequentPlan),
    /// Which buckets are empty.
    Distinct,
    /// One response of each person among so many categories.
    Response(ResponsePlan),
}

/// Blocks of one sum.
#[derive(Debug, Clone, PartialEq)]
pub struct SumPlan {
    /// The blocks in the order of their coordinates.
    pub blocks: Vec<PlannedBlock>,
    /// Which block answers what.
    pub routes: Routes,
    /// Names of the groups, each with one level for each GROUP BY.
    pub groups: Vec<Vec<String>>,
}

/// A block with its noise.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedBlock {
    /// What it is.
    pub block: Block,
    /// Coordinates in one group.
    pub coordinates: usize,
    /// Its grid.
    pub grid: Grid,
    /// Δ for the unit of the terms, before rounding.
    pub sensitivity: f64,
    /// s²: the parameter of each node's discrete Gaussian, in squared grid steps.
    pub node_variance: u64,
    /// s: the deviation of each coordinate of the released sum, in records.
    pub noise: f64,
}

/// A search over bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrequentPlan {
    /// L: bytes of a value, one sum each.
    pub levels: usize,
    /// Values that are looked for.
    pub values: usize,
    /// The parameter of each node, for grid steps of 2^−F.
    pub node_variance: u64,
    /// The grid of all levels.
    pub grid: Grid,
    /// Deviation of each count.
    pub noise: f64,
}

/// A K-ary response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponsePlan {
    /// K.
    pub categories: usize,
}

/// The numbers of a plan, for people and programs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Numbers that are summed.
    pub coordinates: u64,
    /// Blocks that share the price.
    pub blocks: u64,
}

/// What an asker sends: the text and the public numbers. Every member plans it itself, by its own columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The question as it was written.
    pub question: String,
    /// At what price, among whom.
    pub terms: Terms,
    /// Records that are expected in all, a public number.
    pub records: u64,
}

impl Request {
    /// The plan of a member with these columns.
    ///
    /// # Guarantee
    /// As [`plan`].
    ///
    /// # Assumes
    /// As [`plan`].
    ///
    /// # Errors
    /// As [`parse`](crate::language::parse) and [`plan`].
    pub fn plan(&self, columns: &Columns) -> Result<QuestionPlan, Refusal> {
        plan(crate::language::parse(&self.question, columns)?, self.terms, self.records)
    }
}

/// Plans a question.
///
/// # Guarantee
/// Answering it by this plan costs at most the (ε, δ) of the terms, for the unit of the terms, against whom their trust names.
///
/// # Assumes
/// As [`Terms::noise`]; the members add the noise that the plan names.
///
/// # Errors
/// Whatever the specification refuses; nothing here depends on data.
pub fn plan(question: Question, terms: Terms, records: u64) -> Result<QuestionPlan, Refusal> {
    terms.check()?;
    terms.kappa()?;
    let method = match alone(&question, &terms, records)? {
        Some(method) => method,
        None if terms.trust == Trust::Local => match route::response(&question, &terms)? {
            Some(response) => Method::Response(response),
            None => Method::Sum(sum_plan(&question, &terms, records)?),
        },
        None => Method::Sum(sum_plan(&question, &terms, records)?),
    };
    Ok(QuestionPlan { question, terms, records, method })
}

/// The two questions that share their sum with nobody.
fn alone(question: &Question, terms: &Terms, records: u64) -> Result<Option<Method>, Refusal> {
    let find = |is: fn(&Kind) -> bool| question.aggregates.iter().find(|aggregate| is(&aggregate.kind));
    let is_alone =
        question.aggregates.len() == 1 && question.groups.is_empty() && question.least_nodes.is_none();
    if let Some(aggregate) = find(|kind| matches!(kind, Kind::Frequent(..))) {
        let Kind::Frequent(column, values) = &aggregate.kind else { return Ok(None) };
        return if is_alone {
            frequent_plan(column.bytes, *values, terms, records).map(|plan| Some(Method::Frequent(plan)))
        } else {
            Err(Refusal::Alone { function: "frequent" })
        };
    }
    if find(|kind| matches!(kind, Kind::Distinct(_))).is_some() {
        return match terms.trust {
            _ if !is_alone => Err(Refusal::Alone { function: "count(DISTINCT …)" }),
            Trust::Masked => Ok(Some(Method::Distinct)),
            trust => Err(Refusal::NeedsMasks { function: "count(DISTINCT …)", trust: trust.name() }),
        };
    }
    Ok(None)
}

fn frequent_plan(levels: usize, values: usize, terms: &Terms, records: u64) -> Result<FrequentPlan, Refusal> {
    let candidates = frequent::most_candidates(values) as u128;
    if candidates > MOST_COORDINATES {
        return Err(Refusal::Coordinates { count: candidates });
    }
    // Each level is a sum of sensitivity 1 and the levels share the price: as L blocks.
    let factor = terms.unit.factor(false);
    let finest = Grid::finest(records, 1.0, terms.noise(factor, levels)?);
    let squared = |bits: u32| factor * factor * libm::ldexp(1.0, 2 * bits as i32);
    let (grid, node_variance) = sampled(finest, terms, levels, squared)?;
    Ok(FrequentPlan { levels, values, node_variance, grid, noise: released(node_variance, terms, grid) })
}

fn sum_plan(question: &Question, terms: &Terms, records: u64) -> Result<SumPlan, Refusal> {
    let (blocks, routes) = route::blocks(question);
    let groups = group_names(question)?;
    let coordinates = blocks.iter().map(Block::coordinates).sum::<u128>() * groups.len() as u128;
    if coordinates > MOST_COORDINATES {
        return Err(Refusal::Coordinates { count: coordinates });
    }
    let shape = Shape { blocks: blocks.len(), groups: groups.len(), records };
    let planned = blocks.into_iter().map(|block| planned(block, terms, shape));
    Ok(SumPlan { blocks: planned.collect::<Result<_, _>>()?, routes, groups })
}

fn planned(block: Block, terms: &Terms, shape: Shape) -> Result<PlannedBlock, Refusal> {
    // One count of all changes by 1 where a record is replaced; a record that moves between groups changes two.
    let factor = terms.unit.factor(block.is_count() && shape.groups == 1);
    let sensitivity = block.sensitivity() * factor;
    let noise = terms.noise(sensitivity, shape.blocks)?;
    let finest = Grid::finest(shape.records, block.largest(), noise);
    let squared = |bits: u32| block.squared_change(bits, terms.unit, factor);
    let (grid, node_variance) = sampled(finest, terms, shape.blocks, squared)?;
    let coordinates = block.coordinates() as usize;
    let noise = released(node_variance, terms, grid);
    Ok(PlannedBlock { block, coordinates, grid, sensitivity, node_variance, noise })
}

/// What all blocks of a question share.
#[derive(Debug, Clone, Copy)]
struct Shape {
    blocks: usize,
    groups: usize,
    records: u64,
}

/// The finest grid whose noise the exact sampler can make, and s² on it as a whole number, rounded up.
fn sampled(
    finest: Grid,
    terms: &Terms,
    blocks: usize,
    squared_sensitivity: impl Fn(u32) -> f64,
) -> Result<(Grid, u64), Refusal> {
    for bits in (0..=finest.bits).rev() {
        let parameter = node_parameter(terms, squared_sensitivity(bits), blocks)?;
        if parameter * parameter <= MOST_VARIANCE {
            return Ok((Grid { bits, ..finest }, (parameter * parameter).ceil() as u64));
        }
    }
    Err(Refusal::Epsilon { value: terms.epsilon })
}

/// The deviation of a coordinate of the released sum, in records.
fn released(node_variance: u64, terms: &Terms, grid: Grid) -> f64 {
    (node_variance as f64 * terms.contributors as f64).sqrt() / grid.scale()
}

/// All combinations of levels; one nameless group where nothing is grouped.
fn group_names(question: &Question) -> Result<Vec<Vec<String>>, Refusal> {
    let count = question.groups.iter().map(|levels| levels.names.len() as u128).product::<u128>();
    if count > MOST_COORDINATES {
        return Err(Refusal::Coordinates { count });
    }
    let mut groups = vec![Vec::new()];
    for levels in &question.groups {
        let with = |group: &Vec<String>| {
            levels
                .names
                .iter()
                .map(|name| [&group[..], std::slice::from_ref(name)].concat())
                .collect::<Vec<_>>()
        };
        groups = groups.iter().flat_map(with).collect();
    }
    Ok(groups)
}

impl QuestionPlan {
    /// Its numbers.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let (coordinates, blocks) = match &self.method {
            Method::Sum(plan) => (plan.coordinates(), plan.blocks.len()),
            Method::Frequent(plan) => (frequent::most_candidates(plan.values), plan.levels),
            Method::Distinct => (distinct::BUCKETS, 1),
            Method::Response(plan) => (plan.categories, 1),
        };
        Summary { coordinates: coordinates as u64, blocks: blocks as u64 }
    }

    /// What it costs: the event that a ledger records.
    ///
    /// # Guarantee
    /// It prices at most (ε, δ) of the terms.
    ///
    /// # Assumes
    /// As [`plan`].
    ///
    /// # Errors
    /// As [`Terms::kappa`].
    pub fn event(&self) -> Result<DpEvent, Refusal> {
        match self.method {
            Method::Sum(_) | Method::Frequent(_) => self.terms.event(),
            // Of each of them that much is known: ε and no δ.
            Method::Distinct | Method::Response(_) => Ok(DpEvent::PureDp { epsilon: self.terms.epsilon }),
        }
    }

    /// The analysis behind its ε.
    #[must_use]
    pub fn analysis(&self) -> &'static str {
        self.terms.trust.analysis()
    }
}

impl SumPlan {
    /// Numbers that are summed.
    #[must_use]
    pub fn coordinates(&self) -> usize {
        self.blocks.iter().map(|block| block.coordinates).sum::<usize>() * self.groups.len()
    }

    /// Where the coordinates of a block in a group begin: block after block, group after group within.
    #[must_use]
    pub fn start(&self, block: usize, group: usize) -> usize {
        let before: usize = self.blocks[..block].iter().map(|block| block.coordinates).sum();
        before * self.groups.len() + group * self.blocks[block].coordinates
    }
}

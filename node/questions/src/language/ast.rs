//! A checked question: every column is declared and of the right kind, everything that enters a sum is bounded.

use crate::columns::{Bounds, Cell, Row};

/// A question that may be planned.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// As it was written.
    pub text: String,
    /// What is asked, in order.
    pub aggregates: Vec<Aggregate>,
    /// Which records count.
    pub filter: Option<Predicate>,
    /// Into which groups they fall.
    pub groups: Vec<Levels>,
    /// `HAVING nodes() >= k`: the fewest nodes that a group must have.
    pub least_nodes: Option<u64>,
}

/// One thing that is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    /// As it was written: the key of its answer.
    pub written: String,
    /// What it means.
    pub kind: Kind,
}

/// The kinds of questions.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// `count(*)`.
    Count,
    /// `count(column)`: records that have a value.
    CountOf(usize),
    /// `missing(column)`: records that have none.
    MissingOf(usize),
    /// `clamped(column)`: records whose value is out of bounds.
    Clamped(Value),
    /// `sum(x)`.
    Sum(Value),
    /// `mean(x)`.
    Mean(Value),
    /// `variance(x)`.
    Variance(Value),
    /// `stddev(x)`.
    Stddev(Value),
    /// `histogram(x)`, `histogram(x, k)`.
    Histogram(Levels),
    /// `quantile(x, q)`, `median(x)`; the last is the number of bins.
    Quantile(Value, f64),
    /// Parts of `describe(x)`: from the bins of the quantiles.
    Described(Value, Described),
    /// `gini(x)`.
    Gini(Value),
    /// `auc(score, label)`, `mannwhitney(x, label)`.
    Auc(Value, YesNo),
    /// `crosstab(a, b)`.
    Crosstab(Levels, Levels),
    /// `pairs(a, b, c, …)`.
    Pairs(Vec<Levels>),
    /// `corr(x, y, …)`.
    Corr(Vec<Value>),
    /// `linreg(y, x, …)`: y last.
    Linreg(Vec<Value>),
    /// `kendall(x, y)`.
    Kendall(Value, Value),
    /// `survival(t, died)`.
    Survival(Value, YesNo),
    /// `confusion(true, predicted)`.
    Confusion(Levels, Levels),
    /// `accuracy(true, predicted)`.
    Accuracy(Levels, Levels),
    /// `frequent(code, k)`.
    Frequent(TextColumn, usize),
    /// `count(DISTINCT code)`.
    Distinct(usize),
}

/// A figure of `describe`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Described {
    /// Records that have a value.
    Count,
    /// Records that have none.
    Missing,
    /// Mean.
    Mean,
    /// Standard deviation.
    Stddev,
}

/// A column of an open set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextColumn {
    /// Its position.
    pub column: usize,
    /// Bytes of a value.
    pub bytes: usize,
}

/// A number with bounds: a column or clamped arithmetic.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// How it was written.
    pub text: String,
    /// How it is computed.
    pub scalar: Scalar,
    /// Between which it is held.
    pub bounds: Bounds,
    /// Whether it is always a whole number.
    pub integer: bool,
    /// Whether it may be missing: false for a column with `fill`.
    pub may_be_missing: bool,
}

impl Value {
    /// The value of a record before it is clamped.
    #[must_use]
    pub fn unclamped(&self, row: &Row) -> Option<f64> {
        self.scalar.evaluate(row).filter(|value| value.is_finite())
    }

    /// The value of a record, held within its bounds.
    #[must_use]
    pub fn of(&self, row: &Row) -> Option<f64> {
        self.unclamped(row).map(|value| value.clamp(self.bounds.low, self.bounds.high))
    }
}

/// Arithmetic over the numbers of a record.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    /// A column.
    Column(usize),
    /// A literal.
    Literal(f64),
    /// −x.
    Minus(Box<Self>),
    /// x ∘ y.
    Operation(Operator, Box<Self>, Box<Self>),
    /// clamp(x, lo, hi).
    Clamp(Box<Self>, Bounds),
}

/// Operators of arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// x + y.
    Plus,
    /// x − y.
    Minus,
    /// x·y.
    Times,
    /// x/y.
    Divide,
}

impl Scalar {
    /// The value, or nothing where a column is missing or the result is not finite.
    pub(crate) fn evaluate(&self, row: &Row) -> Option<f64> {
        let value = match self {
            Self::Column(at) => match row.get(*at)? {
                Cell::Number(value) => *value,
                _ => return None,
            },
            Self::Literal(value) => *value,
            Self::Minus(inner) => -inner.evaluate(row)?,
            Self::Operation(operator, left, right) => {
                let (left, right) = (left.evaluate(row)?, right.evaluate(row)?);
                match operator {
                    Operator::Plus => left + right,
                    Operator::Minus => left - right,
                    Operator::Times => left * right,
                    Operator::Divide => left / right,
                }
            }
            Self::Clamp(inner, bounds) => inner.evaluate(row)?.clamp(bounds.low, bounds.high),
        };
        value.is_finite().then_some(value)
    }
}

/// A division of records into levels, of which each record has exactly one.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// How it was written.
    pub text: String,
    /// Names of the levels, those for `other` and `missing` at the end.
    pub names: Vec<String>,
    /// Levels before `other` and `missing`.
    pub declared: usize,
    /// Where they come from.
    pub source: LevelSource,
}

/// Where levels come from.
#[derive(Debug, Clone, PartialEq)]
pub enum LevelSource {
    /// A declared category, with `other`.
    Category(usize),
    /// A number in bins of equal width.
    Bins(Value),
}

impl Levels {
    /// The level of a record.
    #[must_use]
    pub fn of(&self, row: &Row) -> usize {
        let missing = self.names.len() - 1;
        match &self.source {
            LevelSource::Category(at) => match row.get(*at) {
                Some(Cell::Category(index)) => *index,
                Some(Cell::Missing) | None => missing,
                Some(_) => self.declared,
            },
            LevelSource::Bins(value) => value.of(row).map_or(missing, |x| bin(value, self.declared, x)),
        }
    }

    /// The declared level of a record, where it has one.
    #[must_use]
    pub fn declared_of(&self, row: &Row) -> Option<usize> {
        Some(self.of(row)).filter(|&level| level < self.declared)
    }
}

/// The bin of a value among `bins` of equal width.
#[must_use]
pub(crate) fn bin(value: &Value, bins: usize, x: f64) -> usize {
    let bounds = value.bin_bounds(bins);
    ((bounds.share(x) * bins as f64) as usize).min(bins - 1)
}

impl Value {
    /// The outer edges of `bins` bins: for one whole number a bin, half a unit beyond the bounds.
    #[must_use]
    pub fn bin_bounds(&self, bins: usize) -> Bounds {
        let Bounds { low, high } = self.bounds;
        if self.is_one_value_a_bin(bins) { Bounds { low: low - 0.5, high: high + 0.5 } } else { self.bounds }
    }

    /// Whether so many bins hold one whole number each.
    #[must_use]
    pub fn is_one_value_a_bin(&self, bins: usize) -> bool {
        self.integer && self.bounds.range() + 1.0 == bins as f64
    }

    /// Bins for cumulative counts: one for each whole number up to 1,024, else 256.
    #[must_use]
    pub fn fine_bins(&self) -> usize {
        let values = self.bounds.range() + 1.0;
        if self.integer && values <= MOST_WHOLE_BINS { values as usize } else { BINS }
    }
}

/// Bins of cumulative counts where nothing else is asked.
pub const BINS: usize = 256;

/// The most whole numbers that have a bin each.
const MOST_WHOLE_BINS: f64 = 1024.0;

/// A column with two values, of which the second is yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum YesNo {
    /// A category of two values.
    Category(usize),
    /// A whole number between 0 and 1.
    Number(usize),
}

impl YesNo {
    /// Whether a record says yes; nothing where it says neither.
    #[must_use]
    pub fn of(self, row: &Row) -> Option<bool> {
        match self {
            Self::Category(at) => match row.get(at)? {
                Cell::Category(index) => Some(*index == 1),
                _ => None,
            },
            Self::Number(at) => match row.get(at)? {
                Cell::Number(value) => Some(*value >= 0.5),
                _ => None,
            },
        }
    }
}

/// Which records count. `NOT` is pushed to the leaves while reading, so that NULL compares false everywhere and the whole
/// is what SQL says.
#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    /// All hold.
    And(Box<Self>, Box<Self>),
    /// One holds.
    Or(Box<Self>, Box<Self>),
    /// A column against a literal.
    Compare(usize, Comparison, Literal),
    /// A column has no value (or has one).
    IsNull {
        /// The column.
        column: usize,
        /// `IS NOT NULL`.
        negated: bool,
    },
}

/// Comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// =
    Equal,
    /// <>
    NotEqual,
    /// <
    Less,
    /// <=
    LessOrEqual,
    /// >
    Greater,
    /// >=
    GreaterOrEqual,
}

/// The right side of a comparison, in the units of its column.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// A number, or the days of a date.
    Number(f64),
    /// A declared category; with numbers as values all are kept, to be ordered.
    Category {
        /// Position of the category, or nothing where it is not declared.
        index: Option<usize>,
    },
    /// Categories that are numbers, against a number: value of each.
    Ordered {
        /// The values of the categories.
        values: Vec<f64>,
        /// What they are compared with.
        number: f64,
    },
    /// Bytes of an open set.
    Text(Vec<u8>),
}

impl Predicate {
    /// Whether a record counts.
    #[must_use]
    pub fn holds(&self, row: &Row) -> bool {
        match self {
            Self::And(left, right) => left.holds(row) && right.holds(row),
            Self::Or(left, right) => left.holds(row) || right.holds(row),
            Self::IsNull { column, negated } => {
                matches!(row.get(*column), None | Some(Cell::Missing)) != *negated
            }
            Self::Compare(column, comparison, literal) => {
                row.get(*column).is_some_and(|cell| compares(cell, *comparison, literal))
            }
        }
    }
}

fn compares(cell: &Cell, comparison: Comparison, literal: &Literal) -> bool {
    match (cell, literal) {
        (Cell::Number(left), Literal::Number(right)) => comparison.holds(*left, *right),
        (Cell::Category(index), Literal::Ordered { values, number }) => {
            values.get(*index).is_some_and(|left| comparison.holds(*left, *number))
        }
        (Cell::Category(left), Literal::Category { index }) => {
            (Some(*left) == *index) == (comparison == Comparison::Equal)
        }
        // What nobody declared equals nothing that is declared.
        (Cell::Other, Literal::Category { .. }) => comparison == Comparison::NotEqual,
        (Cell::Other, Literal::Ordered { .. }) => comparison == Comparison::NotEqual,
        (Cell::Text(left), Literal::Text(right)) => (left == right) == (comparison == Comparison::Equal),
        _ => false,
    }
}

impl Comparison {
    fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
        }
    }

    /// The comparison that holds exactly where this one does not, among values.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
            Self::Greater => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::Less,
        }
    }

    /// The comparison with its sides exchanged.
    #[must_use]
    pub fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            same => same,
        }
    }
}

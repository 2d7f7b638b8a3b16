//! Blocks: what a record adds to the sum, as small whole numbers, and how far one record can move it.
//!
//! Every block keeps two promises that the guarantee rests on: a record's features have a norm of at most
//! [`Block::squared_sensitivity`], and features of two records have an inner product of at least 0.

use crate::columns::{Bounds, Cell, Row};
use crate::kinds::moments::triangle_index;
use crate::kinds::root;
use crate::kinds::survival;
use crate::language::ast::{Levels, Value, YesNo, bin};
use crate::noise::Unit;

/// Bins on either side of Kendall's table.
pub const KENDALL_BINS: usize = 8;

/// Records that a count takes.
#[derive(Debug, Clone, PartialEq)]
pub enum Counted {
    /// All that pass the filter.
    All,
    /// Those that have a value of a column.
    Present(usize),
    /// Those that have none.
    Missing(usize),
    /// Those whose value lies outside its bounds.
    Clamped(Value),
}

/// A part of the sum with a sensitivity of its own.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// 1.
    Count(Counted),
    /// (a, 1 − a), and 1 for a missing value where `missing` is set.
    Mean {
        /// Of what.
        value: Value,
        /// Whether missing values have a coordinate.
        missing: bool,
    },
    /// (a², √2·a(1 − a), (1 − a)²), and 1 for a missing value.
    Variance {
        /// Of what.
        value: Value,
        /// Whether missing values have a coordinate.
        missing: bool,
    },
    /// e_j over all levels.
    Histogram(Levels),
    /// Column j of T, and ρ_B for a missing value.
    Cumulative {
        /// Of what.
        value: Value,
        /// B.
        bins: usize,
        /// Whether missing values have a coordinate.
        missing: bool,
    },
    /// Column j of T in the half of its class.
    ClassCumulative {
        /// Of what.
        value: Value,
        /// The class.
        label: YesNo,
        /// B.
        bins: usize,
    },
    /// e_{ij} over all levels of both.
    Table(Levels, Levels),
    /// e_{ij} over the declared levels of both: true and predicted classes.
    Confusion(Levels, Levels),
    /// e_{ij} over bins of two numbers.
    Ranks(Value, Value),
    /// A table for each pair of columns.
    Tables(Vec<Levels>),
    /// The triangle of zzᵀ, off-diagonal times √2.
    Moments(Vec<Value>),
    /// e_t among the events or among the censored.
    Survival(Value, YesNo),
    /// 1 from every node that has a record in the group.
    Nodes,
}

/// (a, 1 − a) in grid steps: exact complements, so that the norm is at most 2^F.
#[must_use]
pub fn mean_feature(share: f64, bits: u32) -> [i64; 2] {
    let scale = 1_i64 << bits;
    let above = (share * scale as f64).round_ties_even() as i64;
    [above, scale - above]
}

impl Block {
    /// Coordinates in one group.
    #[must_use]
    pub fn coordinates(&self) -> u128 {
        let product = |a: &Levels, b: &Levels| (a.names.len() as u128) * (b.names.len() as u128);
        match self {
            Self::Count(_) | Self::Nodes => 1,
            Self::Mean { missing, .. } => 2 + u128::from(*missing),
            Self::Variance { missing, .. } => 3 + u128::from(*missing),
            Self::Histogram(levels) => levels.names.len() as u128,
            Self::Cumulative { bins, missing, .. } => *bins as u128 + u128::from(*missing),
            Self::ClassCumulative { bins, .. } => 2 * *bins as u128,
            Self::Table(a, b) => product(a, b),
            Self::Confusion(a, b) => (a.declared as u128) * (b.declared as u128),
            Self::Ranks(..) => (KENDALL_BINS * KENDALL_BINS) as u128,
            Self::Tables(columns) => pairs(columns).map(|(a, b)| product(a, b)).sum(),
            Self::Moments(values) => ((values.len() + 1) * (values.len() + 2) / 2) as u128,
            Self::Survival(..) => 2 * survival::BINS as u128,
        }
    }

    /// Δ: the norm of one record's features before they are rounded.
    ///
    /// # Guarantee
    /// No record has features of a larger norm.
    ///
    /// # Assumes
    /// Nothing: values are clamped to their declared bounds.
    #[must_use]
    pub fn sensitivity(&self) -> f64 {
        match self {
            Self::Cumulative { bins, .. } | Self::ClassCumulative { bins, .. } => root::sensitivity(*bins),
            Self::Tables(columns) => (pairs(columns).count() as f64).sqrt(),
            Self::Moments(values) => values.len() as f64 + 1.0,
            _ => 1.0,
        }
    }

    /// The largest single coordinate of a record.
    #[must_use]
    pub fn largest(&self) -> f64 {
        match self {
            // The coordinate for missing values has all of the norm.
            Self::Cumulative { missing: true, .. } => self.sensitivity(),
            Self::Moments(_) => std::f64::consts::SQRT_2,
            _ => 1.0,
        }
    }

    /// The square of the most that one record can move the integer sum, in grid steps, rounded up.
    ///
    /// # Guarantee
    /// `features` at this grid never have a larger squared norm.
    ///
    /// # Assumes
    /// Nothing.
    #[must_use]
    pub fn squared_sensitivity(&self, bits: u32) -> f64 {
        let scale = libm::ldexp(1.0, bits as i32);
        match self {
            Self::Cumulative { bins, .. } | Self::ClassCumulative { bins, .. } => {
                (root::squared_sensitivity(&root::integer_column(*bins, bits)) as f64).next_up()
            }
            Self::Variance { .. } => rounded(scale, 3),
            Self::Moments(values) => {
                let size = values.len() + 1;
                rounded(scale * self.sensitivity(), size * (size + 1) / 2)
            }
            Self::Tables(columns) => scale * scale * pairs(columns).count() as f64,
            _ => scale * scale,
        }
    }

    /// The square of the most that the integer sum may differ between neighbours, in grid steps, rounded up.
    ///
    /// # Guarantee
    /// Sums of neighbours by `unit` never differ by more; `factor` is [`Unit::factor`] of this block.
    ///
    /// # Assumes
    /// Nothing.
    #[must_use]
    pub fn squared_change(&self, bits: u32, unit: Unit, factor: f64) -> f64 {
        match self {
            // Rounding may turn two records that point at right angles a little apart: each counts with its own rounding.
            Self::Moments(values) => {
                let size = values.len() + 1;
                let coordinates = (size * (size + 1) / 2) as f64;
                let exact = factor * libm::ldexp(self.sensitivity(), bits as i32);
                let norm = exact + unit.records_changed() * coordinates.sqrt() / 2.0;
                (norm * norm).next_up()
            }
            // All other features are not negative, rounded or not.
            _ => (self.squared_sensitivity(bits) * factor * factor).next_up(),
        }
    }

    /// Whether it is one coordinate, which a replaced record moves no further than one that is there or blank.
    #[must_use]
    pub fn is_count(&self) -> bool {
        matches!(self, Self::Count(_))
    }

    /// Adds a record's features to its group's coordinates.
    pub fn add(&self, row: &Row, bits: u32, sum: &mut [i64]) {
        let one = 1_i64 << bits;
        match self {
            Self::Count(counted) => sum[0] += one * i64::from(counted.takes(row)),
            Self::Nodes => {}
            Self::Mean { value, missing } => match value.of(row) {
                Some(x) => add_all(sum, &mean_feature(value.bounds.share(x), bits)),
                None if *missing => sum[2] += one,
                None => {}
            },
            Self::Variance { value, missing } => match value.of(row) {
                Some(x) => add_all(sum, &variance_feature(value.bounds.share(x), bits)),
                None if *missing => sum[3] += one,
                None => {}
            },
            Self::Histogram(levels) => sum[levels.of(row)] += one,
            Self::Table(a, b) => sum[a.of(row) * b.names.len() + b.of(row)] += one,
            Self::Confusion(a, b) => {
                if let (Some(i), Some(j)) = (a.declared_of(row), b.declared_of(row)) {
                    sum[i * b.declared + j] += one;
                }
            }
            Self::Ranks(x, y) => {
                if let (Some(i), Some(j)) = (x.of(row), y.of(row)) {
                    sum[bin(x, KENDALL_BINS, i) * KENDALL_BINS + bin(y, KENDALL_BINS, j)] += one;
                }
            }
            Self::Survival(time, died) => {
                if let (Some(t), Some(died)) = (time.of(row), died.of(row)) {
                    let half = if died { 0 } else { survival::BINS };
                    sum[half + bin(time, survival::BINS, t)] += one;
                }
            }
            Self::Tables(columns) => add_tables(columns, row, one, sum),
            Self::Moments(values) => add_moments(values, row, bits, sum),
            Self::Cumulative { .. } | Self::ClassCumulative { .. } => self.add_to_bin(row, bits, sum),
        }
    }

    /// Cumulative blocks are summed as plain bins first and turned into columns of T once at the end
    /// ([`finish`](Self::finish)): the same whole numbers, B times fewer additions.
    fn add_to_bin(&self, row: &Row, bits: u32, sum: &mut [i64]) {
        match self {
            Self::Cumulative { value, bins, missing } => match value.of(row) {
                Some(x) => sum[bin(value, *bins, x)] += 1,
                None if *missing => sum[*bins] += missing_weight(*bins, bits),
                None => {}
            },
            Self::ClassCumulative { value, label, bins } => {
                if let (Some(x), Some(class)) = (value.of(row), label.of(row)) {
                    sum[usize::from(class) * bins + bin(value, *bins, x)] += 1;
                }
            }
            _ => {}
        }
    }

    /// Turns the bins of a group into sums of columns of T.
    pub fn finish(&self, bits: u32, sum: &mut [i64]) {
        match self {
            Self::Cumulative { bins, .. } => into_columns(&mut sum[..*bins], bits),
            Self::ClassCumulative { bins, .. } => {
                sum.chunks_mut(*bins).for_each(|class| into_columns(class, bits));
            }
            _ => {}
        }
    }
}

/// All pairs of columns in order.
pub(crate) fn pairs(columns: &[Levels]) -> impl Iterator<Item = (&Levels, &Levels)> {
    columns.iter().enumerate().flat_map(|(i, a)| columns[i + 1..].iter().map(move |b| (a, b)))
}

/// A norm of at most `norm` after each of `coordinates` numbers was rounded, squared.
fn rounded(norm: f64, coordinates: usize) -> f64 {
    let norm = norm + (coordinates as f64).sqrt() / 2.0;
    (norm * norm).next_up()
}

/// ρ_B in grid steps, rounded down: a missing value moves the sum no further than a value.
pub(crate) fn missing_weight(bins: usize, bits: u32) -> i64 {
    root::squared_sensitivity(&root::integer_column(bins, bits)).isqrt() as i64
}

fn add_all(sum: &mut [i64], feature: &[i64]) {
    sum.iter_mut().zip(feature).for_each(|(sum, x)| *sum += x);
}

fn variance_feature(share: f64, bits: u32) -> [i64; 3] {
    let scale = libm::ldexp(1.0, bits as i32);
    let other = 1.0 - share;
    [share * share, std::f64::consts::SQRT_2 * share * other, other * other]
        .map(|x| (x * scale).round_ties_even() as i64)
}

fn add_tables(columns: &[Levels], row: &Row, one: i64, sum: &mut [i64]) {
    let mut start = 0;
    for (a, b) in pairs(columns) {
        sum[start + a.of(row) * b.names.len() + b.of(row)] += one;
        start += a.names.len() * b.names.len();
    }
}

fn add_moments(values: &[Value], row: &Row, bits: u32, sum: &mut [i64]) {
    let scale = libm::ldexp(1.0, bits as i32);
    let scaled: Option<Vec<f64>> =
        values.iter().map(|value| value.of(row).map(|x| 2.0 * value.bounds.share(x) - 1.0)).collect();
    let Some(scaled) = scaled else { return };
    let size = values.len() + 1;
    let z = |i: usize| if i == 0 { 1.0 } else { scaled[i - 1] };
    for i in 0..size {
        for j in i..size {
            let weight = if i == j { 1.0 } else { std::f64::consts::SQRT_2 };
            sum[triangle_index(size, i, j)] += (z(i) * z(j) * weight * scale).round_ties_even() as i64;
        }
    }
}

fn into_columns(counts: &mut [i64], bits: u32) {
    let column = root::integer_column(counts.len(), bits);
    let bins = counts.to_vec();
    counts.fill(0);
    for (bin, &records) in bins.iter().enumerate().filter(|(_, records)| **records != 0) {
        for (sum, r) in counts[bin..].iter_mut().zip(&column) {
            *sum += records * r;
        }
    }
}

impl Counted {
    /// Whether a record counts.
    #[must_use]
    pub fn takes(&self, row: &Row) -> bool {
        let is_missing = |at: usize| matches!(row.get(at), None | Some(Cell::Missing));
        match self {
            Self::All => true,
            Self::Present(at) => !is_missing(*at),
            Self::Missing(at) => is_missing(*at),
            Self::Clamped(value) => {
                let Bounds { low, high } = value.bounds;
                // Of `clamp(x, lo, hi)` what is inside counts as out of bounds before it was held.
                let inner = match &value.scalar {
                    crate::language::ast::Scalar::Clamp(inner, _) => inner.evaluate(row),
                    scalar => scalar.evaluate(row),
                };
                inner.is_some_and(|x| x < low || x > high)
            }
        }
    }
}

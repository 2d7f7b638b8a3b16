//! Answers that are lists and tables.

use super::{Answer, Figure, TOO_FEW};
use crate::clean::nonnegative;
use crate::columns::Bounds;
use crate::estimate::{Estimate, half_width_in_deviations};
use crate::kinds::moments::{Fit, Moments};
use crate::kinds::pairs::{PairTable, make_consistent};
use crate::kinds::{
    confusion as classes, crosstab as association, histogram as cells, survival as times, too_few,
};
use crate::language::ast::{Levels, Value};

/// Counts with the interval of each cell, and one for all cells at once.
fn counted(raw: &[f64], noise: f64) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let half = half_width_in_deviations() * noise;
    (nonnegative(raw), raw.iter().map(|y| y - half).collect(), raw.iter().map(|y| y + half).collect())
}

pub(super) fn histogram(levels: &Levels, sum: &[f64], noise: f64) -> Answer {
    let (value, low, high) = counted(sum, noise);
    let mut answer = list(value, low, high, sum.to_vec());
    answer.labels.clone_from(&levels.names);
    answer.more.insert("simultaneous".into(), cells::simultaneous(sum.len(), noise));
    answer
}

fn list(value: Vec<f64>, low: Vec<f64>, high: Vec<f64>, raw: Vec<f64>) -> Answer {
    Answer {
        value: Some(Figure::List(value)),
        low: Some(Figure::List(low)),
        high: Some(Figure::List(high)),
        raw: Some(Figure::List(raw)),
        ..Answer::default()
    }
}

fn rows(flat: &[f64], columns: usize) -> Vec<Vec<f64>> {
    flat.chunks(columns).map(<[f64]>::to_vec).collect()
}

fn table(raw: &[f64], columns: usize, noise: f64) -> Answer {
    let (value, low, high) = counted(raw, noise);
    let figure = |flat: &[f64]| Some(Figure::Table(rows(flat, columns)));
    Answer {
        value: figure(&value),
        low: figure(&low),
        high: figure(&high),
        raw: figure(raw),
        ..Answer::default()
    }
}

pub(super) fn crosstab(a: &Levels, b: &Levels, sum: &[f64], noise: f64) -> Answer {
    let mut answer = table(sum, b.names.len(), noise);
    answer.labels.clone_from(&a.names);
    answer.columns.clone_from(&b.names);
    // What nobody declared has hardly any records: only the declared part says how the two go together.
    let declared: Vec<Vec<f64>> =
        rows(sum, b.names.len())[..a.declared].iter().map(|row| row[..b.declared].to_vec()).collect();
    if let Some(found) = association::association(&declared, noise) {
        answer.more.insert("cramers_v".into(), found.cramers_v);
    }
    answer
}

pub(super) fn pairs(columns: &[(&Levels, &Levels)], sum: &[f64], noise: f64) -> Answer {
    let mut start = 0;
    let mut tables: Vec<PairTable> = Vec::new();
    for (a, b) in columns {
        let size = a.names.len() * b.names.len();
        let cells = rows(&sum[start..start + size], b.names.len());
        tables.push(PairTable { first: a.text.clone(), second: b.text.clone(), cells });
        start += size;
    }
    let half = half_width_in_deviations() * noise;
    let moved = |by: f64| {
        let shift = |table: &PairTable| -> Vec<Vec<f64>> {
            table.cells.iter().map(|row| row.iter().map(|cell| cell + by).collect()).collect()
        };
        Some(Figure::Tables(tables.iter().map(shift).collect()))
    };
    let (raw, low, high) = (moved(0.0), moved(-half), moved(half));
    let labels = tables.iter().map(|table| format!("{} × {}", table.first, table.second)).collect();
    make_consistent(&mut tables);
    let value = Some(Figure::Tables(tables.into_iter().map(|table| table.cells).collect()));
    Answer { value, low, high, raw, labels, ..Answer::default() }
}

pub(super) fn correlations(values: &[Value], sum: &[f64], (noise, population): (f64, bool)) -> Answer {
    let moments = Moments::new(values.len() + 1, sum, noise);
    if too_few(moments.count(), noise) {
        return Answer::none(TOO_FEW);
    }
    let cleaned = moments.correlations();
    let p = values.len();
    let raw = |i: usize, j: usize| -> Estimate {
        if i == j { Estimate::new(1.0, 0.0).sampled(0.0) } else { moments.correlation(i + 1, j + 1) }
    };
    if (0..p).any(|i| (0..p).any(|j| !raw(i, j).deviation.is_finite())) {
        return Answer::none(TOO_FEW);
    }
    let matrix = |f: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
        (0..p).map(|i| (0..p).map(|j| f(i, j)).collect()).collect()
    };
    let shape = |matrix: Vec<Vec<f64>>| {
        Some(if p == 2 { Figure::Number(matrix[0][1]) } else { Figure::Table(matrix) })
    };
    let names: Vec<String> = values.iter().map(|value| value.text.clone()).collect();
    let labels = if p == 2 { Vec::new() } else { names };
    Answer {
        value: shape(cleaned),
        low: shape(matrix(&|i, j| raw(i, j).interval(population).0)),
        high: shape(matrix(&|i, j| raw(i, j).interval(population).1)),
        raw: shape(matrix(&|i, j| raw(i, j).value)),
        columns: labels.clone(),
        labels,
        ..Answer::default()
    }
}

/// Intercept and slopes in the units of the columns.
pub(super) fn least_squares(values: &[Value], sum: &[f64], (noise, population): (f64, bool)) -> Answer {
    let Some(fit) = Moments::new(values.len() + 1, sum, noise).least_squares() else {
        return Answer::none(TOO_FEW);
    };
    let found: Vec<Estimate> = (0..values.len()).map(|at| in_units(values, &fit, at)).collect();
    let ends = found.iter().map(|estimate| estimate.interval(population));
    let (low, high) = ends.unzip();
    let raw: Vec<f64> = found.iter().map(|estimate| estimate.value).collect();
    let slopes = values[..values.len() - 1].iter().map(|value| value.text.clone());
    Answer {
        labels: std::iter::once("intercept".to_owned()).chain(slopes).collect(),
        ..list(raw.clone(), low, high, raw)
    }
}

/// Coefficient `at` (0 is the intercept) from units where every column runs from −1 to 1.
fn in_units(values: &[Value], fit: &Fit, at: usize) -> Estimate {
    let half = |bounds: Bounds| bounds.range() / 2.0;
    let middle = |bounds: Bounds| bounds.low + half(bounds);
    let y = values[values.len() - 1].bounds;
    let mut weights = vec![0.0; fit.weights.len()];
    if at == 0 {
        weights[0] = half(y);
        for (i, value) in values[..values.len() - 1].iter().enumerate() {
            weights[i + 1] = -half(y) * middle(value.bounds) / half(value.bounds);
        }
    } else {
        weights[at] = half(y) / half(values[at - 1].bounds);
    }
    let quadratic = |matrix: &[Vec<f64>]| -> f64 {
        matrix.iter().zip(&weights).map(|(row, w)| w * crate::estimate::dot(row, &weights)).sum()
    };
    let offset = if at == 0 { middle(y) } else { 0.0 };
    let value = offset + crate::estimate::dot(&weights, &fit.weights);
    Estimate::new(value, quadratic(&fit.covariance).max(0.0).sqrt()).sampled(quadratic(&fit.sampling))
}

pub(super) fn survival(time: &Value, sum: &[f64], (noise, population): (f64, bool)) -> Answer {
    let curve = times::curve(times::Times::halves(sum), noise);
    if too_few(sum.iter().sum(), noise * (sum.len() as f64).sqrt()) {
        return Answer::none(TOO_FEW);
    }
    let bins = curve.survival.len();
    let (low, high) = (0..bins).map(|t| curve.at(t).interval(population)).unzip();
    // People do not come back: the lowest so far.
    let falling = curve.survival.iter().scan(1.0_f64, |least, &s| {
        *least = least.min(s);
        Some(*least)
    });
    let bounds = time.bin_bounds(bins);
    let label = |t: usize| {
        format!("{}", ((bounds.low + bounds.range() * (t + 1) as f64 / bins as f64) * 1e6).round() / 1e6)
    };
    Answer {
        labels: (0..bins).map(label).collect(),
        ..list(falling.collect(), low, high, curve.survival.clone())
    }
}

pub(super) fn confusion(levels: &Levels, sum: &[f64], noise: f64) -> Answer {
    let mut answer = table(sum, levels.declared, noise);
    answer.labels = levels.names[..levels.declared].to_vec();
    answer.columns.clone_from(&answer.labels);
    for (name, recall) in answer.labels.iter().zip(classes::recall(levels.declared, sum)) {
        answer.more.insert(format!("recall({name})"), recall);
    }
    answer
}

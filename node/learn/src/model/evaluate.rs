//! Loss, predictions and the plain gradient over a data set. Nothing here is private.

use super::chunk::{Chunk, Examples};
use super::error::{ModelError, in_words};
use super::{Model, kernel};
use crate::data::{Dataset, Task};

/// What a model says about each record.
#[derive(Debug, Clone, PartialEq)]
pub enum Predictions {
    /// A real number per record.
    Values(Vec<f32>),
    /// The probability of label 1 per record.
    Binary(Vec<f32>),
    /// A probability per class, record by record.
    Classes {
        /// Number of classes.
        classes: usize,
        /// Row-major, `classes` numbers per record.
        probabilities: Vec<f32>,
    },
}

impl Predictions {
    /// The likeliest class of each record (the first of equals); `None` for values.
    pub fn labels(&self) -> Option<Vec<u32>> {
        match self {
            Self::Values(_) => None,
            Self::Binary(ones) => Some(ones.iter().map(|&one| u32::from(one > 0.5)).collect()),
            Self::Classes { classes, probabilities } => {
                Some(probabilities.chunks_exact(*classes).map(likeliest).collect())
            }
        }
    }
}

/// The mean loss over `data`, penalty included.
///
/// # Errors
/// Data or parameters that do not fit the model, or no record.
pub fn loss(model: &dyn Model, params: &[f32], data: &Dataset) -> Result<f64, ModelError> {
    check(model, params, data)?;
    let mut total = 0.0;
    for_each_chunk(model, params, data, |outputs, chunk| total += model.chunk_loss(outputs, chunk));
    let squares = if model.penalty() > 0.0 { kernel::squared_norm_of(params) } else { 0.0 };
    Ok(total / data.len() as f64 + 0.5 * model.penalty() * squares)
}

/// The loss of each record, penalty left out.
///
/// # Errors
/// As for [`loss`].
pub fn losses(model: &dyn Model, params: &[f32], data: &Dataset) -> Result<Vec<f64>, ModelError> {
    check(model, params, data)?;
    let (mut pass, mut chunk) = (model.pass(1), Chunk::with_capacity(1, model.inputs()));
    let one = |record: u32| {
        chunk.gather(data, &[record]);
        model.chunk_loss(pass.forward(params, &chunk), &chunk)
    };
    Ok((0..data.len() as u32).map(one).collect())
}

/// Predictions for all records, in order.
///
/// # Errors
/// Features or parameters that do not fit the model.
pub fn predict(model: &dyn Model, params: &[f32], data: &Dataset) -> Result<Predictions, ModelError> {
    check_sizes(model, params, data)?;
    let mut values = Vec::with_capacity(data.len() * model.outputs());
    for_each_chunk(model, params, data, |outputs, _| {
        model.chunk_predict(outputs);
        values.extend_from_slice(outputs);
    });
    Ok(match model.task() {
        Task::Classification { classes: 2 } if model.outputs() == 1 => Predictions::Binary(values),
        Task::Classification { classes } => Predictions::Classes { classes, probabilities: values },
        Task::Regression | Task::Unlabelled => Predictions::Values(values),
    })
}

/// The gradient of [`loss`]: not clipped, not private.
///
/// # Errors
/// As for [`loss`].
pub fn gradient(model: &dyn Model, params: &[f32], data: &Dataset) -> Result<Vec<f32>, ModelError> {
    check(model, params, data)?;
    let mut gradient = vec![0.0_f64; params.len()];
    let mut part = vec![0.0; params.len()];
    let rows = model.chunk_rows();
    let (mut pass, mut chunk) = (model.pass(rows), Chunk::with_capacity(rows, model.inputs()));
    for records in all_records(data).chunks(rows) {
        chunk.gather(data, records);
        pass.forward(params, &chunk);
        pass.backward(params, &chunk);
        pass.sum(&mut chunk, &mut part);
        gradient.iter_mut().zip(&part).for_each(|(sum, &value)| *sum += f64::from(value));
    }
    let count = data.len() as f64;
    let with_penalty =
        |(&sum, &param): (&f64, &f32)| (sum / count + model.penalty() * f64::from(param)) as f32;
    Ok(gradient.iter().zip(params).map(with_penalty).collect())
}

/// The gradient of Σ `weights[i]`·(loss of record i) over the number of records, penalty included: not clipped, not private.
///
/// # Errors
/// As for [`loss`].
///
/// # Panics
/// Where there is not one weight for each record.
pub fn weighted_gradient(
    model: &dyn Model,
    params: &[f32],
    data: &Dataset,
    weights: &[f32],
) -> Result<Vec<f32>, ModelError> {
    check(model, params, data)?;
    assert_eq!(weights.len(), data.len(), "one weight for each record");
    let mut gradient = vec![0.0_f64; params.len()];
    let mut part = vec![0.0; params.len()];
    let rows = model.chunk_rows();
    let mut norms = vec![0.0; rows];
    let (mut pass, mut chunk) = (model.pass(rows), Chunk::with_capacity(rows, model.inputs()));
    for (records, weights) in all_records(data).chunks(rows).zip(weights.chunks(rows)) {
        chunk.gather(data, records);
        pass.forward(params, &chunk);
        pass.backward(params, &chunk);
        pass.squared_norms(&chunk, &mut norms[..records.len()]);
        pass.weighted_sum(&mut chunk, weights, &mut part);
        gradient.iter_mut().zip(&part).for_each(|(sum, &value)| *sum += f64::from(value));
    }
    let count = data.len() as f64;
    let with_penalty =
        |(&sum, &param): (&f64, &f32)| (sum / count + model.penalty() * f64::from(param)) as f32;
    Ok(gradient.iter().zip(params).map(with_penalty).collect())
}

/// Whether features, targets and parameters fit the model and there is at least one record.
///
/// # Errors
/// The first misfit, by name.
pub fn check(model: &dyn Model, params: &[f32], data: &Dataset) -> Result<(), ModelError> {
    check_sizes(model, params, data)?;
    if data.is_empty() {
        return Err(ModelError::NoRecords);
    }
    // The mean needs no targets, and does not mind them.
    if model.task() != Task::Unlabelled && model.task() != data.task() {
        let (needs, has) = (in_words(model.task()), in_words(data.task()));
        return Err(ModelError::Targets { kind: model.kind(), needs, has });
    }
    Ok(())
}

fn check_sizes(model: &dyn Model, params: &[f32], data: &Dataset) -> Result<(), ModelError> {
    if data.columns() != model.inputs() {
        return Err(ModelError::Features { kind: model.kind(), needs: model.inputs(), has: data.columns() });
    }
    let needs = model.parameter_count();
    if params.len() != needs {
        return Err(ModelError::Parameters { kind: model.kind(), needs, has: params.len() });
    }
    Ok(())
}

fn for_each_chunk(model: &dyn Model, params: &[f32], data: &Dataset, mut f: impl FnMut(&mut [f32], &Chunk)) {
    let rows = model.chunk_rows();
    let (mut pass, mut chunk) = (model.pass(rows), Chunk::with_capacity(rows, model.inputs()));
    for records in all_records(data).chunks(rows) {
        chunk.gather(data, records);
        f(pass.forward(params, &chunk), &chunk);
    }
}

fn all_records(data: &dyn Examples) -> Vec<u32> {
    (0..data.count() as u32).collect()
}

fn likeliest(row: &[f32]) -> u32 {
    let best = row.iter().enumerate().fold((0, f32::NEG_INFINITY), |best, (class, &probability)| {
        if probability > best.1 { (class, probability) } else { best }
    });
    best.0 as u32
}

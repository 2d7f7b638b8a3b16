//! How good models are: judged on the common test set, for simulations and swarms alike.

use learn::data::Dataset;
use learn::model::{self, Model, ModelError};
use learn::{metrics, model::Predictions};
use serde::Serialize;

use crate::Setup;

/// Models that are judged one by one; more are judged at even distances.
const MOST_JUDGED: usize = 64;

/// How good models are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Quality {
    /// Mean loss on the test set; for `mean` the squared distance of a node's estimate to the true mean, averaged over nodes.
    pub test_loss: Option<f64>,
    /// Share of test records that are classified rightly; nothing for regression and `mean`.
    pub test_acc: Option<f64>,
    /// Root mean squared distance of the nodes' models to their mean.
    pub consensus_distance: Option<f64>,
}

/// Judges models on the common test set, or for `mean` by their distance to the true mean.
pub struct Judge<'a> {
    model: &'a dyn Model,
    test: Option<&'a Dataset>,
    truth: Option<Vec<f64>>,
}

impl<'a> Judge<'a> {
    /// For the runs of `setup`.
    pub fn new(setup: &'a Setup) -> Self {
        let truth = (!setup.config.algorithm.kind.trains()).then(|| true_mean(&setup.train));
        Self { model: setup.model.as_ref(), test: setup.test.as_ref(), truth }
    }

    /// Judges the models of several nodes: accuracy and loss are means over nodes (of many nodes, over 64 at even distances).
    ///
    /// # Errors
    /// Models that do not fit the data.
    pub fn judge(&self, models: &[&[f32]]) -> Result<Quality, ModelError> {
        let consensus_distance = consensus_distance(models);
        if let Some(truth) = &self.truth {
            let total: f64 = models.iter().map(|model| squared_distance(model, truth)).sum();
            let test_loss = (!models.is_empty()).then(|| total / models.len() as f64);
            return Ok(Quality { test_loss, test_acc: None, consensus_distance });
        }
        let (Some(test), false) = (self.test, models.is_empty()) else {
            return Ok(Quality { consensus_distance, ..Quality::default() });
        };
        // After a clean round all models are the same: one of them says it for all.
        let same = models.iter().all(|model| model == &models[0]);
        let picked = if same { models[..1].to_vec() } else { evenly(models) };
        let (mut loss, mut right) = (0.0, Some(0.0));
        for params in &picked {
            loss += model::loss(self.model, params, test)?;
            let accuracy = self.accuracy(&model::predict(self.model, params, test)?, test);
            right = right.zip(accuracy).map(|(sum, accuracy)| sum + accuracy);
        }
        let count = picked.len() as f64;
        let finite = |value: f64| value.is_finite().then_some(value);
        Ok(Quality {
            test_loss: finite(loss / count),
            test_acc: right.map(|sum| sum / count),
            consensus_distance,
        })
    }

    fn accuracy(&self, predictions: &Predictions, test: &Dataset) -> Option<f64> {
        metrics::accuracy(&predictions.labels()?, &test.labels()?).ok()
    }
}

/// The mean of the models.
pub fn mean_model(models: &[&[f32]]) -> Vec<f32> {
    let mean = mean(models);
    mean.into_iter().map(|value| value as f32).collect()
}

fn mean(models: &[&[f32]]) -> Vec<f64> {
    let mut sum = vec![0.0_f64; models.first().map_or(0, |model| model.len())];
    for model in models {
        sum.iter_mut().zip(*model).for_each(|(sum, &value)| *sum += f64::from(value));
    }
    let count = models.len().max(1) as f64;
    sum.iter_mut().for_each(|sum| *sum /= count);
    sum
}

/// Root mean squared distance of models to their mean; `None` where there is none or it is not finite.
pub fn consensus_distance(models: &[&[f32]]) -> Option<f64> {
    let centre = mean(models);
    let total: f64 = models.iter().map(|model| squared_distance(model, &centre)).sum();
    // Equal models agree exactly, whatever rounding says of their mean.
    let same = models.iter().all(|model| model == &models[0]);
    let distance = if same { 0.0 } else { (total / models.len() as f64).sqrt() };
    (!models.is_empty() && distance.is_finite()).then_some(distance)
}

fn squared_distance(model: &[f32], centre: &[f64]) -> f64 {
    model.iter().zip(centre).map(|(&value, centre)| (f64::from(value) - centre).powi(2)).sum()
}

fn evenly<'m>(models: &[&'m [f32]]) -> Vec<&'m [f32]> {
    let count = models.len().min(MOST_JUDGED);
    (0..count).map(|at| models[at * models.len() / count]).collect()
}

/// The mean over nodes of the mean of their records: what `mean` estimates.
fn true_mean(parts: &[Dataset]) -> Vec<f64> {
    let mut sum = vec![0.0; parts.first().map_or(0, Dataset::columns)];
    for data in parts {
        let share = 1.0 / (data.len().max(1) * parts.len()) as f64;
        for record in 0..data.len() {
            sum.iter_mut().zip(data.row(record)).for_each(|(sum, &value)| *sum += share * f64::from(value));
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_consensus_distance_is_the_root_mean_squared_distance_to_the_mean() {
        // Distances to the mean (1, 0) are 1 and 1.
        assert_eq!(consensus_distance(&[&[0.0, 0.0], &[2.0, 0.0]]), Some(1.0));
        assert_eq!(consensus_distance(&[&[0.1, 0.3], &[0.1, 0.3], &[0.1, 0.3]]), Some(0.0));
        assert_eq!(consensus_distance(&[]), None);
    }
}

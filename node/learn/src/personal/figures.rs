//! How good a node's models are on records that it kept apart: for its own eyes.

use serde::{Deserialize, Serialize};

use super::Own;
use crate::data::{Dataset, Task};
use crate::metrics::{accuracy, rmse};
use crate::model::{self, Model, ModelError};

/// What the figures count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// Share of records that are classified rightly: more is better.
    Accuracy,
    /// Root mean squared error: less is better.
    Rmse,
}

/// Three models of one node on its own test part.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// What is counted.
    pub measure: Measure,
    /// The model that all have trained.
    pub shared: f64,
    /// The node's own.
    pub personal: f64,
    /// The one that it trains without anybody else.
    pub alone: f64,
    /// Records of the test part.
    pub records: usize,
}

impl Figures {
    /// Judges the models of a node; `None` where there is nothing to predict or no record.
    ///
    /// # Errors
    /// Records or parameters that do not fit the model.
    pub fn of(
        model: &dyn Model,
        (shared, own): (&[f32], &Own),
        test: &Dataset,
    ) -> Result<Option<Self>, ModelError> {
        let measure = match model.task() {
            Task::Classification { .. } => Measure::Accuracy,
            Task::Regression => Measure::Rmse,
            Task::Unlabelled => return Ok(None),
        };
        if test.is_empty() {
            return Ok(None);
        }
        let judged = |params: &[f32]| judged(model, params, test);
        let all = (judged(shared)?, judged(&own.params)?, judged(&own.alone)?);
        let (Some(shared), Some(personal), Some(alone)) = all else { return Ok(None) };
        Ok(Some(Self { measure, shared, personal, alone, records: test.len() }))
    }

    /// Whether the node would do better without anybody else.
    pub fn alone_is_best(&self) -> bool {
        let most = |x: f64, y: f64, z: f64| x > y && x > z;
        match self.measure {
            Measure::Accuracy => most(self.alone, self.shared, self.personal),
            Measure::Rmse => most(-self.alone, -self.shared, -self.personal),
        }
    }
}

/// Accuracy or root mean squared error of one model.
fn judged(model: &dyn Model, params: &[f32], test: &Dataset) -> Result<Option<f64>, ModelError> {
    let predictions = model::predict(model, params, test)?;
    if let (model::Predictions::Values(values), Some(truth)) = (&predictions, test.reals()) {
        return Ok(rmse(values, &truth).ok());
    }
    let right = predictions.labels().zip(test.labels());
    Ok(right.and_then(|(found, truth)| accuracy(&found, &truth).ok()))
}

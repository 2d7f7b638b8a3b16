//! What a node minimises on its own records: all local training goes through it.
//!
//! f(θ) + (μ/2)‖θ − anchor‖² + ⟨control, θ⟩: the loss of the records, a pull towards a model (FedProx, personal models), and a correction of drift (SCAFFOLD).
//! Nothing here is private.

use crate::data::Dataset;
use crate::gradient::{GradientError, Workspace};
use crate::model::{self, Model, ModelError, kernel};

/// An objective over the parameters of one model on the records of one node.
#[derive(Debug, Clone, Copy)]
pub struct Objective<'a> {
    model: &'a dyn Model,
    data: &'a Dataset,
    pull: Option<(f64, &'a [f32])>,
    control: Option<&'a [f32]>,
    ahead: f64,
}

impl<'a> Objective<'a> {
    /// The loss of these records, penalty included.
    pub fn new(model: &'a dyn Model, data: &'a Dataset) -> Self {
        Self { model, data, pull: None, control: None, ahead: 0.0 }
    }

    /// With (μ/2)‖θ − anchor‖² added; μ = 0 adds nothing.
    #[must_use]
    pub fn pulled(self, weight: f64, anchor: &'a [f32]) -> Self {
        Self { pull: (weight > 0.0).then_some((weight, anchor)), ..self }
    }

    /// With ⟨control, θ⟩ added.
    #[must_use]
    pub fn corrected(self, control: &'a [f32]) -> Self {
        Self { control: Some(control), ..self }
    }

    /// With gradients taken after one step of this size (Fallah et al. 2020, *Per-FedAvg*, first order): for a model that is good once it was adapted.
    #[must_use]
    pub fn looking_ahead(self, step: f64) -> Self {
        Self { ahead: step, ..self }
    }

    /// The model.
    pub fn model(&self) -> &'a dyn Model {
        self.model
    }

    /// The records.
    pub fn data(&self) -> &'a Dataset {
        self.data
    }

    /// Whether records and parameters fit the model.
    ///
    /// # Errors
    /// The first misfit, by name.
    pub fn check(&self, params: &[f32]) -> Result<(), ModelError> {
        model::check(self.model, params, self.data)
    }

    /// The value over all records.
    ///
    /// # Errors
    /// Records or parameters that do not fit the model.
    pub fn value(&self, params: &[f32]) -> Result<f64, ModelError> {
        let mut value = model::loss(self.model, params, self.data)?;
        if let Some((weight, anchor)) = self.pull {
            let squares = params.iter().zip(anchor).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2));
            value += 0.5 * weight * squares.sum::<f64>();
        }
        if let Some(control) = self.control {
            value += params.iter().zip(control).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
        }
        Ok(value)
    }

    /// The gradient over some of the records.
    ///
    /// # Errors
    /// A wrong number of parameters.
    pub fn gradient(
        &self,
        params: &[f32],
        records: &[u32],
        workspace: &mut Workspace,
    ) -> Result<Vec<f32>, GradientError> {
        let mut gradient = self.ahead(params, records, workspace)?;
        if let Some((weight, anchor)) = self.pull {
            let pulled = gradient.iter_mut().zip(params.iter().zip(anchor));
            pulled.for_each(|(gradient, (at, anchor))| *gradient += weight as f32 * (at - anchor));
        }
        if let Some(control) = self.control {
            kernel::add(&mut gradient, control);
        }
        Ok(gradient)
    }

    /// The gradient of the loss here, or one step ahead: ∇f(θ − α∇f(θ)).
    fn ahead(
        &self,
        params: &[f32],
        records: &[u32],
        workspace: &mut Workspace,
    ) -> Result<Vec<f32>, GradientError> {
        let mut slope = |at: &[f32]| -> Result<Vec<f32>, GradientError> {
            let mut gradient = workspace.mean(at, self.data, records)?;
            kernel::add_scaled(&mut gradient, self.model.penalty() as f32, at);
            Ok(gradient)
        };
        let here = slope(params)?;
        if self.ahead == 0.0 {
            return Ok(here);
        }
        let moved = params.iter().zip(&here).map(|(at, way)| at - self.ahead as f32 * way);
        slope(&moved.collect::<Vec<f32>>())
    }
}

//! Least squares without an intercept, as the vectors have it: loss ½(⟨θ, x⟩ − y)².

use learn::data::{Dataset, Target, Targets, Task};
use learn::model::{ByExample, PerExample, TensorShape};
use serde::Deserialize;

#[derive(Debug)]
pub(crate) struct NoIntercept(usize);

impl NoIntercept {
    pub(crate) fn model(inputs: usize) -> ByExample<Self> {
        ByExample::new(Self(inputs)).unwrap()
    }
}

impl PerExample for NoIntercept {
    fn kind(&self) -> &'static str {
        "no-intercept"
    }

    fn inputs(&self) -> usize {
        self.0
    }

    fn outputs(&self) -> usize {
        1
    }

    fn task(&self) -> Task {
        Task::Regression
    }

    fn tensors(&self) -> Vec<TensorShape> {
        vec![TensorShape::zeros("weight", &[self.0])]
    }

    fn forward(&self, params: &[f32], features: &[f32], outputs: &mut [f32]) {
        outputs[0] = params.iter().zip(features).map(|(a, b)| a * b).sum();
    }

    fn loss(&self, outputs: &[f32], target: Target) -> f64 {
        let Target::Real(target) = target else { return f64::NAN };
        0.5 * (f64::from(outputs[0]) - f64::from(target)).powi(2)
    }

    fn gradient(&self, params: &[f32], features: &[f32], target: Target, gradient: &mut [f32]) {
        let Target::Real(target) = target else { return };
        let predicted: f32 = params.iter().zip(features).map(|(a, b)| a * b).sum();
        gradient.iter_mut().zip(features).for_each(|(slot, x)| *slot = (predicted - target) * x);
    }
}

/// Records of one node.
#[derive(Debug, Deserialize)]
pub(crate) struct Records {
    pub(crate) x: Vec<Vec<f32>>,
    pub(crate) y: Vec<f32>,
}

impl Records {
    pub(crate) fn dataset(&self) -> Dataset {
        Dataset::new(self.x.concat(), self.x[0].len(), Targets::Real(self.y.clone())).unwrap()
    }
}

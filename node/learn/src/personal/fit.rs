//! One model for one choice: in closed form where there is one, else by gradient steps.

use super::choose::Choice;
use super::free::Free;
use super::{Personal, exact};
use crate::data::Dataset;
use crate::gradient::{GradientError, Workspace};
use crate::model::Model;
use crate::objective::Objective;
use crate::train::TrainError;

/// Halvings of a step after which nothing is left to gain.
const MOST_HALVINGS: usize = 30;

/// What all choices of a node have in common.
pub(super) struct Fitting<'a> {
    pub(super) personal: &'a Personal,
    pub(super) model: &'a dyn Model,
    pub(super) shared: &'a [f32],
    pub(super) first: &'a [f32],
}

impl Fitting<'_> {
    /// The model of these records.
    pub(super) fn with(&self, choice: Choice, data: &Dataset) -> Result<Vec<f32>, TrainError> {
        let whole = Free::all(self.model);
        let (start, lambda, steps, free) = match choice {
            Choice::Shared => return Ok(self.shared.to_vec()),
            Choice::Near(lambda) => (self.shared, lambda, self.personal.steps, &self.personal.free),
            Choice::Alone => (self.first, 0.0, self.personal.alone_steps, &whole),
        };
        let objective = Objective::new(self.model, data).pulled(lambda, start);
        objective.check(start).map_err(GradientError::from)?;
        match exact::minimiser(self.model, start, data, lambda, free) {
            Some(params) => Ok(params),
            None => descend(&objective, start, steps, free),
        }
    }
}

/// Gradient steps, each as long as the objective still falls by half of what the slope promises (Armijo 1966).
pub(super) fn descend(
    objective: &Objective<'_>,
    start: &[f32],
    steps: u64,
    free: &Free,
) -> Result<Vec<f32>, TrainError> {
    let mut workspace = Workspace::with_lanes(objective.model(), 1);
    let records: Vec<u32> = (0..objective.data().len() as u32).collect();
    let mut params = start.to_vec();
    let mut value = objective.value(&params).map_err(GradientError::from)?;
    let mut rate = 1.0_f64;
    for _ in 0..steps {
        let mut gradient = objective.gradient(&params, &records, &mut workspace)?;
        free.keep(&mut gradient);
        let slope: f64 = gradient.iter().map(|&value| f64::from(value) * f64::from(value)).sum();
        let mut moved = None;
        for _ in 0..MOST_HALVINGS {
            let there: Vec<f32> =
                params.iter().zip(&gradient).map(|(at, by)| at - rate as f32 * by).collect();
            let lower = objective.value(&there).map_err(GradientError::from)?;
            if lower <= value - 0.5 * rate * slope {
                moved = Some((there, lower));
                break;
            }
            rate *= 0.5;
        }
        workspace.recycle(gradient);
        let Some((there, lower)) = moved.filter(|_| slope > 0.0) else { break };
        (params, value, rate) = (there, lower, rate * 2.0);
    }
    Ok(params)
}

//! How near a personal model stays to the shared one: said, or found by cross-validation on the node's own records.

use super::fit::Fitting;
use crate::data::Dataset;
use crate::data::random::Draws;
use crate::gradient::GradientError;
use crate::model;
use crate::train::TrainError;

/// λ of (λ/2)‖v − θ‖².
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Lambda {
    /// Found by cross-validation, where there are records enough for it.
    Auto,
    /// This; infinite for the shared model itself.
    Is(f64),
}

/// Which model a node takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Choice {
    /// The shared one as it is: λ = ∞.
    Shared,
    /// The one near the shared one, with this λ.
    Near(f64),
    /// The one that the node trains without anybody else.
    Alone,
}

/// Records from which on λ is found by cross-validation; measured.
const ENOUGH: usize = 40;
/// λ below that; measured.
const FEW: f64 = 0.03;
const FOLDS: usize = 4;
/// From the most shared to the least: of equals the first is taken.
const CANDIDATES: [Choice; 6] = [
    Choice::Shared,
    Choice::Near(1.0),
    Choice::Near(0.1),
    Choice::Near(0.01),
    Choice::Near(0.0),
    Choice::Alone,
];

/// The choice for these records.
pub(super) fn choose(fitting: &Fitting<'_>, data: &Dataset) -> Result<Choice, TrainError> {
    match fitting.personal.lambda {
        Lambda::Is(lambda) if lambda == f64::INFINITY => Ok(Choice::Shared),
        Lambda::Is(lambda) => Ok(Choice::Near(lambda)),
        Lambda::Auto if data.len() < ENOUGH => Ok(Choice::Near(FEW)),
        Lambda::Auto => validated(fitting, data),
    }
}

/// The candidate with the least loss on records that it has not seen.
fn validated(fitting: &Fitting<'_>, data: &Dataset) -> Result<Choice, TrainError> {
    let mut order: Vec<u32> = (0..data.len() as u32).collect();
    Draws::new(fitting.personal.seed, "personal folds").shuffle(&mut order);
    let mut losses = [0.0; CANDIDATES.len()];
    for fold in 0..FOLDS {
        let inside = |at: usize| at % FOLDS == fold;
        let pick = |wanted: bool| -> Vec<u32> {
            order.iter().enumerate().filter(|(at, _)| inside(*at) == wanted).map(|(_, &row)| row).collect()
        };
        let (train, unseen) = (data.subset(&pick(false)), data.subset(&pick(true)));
        for (loss, candidate) in losses.iter_mut().zip(CANDIDATES) {
            let params = fitting.with(candidate, &train)?;
            let found = model::loss(fitting.model, &params, &unseen).map_err(GradientError::from)?;
            *loss += if found.is_nan() { f64::INFINITY } else { found * unseen.len() as f64 };
        }
    }
    let best = (0..losses.len()).fold(0, |best, at| if losses[at] < losses[best] { at } else { best });
    Ok(CANDIDATES[best])
}

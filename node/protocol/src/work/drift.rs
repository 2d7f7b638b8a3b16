//! What repairs of drift remember of a node's own releases. Own noise comes back by them: with noise they are for `local` only.

use learn::gradient::Shareable;
use learn::optimiser::{Variates, d2_direction};

use super::NodeState;

/// What a node remembers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Drift {
    /// Nothing.
    #[default]
    None,
    /// Control variates (SCAFFOLD); `way` is local steps times their size.
    Scaffold {
        /// Lη.
        way: f64,
    },
    /// The last model and gradient (D²); `rate` is the step size.
    D2 {
        /// η.
        rate: f64,
    },
}

const COMMON: &str = "scaffold.common";
const OWN: &str = "scaffold.own";
const MODEL: &str = "drift.model";
const GRADIENT: &str = "drift.gradient";

impl Drift {
    /// What is added to the gradient of local steps from `model`.
    pub(super) fn control(self, state: &NodeState, model: &[f32]) -> Option<Vec<f32>> {
        let Self::Scaffold { way } = self else { return None };
        Some(variates(state, model, way).correction())
    }

    /// Remembers a release at `model`, and turns it into what is contributed. `downhill` says whether contributions point against updates.
    ///
    /// # Guarantee
    /// Post-processing of this and of earlier releases of the node and of models that it was sent, all of which somebody who sees every message knows.
    pub(super) fn remember(self, state: &mut NodeState, model: &[f32], released: Shareable) -> Shareable {
        match self {
            Self::None => released,
            Self::Scaffold { way } => {
                let mut variates = variates(state, model, way);
                let update: Vec<f32> = released.values().iter().map(|value| -value).collect();
                variates.on_own(&update, way);
                state.set(COMMON, variates.common);
                state.set(OWN, variates.own);
                state.set(MODEL, model.to_vec());
                released
            }
            Self::D2 { rate } => {
                let gradient = released.values().to_vec();
                let past =
                    state.get(MODEL).map(<[f32]>::to_vec).zip(state.get(GRADIENT).map(<[f32]>::to_vec));
                let turned = match past.filter(|(before, _)| before.len() == model.len()) {
                    Some((before, last)) => {
                        released.post_process(|values| d2_direction((model, values), (&before, &last), rate))
                    }
                    None => released,
                };
                state.set(MODEL, model.to_vec());
                state.set(GRADIENT, gradient);
                turned
            }
        }
    }
}

/// The variates at a model: since the last one all have moved by their mean release.
fn variates(state: &NodeState, model: &[f32], way: f64) -> Variates {
    let known = state.get(COMMON).zip(state.get(OWN)).filter(|(common, _)| common.len() == model.len());
    let mut variates = known.map_or_else(
        || Variates::new(model.len()),
        |(common, own)| Variates { common: common.to_vec(), own: own.to_vec() },
    );
    // A round that was given up leaves the model where it was, and what is known of the mean with it.
    if let Some(before) = state.get(MODEL).filter(|before| before.len() == model.len() && *before != model) {
        let mean: Vec<f32> = model.iter().zip(before).map(|(now, before)| now - before).collect();
        variates.on_mean(&mean, way);
    }
    variates
}

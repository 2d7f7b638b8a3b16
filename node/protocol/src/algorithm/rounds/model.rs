//! The model that all members share, with the state of its optimiser: the same bits everywhere, as the digest shows.

use learn::optimiser::{Optimiser, OptimiserSpec};

use crate::agreement::{Fingerprint, Model};
use crate::core::stepped;
use crate::settings::Settings;
use crate::values::{Digest, Values};

pub(super) struct SharedModel {
    /// Parameters, and behind them the state of the optimiser and the mean of the last rounds, as far as it is known: in one piece, since a large model is written down, sent and
    /// looked at in every round.
    encoded: Values,
    /// How many of these are parameters.
    parameters: usize,
    optimiser: Box<dyn Optimiser>,
    version: u32,
    /// Mean of the models since the first that counts; empty before it, and after the last round, when it is the model.
    mean: Vec<f32>,
    /// The one before, where a decision may go back to it.
    before: Option<Values>,
}

impl SharedModel {
    /// The first model, which everybody can make.
    pub(super) fn first(settings: &Settings) -> Self {
        let parameters = settings.initial.len();
        let optimiser = fresh(settings);
        let encoded = encoded(settings.initial.as_slice().to_vec(), optimiser.as_ref(), &[]);
        Self { encoded, parameters, optimiser, version: 0, mean: Vec::new(), before: None }
    }

    /// What a peer or the disk says the model is; `None` where the length is wrong.
    pub(super) fn decoded(settings: &Settings, version: u32, values: &Values) -> Option<Self> {
        let (params, state) = values.as_slice().split_at_checked(settings.initial.len())?;
        let counts = version < settings.rounds && is_averaged(settings, version).is_some();
        let state_length = state.len().checked_sub(if counts { params.len() } else { 0 })?;
        let (state, mean) = state.split_at(state_length);
        let mut optimiser = fresh(settings);
        optimiser.restore(state).then(|| Self {
            encoded: values.clone(),
            parameters: params.len(),
            optimiser,
            version,
            mean: mean.to_vec(),
            before: None,
        })
    }

    /// The same with the one before it.
    pub(super) fn after(mut self, before: Option<Values>) -> Self {
        self.before = before.filter(|_| self.version > 0);
        self
    }

    /// All of it.
    pub(super) fn encoded(&self) -> Values {
        self.encoded.clone()
    }

    /// What contributions start from.
    pub(super) fn given(&self) -> Values {
        if self.encoded.len() == self.parameters {
            self.encoded.clone()
        } else {
            Values::derived(self.params().to_vec())
        }
    }

    /// The one before, as [`encoded`](Self::encoded).
    pub(super) fn before(&self) -> Option<&Values> {
        self.before.as_ref()
    }

    /// One step with the mean of `count` contributions whose sum is given. Without contributions the model stays.
    pub(super) fn advance(&mut self, settings: &Settings, mut sum: Vec<f32>, count: u32) {
        self.before = settings.certify.then(|| self.encoded());
        let params = if count > 0 {
            let divisor = count as f32;
            sum.iter_mut().for_each(|value| *value /= divisor);
            let now = &self.encoded.as_slice()[..self.parameters];
            stepped(settings, self.version, now, sum, self.optimiser.as_mut())
        } else {
            self.params().to_vec()
        };
        self.version += 1;
        let params = self.averaged(settings, params);
        self.encoded = encoded(params, self.optimiser.as_ref(), &self.mean);
    }

    /// Takes the model into the mean of the last rounds; after the last of all, the mean is the model.
    ///
    /// # Guarantee
    /// A function of models that everybody has: it costs nothing.
    fn averaged(&mut self, settings: &Settings, params: Vec<f32>) -> Vec<f32> {
        let Some(place) = is_averaged(settings, self.version) else { return params };
        self.mean.resize(params.len(), 0.0);
        let all = self.mean.iter_mut().zip(&params);
        all.for_each(|(mean, now)| *mean += (now - *mean) / place as f32);
        if self.version >= settings.rounds { std::mem::take(&mut self.mean) } else { params }
    }

    pub(super) fn params(&self) -> &[f32] {
        &self.encoded.as_slice()[..self.parameters]
    }

    /// How many rounds made it.
    pub(super) fn version(&self) -> u32 {
        self.version
    }

    pub(super) fn digest(&self) -> Digest {
        self.encoded.digest()
    }

    /// As members state it, and the one before.
    pub(super) fn stated(&self, settings: &Settings) -> (Model, Option<Model>) {
        let now = stated(settings, self.version, self.encoded.as_slice());
        let before = self.before.as_ref().zip(self.version.checked_sub(1));
        (now, before.map(|(values, version)| stated(settings, version, values.as_slice())))
    }

    /// This model or the one before, if it is the one that was decided on.
    pub(super) fn find(&self, settings: &Settings, wanted: Model) -> Option<Self> {
        let held = [Some(self.encoded()), self.before.clone()];
        held.into_iter().flatten().find_map(|values| Self::checked(settings, wanted, &values))
    }

    /// What somebody sent, if it is the one that was decided on.
    pub(super) fn checked(settings: &Settings, wanted: Model, values: &Values) -> Option<Self> {
        let is_it = stated(settings, wanted.version, values.as_slice()) == wanted;
        is_it.then(|| Self::decoded(settings, wanted.version, values)).flatten()
    }
}

fn encoded(mut params: Vec<f32>, optimiser: &dyn Optimiser, mean: &[f32]) -> Values {
    params.extend(optimiser.state());
    params.extend(mean);
    Values::derived(params)
}

/// A model with its digest. The state of the optimiser is part of it while rounds are to come: of the result only the parameters are left, so
/// that everybody can check a file of them.
fn stated(settings: &Settings, version: u32, encoded: &[f32]) -> Model {
    let result = &encoded[..settings.initial.len().min(encoded.len())];
    let digest = Fingerprint::of_model(if version >= settings.rounds { result } else { encoded });
    Model { version, digest }
}

/// Whether the model after so many rounds counts for the result, and the how-manieth of those it is.
fn is_averaged(settings: &Settings, version: u32) -> Option<u32> {
    settings.algorithm.averaged_at(version, settings.rounds)
}

/// Digest of the public first model, as a charter names it.
pub fn first_model(settings: &Settings) -> Fingerprint {
    SharedModel::first(settings).stated(settings).0.digest
}

fn fresh(settings: &Settings) -> Box<dyn Optimiser> {
    let build = |spec: OptimiserSpec| spec.build(settings.initial.len());
    // Settings are checked where they are made; a bad optimiser there is plain descent here rather than a panic.
    build(settings.step.optimiser)
        .or_else(|_| build(OptimiserSpec::Sgd { radius: None }))
        .expect("plain descent has no parameters that could be wrong")
}

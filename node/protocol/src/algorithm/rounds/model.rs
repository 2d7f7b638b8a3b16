//! The model that all members share, with the state of its optimiser: the same bits everywhere, as the digest shows.

use learn::optimiser::{Optimiser, OptimiserSpec};

use crate::core::stepped;
use crate::settings::Settings;
use crate::values::{Digest, Values};

pub(super) struct SharedModel {
    params: Vec<f32>,
    optimiser: Box<dyn Optimiser>,
    version: u32,
    digest: Digest,
}

impl SharedModel {
    /// The first model, which everybody can make.
    pub(super) fn first(settings: &Settings) -> Self {
        let params = settings.initial.as_slice().to_vec();
        let optimiser = fresh(settings);
        let mut model = Self { params, optimiser, version: 0, digest: Digest::default() };
        model.digest = Digest::of(model.encoded().as_slice());
        model
    }

    /// What a peer or the disk says the model is; `None` where the length is wrong.
    pub(super) fn decoded(settings: &Settings, version: u32, values: &Values) -> Option<Self> {
        let (params, state) = values.as_slice().split_at_checked(settings.initial.len())?;
        let mut optimiser = fresh(settings);
        optimiser.restore(state).then(|| Self {
            params: params.to_vec(),
            optimiser,
            version,
            digest: Digest::of(values.as_slice()),
        })
    }

    /// Parameters, and behind them the state of the optimiser.
    pub(super) fn encoded(&self) -> Values {
        let mut all = self.params.clone();
        all.extend(self.optimiser.state());
        Values::derived(all)
    }

    /// One step with the mean of `count` contributions whose sum is given. Without contributions the model stays.
    pub(super) fn advance(&mut self, settings: &Settings, mut sum: Vec<f32>, count: u32) {
        if count > 0 {
            let divisor = count as f32;
            sum.iter_mut().for_each(|value| *value /= divisor);
            self.params = stepped(settings, self.version, &self.params, sum, self.optimiser.as_mut());
        }
        self.version += 1;
        self.digest = Digest::of(self.encoded().as_slice());
    }

    pub(super) fn params(&self) -> &[f32] {
        &self.params
    }

    /// How many rounds made it.
    pub(super) fn version(&self) -> u32 {
        self.version
    }

    pub(super) fn digest(&self) -> Digest {
        self.digest
    }
}

fn fresh(settings: &Settings) -> Box<dyn Optimiser> {
    let build = |spec: OptimiserSpec| spec.build(settings.initial.len());
    // Settings are checked where they are made; a bad optimiser there is plain descent here rather than a panic.
    build(settings.step.optimiser)
        .or_else(|_| build(OptimiserSpec::Sgd { radius: None }))
        .expect("plain descent has no parameters that could be wrong")
}

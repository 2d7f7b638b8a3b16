//! A run whose members accepted another list of members, or other settings, on the way.

use std::sync::Arc;

use learn::optimiser::StepSizes;

use super::{Setup, SetupError, mechanism, step};
use crate::config::{Config, Proofs};
use crate::work::Unit;

/// What all renewals of a run come to. What is planned stays: noise, budgets, what one contribution is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Renewals {
    /// Places, of those who are gone too.
    pub places: usize,
    /// Members that take part.
    pub members: usize,
    /// f from now on.
    pub hostile: u32,
    /// Changes of the number of rounds: the next round when it was changed, and to how many.
    pub rounds: Vec<(u32, u32)>,
    /// Step size from now on, where it was changed.
    pub learning_rate: Option<f64>,
}

impl Setup {
    /// The same run with other members, and with the settings that may change on the way. Noise and budgets are those that were planned: of more
    /// rounds than that the last may be refused data.
    ///
    /// # Guarantee
    /// What one contribution is, and what may be lost, stays as it was planned: budgets hold over both parts of the run.
    ///
    /// # Errors
    /// A run in which members decide nothing, settings that this run cannot change, or more members than any grid has room for.
    pub fn renewed(mut self, renewals: &Renewals) -> Result<Self, SetupError> {
        let refused = |what: String| SetupError::Renewal { what };
        let kind = self.config.algorithm.kind;
        if !self.settings.algorithm.is_decided() {
            let what = format!("`algorithm.kind = \"{}\"` has no decisions to go on from", kind.name());
            return Err(refused(what));
        }
        if self.config.privacy.proofs != Proofs::None {
            return Err(refused("a mean is one round: there is nothing left to renew".into()));
        }
        let mechanism =
            mechanism::with_room((&self.config, &self.work), &self.settings.mechanism, renewals.members)?;
        let rounds = self.rounds(renewals).map_err(refused)?;
        let settings = Arc::make_mut(&mut self.settings);
        (settings.nodes, settings.hostile, settings.rounds) = (renewals.places, renewals.hostile, rounds);
        settings.mechanism = mechanism;
        match renewals.learning_rate {
            Some(rate) => self.with_learning_rate(rate),
            None => Ok(self),
        }
    }

    /// Rounds of the run after all changes.
    fn rounds(&self, renewals: &Renewals) -> Result<u32, String> {
        let algorithm = &self.settings.algorithm;
        let mut now = self.settings.rounds;
        for &(next, rounds) in &renewals.rounds {
            if rounds > self.settings.rounds && algorithm.splits_masks(self.settings.nodes) {
                let most = self.settings.rounds;
                return Err(format!(
                    "`rounds` can be {most} at most: δ was planned for so many masked rounds"
                ));
            }
            // Models on the way may be one round ahead.
            let counts = |rounds: u32| algorithm.averaged_at(next.saturating_add(1), rounds).is_some();
            if counts(now) || counts(rounds) {
                return Err("`rounds` cannot change once models count for the mean of the last rounds".into());
            }
            now = rounds;
        }
        Ok(now)
    }

    fn with_learning_rate(mut self, rate: f64) -> Result<Self, SetupError> {
        if !(rate.is_finite() && rate > 0.0) {
            let what = format!("`learning_rate = {rate}` is no positive number");
            return Err(SetupError::Renewal { what });
        }
        let config = Config { learning_rate: rate, ..self.config.clone() };
        Arc::make_mut(&mut self.settings).step = step::step_rule(&config, self.model.as_ref());
        let is_external = matches!(self.config.model, learn::model::ModelSpec::External { .. });
        if let Unit::Node { local, .. } = &mut Arc::make_mut(&mut self.work).unit
            && !is_external
        {
            local.schedule = StepSizes::Constant { step_size: rate };
            return Ok(self.built_in());
        }
        Ok(self)
    }
}

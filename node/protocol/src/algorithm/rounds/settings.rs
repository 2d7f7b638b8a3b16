//! What all participants of averaging rounds share.

use std::sync::{Arc, OnceLock};

use topology::schedule::{Plan, RunKey, shuffled_order};

use super::RoundsFold;
use super::leverage::plan_apart;
use super::masks::{MaskSettings, MaskedFold};
use crate::PeerIx;
use crate::agreement::{Charter, Credentials};
use crate::algorithm::Fold;
use crate::config::{Config, Masking, PrivacyConfig};
use crate::settings::Settings;

/// No round of an exchange: who contributes is drawn in an order of its own.
const DRAW: u64 = 1 << 41;

/// Settings of averaging rounds.
#[derive(Debug, Clone)]
pub struct RoundsSettings {
    plans: Arc<Plans>,
    /// Of a simulation, made by whoever needs it first.
    charter: Arc<OnceLock<Arc<Charter>>>,
    /// Masks, where there are any.
    pub(crate) masks: Option<MaskSettings>,
    /// Members that contribute to a round; `None`: all.
    sample: Option<usize>,
    /// Last rounds whose models are averaged into the result; 0 for none.
    averaged: u32,
}

/// The plan of each round, made by whichever participant asks first: a simulation has thousands in one process. The plan follows from the
/// run, the round and the roster alone, so it does not matter who made it.
#[derive(Debug)]
struct Plans(Vec<OnceLock<MadePlan>>);

/// A plan, and the roster for which it was made.
type MadePlan = (Arc<[PeerIx]>, Arc<Plan>);

/// A round with its members, and who of them must not be partners before which round.
pub(super) type RoundOf<'a> = (u32, &'a Arc<[PeerIx]>, &'a [(PeerIx, PeerIx, u32)]);

impl RoundsSettings {
    /// For a run of so many rounds, without masks.
    pub fn new(rounds: u32) -> Self {
        let plans = Arc::new(Plans((0..rounds).map(|_| OnceLock::new()).collect()));
        Self { plans, charter: Arc::default(), masks: None, sample: None, averaged: 0 }
    }

    /// As a configuration says.
    pub(crate) fn of(config: &Config) -> Self {
        let PrivacyConfig { masking, colluders, least, .. } = config.privacy;
        let masks = (masking == Masking::Pairwise).then_some(MaskSettings { colluders, least });
        let averaged = (config.average * f64::from(config.rounds)).ceil() as u32;
        Self { masks, sample: config.algorithm.sample, averaged, ..Self::new(config.rounds) }
    }

    /// The same where so many members contribute to each round.
    #[must_use]
    pub fn with_sample(mut self, members: usize) -> Self {
        self.sample = Some(members);
        self
    }

    /// Who contributes to a round, by position in its roster; `None` where all do.
    ///
    /// # Guarantee
    /// Public: a function of the run's key, the round and the size of the roster. No amplification is counted for it.
    pub(crate) fn drawn(&self, key: &RunKey, round: u32, members: usize) -> Option<Vec<bool>> {
        let sample = self.sample.filter(|sample| *sample < members)?;
        let mut drawn = vec![false; members];
        let order = shuffled_order(key, DRAW | u64::from(round), members);
        order.into_iter().take(sample).for_each(|at| drawn[at as usize] = true);
        Some(drawn)
    }

    /// Whether the model after so many of all rounds is one of those that are averaged, and the how-manieth.
    pub(crate) fn averaged_at(&self, version: u32, rounds: u32) -> Option<u32> {
        let before = rounds.saturating_sub(self.averaged);
        version.checked_sub(before).filter(|place| *place > 0)
    }

    /// The same with masks.
    #[must_use]
    pub fn with_masks(mut self, masks: MaskSettings) -> Self {
        self.masks = Some(masks);
        self
    }

    /// An empty fold over the log of a run.
    pub(crate) fn fold(&self) -> Box<dyn Fold> {
        match self.masks {
            None => Box::new(RoundsFold::default()),
            Some(_) => Box::new(MaskedFold::default()),
        }
    }

    /// Who meets whom in a round: shuffled doubling over positions in its members.
    pub(super) fn plan(&self, key: &RunKey, (round, members, apart): RoundOf<'_>) -> Arc<Plan> {
        let make = || Arc::new(plan_apart(key, round, members, apart).expect("a roster is not empty"));
        let slot = self.plans.0.get(round as usize).filter(|_| apart.is_empty());
        let Some(slot) = slot else { return make() };
        let (made_for, plan) = slot.get_or_init(|| (members.clone(), make()));
        if made_for == members { plan.clone() } else { make() }
    }

    /// The charter of a simulation, whose keys everybody can compute.
    pub(super) fn charter(&self, settings: &Settings) -> &Arc<Charter> {
        self.charter.get_or_init(|| Credentials::danger_charter(settings))
    }
}

//! What all participants of averaging rounds share.

use std::sync::{Arc, OnceLock};

use topology::schedule::{Plan, RunKey};

use super::leverage::plan_of;

/// Settings of averaging rounds.
#[derive(Debug, Clone)]
pub struct RoundsSettings {
    plans: Arc<Plans>,
}

/// The plan of each round, made by whichever participant asks first: a simulation has thousands in one process. The plan follows from the
/// run, the round and the roster alone, so it does not matter who made it.
#[derive(Debug)]
struct Plans(Vec<OnceLock<MadePlan>>);

/// A plan, and the roster for which it was made.
type MadePlan = (Arc<[crate::PeerIx]>, Arc<Plan>);

impl RoundsSettings {
    /// For a run of so many rounds.
    pub fn new(rounds: u32) -> Self {
        Self { plans: Arc::new(Plans((0..rounds).map(|_| OnceLock::new()).collect())) }
    }

    /// Who meets whom in `round`: shuffled doubling over positions in `members`.
    pub fn plan(&self, key: &RunKey, round: u32, members: &Arc<[crate::PeerIx]>) -> Arc<Plan> {
        let make = || Arc::new(plan_of(key, round, members.len()).expect("a roster is not empty"));
        let Some(slot) = self.plans.0.get(round as usize) else { return make() };
        let (made_for, plan) = slot.get_or_init(|| (members.clone(), make()));
        if made_for == members { plan.clone() } else { make() }
    }
}

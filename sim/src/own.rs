//! What is each node's own at the end of a simulation: its slot, its personal model, and how good they are on its own test part.

use learn::gradient::GradientError;
use learn::metrics::MeanSpread;
use learn::personal::Figures;
use learn::train::TrainError;
use protocol::personal::{ClustersResult, Mine, PersonalResult, mine};
use protocol::work::{Layout, own_slot};
use protocol::{RunResult, Setup};
use rayon::prelude::*;
use serde::Serialize;

use crate::fedem;

/// Figures over all nodes.
#[derive(Debug, Default)]
pub(crate) struct Owned {
    personal: Option<PersonalResult>,
    clusters: Option<ClustersResult>,
}

impl Owned {
    pub(crate) fn in_result(self, result: RunResult) -> RunResult {
        RunResult { personal: self.personal, clusters: self.clusters, ..result }
    }
}

/// Over several runs: means over nodes of each one's models on its own test part, accuracy or root mean squared error.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PersonalSpread {
    /// The nodes' own models.
    pub personal: MeanSpread,
    /// The shared one.
    pub shared: MeanSpread,
    /// Those that nodes train without anybody else.
    pub alone: MeanSpread,
    /// The nodes' own models at the tenth of the nodes that they serve worst.
    pub worst_tenth: MeanSpread,
    /// The shared one at the tenth that it serves worst.
    pub shared_worst_tenth: MeanSpread,
    /// Lonely models at the tenth that they serve worst.
    pub alone_worst_tenth: MeanSpread,
    /// The nodes' own models over the records of all test parts, each counted once.
    pub pooled: MeanSpread,
}

impl PersonalSpread {
    pub(crate) fn of(results: &[&RunResult]) -> Option<Self> {
        let spread = |pick: &dyn Fn(&PersonalResult) -> f64| {
            let values: Option<Vec<f64>> =
                results.iter().map(|result| result.personal.as_ref().map(pick)).collect();
            MeanSpread::of(&values?).ok()
        };
        Some(Self {
            personal: spread(&|result| result.means()[0])?,
            shared: spread(&|result| result.means()[1])?,
            alone: spread(&|result| result.means()[2])?,
            worst_tenth: spread(&|result| result.worst_tenth()[0])?,
            shared_worst_tenth: spread(&|result| result.worst_tenth()[1])?,
            alone_worst_tenth: spread(&|result| result.worst_tenth()[2])?,
            pooled: spread(&|result| result.pooled()[0])?,
        })
    }
}

/// Makes every node's own models from those that it holds; nodes that lost theirs are left out.
pub(crate) fn of_all<'m>(
    setup: &Setup,
    model_of: &(dyn Fn(usize) -> &'m Vec<f32> + Sync),
) -> Result<Owned, TrainError> {
    let slots = setup.layout.slots;
    if setup.personal.is_none() && slots == 1 {
        return Ok(Owned::default());
    }
    let made: Result<Vec<Option<(usize, Mine)>>, TrainError> = (0..setup.train.len())
        .into_par_iter()
        .map(|node| match model_of(node) {
            model if model.is_empty() || !model.iter().all(|value| value.is_finite()) => Ok(None),
            model => {
                let mut mine = mine(setup, node, model)?;
                if setup.config.clusters.mixture
                    && let Some(figures) = &mut mine.figures
                {
                    let found = fedem::judged(setup, node, model).map_err(GradientError::from)?;
                    figures.personal = found.unwrap_or(figures.personal);
                }
                Ok(Some((node, mine)))
            }
        })
        .collect();
    let made: Vec<(usize, Mine)> = made?.into_iter().flatten().collect();
    let figures: Vec<Figures> = made.iter().filter_map(|(_, mine)| mine.figures).collect();
    let turned = setup.config.turned;
    let clusters = (slots > 1).then(|| {
        let taken: Vec<(usize, usize)> = made.iter().map(|(node, mine)| (mine.slot, node % turned)).collect();
        ClustersResult::of(slots, &taken, turned > 1)
    });
    Ok(Owned { personal: PersonalResult::of(&figures), clusters })
}

/// Of one vector that all nodes hold, the part that each uses.
pub(crate) fn of_each<'m>(setup: &Setup, vector: &'m [f32]) -> Vec<&'m [f32]> {
    parts(setup, (0..setup.train.len()).map(|node| (node, vector)))
}

/// Of the models that nodes hold, the parts that they use: those in their slots.
pub(crate) fn parts<'m>(setup: &Setup, models: impl Iterator<Item = (usize, &'m [f32])>) -> Vec<&'m [f32]> {
    let layout = &setup.layout;
    let own = |(node, vector): (usize, &'m [f32])| {
        if *layout == Layout::plain(vector.len()) {
            return vector;
        }
        let slot = own_slot(setup.model.as_ref(), layout, vector, &setup.train[node]).unwrap_or(0);
        layout.part(vector, slot)
    };
    models.map(own).collect()
}

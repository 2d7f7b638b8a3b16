//! Several models at a server that is told which one each node takes (Ghosh et al. 2020, *IFCA*): to compare with slots that stay hidden. No noise, no privacy.

use learn::data::Dataset;
use learn::gradient::{Shareable, Workspace};
use learn::model::Model;
use learn::train::TrainError;
use privacy::noise::danger_from_seed;
use protocol::work::{Job, contribute, own_slot};
use protocol::{Setup, Values};
use rayon::prelude::*;

/// The contribution of one node: its slot, its update turned uphill, and its loss before.
struct Told {
    slot: usize,
    update: Vec<f32>,
    loss: Option<f64>,
}

/// What the vector of all models steps against in a round: in each slot the mean over the nodes that took it. With the mean of their losses.
///
/// In the first rounds slots are dealt, as they are without a server: from models that are all alike no node can choose.
pub(crate) fn mean(
    setup: &Setup,
    (round, drawn): (u32, &[bool]),
    vector: &[f32],
) -> Result<(Vec<f32>, Option<f64>), TrainError> {
    let layout = &setup.layout;
    let model: &dyn Model = setup.model.as_ref();
    let one = |workspace: &mut Workspace, (node, data): (usize, &Dataset)| -> Result<Told, TrainError> {
        let slot = match dealt(setup, node, round) {
            Some(slot) => slot,
            None => own_slot(model, layout, vector, data)?,
        };
        let job = Job::new(round, Values::from_wire(layout.part(vector, slot).to_vec()));
        let source = &mut danger_from_seed(setup.config.seed, &format!("baseline/{node}/{round}"));
        let made = contribute(&setup.work, (model, data), &job, workspace, source)?;
        let update = made.contribution.into_reals().map_or_else(Vec::new, Shareable::into_values);
        Ok(Told { slot, update, loss: made.loss })
    };
    let nodes = setup.train.par_iter().enumerate().filter(|(node, _)| drawn[*node]);
    let all: Vec<Told> = nodes.map_init(|| Workspace::new(model), one).collect::<Result<_, _>>()?;
    let mut sums = vec![0.0_f64; vector.len()];
    for told in &all {
        let takers = all.iter().filter(|other| other.slot == told.slot).count();
        // All models step with one size, which counts on sums over all nodes: see `Layout`.
        let share = 1.0 / (takers * layout.slots) as f64;
        let part = &mut sums[told.slot * layout.parameters..];
        part.iter_mut().zip(&told.update).for_each(|(sum, &value)| *sum += share * f64::from(value));
    }
    let losses: Option<Vec<f64>> = all.iter().map(|told| told.loss).collect();
    let loss = losses.map(|losses| losses.iter().sum::<f64>() / all.len() as f64);
    Ok((sums.into_iter().map(|sum| sum as f32).collect(), loss))
}

/// The slot that a node was dealt, in the rounds in which that counts.
pub(crate) fn dealt(setup: &Setup, node: usize, round: u32) -> Option<usize> {
    let slots = setup.work.differing.as_ref()?.slots.as_ref().filter(|slots| round < slots.deal)?;
    slots.dealt.get(node).map(|&slot| usize::from(slot))
}

//! Contributions of nodes whose data differ: in a slot, with a clip norm that follows, with what was remembered, or of nodes that stay out of some rounds.

use learn::gradient::{ExampleGradient, PoissonSampler};
use learn::objective::Objective;
use learn::train::TrainError;
use privacy::noise::NoiseSource;

use super::built_in::{About, Unit, WorkSettings};
use super::{Adaptive, Computed, Desk, Drift, Given, Job, Layout, Slots, node};

/// What contributions of differing nodes have besides the plain ones.
#[derive(Debug, Clone)]
pub struct Differing {
    /// What travels as one vector.
    pub layout: Layout,
    /// Several shared models of which each node takes one; `None` for one.
    pub slots: Option<Slots>,
    /// A clip norm that follows the updates.
    pub adaptive: Option<Adaptive>,
    /// What is remembered of own releases.
    pub drift: Drift,
    /// Probability with which a node takes part in a round; who stays out adds zeros and noise.
    pub check_in: f64,
}

impl WorkSettings {
    /// Makes a contribution of these records.
    ///
    /// # Guarantee
    /// As [`contribute`](super::contribute): Δ is that of one model whatever the slot (see [`placed`](learn::gradient::ClippedSum::placed)), the slot is chosen as
    /// [`Slots::take`] says, and who stays out releases zeros with the same noise, so that its event covers it. No amplification is counted for
    /// staying out: for replaced data there is none.
    ///
    /// # Assumes
    /// As [`contribute`](super::contribute). With [`Drift`] and noise, only somebody who sees every message is priced.
    pub(super) fn differing(
        &self,
        differing: &Differing,
        about: About<'_>,
        (desk, job): (&mut Desk<'_>, &Job),
        noise: &mut dyn NoiseSource,
    ) -> Result<Computed, TrainError> {
        let (layout, vector) = (&differing.layout, job.params.as_slice());
        let slot = match &differing.slots {
            Some(slots) => slots.take(layout, (desk, job), about, noise)?,
            None => 0,
        };
        let model = layout.part(vector, slot);
        let loss = self.loss(about, model)?;
        let is_in = differing.check_in >= 1.0
            || !PoissonSampler::for_batch(differing.check_in, 1)?.draw(noise).records().is_empty();
        let control = differing.drift.control(desk.state, model);
        let log_clip = layout.log_clip(vector);
        let sum = match &self.unit {
            Unit::Node { local, proximal, ahead, seed } => {
                let plain = Objective::new(about.0, about.1).pulled(*proximal, model).looking_ahead(*ahead);
                let objective = control.as_deref().map_or(plain, |control| plain.corrected(control));
                let update = if is_in {
                    node::update(&objective, (model, job.round), local, *seed)?
                } else {
                    ExampleGradient::of_node(vec![0.0; model.len()])
                };
                match (&differing.adaptive, log_clip) {
                    (Some(adaptive), Some(log_clip)) => adaptive.clip(update, log_clip)?,
                    _ => update.clip(self.clip),
                }
            }
            _ => self.sum(about, (model, job.round), desk.room.workspace(about.0), noise)?,
        };
        let sum = if layout.slots > 1 { sum.placed(layout.slots, slot) } else { sum };
        let (given, release) = match (&differing.adaptive, log_clip) {
            (Some(adaptive), Some(log_clip)) => {
                let (values, event) = adaptive.release(sum, log_clip, noise)?;
                (Given::Reals(values), event)
            }
            _ => self.release(&job.mechanism, sum, noise)?,
        };
        let contribution = match given {
            Given::Reals(values) => Given::Reals(differing.drift.remember(desk.state, model, values)),
            // The configuration refuses what remembers releases where these are words.
            words @ Given::Words(_) => words,
        };
        Ok(Computed { round: job.round, contribution, release, loss })
    }
}

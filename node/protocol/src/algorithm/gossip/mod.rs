//! Gossip: each round a noisy step at the node's own state, then K mixing steps with its neighbours (Muffliato-SGD). `mean` is one round
//! without a model: the state is the contribution.
//!
//! Invariants: a step is mixed in the order of the row, so the bits do not depend on the order of arrival; the weight of a message that is not
//! here returns to the node itself, so weights always sum to one; nothing is sent before the round's contribution is recorded, or refused.
//!
//! Nothing is sent twice. A message that is not here `silence` after the step began is missing. A peer that was missing, or that has shown
//! by a later message that it is beyond this step, is waited for only `resend`, until it is heard again.
//!
//! **Being behind.** A node that comes back after a crash starts at its saved round and, as soon as a neighbour speaks of a later one, jumps there:
//! to that round if it is in its first step, else to the next. It keeps its own state and adopts nobody's. Any node jumps when more than
//! half of its neighbours are further ahead than it keeps messages for. Rounds that it skipped have no `Mixed` line; a round that it left midway
//! has one that lists all that was not mixed as missing.

mod absence;
mod behind;
mod fold;
mod inbox;
mod mix;
mod mixing;
mod pairing;
mod plan;
mod receive;
mod say;
mod settings;

use std::sync::Arc;

use learn::optimiser::Optimiser;
use privacy::mechanisms::MessageNoise;
use privacy::noise::NoiseSource;

use self::absence::Absences;
pub(crate) use self::fold::GossipFold;
use self::inbox::Inbox;
pub(crate) use self::mixing::MixingPlan;
use self::mixing::StepPlan;
use self::pairing::Pairing;
pub use self::pairing::PairingSettings;
pub use self::say::Say;
pub use self::settings::GossipSettings;
use crate::algorithm::{Algorithm, Machine};
use crate::contribution::Contribution;
use crate::core::{Core, stepped};
use crate::event::RunEvent;
use crate::masks::Masks;
use crate::message::Message;
use crate::node::{Input, Snapshot};
use crate::settings::Settings;
use crate::values::Values;
use crate::work::Job;
use crate::{PeerIx, Time, plausible};

/// The state machine. Small: a simulation has a million of them.
pub(crate) struct Gossip {
    me: PeerIx,
    round: u32,
    step: u32,
    phase: Phase,
    state: Values,
    /// The state one step earlier, for acceleration.
    previous: Option<Values>,
    contribution: Contribution,
    optimiser: Option<Box<dyn Optimiser>>,
    noise: Option<Box<dyn NoiseSource>>,
    /// The memory of a state that nobody needs any more, for the next one.
    spare: Option<Vec<f32>>,
    /// The state that was sent last. The neighbours have it too, but not for long: then its memory can be used again, by the node and thread
    /// that made it.
    sent: Option<Values>,
    /// Who hears whom in this step.
    plan: Option<Arc<StepPlan>>,
    inbox: Inbox,
    /// When hasty peers, and when all peers, are no longer waited for.
    patience: (Time, Time),
    absences: Option<Box<Absences>>,
    /// Noise that neighbours share, where there is some.
    pairing: Option<Box<Pairing>>,
    /// Squared norm above which a state is not honest.
    largest_squared: f64,
    /// Came back after a crash and does not know yet where the others are.
    returning: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Not started.
    Waiting,
    /// Keys of neighbours are awaited, with whom noise is shared.
    Meeting,
    /// The contribution is computed and recorded.
    Contributing,
    /// Messages are awaited.
    Mixing,
    Done,
}

impl Gossip {
    pub(crate) fn new(me: PeerIx, settings: &Settings, noise: Option<Box<dyn NoiseSource>>) -> Self {
        let gossip = gossip_settings(settings);
        assert!(noise.is_some() || gossip.message_noise == 0.0, "message noise needs a source of noise");
        let optimiser = gossip.train.then(|| {
            let built = settings.step.optimiser.build(settings.initial.len());
            built.expect("the optimiser of the settings was checked")
        });
        Self {
            me,
            round: 0,
            step: 0,
            phase: Phase::Waiting,
            state: settings.initial.clone(),
            previous: None,
            contribution: Contribution::None,
            optimiser,
            noise,
            spare: None,
            sent: None,
            plan: None,
            inbox: Inbox::default(),
            patience: Default::default(),
            absences: None,
            pairing: gossip.pairing.as_ref().map(|_| Box::default()),
            largest_squared: largest_state(settings, gossip).powi(2),
            returning: false,
        }
    }

    fn begin_round(&mut self, core: &mut Core) {
        if self.round >= core.settings.rounds {
            return self.finish(core);
        }
        core.forgive();
        self.previous = None;
        self.step = 0;
        if !self.meets(core) {
            self.contribute(core);
        }
    }

    fn contribute(&mut self, core: &mut Core) {
        let job = Job::new(self.round, self.state.clone());
        let begun = match self.hidden(core) {
            Some(hidden) => self.contribution.begin_beside(core, job, hidden),
            None => self.contribution.begin(core, job, 0),
        };
        if begun {
            self.phase = Phase::Contributing;
        } else {
            self.begin_mixing(core);
        }
    }

    fn on_recorded(&mut self, core: &mut Core, id: u64) {
        let Some((_, contribution)) = self.contribution.on_recorded(core, id, (0, 0)) else { return };
        // Neighbours see the contribution as it is: whatever the rule, it is charged in full, but where they hide it.
        if self.pairing.is_none() {
            core.budget.charge_in_full();
        }
        let Some(contribution) = contribution.into_reals() else { return };
        let next = match &mut self.optimiser {
            None if self.pairing.is_some() => {
                Values::derived(self.with_pairwise_noise(core, contribution.into_values()))
            }
            None => Values::released(contribution),
            Some(optimiser) => {
                let (params, gradient) = (self.state.as_slice(), contribution.into_values());
                Values::derived(stepped(&core.settings, self.round, params, gradient, &mut **optimiser))
            }
        };
        // A step that overflowed would be refused by everybody.
        if next.is_finite() {
            let before = std::mem::replace(&mut self.state, next);
            self.spare = before.into_unshared();
        }
        self.begin_mixing(core);
    }

    fn begin_mixing(&mut self, core: &mut Core) {
        self.phase = Phase::Mixing;
        if self.step < gossip_settings(&core.settings).plan.steps() {
            self.open_step(core);
        }
    }

    /// Sends the state to everybody who hears this node in the step, and takes up what came early.
    fn open_step(&mut self, core: &mut Core) {
        let gossip = gossip_settings(&core.settings);
        let message_noise = gossip.message_noise;
        let plan = self.plan_of_step(gossip);
        let at = (self.round, self.step);
        if message_noise > 0.0 {
            for to in plan.listeners(self.me) {
                let values = self.for_one_listener(message_noise);
                core.send(to, at, Say::State, values);
            }
        } else {
            let to = plan.recipients(self.me);
            // Everybody who hears it asks for it: found here, where the numbers are near.
            self.state.squared_norm();
            if !to.is_empty() {
                core.send(to, at, Say::State, self.state.clone());
            }
        }
        let came_early = self.inbox.open(self.me, (self.round, self.step), &plan);
        if let Some(absences) = &mut self.absences {
            came_early.into_iter().for_each(|peer| absences.heard(peer));
        }
        self.plan = Some(plan);
        let beyond = self.inbox.senders_of_later_steps();
        beyond.into_iter().for_each(|peer| self.hasten(peer));
        let timeouts = core.settings.timeouts;
        self.patience = (core.now.after(timeouts.resend), core.now.after(timeouts.silence));
    }

    /// The plan of the current step. One that holds for ever is not asked for again: its counter is shared by all nodes.
    fn plan_of_step(&mut self, gossip: &GossipSettings) -> Arc<StepPlan> {
        let at_hand = self.plan.take().filter(|_| gossip.plan.is_fixed());
        at_hand.unwrap_or_else(|| gossip.plan.step(self.round, self.step))
    }

    /// The state with fresh noise; the node itself keeps the clean one.
    fn for_one_listener(&mut self, message_noise: f64) -> Values {
        let noise = self.noise.as_mut().expect("message noise has a source");
        // The event of one message in units of its own: the network accountant prices all messages of a view together.
        let noisy = MessageNoise::new(message_noise, 1.0)
            .and_then(|mechanism| mechanism.message(self.state.as_slice(), &mut **noise));
        Values::derived(noisy.expect("the state is finite and the noise positive").value)
    }

    /// Mixes while everything is here that is still waited for.
    fn advance(&mut self, core: &mut Core) {
        self.meeting(core);
        let steps = gossip_settings(&core.settings).plan.steps();
        while self.phase == Phase::Mixing {
            if self.step >= steps {
                self.end_round(core);
            } else if self.is_ready(core) {
                self.mix(core);
                self.step += 1;
                if self.step < steps {
                    self.open_step(core);
                }
            } else {
                break;
            }
        }
    }

    fn is_ready(&self, core: &Core) -> bool {
        let ((short, long), now) = (self.patience, core.now);
        let accused = core.accused.iter().filter(|&&peer| self.awaits(peer)).count();
        let honest = self.inbox.awaited().saturating_sub(accused);
        honest == 0 || now >= long || (now >= short && self.awaits_only_hasty())
    }

    /// y ← ω W y + (1 − ω) y₋₁, with the weight of what is not here returned to the node itself.
    fn mix(&mut self, core: &mut Core) {
        let Some(plan) = self.plan.take() else { return };
        let accelerate = &gossip_settings(&core.settings).accelerate;
        let omega = accelerate.get(self.step as usize).copied().unwrap_or(1.0);
        let (columns, weights) = plan.row(self.me);
        let mut own = 0.0;
        let mut missing = Vec::new();
        let mut terms: Vec<(f64, &[f32])> = vec![(0.0, self.state.as_slice())];
        for (place, (&peer, &weight)) in columns.iter().zip(weights).enumerate() {
            match self.inbox.at(place) {
                Some(values) => terms.push((omega * weight, values.as_slice())),
                None => {
                    own += weight;
                    missing.extend((peer != self.me && weight != 0.0).then_some(peer));
                }
            }
        }
        terms[0].0 = omega * own;
        if let Some(previous) = &self.previous {
            terms.push((1.0 - omega, previous.as_slice()));
        }
        debug_assert!(mix::keeps_the_mean(&terms), "missing weight goes back to the node itself");
        // By now all neighbours have mixed what they were sent a step ago, if nobody is late.
        let mut mixed = self.spare.take().or_else(|| self.sent.take()?.into_unshared()).unwrap_or_default();
        mix::weighted_sum(&mut mixed, self.state.len(), &terms);
        let mixed = Values::derived(mixed);
        let before = std::mem::replace(&mut self.state, mixed);
        self.previous = (!accelerate.is_empty()).then(|| before.clone());
        self.sent = Some(before);
        self.plan = Some(plan);
        self.inbox.forget();
        self.on_missing(core, missing);
    }

    /// Notes what did not come; where more of the round is to be sent, that is in the log first, for the weights of what is sent depend on it.
    fn on_missing(&mut self, core: &mut Core, missing: Vec<PeerIx>) {
        let (round, step) = (self.round, self.step);
        for &peer in &missing {
            self.absences.get_or_insert_default().missed((round, step), peer);
        }
        let is_last = step + 1 >= gossip_settings(&core.settings).plan.steps();
        if !is_last && !missing.is_empty() {
            core.log(RunEvent::Missed { round, step, peers: missing });
        }
    }

    fn end_round(&mut self, core: &mut Core) {
        self.log_mixed(core);
        self.round += 1;
        core.save(|core| Snapshot {
            epoch: 0,
            members: Vec::new(),
            round: self.round,
            version: self.round,
            model: self.state.clone(),
            records: core.next_record,
            spent: core.budget.saved(0),
            before: None,
            agreement: None,
            reserves: Default::default(),
        });
        self.begin_round(core);
    }

    /// What did not go as planned, since the last such line. After the end it has the round behind the last and late messages only.
    fn log_mixed(&mut self, core: &mut Core) {
        let (missing, late) = self.absences.as_deref_mut().map_or_else(Default::default, |absences| {
            (std::mem::take(&mut absences.missing), std::mem::take(&mut absences.late))
        });
        core.log(RunEvent::Mixed { round: self.round, missing, late });
    }

    fn finish(&mut self, core: &mut Core) {
        self.phase = Phase::Done;
        self.previous = None;
        self.plan = None;
        self.optimiser = None;
        (self.spare, self.sent) = (None, None);
        self.inbox.close();
        core.finish(self.round, self.state.as_slice(), "all rounds are done", true);
    }

    fn is_current(&self, at: (u32, u32)) -> bool {
        self.phase == Phase::Mixing && at == (self.round, self.step)
    }

    fn awaits(&self, peer: PeerIx) -> bool {
        let place = self.plan.as_ref().and_then(|plan| plan.place(self.me, peer));
        place.is_some_and(|place| self.inbox.at(place).is_none())
    }

    fn awaits_only_hasty(&self) -> bool {
        let hasty = self.absences.iter().flat_map(|absences| absences.hasty());
        hasty.filter(|&peer| self.awaits(peer)).count() == self.inbox.awaited()
    }
}

impl Machine for Gossip {
    /// Takes over round and model. The optimiser begins anew: a snapshot of gossip holds parameters only.
    fn restore(&mut self, _settings: &Settings, snapshot: &Snapshot) {
        self.round = snapshot.round;
        if snapshot.model.len() == self.state.len() {
            self.state = snapshot.model.clone();
        }
        self.returning = true;
    }

    fn handle(&mut self, core: &mut Core, input: Input) {
        match input {
            Input::Start if self.phase == Phase::Waiting => self.begin_round(core),
            Input::Start | Input::Tick => {}
            Input::Received { from, message } => self.on_message(core, from, message),
            Input::Computed(computed) => {
                self.contribution.on_computed(core, computed);
            }
            Input::Recorded(id) => self.on_recorded(core, id),
            Input::Leave => core.finish(self.round, self.state.as_slice(), "this node left", false),
        }
        self.advance(core);
    }

    /// Whoever sent it is left out from now on: perhaps nobody else is waited for.
    fn on_refused(&mut self, core: &mut Core, _from: PeerIx, _message: Message) {
        self.advance(core);
    }

    fn wake_at(&self) -> Option<Time> {
        if self.phase == Phase::Meeting {
            return self.pairing.as_ref().map(|pairing| pairing.wake_at());
        }
        let (short, long) = self.patience;
        (self.phase == Phase::Mixing).then(|| if self.awaits_only_hasty() { short } else { long })
    }

    fn wear(&mut self, masks: Masks) {
        if let Some(pairing) = &mut self.pairing {
            pairing.wear(masks);
        }
    }

    fn model(&self) -> &[f32] {
        self.state.as_slice()
    }

    fn round(&self) -> u32 {
        self.round
    }

    /// What was sent in the last step, if nobody has it any more.
    fn spare_memory(&mut self) -> Option<Vec<f32>> {
        self.sent.take()?.into_unshared()
    }
}

/// Largest norm of an honest state.
fn largest_state(settings: &Settings, gossip: &GossipSettings) -> f64 {
    let rounds = f64::from(settings.rounds);
    let contributed = if gossip.train {
        plausible::largest_model(settings, rounds)
    } else {
        plausible::SLACK * settings.largest_norm
    };
    let shared = |pairing: &PairingSettings| pairing.deviation * (pairing.degrees().1 as f64).sqrt();
    let shared = gossip.pairing.as_ref().map_or(0.0, shared);
    let contributed = contributed + plausible::largest_noise(shared, settings.initial.len());
    let noise = plausible::largest_noise(gossip.message_noise, settings.initial.len());
    // Averages are no larger than what is averaged. Accelerated steps and negative weights overshoot, but all states together do not grow.
    let convex = gossip.plan.is_convex() && gossip.accelerate.is_empty();
    let overshoot = if convex { 1.0 } else { (settings.nodes as f64).sqrt() };
    overshoot * (contributed + noise * f64::from(gossip.plan.steps()) * rounds)
}

fn gossip_settings(settings: &Settings) -> &GossipSettings {
    let Algorithm::Gossip(gossip) = &settings.algorithm else {
        unreachable!("the machine is chosen by the algorithm")
    };
    gossip
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A million nodes of degree six in 4 GiB leave some four thousand bytes for each, its messages and its driver included.
    #[test]
    fn the_machine_is_small() {
        assert!(size_of::<Gossip>() <= 448, "{}", size_of::<Gossip>());
    }
}

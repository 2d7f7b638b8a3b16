//! Pairwise noise that nearly cancels (GOPA, Sabater, Bellet and Ramon 2022), for one average of real numbers.
//!
//! Before it contributes, a node tells its neighbours in the graph the key of its process and waits for theirs. With those whose keys are
//! there in time it shares noise: the end of the smaller position adds it, the other subtracts it. Who these are is in the log before anything is sent, and nothing
//! changes it afterwards: a key is told later only to those whose noise was added. An end that never heard the other's key, or that published nothing,
//! leaves its neighbour's noise in the sum, which the account prints; nobody takes it out, since that would need the neighbours' agreement.
//!
//! A node that comes back after a crash has another key, and others may have added noise for the one before: it shares noise with nobody.
//!
//! Invariant: a contribution is charged by what its own neighbours hide, before it is made ([`PairingSettings::hidden`]).

mod fold;
mod plan;
mod secret;
mod settings;

use std::collections::BTreeMap;

pub(super) use fold::PairingFold;
pub(super) use plan::{figures, noise};
pub use settings::PairingSettings;

use super::{Gossip, Phase, Say, gossip_settings};
use crate::core::Core;
use crate::event::{FaultKind, RunEvent};
use crate::masks::{Hidden, MaskKey, Masks};
use crate::rounds::KeyTold;
use crate::{PeerIx, Time};

/// One participant's part in it.
#[derive(Default)]
pub(super) struct Pairing {
    /// The secret of this process, until the noise is made.
    masks: Option<Masks>,
    /// What others are told.
    public: MaskKey,
    /// What neighbours told.
    known: BTreeMap<PeerIx, MaskKey>,
    /// With whom noise is shared, once that is settled.
    settled: Option<Vec<PeerIx>>,
    /// When missing keys are asked for again, and when they are no longer waited for.
    patience: (Time, Time),
}

impl Pairing {
    pub(super) fn wear(&mut self, masks: Masks) {
        self.public = secret::public(&masks);
        self.masks = Some(masks);
    }

    fn missing(&self, neighbours: &[u32]) -> Vec<PeerIx> {
        neighbours.iter().copied().filter(|peer| !self.known.contains_key(peer)).collect()
    }

    /// When to come back while keys are waited for.
    pub(super) fn wake_at(&self) -> Time {
        self.patience.0.min(self.patience.1)
    }
}

impl Gossip {
    /// Tells the neighbours the key of this process and waits for theirs. `false` where there is no pairwise noise, or nothing to wait for.
    pub(super) fn meets(&mut self, core: &mut Core) -> bool {
        let Some(pairing) = &mut self.pairing else { return false };
        if pairing.settled.is_some() {
            return false;
        }
        if self.returning || pairing.masks.is_none() {
            self.settle(core, Vec::new());
            return false;
        }
        let timeouts = core.settings.timeouts;
        // Others wait `silence` for what this node sends afterwards.
        pairing.patience = (core.now.after(timeouts.resend), core.now.after(timeouts.silence / 2));
        self.phase = Phase::Meeting;
        let neighbours = self.neighbours(core);
        self.tell_key(core, &neighbours, true);
        true
    }

    /// Goes on as soon as all keys are there, or the last was waited for long enough.
    pub(super) fn meeting(&mut self, core: &mut Core) {
        let neighbours = self.neighbours(core);
        let Some(pairing) = self.pairing.as_mut().filter(|_| self.phase == Phase::Meeting) else { return };
        let missing = pairing.missing(&neighbours);
        if missing.is_empty() || core.now >= pairing.patience.1 {
            let there = neighbours.into_iter().filter(|peer| !missing.contains(peer)).collect();
            self.settle(core, there);
            self.contribute(core);
        } else if core.now >= pairing.patience.0 {
            pairing.patience.0 = core.now.after(core.settings.timeouts.resend);
            self.tell_key(core, &missing, true);
        }
    }

    /// A neighbour told its key.
    pub(super) fn on_key(&mut self, core: &mut Core, from: PeerIx, told: &KeyTold) {
        if !self.neighbours(core).contains(&from) {
            return core.fault(from, FaultKind::WrongSender, 0);
        }
        let Some(pairing) = &mut self.pairing else { return core.fault(from, FaultKind::WrongKind, 0) };
        let answers = match &pairing.settled {
            // Whoever else is told a key now, or has another one than noise was made from, would add noise that nobody takes off.
            Some(settled) => settled.contains(&from) && pairing.known.get(&from) == Some(&told.key),
            None => {
                if pairing.masks.as_ref().is_some_and(|masks| !secret::fits(masks, &told.key)) {
                    return core.fault(from, FaultKind::WrongKind, 0);
                }
                pairing.known.insert(from, told.key);
                self.phase == Phase::Meeting
            }
        };
        if told.asks && answers && core.tolerates(from, 0) {
            self.tell_key(core, &[from], false);
        }
    }

    /// How well the contribution that is due is hidden; `None` without pairwise noise.
    pub(super) fn hidden(&self, core: &Core) -> Option<Hidden> {
        let settled = self.pairing.as_ref()?.settled.as_ref()?;
        gossip_settings(&core.settings).pairing.as_ref().map(|settings| settings.hidden(settled.len()))
    }

    /// A contribution with all pairwise noise, after which the secret is forgotten.
    ///
    /// # Guarantee
    /// As [`secret::add_noise`], for each of those with whom noise is shared.
    pub(super) fn with_pairwise_noise(&mut self, core: &Core, contribution: Vec<f32>) -> Vec<f32> {
        let settings = gossip_settings(&core.settings).pairing.as_ref();
        let (Some(pairing), Some(settings)) = (&mut self.pairing, settings) else { return contribution };
        let Some(masks) = pairing.masks.take() else { return contribution };
        let mut values: Vec<f64> = contribution.iter().map(|&value| f64::from(value)).collect();
        let mine = (self.me, pairing.public);
        for peer in pairing.settled.iter().flatten() {
            let Some(&key) = pairing.known.get(peer) else { continue };
            let place = (core.settings.run, self.round);
            secret::add_noise(&mut values, (&masks, settings.deviation), place, (mine, (*peer, key)));
        }
        let rounded =
            values.iter().map(|&value| value.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32);
        rounded.collect()
    }

    fn settle(&mut self, core: &mut Core, peers: Vec<PeerIx>) {
        let Some(pairing) = &mut self.pairing else { return };
        pairing.settled = Some(peers.clone());
        core.log(RunEvent::Paired { round: self.round, peers });
    }

    fn tell_key(&self, core: &mut Core, to: &[PeerIx], asks: bool) {
        let Some(pairing) = &self.pairing else { return };
        let told = || Say::Key(Box::new(KeyTold { key: pairing.public, asks }));
        to.iter().for_each(|&peer| core.tell(peer, (0, 0), told()));
    }

    fn neighbours(&self, core: &Core) -> Vec<PeerIx> {
        let settings = gossip_settings(&core.settings).pairing.as_ref();
        settings.map_or_else(Vec::new, |settings| settings.graph.neighbours(self.me as usize).to_vec())
    }
}

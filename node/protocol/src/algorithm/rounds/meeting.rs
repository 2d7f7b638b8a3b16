//! Keys of masks. Decisions state them, the same for all; before the first one everybody tells everybody, each for itself, over connections that prove who
//! speaks. Nobody is believed about the key of another.

use super::masks::{MaskGraph, MaskKey, Masks, Wearing};
use super::{KeyTold, Phase, Rounds, Say, patience};
use crate::PeerIx;
use crate::agreement::Seat;
use crate::core::Core;
use crate::event::{FaultKind, RunEvent};
use crate::numbers::Numbers;
use crate::time::Patience;

impl Rounds {
    pub(super) fn put_on(&mut self, masks: Masks) {
        self.wearing = Some(Wearing::new(masks));
    }

    /// Tells all nodes the key of this process, where rounds are masked.
    pub(super) fn introduce(&self, core: &mut Core, asks: bool) {
        let me = core.me;
        let others: Vec<PeerIx> = (0..core.settings.nodes as PeerIx).filter(|&peer| peer != me).collect();
        self.tell_key(core, &others, asks);
    }

    fn tell_key(&self, core: &mut Core, to: &[PeerIx], asks: bool) {
        if let Some(key) =
            self.wearing.as_ref().and_then(Wearing::public).filter(|_| core.settings.algorithm.is_masked())
        {
            to.iter().for_each(|&peer| core.tell(peer, (0, 0), Say::Key(Box::new(KeyTold { key, asks }))));
        }
    }

    /// What a standing states as this process's key; nothing where there are no masks.
    pub(super) fn own_key(&self) -> MaskKey {
        self.wearing.as_ref().and_then(Wearing::public).unwrap_or_default()
    }

    /// Takes the keys of an epoch from its decision. Who states none of its own cannot be worked with: the round is void, and it is asked again.
    pub(super) fn learn_keys(&mut self, me: PeerIx, seats: &[Seat]) {
        let Some(wearing) = &mut self.wearing else { return };
        wearing.forget();
        for seat in seats.iter().filter(|seat| seat.member != me) {
            wearing.learn(seat.member, seat.key);
        }
    }

    /// Whether the key that was decided for this member is that of a process before this one, which stated it and was killed. With other masks than the others reckon
    /// with it would void the round, and seem to lie about it.
    pub(super) fn has_another_key(&mut self, core: &Core) -> bool {
        if !core.settings.algorithm.is_masked() || self.epoch == 0 {
            return false; // Before the first decision keys are told, not decided.
        }
        let own = self.own_key();
        self.machine(core).decision().seats.iter().any(|seat| seat.member == core.me && seat.key != own)
    }

    /// Whether a round can begin; if not, the keys that are missing are asked for.
    pub(super) fn has_keys(&mut self, core: &mut Core) -> bool {
        let Some(masks) = super::rounds_settings(&core.settings).masks else { return true };
        let Some(wearing) = &mut self.wearing else { return false };
        let missing = wearing.missing(core.me, &self.members);
        if missing.is_empty() {
            let rounds = super::rounds_settings(&core.settings);
            let graph = rounds.mask_graph(self.members.len());
            let unmasked = masks.unmasked((&self.members, graph), &self.apart);
            let place = (core.settings.run, self.epoch);
            wearing.begin_epoch(place, core.me, (&self.members, graph), unmasked);
            return true;
        }
        if !matches!(self.phase, Phase::Meeting(_)) {
            self.began = core.now;
            self.phase = Phase::Meeting(Patience {
                again: core.now.after(core.settings.timeouts.resend),
                ..patience(core)
            });
        }
        false
    }

    /// Says in the log with how many others this member shares streams, where that is not all of them: what a coalition learns depends on it.
    pub(super) fn log_streams(&self, core: &mut Core) {
        let among = self.members.len();
        let graph = super::rounds_settings(&core.settings).mask_graph(among);
        if let (MaskGraph::Circle { neighbours }, Ok(_)) = (graph, self.members.binary_search(&core.me)) {
            core.log(RunEvent::Streams { epoch: self.epoch, among: among as u32, neighbours });
        }
    }

    pub(super) fn on_key(&mut self, core: &mut Core, from: PeerIx, told: &KeyTold) {
        // From the first decision on keys are decided too, the same for all.
        let Some(wearing) = self.wearing.as_mut().filter(|_| self.epoch == 0) else { return };
        if !wearing.learn(from, told.key) {
            return core.fault(from, FaultKind::WrongKind, 0);
        }
        if told.asks && core.tolerates(from, 0) {
            self.tell_key(core, &[from], false);
        }
        if matches!(self.phase, Phase::Meeting(_)) {
            self.start_round(core);
        }
    }

    pub(super) fn meeting_tick(&mut self, core: &mut Core) {
        let Phase::Meeting(patience) = &mut self.phase else { return };
        let missing =
            self.wearing.as_ref().map_or(Vec::new(), |wearing| wearing.missing(core.me, &self.members));
        if core.now >= patience.until {
            return self.call_assembly(core, "a member's key is not known", missing.first().copied());
        }
        patience.again = core.now.after(core.settings.timeouts.resend);
        self.tell_key(core, &missing, true);
    }

    /// Whether these numbers are of the kind that sums of this run have.
    pub(super) fn is_of_our_kind(&self, core: &Core, numbers: &Numbers) -> bool {
        match core.settings.mechanism.words() {
            None => numbers.reals().is_some(),
            Some(on) => numbers.words().is_some_and(|words| {
                let bits = on.mechanism.grid().size().bits();
                let (words_told, whole) = (words.len(), Wearing::length(core.settings.initial.len(), on));
                // How long a part is, its place in the round says.
                let parts = super::rounds_settings(&core.settings)
                    .halves(core.settings.initial.len(), self.members.len());
                8 * words.width() == u64::from(bits)
                    && (words_told == whole || parts && (1..whole).contains(&words_told))
            }),
        }
    }
}

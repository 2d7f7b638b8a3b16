//! The end of a token's walk, told to everybody until they have heard it. No numbers are told: every look at the model would cost privacy.

use std::collections::BTreeSet;

use super::Say;
use crate::core::Core;
use crate::{PeerIx, Time};

/// Told by the last holder of a token.
#[derive(Debug)]
pub(crate) struct Notice {
    token: u32,
    /// Those who have not answered.
    unaware: BTreeSet<PeerIx>,
    again: Time,
    /// Doubles, so that peers that are gone cost little.
    pause: u64,
    until: Time,
}

impl Notice {
    /// Tells everybody.
    pub(crate) fn new(core: &mut Core, token: u32) -> Self {
        let timeouts = core.settings.timeouts;
        let everybody = (0..core.settings.nodes as PeerIx).filter(|&peer| peer != core.me);
        let notice = Self {
            token,
            unaware: everybody.collect(),
            again: core.now.after(timeouts.resend),
            pause: timeouts.resend,
            until: core.now.after(timeouts.give_up),
        };
        notice.tell(core);
        notice
    }

    /// Tells again who has not answered.
    pub(crate) fn on_tick(&mut self, core: &mut Core) {
        if core.now >= self.again {
            self.tell(core);
            self.pause = self.pause.saturating_mul(2).min(core.settings.timeouts.silence);
            self.again = core.now.after(self.pause);
        }
    }

    pub(crate) fn on_aware(&mut self, token: u32, peer: PeerIx) {
        if token == self.token {
            self.unaware.remove(&peer);
        }
    }

    pub(crate) fn is_needed(&self, now: Time) -> bool {
        !self.unaware.is_empty() && now < self.until
    }

    pub(crate) fn wake_at(&self) -> Time {
        self.again
    }

    fn tell(&self, core: &mut Core) {
        let round = core.settings.rounds;
        self.unaware.iter().for_each(|&peer| core.tell(peer, (round, 0), Say::Over { token: self.token }));
    }
}

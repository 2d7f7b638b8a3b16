//! How much each member says about decisions.

use std::collections::BTreeMap;

use crate::core::Core;
use crate::event::FaultKind;
use crate::{PeerIx, Time};

/// Messages of the agreement that one member may send within `resend`, beside some for each member: more than any assembly needs.
const MOST_AT_ONCE: u32 = 256;

/// How many messages each member has sent since when.
#[derive(Default)]
pub(super) struct Traffic(BTreeMap<PeerIx, (Time, u32)>);

impl Traffic {
    /// Counts one more; whether the member says more than anybody has reason to.
    pub(super) fn is_flood(&mut self, core: &mut Core, from: PeerIx) -> bool {
        let most = MOST_AT_ONCE.saturating_add(4 * core.settings.nodes as u32);
        let (until, count) = self.0.entry(from).or_insert((Time(0), 0));
        if core.now >= *until {
            (*until, *count) = (core.now.after(core.settings.timeouts.resend), 0);
        }
        *count = count.saturating_add(1);
        let flooded = *count > most;
        if *count == most.saturating_add(1) {
            core.fault(from, FaultKind::Flood, 0);
        }
        flooded
    }
}

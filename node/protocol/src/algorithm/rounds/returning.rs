//! What a node that comes back may have forgotten: records are charged by the rounds in which the others saw it.
//!
//! Folder and count may be of one backup, so young that the reserve is still the same. Then the others know more: they finished rounds, which nobody finishes without this
//! node, of which its disk knows nothing.
//!
//! # Guarantee
//! Where f + 1 say that they finished a round of which the disk does not know, every round that this node may have begun is charged, up to its reserve. Where nothing vouches for
//! the disk ([`Disk::Unsure`]) that is so whatever they say. Else at most two records of rounds that went well can be forgotten: one of the round that the others are in, and
//! one of the next.
//! # Assumes
//! At most f hostile members; of those who answer, 2f + 1 are not behind themselves.

use super::Rounds;
use crate::agreement::Witnessed;
use crate::contribution::Contribution;
use crate::core::Core;
use crate::event::RunEvent;
use crate::node::Disk;
use crate::work::Job;

/// What was on the disk when the node came back.
#[derive(Debug, Clone, Copy)]
pub(super) struct OnDisk {
    /// So many records.
    records: u64,
    /// The first round of which there may be a record that is not among them.
    round: u32,
}

impl Rounds {
    pub(super) fn look_at_disk(&mut self, core: &Core) {
        // A record that is younger than the snapshot is of its round.
        let has_last = core.next_record > self.reserving.saved_records;
        let round = self.unused.saturating_sub(u32::from(!has_last)).max(self.reserving.idle);
        self.reserving.on_disk = Some(OnDisk { records: core.next_record, round });
    }

    /// Charges what the others' words say that this node has forgotten; an old disk that is known to be one is charged otherwise.
    pub(super) fn charge_witnessed(&mut self, core: &mut Core) {
        let Some(on_disk) = self.reserving.on_disk.filter(|_| self.reserving.disk != Disk::Old) else {
            return;
        };
        let (unsure, asked) =
            (self.reserving.disk == Disk::Unsure && self.came_back, self.machine(core).reserves().asked());
        let may_have_made = match self.machine(core).witnessed() {
            Some(seen) if unsure || self.has_forgotten(core, seen) => {
                // An honest member's word bounds the numbers that are not used again.
                self.unused = self.unused.max(seen.begun.min(seen.done.saturating_add(RESTS)));
                on_disk.records.saturating_add(u64::from(seen.begun.saturating_sub(on_disk.round)))
            }
            // Nobody can say.
            None if unsure && core.settings.nodes > 1 => asked,
            _ => return,
        };
        let reserved = may_have_made.min(asked);
        if core.next_record < reserved {
            self.forget(core, reserved);
        }
    }

    /// Whether sums of the round that is next may have left this node already, as where it is back on an older disk. Sums without its own part would then show what
    /// that part was, and hide the others less than they count on. Whatever is decided next has a number that is new to everybody.
    pub(super) fn may_have_begun(&self, core: &Core) -> bool {
        core.settings.certify && !core.settings.algorithm.is_masked() && self.next_round < self.unused
    }

    /// Whether somebody honest finished a round to which this node contributed, and of which its disk knows nothing.
    fn has_forgotten(&self, core: &Core, seen: Witnessed) -> bool {
        let settings = &core.settings;
        let is_drawn = |round: u32| {
            let drawn = settings.algorithm.drawn(&settings.key, round, self.members.len());
            let me = self.members.binary_search(&core.me);
            drawn.zip(me.ok()).is_none_or(|(drawn, me)| drawn[me])
        };
        (self.unused.max(self.reserving.idle)..seen.done).take(MOST_LOOKED_AT).any(is_drawn)
    }
}

/// For how many rounds a node rests that could not add data, where that may change.
const RESTS: u32 = 16;

impl Rounds {
    /// Adds no data before the round that it says, which is on disk before this round can end: else a node that comes back would be taken to have forgotten records.
    pub(super) fn rest_before(&mut self, core: &mut Core, round: u32) {
        if core.settings.certify && self.round >= self.reserving.idle {
            self.reserving.idle = round;
            self.reserving.promised = self.reserving.promised.saturating_add(1);
            self.save(core);
        }
    }

    /// As [`rest_before`](Self::rest_before), for a while.
    pub(super) fn rest(&mut self, core: &mut Core) {
        self.rest_before(core, self.round.saturating_add(RESTS));
    }

    /// Whether the node rests, though it might add data; then the round goes on without.
    pub(super) fn rests(&mut self, core: &mut Core) -> bool {
        let idle = self.reserving.idle;
        if self.round >= idle || idle == u32::MAX {
            return false;
        }
        let reason = format!(
            "it could not add data a few rounds ago, for want of a reserve or of room, and rests before round {idle}"
        );
        core.log(RunEvent::Refused { round: self.round, reason });
        self.add_no_data(core);
        true
    }

    /// The round goes on without this node's data.
    pub(super) fn add_no_data(&mut self, core: &mut Core) {
        if core.settings.algorithm.is_masked() {
            let job = self.job();
            self.contribution.begin_noise(core, job);
        } else {
            self.add_nothing(core);
        }
    }

    /// Begins a contribution that masks hide, or the noise that the others count on.
    pub(super) fn begin_hidden(&mut self, core: &mut Core, job: Job, hidden: super::Hidden) {
        let admitted =
            hidden.is_enough && core.budget.admits_hidden(&core.settings.clone(), (core.me, hidden)).is_ok();
        if admitted && self.rests(core) {
            return;
        }
        self.contribution.begin_hidden(core, job, hidden);
        if matches!(self.contribution, Contribution::Resounding { .. }) {
            self.rest(core);
        }
    }
}

/// Who is drawn in one of a thousand rounds is missed less than once in a thousand, and no number that is stated costs time without end.
const MOST_LOOKED_AT: usize = 8192;

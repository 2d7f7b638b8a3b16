//! Old disks: a node makes no record that others have not heard it reserve, and asks what they hold of it before it speaks again.
//!
//! What is said of reserves, its own and others', is on disk before: with the next record, so that it costs no commit of its own, or a little later.
//!
//! Whoever starts from an old copy of its folder, and from an old count beside it, learns here that there was more: it is charged up to its reserve, and it
//! signs nothing until the next decision, for it may have forgotten what it signed.
//!
//! # Guarantee
//! With at most f hostile members, what a restored node may have released and does not remember is charged in full, where the disk is younger than the last
//! reserve by what the others saw ([`returning`](super::returning)); a node that cannot find out adds no data.
//! # Assumes
//! A driver that says [`Disk::Sure`] knows that its disk is the last one; then a quorum with this node in it is enough to go on, and what hostile members
//! among it hide of a larger reserve shows when the others answer.

use std::collections::BTreeMap;

use super::returning::OnDisk;
use super::{Phase, Rounds};
use crate::agreement::{self, Input, Recalled, Reserve, Seen, block_of, first_block};
use crate::core::Core;
use crate::event::RunEvent;
use crate::node::{Disk, Output, Snapshot};
use crate::recipients::Recipients;
use crate::{PeerIx, Time};

/// What is not on disk with the next record is put there after this part of `resend`.
const FLUSH: u64 = 8;

/// What this node reserved, and holds of others.
#[derive(Default)]
pub(super) struct Reserving {
    /// What the driver knows of the disk.
    pub(super) disk: Disk,
    /// Records when the last snapshot was made, and in all.
    pub(super) saved_records: u64,
    pub(super) on_disk: Option<OnDisk>,
    /// How far others were seen, as it was kept.
    pub(super) company: Vec<(PeerIx, Seen)>,
    /// The largest reserve that this node knows to be its own.
    known: u64,
    held: BTreeMap<PeerIx, Reserve>,
    /// Since it began it does not know what the others hold.
    recalling: bool,
    /// When as many as decide are enough to go on.
    until: Time,
    /// What is to be said and is in no snapshot yet, and what is on disk with the record of this number.
    unsaid: Vec<(Recipients, agreement::Message)>,
    saved: Vec<(Recipients, agreement::Message)>,
    with_record: u64,
    flush: Time,
    /// How often a snapshot was a promise for their sake.
    pub(super) promised: u32,
    /// The node adds no data before this round: there are no records of it that a disk could have forgotten.
    pub(super) idle: u32,
    /// Until when a contribution waits for its reserve.
    waits: Option<Time>,
    /// It waited in vain: it does not wait in each round.
    in_vain: bool,
}

impl Reserving {
    pub(super) fn restore(&mut self, snapshot: &Snapshot) {
        self.held = snapshot.reserves.held.iter().map(|reserve| (reserve.by, *reserve)).collect();
        self.company.clone_from(&snapshot.reserves.company);
        self.idle = snapshot.reserves.idle;
        self.saved_records = snapshot.records;
    }

    pub(super) fn found(&mut self, disk: Disk) {
        self.disk = disk;
    }

    pub(super) fn held(&self) -> impl Iterator<Item = Reserve> + use<> {
        self.held.clone().into_values()
    }

    /// Whether a message is heard: who asks what the others hold of it hears nothing but that, and how the run ended, which proves itself.
    pub(super) fn hears(&self, phase: &Phase, said: &agreement::Message, rounds: u32) -> bool {
        use agreement::Message::{Decided, Reserve, ReserveHeld};
        !matches!(phase, Phase::Recalling)
            || match said {
                Reserve(_) | ReserveHeld(_) => true,
                Decided(certificate) => {
                    certificate.chain.last().is_some_and(|last| last.decision.model.version >= rounds)
                }
                _ => false,
            }
    }

    /// What was to be said so far is in a snapshot that is on disk with the next record.
    pub(super) fn on_save(&mut self, next_record: u64) -> agreement::KeptReserves {
        if !self.unsaid.is_empty() {
            self.saved.append(&mut self.unsaid);
            self.with_record = next_record;
        }
        let company = self.company.clone();
        let (idle, promised) = (self.idle, self.promised);
        agreement::KeptReserves { held: self.held().collect(), company, idle, promised }
    }

    pub(super) fn wake_at(&self, phase: &Phase) -> Option<Time> {
        let flush = (!self.unsaid.is_empty() || !self.saved.is_empty()).then_some(self.flush);
        let waits = self.waits.filter(|_| matches!(phase, Phase::Contributing));
        let recall = (matches!(phase, Phase::Recalling) && self.until > Time(0)).then_some(self.until);
        flush.into_iter().chain(waits).chain(recall).min()
    }
}

/// Rounds for which the run was planned: a renewal may change how many there are, and blocks stay as large as they were.
fn planned(core: &Core) -> u32 {
    super::rounds_settings(&core.settings).planned()
}

impl Rounds {
    /// Asks what the others hold of this node; before it says anything else where it `comes_back`.
    pub(super) fn recall(&mut self, core: &mut Core, comes_back: bool) {
        self.reserving.recalling = true;
        self.look_at_disk(core);
        if comes_back {
            self.phase = Phase::Recalling;
            self.reserving.until = core.now.after(core.settings.timeouts.silence);
            self.agreeing.ends = core.now.after(core.settings.timeouts.give_up);
            let others: Recipients =
                (0..core.settings.nodes as PeerIx).filter(|&peer| peer != core.me).collect();
            self.ask_decision(core, others);
        }
        let own = self.reserving.held.get(&core.me).map_or(0, |reserve| reserve.records);
        self.reserving.known = own.max(first_block(planned(core)));
        self.agree(core, Input::Recall);
    }

    /// More may be known of what the others hold.
    pub(super) fn on_recalled(&mut self, core: &mut Core) {
        if !self.reserving.recalling {
            return;
        }
        let comes_back = matches!(self.phase, Phase::Recalling);
        let heard = self.machine(core).recalled();
        let enough =
            if comes_back && core.now < self.reserving.until { Recalled::All } else { Recalled::Quorum };
        if heard < enough {
            return;
        }
        if self.reserving.disk == Disk::Old {
            let asked = self.machine(core).reserves().asked();
            self.on_old_disk(core, asked);
        }
        self.charge_witnessed(core);
        self.reserving.recalling = heard < Recalled::Sure && self.reserving.disk != Disk::Sure;
        if comes_back {
            self.phase = Phase::Waiting;
            self.call_assembly(core, "this node came back", None);
        }
        self.contribute_now(core);
    }

    /// Somebody holds a reserve: of another, or one of this node's own.
    pub(super) fn keep_reserve(&mut self, core: &mut Core, reserve: Reserve) {
        self.reserving.held.insert(reserve.by, reserve);
        if reserve.by == core.me && reserve.records > self.reserving.known.max(first_block(planned(core))) {
            // Its own signature, under more than it remembers.
            self.on_old_disk(core, reserve.records);
        }
    }

    /// This node may have made records up to `reserved` that it does not remember.
    fn on_old_disk(&mut self, core: &mut Core, reserved: u64) {
        self.reserving.disk = Disk::Old;
        self.reserving.known = self.reserving.known.max(reserved);
        self.forget(core, reserved);
    }

    /// Charges records up to `reserved`, and signs nothing before the next decision: what was signed may be forgotten too.
    pub(super) fn forget(&mut self, core: &mut Core, reserved: u64) {
        core.charge_forgotten(reserved);
        self.machine(core).fall_silent();
        self.save(core);
    }

    /// Says something about reserves when it is on disk.
    pub(super) fn hold_back(&mut self, core: &mut Core, to: Recipients, said: agreement::Message) {
        if !core.saves {
            return core.tell(to, (0, 0), super::agreeing::agreed(said));
        }
        if self.reserving.unsaid.is_empty() && self.reserving.saved.is_empty() {
            self.reserving.flush = core.now.after(core.settings.timeouts.resend / FLUSH);
        }
        self.reserving.unsaid.push((to, said));
    }

    /// A record is durable, and with it the snapshot that came before it.
    pub(super) fn reserves_are_durable(&mut self, core: &mut Core, record: u64) {
        if record >= self.reserving.with_record {
            for (to, said) in std::mem::take(&mut self.reserving.saved) {
                core.tell(to, (0, 0), super::agreeing::agreed(said));
            }
        }
    }

    pub(super) fn reserving_tick(&mut self, core: &mut Core) {
        let waiting = !self.reserving.unsaid.is_empty() || !self.reserving.saved.is_empty();
        if waiting && core.now >= self.reserving.flush {
            self.reserving.promised = self.reserving.promised.saturating_add(1);
            self.save(core);
            self.reserves_are_durable(core, u64::MAX);
        }
        if self.reserving.waits.is_some_and(|until| core.now >= until) {
            self.contribute_nothing(core);
        }
        self.on_recalled(core);
    }

    /// Asks for the next block, before it is needed.
    pub(super) fn reserve_ahead(&mut self, core: &mut Core) {
        let records = core.next_record;
        if !core.settings.certify || records < block_of(planned(core)) / 2 {
            return;
        }
        // No more than the budget admits: what is masked costs less than in full.
        let pending = u32::from(self.settling.is_some()) + u32::from(self.contribution.is_recording());
        let room = if core.settings.algorithm.is_masked() {
            u64::MAX
        } else {
            core.budget.room(&core.settings, pending)
        };
        if let Some(wanted) = self.machine(core).reserves().wanted(records, room) {
            self.reserving.known = wanted;
            self.agree(core, Input::Reserve(wanted));
        }
    }

    /// Whether one more record may be made; if not, the contribution waits.
    pub(super) fn may_record(&mut self, core: &mut Core) -> bool {
        let reserved = match &self.agreeing.machine {
            Some(machine) => machine.reserves().reserved(),
            None => first_block(planned(core)),
        };
        // A contribution, and a look into its round.
        let wanted = 1 + u64::from(core.settings.algorithm.looks().is_some());
        let may = !self.reserving.recalling && core.next_record + wanted <= reserved;
        if !core.settings.certify || may {
            self.reserving.in_vain = false;
            self.reserving.waits = None;
            return true;
        }
        let patience = if self.reserving.in_vain { 0 } else { core.settings.timeouts.silence };
        self.reserving.waits = Some(core.now.after(patience));
        false
    }

    /// A contribution that waited may be made now.
    pub(super) fn contribute_now(&mut self, core: &mut Core) {
        if self.reserving.waits.take().is_some() && matches!(self.phase, Phase::Contributing) {
            self.begin_contribution(core);
        }
    }

    /// Too few hold a reserve: the round goes on without this node's data.
    fn contribute_nothing(&mut self, core: &mut Core) {
        self.reserving.waits = None;
        if !matches!(self.phase, Phase::Contributing) {
            return;
        }
        self.reserving.in_vain = true;
        let reason = "too few members hold a reserve of this node's records".to_owned();
        core.log(RunEvent::Refused { round: self.round, reason });
        self.rest(core);
        self.add_no_data(core);
    }
}

impl Core {
    /// Records up to `reserved` that this node does not remember: each is charged in full, whatever masks hid, here and in the ledger.
    fn charge_forgotten(&mut self, reserved: u64) {
        let forgotten = self.next_record..reserved;
        if forgotten.is_empty() {
            return;
        }
        forgotten.clone().for_each(|_| self.budget.charge_in_full());
        self.next_record = reserved;
        self.outputs.push(Output::Forgotten(forgotten));
    }
}

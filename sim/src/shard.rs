//! A run of consecutive nodes that one thread handles at a time, with their own calendar.

use protocol::PeerIx;
use protocol::work::Room;

use crate::calendar::{Calendar, Grouping};
use crate::parcel::Parcel;
use crate::report::{Outbox, Said};
use crate::slot::{Context, Slot};
use crate::world::World;

/// Some nodes, what will happen to them, and what they sent.
pub(crate) struct Shard {
    first: PeerIx,
    slots: Vec<Slot>,
    calendar: Calendar,
    grouping: Grouping,
    /// Parcels that arrived since the last window, by window of departure, then by sending shard.
    inbox: Vec<Parcel>,
    /// The earliest arrival in `inbox`.
    earliest: u64,
    outbox: Outbox,
    pub(crate) report: Said,
    /// Nodes for which the run is not over.
    pub(crate) open: usize,
}

impl Shard {
    /// A shard of these nodes, all to be started.
    pub(crate) fn new(first: PeerIx, slots: Vec<Slot>, shards: usize, world: &World<'_>) -> Self {
        let mut shard = Self {
            first,
            calendar: Calendar::default(),
            grouping: Grouping::new(slots.len()),
            inbox: Vec::new(),
            earliest: u64::MAX,
            outbox: Outbox::new(shards, world.shift),
            report: Said::default(),
            open: slots.len(),
            slots,
        };
        (0..shard.slots.len()).for_each(|local| shard.plan(local, world));
        shard
    }

    pub(crate) fn slot(&self, local: usize) -> &Slot {
        &self.slots[local]
    }

    pub(crate) fn into_slots(self) -> Vec<Slot> {
        self.slots
    }

    /// The first window in which something happens here.
    pub(crate) fn next(&self, world: &World<'_>) -> Option<u64> {
        let filed = self.calendar.next();
        let arriving = (self.earliest != u64::MAX).then(|| world.window_of(self.earliest));
        filed.into_iter().chain(arriving).min()
    }

    /// Whether there is something to do in a window, and about how much, in arrivals.
    pub(crate) fn load(&self, window: u64) -> usize {
        /// A visit may be a gradient.
        const VISIT: usize = 16;
        let (arrivals, visits) = self.calendar.load(window);
        arrivals + VISIT * visits + self.inbox.iter().map(|parcel| parcel.events.len()).sum::<usize>()
    }

    /// Takes a parcel from another shard.
    pub(crate) fn deliver(&mut self, parcel: Parcel) {
        self.earliest = self.earliest.min(parcel.first);
        self.inbox.push(parcel);
    }

    /// One of the parcels that are to be handed over, and the shard that it goes to.
    pub(crate) fn next_parcel(&mut self) -> Option<(usize, Parcel)> {
        self.outbox.next_parcel()
    }

    /// Handles everything that happens in a window.
    pub(crate) fn run(&mut self, window: u64, world: &World<'_>, room: &mut Room) {
        for parcel in self.inbox.drain(..) {
            let rest = self.calendar.file(parcel, world.window);
            rest.into_iter().for_each(|rest| self.outbox.recycle(rest));
        }
        self.earliest = u64::MAX;
        let Some(mut bucket) = self.calendar.take(window) else { return };
        // A visit that was put off, or moved forward, is still in the list.
        bucket.visits.retain(|&local| self.slots[local as usize].visit == window);
        self.grouping.group(&bucket, self.first);
        let end = (window + 1).saturating_mul(world.window);
        let mut start = 0;
        for index in 0..self.grouping.touched.len() {
            let local = self.grouping.touched[index] as usize;
            let group = start..self.grouping.ends[index] as usize;
            start = group.end;
            let slot = &mut self.slots[local];
            let was_settled = slot.is_settled();
            let (outbox, report) = (&mut self.outbox, &mut self.report);
            let mut context = Context { world, outbox, report, room };
            slot.run(end, &mut bucket.parcels, &self.grouping.order[group], &mut context);
            if slot.visit <= window {
                slot.visit = u64::MAX;
            }
            match (was_settled, slot.is_settled()) {
                (false, true) => self.open -= 1,
                (true, false) => self.open += 1,
                _ => {}
            }
            self.plan(local, world);
        }
        bucket.parcels.drain(..).for_each(|parcel| self.outbox.recycle(parcel.emptied()));
        self.calendar.recycle(bucket.parcels);
    }

    /// Puts the next visit of a node into the calendar, unless an earlier or equal one is there, which will look again.
    fn plan(&mut self, local: usize, world: &World<'_>) {
        let slot = &mut self.slots[local];
        let time = slot.next_time(world);
        if time == u64::MAX {
            return;
        }
        let window = world.window_of(time);
        if slot.visit > window {
            slot.visit = window;
            self.calendar.visit(window, local as u32);
        }
    }
}

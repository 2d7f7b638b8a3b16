//! Messages on their way from one shard to another. Nobody touches them in between but to hand over the whole parcel.

use protocol::{Message, PeerIx};

/// A message on its way.
pub(crate) struct Event {
    /// When it arrives, in microseconds.
    pub(crate) time: u64,
    pub(crate) from: PeerIx,
    pub(crate) to: PeerIx,
    pub(crate) message: Message,
}

// A million nodes have millions of these in flight.
const _: () = assert!(size_of::<Event>() <= 72);

/// Messages in the order in which they were sent.
pub(crate) struct Parcel {
    pub(crate) events: Vec<Event>,
    /// The earliest arrival.
    pub(crate) first: u64,
    /// The latest arrival.
    pub(crate) last: u64,
}

impl Default for Parcel {
    fn default() -> Self {
        Self { events: Vec::new(), first: u64::MAX, last: 0 }
    }
}

impl Parcel {
    pub(crate) fn push(&mut self, event: Event) {
        self.first = self.first.min(event.time);
        self.last = self.last.max(event.time);
        self.events.push(event);
    }

    /// The same parcel without its messages, to use its memory again.
    pub(crate) fn emptied(mut self) -> Self {
        self.events.clear();
        Self { events: self.events, ..Self::default() }
    }
}

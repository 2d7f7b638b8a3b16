//! What a shard hands over at the end of a window.

use protocol::{PeerIx, RunEvent};

use crate::error::SimError;
use crate::parcel::{Event, Parcel};

/// A line of the log, before it gets its place.
pub(crate) struct Line {
    pub(crate) time: u64,
    pub(crate) node: PeerIx,
    pub(crate) event: RunEvent,
}

/// What happened in a shard in one window, besides messages. Lines are by node, then in order.
#[derive(Default)]
pub(crate) struct Said {
    pub(crate) lines: Vec<Line>,
    /// Nodes that lost their memory or came back.
    pub(crate) presence: Vec<PeerIx>,
    pub(crate) bytes: u64,
    pub(crate) messages: u64,
    pub(crate) dropped: u64,
    /// The first thing that went wrong, with its time and node.
    pub(crate) error: Option<(u64, PeerIx, SimError)>,
}

impl Said {
    pub(crate) fn fail(&mut self, time: u64, node: PeerIx, error: SimError) {
        if self.error.as_ref().is_none_or(|(first, ..)| time < *first) {
            self.error = Some((time, node, error));
        }
    }

    /// An invariant does not hold.
    pub(crate) fn broken(&mut self, time: u64, node: PeerIx, what: String) {
        self.fail(time, node, SimError::Invariant { seconds: time as f64 / 1e6, what });
    }
}

/// Messages of one shard on their way out, by the shard that they go to.
pub(crate) struct Outbox {
    boxes: Vec<Parcel>,
    touched: Vec<u32>,
    shift: u32,
    /// Emptied parcels that keep their memory.
    spare: Vec<Parcel>,
}

impl Outbox {
    pub(crate) fn new(shards: usize, shift: u32) -> Self {
        let boxes = (0..shards).map(|_| Parcel::default()).collect();
        Self { boxes, touched: Vec::new(), shift, spare: Vec::new() }
    }

    pub(crate) fn push(&mut self, event: Event) {
        let shard = event.to >> self.shift;
        let parcel = &mut self.boxes[shard as usize];
        if parcel.events.is_empty() {
            self.touched.push(shard);
            if parcel.events.capacity() == 0
                && let Some(spare) = self.spare.pop()
            {
                *parcel = spare;
            }
        }
        parcel.push(event);
    }

    /// Hands over one of the parcels with the shard that it goes to.
    pub(crate) fn next_parcel(&mut self) -> Option<(usize, Parcel)> {
        let shard = self.touched.pop()? as usize;
        Some((shard, std::mem::take(&mut self.boxes[shard])))
    }

    /// Takes an emptied parcel back.
    pub(crate) fn recycle(&mut self, parcel: Parcel) {
        if self.spare.len() < self.boxes.len() {
            self.spare.push(parcel);
        }
    }
}

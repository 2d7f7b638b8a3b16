//! Messages of members that began before us. They may wait, but not without end: what does not fit is dropped, and the protocol asks again.

use std::collections::BTreeMap;

use libp2p::PeerId;
use protocol::Message;

/// Messages of one peer that may wait.
const MESSAGES: usize = 32;
/// Bytes that a peer may always use, however small the model is.
const LEAST: u64 = 64 << 10;
/// Of all peers together, so many times what one may use.
const PEERS: u64 = 16;

/// What waits for the start.
#[derive(Debug)]
pub(super) struct Early {
    waiting: Vec<(PeerId, Message)>,
    used: BTreeMap<PeerId, (usize, u64)>,
    /// Bytes of one peer.
    most: u64,
}

impl Early {
    /// For a model of so many parameters: one message with a whole model from each peer, beside small ones.
    pub(super) fn new(parameters: usize) -> Self {
        let most = LEAST + 4 * parameters as u64;
        Self { waiting: Vec::new(), used: BTreeMap::new(), most }
    }

    /// Keeps a message if there is room for it.
    pub(super) fn keep(&mut self, peer: PeerId, message: Message) -> bool {
        let bytes = message.bytes();
        let all: u64 = self.used.values().map(|(_, bytes)| bytes).sum();
        let (count, used) = self.used.entry(peer).or_default();
        if *count >= MESSAGES || *used + bytes > self.most || all + bytes > PEERS * self.most {
            return false;
        }
        (*count, *used) = (*count + 1, *used + bytes);
        self.waiting.push((peer, message));
        true
    }

    /// What has waited, in the order in which it came.
    pub(super) fn take(self) -> impl Iterator<Item = (PeerId, Message)> {
        self.waiting.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use protocol::{Body, Numbers, RunId, Values};

    use super::*;

    fn message(numbers: usize) -> Message {
        let numbers = (numbers > 0).then(|| Numbers::Reals(Values::from_wire(vec![0.0; numbers])));
        Message { run: RunId(1), round: 0, step: 0, body: Body::Nudge, numbers }
    }

    #[test]
    fn what_waits_is_bounded_in_bytes_for_a_peer_and_for_all() {
        let parameters = 1_000_000;
        let mut early = Early::new(parameters);
        let flooder = PeerId::random();
        let kept = (0..1024).filter(|_| early.keep(flooder, message(parameters))).count();
        assert_eq!(kept, 1);
        assert!(!early.keep(flooder, message(4 * parameters)));
        let small = (0..1024).filter(|_| early.keep(flooder, message(0))).count();
        assert_eq!(small, MESSAGES - 1);
        let others = (0..64).filter(|_| early.keep(PeerId::random(), message(parameters))).count();
        assert_eq!(others, 15, "of all together");
        let bytes: u64 = early.take().map(|(_, message)| message.bytes()).sum();
        assert!(bytes <= PEERS * (LEAST + 4 * parameters as u64));
    }
}

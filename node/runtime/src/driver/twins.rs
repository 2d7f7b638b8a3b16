//! Members that say that another process has our identity. One may lie; when more say so than can be hostile, this process is the copy.

use std::collections::BTreeSet;

use libp2p::PeerId;

/// Who said so since this process started.
#[derive(Debug, Default)]
pub(super) struct Twins(BTreeSet<PeerId>);

impl Twins {
    /// A member refused us for it. Whether that is enough among so many members.
    pub(super) fn on_refused(&mut self, peer: PeerId, nodes: usize) -> bool {
        self.0.insert(peer);
        // Fewer than a third are hostile: one more than these cannot all lie.
        self.0.len() > nodes.saturating_sub(1) / 3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_members_than_can_be_hostile_must_say_so() {
        let peers: Vec<PeerId> = (0..4).map(|_| PeerId::random()).collect();
        let mut twins = Twins::default();
        assert!(!twins.on_refused(peers[0], 7) && !twins.on_refused(peers[0], 7));
        assert!(!twins.on_refused(peers[1], 7));
        assert!(twins.on_refused(peers[2], 7));
        assert!(Twins::default().on_refused(peers[0], 3), "nobody of three can be hostile");
        assert!(!Twins::default().on_refused(peers[0], 4));
    }
}

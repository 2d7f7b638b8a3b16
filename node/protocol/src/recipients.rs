//! To whom a message goes.

use std::ops::Deref;

use crate::PeerIx;

/// One peer or several: what a node says to all its neighbours is one output, whose numbers are made, looked at and counted once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recipients {
    /// One.
    One(PeerIx),
    /// Any number, in the order of sending.
    Many(Vec<PeerIx>),
}

impl Deref for Recipients {
    type Target = [PeerIx];

    fn deref(&self) -> &[PeerIx] {
        match self {
            Self::One(peer) => std::slice::from_ref(peer),
            Self::Many(peers) => peers,
        }
    }
}

impl From<PeerIx> for Recipients {
    fn from(peer: PeerIx) -> Self {
        Self::One(peer)
    }
}

impl FromIterator<PeerIx> for Recipients {
    fn from_iter<I: IntoIterator<Item = PeerIx>>(peers: I) -> Self {
        Self::Many(peers.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_and_many_are_lists() {
        assert_eq!(*Recipients::from(3), [3]);
        assert_eq!(*[4, 2].into_iter().collect::<Recipients>(), [4, 2]);
        assert!((0..0).collect::<Recipients>().is_empty());
    }
}

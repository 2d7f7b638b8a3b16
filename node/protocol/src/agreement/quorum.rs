//! How many make a decision.
//!
//! With n votes of which at most f are hostile, q = ⌈(n+f+1)/2⌉. Two quorums share more than f members, so an
//! honest one (2q − n ≥ f+1), and where n ≥ 3f+1 the honest alone are a quorum (q ≤ n − f).

use crate::PeerIx;

use super::Fingerprint;
use super::codec::wire;

/// The most hostile members of `n` against which a run can be safe and go on: below a third. None for three
/// members or fewer.
pub fn hostile_by_default(members: usize) -> u32 {
    (members.saturating_sub(1) / 3) as u32
}

/// Who decides, and how many of them must be wrong before a decision is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Electorate {
    /// Who has a vote, in increasing order.
    pub votes: Vec<PeerIx>,
    /// f: at most so many of them are hostile.
    pub hostile: u32,
}

wire!(Electorate { votes: Vec<PeerIx>, hostile: u32 });

impl Electorate {
    /// q: so many signatures make a decision.
    pub fn quorum(&self) -> usize {
        let quorum = (self.votes.len() + self.hostile as usize + 2) / 2;
        debug_assert!(
            2 * quorum > self.votes.len() + self.hostile as usize,
            "two quorums share an honest member"
        );
        quorum
    }

    /// How many votes may be missing while the others decide.
    pub fn may_be_missing(&self) -> usize {
        self.votes.len().saturating_sub(self.quorum())
    }

    /// f + 1: among so many is an honest one.
    pub fn one_honest(&self) -> usize {
        self.hostile as usize + 1
    }

    /// Whether a member has a vote.
    pub fn has(&self, member: PeerIx) -> bool {
        self.votes.binary_search(&member).is_ok()
    }

    /// What every statement of an epoch is bound to: signatures that were given under other votes count for
    /// nothing.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of_wire("murmur electorate 1", self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn electorate(n: usize, hostile: u32) -> Electorate {
        Electorate { votes: (0..n as PeerIx).collect(), hostile }
    }

    /// The table of docs/AGREEMENT.md: n, f, q, may be missing.
    const TABLE: [[usize; 4]; 16] = [
        [2, 0, 2, 0],
        [3, 0, 2, 1],
        [4, 1, 3, 1],
        [5, 1, 4, 1],
        [6, 1, 4, 2],
        [7, 2, 5, 2],
        [8, 2, 6, 2],
        [9, 2, 6, 3],
        [10, 3, 7, 3],
        [11, 3, 8, 3],
        [12, 3, 8, 4],
        [13, 4, 9, 4],
        [14, 4, 10, 4],
        [15, 4, 10, 5],
        [16, 5, 11, 5],
        [64, 21, 43, 21],
    ];

    #[test]
    fn the_table_of_the_specification() {
        for [n, f, q, missing] in TABLE {
            assert_eq!(hostile_by_default(n), f as u32, "{n}");
            let votes = electorate(n, f as u32);
            assert_eq!((votes.quorum(), votes.may_be_missing()), (q, missing), "{n}");
        }
    }

    #[test]
    fn two_quorums_share_an_honest_member_and_the_honest_are_one() {
        for n in 1..200 {
            for f in 0..=hostile_by_default(n) {
                let votes = electorate(n, f);
                let (q, f) = (votes.quorum(), f as usize);
                assert!(2 * q > n + f && q <= n - f, "{n} {f}");
                assert!(2 * (q - 1) <= n + f, "{n} {f}: the smallest such number");
                assert!(f == 0 || q - f > f, "{n} {f}: more than f honest in each quorum");
            }
        }
    }
}

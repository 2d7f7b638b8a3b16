//! The path of a token: drawn from the kernel by public randomness, so it does not depend on anybody's data.

use rand_chacha::rand_core::Rng;
use topology::MixingMatrix;
use topology::schedule::RunKey;

use crate::PeerIx;

/// Draws before a peer that did not answer is tried again, where the kernel leads almost nowhere else.
const DRAWS: usize = 64;

/// Which move is drawn. Each generation of a token has a path of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Move {
    pub(crate) token: u32,
    pub(crate) generation: u32,
    pub(crate) hop: u32,
}

/// The holder after `from`, who holds the token at hop `at.hop`: the first draw from its row that is not `avoided`.
pub(crate) fn next_holder(
    kernel: &MixingMatrix,
    key: &RunKey,
    at: Move,
    from: PeerIx,
    avoided: impl Fn(PeerIx) -> bool,
) -> PeerIx {
    let stream = u64::from(at.token) | u64::from(at.generation) << 32;
    let mut rng = key.stream("walk", stream, u64::from(at.hop));
    let mut draw = || one_draw(kernel, from, (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64);
    let mut next = draw();
    for _ in 1..DRAWS {
        if !avoided(next) {
            break;
        }
        next = draw();
    }
    next
}

/// The first entry of the row at which the running sum passes a uniform number, as [`topology::Walk`] draws.
fn one_draw(kernel: &MixingMatrix, from: PeerIx, uniform: f64) -> PeerIx {
    let (columns, probabilities) = kernel.row(from as usize);
    let mut passed = 0.0;
    let mut last = from;
    for (&column, &probability) in columns.iter().zip(probabilities).filter(|(_, p)| **p > 0.0) {
        passed += probability;
        last = column;
        if uniform < passed {
            break;
        }
    }
    // Where rounding keeps the sum below the draw, the last possible move is made.
    last
}

#[cfg(test)]
mod tests {
    use topology::{Graph, WalkKernel};

    use super::*;

    #[test]
    fn a_peer_that_did_not_answer_is_avoided_where_there_is_another() {
        let path = Graph::from_edges(3, &[(0, 1), (1, 2)]).unwrap().0;
        let kernel = WalkKernel::Simple.matrix(&path).unwrap();
        let key = RunKey::new("avoid");
        for token in 0..50 {
            let at = Move { token, generation: 1, hop: 4 };
            assert_eq!(next_holder(&kernel, &key, at, 1, |peer| peer == 0), 2);
            assert_eq!(next_holder(&kernel, &key, at, 1, |peer| peer == 2), 0);
            assert_eq!(next_holder(&kernel, &key, at, 0, |peer| peer == 1), 1, "it has no other neighbour");
        }
    }
}

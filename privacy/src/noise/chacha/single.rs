//! One block, in ordinary registers: for keys, of which nobody wants several at once. Half the time of a vector of blocks, whose steps wait longer.

use super::{Block, CONSTANTS, Rounds};

/// Two new keys out of one: the halves of block `number` of its first stream, with twenty rounds.
pub(in crate::noise) fn keys(key: &[u8; 32], number: u64) -> [[u8; 32]; 2] {
    pulp::cast(block(Rounds::Twenty, key, 0, number).map(u64::to_le_bytes))
}

/// A block of the stream.
pub(super) fn block(rounds: Rounds, key: &[u8; 32], stream: u64, number: u64) -> Block {
    let mut start = [0; 16];
    start[..4].copy_from_slice(&CONSTANTS);
    let (words, _) = key.as_chunks();
    start[4..12].iter_mut().zip(words).for_each(|(to, &bytes)| *to = u32::from_le_bytes(bytes));
    let halves = |word: u64| [word as u32, (word >> 32) as u32];
    start[12..14].copy_from_slice(&halves(number));
    start[14..].copy_from_slice(&halves(stream));
    let mut state = start;
    for _ in 0..rounds.doubled() {
        (0..4).for_each(|i| quarter(&mut state, [i, 4 + i, 8 + i, 12 + i]));
        (0..4).for_each(|i| quarter(&mut state, [i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4]));
    }
    state.iter_mut().zip(start).for_each(|(end, start)| *end = end.wrapping_add(start));
    let (pairs, _) = state.as_chunks::<2>();
    std::array::from_fn(|i| u64::from(pairs[i][0]) | u64::from(pairs[i][1]) << 32)
}

#[inline(always)]
fn quarter(state: &mut [u32; 16], [a, b, c, d]: [usize; 4]) {
    for (by_d, by_b) in [(16, 12), (8, 7)] {
        state[a] = state[a].wrapping_add(state[b]);
        state[d] = (state[d] ^ state[a]).rotate_left(by_d);
        state[c] = state[c].wrapping_add(state[d]);
        state[b] = (state[b] ^ state[c]).rotate_left(by_b);
    }
}

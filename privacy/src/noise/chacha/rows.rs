//! The cipher on whole rows: a register holds the same row of several consecutive blocks, and several registers are worked on side by side, so
//! that none waits for its predecessor.
//!
//! Written once for all widths of registers; [`Registers`] is what a processor must be able to do.

use super::{Block, CONSTANTS, KeyStream};

/// Instructions on registers of [`BLOCKS`](Self::BLOCKS) rows, as a token that the processor has them.
pub(super) trait Registers: Copy {
    /// One row of each block.
    type Row: Copy;
    /// Blocks of a register.
    const BLOCKS: usize;

    /// The same row for all blocks.
    fn row(self, words: [u32; 4]) -> Self::Row;
    /// The last row of consecutive blocks: counter and stream.
    fn counters(self, first: u64, stream: u64) -> Self::Row;
    fn add(self, x: Self::Row, y: Self::Row) -> Self::Row;
    fn xor(self, x: Self::Row, y: Self::Row) -> Self::Row;
    /// Rotates every word to the left by 16, 12, 8 or 7 bits.
    fn turn<const BITS: i32>(self, x: Self::Row) -> Self::Row;
    /// Moves the words of every row by this many places towards the first.
    fn shift<const PLACES: usize>(self, x: Self::Row) -> Self::Row;
    /// Writes the four rows of [`BLOCKS`](Self::BLOCKS) blocks one block after the other.
    fn write(self, rows: [Self::Row; 4], out: &mut [Block]);
}

/// Overwrites `out`, which has N times [`Registers::BLOCKS`] blocks, with the blocks from `first` on.
#[inline(always)]
pub(super) fn blocks<const N: usize, R: Registers>(
    registers: R,
    from: &KeyStream<'_>,
    first: u64,
    out: &mut [Block],
) {
    let key: [[u32; 4]; 2] = pulp::cast(*from.key);
    let at = |i: usize| first.wrapping_add((i * R::BLOCKS) as u64);
    let start: [[R::Row; 4]; N] = std::array::from_fn(|i| {
        let counters = registers.counters(at(i), from.stream);
        [registers.row(CONSTANTS), registers.row(key[0]), registers.row(key[1]), counters]
    });
    let mut state = start;
    for _ in 0..from.rounds.doubled() {
        columns(registers, &mut state);
        // Diagonals become columns, and back.
        state.iter_mut().for_each(|rows| *rows = shifted::<1, 2, 3, R>(registers, *rows));
        columns(registers, &mut state);
        state.iter_mut().for_each(|rows| *rows = shifted::<3, 2, 1, R>(registers, *rows));
    }
    for ((out, end), start) in out.chunks_exact_mut(R::BLOCKS).zip(state).zip(start) {
        let [[a, b, c, d], [e, f, g, h]] = [end, start];
        let sum = |x, y| registers.add(x, y);
        registers.write([sum(a, e), sum(b, f), sum(c, g), sum(d, h)], out);
    }
}

/// The quarter rounds of all columns; one operation of all registers after the other.
#[inline(always)]
fn columns<const N: usize, R: Registers>(registers: R, state: &mut [[R::Row; 4]; N]) {
    half::<16, 12, N, R>(registers, state);
    half::<8, 7, N, R>(registers, state);
}

#[inline(always)]
fn half<const FIRST: i32, const SECOND: i32, const N: usize, R: Registers>(
    registers: R,
    state: &mut [[R::Row; 4]; N],
) {
    for [a, b, _, d] in state.iter_mut() {
        *a = registers.add(*a, *b);
        *d = registers.turn::<FIRST>(registers.xor(*d, *a));
    }
    for [_, b, c, d] in state.iter_mut() {
        *c = registers.add(*c, *d);
        *b = registers.turn::<SECOND>(registers.xor(*b, *c));
    }
}

/// Moves the second, third and fourth row.
#[inline(always)]
fn shifted<const SECOND: usize, const THIRD: usize, const FOURTH: usize, R: Registers>(
    registers: R,
    [a, b, c, d]: [R::Row; 4],
) -> [R::Row; 4] {
    [a, registers.shift::<SECOND>(b), registers.shift::<THIRD>(c), registers.shift::<FOURTH>(d)]
}

//! Masks: the key stream of ChaCha20 added to words, or taken away.
//!
//! Not noise that stays: two parties with the same key add and subtract the same words, and nobody without it can tell a masked word from a
//! uniform one.

use rayon::prelude::*;

use super::chacha::{Block, KeyStream, Rounds};

/// Blocks made at a time: as many as the widest lanes like, and few enough for the first cache.
const BLOCKS: usize = 56;
/// Blocks of a part: 64 KiB of words or so.
const PART: usize = 16 * BLOCKS;
/// Words of 64 bits in a block.
const WORDS: usize = 8;

/// Adds the first words of the key's stream, modulo 2³².
///
/// # Guarantee
/// For who does not know the key the sums are as good as uniform, whatever the words were.
///
/// # Assumes
/// ChaCha20 is a pseudorandom function, and the key, secret and uniform, is used for one vector only (and for its removal).
pub fn add_stream_u32(key: &[u8; 32], words: &mut [u32]) {
    combine_32((key, 0), words, u32::wrapping_add);
}

/// Takes away what [`add_stream_u32`] adds; hides as well.
///
/// # Guarantee
/// As [`add_stream_u32`].
///
/// # Assumes
/// As [`add_stream_u32`].
pub fn subtract_stream_u32(key: &[u8; 32], words: &mut [u32]) {
    combine_32((key, 0), words, u32::wrapping_sub);
}

/// As [`add_stream_u32`], modulo 2⁶⁴.
///
/// # Guarantee
/// As [`add_stream_u32`].
///
/// # Assumes
/// As [`add_stream_u32`].
pub fn add_stream_u64(key: &[u8; 32], words: &mut [u64]) {
    combine_64((key, 0), words, u64::wrapping_add);
}

/// As [`subtract_stream_u32`], modulo 2⁶⁴.
///
/// # Guarantee
/// As [`add_stream_u32`].
///
/// # Assumes
/// As [`add_stream_u32`].
pub fn subtract_stream_u64(key: &[u8; 32], words: &mut [u64]) {
    combine_64((key, 0), words, u64::wrapping_sub);
}

/// A key, and whether its stream is added or taken away.
pub type Signed<'a> = (&'a [u8; 32], bool);

/// What [`add_stream_u32`] and [`subtract_stream_u32`] do, for all of these keys: words go through memory once, however many keys there are.
///
/// # Guarantee
/// As [`add_stream_u32`], for who does not know all of the keys.
///
/// # Assumes
/// As [`add_stream_u32`].
pub fn combine_streams_u32(streams: &[Signed<'_>], words: &mut [u32]) {
    in_parts::<{ 2 * WORDS }, _>(words, |first_block, part| {
        for &(key, adds) in streams {
            match adds {
                true => combine_32((key, first_block), part, u32::wrapping_add),
                false => combine_32((key, first_block), part, u32::wrapping_sub),
            }
        }
    });
}

/// As [`combine_streams_u32`], modulo 2⁶⁴.
///
/// # Guarantee
/// As [`combine_streams_u32`].
///
/// # Assumes
/// As [`add_stream_u32`].
pub fn combine_streams_u64(streams: &[Signed<'_>], words: &mut [u64]) {
    in_parts::<WORDS, _>(words, |first_block, part| {
        for &(key, adds) in streams {
            match adds {
                true => combine_64((key, first_block), part, u64::wrapping_add),
                false => combine_64((key, first_block), part, u64::wrapping_sub),
            }
        }
    });
}

/// Parts that stay in a near cache while all streams pass over them, each with the number of its first block; on several threads where there are many.
fn in_parts<const IN_BLOCK: usize, T: Send>(words: &mut [T], combine: impl Fn(u64, &mut [T]) + Sync) {
    let length = PART * IN_BLOCK;
    let at = |index: usize| (index * PART) as u64;
    if words.len() <= 2 * length {
        words.chunks_mut(length).enumerate().for_each(|(index, part)| combine(at(index), part));
    } else {
        words.par_chunks_mut(length).enumerate().for_each(|(index, part)| combine(at(index), part));
    }
}

#[inline(always)]
fn combine_32((key, next_block): (&[u8; 32], u64), words: &mut [u32], with: impl Fn(u32, u32) -> u32 + Copy) {
    let mut stream = KeyStream { rounds: Rounds::Twenty, key, stream: 0, next_block };
    let mut blocks = [[0; WORDS]; BLOCKS];
    for part in words.chunks_mut(2 * WORDS * BLOCKS) {
        let made = fill(&mut stream, &mut blocks, part.len().div_ceil(2 * WORDS));
        crate::vectorised(
            #[inline(always)]
            || {
                let (pairs, rest) = part.as_chunks_mut::<2>();
                for (pair, &word) in pairs.iter_mut().zip(made) {
                    pair[0] = with(pair[0], word as u32);
                    pair[1] = with(pair[1], (word >> 32) as u32);
                }
                if let ([last], Some(&word)) = (rest, made.get(pairs.len())) {
                    *last = with(*last, word as u32);
                }
            },
        );
    }
}

#[inline(always)]
fn combine_64((key, next_block): (&[u8; 32], u64), words: &mut [u64], with: impl Fn(u64, u64) -> u64 + Copy) {
    let mut stream = KeyStream { rounds: Rounds::Twenty, key, stream: 0, next_block };
    let mut blocks = [[0; WORDS]; BLOCKS];
    for part in words.chunks_mut(WORDS * BLOCKS) {
        let made = fill(&mut stream, &mut blocks, part.len().div_ceil(WORDS));
        crate::vectorised(
            #[inline(always)]
            || part.iter_mut().zip(made).for_each(|(own, &word)| *own = with(*own, word)),
        );
    }
}

/// The next `count` blocks, as words.
fn fill<'a>(stream: &mut KeyStream<'_>, blocks: &'a mut [Block; BLOCKS], count: usize) -> &'a [u64] {
    let blocks = &mut blocks[..count];
    stream.fill(blocks);
    blocks.as_flattened()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first block of ChaCha20 with a key of zeros, nonce and counter 0 (RFC 8439, appendix A.1, test vector 1).
    const FIRST: [u8; 64] = [
        0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90, 0x40, 0x5d, 0x6a, 0xe5, 0x53, 0x86, 0xbd, 0x28, 0xbd,
        0xd2, 0x19, 0xb8, 0xa0, 0x8d, 0xed, 0x1a, 0xa8, 0x36, 0xef, 0xcc, 0x8b, 0x77, 0x0d, 0xc7, 0xda, 0x41,
        0x59, 0x7c, 0x51, 0x57, 0x48, 0x8d, 0x77, 0x24, 0xe0, 0x3f, 0xb8, 0xd8, 0x4a, 0x37, 0x6a, 0x43, 0xb8,
        0xf4, 0x15, 0x18, 0xa1, 0x1c, 0xc3, 0x87, 0xb6, 0x69, 0xb2, 0xee, 0x65, 0x86,
    ];

    #[test]
    fn the_stream_is_that_of_the_standard() {
        let mut narrow = [0_u32; 16];
        add_stream_u32(&[0; 32], &mut narrow);
        let bytes: Vec<u8> = narrow.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(bytes, FIRST);
        let mut wide = [0_u64; 8];
        add_stream_u64(&[0; 32], &mut wide);
        let bytes: Vec<u8> = wide.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(bytes, FIRST);
    }

    #[test]
    fn what_is_added_can_be_taken_away_at_any_length_and_is_the_same_stream() {
        let key = [7; 32];
        let mut long = vec![0_u32; 5000];
        add_stream_u32(&key, &mut long);
        for length in [0, 1, 2, 15, 16, 17, 895, 896, 897, 1793, 4999] {
            let before: Vec<u32> = (0..length).map(|i| i as u32 * 77).collect();
            let mut words = before.clone();
            add_stream_u32(&key, &mut words);
            assert!(
                words.iter().zip(&before).zip(&long).all(|((a, b), c)| *a == b.wrapping_add(*c)),
                "{length}"
            );
            subtract_stream_u32(&key, &mut words);
            assert_eq!(words, before);
            let mut wide: Vec<u64> = before.iter().map(|&word| u64::from(word) << 30).collect();
            let kept = wide.clone();
            add_stream_u64(&key, &mut wide);
            assert!(length < 2 || wide != kept);
            subtract_stream_u64(&key, &mut wide);
            assert_eq!(wide, kept);
        }
    }

    #[test]
    fn many_streams_at_once_are_what_they_are_one_after_the_other() {
        let keys = [[1; 32], [2; 32], [3; 32]];
        let streams = [(&keys[0], true), (&keys[1], false), (&keys[2], true)];
        // Within a part, at its end, across several, and on several threads.
        let part = 2 * WORDS * PART;
        for length in [0, 1, 651, part - 1, part, part + 1, 3 * part + 7] {
            let before: Vec<u32> = (0..length).map(|i| i as u32 * 7_919).collect();
            let (mut together, mut apart) = (before.clone(), before.clone());
            combine_streams_u32(&streams, &mut together);
            add_stream_u32(&keys[0], &mut apart);
            subtract_stream_u32(&keys[1], &mut apart);
            add_stream_u32(&keys[2], &mut apart);
            assert_eq!(together, apart, "{length}");
            let (mut together, mut apart) =
                (vec![u64::from(u32::MAX); length], vec![u64::from(u32::MAX); length]);
            combine_streams_u64(&streams, &mut together);
            add_stream_u64(&keys[0], &mut apart);
            subtract_stream_u64(&keys[1], &mut apart);
            add_stream_u64(&keys[2], &mut apart);
            assert_eq!(together, apart, "{length}");
        }
    }
}

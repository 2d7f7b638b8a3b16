//! What somebody who sees all traffic of masked rounds, and knows the secrets of some members, can make of one word of every message.
//!
//! Streams that the watchers know are left out where words are made ([`Bared`](protocol::masks::Bared)), so a word that a member sends is what they would have
//! after taking these off. From sums on their way follow the masked words of each member; from these, modulo 2³² or 2⁶⁴, everything that an error of masks or
//! noise would show in: words as they are, their sums over all whom the watchers do not know, which the theorem gives them, and differences of both between rounds.

use std::collections::BTreeMap;

use protocol::PeerIx;

use crate::stage::Place;

/// Words of one coordinate, as integers nearest to zero.
pub(crate) type Words = BTreeMap<Place, i64>;

/// The messages of a round by step: sender, receiver, word.
type Steps = BTreeMap<u32, Vec<(PeerIx, PeerIx, i64)>>;

/// Numbers from which a score is learnt. Runs without faults give equally many.
pub(crate) fn features(words: &Words, (nodes, bits): (usize, u32), watchers: &[usize]) -> Vec<f64> {
    let outside: Vec<usize> = (0..nodes).filter(|node| !watchers.contains(node)).collect();
    let mut rounds: BTreeMap<u32, Steps> = BTreeMap::new();
    for (&(round, step, _, from, to), &word) in words {
        rounds.entry(round).or_default().entry(step).or_default().push((from, to, word));
    }
    let all: Vec<Vec<i64>> =
        rounds.values().map(|steps| of_round(&contributions(steps, nodes), &outside)).collect();
    let differences =
        all.windows(2).flat_map(|pair| pair[1].iter().zip(&pair[0]).map(|(a, b)| a.wrapping_sub(*b)));
    all.iter().flatten().copied().chain(differences).map(|sum| centred(sum, bits)).collect()
}

/// Of every member outside its own word, and the sum of all.
fn of_round(own: &[i64], outside: &[usize]) -> Vec<i64> {
    let single = outside.iter().map(|&node| own[node]);
    let sum = single.clone().fold(0_i64, i64::wrapping_add);
    single.chain([sum]).collect()
}

/// The masked word of each member: the first that it sends, less what it had heard before.
fn contributions(steps: &Steps, nodes: usize) -> Vec<i64> {
    let (mut own, mut heard) = (vec![None; nodes], vec![0_i64; nodes]);
    for messages in steps.values() {
        for &(from, _, word) in messages {
            own[from as usize].get_or_insert(word.wrapping_sub(heard[from as usize]));
        }
        for &(_, to, word) in messages {
            heard[to as usize] = heard[to as usize].wrapping_add(word);
        }
    }
    own.into_iter().map(Option::unwrap_or_default).collect()
}

/// A sum modulo 2³² or 2⁶⁴, as the integer nearest to zero.
fn centred(sum: i64, bits: u32) -> f64 {
    if bits == 32 { f64::from(sum as i32) } else { sum as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three members, of which 2 gives its word to 0 first: by hand.
    #[test]
    fn words_of_members_follow_from_sums_on_their_way() {
        let big = i64::from(i32::MAX);
        let mut words = Words::new();
        for round in 0..2 {
            let shift = 10 * i64::from(round);
            words.insert((round, 0, 0, 2, 0), 7);
            words.insert((round, 1, 0, 0, 1), big + 1 + shift);
            words.insert((round, 1, 0, 1, 0), 5);
            words.insert((round, 2, 0, 0, 2), big + 6 + shift);
        }
        let found = features(&words, (3, 32), &[1]);
        // Of 0: big + 1 − 7; of 2: 7; together big + 1, which is −2³¹. Then the second round, and what has changed.
        let low = -(big + 1) as f64;
        assert_eq!(found[..3], [(big - 6) as f64, 7.0, low]);
        assert_eq!(found[3..6], [low + 3.0, 7.0, low + 10.0]);
        assert_eq!(found[6..], [10.0, 0.0, 10.0]);
    }
}

//! What happens to a message between two nodes.

use privacy::noise::RootSeed;
use protocol::PeerIx;
use protocol::config::Faults;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use crate::error::SimError;

/// The stream of a sender's links; made when it is first needed, since a quiet network needs none and each takes 320 bytes.
pub(crate) type LinkStream = Option<Box<ChaCha8Rng>>;

/// The links of a run, all alike.
pub(crate) struct Links {
    seed: u64,
    delay: u64,
    jitter: u64,
    bandwidth: u64,
    drop: u64,
    duplicate: u64,
    reorder: u64,
    splits: Vec<Split>,
}

/// A time in which two parts do not reach each other.
struct Split {
    from: u64,
    until: u64,
    /// By node: which part.
    side: Vec<bool>,
}

/// When copies of a message arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Lost,
    Once(u64),
    Twice(u64, u64),
}

impl Links {
    pub(crate) fn new(faults: &Faults, nodes: usize, seed: u64) -> Result<Self, SimError> {
        let mut splits = Vec::new();
        for partition in &faults.partition {
            let mut side = vec![false; nodes];
            if partition.nodes.is_empty() {
                let part = (partition.fraction * nodes as f64).round() as usize;
                side[..part.min(nodes)].fill(true);
            }
            for &node in &partition.nodes {
                let no_such = SimError::NoSuchNode { fault: "partition", node, nodes };
                *side.get_mut(node as usize).ok_or(no_such)? = true;
            }
            splits.push(Split { from: partition.from, until: partition.until, side });
        }
        Ok(Self {
            seed,
            delay: faults.delay.max(1),
            jitter: faults.jitter,
            bandwidth: faults.bandwidth,
            drop: threshold(faults.drop_prob),
            duplicate: threshold(faults.duplicate_prob),
            reorder: threshold(faults.reorder_prob),
            splits,
        })
    }

    /// No message takes less: the width of a window.
    pub(crate) fn lookahead(&self) -> u64 {
        self.delay
    }

    /// When the last byte has left, at a sender whose line is busy until `busy`.
    pub(crate) fn departure(&self, now: u64, bytes: u64, busy: &mut u64) -> u64 {
        if self.bandwidth == 0 {
            return now;
        }
        let takes = bytes.saturating_mul(1_000_000) / self.bandwidth;
        *busy = now.max(*busy).saturating_add(takes);
        *busy
    }

    /// Whether two nodes reach each other.
    pub(crate) fn is_open(&self, now: u64, from: PeerIx, to: PeerIx) -> bool {
        let cuts = |split: &Split| {
            (split.from..split.until).contains(&now) && split.side[from as usize] != split.side[to as usize]
        };
        !self.splits.iter().any(cuts)
    }

    /// What becomes of a message that leaves at `departure`.
    pub(crate) fn fate(&self, departure: u64, from: PeerIx, stream: &mut LinkStream) -> Fate {
        if self.drop | self.duplicate | self.reorder | self.jitter == 0 {
            return Fate::Once(departure + self.delay);
        }
        let fresh = || Box::new(RootSeed(self.seed).stream(&format!("{}/{from}", RootSeed::LINKS)));
        let stream = stream.get_or_insert_with(fresh);
        if chance(stream, self.drop) {
            return Fate::Lost;
        }
        let first = self.arrival(departure, stream);
        if chance(stream, self.duplicate) {
            return Fate::Twice(first, self.arrival(departure, stream));
        }
        Fate::Once(first)
    }

    fn arrival(&self, departure: u64, stream: &mut ChaCha8Rng) -> u64 {
        let mut time = departure + self.delay + up_to(stream, self.jitter);
        if chance(stream, self.reorder) {
            time += self.delay + up_to(stream, self.delay);
        }
        time
    }
}

/// A word below this with the given probability. 0 and 1 are exact enough: never, and all but once in 2⁶⁴.
pub(crate) fn threshold(probability: f64) -> u64 {
    (probability * 18_446_744_073_709_551_616.0) as u64
}

fn chance(stream: &mut ChaCha8Rng, threshold: u64) -> bool {
    threshold > 0 && stream.next_u64() < threshold
}

/// A whole number from 0 to `most`, by the high half of a product (Lemire 2019, without the rejection: bias below 2⁻²⁰ for a day of microseconds).
fn up_to(stream: &mut ChaCha8Rng, most: u64) -> u64 {
    if most == 0 { 0 } else { ((u128::from(stream.next_u64()) * (u128::from(most) + 1)) >> 64) as u64 }
}

#[cfg(test)]
mod tests {
    use protocol::config::Partition;

    use super::*;

    fn fates(faults: &Faults, count: usize) -> Vec<Fate> {
        let links = Links::new(faults, 4, 3).unwrap();
        let mut stream = None;
        (0..count).map(|_| links.fate(100, 1, &mut stream)).collect()
    }

    #[test]
    fn losses_and_copies_are_as_frequent_as_configured() {
        let faults =
            Faults { drop_prob: 0.2, duplicate_prob: 0.5, delay: 10, jitter: 5, ..Faults::default() };
        let fates = fates(&faults, 10_000);
        let lost = fates.iter().filter(|&&fate| fate == Fate::Lost).count();
        let twice = fates.iter().filter(|fate| matches!(fate, Fate::Twice(..))).count();
        // Standard deviations 40 and 49: six of them.
        assert!(lost.abs_diff(2_000) < 240 && twice.abs_diff(4_000) < 294, "{lost} {twice}");
        let in_range = |time: u64| (110..=115).contains(&time);
        assert!(fates.iter().all(|&fate| match fate {
            Fate::Lost => true,
            Fate::Once(time) => in_range(time),
            Fate::Twice(first, second) => in_range(first) && in_range(second),
        }));
    }

    #[test]
    fn nothing_arrives_before_the_lookahead() {
        let faults =
            Faults { reorder_prob: 0.5, jitter: 3, duplicate_prob: 0.1, delay: 0, ..Faults::default() };
        let links = Links::new(&faults, 4, 3).unwrap();
        assert_eq!(links.lookahead(), 1);
        assert!(fates(&faults, 1_000).iter().all(|&fate| match fate {
            Fate::Lost => true,
            Fate::Once(time) => time > 100,
            Fate::Twice(first, second) => first > 100 && second > 100,
        }));
    }

    #[test]
    fn a_narrow_line_sends_one_message_after_the_other() {
        let faults = Faults { bandwidth: 1_000, ..Faults::default() };
        let links = Links::new(&faults, 4, 3).unwrap();
        let mut busy = 0;
        assert_eq!(links.departure(7, 2, &mut busy), 2_007);
        assert_eq!(links.departure(8, 1, &mut busy), 3_007);
        assert_eq!(links.departure(9_000, 1, &mut busy), 10_000);
    }

    #[test]
    fn a_partition_cuts_between_its_parts_and_heals() {
        let partition = Partition { nodes: vec![1], fraction: 0.0, from: 5, until: 9 };
        let links = Links::new(&Faults { partition: vec![partition], ..Faults::default() }, 4, 3).unwrap();
        assert!(links.is_open(4, 0, 1) && links.is_open(9, 0, 1) && links.is_open(6, 0, 2));
        assert!(!links.is_open(5, 0, 1) && !links.is_open(8, 1, 2));
    }
}

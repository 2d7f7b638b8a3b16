//! When a node is there: slots in which it is on or off, and outages that a scenario names.

use protocol::PeerIx;
use protocol::config::Faults;
use rand_chacha::rand_core::Rng;

use crate::error::SimError;
use crate::links::threshold;
use crate::noise::{finalise, mix};
use privacy::noise::RootSeed;

/// Slots in which each node is on with a given probability, independently: a hash of (seed, node, slot) decides.
pub(crate) struct Slots {
    seed: u64,
    length: u64,
    on: u64,
}

/// Slots looked ahead for one in which a node is on: with one chance in a thousand per slot, it is missed once in 10⁴³⁴.
const LOOK_AHEAD: u64 = 1_000_000;

impl Slots {
    /// `None` where every node is always on.
    pub(crate) fn new(faults: &Faults, seed: u64) -> Option<Self> {
        let away = faults.online_prob < 1.0;
        away.then(|| Self { seed, length: faults.slot.max(1), on: threshold(faults.online_prob) })
    }

    fn is_on_in(&self, node: PeerIx, slot: u64) -> bool {
        // Two rounds of the finaliser: slots of one node and nodes in one slot are unrelated.
        finalise(mix(self.seed, node, slot as u32) ^ (slot >> 32)) < self.on
    }

    /// Whether a node is on.
    pub(crate) fn is_on(&self, node: PeerIx, time: u64) -> bool {
        self.is_on_in(node, time / self.length)
    }

    /// The first time from `time` on at which a node is on; the end of time if that is too far.
    pub(crate) fn next_on(&self, node: PeerIx, time: u64) -> u64 {
        let now = time / self.length;
        if self.is_on_in(node, now) {
            return time;
        }
        let next = (now + 1..now + LOOK_AHEAD).find(|&slot| self.is_on_in(node, slot));
        next.map_or(u64::MAX, |slot| slot.saturating_mul(self.length))
    }
}

/// A time in which one node is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outage {
    pub(crate) at: u64,
    /// The end of time: never.
    pub(crate) back: u64,
    /// Memory is kept.
    pub(crate) pause: bool,
}

/// The outages of all nodes that have some, by node, then by time.
pub(crate) fn outages(faults: &Faults, nodes: usize, seed: u64) -> Result<Vec<(PeerIx, Outage)>, SimError> {
    let mut all = Vec::new();
    for (number, crash) in faults.crash.iter().enumerate() {
        let back = crash.back.unwrap_or(u64::MAX).max(crash.at.saturating_add(1));
        let outage = Outage { at: crash.at, back, pause: crash.pause };
        let hit = chosen((&crash.nodes, crash.fraction), nodes, seed, ("crash", number))?;
        all.extend(hit.into_iter().map(|node| (node, outage)));
    }
    all.sort_by_key(|&(node, outage)| (node, outage.at, outage.back));
    Ok(all)
}

/// Nodes by name, or a random part of all: of an entry of the faults by its kind and place.
pub(crate) fn chosen(
    (named, fraction): (&[PeerIx], f64),
    nodes: usize,
    seed: u64,
    (fault, number): (&'static str, usize),
) -> Result<Vec<PeerIx>, SimError> {
    if let Some(&node) = named.iter().find(|&&node| node as usize >= nodes) {
        return Err(SimError::NoSuchNode { fault, node, nodes });
    }
    if !named.is_empty() {
        return Ok(named.to_vec());
    }
    let mut order: Vec<PeerIx> = (0..nodes as PeerIx).collect();
    let mut stream = RootSeed(seed).stream(&format!("faults/{fault}/{number}"));
    let count = (fraction * nodes as f64).round() as usize;
    // The first part of a Fisher–Yates shuffle; the bias of a remainder below 2³² of 2⁶⁴ is nothing here.
    for place in 0..count.min(nodes) {
        order.swap(place, place + (stream.next_u64() % (nodes - place) as u64) as usize);
    }
    order.truncate(count);
    Ok(order)
}

#[cfg(test)]
mod tests {
    use protocol::config::Crash;

    use super::*;

    #[test]
    fn nodes_are_on_as_often_as_the_probability_says() {
        let faults = Faults { online_prob: 0.7, slot: 1_000, ..Faults::default() };
        let slots = Slots::new(&faults, 5).unwrap();
        let on = (0..200)
            .flat_map(|node| (0..500).map(move |slot| (node, slot * 1_000 + 999)))
            .filter(|&(node, time)| slots.is_on(node, time))
            .count();
        // Binomial(100 000, 0.7): standard deviation 145; six of them.
        assert!(on.abs_diff(70_000) < 870, "{on}");
        let next = slots.next_on(3, 1_234);
        assert!(slots.is_on(3, next) && (next == 1_234 || next.is_multiple_of(1_000)));
    }

    #[test]
    fn a_fraction_crashes_that_many_different_nodes() {
        let crash = Crash { nodes: Vec::new(), fraction: 0.25, at: 5, back: None, pause: false };
        let faults = Faults { crash: vec![crash], ..Faults::default() };
        let hit: Vec<_> = outages(&faults, 40, 1).unwrap().into_iter().map(|(node, _)| node).collect();
        assert_eq!(hit.len(), 10);
        assert!(hit.windows(2).all(|pair| pair[0] < pair[1]) && hit[9] < 40);
        let other: Vec<_> = outages(&faults, 40, 2).unwrap().into_iter().map(|(node, _)| node).collect();
        assert_ne!(hit, other);
    }

    #[test]
    fn a_crash_of_nobody_is_refused() {
        let crash = Crash { nodes: vec![9], fraction: 0.0, at: 5, back: None, pause: false };
        let faults = Faults { crash: vec![crash], ..Faults::default() };
        assert!(matches!(outages(&faults, 9, 1), Err(SimError::NoSuchNode { node: 9, .. })));
    }
}

//! What a scenario says about single nodes, and how long a run may take.

use protocol::PeerIx;
use protocol::config::HostileKind;

use crate::availability::{Outage, outages};
use crate::error::SimError;
use crate::hostile::Attack;
use crate::slot::{Slot, Special};
use crate::world::World;

/// Rounds beyond the planned ones (broken, repeated) after which a run is given up, each as long as a node may wait.
const EXTRA_ROUNDS: u64 = 16;

/// When a run that does not end by itself is given up.
pub(crate) struct Limits {
    /// The last time at which the scenario changes something.
    settled: u64,
    /// How long nothing may be achieved.
    patience: u64,
    /// How long the whole run may take.
    longest: u64,
}

impl Limits {
    pub(crate) fn new(world: &World<'_>) -> Self {
        let (faults, timeouts) = (world.faults(), world.setup.settings.timeouts);
        let crashes = faults.crash.iter().map(|crash| crash.back.unwrap_or(crash.at).max(crash.at));
        let splits = faults.partition.iter().map(|split| split.until);
        let slowness = faults.slow.iter().map(|slow| slow.factor).fold(1.0, f64::max);
        let is_slow = faults.hostile.iter().any(|hostile| hostile.kind == HostileKind::Slow);
        let slowest = if is_slow { timeouts.silence } else { 0 };
        let compute = ((faults.compute as f64 * slowness) as u64).max(slowest);
        let wait = timeouts.give_up.saturating_add(timeouts.silence).saturating_add(compute);
        let rounds = u64::from(world.setup.settings.rounds) + EXTRA_ROUNDS;
        Self {
            settled: crashes.chain(splits).max().unwrap_or(0),
            patience: wait.saturating_mul(2).saturating_add(faults.slot.saturating_mul(64)),
            longest: wait.saturating_mul(rounds),
        }
    }

    pub(crate) fn are_passed(&self, now: u64, moved: u64) -> bool {
        now.saturating_sub(moved.max(self.settled)) > self.patience
            || now.saturating_sub(self.settled) > self.longest
    }
}

/// What sets some nodes apart.
pub(crate) struct Specials {
    slowness: Vec<(PeerIx, f64)>,
    outages: Vec<(PeerIx, Outage)>,
}

impl Specials {
    pub(crate) fn new(world: &World<'_>) -> Result<Self, SimError> {
        let (faults, nodes) = (world.faults(), world.nodes);
        let check = |fault, node: PeerIx| match (node as usize) < nodes {
            true => Ok(()),
            false => Err(SimError::NoSuchNode { fault, node, nodes }),
        };
        let mut slowness = Vec::new();
        for slow in &faults.slow {
            for &node in &slow.nodes {
                check("slow", node)?;
                slowness.push((node, slow.factor));
            }
        }
        // As slow as the others bear: nine tenths of what they wait for.
        let longest = 0.9 * world.setup.settings.timeouts.silence as f64 / faults.compute.max(1) as f64;
        for (hostile, nodes) in faults.hostile.iter().zip(&world.hostile) {
            if hostile.kind == HostileKind::Slow {
                slowness.extend(nodes.iter().map(|&node| (node, longest.max(1.0))));
            }
        }
        slowness.sort_by_key(|&(node, _)| node);
        Ok(Self { slowness, outages: outages(faults, nodes, world.seed)? })
    }

    pub(crate) fn slot(&self, node: PeerIx, world: &World<'_>) -> Slot {
        let slowness = of_node(&self.slowness, node).map(|&(_, factor)| factor).product();
        let mut outages: Vec<Outage> = of_node(&self.outages, node).map(|&(_, outage)| outage).collect();
        outages.reverse();
        let hostile = world.faults().hostile.iter().zip(&world.hostile);
        let mine = hostile.filter(|(_, nodes)| nodes.contains(&node)).map(|(hostile, _)| hostile);
        let attacks: Vec<Attack> =
            mine.filter_map(|hostile| Attack::new(hostile, &world.setup.settings, node)).collect();
        let is_plain = outages.is_empty() && attacks.is_empty();
        let special = (!is_plain).then(|| Box::new(Special::new(outages, attacks)));
        Slot::new(node, world, slowness, special)
    }
}

/// The entries of one node in a list sorted by node.
fn of_node<T>(sorted: &[(PeerIx, T)], node: PeerIx) -> impl Iterator<Item = &(PeerIx, T)> {
    let start = sorted.partition_point(|&(other, _)| other < node);
    sorted[start..].iter().take_while(move |&&(other, _)| other == node)
}

//! Messages for the eye: who spoke to whom in a round.
//!
//! The log does not name messages one by one, and need not: who meets whom follows from the public plan of the round, and a token's hops are logged.
//! At most [`MOST_FLOWS`] are shown at a time, evenly drawn from all.

use protocol::account::Shape;
use protocol::{PeerIx, RunEvent};
use topology::schedule::{Plan, Role, shuffled_order};

/// Messages that are shown per tick at most.
pub(crate) const MOST_FLOWS: usize = 64;

/// `(from, to, step)`: steps of a round follow each other.
pub(crate) type Flow = (PeerIx, PeerIx, u32);

/// Collects messages until somebody takes them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flows {
    waiting: Vec<Flow>,
    last_round: Option<u32>,
}

impl Flows {
    /// Takes in a line of `node`; `members` are those who take part.
    pub(crate) fn push(&mut self, shape: &Shape, members: &[PeerIx], node: PeerIx, event: &RunEvent) {
        if self.waiting.len() >= MOST_FLOWS {
            return;
        }
        match event {
            RunEvent::Held { from, hop, .. } if *from != node => self.waiting.push((*from, node, hop % 4)),
            RunEvent::RoundDone { round, .. } if self.is_new(*round) => self.doubling(shape, members, *round),
            RunEvent::Mixed { round, .. } if self.is_new(*round) => self.mixing(shape, *round),
            _ => {}
        }
    }

    pub(crate) fn take(&mut self) -> Vec<Flow> {
        std::mem::take(&mut self.waiting)
    }

    fn is_new(&mut self, round: u32) -> bool {
        let new = self.last_round.is_none_or(|last| last < round);
        if new {
            self.last_round = Some(round);
        }
        new
    }

    fn doubling(&mut self, shape: &Shape, members: &[PeerIx], round: u32) {
        let order = shuffled_order(&shape.key, u64::from(round), members.len());
        let Ok(plan) = Plan::with_order(order) else { return };
        let steps = plan.steps().max(1);
        for place in sample(members.len(), MOST_FLOWS / steps, round) {
            for step in 0..plan.steps() {
                if let Role::SendTo(to) | Role::Exchange(to) | Role::GiveTo(to) = plan.role(step, place) {
                    self.add(members[place], members[to], step);
                }
            }
        }
    }

    /// The first step of the round stands for all.
    fn mixing(&mut self, shape: &Shape, round: u32) {
        let Some(schedule) = shape.algorithm.schedule() else { return };
        let Ok(plan) = schedule.round(u64::from(round), shape.nodes) else { return };
        if plan.steps() == 0 {
            return;
        }
        let matrix = plan.step(0).matrix;
        for node in sample(shape.nodes, MOST_FLOWS, round) {
            let (columns, _) = matrix.row(node);
            let others: Vec<u32> = columns.iter().copied().filter(|&peer| peer as usize != node).collect();
            if let Some(&from) = others.get(round as usize % others.len().max(1)) {
                self.add(from, node as PeerIx, 0);
            }
        }
    }

    fn add(&mut self, from: PeerIx, to: PeerIx, step: usize) {
        if self.waiting.len() < MOST_FLOWS {
            self.waiting.push((from, to, step as u32));
        }
    }
}

/// At most `count` of `0..nodes`, at even distances, beginning elsewhere in every round.
fn sample(nodes: usize, count: usize, round: u32) -> impl Iterator<Item = usize> {
    let count = count.clamp(1, nodes.max(1)).min(nodes);
    let start = round as usize * 7;
    (0..count).map(move |at| (start + at * nodes / count.max(1)) % nodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_small_and_without_repetition() {
        for (nodes, count) in [(0, 5), (1, 5), (8, 64), (1000, 6)] {
            let mut found: Vec<usize> = sample(nodes, count, 3).collect();
            found.sort_unstable();
            found.dedup();
            assert_eq!(found.len(), nodes.min(count), "{nodes} {count}");
            assert!(found.iter().all(|&node| node < nodes));
        }
    }
}

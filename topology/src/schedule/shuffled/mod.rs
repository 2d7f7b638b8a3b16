//! The order of a shuffled round of doubling: public, fresh each round, with first meetings of a tournament.
//!
//! Two nodes *meet first* where the meeting is the first of the round for both. In such a meeting the raw value
//! of one node, its input with only its own noise, reaches the other: the dearest message of the round. Every
//! node sends its raw value to one node at most.
//! - n a power of two: the pairs of step 0.
//! - n even: the fold-in pairs (one direction only: the extra is heard, its partner is not), and the pairs of the
//!   first exchange in which neither has folded. Folded nodes exchange with folded ones, so every node is in
//!   exactly one such pair.
//! - n odd: as for n even, but one node is left over, another one each round. It exchanges with a node that has
//!   folded: its first meeting, but not its partner's. It cannot be spared: every round would then need (n+1)/2
//!   new pairs, and n−1 such rounds more pairs than there are.
//!
//! Invariant: the first meetings of round r are those of a round-robin tournament (circle method) whose labels
//! are a permutation fixed for the run and n. Hence no pair meets first twice within n−1 successive rounds of
//! one roster size, and within n−1 rounds (n, if odd) every pair meets first once. Which pairs fold, the direction
//! of folding, and all later partners are random in each round.

use super::Plan;
use super::key::{RunKey, shuffle};

/// The node at each position of the doubling of `round` among `nodes` nodes.
///
/// Complexity: O(nodes).
pub fn shuffled_order(key: &RunKey, round: u64, nodes: usize) -> Vec<u32> {
    let mut label: Vec<u32> = (0..nodes as u32).collect();
    shuffle(&mut label, &mut key.stream("tournament", 0, nodes as u64));
    let (mut pairs, left_over) = tournament(round, nodes);
    let mut rng = key.stream("shuffled-doubling", round, nodes as u64);
    shuffle(&mut pairs, &mut rng);
    for pair in &mut pairs {
        shuffle(pair, &mut rng);
    }
    let core = 1usize << nodes.max(1).ilog2();
    let (folding, exchanging) = pairs.split_at((nodes - core).min(pairs.len()));
    let received = folding.iter().map(|pair| pair[0]);
    let raw = exchanging.iter().flatten().copied();
    let extras = folding.iter().map(|pair| pair[1]);
    received.chain(left_over).chain(raw).chain(extras).map(|player| label[player as usize]).collect()
}

/// The first meetings of a plan, as pairs in which both have met nobody before. Complexity: O(nodes).
pub fn first_meetings(plan: &Plan) -> Vec<(usize, usize)> {
    let mut met = vec![false; plan.nodes()];
    let mut meetings = Vec::new();
    for step in 0..plan.steps().min(2) {
        let roles = plan.roles(step);
        let before = met.clone();
        for (node, partner) in
            roles.iter().enumerate().filter_map(|(node, role)| Some((node, role.partner()?)))
        {
            met[node] = true;
            if node < partner && !before[node] && !before[partner] {
                meetings.push((node, partner));
            }
        }
    }
    meetings
}

/// Round `round` of the circle method: the pairs, and for an odd number of players the one that is left over.
///
/// All players but the last sit on a circle of m = n−1 seats (n even) or n seats (n odd); those meet whose
/// seats sum to the round, modulo m. The one seat that is its own mirror meets the last player, or rests.
fn tournament(round: u64, players: usize) -> (Vec<[u32; 2]>, Option<u32>) {
    if players < 2 {
        return (Vec::new(), (players == 1).then_some(0));
    }
    let seats = if players.is_multiple_of(2) { players - 1 } else { players };
    let sum = (round % seats as u64) as usize;
    let mut pairs = Vec::with_capacity(players / 2);
    let mut own_mirror = 0;
    for seat in 0..seats {
        let mirror = (sum + seats - seat) % seats;
        match seat.cmp(&mirror) {
            std::cmp::Ordering::Less => pairs.push([seat as u32, mirror as u32]),
            std::cmp::Ordering::Equal => own_mirror = seat as u32,
            std::cmp::Ordering::Greater => {}
        }
    }
    if players == seats {
        return (pairs, Some(own_mirror));
    }
    pairs.push([own_mirror, seats as u32]);
    (pairs, None)
}

#[cfg(test)]
mod tests;

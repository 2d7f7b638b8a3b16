//! What is learnt of a contribution in an averaging round: one formula for the budget while a run goes on and for the account after it.
//!
//! A member hears sums over sets of members that do not overlap ([`privacy::network::doubling`]), so a contribution is hidden by the noise of
//! the one sum by which a watcher hears of it. Its leverage is its part of that noise. Who is outside the roster sees no message, but is given
//! the model when it comes back: it hears the total and nothing else.

use std::sync::Arc;

use privacy::network::doubling::Blocks;
use topology::schedule::{Plan, RunKey, shuffled_order};

use super::exchange::Meetings;
use crate::PeerIx;
use crate::agreement::repaired_order;

/// Who meets whom in `round`: doubling over a fresh public order of so many members; `None` where there are none, or too many for a graph.
pub(crate) fn plan_of(key: &RunKey, round: u32, members: usize) -> Option<Plan> {
    Plan::with_order(shuffled_order(key, u64::from(round), members)).ok()
}

/// As [`plan_of`], for these members, in order, and such that none of those who must not meet before some round are partners.
pub(crate) fn plan_apart(
    key: &RunKey,
    round: u32,
    members: &[PeerIx],
    apart: &[(PeerIx, PeerIx, u32)],
) -> Option<Plan> {
    Plan::with_order(order_apart(key, round, members, apart)).ok()
}

/// As [`plan_apart`], with the positions of the members in it.
pub(super) fn meetings_apart(
    key: &RunKey,
    round: u32,
    members: &[PeerIx],
    apart: &[(PeerIx, PeerIx, u32)],
) -> Option<Meetings> {
    let order = order_apart(key, round, members, apart);
    let mut positions: Arc<[u32]> = vec![0; order.len()].into();
    let places = Arc::get_mut(&mut positions)?;
    order.iter().enumerate().for_each(|(at, &member)| places[member as usize] = at as u32);
    Some(Meetings { plan: Arc::new(Plan::with_order(order).ok()?), positions })
}

fn order_apart(key: &RunKey, round: u32, members: &[PeerIx], apart: &[(PeerIx, PeerIx, u32)]) -> Vec<u32> {
    let position = |member: &PeerIx| members.binary_search(member).ok().map(|at| at as u32);
    let pairs: Vec<(u32, u32)> = apart
        .iter()
        .filter(|(_, _, until)| round < *until)
        .filter_map(|(one, other, _)| Some((position(one)?, position(other)?)))
        .collect();
    repaired_order(shuffled_order(key, u64::from(round), members.len()), &pairs)
}

/// A clean round, in which all contributions had the same noise and some members added nothing.
///
/// # Guarantee
/// No leverage is below that of [`Blocks::leverages`] for any choice of those who added nothing.
///
/// # Assumes
/// As [`Blocks::leverages`].
pub(crate) struct Leverages {
    plan: Arc<Plan>,
    /// Who was to contribute, where not all were: everybody knows that.
    drawn: Option<Vec<bool>>,
    silent: usize,
}

impl Leverages {
    /// Of a round by this plan in which so many contributed, of all or of those drawn; who of them did not, nobody knows.
    pub(crate) fn of_count(plan: Arc<Plan>, drawn: Option<Vec<bool>>, count: usize) -> Self {
        let expected = drawn.as_ref().map_or(plan.nodes(), |drawn| drawn.iter().filter(|one| **one).count());
        Self { plan, drawn, silent: expected.saturating_sub(count) }
    }

    /// Of the member at position `source` towards somebody outside the roster, and towards the member at each position; 0 towards itself.
    fn towards_members(&self, source: usize) -> (f64, Vec<f64>) {
        // Who added nothing hides nobody, and who that was is not known: they may all have been in the sum that the watcher heard.
        let hidden =
            |among: usize| (1.0 / among.saturating_sub(self.silent).max(1) as f64).next_up().min(1.0);
        let members = 0..self.plan.nodes();
        let Some(drawn) = &self.drawn else {
            let heard = |watcher: usize| self.plan.heard_among(source, watcher).map_or(0.0, hidden);
            return (hidden(self.plan.nodes()), members.map(heard).collect());
        };
        let blocks = Blocks::new(&self.plan, |at| at == source || drawn[at]);
        let mut shares = vec![0.0; self.plan.nodes()];
        blocks.leverages_of(source, &mut shares);
        // A share of equal noises is one over how many they are.
        let heard = |watcher: usize| {
            if watcher == source { 0.0 } else { hidden(libm::round(1.0 / shares[watcher]) as usize) }
        };
        (hidden(blocks.total() as usize), members.map(heard).collect())
    }

    /// Of the member at position `source` towards every node of the run.
    pub(crate) fn towards_all(&self, source: usize, members: &[PeerIx], nodes: usize) -> Vec<f64> {
        let (outside, inside) = self.towards_members(source);
        let mut all = vec![outside; nodes];
        members.iter().zip(inside).for_each(|(&peer, leverage)| all[peer as usize] = leverage);
        all
    }
}

/// The leverage of the member at position `source` towards somebody outside the roster, where the noise of every member is known.
pub(crate) fn outside(blocks: &Blocks, source: usize) -> f64 {
    blocks.share(source, blocks.total())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By theory: m equal noises hide a contribution with leverage 1/m, and a sum of m members of which s may be silent with 1/(m − s).
    #[test]
    fn silent_members_hide_nobody_whoever_they_are() {
        let key = RunKey::new("leverage");
        for members in [1_usize, 2, 3, 5, 8, 13] {
            let plan = Arc::new(plan_of(&key, 3, members).unwrap());
            for silent in 0..members {
                let leverages = Leverages::of_count(plan.clone(), None, members - silent);
                let total = 1.0 / (members - silent) as f64;
                let (outsider, _) = leverages.towards_members(0);
                assert!(outsider >= total && outsider <= 1.0);
                for source in 0..members {
                    let (outsider, inside) = leverages.towards_members(source);
                    assert_eq!(inside[source], 0.0);
                    // Exactly those at the front are silent, but not the source: one of the cases that must be covered.
                    let quiet = |node: usize| node != source && (node + members - source) % members <= silent;
                    let blocks = Blocks::new(&plan, |node| !quiet(node));
                    let mut exact = vec![0.0; members];
                    blocks.leverages_of(source, &mut exact);
                    for (watcher, exact) in exact.into_iter().enumerate() {
                        let bound = inside[watcher];
                        assert!(bound >= exact, "{members} members, {silent} silent: {bound} < {exact}");
                    }
                    assert!(outsider >= outside(&blocks, source));
                }
            }
        }
    }

    /// Of 16 members 6 are drawn, and everybody knows which: they hide one another and nobody else does, whoever of them stays silent.
    #[test]
    fn those_who_are_drawn_hide_one_another_and_nobody_else_does() {
        let plan = Arc::new(plan_of(&RunKey::new("drawn"), 1, 16).unwrap());
        let drawn: Vec<bool> = (0..16).map(|at| [0, 3, 4, 9, 12, 15].contains(&at)).collect();
        for silent in [None, Some(9), Some(15)] {
            let count = if silent.is_some() { 5 } else { 6 };
            let leverages = Leverages::of_count(plan.clone(), Some(drawn.clone()), count);
            let blocks = Blocks::new(&plan, |at| drawn[at] && Some(at) != silent);
            for source in [0, 3, 4, 12] {
                let mut exact = vec![0.0; 16];
                blocks.leverages_of(source, &mut exact);
                let (outsider, inside) = leverages.towards_members(source);
                assert!(outsider >= 1.0 / count as f64 && outsider <= 1.0 / count as f64 + 1e-12);
                for (watcher, (bound, exact)) in inside.iter().zip(&exact).enumerate() {
                    assert!(bound >= exact, "{source} towards {watcher}: {bound} < {exact}");
                    assert!(silent.is_some() || bound - exact < 1e-12, "{source} towards {watcher}");
                }
            }
        }
    }

    #[test]
    fn who_is_outside_hears_the_total() {
        let plan = Arc::new(plan_of(&RunKey::new("leverage"), 0, 4).unwrap());
        let all = Leverages::of_count(plan, None, 4).towards_all(1, &[0, 2, 3, 5], 6);
        assert_eq!((all[2], all[1], all[4]), (0.0, 0.25_f64.next_up(), 0.25_f64.next_up()));
        assert!([0, 3, 5].iter().all(|&member| all[member] >= 0.25));
    }
}

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
    silent: usize,
}

impl Leverages {
    /// Of a round by this plan in which so many members, nobody knows which, added nothing.
    pub(crate) fn new(plan: Arc<Plan>, silent: usize) -> Self {
        Self { plan, silent }
    }

    /// Of the member at position `source` towards the one at `watcher`, or towards somebody outside the roster; 0 towards itself.
    pub(crate) fn towards(&self, source: usize, watcher: Option<usize>) -> f64 {
        let heard = match watcher {
            Some(watcher) => self.plan.heard_among(source, watcher),
            None => Some(self.plan.nodes()),
        };
        // Who added nothing hides nobody, and who that was is not known: they may all have been in the sum that the watcher heard.
        let hides = |among: usize| among.saturating_sub(self.silent).max(1) as f64;
        heard.map_or(0.0, |among| (1.0 / hides(among)).next_up().min(1.0))
    }

    /// Of the member at position `source` towards every node of the run.
    pub(crate) fn towards_all(&self, source: usize, members: &[PeerIx], nodes: usize) -> Vec<f64> {
        let mut all = vec![self.towards(source, None); nodes];
        for (watcher, &peer) in members.iter().enumerate() {
            all[peer as usize] = self.towards(source, Some(watcher));
        }
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
                let leverages = Leverages::new(plan.clone(), silent);
                let total = 1.0 / (members - silent) as f64;
                assert!(leverages.towards(0, None) >= total && leverages.towards(0, None) <= 1.0);
                for source in 0..members {
                    assert_eq!(leverages.towards(source, Some(source)), 0.0);
                    // Exactly those at the front are silent, but not the source: one of the cases that must be covered.
                    let quiet = |node: usize| node != source && (node + members - source) % members <= silent;
                    let blocks = Blocks::new(&plan, |node| !quiet(node));
                    let mut exact = vec![0.0; members];
                    blocks.leverages_of(source, &mut exact);
                    for (watcher, exact) in exact.into_iter().enumerate() {
                        let bound = leverages.towards(source, Some(watcher));
                        assert!(bound >= exact, "{members} members, {silent} silent: {bound} < {exact}");
                    }
                    assert!(leverages.towards(source, None) >= outside(&blocks, source));
                }
            }
        }
    }

    #[test]
    fn who_is_outside_hears_the_total() {
        let plan = Arc::new(plan_of(&RunKey::new("leverage"), 0, 4).unwrap());
        let all = Leverages::new(plan, 0).towards_all(1, &[0, 2, 3, 5], 6);
        assert_eq!((all[2], all[1], all[4]), (0.0, 0.25_f64.next_up(), 0.25_f64.next_up()));
        assert!([0, 3, 5].iter().all(|&member| all[member] >= 0.25));
    }
}

//! Orders of rounds in which members that are apart are not partners: repaired by swaps that everybody finds
//! alike.

use topology::schedule::Plan;

/// Positions that are partners in some step of a doubling of so many nodes, the smaller first.
fn meetings(nodes: usize) -> Vec<(usize, usize)> {
    let Ok(plan) = Plan::new(nodes) else { return Vec::new() };
    let mut all: Vec<(usize, usize)> = (0..plan.steps())
        .flat_map(|step| plan.roles(step).into_iter().enumerate())
        .filter_map(|(node, role)| role.partner().filter(|&other| node < other).map(|other| (node, other)))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The order of a round, changed as little as swaps can so that no two that are apart are partners. Seats by
/// their positions in the roster.
///
/// Complexity: O(swaps · n² log n); no swap where nobody is apart. Where no swap helps any more, what is left
/// are the fewest that were found: those rounds may break again, and the pair stays apart for longer.
pub fn repaired_order(mut order: Vec<u32>, apart: &[(u32, u32)]) -> Vec<u32> {
    if apart.is_empty() {
        return order;
    }
    let meetings = meetings(order.len());
    let are_apart = |one: u32, other: u32| apart.contains(&(one.min(other), one.max(other)));
    let clashes = |order: &[u32]| meetings.iter().filter(|&&(a, b)| are_apart(order[a], order[b])).count();
    let mut left = clashes(&order);
    while left > 0 {
        let Some((a, b, fewer)) = best_swap(&mut order, left, clashes) else { break };
        order.swap(a, b);
        left = fewer;
    }
    order
}

/// The first swap that leaves the fewest clashes, if it leaves fewer.
fn best_swap(
    order: &mut [u32],
    left: usize,
    clashes: impl Fn(&[u32]) -> usize,
) -> Option<(usize, usize, usize)> {
    let mut best = None;
    for a in 0..order.len() {
        for b in a + 1..order.len() {
            order.swap(a, b);
            let found = clashes(order);
            order.swap(a, b);
            if found < best.map_or(left, |(_, _, fewest)| fewest) {
                best = Some((a, b, found));
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use topology::schedule::{RunKey, shuffled_order};

    use super::*;

    fn partners_apart(order: &[u32], apart: &[(u32, u32)]) -> usize {
        let plan = Plan::with_order(order.to_vec()).unwrap();
        (0..plan.steps())
            .flat_map(|step| plan.roles(step).into_iter().enumerate().collect::<Vec<_>>())
            .filter_map(|(node, role)| Some((node as u32, role.partner()? as u32)))
            .filter(|&(a, b)| a < b && apart.contains(&(a, b)))
            .count()
    }

    #[test]
    fn whoever_is_apart_from_a_few_never_meets_them() {
        let key = RunKey::new("orders");
        for nodes in 4..=16_u32 {
            // A liar that is apart from as many as may be hostile, and another pair.
            let mut apart: Vec<(u32, u32)> = (1..=(nodes - 1) / 3).map(|member| (0, member)).collect();
            apart.push((nodes - 2, nodes - 1));
            for round in 0..20 {
                let order = repaired_order(shuffled_order(&key, round, nodes as usize), &apart);
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..nodes).collect::<Vec<_>>());
                assert_eq!(partners_apart(&order, &apart), 0, "{nodes} nodes, round {round}: {order:?}");
            }
        }
    }

    #[test]
    fn an_order_without_pairs_apart_is_left_alone() {
        let order = shuffled_order(&RunKey::new("orders"), 3, 9);
        assert_eq!(repaired_order(order.clone(), &[]), order);
    }
}

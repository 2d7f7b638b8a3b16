//! The worst small coalition: given, found by looking at all, or found by looking where the losses are largest.

use protocol::account::{Account, FoldError};

use crate::document::Coalition;
use crate::fold::figure;

/// Coalitions that are priced at most; each costs a pass over the rounds.
const MOST_PRICED: usize = 400;

/// Nodes up to which coalitions are looked for: one pass costs as much as all pairs.
const MOST_NODES: usize = 128;

/// Prices the coalition that was asked for, or looks for the worst of two and of three.
pub(crate) fn found(
    account: &mut Account,
    subjects: &[usize],
    asked: &[usize],
    nodes: usize,
) -> Result<Vec<Coalition>, FoldError> {
    let mut asked = asked.to_vec();
    asked.sort_unstable();
    asked.dedup();
    if !asked.is_empty() {
        let worst = worst_towards(account, subjects, &asked, "asked for")?;
        return Ok(worst.into_iter().collect());
    }
    if nodes > MOST_NODES {
        return Ok(Vec::new());
    }
    let mut found: Vec<Coalition> = Vec::new();
    for size in [2, 3] {
        if size + 1 > nodes {
            break;
        }
        let before = found.last().map(|coalition| coalition.members.clone());
        let (candidates, search) = candidates(nodes, size, before.as_deref());
        let mut worst: Option<Coalition> = None;
        for members in &candidates {
            let Some(next) = worst_towards(account, subjects, members, &search)? else { continue };
            if worst.as_ref().is_none_or(|worst| next.figure.epsilon > worst.figure.epsilon) {
                worst = Some(next);
            }
        }
        found.extend(worst);
    }
    Ok(found)
}

/// The loss of the subject that loses most towards these members.
fn worst_towards(
    account: &mut Account,
    subjects: &[usize],
    members: &[usize],
    search: &str,
) -> Result<Option<Coalition>, FoldError> {
    let delta = account.shape().delta;
    let (losses, analysis) = account.coalition(members)?;
    let outside = subjects.iter().copied().filter(|node| !members.contains(node));
    let told: Vec<usize> = outside.filter(|&node| account.shape().is_told(node)).collect();
    let worst = told.into_iter().max_by(|&a, &b| losses[a].total_cmp(&losses[b]).then(b.cmp(&a)));
    Ok(worst.map(|node| {
        let name = if losses[node].is_finite() { analysis.as_str() } else { "none (no noise)" };
        Coalition {
            members: members.to_vec(),
            node,
            figure: figure(losses[node], delta, name),
            search: search.to_owned(),
        }
    }))
}

/// All coalitions of a size where there are few; otherwise those that extend the best smaller one, and evenly spread others.
fn candidates(nodes: usize, size: usize, before: Option<&[usize]>) -> (Vec<Vec<usize>>, String) {
    let count = (0..size).fold(1usize, |count, at| count.saturating_mul(nodes - at) / (at + 1));
    if count <= MOST_PRICED {
        return (all(nodes, size), format!("worst of all {count} coalitions of {size}"));
    }
    let mut some: Vec<Vec<usize>> = Vec::new();
    if let Some(before) = before {
        for extra in (0..nodes).filter(|node| !before.contains(node)) {
            let mut members = before.to_vec();
            members.push(extra);
            members.sort_unstable();
            some.push(members);
        }
    }
    let rest = MOST_PRICED.saturating_sub(some.len());
    // A stride that is prime to most sizes visits combinations all over the list.
    for at in 0..rest {
        let mut members: Vec<usize> =
            (0..size).map(|place| (at * 7919 + place * (at / nodes + 1)) % nodes).collect();
        members.sort_unstable();
        members.dedup();
        if members.len() == size {
            some.push(members);
        }
    }
    some.sort();
    some.dedup();
    let text = format!(
        "worst of {} coalitions of {size} that were tried, of {count}; others may learn more",
        some.len()
    );
    (some, text)
}

fn all(nodes: usize, size: usize) -> Vec<Vec<usize>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let smaller = all(nodes, size - 1);
    let extend = |members: &Vec<usize>| {
        let from = members.last().map_or(0, |last| last + 1);
        (from..nodes)
            .map(|next| members.iter().copied().chain([next]).collect::<Vec<usize>>())
            .collect::<Vec<_>>()
    };
    smaller.iter().flat_map(extend).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_all_looked_at_and_many_are_said_to_be_some() {
        let (every, text) = candidates(8, 2, None);
        assert_eq!((every.len(), text.as_str()), (28, "worst of all 28 coalitions of 2"));
        let (some, text) = candidates(100, 3, Some(&[3, 9]));
        assert!(some.len() <= MOST_PRICED && some.contains(&vec![3, 9, 50]), "{}", some.len());
        assert!(text.contains("others may learn more"));
        assert!(some.iter().all(|members| members.windows(2).all(|pair| pair[0] < pair[1])));
    }
}

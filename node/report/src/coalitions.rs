//! Members that pool what they saw: the worst small coalition, a third of the members, and whoever was asked for.

use protocol::account::{Account, FoldError};

use crate::document::{Coalition, Figure};
use crate::fold::figure;

/// Coalitions of one size that are priced at most.
const MOST_PRICED: usize = 400;

/// Coalitions of one size that are priced at least, if there are so many.
const LEAST_PRICED: usize = 24;

/// What all together may cost: a coalition costs a pass over the rounds, with a projection among all nodes in each.
const MOST_WORK: usize = 30_000_000;

/// Nodes up to which coalitions are looked for: one pass costs as much as all pairs.
const MOST_NODES: usize = 128;

/// How a coalition was found that somebody named.
pub(crate) const ASKED: &str = "asked for";

/// Looks for the worst of two and of three, and prices the one that was asked for beside them: what is asked for never takes the place of the worst.
pub(crate) fn found(
    account: &mut Account,
    subjects: &[usize],
    asked: &[usize],
    nodes: usize,
) -> Result<Vec<Coalition>, FoldError> {
    let mut found: Vec<Coalition> = Vec::new();
    let pool = pool(subjects, nodes);
    for size in [2, 3] {
        // Somebody must be left to watch.
        if nodes > MOST_NODES || size + 1 > nodes || size > pool.len() {
            break;
        }
        let before = found.last().map(|coalition| coalition.members.clone());
        let (candidates, search) = candidates((&pool, size, most(account, nodes)), before.as_deref());
        let mut worst: Option<Coalition> = None;
        for members in &candidates {
            let Some(next) = worst_towards(account, subjects, members, &search)? else { continue };
            if worst.as_ref().is_none_or(|worst| next.figure.epsilon > worst.figure.epsilon) {
                worst = Some(next);
            }
        }
        found.extend(worst);
    }
    let mut asked = asked.to_vec();
    asked.sort_unstable();
    asked.dedup();
    if !asked.is_empty() {
        found.extend(worst_towards(account, subjects, &asked, ASKED)?);
    }
    Ok(found)
}

/// What a third of the members could have learnt together.
pub(crate) struct Third {
    /// How many that are, rounded up.
    pub(crate) size: usize,
    /// The worst of all groups of so many; `None` where there are too many to price each: then only everybody together is a bound.
    pub(crate) found: Option<Figure>,
    /// How many groups there are.
    pub(crate) of: usize,
}

/// The worst group of a third of the members; `None` where that is one member, or where nobody would be left.
///
/// # Guarantee
/// The figure bounds what any group of so many saw: all of them were priced.
pub(crate) fn third(
    account: &mut Account,
    subjects: &[usize],
    nodes: usize,
) -> Result<Option<Third>, FoldError> {
    let (size, pool) = (nodes.div_ceil(3), pool(subjects, nodes));
    if size < 2 || size + 1 > nodes {
        return Ok(None);
    }
    let of = count(pool.len(), size);
    if nodes > MOST_NODES || of > most(account, nodes) {
        return Ok(Some(Third { size, found: None, of }));
    }
    let mut worst: Option<Figure> = None;
    for members in all(&pool, size) {
        let next = worst_towards(account, subjects, &members, "")?;
        let next = next.map(|next| next.figure);
        worst = match (worst, next) {
            (Some(worst), Some(next)) if next.epsilon <= worst.epsilon => Some(worst),
            (worst, next) => next.or(worst),
        };
    }
    Ok(Some(Third { size, found: worst, of }))
}

/// Who may pool what was seen of the subjects: where the report is about one node, everybody else.
fn pool(subjects: &[usize], nodes: usize) -> Vec<usize> {
    let only = subjects.first().filter(|_| subjects.len() == 1);
    (0..nodes).filter(|node| Some(node) != only).collect()
}

/// Coalitions of one size that can be afforded.
fn most(account: &Account, nodes: usize) -> usize {
    let work = (account.shape().rounds as usize).max(1) * nodes * nodes;
    (MOST_WORK / work).clamp(LEAST_PRICED, MOST_PRICED)
}

/// How many groups of this size there are.
fn count(nodes: usize, size: usize) -> usize {
    (0..size).fold(1usize, |count, at| count.saturating_mul(nodes.saturating_sub(at)) / (at + 1))
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
fn candidates(
    (pool, size, most): (&[usize], usize, usize),
    before: Option<&[usize]>,
) -> (Vec<Vec<usize>>, String) {
    let count = count(pool.len(), size);
    if count <= most {
        let text = if count == 1 {
            format!("the only coalition of {size}")
        } else {
            format!("worst of all {count} coalitions of {size}")
        };
        return (all(pool, size), text);
    }
    let mut some: Vec<Vec<usize>> = Vec::new();
    if let Some(before) = before {
        for &extra in pool.iter().filter(|node| !before.contains(node)).take(most / 2) {
            let mut members = before.to_vec();
            members.push(extra);
            members.sort_unstable();
            some.push(members);
        }
    }
    let (rest, nodes) = (most.saturating_sub(some.len()), pool.len());
    // A stride that is prime to most sizes visits combinations all over the list.
    for at in 0..rest {
        let mut members: Vec<usize> =
            (0..size).map(|place| pool[(at * 7919 + place * (at / nodes + 1)) % nodes]).collect();
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

fn all(pool: &[usize], size: usize) -> Vec<Vec<usize>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let extend = |members: &Vec<usize>| {
        let from = members.last().map_or(0, |last| last + 1);
        (from..pool.len())
            .map(|next| members.iter().copied().chain([next]).collect::<Vec<usize>>())
            .collect::<Vec<_>>()
    };
    let places = (1..=size)
        .fold(vec![Vec::new()], |smaller: Vec<Vec<usize>>, _| smaller.iter().flat_map(extend).collect());
    places.into_iter().map(|members| members.into_iter().map(|at| pool[at]).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_all_looked_at_and_many_are_said_to_be_some() {
        let (every, text) = candidates((&(0..8).collect::<Vec<_>>(), 2, 400), None);
        assert_eq!((every.len(), text.as_str()), (28, "worst of all 28 coalitions of 2"));
        let (some, text) = candidates((&(0..100).collect::<Vec<_>>(), 3, 400), Some(&[3, 9]));
        assert!(some.len() <= MOST_PRICED && some.contains(&vec![3, 9, 50]), "{}", some.len());
        assert!(text.contains("others may learn more"));
        assert!(some.iter().all(|members| members.windows(2).all(|pair| pair[0] < pair[1])));
    }

    /// Of four members, three can watch one: three pairs of them, and one coalition of three.
    #[test]
    fn who_is_watched_is_in_no_coalition() {
        let pool = pool(&[2], 4);
        let (pairs, text) = candidates((&pool, 2, 400), None);
        assert_eq!(
            (pairs, text.as_str()),
            (vec![vec![0, 1], vec![0, 3], vec![1, 3]], "worst of all 3 coalitions of 2")
        );
        assert_eq!(candidates((&pool, 3, 400), None).1, "the only coalition of 3");
        assert_eq!((count(8, 3), count(3, 4), pool.len()), (56, 0, 3));
    }
}

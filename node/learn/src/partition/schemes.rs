//! The schemes themselves: each returns one list of records per node.

use std::collections::BTreeSet;

use crate::data::random::Draws;
use crate::data::{Dataset, Target, Task};

use super::error::PartitionError;

type Parts = Vec<Vec<u32>>;

/// Shuffled and dealt like cards.
pub(super) fn iid(records: usize, nodes: usize, draws: &mut Draws) -> Parts {
    let order = shuffled(records, draws);
    (0..nodes).map(|node| order.iter().skip(node).step_by(nodes).copied().collect()).collect()
}

/// Sorted by target, cut into pieces, dealt at random.
pub(super) fn shards(
    data: &Dataset,
    nodes: usize,
    per_node: usize,
    draws: &mut Draws,
) -> Result<Parts, PartitionError> {
    let pieces = nodes.saturating_mul(per_node);
    if pieces > data.len() {
        return Err(PartitionError::BadParameter {
            name: "per_node",
            value: per_node.to_string(),
            why: format!("makes {pieces} shards of {} records", data.len()),
        });
    }
    // Shuffled first, so that records with equal targets come in random order (the sort is stable).
    let mut order = shuffled(data.len(), draws);
    match data.task() {
        Task::Unlabelled => return Err(PartitionError::NeedsTargets { scheme: "shards" }),
        _ => order.sort_by(|&a, &b| {
            sort_key(data.target(a as usize)).total_cmp(&sort_key(data.target(b as usize)))
        }),
    }
    let mut hands: Vec<usize> = (0..pieces).collect();
    draws.shuffle(&mut hands);
    let cut = |piece: usize| piece * data.len() / pieces;
    let deal = |hand: &[usize]| {
        hand.iter().flat_map(|&piece| order[cut(piece)..cut(piece + 1)].iter().copied()).collect()
    };
    Ok(hands.chunks(per_node).map(deal).collect())
}

/// Each class in proportions of its own.
pub(super) fn dirichlet(
    data: &Dataset,
    nodes: usize,
    alpha: f64,
    draws: &mut Draws,
) -> Result<Parts, PartitionError> {
    let mut parts = vec![Vec::new(); nodes];
    for mut records in by_class(data, "dirichlet")? {
        draws.shuffle(&mut records);
        let sizes = apportion(records.len(), &draws.dirichlet(alpha, nodes));
        let mut rest = records.as_slice();
        for (part, size) in parts.iter_mut().zip(sizes) {
            let (own, others) = rest.split_at(size);
            part.extend_from_slice(own);
            rest = others;
        }
    }
    Ok(parts)
}

/// A fixed number of classes for each node, each class shared evenly by those that have it.
pub(super) fn pathological(
    data: &Dataset,
    nodes: usize,
    classes_per_node: usize,
    draws: &mut Draws,
) -> Result<Parts, PartitionError> {
    let mut classes = by_class(data, "pathological")?;
    classes.retain(|records| !records.is_empty());
    if classes_per_node > classes.len() {
        return Err(PartitionError::BadParameter {
            name: "classes_per_node",
            value: classes_per_node.to_string(),
            why: format!("is more than the {} classes that have records", classes.len()),
        });
    }
    if nodes.saturating_mul(classes_per_node) < classes.len() {
        let classes = classes.len();
        return Err(PartitionError::ClassesLeftOver { nodes, classes_per_node, classes });
    }
    let holders = class_holders(classes.len(), nodes, classes_per_node, draws);
    let mut parts = vec![Vec::new(); nodes];
    for (records, holders) in classes.iter_mut().zip(holders) {
        draws.shuffle(records);
        for (position, &record) in records.iter().enumerate() {
            parts[holders[position % holders.len()]].push(record);
        }
    }
    Ok(parts)
}

/// Sizes from a Dirichlet draw on top of the least size, labels at random.
pub(super) fn quantity_skew(
    records: usize,
    nodes: usize,
    (alpha, min_size): (f64, usize),
    draws: &mut Draws,
) -> Parts {
    let order = shuffled(records, draws);
    let sizes = apportion(records - nodes * min_size, &draws.dirichlet(alpha, nodes));
    let mut rest = order.as_slice();
    let mut take = |size: usize| {
        let (own, others) = rest.split_at(size + min_size);
        rest = others;
        own.to_vec()
    };
    sizes.into_iter().map(&mut take).collect()
}

/// Whole groups to at most as many nodes: one each, or joined so that sizes come out even.
pub(super) fn natural(data: &Dataset, nodes: usize, draws: &mut Draws) -> Result<Parts, PartitionError> {
    let mut groups = groups_with_records(data).ok_or(PartitionError::NeedsGroups)?;
    if nodes >= groups.len() {
        return Ok(groups);
    }
    // The largest group first to the smallest node; groups of equal size in random order.
    draws.shuffle(&mut groups);
    groups.sort_by_key(|records| std::cmp::Reverse(records.len()));
    let mut parts = vec![Vec::new(); nodes];
    let mut by_size: BTreeSet<(usize, usize)> = (0..nodes).map(|node| (0, node)).collect();
    for records in groups {
        let (size, node) = by_size.pop_first().expect("there is at least one node");
        by_size.insert((size + records.len(), node));
        parts[node].extend(records);
    }
    Ok(parts)
}

/// The records of each group that has any, in the order of the groups.
pub(super) fn groups_with_records(data: &Dataset) -> Option<Parts> {
    let mut groups = vec![Vec::new(); data.group_names()?.len()];
    for (record, &group) in data.group_of_records()?.iter().enumerate() {
        groups[group as usize].push(record as u32);
    }
    groups.retain(|records| !records.is_empty());
    Some(groups)
}

/// The id of each node, where every node is one group.
pub(super) fn group_names(data: &Dataset, nodes: usize) -> Option<Vec<String>> {
    let names = data.group_names()?;
    let mut present = vec![false; names.len()];
    data.group_of_records()?.iter().for_each(|&group| present[group as usize] = true);
    let own: Vec<String> =
        names.iter().zip(present).filter(|(_, present)| *present).map(|(name, _)| name.clone()).collect();
    (own.len() == nodes).then_some(own)
}

/// Moves random records from the largest nodes to those below `min_size`; returns how many moved.
/// There must be enough records for all.
pub(super) fn fill_up(parts: &mut Parts, min_size: usize, draws: &mut Draws) -> usize {
    let mut moved = 0;
    let mut by_size: BTreeSet<(usize, usize)> =
        parts.iter().enumerate().map(|(node, part)| (part.len(), node)).collect();
    while let Some(&(smallest, poor)) = by_size.first()
        && smallest < min_size
    {
        let (largest, rich) = by_size.pop_last().expect("the set is not empty");
        let taken = draws.below(largest);
        let record = parts[rich].swap_remove(taken);
        parts[poor].push(record);
        by_size.remove(&(smallest, poor));
        by_size.extend([(largest - 1, rich), (smallest + 1, poor)]);
        moved += 1;
    }
    moved
}

/// For each class the nodes that hold it: every node `classes_per_node` different ones, and no class held by
/// more than one node more than another.
fn class_holders(
    classes: usize,
    nodes: usize,
    classes_per_node: usize,
    draws: &mut Draws,
) -> Vec<Vec<usize>> {
    let mut holders = vec![Vec::new(); classes];
    let mut order: Vec<usize> = (0..classes).collect();
    for node in 0..nodes {
        // The least used classes so far, at random among equals.
        draws.shuffle(&mut order);
        order.sort_by_key(|&class| holders[class].len());
        order[..classes_per_node].iter().for_each(|&class| holders[class].push(node));
    }
    holders
}

/// Whole numbers in the given proportions that sum to `total` (largest remainders).
fn apportion(total: usize, shares: &[f64]) -> Vec<usize> {
    let exact: Vec<f64> = shares.iter().map(|share| share * total as f64).collect();
    let mut sizes: Vec<usize> = exact.iter().map(|x| libm::floor(*x) as usize).collect();
    // Rounding could bring the floors above the total by a hair; take back from the largest.
    let mut sum: usize = sizes.iter().sum();
    while sum > total {
        let largest = (0..sizes.len()).max_by_key(|&i| sizes[i]).expect("there is a share");
        sizes[largest] -= 1;
        sum -= 1;
    }
    let mut by_remainder: Vec<usize> = (0..shares.len()).collect();
    let remainder = |i: usize| exact[i] - libm::floor(exact[i]);
    by_remainder.sort_by(|&a, &b| remainder(b).total_cmp(&remainder(a)));
    for &i in by_remainder.iter().cycle().take(total - sum) {
        sizes[i] += 1;
    }
    sizes
}

fn by_class(data: &Dataset, scheme: &'static str) -> Result<Parts, PartitionError> {
    let (Some(labels), Some(classes)) = (data.labels(), data.classes()) else {
        return Err(PartitionError::NeedsClasses { scheme });
    };
    let mut records = vec![Vec::new(); classes];
    for (record, &label) in labels.iter().enumerate() {
        records[label as usize].push(record as u32);
    }
    Ok(records)
}

fn shuffled(records: usize, draws: &mut Draws) -> Vec<u32> {
    let mut order: Vec<u32> = (0..records as u32).collect();
    draws.shuffle(&mut order);
    order
}

fn sort_key(target: Target) -> f32 {
    match target {
        Target::Class(class) => class as f32,
        Target::Real(value) => value,
        Target::None => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apportioned_sizes_follow_the_shares_to_one_record() {
        assert_eq!(apportion(10, &[0.5, 0.25, 0.25]), [5, 3, 2]);
        assert_eq!(apportion(7, &[1.0 / 3.0; 3]), [3, 2, 2]);
        assert_eq!(apportion(0, &[0.5, 0.5]), [0, 0]);
    }

    #[test]
    fn no_class_has_two_holders_more_than_another() {
        let mut draws = Draws::new(1, "test");
        for (classes, nodes, per_node) in [(10, 5, 2), (10, 7, 3), (3, 100, 2), (4, 4, 4)] {
            let holders = class_holders(classes, nodes, per_node, &mut draws);
            let counts: Vec<usize> = holders.iter().map(Vec::len).collect();
            assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
            assert_eq!(counts.iter().sum::<usize>(), nodes * per_node);
        }
    }

    #[test]
    fn filling_up_moves_no_more_than_is_missing() {
        let mut parts: Parts = vec![vec![], vec![0], (1..20).collect()];
        assert_eq!(fill_up(&mut parts, 3, &mut Draws::new(1, "test")), 3 + 2);
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 14]);
    }
}

//! Which records of a node count: one of each person, or at most so many, drawn once and kept.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::noise::Unit;

/// Positions of the records that count, in order. `persons` names the person of each record; records without a name are one
/// person together. The same key and records give the same choice in every question: that is what makes it one draw.
///
/// # Guarantee
/// At most one record of each person (`Person`), at most `max_records` (`Node`): the sensitivity of a record covers a person, and
/// that of `max_records` records a node.
///
/// # Assumes
/// The key is the node's own and stays the same.
#[must_use]
pub fn chosen(records: usize, persons: Option<&[Vec<u8>]>, unit: Unit, key: &[u8]) -> Vec<usize> {
    match (unit, persons) {
        (Unit::Person, Some(persons)) => one_of_each(&persons[..records.min(persons.len())], key),
        // Nobody said who is who: one record at most.
        (Unit::Person, None) => (0..records.min(1)).collect(),
        (Unit::Node { max_records }, _) => {
            let mut order: Vec<usize> = (0..records).collect();
            order.sort_by_cached_key(|&record| draw(key, b"", record));
            order.truncate(usize::try_from(max_records).unwrap_or(usize::MAX));
            order.sort_unstable();
            order
        }
        (Unit::Record | Unit::ReplacedRecord, _) => (0..records).collect(),
    }
}

fn one_of_each(persons: &[Vec<u8>], key: &[u8]) -> Vec<usize> {
    // The number of a record among those of its person, so that other people's records never change the draw.
    let mut own: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    for (record, person) in persons.iter().enumerate() {
        own.entry(person).or_default().push(record);
    }
    let pick = |(person, records): (&[u8], &Vec<usize>)| {
        let first = (0..records.len()).min_by_key(|&number| draw(key, person, number)).unwrap_or(0);
        records[first]
    };
    let mut chosen: Vec<usize> = own.iter().map(|(person, records)| pick((person, records))).collect();
    chosen.sort_unstable();
    chosen
}

fn draw(key: &[u8], person: &[u8], number: usize) -> [u8; 32] {
    Sha256::new()
        .chain_update(b"murmuration chosen record v1\0")
        .chain_update((key.len() as u64).to_le_bytes())
        .chain_update(key)
        .chain_update((person.len() as u64).to_le_bytes())
        .chain_update(person)
        .chain_update((number as u64).to_le_bytes())
        .finalize()
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_counts_once_and_nobody_elses_records_change_which() {
        let person = |name: &str| name.as_bytes().to_vec();
        let few: Vec<_> = ["ann", "bob", "ann", "cy"].map(person).to_vec();
        let mut many = few.clone();
        many.extend(["dan", "dan", "eve"].map(person));
        let first = chosen(4, Some(&few), Unit::Person, b"key");
        assert_eq!(first.len(), 3);
        let second = chosen(7, Some(&many), Unit::Person, b"key");
        assert_eq!(second.len(), 5);
        assert_eq!(second[..3], first);
    }

    #[test]
    fn a_node_counts_at_most_so_many_and_always_the_same() {
        let unit = Unit::Node { max_records: 10 };
        let once = chosen(1000, None, unit, b"key");
        assert_eq!(once.len(), 10);
        assert_eq!(once, chosen(1000, None, unit, b"key"));
        assert_ne!(once, chosen(1000, None, unit, b"other"));
        assert_eq!(chosen(4, None, Unit::Record, b"key"), [0, 1, 2, 3]);
    }
}

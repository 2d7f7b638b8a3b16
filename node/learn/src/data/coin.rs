//! A node's own test part, by a keyed coin for each record or person.
//!
//! Shuffling and cutting would let one record more or less move every other from one part to the other: two neighbouring sets would have parts that
//! differ everywhere, and what holds for one record's influence would hold no more. Here each coin is a function of its own record.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::dataset::{Dataset, Target};
use super::error::DataError;
use super::split::Holdout;

/// What has one coin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoinOf {
    /// Each record.
    Record,
    /// Each group: all records of a person are in one part.
    Group,
}

/// Keeps records apart, each with probability `test_fraction`. The key is public: whoever has the same person keeps the same person apart.
///
/// # Guarantee
/// Taking a record away (a group, with [`CoinOf::Group`]) takes it from its own part and leaves the other part, and everything else in its own, as it
/// was. Equal records have coins of their own, counted; which of them is taken away makes no difference, since they are equal.
///
/// # Assumes
/// `test_fraction` and `key` were not chosen by looking at the records.
///
/// # Errors
/// A fraction outside 0..1 (1 excluded), groups that the data do not have, or nothing left to learn from.
pub fn hold_out_by_coin(
    data: &Dataset,
    test_fraction: f64,
    key: u64,
    coin_of: CoinOf,
) -> Result<Holdout, DataError> {
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for (record, held_out) in held_out(data, test_fraction, key, coin_of)?.into_iter().enumerate() {
        if held_out { test.push(record as u32) } else { train.push(record as u32) }
    }
    if train.is_empty() {
        return Err(bad(test_fraction, "leaves no record to learn from"));
    }
    Ok(Holdout { train: data.subset(&train), test: data.subset(&test) })
}

/// Whether each record is kept apart: the coins of [`hold_out_by_coin`], for whoever wants to know which records they are.
///
/// # Guarantee
/// As there.
///
/// # Assumes
/// As there.
///
/// # Errors
/// A fraction outside 0..1 (1 excluded), or groups that the data do not have.
pub fn held_out(
    data: &Dataset,
    test_fraction: f64,
    key: u64,
    coin_of: CoinOf,
) -> Result<Vec<bool>, DataError> {
    if !(0.0..1.0).contains(&test_fraction) {
        return Err(bad(test_fraction, "must be at least 0 and below 1"));
    }
    let coins = match coin_of {
        CoinOf::Record => record_coins(data, key),
        CoinOf::Group => group_coins(data, key).ok_or_else(|| DataError::BadParameter {
            name: "privacy.unit",
            value: "\"person\"".into(),
            why: "needs a column that says whom a record is about: `id=COLUMN` behind the file, or `person` in the schema".into(),
        })?,
    };
    Ok(coins.into_iter().map(|coin| coin < test_fraction).collect())
}

fn bad(test_fraction: f64, why: &str) -> DataError {
    DataError::BadParameter { name: "test_fraction", value: test_fraction.to_string(), why: why.into() }
}

/// A digest of all records in their order, to notice that they changed. It tells about private records: keep it where they are.
pub fn fingerprint(data: &Dataset) -> String {
    let mut all = Sha256::new();
    (0..data.len()).for_each(|record| all.update(content(data, record)));
    all.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn content(data: &Dataset, record: usize) -> [u8; 32] {
    let mut content = Sha256::new();
    data.row(record).iter().for_each(|value| content.update(value.to_bits().to_le_bytes()));
    match data.target(record) {
        Target::Class(class) => content.update(u64::from(class).to_le_bytes()),
        Target::Real(value) => content.update(value.to_bits().to_le_bytes()),
        Target::None => {}
    }
    content.finalize().into()
}

fn record_coins(data: &Dataset, key: u64) -> Vec<f64> {
    let mut seen: BTreeMap<[u8; 32], u64> = BTreeMap::new();
    let coin = |record: usize| {
        let content = content(data, record);
        let before = seen.entry(content).or_default();
        *before += 1;
        toss(key, b"record", &[&content, &before.to_le_bytes()])
    };
    (0..data.len()).map(coin).collect()
}

fn group_coins(data: &Dataset, key: u64) -> Option<Vec<f64>> {
    let coins: Vec<f64> =
        data.group_names()?.iter().map(|name| toss(key, b"group", &[name.as_bytes()])).collect();
    Some(data.group_of_records()?.iter().map(|&group| coins[group as usize]).collect())
}

/// Uniform on [0, 1), by SHA-256 of everything.
fn toss(key: u64, kind: &[u8], parts: &[&[u8]]) -> f64 {
    let mut hash = Sha256::new();
    hash.update(b"murmur hold-out 1 ");
    hash.update(key.to_le_bytes());
    hash.update(kind);
    parts.iter().for_each(|part| hash.update(part));
    let digest: [u8; 32] = hash.finalize().into();
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    (u64::from_le_bytes(first) >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::dataset::{Groups, Targets};
    use super::*;

    fn data(values: &[f32]) -> Dataset {
        Dataset::new(values.to_vec(), 1, Targets::None).unwrap()
    }

    fn values(data: &Dataset) -> Vec<f32> {
        let mut values: Vec<f32> = (0..data.len()).map(|record| data.row(record)[0]).collect();
        values.sort_by(f32::total_cmp);
        values
    }

    proptest! {
        #[test]
        fn taking_a_record_away_moves_no_other(
            mut records in prop::collection::vec((0u8..6).prop_map(f32::from), 3..40),
            at: prop::sample::Index,
            key: u64,
        ) {
            let parts = |records: &[f32]| hold_out_by_coin(&data(records), 0.4, key, CoinOf::Record);
            let Ok(before) = parts(&records) else { return Ok(()) };
            let gone = records.remove(at.index(records.len()));
            let Ok(after) = parts(&records) else { return Ok(()) };
            let (mut train, mut test) = (values(&before.train), values(&before.test));
            let (left, kept) = (values(&after.train), values(&after.test));
            // Exactly one part lost exactly one record, and it is the one that is gone.
            let shorter = if left.len() < train.len() { &mut train } else { &mut test };
            let place = shorter.iter().position(|value| *value == gone);
            prop_assert!(place.is_some());
            shorter.remove(place.unwrap());
            prop_assert_eq!((left, kept), (train, test));
        }
    }

    #[test]
    fn the_part_has_about_the_size_that_was_asked_for() {
        let many: Vec<f32> = (0..10_000).map(|value| value as f32).collect();
        let parts = hold_out_by_coin(&data(&many), 0.2, 1, CoinOf::Record).unwrap();
        // Binomial: 2000 with deviation 40; five deviations are passed with probability 6e-7, and the key is fixed.
        assert!(parts.test.len().abs_diff(2000) < 200, "{}", parts.test.len());
        assert_eq!(parts.test.len() + parts.train.len(), 10_000);
        assert_ne!(parts, hold_out_by_coin(&data(&many), 0.2, 2, CoinOf::Record).unwrap());
        assert!(hold_out_by_coin(&data(&many), 0.0, 1, CoinOf::Record).unwrap().test.is_empty());
    }

    #[test]
    fn all_records_of_a_person_are_in_one_part_wherever_the_person_is() {
        let of_record: Vec<u32> = (0..300).map(|record| record % 100).collect();
        let names = |shift: usize| (0..100).map(|name| format!("p{}", name + shift)).collect::<Vec<_>>();
        let held = |shift: usize| {
            let all: Vec<f32> = (0..300).map(|value| value as f32).collect();
            let groups = Groups { of_record: of_record.clone(), names: names(shift) };
            let parts =
                hold_out_by_coin(&data(&all).with_groups(groups).unwrap(), 0.3, 7, CoinOf::Group).unwrap();
            let in_part = |part: &Dataset| -> std::collections::BTreeSet<String> {
                let groups = part.group_of_records().unwrap();
                groups.iter().map(|&group| part.group_names().unwrap()[group as usize].clone()).collect()
            };
            (in_part(&parts.train), in_part(&parts.test))
        };
        let ((train, test), (other_train, _)) = (held(0), held(50));
        assert!(train.is_disjoint(&test) && !test.is_empty());
        // Persons 50 to 99 are at both nodes.
        assert!(test.is_disjoint(&other_train));
        assert!(hold_out_by_coin(&data(&[1.0]), 0.3, 7, CoinOf::Group).is_err());
    }
}

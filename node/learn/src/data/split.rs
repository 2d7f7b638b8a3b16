//! A node's own division into records to learn from and records to test on.

use super::dataset::Dataset;
use super::error::DataError;
use super::random::Draws;

/// A node's records in two parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Holdout {
    /// Records to learn from; never empty.
    pub train: Dataset,
    /// Records kept apart; empty where the fraction rounds to none.
    pub test: Dataset,
}

/// Keeps a random `test_fraction` of `data` apart (rounded to the nearest record, at least one record stays to
/// learn from). `node` gives each node its own stream: nodes with equally many records are not cut alike.
///
/// # Errors
/// A fraction outside 0..1 (1 excluded) or no records.
pub fn hold_out(data: &Dataset, test_fraction: f64, seed: u64, node: u64) -> Result<Holdout, DataError> {
    if !(0.0..1.0).contains(&test_fraction) {
        return Err(DataError::BadParameter {
            name: "test_fraction",
            value: test_fraction.to_string(),
            why: "must be at least 0 and below 1".into(),
        });
    }
    if data.is_empty() {
        return Err(DataError::Empty { file: format!("node {node}") });
    }
    let mut order: Vec<u32> = (0..data.len() as u32).collect();
    Draws::indexed(seed, "hold-out", node).shuffle(&mut order);
    let held = libm::round(data.len() as f64 * test_fraction) as usize;
    let (test, train) = order.split_at_mut(held.min(data.len() - 1));
    // In the order of the data, so that a row is easy to find again.
    test.sort_unstable();
    train.sort_unstable();
    Ok(Holdout { train: data.subset(train), test: data.subset(test) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::dataset::Targets;
    use super::*;

    fn numbered(records: usize) -> Dataset {
        Dataset::new((0..records).map(|i| i as f32).collect(), 1, Targets::None).unwrap()
    }

    proptest! {
        #[test]
        fn every_record_is_in_exactly_one_part(records in 1usize..200, fraction in 0.0f64..1.0, seed: u64) {
            let parts = hold_out(&numbered(records), fraction, seed, 3).unwrap();
            let mut seen: Vec<f32> = [&parts.train, &parts.test]
                .iter()
                .flat_map(|part| (0..part.len()).map(|i| part.row(i)[0]))
                .collect();
            seen.sort_by(f32::total_cmp);
            prop_assert_eq!(seen, (0..records).map(|i| i as f32).collect::<Vec<_>>());
            prop_assert!(!parts.train.is_empty());
            let wanted = (records as f64 * fraction).round().min(records as f64 - 1.0);
            prop_assert_eq!(parts.test.len() as f64, wanted);
        }
    }

    #[test]
    fn seed_and_node_decide_the_cut() {
        let cut = |seed, node| hold_out(&numbered(100), 0.3, seed, node).unwrap().test.matrix().into_owned();
        assert_eq!(cut(1, 0), cut(1, 0));
        assert_ne!(cut(1, 0), cut(2, 0));
        assert_ne!(cut(1, 0), cut(1, 1));
    }

    #[test]
    fn a_fraction_outside_its_range_is_refused() {
        for fraction in [-0.1, 1.0, f64::NAN, f64::INFINITY] {
            assert!(hold_out(&numbered(3), fraction, 1, 0).is_err(), "{fraction}");
        }
    }
}

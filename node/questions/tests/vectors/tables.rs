//! Tables: confusion, association, tables that agree.

use questions::clean::nonnegative;
use questions::kinds::pairs::{PairTable, make_consistent};
use questions::kinds::{confusion, crosstab};

use super::read::{all_near, cases, estimate, near, number, rows, whole};

#[test]
fn confusion_of_classes() {
    for case in cases("confusion") {
        let table = rows(&case["sum"]);
        let flat: Vec<f64> = table.concat();
        estimate(confusion::accuracy(table.len(), &flat, number(&case["noise"])), &case["accuracy"]);
        all_near(&confusion::recall(table.len(), &flat), &case["recall"]);
    }
}

#[test]
fn association_of_two_columns() {
    for case in cases("table") {
        let table = rows(&case["sum"]);
        let cleaned = nonnegative(&table.concat());
        let expected: Vec<f64> = rows(&case["nonnegative"]).concat();
        all_near(&cleaned, &expected.into());
        let found = crosstab::association(&table, number(&case["noise"])).unwrap();
        near(found.cramers_v, &case["cramers_v"]);
        let shape = &case["merged_shape"];
        assert_eq!(found.shape, (whole(&shape[0]) as usize, whole(&shape[1]) as usize));
    }
}

#[test]
fn tables_that_agree() {
    for case in cases("consistent") {
        let named = case["tables"].as_object().unwrap();
        let table = |(name, cells): (&String, &serde_json::Value)| {
            let (first, second) = name.split_once('/').unwrap();
            PairTable { first: first.into(), second: second.into(), cells: rows(cells) }
        };
        let mut tables: Vec<PairTable> = named.iter().map(table).collect();
        near(make_consistent(&mut tables), &case["total"]);
        for table in tables {
            let expected = rows(&case["answer"][format!("{}/{}", table.first, table.second)]);
            all_near(&table.cells.concat(), &expected.concat().into());
        }
    }
}

//! Tables: confusion, association, tables that agree.

use questions::clean::nonnegative;
use questions::kinds::pairs::{PairTable, make_consistent};
use questions::kinds::{confusion as classes, crosstab};

use super::harness::{Case, Comparison, Outcome};
use super::read::{Named, all_near, estimate, near, number, rows, whole};

pub(crate) const SECTIONS: &[Named] = &[
    Named { name: "confusion", inputs: &["sum", "noise"], check: confusion },
    Named { name: "table", inputs: &["sum", "noise"], check: table },
    Named { name: "consistent", inputs: &["tables"], check: consistent },
];

fn confusion(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let case = case.0;
    let table = rows(&case["sum"]);
    let flat: Vec<f64> = table.concat();
    estimate(compare, classes::accuracy(table.len(), &flat, number(&case["noise"])), &case["accuracy"]);
    all_near(compare, &classes::recall(table.len(), &flat), &case["recall"]);
    Ok(())
}

fn table(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let case = case.0;
    let table = rows(&case["sum"]);
    let cleaned = nonnegative(&table.concat());
    let expected: Vec<f64> = rows(&case["nonnegative"]).concat();
    all_near(compare, &cleaned, &expected.into());
    let Some(found) = crosstab::association(&table, number(&case["noise"])) else {
        compare.holds(case["cramers_v"].is_null(), "too thin for V");
        return Ok(());
    };
    near(compare, found.cramers_v, &case["cramers_v"]);
    let shape = &case["merged_shape"];
    compare.holds(found.shape == (whole(&shape[0]) as usize, whole(&shape[1]) as usize), "shape");
    Ok(())
}

fn consistent(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let case = case.0;
    let named = case["tables"].as_object().unwrap();
    let table = |(name, cells): (&String, &serde_json::Value)| {
        let (first, second) = name.split_once('/').unwrap();
        PairTable { first: first.into(), second: second.into(), cells: rows(cells) }
    };
    let mut tables: Vec<PairTable> = named.iter().map(table).collect();
    near(compare, make_consistent(&mut tables), &case["total"]);
    for table in tables {
        let expected = rows(&case["answer"][format!("{}/{}", table.first, table.second)]);
        all_near(compare, &table.cells.concat(), &expected.concat().into());
    }
    Ok(())
}

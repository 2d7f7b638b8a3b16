//! Noise, plans and whole numbers.

use questions::grid::{Grid, node_parameter};
use questions::kinds::{distinct::Distinct, frequent, root};
use questions::noise::{Terms, Trust, Unit};
use serde_json::Value;

use super::harness::{Case, Comparison, Outcome};
use super::read::{Named, all_near, list, near, number, whole};

pub(crate) const SECTIONS: &[Named] = &[
    Named {
        name: "noise",
        inputs: &["epsilon", "delta", "sensitivity", "contributors", "honest"],
        check: noise,
    },
    Named {
        name: "plan",
        inputs: &["blocks", "epsilon", "delta", "contributors", "honest", "adjacency"],
        check: plan,
    },
    Named { name: "root", inputs: &["bins"], check: root },
    Named { name: "integers", inputs: &["bits", "bins"], check: integers },
    Named {
        name: "grid",
        inputs: &["records", "epsilon", "delta", "bins", "contributors", "honest"],
        check: grid,
    },
    Named {
        name: "distinct",
        inputs: &["buckets", "empty", "epsilon", "contributors", "honest"],
        check: distinct,
    },
    Named {
        name: "heavy",
        inputs: &["epsilon", "delta", "levels", "candidates", "contributors", "honest", "beta"],
        check: heavy,
    },
];

fn terms(case: &Value) -> Terms {
    Terms {
        epsilon: number(&case["epsilon"]),
        delta: number(&case["delta"]),
        contributors: whole(&case["contributors"]),
        honest: whole(&case["honest"]),
        trust: match case["trust"].as_str() {
            Some("gossip") => Trust::Gossip,
            Some("local") => Trust::Local,
            _ => Trust::Masked,
        },
        unit: Unit::Record,
    }
}

fn noise(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let case = case.0;
    near(compare, terms(case).noise(number(&case["sensitivity"]), 1).unwrap(), &case["noise"]);
    Ok(())
}

fn plan(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let case = case.0;
    let unit = &case["adjacency"];
    let unit = match (unit["adjacency"].as_str(), unit["replace"].as_bool()) {
        (Some("node"), _) => Unit::Node { max_records: whole(&unit["max_records"]) },
        (_, Some(true)) => Unit::ReplacedRecord,
        _ => Unit::Record,
    };
    let terms = Terms { unit, ..terms(case) };
    let blocks = case["blocks"].as_array().unwrap();
    for (block, expected) in blocks.iter().zip(case["answer"].as_array().unwrap()) {
        let columns = || number(&block["columns"]);
        let sensitivity = match block["block"].as_str().unwrap() {
            "cdf" => root::sensitivity(whole(&block["bins"]) as usize),
            "moments" => columns() + 1.0,
            "tables" => (columns() * (columns() - 1.0) / 2.0).sqrt(),
            _ => 1.0,
        };
        let sensitivity = sensitivity * terms.unit.factor(block["block"] == "count");
        near(compare, sensitivity, &expected["sensitivity"]);
        near(compare, terms.noise(sensitivity, blocks.len()).unwrap(), &expected["noise"]);
    }
    Ok(())
}

fn root(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let case = case.0;
    let bins = whole(&case["bins"]) as usize;
    all_near(compare, &root::coefficients(bins)[..bins.min(6)], &case["coefficients"]);
    near(compare, root::sensitivity(bins), &case["sensitivity"]);
    let decoder = root::Decoder::ideal(bins);
    near(
        compare,
        decoder.rank_deviation(bins / 2 - 1, 0.5),
        &case["rank_deviation_at_median_for_unit_noise"],
    );
    Ok(())
}

fn integers(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let case = case.0;
    let bits = whole(&case["bits"]) as u32;
    if case["mean"].is_object() {
        let bounds = super::read::bounds(&case["mean"]["bounds"]);
        let feature = questions::blocks::mean_feature(bounds.share(number(&case["mean"]["value"])), bits);
        all_near(compare, &feature.map(|x| x as f64), &case["mean"]["feature"]);
    } else {
        let bins = whole(&case["bins"]) as usize;
        let column = root::integer_column(bins, bits);
        let expected: Vec<i64> = list(&case["column_0"]).iter().map(|&x| x as i64).collect();
        compare.holds(column[..bins.min(8)] == expected, "column");
        let squared = root::squared_sensitivity(&column);
        compare.holds(squared == u128::from(whole(&case["squared_sensitivity"])), "squared sensitivity");
    }
    Ok(())
}

fn grid(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let case = case.0;
    let terms = terms(case);
    let bins = whole(&case["bins"]) as usize;
    let noise = terms.noise(root::sensitivity(bins), 1).unwrap();
    let grid = Grid::finest(whole(&case["records"]), 1.0, noise);
    compare.holds(u64::from(grid.bits) == whole(&case["bits"]), "bits");
    let column = root::integer_column(bins, grid.bits);
    let squared = root::squared_sensitivity(&column);
    compare.holds(squared == u128::from(whole(&case["squared_sensitivity"])), "squared sensitivity");
    let parameter = node_parameter(&terms, squared as f64, 1).unwrap();
    near(compare, parameter, &case["node_parameter"]);
    let released = parameter * (terms.contributors as f64).sqrt() / grid.scale();
    near(compare, released, &case["released_deviation"]);
    let decoder = root::Decoder::of_integers(&column, grid.bits);
    let row = decoder.row();
    all_near(compare, &[row[0], row[1], row[2], row[bins / 2], row[bins - 1]], &case["decode"]);
    Ok(())
}

fn distinct(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let case = case.0;
    let buckets = whole(&case["buckets"]) as usize;
    let (n, h) = (whole(&case["contributors"]), whole(&case["honest"]));
    let question = Distinct::new(number(&case["epsilon"]), buckets, n, h);
    near(compare, question.stay_silent(), &case["stay_silent"]);
    near(compare, question.filled_by_the_honest(), &case["filled_by_the_honest"]);
    near(compare, question.filled_by_one_node(), &case["filled_by_one_node"]);
    // Where no bucket is empty nothing can be said.
    match question.answer(number(&case["empty"])) {
        Some(answer) => all_near(compare, &[answer.value, answer.low, answer.high], &case["answer"]),
        None => compare.holds(case["answer"].is_null(), "an answer"),
    }
    Ok(())
}

fn heavy(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let case = case.0;
    let levels = whole(&case["levels"]) as usize;
    let noise = terms(case).noise((levels as f64).sqrt(), 1).unwrap();
    near(compare, noise, &case["noise"]);
    let candidates = whole(&case["candidates"]) as usize;
    let found = frequent::thresholds(noise, levels, candidates, number(&case["beta"]));
    near(compare, found.threshold, &case["threshold"]);
    near(compare, found.found_from, &case["found_from"]);
    Ok(())
}

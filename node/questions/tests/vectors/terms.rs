//! Noise, plans and whole numbers.

use questions::grid::{Grid, node_parameter};
use questions::kinds::{distinct::Distinct, frequent, root};
use questions::noise::{Terms, Trust, Unit};
use serde_json::Value;

use super::read::{all_near, cases, list, near, number, whole};

fn terms(case: &Value) -> Terms {
    Terms {
        epsilon: number(&case["epsilon"]),
        delta: number(&case["delta"]),
        contributors: whole(&case["contributors"]),
        honest: whole(&case["honest"]),
        trust: if case["trust"] == "gossip" { Trust::Gossip } else { Trust::Masked },
        unit: Unit::Record,
    }
}

#[test]
fn noise() {
    for case in cases("noise") {
        near(terms(&case).noise(number(&case["sensitivity"]), 1).unwrap(), &case["noise"]);
    }
}

#[test]
fn plan() {
    for case in cases("plan") {
        let unit = &case["adjacency"];
        let unit = match (unit["adjacency"].as_str(), unit["replace"].as_bool()) {
            (Some("node"), _) => Unit::Node { max_records: whole(&unit["max_records"]) },
            (_, Some(true)) => Unit::ReplacedRecord,
            _ => Unit::Record,
        };
        let terms = Terms { unit, ..terms(&case) };
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
            near(sensitivity, &expected["sensitivity"]);
            near(terms.noise(sensitivity, blocks.len()).unwrap(), &expected["noise"]);
        }
    }
}

#[test]
fn root_and_integers() {
    for case in cases("root") {
        let bins = whole(&case["bins"]) as usize;
        all_near(&root::coefficients(bins)[..6], &case["coefficients"]);
        near(root::sensitivity(bins), &case["sensitivity"]);
        let decoder = root::Decoder::ideal(bins);
        near(decoder.rank_deviation(bins / 2 - 1, 0.5), &case["rank_deviation_at_median_for_unit_noise"]);
    }
    for case in cases("integers") {
        let bits = whole(&case["bits"]) as u32;
        if case["mean"].is_object() {
            let bounds = super::read::bounds(&case["mean"]["bounds"]);
            let feature = questions::blocks::mean_feature(bounds.share(number(&case["mean"]["value"])), bits);
            all_near(&feature.map(|x| x as f64), &case["mean"]["feature"]);
        } else {
            let column = root::integer_column(whole(&case["bins"]) as usize, bits);
            let expected: Vec<i64> = list(&case["column_0"]).iter().map(|&x| x as i64).collect();
            assert_eq!(column[..8], expected);
            assert_eq!(root::squared_sensitivity(&column), u128::from(whole(&case["squared_sensitivity"])));
        }
    }
}

#[test]
fn grid() {
    for case in cases("grid") {
        let terms = terms(&case);
        let bins = whole(&case["bins"]) as usize;
        let noise = terms.noise(root::sensitivity(bins), 1).unwrap();
        let grid = Grid::finest(whole(&case["records"]), 1.0, noise);
        assert_eq!(u64::from(grid.bits), whole(&case["bits"]));
        let column = root::integer_column(bins, grid.bits);
        let squared = root::squared_sensitivity(&column);
        assert_eq!(squared, u128::from(whole(&case["squared_sensitivity"])));
        let parameter = node_parameter(&terms, squared as f64, 1).unwrap();
        near(parameter, &case["node_parameter"]);
        let released = parameter * (terms.contributors as f64).sqrt() / grid.scale();
        near(released, &case["released_deviation"]);
        let decoder = root::Decoder::of_integers(&column, grid.bits);
        let row = decoder.row();
        all_near(&[row[0], row[1], row[2], row[bins / 2], row[bins - 1]], &case["decode"]);
    }
}

#[test]
fn distinct() {
    for case in cases("distinct") {
        let buckets = whole(&case["buckets"]) as usize;
        let (n, h) = (whole(&case["contributors"]), whole(&case["honest"]));
        let question = Distinct::new(number(&case["epsilon"]), buckets, n, h);
        near(question.stay_silent(), &case["stay_silent"]);
        near(question.filled_by_the_honest(), &case["filled_by_the_honest"]);
        near(question.filled_by_one_node(), &case["filled_by_one_node"]);
        let answer = question.answer(number(&case["empty"])).unwrap();
        all_near(&[answer.value, answer.low, answer.high], &case["answer"]);
    }
}

#[test]
fn heavy() {
    for case in cases("heavy") {
        let levels = whole(&case["levels"]) as usize;
        let noise = terms(&case).noise((levels as f64).sqrt(), 1).unwrap();
        near(noise, &case["noise"]);
        let candidates = whole(&case["candidates"]) as usize;
        let found = frequent::thresholds(noise, levels, candidates, number(&case["beta"]));
        near(found.threshold, &case["threshold"]);
        near(found.found_from, &case["found_from"]);
    }
}

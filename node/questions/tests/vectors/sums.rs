//! Numbers: means, quantiles, U-statistics, survival, moments.

use questions::clean::nonnegative;
use questions::kinds::quantile::Cumulative;
use questions::kinds::root::Decoder;
use questions::kinds::u_statistic::{Kernel, from_table};
use questions::kinds::{
    auc as area, describe, gini, histogram as cells, kendall, mean as means, moments as products,
    survival as times, variance as variances,
};
use questions::local::{Survey, theorem_bound, u_variance, uniform_probability};
use serde_json::Value;

use super::harness::{Case, Comparison, Outcome};
use super::read::{Named, all_near, bounds, estimate, list, near, number, whole};

pub(crate) const SECTIONS: &[Named] = &[
    Named { name: "mean", inputs: &["bounds", "sum", "noise", "records"], check: mean },
    Named { name: "variance", inputs: &["bounds", "sum", "noise"], check: variance },
    Named { name: "histogram", inputs: &["sum", "noise"], check: histogram },
    Named { name: "quantile", inputs: &["bounds", "sum", "noise"], check: quantile },
    Named { name: "u_local", inputs: &["answers", "epsilon", "points", "law", "shape"], check: u_local },
    Named { name: "u_masked", inputs: &["sum", "noise", "points", "shape"], check: u_masked },
    Named {
        name: "auc",
        inputs: &["class_0", "class_1", "noise", "root_class_0", "root_class_1", "root_noise"],
        check: auc,
    },
    Named { name: "moments", inputs: &["sum", "noise"], check: moments },
    Named {
        name: "survival",
        inputs: &["events", "censored", "noise", "events_2", "censored_2"],
        check: survival,
    },
];

fn counts(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(whole).collect()
}

fn mean(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let case = case.0;
    let sum = list(&case["sum"]);
    let (range, noise) = (bounds(&case["bounds"]), number(&case["noise"]));
    let answer = means::mean(range, [sum[0], sum[1]], noise);
    estimate(compare, answer.count, &case["answer"]["count"]);
    estimate(compare, answer.sum, &case["answer"]["sum"]);
    estimate(compare, answer.mean, &case["answer"]["mean"]);
    let (low, high) = means::expected(range, number(&case["records"]), noise);
    all_near(compare, &[low, high], &case["before"]);
    Ok(())
}

fn variance(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let case = case.0;
    let sum = list(&case["sum"]);
    let answer =
        variances::variance(bounds(&case["bounds"]), [sum[0], sum[1], sum[2]], number(&case["noise"]));
    estimate(compare, answer.count, &case["answer"]["count"]);
    estimate(compare, answer.mean, &case["answer"]["mean"]);
    estimate(compare, answer.variance, &case["answer"]["variance"]);
    Ok(())
}

fn histogram(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let case = case.0;
    let sum = list(&case["sum"]);
    near(compare, cells::simultaneous(sum.len(), number(&case["noise"])), &case["simultaneous_95"]);
    all_near(compare, &nonnegative(&sum), &case["nonnegative"]);
    Ok(())
}

fn quantile(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let case = case.0;
    let sum = list(&case["sum"]);
    let decoder = Decoder::ideal(sum.len());
    let cumulative = Cumulative::new(&decoder, bounds(&case["bounds"]), &sum, number(&case["noise"]));
    all_near(compare, &cumulative.raw, &case["cumulative"]);
    all_near(compare, &cumulative.monotone, &case["monotone"]);
    for expected in case["answers"].as_array().unwrap() {
        let found = cumulative.quantile(number(&expected["q"]), false);
        near(compare, found.value, &expected["value"]);
        near(compare, found.low, &expected["low"]);
        near(compare, found.high, &expected["high"]);
        near(compare, found.half_width, &expected["half_width_in_records"]);
    }
    estimate(compare, gini::gini(&cumulative), &case["gini"]);
    let described = describe::describe(&cumulative, false);
    estimate(compare, described.count, &case["describe"]["count"]);
    estimate(compare, described.mean, &case["describe"]["mean"]);
    estimate(compare, described.stddev, &case["describe"]["stddev"]);
    Ok(())
}

fn u_local(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let case = case.0;
    let answers = counts(&case["answers"]);
    let epsilon = number(&case["epsilon"]);
    let survey = Survey::new(epsilon, &answers).unwrap();
    if case["shape"].is_array() {
        let shape = counts(&case["shape"]);
        let kernel = Kernel::concordance(shape[0] as usize, shape[1] as usize);
        near(compare, survey.u_statistic(&kernel).value, &case["kendall"]);
        return Ok(());
    }
    all_near(compare, &survey.histogram(), &case["histogram"]);
    let points = list(&case["points"]);
    near(compare, survey.u_statistic(&Kernel::distance(&points)).value, &case["gini"]);
    near(compare, survey.u_statistic(&Kernel::half_square(&points)).value, &case["variance"]);
    let people = answers.iter().sum::<u64>();
    near(compare, theorem_bound(epsilon, answers.len(), people, 1.0), &case["mse_bound_lipschitz_1"]);
    let beta = uniform_probability(epsilon, answers.len());
    let exact = u_variance(&Kernel::distance(&points), &list(&case["law"]), beta, people as f64);
    compare.near("exact variance", exact, number(&case["exact_variance_gini"]), 1e-6 * exact);
    Ok(())
}

fn u_masked(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let case = case.0;
    let (sum, noise) = (list(&case["sum"]), number(&case["noise"]));
    if case["shape"].is_array() {
        let shape = counts(&case["shape"]);
        let (rows, columns) = (shape[0] as usize, shape[1] as usize);
        estimate(compare, kendall::tau_a(rows, columns, &sum, noise), &case["kendall_a"]);
        estimate(compare, kendall::tau_b(rows, columns, &sum, noise), &case["kendall_b"]);
        return Ok(());
    }
    let points = list(&case["points"]);
    estimate(compare, from_table(&Kernel::distance(&points), &sum, noise), &case["gini"]);
    estimate(compare, from_table(&Kernel::half_square(&points), &sum, noise), &case["variance"]);
    Ok(())
}

fn auc(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let case = case.0;
    let (zero, one) = (list(&case["class_0"]), list(&case["class_1"]));
    estimate(compare, area::from_histograms(&zero, &one, number(&case["noise"])), &case["answer"]);
    let decoder = Decoder::ideal(zero.len());
    let unit = questions::columns::Bounds { low: 0.0, high: 1.0 };
    let noise = number(&case["root_noise"]);
    let class = |sum: &Value| Cumulative::new(&decoder, unit, &list(sum), noise);
    let found = area::from_cumulative(&class(&case["root_class_0"]), &class(&case["root_class_1"]));
    estimate(compare, found, &case["root_answer"]);
    Ok(())
}

fn moments(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let case = case.0;
    let size = case["columns"].as_array().unwrap().len();
    let found = products::Moments::new(size, &list(&case["sum"]), number(&case["noise"]));
    let correlations = found.correlations();
    for (row, expected) in correlations.iter().zip(case["correlation"].as_array().unwrap()) {
        all_near(compare, row, expected);
    }
    let fit = found.least_squares().unwrap();
    all_near(compare, &fit.weights, &case["least_squares"]);
    let deviations: Vec<f64> = (0..fit.weights.len()).map(|i| fit.covariance[i][i].sqrt()).collect();
    all_near(compare, &deviations, &case["deviation"]);
    Ok(())
}

fn survival(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let case = case.0;
    let (events, censored) = (list(&case["events"]), list(&case["censored"]));
    let (events_2, censored_2) = (list(&case["events_2"]), list(&case["censored_2"]));
    let noise = number(&case["noise"]);
    let first = times::Times { events: &events, censored: &censored };
    let curve = times::curve(first, noise);
    all_near(compare, &curve.survival, &case["survival"]);
    all_near(compare, &curve.at_risk, &case["at_risk"]);
    all_near(compare, &curve.deviation, &case["deviation"]);
    let test = times::log_rank(first, times::Times { events: &events_2, censored: &censored_2 }, noise);
    let expected = &case["logrank"];
    near(compare, test.z, &expected["z"]);
    near(compare, test.observed_minus_expected, &expected["observed_minus_expected"]);
    near(compare, test.variance, &expected["variance"]);
    near(compare, test.noise_variance, &expected["noise_variance"]);
    Ok(())
}

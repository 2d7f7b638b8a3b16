//! Numbers: means, quantiles, U-statistics, survival, moments.

use questions::clean::nonnegative;
use questions::kinds::quantile::Cumulative;
use questions::kinds::root::Decoder;
use questions::kinds::u_statistic::{Kernel, from_table};
use questions::kinds::{auc, describe, gini, histogram, kendall, mean, moments, survival, variance};
use questions::local::{Survey, theorem_bound, u_variance, uniform_probability};
use serde_json::Value;

use super::read::{all_near, bounds, cases, estimate, list, near, number, whole};

#[test]
fn means_and_variances() {
    for case in cases("mean") {
        let sum = list(&case["sum"]);
        let (range, noise) = (bounds(&case["bounds"]), number(&case["noise"]));
        let answer = mean::mean(range, [sum[0], sum[1]], noise);
        estimate(answer.count, &case["answer"]["count"]);
        estimate(answer.sum, &case["answer"]["sum"]);
        estimate(answer.mean, &case["answer"]["mean"]);
        let (low, high) = mean::expected(range, number(&case["records"]), noise);
        all_near(&[low, high], &case["before"]);
    }
    for case in cases("variance") {
        let sum = list(&case["sum"]);
        let answer =
            variance::variance(bounds(&case["bounds"]), [sum[0], sum[1], sum[2]], number(&case["noise"]));
        estimate(answer.count, &case["answer"]["count"]);
        estimate(answer.mean, &case["answer"]["mean"]);
        estimate(answer.variance, &case["answer"]["variance"]);
    }
}

#[test]
fn histograms() {
    for case in cases("histogram") {
        let sum = list(&case["sum"]);
        near(histogram::simultaneous(sum.len(), number(&case["noise"])), &case["simultaneous_95"]);
        all_near(&nonnegative(&sum), &case["nonnegative"]);
    }
}

#[test]
fn quantiles() {
    for case in cases("quantile") {
        let sum = list(&case["sum"]);
        let decoder = Decoder::ideal(sum.len());
        let cumulative = Cumulative::new(&decoder, bounds(&case["bounds"]), &sum, number(&case["noise"]));
        all_near(&cumulative.raw, &case["cumulative"]);
        all_near(&cumulative.monotone, &case["monotone"]);
        for expected in case["answers"].as_array().unwrap() {
            let found = cumulative.quantile(number(&expected["q"]), false);
            near(found.value, &expected["value"]);
            near(found.low, &expected["low"]);
            near(found.high, &expected["high"]);
            near(found.half_width, &expected["half_width_in_records"]);
        }
        estimate(gini::gini(&cumulative), &case["gini"]);
        let described = describe::describe(&cumulative, false);
        estimate(described.count, &case["describe"]["count"]);
        estimate(described.mean, &case["describe"]["mean"]);
        estimate(described.stddev, &case["describe"]["stddev"]);
    }
}

fn counts(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(whole).collect()
}

#[test]
fn u_statistics_of_responses() {
    for case in cases("u_local") {
        let answers = counts(&case["answers"]);
        let epsilon = number(&case["epsilon"]);
        let survey = Survey::new(epsilon, &answers).unwrap();
        if case["shape"].is_array() {
            let shape = counts(&case["shape"]);
            let kernel = Kernel::concordance(shape[0] as usize, shape[1] as usize);
            near(survey.u_statistic(&kernel).value, &case["kendall"]);
            continue;
        }
        all_near(&survey.histogram(), &case["histogram"]);
        let points = list(&case["points"]);
        near(survey.u_statistic(&Kernel::distance(&points)).value, &case["gini"]);
        near(survey.u_statistic(&Kernel::half_square(&points)).value, &case["variance"]);
        let people = answers.iter().sum::<u64>();
        near(theorem_bound(epsilon, answers.len(), people, 1.0), &case["mse_bound_lipschitz_1"]);
        let beta = uniform_probability(epsilon, answers.len());
        let exact = u_variance(&Kernel::distance(&points), &list(&case["law"]), beta, people as f64);
        near(exact, &case["exact_variance_gini"]);
        assert!((exact / number(&case["exact_variance_gini"]) - 1.0).abs() < 1e-6, "{exact}");
    }
}

#[test]
fn u_statistics_of_sums() {
    for case in cases("u_masked") {
        let (sum, noise) = (list(&case["sum"]), number(&case["noise"]));
        if case["shape"].is_array() {
            let shape = counts(&case["shape"]);
            let (rows, columns) = (shape[0] as usize, shape[1] as usize);
            estimate(kendall::tau_a(rows, columns, &sum, noise), &case["kendall_a"]);
            estimate(kendall::tau_b(rows, columns, &sum, noise), &case["kendall_b"]);
            continue;
        }
        let points = list(&case["points"]);
        estimate(from_table(&Kernel::distance(&points), &sum, noise), &case["gini"]);
        estimate(from_table(&Kernel::half_square(&points), &sum, noise), &case["variance"]);
    }
}

#[test]
fn areas_under_curves() {
    for case in cases("auc") {
        let (zero, one) = (list(&case["class_0"]), list(&case["class_1"]));
        estimate(auc::from_histograms(&zero, &one, number(&case["noise"])), &case["answer"]);
        let decoder = Decoder::ideal(zero.len());
        let unit = questions::columns::Bounds { low: 0.0, high: 1.0 };
        let noise = number(&case["root_noise"]);
        let class = |sum: &Value| Cumulative::new(&decoder, unit, &list(sum), noise);
        let found = auc::from_cumulative(&class(&case["root_class_0"]), &class(&case["root_class_1"]));
        estimate(found, &case["root_answer"]);
    }
}

#[test]
fn moments_of_columns() {
    for case in cases("moments") {
        let size = case["columns"].as_array().unwrap().len();
        let found = moments::Moments::new(size, &list(&case["sum"]), number(&case["noise"]));
        let correlations = found.correlations();
        for (row, expected) in correlations.iter().zip(case["correlation"].as_array().unwrap()) {
            all_near(row, expected);
        }
        let fit = found.least_squares().unwrap();
        all_near(&fit.weights, &case["least_squares"]);
        let deviations: Vec<f64> = (0..fit.weights.len()).map(|i| fit.covariance[i][i].sqrt()).collect();
        all_near(&deviations, &case["deviation"]);
    }
}

#[test]
fn curves_of_survival() {
    for case in cases("survival") {
        let (events, censored) = (list(&case["events"]), list(&case["censored"]));
        let (events_2, censored_2) = (list(&case["events_2"]), list(&case["censored_2"]));
        let noise = number(&case["noise"]);
        let first = survival::Times { events: &events, censored: &censored };
        let curve = survival::curve(first, noise);
        all_near(&curve.survival, &case["survival"]);
        all_near(&curve.at_risk, &case["at_risk"]);
        all_near(&curve.deviation, &case["deviation"]);
        let test =
            survival::log_rank(first, survival::Times { events: &events_2, censored: &censored_2 }, noise);
        let expected = &case["logrank"];
        near(test.z, &expected["z"]);
        near(test.observed_minus_expected, &expected["observed_minus_expected"]);
        near(test.variance, &expected["variance"]);
        near(test.noise_variance, &expected["noise_variance"]);
    }
}

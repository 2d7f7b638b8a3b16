//! The Gaussian mechanism against values computed from the definition with mpmath (40 to 400 digits).
//! `testdata/README.md` says where each file comes from.

#![allow(clippy::unwrap_used, reason = "a malformed table must fail the test")]

use privacy::gdp;

fn assert_close(found: f64, expected: f64, tolerance: f64, what: &str) {
    let error = if expected == 0.0 { found.abs() } else { (found / expected - 1.0).abs() };
    assert!(error <= tolerance, "{what}: {found:e} instead of {expected:e} (off by {error:e})");
}

fn fields(line: &str) -> (&str, f64, f64, f64) {
    let mut parts = line.split(',');
    let quantity = parts.next().unwrap();
    let mut number = || parts.next().unwrap().parse::<f64>().unwrap();
    (quantity, number(), number(), number())
}

#[test]
fn the_gaussian_mechanism_agrees_with_the_table_to_one_part_in_a_billion() {
    let table = include_str!("../testdata/gaussian_exact.csv");
    assert_eq!(table.lines().count(), 126);
    for line in table.lines().skip(1) {
        let (quantity, first, second, expected) = fields(line);
        let found = match quantity {
            "eps_of_sigma_delta" => gdp::epsilon(1.0 / first, second).unwrap(),
            "delta_of_sigma_eps" => gdp::delta(1.0 / first, second).unwrap(),
            "sigma_of_eps_delta" => gdp::sigma(first, second, 1.0).unwrap(),
            other => panic!("unknown quantity {other}"),
        };
        assert_close(found, expected, 1e-9, line);
    }
}

#[test]
fn the_conversion_is_stable_and_safe_from_mu_1e_minus_8_to_1e4_and_delta_down_to_1e_minus_300() {
    for line in include_str!("../testdata/gdp_extreme.csv").lines().skip(1) {
        let (quantity, mu, second, expected) = fields(line);
        let found = match quantity {
            "epsilon" => gdp::epsilon(mu, second).unwrap(),
            "delta" => gdp::delta(mu, second).unwrap(),
            other => panic!("unknown quantity {other}"),
        };
        assert_close(found, expected, 1e-9, line);
        assert!(found >= expected, "rounded down: {line} gave {found:e}");
    }
}

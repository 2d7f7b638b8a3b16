//! A lower bound on ε from one run with many canaries (Steinke, Nasr and Jagielski 2023, "Privacy auditing with one (1) training run", theorem 5.2).
//!
//! Each of m canaries is included by a fair coin of its own. From what it saw the auditor guesses some of the coins, r of them, and abstains on the others. If the
//! view is (ε, δ)-DP for adding or removing one canary, then with q = e^ε/(1 + e^ε) and f(v) = P(Bin(r, q) ≥ v)
//!
//! > P(at least v guesses are right) ≤ f(v) + 2mδ · max over i = 1..v of (f(v − i) − f(v))/i.
//!
//! The largest ε for which the right side is below the allowed error is a lower bound.

use super::binomial::at_least;

/// The bound on the probability of `right` or more of `guesses` right guesses, out of `canaries` canaries.
///
/// # Guarantee
/// As the theorem above: no (ε, δ)-DP view makes it more likely.
///
/// # Assumes
/// Independent fair coins; the guesses depend on the coins through the view only; (ε, δ)-DP for adding or removing one canary.
pub fn p_value((canaries, guesses, right): (u64, u64, u64), epsilon: f64, delta: f64) -> f64 {
    let q = 1.0 / (1.0 + libm::exp(-epsilon));
    let tail = at_least(right, guesses, q);
    let slopes = (1..=right).map(|i| (at_least(right - i, guesses, q) - tail) / i as f64);
    let slope = slopes.fold(0.0, f64::max);
    (tail + 2.0 * canaries as f64 * delta * slope).min(1.0)
}

/// The largest ε that so many right guesses refute with error at most `alpha`; 0 where they refute nothing.
///
/// # Guarantee
/// With probability at least 1 − `alpha` the view is (ε′, δ)-DP for no ε′ below the returned number.
///
/// # Assumes
/// As [`p_value`]; the number of guesses was fixed before the view was seen.
pub fn epsilon(counts: (u64, u64, u64), delta: f64, alpha: f64) -> f64 {
    let refutes = |epsilon: f64| p_value(counts, epsilon, delta) < alpha;
    if !refutes(0.0) {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while refutes(high) && high < 64.0 {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if refutes(middle) { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_are_those_of_the_papers_formula_in_long_arithmetic() {
        // Python 3, decimal with 60 digits, from the formula in the header of this file.
        for (counts, epsilon, delta, expected) in [
            ((100, 100, 80), 1.0, 0.0, 7.155_624_680_484e-2),
            ((1000, 200, 170), 1.0, 1e-5, 6.178_602_714_949e-4),
            ((1000, 1000, 1000), 5.0, 1e-5, 3.130_917_795_280_165e-3),
            ((500, 50, 45), 1.5, 1e-3, 2.094_426_994_771_873e-1),
        ] {
            let found = p_value(counts, epsilon, delta);
            assert!((found / expected - 1.0).abs() < 1e-8, "{counts:?}: {found}, not {expected}");
        }
    }

    #[test]
    fn bounds_are_those_of_the_same_arithmetic() {
        for (counts, delta, expected) in [
            ((100, 100, 80), 0.0, 0.958_392_045_292),
            ((1000, 200, 190), 1e-5, 2.393_618_277_265),
            ((1000, 1000, 1000), 1e-5, 5.782_283_135_394),
        ] {
            let found = epsilon(counts, delta, 0.05);
            assert!((found - expected).abs() < 1e-8, "{counts:?}: {found}, not {expected}");
        }
    }

    #[test]
    fn guessing_refutes_nothing() {
        assert_eq!(epsilon((1000, 400, 205), 1e-5, 0.05), 0.0);
    }

    #[test]
    fn randomised_response_is_never_above_its_epsilon_but_for_the_stated_error() {
        // Coins answered truly with probability q are exactly ε-DP, and the right guesses are Bin(r, q): the false-alarm rate can be summed exactly.
        let (guesses, truth, alpha) = (200_u64, 1.0_f64, 0.05);
        let q = 1.0 / (1.0 + (-truth).exp());
        let alarms: f64 = (0..=guesses)
            .filter(|&right| epsilon((guesses, guesses, right), 0.0, alpha) > truth)
            .map(|right| at_least(right, guesses, q) - at_least(right + 1, guesses, q))
            .sum();
        assert!(alarms <= alpha && alarms > 0.2 * alpha, "{alarms}");
    }
}

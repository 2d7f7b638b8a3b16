//! Binomial tails and the Clopper–Pearson bounds made of them (Clopper and Pearson 1934).
//!
//! P(Bin(n, p) ≥ k) = I_p(k, n − k + 1), the regularised incomplete beta function, by its continued fraction (DLMF 8.17.22). Bounds are found by halving an
//! interval, and the end that claims less is returned.

/// Halvings of an interval in [0, 1]: below the spacing of doubles near the answer.
const HALVINGS: usize = 60;

/// P(Bin(n, p) ≥ k).
pub fn at_least(k: u64, n: u64, p: f64) -> f64 {
    if k == 0 {
        return 1.0;
    }
    if k > n {
        return 0.0;
    }
    regularised_beta(k as f64, (n - k) as f64 + 1.0, p.clamp(0.0, 1.0))
}

/// P(Bin(n, p) ≤ k).
pub fn at_most(k: u64, n: u64, p: f64) -> f64 {
    if k >= n {
        return 1.0;
    }
    // The same as at least n − k failures, which keeps small numbers accurate.
    at_least(n - k, n, 1.0 - p)
}

/// The one-sided upper Clopper–Pearson bound: the largest p under which `k` or fewer of `n` has probability at least `alpha`.
///
/// # Guarantee
/// The true probability is above the bound with probability at most `alpha`, whatever it is.
///
/// # Assumes
/// `n` independent trials with the same probability; the event was fixed before they were made.
pub fn upper(k: u64, n: u64, alpha: f64) -> f64 {
    if k >= n {
        return 1.0;
    }
    let (mut low, mut high) = (k as f64 / n as f64, 1.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if at_most(k, n, middle) < alpha { high = middle } else { low = middle }
    }
    high
}

/// The one-sided lower Clopper–Pearson bound.
///
/// # Guarantee
/// The true probability is below the bound with probability at most `alpha`.
///
/// # Assumes
/// As [`upper`].
pub fn lower(k: u64, n: u64, alpha: f64) -> f64 {
    1.0 - upper(n - k.min(n), n, alpha)
}

/// I_x(a, b) for a, b > 0.
fn regularised_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    let front = libm::exp(
        libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * libm::log(x) + b * libm::log1p(-x),
    );
    // The fraction converges fast below the mean.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(a, b, x) / a
    } else {
        1.0 - front * fraction(b, a, 1.0 - x) / b
    }
}

/// The continued fraction by the method of Lentz.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut c, mut d) = (1.0, 1.0 / away(1.0 - (a + b) * x / (a + 1.0)));
    let mut result = d;
    // About √max(a, b) terms are needed.
    let terms = 200 + 10 * libm::sqrt(a.max(b)) as u32;
    for term in 1..terms {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for coefficient in [even, odd] {
            d = 1.0 / away(1.0 + coefficient * d);
            c = away(1.0 + coefficient / c);
            result *= c * d;
            change = c * d;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64, what: &str) {
        assert!(
            (found - expected).abs() <= 1e-9 * expected.abs().max(1e-3),
            "{what}: {found}, not {expected}"
        );
    }

    #[test]
    fn tails_are_those_of_exact_rational_arithmetic() {
        // Python 3, fractions.Fraction: sum(comb(n, i) * p**i * (1 - p)**(n - i) for i in range(k, n + 1)).
        near(at_least(3, 10, 0.25), 4.744071960449219e-01, "3 of 10");
        near(at_least(60, 100, 0.5), 2.844396682049e-02, "60 of 100");
        near(at_least(1, 1000, 0.001), 6.323045752290359e-01, "1 of 1000");
        near(at_least(30, 1000, 0.01), 2.059988850971958e-07, "30 of 1000");
        near(at_least(450, 500, 0.8), 1.135607523488521e-09, "450 of 500");
    }

    #[test]
    fn bounds_are_those_of_bisection_in_exact_arithmetic() {
        // As above, with the tail solved for p by bisection over fractions. The first line is 1 − α^(1/n).
        near(upper(0, 30, 0.05), 9.503385285530414e-2, "0 of 30");
        near(upper(10, 100, 0.025), 1.762225977400227e-1, "10 of 100");
        near(upper(7, 5000, 0.0125), 3.122315265266136e-3, "7 of 5000");
        near(upper(480, 500, 0.025), 9.753986879144546e-1, "480 of 500");
        near(lower(10, 100, 0.025), 4.900468922148596e-2, "10 of 100, lower");
    }

    #[test]
    fn the_bound_covers_at_least_as_often_as_it_says() {
        // Exact coverage: Σ P(K = k) over those k whose upper bound is at or above p.
        for (n, p, alpha) in [(20_u64, 0.1, 0.05), (50, 0.02, 0.025), (200, 0.3, 0.01)] {
            let mass = |k: u64| at_least(k, n, p) - at_least(k + 1, n, p);
            let covered: f64 = (0..=n).filter(|&k| upper(k, n, alpha) >= p).map(mass).sum();
            assert!(covered >= 1.0 - alpha - 1e-12, "{n} {p}: {covered}");
        }
    }
}

//! Statistics for the tests of samplers. All use fixed seeds, so a pass is for ever; the level says how often an
//! honest sampler with another seed would fail.

/// √n times the Kolmogorov–Smirnov distance passes this with probability 1e-4 for the right distribution.
pub(crate) const KS_LIMIT: f64 = 2.226;

/// √n times the largest distance of the empirical distribution from `cdf`.
pub(crate) fn ks(mut samples: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    let n = samples.len() as f64;
    let distance = samples.iter().enumerate().fold(0.0_f64, |worst, (i, &x)| {
        let p = cdf(x);
        worst.max((p - i as f64 / n).abs()).max((p - (i + 1) as f64 / n).abs())
    });
    distance * n.sqrt()
}

/// Panics if the counts deviate from the probabilities by a chi-square of level 1e-4 (Wilson–Hilferty). Every
/// expected count must be at least 5.
pub(crate) fn assert_counts_follow(counts: &[u64], probabilities: &[f64]) {
    assert_eq!(counts.len(), probabilities.len());
    let n = counts.iter().sum::<u64>() as f64;
    let mass: f64 = probabilities.iter().sum();
    assert!((mass - 1.0).abs() < 1e-9, "probabilities sum to {mass}");
    let mut chi2 = 0.0;
    for (&count, p) in counts.iter().zip(probabilities) {
        assert!(n * p >= 5.0, "expected count {}", n * p);
        chi2 += (count as f64 - n * p).powi(2) / (n * p);
    }
    let freedom = (counts.len() - 1) as f64;
    let limit = freedom * (1.0 - 2.0 / (9.0 * freedom) + 3.719 * (2.0 / (9.0 * freedom)).sqrt()).powi(3);
    assert!(chi2 < limit, "chi-square {chi2} with {freedom} degrees of freedom, limit {limit}");
}

/// Φ, to the last digits.
pub(crate) fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// Values that no positive parameter may take.
pub(crate) const NOT_POSITIVE: [f64; 6] = [f64::NAN, 0.0, -0.0, -1.0, f64::INFINITY, f64::NEG_INFINITY];

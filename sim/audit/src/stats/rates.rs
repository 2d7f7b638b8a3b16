//! From counted errors to ε and μ, and the usual figures of a membership attack.

use privacy::gdp;
use privacy::special::normal_quantile;
use serde::Serialize;

use super::binomial::{lower, upper};

/// Errors of one test, fixed in advance, on independent trials: with the change ("positive") and without ("negative").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Errors {
    /// Trials without the change that were taken for ones with it.
    pub false_positives: u64,
    /// Trials without the change.
    pub negatives: u64,
    /// Trials with the change that were taken for ones without.
    pub false_negatives: u64,
    /// Trials with the change.
    pub positives: u64,
}

impl Errors {
    /// A lower bound on ε at δ: the better of ln((1 − δ − β)/α) and ln((1 − δ − α)/β), with α and β the upper Clopper–Pearson bounds of the two error rates.
    ///
    /// # Guarantee
    /// With probability at least 1 − `alpha` the view is (ε′, δ)-DP for no ε′ below the returned number, for all δ at once (Kairouz, Oh and Viswanath
    /// 2015: (ε, δ)-DP means α + e^ε β ≥ 1 − δ and e^ε α + β ≥ 1 − δ for every test).
    ///
    /// # Assumes
    /// Independent trials, and a test that was chosen without them.
    pub fn epsilon(&self, delta: f64, alpha: f64) -> f64 {
        let (fp, fn_) = self.rates_above(alpha);
        let one = |hit: f64, miss: f64| {
            let ratio = (1.0 - delta - miss) / hit;
            if ratio > 1.0 { libm::log(ratio) } else { 0.0 }
        };
        one(fp, fn_).max(one(fn_, fp))
    }

    /// A lower bound on μ of Gaussian DP: Φ⁻¹(1 − α) − Φ⁻¹(β).
    ///
    /// # Guarantee
    /// With probability at least 1 − `alpha` the view is μ′-GDP for no μ′ below the returned number.
    ///
    /// # Assumes
    /// As [`Self::epsilon`]. To read it as an ε at a small δ one must assume that the trade-off is that of a Gaussian, so it decides nothing.
    pub fn mu(&self, alpha: f64) -> f64 {
        let (fp, fn_) = self.rates_above(alpha);
        (normal_quantile(1.0 - fp) - normal_quantile(fn_)).max(0.0)
    }

    /// ε at δ of the Gaussian with [`Self::mu`]: what the errors come to if the mechanism is a Gaussian one.
    pub fn gaussian_epsilon(&self, delta: f64, alpha: f64) -> f64 {
        gdp::epsilon(self.mu(alpha), delta).unwrap_or(0.0)
    }

    fn rates_above(&self, alpha: f64) -> (f64, f64) {
        // Half of the error for each of the two rates.
        let part = 0.5 * alpha;
        (upper(self.false_positives, self.negatives, part), upper(self.false_negatives, self.positives, part))
    }
}

/// Scores of members and of others, sorted.
#[derive(Debug, Clone)]
pub struct Roc {
    members: Vec<f64>,
    others: Vec<f64>,
}

impl Roc {
    /// Larger scores speak for membership. Scores that are not numbers are left out.
    pub fn new(members: &[f64], others: &[f64]) -> Self {
        let sorted = |scores: &[f64]| {
            let mut scores: Vec<f64> = scores.iter().copied().filter(|score| !score.is_nan()).collect();
            scores.sort_by(f64::total_cmp);
            scores
        };
        Self { members: sorted(members), others: sorted(others) }
    }

    /// How many members and others there are.
    pub fn counts(&self) -> (u64, u64) {
        (self.members.len() as u64, self.others.len() as u64)
    }

    /// Probability that a member scores above another, ties counted half.
    pub fn auc(&self) -> f64 {
        let below = |score: &f64| {
            let less = self.others.partition_point(|other| other < score);
            let same = self.others.partition_point(|other| other <= score) - less;
            less as f64 + 0.5 * same as f64
        };
        let (members, others) = self.counts();
        self.members.iter().map(below).sum::<f64>() / (members.max(1) * others.max(1)) as f64
    }

    /// True positives at the lowest threshold that lets at most `rate` of the others pass, with Clopper–Pearson bounds; `None` where there are fewer than 1/`rate`
    /// others, for which the figure would say nothing.
    pub fn true_positives(&self, rate: f64, alpha: f64) -> Option<(f64, f64, f64)> {
        let (members, others) = self.counts();
        let allowed = (rate * others as f64) as usize;
        if members == 0 || allowed == 0 {
            return None;
        }
        let threshold = self.others[others as usize - 1 - allowed];
        let hits = (self.members.len() - self.members.partition_point(|score| *score <= threshold)) as u64;
        Some((
            hits as f64 / members as f64,
            lower(hits, members, alpha / 2.0),
            upper(hits, members, alpha / 2.0),
        ))
    }

    /// The largest difference of true and false positive rates over all thresholds.
    pub fn advantage(&self) -> f64 {
        let share = |scores: &[f64], at: f64| {
            (scores.len() - scores.partition_point(|score| *score < at)) as f64 / scores.len().max(1) as f64
        };
        let gaps = self.members.iter().map(|&at| share(&self.members, at) - share(&self.others, at));
        gaps.fold(0.0, f64::max)
    }
}

/// An interval for an AUC by the standard error of Hanley and McNeil (1982): asymptotic, for reading only.
pub fn auc_interval(auc: f64, (members, others): (u64, u64), alpha: f64) -> (f64, f64) {
    let (m, n) = (members.max(1) as f64, others.max(1) as f64);
    let (q1, q2) = (auc / (2.0 - auc), 2.0 * auc * auc / (1.0 + auc));
    let variance =
        (auc * (1.0 - auc) + (m - 1.0) * (q1 - auc * auc) + (n - 1.0) * (q2 - auc * auc)) / (m * n);
    let half = normal_quantile(1.0 - alpha / 2.0) * libm::sqrt(variance.max(0.0));
    ((auc - half).max(0.0), (auc + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn perfect_tests_give_what_the_number_of_trials_allows() {
        let errors = Errors { false_positives: 0, negatives: 1000, false_negatives: 0, positives: 1000 };
        // 1 − (α/2)^(1/n) for both rates.
        let bound = 1.0 - 0.025_f64.powf(1e-3);
        let expected = ((1.0 - 1e-5 - bound) / bound).ln();
        assert!((errors.epsilon(1e-5, 0.05) - expected).abs() < 1e-9);
        let mu = normal_quantile(1.0 - bound) - normal_quantile(bound);
        assert!((errors.mu(0.05) - mu).abs() < 1e-6);
    }

    #[test]
    fn a_coin_refutes_nothing() {
        let errors = Errors { false_positives: 500, negatives: 1000, false_negatives: 500, positives: 1000 };
        assert_eq!((errors.epsilon(1e-5, 0.05), errors.mu(0.05)), (0.0, 0.0));
    }

    #[test]
    fn the_figures_of_a_small_example_are_those_by_hand() {
        let roc = Roc::new(&[0.9, 0.8, 0.4, f64::NAN], &[0.7, 0.3, 0.2, 0.4]);
        // Pairs won: 4 + 4 + 2.5 of 12.
        assert!((roc.auc() - 10.5 / 12.0).abs() < 1e-12);
        // Above 0.7: two of three members and none of the others; at 0.8 the same.
        assert!((roc.advantage() - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(roc.true_positives(0.25, 0.05).map(|(rate, ..)| rate), Some(2.0 / 3.0));
        assert_eq!(roc.true_positives(0.01, 0.05), None);
        let (low, high) = auc_interval(0.5, (100, 100), 0.05);
        // Standard error √((0.25 + 2·99·(1/3 − 1/4))/10⁴) = 0.0409.
        assert!((low - (0.5 - 1.959_964 * 0.040_927)).abs() < 1e-4 && (high - 1.0 + low).abs() < 1e-12);
    }
}

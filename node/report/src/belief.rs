//! What an ε means for somebody who is not a mathematician: how far a belief can have moved, and on which side of a stated scale it lies.

use privacy::number::{Precision, up};
use serde::Serialize;

/// Up to here protection is called strong, up to the next usual, and above weak: the tiers of Ponomareva et al., "How to DP-fy ML" (JAIR 2023, section 5.2.1).
const STRONG: f64 = 1.0;
const USUAL: f64 = 10.0;

/// The scale in words, as it stands on the page.
pub(crate) const SCALE: &str = "strong: ε of at most 1; usual: above 1 and at most 10; weak: above 10, or a δ that is not below one over the number of records or \
                                persons (tiers of Ponomareva et al. 2023, “How to DP-fy ML”)";

/// How well something is protected, by the scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Protection {
    /// ε ≤ 1.
    Strong,
    /// 1 < ε ≤ 10.
    Usual,
    /// ε > 10, or a δ that allows too much.
    Weak,
    /// Nothing is promised.
    None,
}

impl Protection {
    /// Where a loss lies; `units` are the records or persons of the node, where they are known.
    pub(crate) fn of(epsilon: f64, delta: f64, units: Option<u64>) -> Self {
        let allows_too_much = units.is_some_and(|units| delta * units as f64 >= 1.0);
        match epsilon {
            epsilon if !epsilon.is_finite() => Self::None,
            epsilon if epsilon > USUAL || allows_too_much => Self::Weak,
            epsilon if epsilon > STRONG => Self::Usual,
            _ => Self::Strong,
        }
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Strong => "strong",
            Self::Usual => "usual",
            Self::Weak => "weak",
            Self::None => "no",
        }
    }
}

/// The largest belief in one of two possibilities, held equally likely before: e^ε / (1 + e^ε).
///
/// # Guarantee
/// An (ε, δ)-DP view can be computed from a coin that tells everything with probability δ and otherwise from an answer that is true with probability
/// e^ε / (1 + e^ε) (Kairouz, Oh, Viswanath 2015, theorem 3.1 and its proof). So with probability 1 - δ nobody who held both for equally likely may
/// believe in one of them by more than this.
///
/// # Assumes
/// The view is (ε, δ)-DP for the two possibilities.
pub fn belief(epsilon: f64) -> f64 {
    match epsilon {
        0.0 => 0.5,
        // Up by more than the rounding of an exponential, a sum and a quotient.
        epsilon if epsilon.is_finite() => (1.0 / (1.0 + (-epsilon).exp()) * (1.0 + 1e-12)).min(1.0),
        _ => 1.0,
    }
}

/// A belief in per cent, rounded up, and never as a certainty that it is not.
pub(crate) fn percent(belief: f64) -> String {
    let decimals = match belief {
        belief if belief >= 1.0 => 0,
        belief if belief > 0.999 => 4,
        belief if belief > 0.98 => 1,
        _ => 0,
    };
    format!("{} %", up(100.0 * belief, Precision::Decimals(decimals)))
}

/// `one in 10,000`; never less often than δ.
pub(crate) fn chance(delta: f64) -> String {
    // A hair above, so that 1/1e-4 is not cut to 9999.
    let times = (1.0 / delta * (1.0 + 1e-12)).floor().max(1.0);
    let digits = format!("{times:.0}");
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("one in {grouped}")
}

/// ε and δ for somebody with several records, where one record has (ε, δ).
///
/// # Guarantee
/// (kε, δ (e^{kε} - 1) / (e^ε - 1))-DP for `k` records: group privacy (Vadhan 2017, lemma 2.2, summed exactly).
///
/// # Assumes
/// (ε, δ)-DP for each single record.
pub fn group(epsilon: f64, delta: f64, records: u64) -> (f64, f64) {
    let k = records as f64;
    let factor =
        if epsilon < 1e-9 { k * (k * epsilon).exp() } else { (k * epsilon).exp_m1() / epsilon.exp_m1() };
    (k * epsilon, (delta * factor * (1.0 + 1e-12)).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beliefs_are_those_of_the_sentence_that_was_worked_out_by_hand() {
        // e^2.256 / (1 + e^2.256) = 0.90516, e^2.552 / (1 + e^2.552) = 0.92772.
        assert_eq!([2.256, 2.552].map(|epsilon| percent(belief(epsilon))), ["91 %", "93 %"]);
        assert_eq!(belief(0.0), 0.5);
        assert_eq!(percent(belief(f64::INFINITY)), "100 %");
        assert_eq!(percent(belief(7.0)), "99.9089 %", "not a certainty");
        assert!((0.75..0.750_000_000_01).contains(&belief(3f64.ln())), "odds of three to one, up");
    }

    /// The sum of δ e^{iε} over i below k: the chain over neighbours, one record at a time.
    #[test]
    fn group_privacy_is_the_chain_over_single_records() {
        for (epsilon, records) in [(0.5f64, 3u64), (2.0, 2), (1e-12, 4), (1.0, 1)] {
            let chain: f64 = (0..records).map(|i| 1e-6 * (i as f64 * epsilon).exp()).sum();
            let (found, delta) = group(epsilon, 1e-6, records);
            assert!((found - records as f64 * epsilon).abs() < 1e-12);
            assert!(delta >= chain * (1.0 - 1e-12) && delta <= chain * (1.0 + 1e-6), "{delta} {chain}");
        }
    }

    #[test]
    fn the_scale_counts_delta_too() {
        assert_eq!(Protection::of(1.0, 1e-5, Some(100)), Protection::Strong);
        assert_eq!(Protection::of(2.3, 1e-5, None), Protection::Usual);
        assert_eq!(Protection::of(45.0, 1e-5, None), Protection::Weak);
        assert_eq!(Protection::of(0.5, 0.01, Some(480)), Protection::Weak);
        assert_eq!(Protection::of(f64::INFINITY, 1e-5, None), Protection::None);
    }

    #[test]
    fn chances_are_never_smaller_than_delta() {
        assert_eq!(
            ["1e-4", "1e-5", "0.3"].map(|delta| chance(delta.parse().unwrap())),
            ["one in 10,000", "one in 100,000", "one in 3"]
        );
    }
}

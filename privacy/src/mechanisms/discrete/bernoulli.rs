//! Coins with probability exactly exp(−a/b) (Canonne, Kamath and Steinke 2020, algorithm 1).

use crate::noise::Bits;

/// True with probability exactly `numerator / denominator`, at most 1.
pub(super) fn ratio(bits: &mut Bits, numerator: u128, denominator: u128) -> bool {
    debug_assert!(numerator <= denominator && denominator > 0);
    bits.below(denominator) < numerator
}

/// True with probability exactly exp(−`numerator / denominator`).
///
/// `denominator` must be below 2¹⁰⁷, which leaves room for its small multiples.
pub(super) fn exp_minus(bits: &mut Bits, numerator: u128, denominator: u128) -> bool {
    // exp(−γ) = exp(−1)^⌊γ⌋ · exp(−(γ − ⌊γ⌋)). The loop ends at the first failure: after 1.6 rounds on average.
    let mut whole = numerator / denominator;
    while whole > 0 {
        if !exp_minus_at_most_one(bits, 1, 1) {
            return false;
        }
        whole -= 1;
    }
    exp_minus_at_most_one(bits, numerator % denominator, denominator)
}

/// The alternating series of exp(−γ), 0 ≤ γ ≤ 1, as a race: the first k whose coin γ/k fails is odd with probability
/// exp(−γ).
fn exp_minus_at_most_one(bits: &mut Bits, numerator: u128, denominator: u128) -> bool {
    let mut k = 1;
    while ratio(bits, numerator, denominator * k) {
        // k passes 2²⁰ with probability 1/(2²⁰)!: no overflow of denominator·k.
        k += 1;
    }
    k % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanisms::testing::assert_counts_follow;
    use crate::noise::danger_from_seed;

    #[test]
    fn coins_have_the_probability_exp_of_minus_the_fraction() {
        let cases = [(0, 1), (1, 10), (1, 1), (5, 2), (7, 3), (1 << 100, 3 << 99), (1, 1 << 106)];
        for (case, (numerator, denominator)) in cases.into_iter().enumerate() {
            let mut noise = danger_from_seed(91 + case as u64, "coin");
            let mut bits = Bits::new(&mut noise);
            let mut counts = [0; 2];
            (0..20_000).for_each(|_| counts[usize::from(exp_minus(&mut bits, numerator, denominator))] += 1);
            let p = libm::exp(-(numerator as f64 / denominator as f64));
            if p > 0.999 {
                assert_eq!(counts, [0, 20_000]);
            } else {
                assert_counts_follow(&counts, &[1.0 - p, p]);
            }
        }
    }

    #[test]
    fn an_enormous_exponent_fails_at_once() {
        let mut noise = danger_from_seed(99, "coin");
        assert!(!exp_minus(&mut Bits::new(&mut noise), u128::MAX, 1));
    }
}

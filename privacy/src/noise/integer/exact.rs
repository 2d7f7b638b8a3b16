//! The comparison that doubles leave open, by integers of growing length. Once in many million samples: slow is fine.

use num_bigint::BigUint;

use super::curve::{Curve, Point};

/// Whether the point is under the curve, whatever the precision it takes; words of `more` lengthen the point until that is clear.
///
/// # Guarantee
/// The answer for the point whose binary digits are `part` and then the words of `more`. Ends with probability 1: e^(−x²/2s²) is no
/// binary fraction unless x = 0, where the first look decides.
pub(super) fn is_above(curve: &Curve, point: Point, more: &mut impl FnMut() -> u64) -> bool {
    let x = BigUint::from(point.x);
    let s = BigUint::from(curve.parameter);
    let (numerator, denominator) = (&x * &x, (&s * &s) << 1u32);
    // The point lies between `low` and `low` + 1, in units of 2^(−64·words).
    let mut low = (BigUint::from(point.level) << 64u32) + point.part;
    for words in 1_u32.. {
        let digits = 64 * (words + 1) + point.doublings;
        let [least, most] = exp_minus(&numerator, &denominator, digits);
        // Bounds on the curve, in units of 2^(−64·words − digits); the point shifted to the same.
        let scaled = |bound: BigUint| (bound * point.height) << (64 * words + point.doublings);
        if (&low + 1u32) << digits <= scaled(least) {
            return true;
        }
        if low.clone() << digits >= scaled(most) {
            return false;
        }
        low = (low << 64u32) + more();
    }
    unreachable!("a machine has no 2^32 words of digits")
}

/// Integers that enclose 2^digits · e^(−numerator/denominator).
fn exp_minus(numerator: &BigUint, denominator: &BigUint, digits: u32) -> [BigUint; 2] {
    let [least, most] = exp(numerator, denominator, digits);
    let one = BigUint::from(1u32) << (2 * digits);
    [&one / most, one.div_ceil(&least)]
}

/// Integers that enclose 2^digits · e^(numerator/denominator): the series with every term rounded down, and with every term rounded up.
fn exp(numerator: &BigUint, denominator: &BigUint, digits: u32) -> [BigUint; 2] {
    let one = BigUint::from(1u32);
    let (mut down, mut up) = (one.clone() << digits, one.clone() << digits);
    let (mut least, mut most) = (down.clone(), up.clone());
    // From twice the exponent on a term is less than half of the one before, so that all that follow add less than the last.
    let falling = numerator * 2u32 / denominator + 1u32;
    let mut count = BigUint::ZERO;
    while up > one || count < falling {
        count += 1u32;
        let divisor = denominator * &count;
        down = &down * numerator / &divisor;
        up = (&up * numerator).div_ceil(&divisor);
        least += &down;
        most += &up;
        if up == BigUint::ZERO {
            // The exponent is 0.
            break;
        }
    }
    [least, most + up]
}

/// Division rounded up.
trait DivCeil {
    fn div_ceil(&self, divisor: &BigUint) -> BigUint;
}

impl DivCeil for BigUint {
    fn div_ceil(&self, divisor: &BigUint) -> BigUint {
        (self + divisor - 1u32) / divisor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enclosed(numerator: u64, denominator: u64, digits: u32) -> [BigUint; 2] {
        exp_minus(&BigUint::from(numerator), &BigUint::from(denominator), digits)
    }

    #[test]
    fn the_enclosure_holds_the_exponential_and_is_narrow() {
        // mpmath, 60 digits: floor(2^128 · e^(−a/b)).
        for (numerator, denominator, expected) in [
            (0, 5, "340282366920938463463374607431768211456"),
            (1, 1, "125182886983370532117250726298150828301"),
            (7, 3, "32997850749880937039398584759834130835"),
            (121, 2, "1807271041656"),
        ] {
            let [least, most] = enclosed(numerator, denominator, 128);
            let expected: BigUint = expected.parse().unwrap();
            assert!(least <= expected.clone() + 1u32 && expected <= most, "{numerator}/{denominator}");
            assert!(&most - &least <= BigUint::from(200u32), "{numerator}/{denominator}: {least} {most}");
        }
    }

    #[test]
    fn more_digits_narrow_the_enclosure() {
        for digits in [64, 256, 1024] {
            let [least, most] = enclosed(9_999_999, 1_000_000, digits);
            let width = &most - &least;
            assert!(width.bits() < 12 && least.bits() as u32 > digits - 16, "{digits}: {width}");
        }
    }

    #[test]
    fn digits_are_drawn_until_the_point_leaves_the_curve() {
        let curve = Curve::new(1000);
        // The first 128 digits of the curve at 700 itself, then a word that is less, or more, than what follows.
        let (numerator, denominator) = (BigUint::from(490_000u32), BigUint::from(2_000_000u32));
        let digits: Vec<u64> =
            (exp_minus(&numerator, &denominator, 512)[0].clone() >> 320u32).to_u64_digits();
        let [third, second, first] = digits[..] else { panic!("{digits:?}") };
        for (change, expected) in [(-1_i64, true), (1, false)] {
            let mut rest = [second, third.wrapping_add_signed(change)].into_iter();
            let point = Point { x: 700, level: 0, part: first, height: 1, doublings: 0 };
            let found = is_above(&curve, point, &mut || rest.next().expect("three words are enough"));
            assert_eq!(found, expected);
            assert_eq!(rest.next(), None, "all words were needed");
        }
    }

    #[test]
    fn at_zero_every_point_below_one_is_under_the_curve() {
        let curve = Curve::new(16);
        let point = Point { x: 0, level: 99, part: u64::MAX, height: 100, doublings: 0 };
        assert!(is_above(&curve, point, &mut || panic!("nothing to draw")));
        let point = Point { level: 100, part: 0, ..point };
        assert!(!is_above(&curve, point, &mut || panic!("nothing to draw")));
    }

    #[test]
    fn boxes_of_the_tail_scale_the_curve() {
        // At six parameters e^(−18) = 1.523e-8; in boxes of 1/(100·2^16): 0.0998.
        let curve = Curve::new(500);
        let at = |part: f64| {
            let part = (part * 2f64.powi(64)) as u64;
            let point = Point { x: 3000, level: 0, part, height: 100, doublings: 16 };
            is_above(&curve, point, &mut || 0)
        };
        let edge = (-18f64).exp() * 100.0 * 65_536.0;
        assert!(at(edge * (1.0 - 1e-12)) && !at(edge * (1.0 + 1e-12)));
    }
}

//! Quotients rounded to the safe side, exactly: 1/1 stays 1, and no last bit is given away or taken.

/// `a / b` rounded down, for positive finite `a` and `b`.
pub(super) fn quotient_down(a: f64, b: f64) -> f64 {
    let nearest = a / b;
    // The residual nearest·b − a is exact in sign by the fused product.
    if nearest.is_finite() && nearest.mul_add(b, -a) > 0.0 {
        nearest.next_down()
    } else {
        nearest.min(f64::MAX)
    }
}

/// `a / b` rounded up, for positive finite `a` and `b`; infinite if it does not fit.
pub(super) fn quotient_up(a: f64, b: f64) -> f64 {
    let nearest = a / b;
    if nearest.is_finite() && nearest.mul_add(b, -a) < 0.0 { nearest.next_up() } else { nearest }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn quotients_are_on_their_side_and_at_most_one_bit_apart(a in 1e-100_f64..1e100, b in 1e-100_f64..1e100) {
            let (down, up) = (quotient_down(a, b), quotient_up(a, b));
            prop_assert!(down <= a / b && a / b <= up);
            prop_assert!(down == up || down.next_up() == up);
        }
    }

    #[test]
    fn exact_quotients_stay_and_others_enclose() {
        assert_eq!((quotient_down(6.0, 3.0), quotient_up(6.0, 3.0)), (2.0, 2.0));
        assert!(quotient_down(1.0, 3.0) < quotient_up(1.0, 3.0));
        // 1/3 is below 0.333…34 and its nearest double is below the true third.
        assert_eq!(quotient_down(1.0, 3.0), 1.0 / 3.0);
        assert_eq!(quotient_up(1e300, 1e-300), f64::INFINITY);
    }
}

//! Numbers as people read them. A loss is rounded [`up`], what was proved to be lost at least is rounded [`down`], and what was measured is rounded to the
//! [`near`]est, so that nobody reads less than is meant.
//!
//! Rounding is done on the decimal digits themselves: no multiplication by a power of ten can spoil the last one.
//!
//! ```
//! use privacy::number::{Precision, down, near, up};
//!
//! assert_eq!(up(2.44492, Precision::Short), "2.45");
//! assert_eq!(down(2.44492, Precision::Short), "2.44");
//! assert_eq!(near(2.44492, Precision::Digits(4)), "2.445");
//! ```

use std::cmp::Ordering;

/// How many digits are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// So many behind the point.
    Decimals(usize),
    /// So many that count; below 1e-4 with an exponent.
    Digits(usize),
    /// For tables: three that count from 1 to 1000, no decimals above, three decimals down to 0.01, and below two digits with an exponent.
    Short,
}

/// The least number of this precision that is not below `value`; `∞` for what is no finite number.
///
/// # Guarantee
/// What is printed, read back as a number, is not below `value`.
pub fn up(value: f64, precision: Precision) -> String {
    rounded(value, precision, Direction::Up)
}

/// The largest number of this precision that is not above `value`.
///
/// # Guarantee
/// What is printed, read back as a number, is not above `value`.
pub fn down(value: f64, precision: Precision) -> String {
    rounded(value, precision, Direction::Down)
}

/// The nearest number of this precision, for what is measured and is no bound.
pub fn near(value: f64, precision: Precision) -> String {
    rounded(value, precision, Direction::Nearest)
}

/// The number that [`up`] prints, for programs that print it themselves. What is not finite stays as it is.
///
/// # Guarantee
/// Not below `value`.
pub fn raised(value: f64, precision: Precision) -> f64 {
    if !value.is_finite() { value } else { up(value, precision).parse().unwrap_or(value) }
}

/// A number as it was given, without a row of zeros: 1e-5, 0.5, 12.
pub fn given(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e6).contains(&value.abs()) { format!("{value:e}") } else { value.to_string() }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
    Nearest,
}

fn rounded(value: f64, precision: Precision, direction: Direction) -> String {
    if value == f64::NEG_INFINITY {
        return "-∞".into();
    }
    if !value.is_finite() {
        return if value.is_nan() && direction != Direction::Up { "unknown".into() } else { "∞".into() };
    }
    if value == 0.0 {
        return match precision {
            Precision::Decimals(decimals) => format!("{:.decimals$}", 0.0),
            Precision::Digits(_) | Precision::Short => "0".into(),
        };
    }
    let exponent = exponent(value);
    match precision {
        Precision::Decimals(decimals) => plain(value, decimals, direction),
        Precision::Digits(digits) if exponent < -4 => scientific(value, digits.max(1) - 1, direction),
        Precision::Digits(digits) => plain(value, (digits as i32 - 1 - exponent).max(0) as usize, direction),
        Precision::Short => match exponent {
            3.. => plain(value, 0, direction),
            2 => plain(value, 1, direction),
            0 | 1 => plain(value, 2, direction),
            -2 | -1 => plain(value, 3, direction),
            _ => scientific(value, 1, direction),
        },
    }
}

/// The exponent of ten of the first digit, exactly.
fn exponent(value: f64) -> i32 {
    let text = format!("{value:e}");
    text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0)
}

fn plain(value: f64, decimals: usize, direction: Direction) -> String {
    corrected(format!("{value:.decimals$}"), value, direction)
}

fn scientific(value: f64, decimals: usize, direction: Direction) -> String {
    let text = format!("{value:.decimals$e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let fixed = match wanted(&text, value, direction) {
        None => return text,
        Some(away) => stepped(mantissa, away),
    };
    // 9.9 became 10.0, or 1.0 became 0.9: the digits before the point decide.
    let whole = fixed.trim_start_matches('-').split('.').next().unwrap_or_default();
    let (sign, power) = (if value < 0.0 { "-" } else { "" }, exponent.parse::<i32>().unwrap_or(0));
    match whole {
        "0" => format!("{sign}{}e{}", nines(decimals), power - 1),
        _ if whole.len() > 1 => format!("{sign}{:.decimals$}e{}", 1.0, power + 1),
        _ => format!("{fixed}e{exponent}"),
    }
}

/// 9.99 with so many decimals.
fn nines(decimals: usize) -> String {
    if decimals == 0 { "9".into() } else { format!("9.{}", "9".repeat(decimals)) }
}

fn corrected(text: String, value: f64, direction: Direction) -> String {
    match wanted(&text, value, direction) {
        None => text,
        Some(away) => stepped(&text, away),
    }
}

/// Whether the last digit must change, and then whether away from zero.
fn wanted(text: &str, value: f64, direction: Direction) -> Option<bool> {
    let shown: f64 = text.parse().ok()?;
    let wrong = match direction {
        Direction::Nearest => return None,
        Direction::Up => shown.partial_cmp(&value) == Some(Ordering::Less),
        Direction::Down => shown.partial_cmp(&value) == Some(Ordering::Greater),
    };
    wrong.then_some((value > 0.0) == (direction == Direction::Up))
}

/// The decimal number with one more, or one less, in its last place.
fn stepped(text: &str, away_from_zero: bool) -> String {
    let mut digits: Vec<u8> = text.bytes().collect();
    let (from, to) = if away_from_zero { (b'9', b'0') } else { (b'0', b'9') };
    for at in (0..digits.len()).rev() {
        match digits[at] {
            digit if digit == from => digits[at] = to,
            b'0'..=b'9' => {
                digits[at] = if away_from_zero { digits[at] + 1 } else { digits[at] - 1 };
                return text_of(digits);
            }
            _ => {}
        }
    }
    let sign = usize::from(digits.first() == Some(&b'-'));
    digits.insert(sign, b'1');
    text_of(digits)
}

fn text_of(digits: Vec<u8>) -> String {
    String::from_utf8(digits).expect("digits, a point and a sign")
}

#[cfg(test)]
mod tests {
    use super::*;
    use Precision::{Decimals, Digits, Short};
    use proptest::prelude::*;

    #[test]
    fn losses_go_up_and_what_needs_no_rounding_stays() {
        for (value, precision, text) in [
            (2.44492, Short, "2.45"),
            (2.44, Short, "2.44"),
            (1.999_26, Decimals(3), "2.000"),
            (1.98, Decimals(2), "1.98"),
            // 0.07 · 100 is above 7 in double precision: multiplying would say 0.08.
            (0.07, Decimals(2), "0.07"),
            (1234.2, Decimals(0), "1235"),
            (9.9999, Short, "10.00"),
            (999.96, Short, "1000.0"),
            (1.98341, Digits(4), "1.984"),
            (0.123_401, Digits(4), "0.1235"),
            (12.0, Digits(4), "12.00"),
            (12345.1, Digits(4), "12346"),
            (1.234_51e-6, Digits(4), "1.235e-6"),
            (9.9999e-7, Digits(4), "1.000e-6"),
            (0.0, Short, "0"),
            (f64::INFINITY, Short, "∞"),
            (f64::NAN, Short, "∞"),
            (5e-324, Decimals(3), "0.001"),
            (-2.449, Short, "-2.44"),
        ] {
            assert_eq!(up(value, precision), text, "{value}");
        }
    }

    #[test]
    fn what_was_proved_goes_down_and_what_was_measured_to_the_nearest() {
        assert_eq!([2.44992, 0.9996, 1000.9].map(|value| down(value, Short)), ["2.44", "0.999", "1000"]);
        assert_eq!([2.44992, 0.0456, 12345.6].map(|value| near(value, Short)), ["2.45", "0.046", "12346"]);
        assert_eq!([0.000_123, 123.45].map(|value| near(value, Short)), ["1.2e-4", "123.5"]);
        assert_eq!(down(1.0, Decimals(3)), "1.000");
        assert_eq!(down(9.96e-7, Short), "9.9e-7");
        assert_eq!((down(-2.441, Short), down(1.29e-6, Short)), ("-2.45".to_owned(), "1.2e-6".to_owned()));
    }

    #[test]
    fn given_numbers_stay_as_they_were_given() {
        assert_eq!([1e-5, 0.01, 2.0, 0.0, 1e6].map(given), ["1e-5", "0.01", "2", "0", "1e6"]);
    }

    #[test]
    fn a_number_for_another_program_is_the_one_that_is_printed() {
        assert_eq!(raised(2.44492, Short), 2.45);
        assert_eq!(raised(f64::INFINITY, Short), f64::INFINITY);
    }

    proptest! {
        #[test]
        fn what_is_printed_lies_on_the_safe_side_and_within_one_of_the_last_digit(
            value in prop_oneof![0.0..10.0_f64, 0.0..1e-3_f64, 0.0..1e7_f64, any::<f64>()],
            digits in 1_usize..9,
        ) {
            prop_assume!(value.is_finite());
            for precision in [Decimals(digits), Digits(digits), Short] {
                let [high, low] = [up, down].map(|shown| shown(value, precision));
                let (above, below): (f64, f64) = (high.parse().unwrap(), low.parse().unwrap());
                prop_assert!(below <= value && value <= above, "{low} {value} {high}");
                let nearest = near(value, precision);
                prop_assert!(nearest == high || nearest == low, "{low} {nearest} {high}");
            }
        }
    }
}

//! Numbers on the command line, refused where they make no sense before anything is computed.

/// A whole number of at least one.
pub(super) fn count(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&count| count > 0).ok_or_else(|| "must be a whole number of at least 1".into())
}

/// A whole number of at least zero.
pub(super) fn steps(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "must be a whole number of at least 0".into())
}

/// A finite number above zero.
pub(super) fn positive(text: &str) -> Result<f64, String> {
    finite(text, |x| x > 0.0).ok_or_else(|| "must be a finite number above 0".into())
}

/// A finite number of at least zero.
pub(super) fn not_negative(text: &str) -> Result<f64, String> {
    finite(text, |x| x >= 0.0).ok_or_else(|| "must be a finite number of at least 0".into())
}

/// A number strictly between zero and one.
pub(super) fn probability(text: &str) -> Result<f64, String> {
    finite(text, |x| x > 0.0 && x < 1.0).ok_or_else(|| "must lie strictly between 0 and 1".into())
}

fn finite(text: &str, fits: impl Fn(f64) -> bool) -> Option<f64> {
    text.parse().ok().filter(|x: &f64| x.is_finite() && fits(*x))
}

/// A number as it was given, without a row of zeros: 1e-5, 0.5, 12.
pub(super) fn plain(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e6).contains(&value.abs()) { format!("{value:e}") } else { value.to_string() }
}

/// A number for people: four significant digits, rounded up as losses are.
pub(super) fn rounded_up(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".into() } else { "∞".into() };
    }
    let digits = 3 - value.abs().log10().floor() as i32;
    // The last digit goes up only where more would be cut off than was added when the loss itself was rounded up.
    let scaled = value * 10f64.powi(digits);
    let up = if (scaled - scaled.round()).abs() < 2e-8 { scaled.round() } else { scaled.ceil() };
    let shown = up / 10f64.powi(digits);
    if !(1e-4..1e6).contains(&shown.abs()) {
        return format!("{shown:.3e}");
    }
    format!("{shown:.*}", digits.clamp(0, 12) as usize)
}

/// Six significant digits, rounded up in the last one, because these are bounds.
pub(super) fn number(value: f64) -> String {
    six_digits(value, |scaled| (scaled * (1.0 - 1e-12)).ceil())
}

/// Six significant digits, rounded down, for what must not be exceeded.
pub(super) fn number_down(value: f64) -> String {
    six_digits(value, |scaled| (scaled * (1.0 + 1e-12)).floor())
}

fn six_digits(value: f64, round: impl Fn(f64) -> f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !value.is_finite() {
        return "∞".into();
    }
    let exponent = value.abs().log10().floor() as i32;
    if !(-4..7).contains(&exponent) {
        let scale = 10f64.powi(5 - exponent);
        let rounded = round(value * scale) / scale;
        return format!("{:.5e}", if rounded.is_finite() { rounded } else { value });
    }
    let digits = (5 - exponent).max(0) as usize;
    let scale = 10f64.powi(digits as i32);
    let text = format!("{:.digits$}", round(value * scale) / scale);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_never_shown_smaller_than_they_are() {
        assert_eq!(rounded_up(1.00001), "1.001");
        assert_eq!(rounded_up(0.123_41), "0.1235");
        assert_eq!(rounded_up(12.0), "12.00");
        assert_eq!(rounded_up(99_991.0), "100000");
        assert_eq!(rounded_up(0.000_012_341), "1.235e-5");
        assert_eq!(rounded_up(0.0), "0");
        assert_eq!(rounded_up(f64::INFINITY), "∞");
    }

    #[test]
    fn numbers_as_given_have_no_row_of_zeros() {
        assert_eq!([1e-5, 0.5, 12.0, 0.0].map(plain), ["1e-5", "0.5", "12", "0"]);
    }

    #[test]
    fn numbers_that_make_no_sense_are_refused() {
        assert!(count("0").is_err() && count("-1").is_err() && count("1.5").is_err());
        assert!(positive("nan").is_err() && positive("inf").is_err() && positive("0").is_err());
        assert!(probability("0").is_err() && probability("1").is_err() && probability("1e-5").is_ok());
        assert!(not_negative("-0.1").is_err() && not_negative("0").is_ok());
    }
    #[test]
    fn numbers_are_short_and_never_rounded_down() {
        for (value, text) in [
            (0.0, "0"),
            (f64::INFINITY, "∞"),
            (1.0, "1"),
            (0.945_678_91, "0.945679"),
            (0.945_678_1, "0.945679"),
            (12.345_671, "12.3457"),
            (123_456.1, "123457"),
            (1e-9, "1.00000e-9"),
            (1.234_561e12, "1.23457e12"),
        ] {
            assert_eq!(number(value), text, "{value}");
        }
        assert_eq!((number_down(0.268_051_9), number_down(2.0)), ("0.268051".into(), "2".into()));
    }
}

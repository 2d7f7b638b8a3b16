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
}

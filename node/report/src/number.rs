//! Numbers as people read them in a report.

use privacy::number::{Precision, near, up};

/// ε or μ² with four digits that count, rounded up; `∞` where there is no bound.
pub(crate) fn loss(value: f64) -> String {
    up(value, Precision::Digits(4))
}

/// δ, or another number that was given.
pub(crate) use privacy::number::given;

/// A setting that was worked out, with six digits that count: 1.37354, 0.16.
pub(crate) fn shortened(value: f64) -> String {
    given(near(value, Precision::Digits(6)).parse().unwrap_or(value))
}

/// A measured number with four digits that count.
pub(crate) fn measured(value: f64) -> String {
    let decimals = match value.abs() {
        1000.0.. => 0,
        100.0.. => 1,
        10.0.. => 2,
        1.0.. => 3,
        _ => 4,
    };
    near(value, Precision::Decimals(decimals))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_were_worked_out_are_short_and_given_ones_as_they_were() {
        for (value, text) in
            [(1.373_535_156_25, "1.37354"), (0.159_999_999_916_180_97, "0.16"), (1.0, "1"), (1e-5, "1e-5")]
        {
            assert_eq!(shortened(value), text);
        }
    }

    #[test]
    fn what_is_printed_is_never_below_what_is_meant() {
        for (value, text) in [
            (2.44492, "2.445"),
            (1.98341, "1.984"),
            (0.123_401, "0.1235"),
            (12.0, "12.00"),
            (12345.1, "12346"),
            (0.0, "0"),
            (f64::INFINITY, "∞"),
            (2.0, "2.000"),
            (1.234_51e-6, "1.235e-6"),
        ] {
            assert_eq!(loss(value), text);
        }
        for step in 1..2000 {
            let value = f64::from(step) * 0.001_37;
            assert!(loss(value).parse::<f64>().unwrap() >= value, "{value} {}", loss(value));
        }
    }
}

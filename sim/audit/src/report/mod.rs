//! A report for people: text, Markdown, a picture.

mod markdown;
mod picture;

pub use markdown::markdown;
pub use picture::picture;

use privacy::number::{Precision, down, near, up};

/// A measured number with three digits that count; whole numbers as they are.
pub fn digits(value: f64) -> String {
    near(value, precision(value))
}

/// A lower bound, rounded down: no more is claimed than was proved.
pub fn at_least(epsilon: f64) -> String {
    down(epsilon, precision(epsilon))
}

/// An upper bound, rounded up; infinite where there is none.
pub fn bound(epsilon: Option<f64>) -> String {
    epsilon.map_or_else(|| "∞".into(), |epsilon| up(epsilon, precision(epsilon)))
}

fn precision(value: f64) -> Precision {
    match value.abs() {
        ..1e6 if value == libm::trunc(value) => Precision::Decimals(0),
        1000.0.. => Precision::Decimals(0),
        100.0.. => Precision::Decimals(1),
        1.0.. => Precision::Decimals(2),
        0.001.. => Precision::Decimals(3),
        _ => Precision::Short,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_counts_are_whole() {
        assert_eq!(
            [0.0, 640.0, 1.0, 2.4412, 0.8821, 12345.6].map(digits),
            ["0", "640", "1", "2.44", "0.882", "12346"]
        );
        assert_eq!([0.000_123, 123.45].map(digits), ["1.2e-4", "123.5"]);
        assert_eq!((bound(None), bound(Some(0.5))), ("∞".to_owned(), "0.500".to_owned()));
    }

    #[test]
    fn what_the_account_allows_goes_up_and_what_was_proved_goes_down() {
        for (value, above, below) in [
            (2.44492, "2.45", "2.44"),
            (0.88211, "0.883", "0.882"),
            (123.44, "123.5", "123.4"),
            (2.0, "2", "2"),
        ] {
            assert_eq!((bound(Some(value)).as_str(), at_least(value).as_str()), (above, below));
        }
    }
}

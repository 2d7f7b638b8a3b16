//! A report for people: text, Markdown, a picture.

mod markdown;
mod picture;

pub use markdown::markdown;
pub use picture::picture;

/// Three digits that count; whole numbers as they are.
pub fn digits(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        ..1e6 if value == libm::trunc(value) => format!("{value:.0}"),
        1000.0.. => format!("{value:.0}"),
        100.0.. => format!("{value:.1}"),
        1.0.. => format!("{value:.2}"),
        0.001.. => format!("{value:.3}"),
        _ => format!("{value:.1e}"),
    }
}

/// An upper bound, infinite where there is none.
pub fn bound(epsilon: Option<f64>) -> String {
    epsilon.map_or_else(|| "∞".into(), digits)
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
}

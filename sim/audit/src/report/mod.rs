//! A report for people: text, Markdown, a picture.

mod markdown;
mod picture;

pub use markdown::markdown;
pub use picture::picture;

/// Three digits that count.
pub fn digits(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
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

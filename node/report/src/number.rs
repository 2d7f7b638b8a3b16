//! Numbers as people read them. A loss is rounded up, so that what is printed is never below what is meant.

/// ε or μ² with four digits that count, rounded up; `∞` where there is no bound.
pub(crate) fn loss(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !value.is_finite() {
        return "∞".into();
    }
    let digits = (3 - value.abs().log10().floor() as i32).clamp(0, 300);
    let decimals = digits.min(12) as usize;
    let scale = 10f64.powi(digits);
    let mut shown = (value * scale).ceil() / scale;
    if shown < value {
        shown = value;
    }
    if value < 1e-4 { format!("{shown:.3e}") } else { format!("{shown:.decimals$}") }
}

/// δ, or another number that was given.
pub(crate) fn given(value: f64) -> String {
    if value != 0.0 && (value.abs() < 1e-3 || value.abs() >= 1e6) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

/// A measured number with four digits that count.
pub(crate) fn measured(value: f64) -> String {
    match value.abs() {
        1000.0.. => format!("{value:.0}"),
        100.0.. => format!("{value:.1}"),
        10.0.. => format!("{value:.2}"),
        1.0.. => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_never_below_what_is_meant() {
        for (value, text) in [
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

    #[test]
    fn given_numbers_stay_as_they_were_given() {
        assert_eq!([1e-5, 0.01, 2.0].map(given), ["1e-5", "0.01", "2"]);
    }
}

//! Numbers for people.

/// Six significant digits; very small and very large ones with an exponent.
pub(super) fn significant(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e6).contains(&size) {
        return format!("{value:.5e}");
    }
    let before_point = size.log10().floor() as i32 + 1;
    trimmed(format!("{value:.*}", (6 - before_point.max(0)).max(0) as usize))
}

/// At most two decimals.
pub(super) fn short(value: f64) -> String {
    trimmed(format!("{value:.2}"))
}

/// Digits in groups of three from 10,000 on.
pub(super) fn grouped(value: u64) -> String {
    let digits = value.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn trimmed(text: String) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_six_digits_and_groups_of_three() {
        for (value, text) in
            [(0.0, "0"), (0.5, "0.5"), (0.968_764_1, "0.968764"), (-1.0, "-1"), (2.0e-9, "2.00000e-9")]
        {
            assert_eq!(significant(value), text);
        }
        assert_eq!((grouped(1234).as_str(), grouped(12_345).as_str()), ("1234", "12,345"));
        assert_eq!((grouped(1_000_000).as_str(), short(7.998).as_str()), ("1,000,000", "8"));
    }
}

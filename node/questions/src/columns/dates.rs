//! Dates as days since 1970-01-01 (Hinnant's algorithm; proleptic Gregorian calendar).

/// The format that is always understood.
const ISO: &str = "%Y-%m-%d";

/// Days since 1970 of a date in `format` (`%Y`, `%m`, `%d` and other characters as they stand), or ISO.
pub(super) fn days(text: &str, format: &str) -> Option<f64> {
    read(text, format).or_else(|| read(text, ISO))
}

fn read(text: &str, format: &str) -> Option<f64> {
    let (mut year, mut month, mut day) = (None, None, None);
    let mut rest = text;
    let mut pattern = format.chars();
    while let Some(c) = pattern.next() {
        if c != '%' {
            rest = rest.strip_prefix(c)?;
            continue;
        }
        let (field, digits) = match pattern.next()? {
            'Y' => (&mut year, 4),
            'm' => (&mut month, 2),
            'd' => (&mut day, 2),
            _ => return None,
        };
        let end = rest.bytes().take(digits).take_while(u8::is_ascii_digit).count();
        *field = Some(rest[..end].parse::<i64>().ok()?);
        rest = &rest[end..];
    }
    if !rest.is_empty() {
        return None;
    }
    civil(year?, month?, day?)
}

fn civil(year: i64, month: i64, day: i64) -> Option<f64> {
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let longest = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(leap),
        _ => return None,
    };
    if !(1..=longest).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    Some((era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468) as f64)
}

#[cfg(test)]
mod tests {
    use super::days;

    #[test]
    fn days_are_those_of_the_calendar() {
        // From Python: (datetime.date(y, m, d) - datetime.date(1970, 1, 1)).days
        let known =
            [("1970-01-01", 0.0), ("2000-02-29", 11016.0), ("1969-12-31", -1.0), ("2026-11-18", 20775.0)];
        for (text, expected) in known {
            assert_eq!(days(text, "%Y-%m-%d"), Some(expected), "{text}");
        }
        assert_eq!(days("18.11.2026", "%d.%m.%Y"), Some(20775.0));
        for wrong in ["2001-02-29", "2000-13-01", "2000-00-10", "18.11.26x", "", "é"] {
            assert_eq!(days(wrong, "%d.%m.%Y"), None, "{wrong}");
        }
    }
}

//! Days as numbers: ISO 8601, or a format in the letters of `strftime`.

use std::fmt;

use time::Date;
use time::format_description::{OwnedFormatItem, parse_strftime_owned};

/// The Julian day number of 1970-01-01.
const EPOCH: i32 = 2_440_588;

/// Forms of dates that are tried where nobody says one, the likeliest first.
const USUAL: [&str; 4] = ["iso", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y"];

/// How days are written in a column.
#[derive(Debug, Clone, PartialEq)]
pub enum DateFormat {
    /// `2024-05-31`, or the same with a time of day behind it, which does not count.
    Iso,
    /// Such as `%d.%m.%Y`.
    Declared {
        /// As it was written.
        text: String,
        /// As it is used.
        items: OwnedFormatItem,
    },
}

impl DateFormat {
    /// Understands `iso` and the letters of `strftime`.
    ///
    /// # Errors
    /// A format that does not say day, month and year with all four digits.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("iso") {
            return Ok(Self::Iso);
        }
        let items =
            parse_strftime_owned(text).map_err(|error| format!("the date format `{text}`: {error}"))?;
        let sample = Date::from_julian_day(EPOCH + 12_000).map_err(|error| error.to_string())?;
        let read_back = sample.format(&items).ok().and_then(|shown| Date::parse(&shown, &items).ok());
        match read_back == Some(sample) {
            true => Ok(Self::Declared { text: text.to_owned(), items }),
            false => Err(format!("the date format `{text}` does not say day, month and year (`%d %m %Y`)")),
        }
    }

    /// The usual forms, the likeliest first.
    pub(crate) fn usual() -> impl Iterator<Item = Self> {
        USUAL.iter().filter_map(|text| Self::parse(text).ok())
    }

    /// The usual form in which a text is a date, if it is one.
    pub(crate) fn found(text: &str) -> Option<Self> {
        Self::usual().find(|format| format.day(text).is_some())
    }

    /// Days since 1970-01-01 of a cell; `None` where it is no such date.
    pub fn day(&self, cell: &str) -> Option<i32> {
        match self {
            Self::Iso => iso_date(cell),
            Self::Declared { items, .. } => Date::parse(cell, items).ok().map(since_epoch),
        }
    }
}

impl fmt::Display for DateFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Iso => f.write_str("iso"),
            Self::Declared { text, .. } => f.write_str(text),
        }
    }
}

/// Days since 1970-01-01 of an ISO date; `None` where it is none.
pub fn iso_date(text: &str) -> Option<i32> {
    let (day, rest) = text.split_at_checked(10)?;
    if !(rest.is_empty() || rest.starts_with(['T', ' '])) {
        return None;
    }
    let mut parts = day.split('-');
    let mut number = |digits: usize| {
        let part = parts.next()?;
        (part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| part.parse::<i32>().ok())?
    };
    let (year, month, day) = (number(4)?, number(2)?, number(2)?);
    let month = time::Month::try_from(u8::try_from(month).ok()?).ok()?;
    Date::from_calendar_date(year, month, u8::try_from(day).ok()?).ok().map(since_epoch)
}

/// The ISO date of a day since 1970-01-01, where there is one.
pub fn day_number(day: f64) -> Option<String> {
    let whole = libm::floor(day);
    let inside = whole.abs() < 4e6;
    let date = inside.then(|| Date::from_julian_day(EPOCH + whole as i32).ok()).flatten()?;
    Some(format!("{:04}-{:02}-{:02}", date.year(), u8::from(date.month()), date.day()))
}

fn since_epoch(date: Date) -> i32 {
    date.to_julian_day() - EPOCH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_count_from_1970_and_leap_years_have_their_day() {
        // 30 years with 7 leap days; 2000 was a leap year, 2100 is none.
        assert_eq!(iso_date("1970-01-01"), Some(0));
        assert_eq!(iso_date("2000-01-01"), Some(30 * 365 + 7));
        assert_eq!(iso_date("2000-03-01").unwrap() - iso_date("2000-02-28").unwrap(), 2);
        assert_eq!(iso_date("2100-02-29"), None);
        assert_eq!(iso_date("1969-12-31T23:59:59Z"), Some(-1));
        assert_eq!(day_number(10_957.0).as_deref(), Some("2000-01-01"));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "2000-1-1",
            "2000-13-01",
            "2000-00-10",
            "20000101",
            "2000-01-011",
            "+200-01-01",
            "ü000-01-01",
        ] {
            assert_eq!(iso_date(text), None, "{text}");
        }
        assert_eq!(day_number(f64::NAN), None);
        assert_eq!(day_number(1e300), None);
    }

    #[test]
    fn declared_formats_read_what_iso_reads() {
        for (format, cell) in [
            ("%d.%m.%Y", "31.05.2024"),
            ("%m/%d/%Y", "05/31/2024"),
            ("%Y%m%d", "20240531"),
            ("iso", "2024-05-31"),
        ] {
            let format = DateFormat::parse(format).unwrap();
            assert_eq!(format.day(cell), iso_date("2024-05-31"), "{format}");
            assert_eq!(format.day("31.02.2024x"), None);
        }
        for text in ["%d.%m", "%Y", "%d.%m.%y", "day", "%Q"] {
            assert!(DateFormat::parse(text).is_err(), "{text}");
        }
    }
}

//! Times in a configuration: `"250ms"` or a number of seconds; microseconds inside.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};
use toml::Value;

/// Longer times would overflow sums of a few of them.
const LONGEST_SECONDS: f64 = 1e9;

/// What a time looks like, for messages.
pub(super) const FORM: &str = "a time such as \"250ms\", \"1.5s\" or 2 (seconds)";

/// Microseconds of a value; `None` where it is no time.
pub(super) fn parse(value: &Value) -> Option<u64> {
    let seconds = match value {
        Value::Integer(seconds) => *seconds as f64,
        Value::Float(seconds) => *seconds,
        Value::String(text) => seconds_of(text)?,
        _ => return None,
    };
    let fits = (0.0..=LONGEST_SECONDS).contains(&seconds);
    fits.then(|| libm::round(seconds * 1e6) as u64)
}

fn seconds_of(text: &str) -> Option<f64> {
    let text = text.trim();
    let digits = text.find(|letter: char| letter.is_alphabetic() || letter == 'µ').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    // Divided, not multiplied: 0.001 is no double, a thousand is.
    let per_second = match unit {
        "" | "s" => 1.0,
        "ms" => 1e3,
        "us" | "µs" => 1e6,
        "m" | "min" => return Some(60.0 * number.trim().parse::<f64>().ok()?),
        "h" => return Some(3600.0 * number.trim().parse::<f64>().ok()?),
        _ => return None,
    };
    Some(number.trim().parse::<f64>().ok()? / per_second)
}

/// The text of a time: the largest unit that gives a whole number.
pub(super) fn text(micros: u64) -> String {
    match micros {
        _ if micros.is_multiple_of(1_000_000) => format!("{}s", micros / 1_000_000),
        _ if micros.is_multiple_of(1_000) => format!("{}ms", micros / 1_000),
        _ => format!("{micros}us"),
    }
}

/// For `#[serde(with = "duration")]`.
pub(super) fn serialize<S: Serializer>(micros: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&text(*micros))
}

/// For `#[serde(with = "duration")]`.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let value = Value::deserialize(deserializer)?;
    parse(&value).ok_or_else(|| D::Error::custom(format!("`{value}` is not {FORM}")))
}

/// For `#[serde(with = "duration::optional")]`.
pub(super) mod optional {
    use super::{Deserializer, Serializer};

    pub(in super::super) fn serialize<S: Serializer>(
        micros: &Option<u64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match micros {
            Some(micros) => super::serialize(micros, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<u64>, D::Error> {
        super::deserialize(deserializer).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn units_and_bare_seconds_are_understood() {
        for (text, micros) in [
            ("\"250ms\"", 250_000),
            ("\"1.5s\"", 1_500_000),
            ("\"20us\"", 20),
            ("\"2 min\"", 120_000_000),
            ("\"1h\"", 3_600_000_000),
            ("2", 2_000_000),
            ("0.001", 1_000),
            ("\"0\"", 0),
        ] {
            assert_eq!(parse(&text.parse::<Value>().unwrap()), Some(micros), "{text}");
        }
        for text in ["\"soon\"", "-1", "nan", "inf", "true", "\"ms\"", "\"1 fortnight\"", "1e300"] {
            assert_eq!(parse(&text.parse::<Value>().unwrap()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_text_of_a_time_reads_back(micros in 0_u64..=1_000_000_000_000_000) {
            prop_assert_eq!(parse(&Value::String(text(micros))), Some(micros));
        }
    }
}

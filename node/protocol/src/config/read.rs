//! Reading single values: every error names the key, the value, the place and what to write instead.

use std::ops::RangeInclusive;
use std::str::FromStr;

use toml::Value;

use super::duration;
use super::error::{ConfigError, Place};
use super::layer::{Entry, Layer};

/// The values that were given, by key.
pub(super) struct Reader<'a> {
    pub(super) layer: &'a Layer,
}

impl Reader<'_> {
    pub(super) fn entry(&self, key: &'static str) -> Option<&Entry> {
        self.layer.entries.get(key)
    }

    pub(super) fn is_given(&self, key: &'static str) -> bool {
        self.entry(key).is_some()
    }

    /// A whole number in a range.
    pub(super) fn count(
        &self,
        key: &'static str,
        default: u64,
        range: RangeInclusive<u64>,
    ) -> Result<u64, ConfigError> {
        let Some(entry) = self.entry(key) else { return Ok(default) };
        let (low, high) = (range.start(), range.end());
        whole(&entry.value)
            .filter(|value| range.contains(value))
            .ok_or_else(|| self.bad(key, format!("must be a whole number from {low} to {high}"), None))
    }

    /// A number for which `fits` holds.
    pub(super) fn number(
        &self,
        key: &'static str,
        default: f64,
        (fits, must): (fn(f64) -> bool, &str),
    ) -> Result<f64, ConfigError> {
        let Some(entry) = self.entry(key) else { return Ok(default) };
        let number = match &entry.value {
            Value::Integer(value) => Some(*value as f64),
            Value::Float(value) => Some(*value),
            // People write "inf" in quotes as well as without.
            Value::String(text) if text == "inf" => Some(f64::INFINITY),
            _ => None,
        };
        number.filter(|&value| fits(value)).ok_or_else(|| self.bad(key, must.to_owned(), None))
    }

    /// A number where one was given.
    pub(super) fn optional(
        &self,
        key: &'static str,
        rule: (fn(f64) -> bool, &str),
    ) -> Result<Option<f64>, ConfigError> {
        self.is_given(key).then(|| self.number(key, 0.0, rule)).transpose()
    }

    pub(super) fn flag(&self, key: &'static str, default: bool) -> Result<bool, ConfigError> {
        match self.entry(key).map(|entry| &entry.value) {
            None => Ok(default),
            Some(Value::Boolean(value)) => Ok(*value),
            Some(_) => Err(self.bad(key, "must be true or false".into(), None)),
        }
    }

    pub(super) fn text(&self, key: &'static str, default: &str) -> Result<String, ConfigError> {
        match self.entry(key).map(|entry| &entry.value) {
            None => Ok(default.into()),
            Some(Value::String(text)) => Ok(text.clone()),
            // `--set name=7` and `--set data=3` mean the word.
            Some(Value::Integer(number)) => Ok(number.to_string()),
            Some(_) => Err(self.bad(key, "must be a text".into(), None)),
        }
    }

    /// A text that means something; `hint` says what to try where it does not.
    pub(super) fn parsed<T: FromStr>(
        &self,
        key: &'static str,
        default: &str,
        hint: impl Fn(&T::Err) -> Option<String>,
    ) -> Result<T, ConfigError>
    where
        T::Err: std::fmt::Display,
    {
        self.text(key, default)?
            .parse()
            .map_err(|error: T::Err| self.bad(key, error.to_string(), hint(&error)))
    }

    /// One of a list of words.
    pub(super) fn word<T: Copy>(
        &self,
        key: &'static str,
        default: T,
        words: &[(&'static str, T)],
    ) -> Result<T, ConfigError> {
        if !self.is_given(key) {
            return Ok(default);
        }
        let text = self.text(key, "")?;
        words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let near = topology::nearest(&text, &names).map(|near| format!("did you mean `{near}`?"));
            self.bad(key, format!("must be one of {}", names.join(", ")), near)
        })
    }

    pub(super) fn duration(&self, key: &'static str, default: u64) -> Result<u64, ConfigError> {
        let Some(entry) = self.entry(key) else { return Ok(default) };
        duration::parse(&entry.value)
            .ok_or_else(|| self.bad(key, format!("must be {}", duration::FORM), None))
    }

    /// That the value of `key` is wrong, and why.
    pub(super) fn bad(&self, key: &'static str, why: String, hint: Option<String>) -> ConfigError {
        let value = self.entry(key).map_or_else(|| "(not given)".into(), |entry| entry.value.to_string());
        let place = self.place(key);
        ConfigError::BadValue { key: key.into(), value, why, hint, place }
    }

    /// `key = value` for a message; `shown` where it was not given.
    pub(super) fn pair(&self, key: &'static str, shown: impl std::fmt::Display) -> String {
        match self.entry(key) {
            Some(entry) => format!("{key} = {}", entry.value),
            None => format!("{key} = {shown}"),
        }
    }

    pub(super) fn place(&self, key: &'static str) -> Box<Place> {
        Box::new(self.entry(key).map_or(Place::Default, |entry| entry.place.clone()))
    }
}

/// A whole number, also written as 1e3.
pub(super) fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::Integer(value) => u64::try_from(*value).ok(),
        Value::Float(value) if *value >= 0.0 && *value <= 9e15 && value.fract() == 0.0 => Some(*value as u64),
        _ => None,
    }
}

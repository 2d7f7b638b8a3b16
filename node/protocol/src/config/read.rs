//! Reading single values: every error names the key, the value, the place and what to write instead.

use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use toml::Value;

use super::error::{ConfigError, Place};
use super::layer::{Entry, Layer};
use super::{Config, duration, keys};

/// Which numbers are allowed.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    pub(super) fits: fn(f64) -> bool,
    /// In words: "must be …".
    pub(super) must: &'static str,
}

impl Rule {
    /// The same for a table of values.
    pub(super) fn takes(&self) -> String {
        self.must.trim_start_matches("must be ").trim_start_matches("a ").into()
    }
}

pub(super) const POSITIVE: Rule =
    Rule { fits: |x| x > 0.0 && x.is_finite(), must: "must be a positive number" };
pub(super) const NOT_NEGATIVE: Rule =
    Rule { fits: |x| x >= 0.0 && x.is_finite(), must: "must be a number, not negative" };
pub(super) const PROBABILITY: Rule =
    Rule { fits: |x| (0.0..=1.0).contains(&x), must: "must be a probability from 0 to 1" };
/// From 0 to 1, without 1.
pub(super) const BELOW_ONE: Rule =
    Rule { fits: |x| (0.0..1.0).contains(&x), must: "must be at least 0 and below 1" };

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
    pub(super) fn number(&self, key: &'static str, default: f64, rule: Rule) -> Result<f64, ConfigError> {
        let Some(entry) = self.entry(key) else { return Ok(default) };
        let number = match &entry.value {
            Value::Integer(value) => Some(*value as f64),
            Value::Float(value) => Some(*value),
            // People write "inf" in quotes as well as without.
            Value::String(text) if text == "inf" => Some(f64::INFINITY),
            _ => None,
        };
        number.filter(|&value| (rule.fits)(value)).ok_or_else(|| self.bad(key, rule.must.into(), None))
    }

    /// A number where one was given.
    pub(super) fn optional(&self, key: &'static str, rule: Rule) -> Result<Option<f64>, ConfigError> {
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
            self.no_such_word(key, &text, &names)
        })
    }

    /// That a word is none of these, with the nearest.
    pub(super) fn no_such_word(&self, key: &'static str, text: &str, names: &[&str]) -> ConfigError {
        let near = topology::nearest(text, names).map(|near| format!("did you mean `{near}`?"));
        self.bad(key, format!("must be one of {}", names.join(", ")), near)
    }

    /// A whole number from 1, or `None` for the word that means all.
    pub(super) fn count_or(&self, key: &'static str, all: &str) -> Result<Option<usize>, ConfigError> {
        match self.entry(key).map(|entry| &entry.value) {
            None => Ok(None),
            Some(Value::String(text)) if text == all => Ok(None),
            Some(value) if whole(value).is_some_and(|count| count > 0) => {
                Ok(whole(value).map(|count| count as usize))
            }
            Some(_) => Err(self.bad(key, format!("must be a whole number from 1, or {all:?}"), None)),
        }
    }

    /// A number for which the rule holds, or `None` for a word.
    pub(super) fn number_or(
        &self,
        key: &'static str,
        word: &str,
        rule: Rule,
    ) -> Result<Option<f64>, ConfigError> {
        match self.entry(key).map(|entry| &entry.value) {
            Some(Value::String(text)) if text == word => Ok(None),
            _ => self.optional(key, rule),
        }
    }

    /// A list of names, one alone, or none for the word that means all.
    pub(super) fn names(&self, key: &'static str, all: &str) -> Result<Vec<String>, ConfigError> {
        let bad = || self.bad(key, format!("must be a list of names, or {all:?}"), None);
        let name = |value: &Value| value.as_str().map(str::to_owned).ok_or_else(bad);
        match self.entry(key).map(|entry| &entry.value) {
            None => Ok(Vec::new()),
            Some(Value::String(text)) if text == all => Ok(Vec::new()),
            Some(Value::Array(list)) if !list.is_empty() => list.iter().map(name).collect(),
            Some(value) => Ok(vec![name(value)?]),
        }
    }

    /// A list of whole numbers from 1 to `most`, or one alone; `what` they are.
    pub(super) fn counts(
        &self,
        key: &'static str,
        default: &[usize],
        what: &str,
        most: usize,
    ) -> Result<Vec<usize>, ConfigError> {
        let Some(entry) = self.entry(key) else { return Ok(default.to_vec()) };
        let bad = || {
            let hint = format!("for example `{key} = [64, 32]`");
            self.bad(key, format!("must be a list of {what} from 1 to {most}"), Some(hint))
        };
        let count = |value: &Value| {
            let count = value.as_integer().and_then(|count| usize::try_from(count).ok());
            count.filter(|count| (1..=most).contains(count)).ok_or_else(bad)
        };
        match &entry.value {
            Value::Array(list) if !list.is_empty() => list.iter().map(count).collect(),
            value => Ok(vec![count(value)?]),
        }
    }

    /// A list of tables with these keys.
    pub(super) fn tables<T: DeserializeOwned>(
        &self,
        key: &'static str,
        known: &[&str],
    ) -> Result<Vec<T>, ConfigError> {
        let Some(entry) = self.entry(key) else { return Ok(Vec::new()) };
        let form = format!("for example `[[{key}]]` with lines for {}", known.join(", "));
        let Value::Array(items) = &entry.value else {
            return Err(self.bad(key, "must be a list of tables".into(), Some(form)));
        };
        let unknown = |item: &Value| {
            let keys = item.as_table().into_iter().flat_map(|table| table.keys());
            keys.map(String::as_str).find(|name| !known.contains(name)).map(str::to_owned)
        };
        if let Some(unknown) = items.iter().find_map(unknown) {
            let near = topology::nearest(&unknown, known);
            return Err(ConfigError::UnknownKey {
                key: format!("{key}.{unknown}"),
                nearest: near.map(|near| format!("{key}.{near}")),
                known: known.join(", "),
                place: Box::new(entry.place.clone()),
            });
        }
        let item = |item: &Value| {
            let read: Result<T, _> = item.clone().try_into();
            read.map_err(|error| self.bad(key, error.message().trim().into(), Some(form.clone())))
        };
        items.iter().map(item).collect()
    }

    /// A parameter of another kind has no effect: giving one is a mistake, so it is said.
    pub(super) fn refuse_parameter(&self, key: &'static str, config: &Config) -> Result<(), ConfigError> {
        if !self.is_given(key) {
            return Ok(());
        }
        let kind = keys::kind_beside(key);
        let word = kind.and_then(|kind| kind.show(config)).and_then(|value| Some(value.as_str()?.to_owned()));
        let (kind, word) = (kind.map_or("", |kind| kind.name), word.unwrap_or_default());
        let own: Vec<String> = keys::parameters(kind, config).map(|name| format!("`{name}`")).collect();
        Err(ConfigError::Conflict {
            first: self.pair(kind, format!("{word:?}")),
            second: self.pair(key, ""),
            why: format!("`{word}` has no such key"),
            hint: if own.is_empty() { "leave it out".into() } else { format!("it has {}", own.join(", ")) },
            place: self.place(key),
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

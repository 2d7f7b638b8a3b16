//! The forms that a value can have: numbers, counts, times, words, texts with a meaning, lists. Each knows how it is read, shown and described.

use std::fmt::Display;
use std::mem::discriminant;
use std::str::FromStr;

use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::Value;

use super::error::ConfigError;
use super::read::{Reader, Rule};
use super::{Config, duration};

/// One form of values of type `T`.
pub(super) trait Form<T>: Sync {
    /// The value that was given, or the default.
    fn read(&self, key: &'static str, reader: &Reader<'_>, config: &Config) -> Result<T, ConfigError>;

    /// The value as TOML; `None` where there is nothing to say.
    fn show(&self, value: &T) -> Option<Value>;

    /// What holds where nothing is given.
    fn otherwise(&self, config: &Config) -> Option<T>;

    /// Which values are allowed, in a few words.
    fn takes(&self) -> String;

    /// Whether it decides which other keys its section has.
    fn is_kind(&self) -> bool {
        false
    }
}

/// A default.
pub(super) enum Otherwise<T> {
    /// Always this.
    Is(T),
    /// It depends on what was read before: `algorithm.kind` is read first, then all keys in the order of the table.
    By(fn(&Config) -> T),
}

impl<T: Copy> Otherwise<T> {
    fn of(&self, config: &Config) -> T {
        match self {
            Self::Is(value) => *value,
            Self::By(value) => value(config),
        }
    }
}

/// A real number.
pub(super) struct Number {
    pub(super) otherwise: f64,
    pub(super) rule: Rule,
}

impl Form<f64> for Number {
    fn read(&self, key: &'static str, reader: &Reader<'_>, _config: &Config) -> Result<f64, ConfigError> {
        reader.number(key, self.otherwise, self.rule)
    }

    fn show(&self, value: &f64) -> Option<Value> {
        Some(Value::Float(*value))
    }

    fn otherwise(&self, _config: &Config) -> Option<f64> {
        Some(self.otherwise)
    }

    fn takes(&self) -> String {
        self.rule.takes()
    }
}

/// A real number, or nothing.
pub(super) struct Optional {
    pub(super) rule: Rule,
}

impl Form<Option<f64>> for Optional {
    fn read(&self, key: &'static str, reader: &Reader<'_>, _: &Config) -> Result<Option<f64>, ConfigError> {
        reader.optional(key, self.rule)
    }

    fn show(&self, value: &Option<f64>) -> Option<Value> {
        value.map(Value::Float)
    }

    fn otherwise(&self, _config: &Config) -> Option<Option<f64>> {
        None
    }

    fn takes(&self) -> String {
        self.rule.takes()
    }
}

/// A whole number, whatever its width inside.
pub(super) struct Count {
    pub(super) otherwise: Otherwise<u64>,
    pub(super) least: u64,
    pub(super) most: u64,
}

impl<T: TryFrom<u64> + TryInto<i64> + Copy> Form<T> for Count {
    fn read(&self, key: &'static str, reader: &Reader<'_>, config: &Config) -> Result<T, ConfigError> {
        let count = reader.count(key, self.otherwise.of(config), self.least..=self.most)?;
        T::try_from(count).map_err(|_| reader.bad(key, "is too large".into(), None))
    }

    fn show(&self, value: &T) -> Option<Value> {
        Some(whole(*value))
    }

    fn otherwise(&self, config: &Config) -> Option<T> {
        T::try_from(self.otherwise.of(config)).ok()
    }

    fn takes(&self) -> String {
        format!("whole number from {}", self.least)
    }
}

/// A whole number from 1, or a word for all there are.
pub(super) struct CountOr {
    pub(super) all: &'static str,
}

impl Form<Option<usize>> for CountOr {
    fn read(&self, key: &'static str, reader: &Reader<'_>, _: &Config) -> Result<Option<usize>, ConfigError> {
        reader.count_or(key, self.all)
    }

    fn show(&self, value: &Option<usize>) -> Option<Value> {
        Some(value.map_or_else(|| word(self.all), whole))
    }

    fn otherwise(&self, _config: &Config) -> Option<Option<usize>> {
        Some(None)
    }

    fn takes(&self) -> String {
        format!("whole number from 1, or {:?}", self.all)
    }
}

/// A real number, or a word for one that is found; the word is the default.
pub(super) struct NumberOr {
    pub(super) word: &'static str,
    pub(super) rule: Rule,
}

impl Form<Option<f64>> for NumberOr {
    fn read(&self, key: &'static str, reader: &Reader<'_>, _: &Config) -> Result<Option<f64>, ConfigError> {
        reader.number_or(key, self.word, self.rule)
    }

    fn show(&self, value: &Option<f64>) -> Option<Value> {
        Some(value.map_or_else(|| word(self.word), Value::Float))
    }

    fn otherwise(&self, _config: &Config) -> Option<Option<f64>> {
        Some(None)
    }

    fn takes(&self) -> String {
        format!("{:?}, or {}", self.word, self.rule.takes())
    }
}

/// A list of names, or a word for all there are; one name alone is a list too.
pub(super) struct Names {
    pub(super) all: &'static str,
}

impl Form<Vec<String>> for Names {
    fn read(&self, key: &'static str, reader: &Reader<'_>, _: &Config) -> Result<Vec<String>, ConfigError> {
        reader.names(key, self.all)
    }

    fn show(&self, value: &Vec<String>) -> Option<Value> {
        Some(if value.is_empty() { word(self.all) } else { Value::Array(value.iter().map(word).collect()) })
    }

    fn otherwise(&self, _config: &Config) -> Option<Vec<String>> {
        Some(Vec::new())
    }

    fn takes(&self) -> String {
        format!("list of names, or {:?}", self.all)
    }
}

/// A list of whole numbers; one alone is a list too.
pub(super) struct Counts {
    pub(super) otherwise: &'static [usize],
    pub(super) most: usize,
    /// What they are, for messages.
    pub(super) what: &'static str,
}

impl Form<Vec<usize>> for Counts {
    fn read(&self, key: &'static str, reader: &Reader<'_>, _: &Config) -> Result<Vec<usize>, ConfigError> {
        reader.counts(key, self.otherwise, self.what, self.most)
    }

    fn show(&self, value: &Vec<usize>) -> Option<Value> {
        Some(Value::Array(value.iter().map(|&count| whole(count)).collect()))
    }

    fn otherwise(&self, _config: &Config) -> Option<Vec<usize>> {
        Some(self.otherwise.to_vec())
    }

    fn takes(&self) -> String {
        format!("list of {}", self.what)
    }
}

/// True or false.
pub(super) struct Flag {
    pub(super) otherwise: bool,
}

impl Form<bool> for Flag {
    fn read(&self, key: &'static str, reader: &Reader<'_>, _config: &Config) -> Result<bool, ConfigError> {
        reader.flag(key, self.otherwise)
    }

    fn show(&self, value: &bool) -> Option<Value> {
        Some(Value::Boolean(*value))
    }

    fn otherwise(&self, _config: &Config) -> Option<bool> {
        Some(self.otherwise)
    }

    fn takes(&self) -> String {
        "true or false".into()
    }
}

/// A time in microseconds.
pub(super) struct Duration {
    pub(super) otherwise: u64,
    pub(super) may_be_zero: bool,
}

impl Form<u64> for Duration {
    fn read(&self, key: &'static str, reader: &Reader<'_>, _config: &Config) -> Result<u64, ConfigError> {
        match reader.duration(key, self.otherwise)? {
            0 if !self.may_be_zero => Err(reader.bad(key, "must be longer than nothing".into(), None)),
            micros => Ok(micros),
        }
    }

    fn show(&self, value: &u64) -> Option<Value> {
        Some(word(duration::text(*value)))
    }

    fn otherwise(&self, _config: &Config) -> Option<u64> {
        Some(self.otherwise)
    }

    fn takes(&self) -> String {
        "time".into()
    }
}

/// One of a few words.
pub(super) struct Word<T: 'static> {
    pub(super) otherwise: Otherwise<T>,
    pub(super) words: &'static [(&'static str, T)],
}

impl<T: Copy + PartialEq + Sync> Form<T> for Word<T> {
    fn read(&self, key: &'static str, reader: &Reader<'_>, config: &Config) -> Result<T, ConfigError> {
        reader.word(key, self.otherwise.of(config), self.words)
    }

    fn show(&self, value: &T) -> Option<Value> {
        self.words.iter().find(|(_, meant)| meant == value).map(|(name, _)| word(name))
    }

    fn otherwise(&self, config: &Config) -> Option<T> {
        Some(self.otherwise.of(config))
    }

    fn takes(&self) -> String {
        joined(self.words.iter().map(|(name, _)| *name))
    }
}

/// A word that decides which other keys its section has; those then fill the parameters of what is made here.
pub(super) struct Kind<T: 'static> {
    pub(super) otherwise: Otherwise<&'static str>,
    pub(super) kinds: &'static [Made<T>],
}

/// A word, and what it makes.
pub(super) type Made<T> = (&'static str, fn() -> T);

impl<T> Kind<T> {
    fn make(&self, name: &str) -> Option<T> {
        self.kinds.iter().find(|(kind, _)| *kind == name).map(|(_, make)| make())
    }
}

impl<T> Form<T> for Kind<T> {
    fn read(&self, key: &'static str, reader: &Reader<'_>, config: &Config) -> Result<T, ConfigError> {
        let name = reader.text(key, self.otherwise.of(config))?;
        let names = || self.kinds.iter().map(|(kind, _)| *kind).collect::<Vec<_>>();
        self.make(&name).ok_or_else(|| reader.no_such_word(key, &name, &names()))
    }

    fn show(&self, value: &T) -> Option<Value> {
        let is_this = |make: fn() -> T| discriminant(&make()) == discriminant(value);
        self.kinds.iter().find(|(_, make)| is_this(*make)).map(|(kind, _)| word(kind))
    }

    fn otherwise(&self, config: &Config) -> Option<T> {
        self.make(self.otherwise.of(config))
    }

    fn takes(&self) -> String {
        joined(self.kinds.iter().map(|(kind, _)| *kind))
    }

    fn is_kind(&self) -> bool {
        true
    }
}

/// A text that means something.
pub(super) struct Parsed<T: FromStr> {
    pub(super) otherwise: &'static str,
    /// What to try where it means nothing.
    pub(super) hint: fn(&T::Err) -> Option<String>,
    pub(super) takes: &'static str,
}

impl<T: FromStr<Err: Display> + Display> Form<T> for Parsed<T> {
    fn read(&self, key: &'static str, reader: &Reader<'_>, _config: &Config) -> Result<T, ConfigError> {
        reader.parsed(key, self.otherwise, self.hint)
    }

    fn show(&self, value: &T) -> Option<Value> {
        Some(word(value))
    }

    fn otherwise(&self, _config: &Config) -> Option<T> {
        self.otherwise.parse().ok()
    }

    fn takes(&self) -> String {
        self.takes.into()
    }
}

/// A list of tables with these keys.
pub(super) struct Tables(pub(super) &'static [&'static str]);

impl<T: Serialize + DeserializeOwned> Form<Vec<T>> for Tables {
    fn read(&self, key: &'static str, reader: &Reader<'_>, _: &Config) -> Result<Vec<T>, ConfigError> {
        reader.tables(key, self.0)
    }

    fn show(&self, value: &Vec<T>) -> Option<Value> {
        let shown = || Value::try_from(value).expect("lists of numbers and words can be written as TOML");
        (!value.is_empty()).then(shown)
    }

    fn otherwise(&self, _config: &Config) -> Option<Vec<T>> {
        None
    }

    fn takes(&self) -> String {
        format!("list of {{{}}}", self.0.join(", "))
    }
}

/// A whole number; what TOML cannot hold is the largest that it can.
pub(super) fn whole(value: impl TryInto<i64>) -> Value {
    Value::Integer(value.try_into().unwrap_or(i64::MAX))
}

pub(super) fn word(value: impl ToString) -> Value {
    Value::String(value.to_string())
}

fn joined(words: impl Iterator<Item = &'static str>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

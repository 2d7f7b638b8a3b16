//! Layers of a configuration: a file, the flags of a command line, a point of a sweep. Later ones cover earlier ones.
//!
//! A layer is flat: every value stands under its dotted key together with the place where it was written, so that a later error can name both.

use std::collections::BTreeMap;

use learn::partition::PartitionSpec;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Value};
use topology::Hint;

use super::error::{ConfigError, Place};
use super::{Config, keys};

/// Pairs of which one replaces the other.
const REPLACE: [[&str; 2]; 1] = [["privacy.epsilon", "privacy.noise_multiplier"]];

/// Values with the places where they were written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Layer {
    pub(super) entries: BTreeMap<&'static str, Entry>,
}

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) value: Value,
    pub(super) place: Place,
}

impl Layer {
    /// The values of a TOML text; `source_name` is how errors call it.
    ///
    /// # Errors
    /// Text that is not TOML, or a key that does not exist.
    pub fn from_toml(text: &str, source_name: &str) -> Result<Self, ConfigError> {
        let place = |at: usize| Place::File { name: source_name.into(), line: line_of(text, at) };
        let table = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
            message: error.message().into(),
            place: Box::new(place(error.span().map_or(0, |span| span.start))),
        })?;
        let mut layer = Self::default();
        layer.add_table("", table.into_inner(), &place)?;
        Ok(layer)
    }

    /// What swarms have where nothing else is said: masks from three members on. `privacy.masking = "none"` is without.
    ///
    /// # Errors
    /// None, while the key exists.
    pub fn with_masks() -> Result<Self, ConfigError> {
        Self::from_flags("the default", &["privacy.masking=auto"])
    }

    /// The values of `key=value` flags. A value is TOML, or a bare word, which is taken as text.
    ///
    /// # Errors
    /// A flag without `=`, or a key that does not exist.
    pub fn from_flags<S: AsRef<str>>(flag: &str, pairs: &[S]) -> Result<Self, ConfigError> {
        let mut layer = Self::default();
        for pair in pairs.iter().map(AsRef::as_ref) {
            let not_a_pair = || ConfigError::NotAPair { text: format!("{flag} {pair}") };
            let (key, text) = pair.split_once('=').ok_or_else(not_a_pair)?;
            layer.set(key.trim(), text, Place::Flag { text: format!("{flag} {pair}") })?;
        }
        Ok(layer)
    }

    /// Puts a value, written as in [`from_flags`](Self::from_flags), under a key.
    ///
    /// # Errors
    /// A key that does not exist.
    pub fn set(&mut self, key: &str, text: &str, place: Place) -> Result<(), ConfigError> {
        match text.trim().parse::<Value>().ok() {
            Some(Value::Table(table)) => table
                .into_iter()
                .try_for_each(|(name, value)| self.add(&format!("{key}.{name}"), value, &place)),
            // A date is text here: names of runs look like dates.
            Some(Value::Datetime(date)) => self.add(key, Value::String(date.to_string()), &place),
            Some(value) => self.add(key, value, &place),
            None => self.add(key, Value::String(text.trim().into()), &place),
        }
    }

    /// Lays `later` over this one.
    #[must_use]
    pub fn under(mut self, later: Self) -> Self {
        let names = |layer: &Self, key: &str| layer.entries.contains_key(key);
        // Where a kind decides which other keys a section has, naming another kind forgets those of the former.
        for kind in keys::keys().filter(|key| key.is_kind() && names(&later, key.name)) {
            let section = |key: &str| key.split_once('.').map(|(section, _)| section.to_owned());
            self.entries.retain(|key, _| section(key) != section(kind.name));
        }
        for [one, other] in REPLACE {
            if names(&later, one) || names(&later, other) {
                self.entries.retain(|key, _| *key != one && *key != other);
            }
        }
        self.entries.extend(later.entries);
        self
    }

    fn add_table(
        &mut self,
        prefix: &str,
        table: DeTable<'_>,
        place: &dyn Fn(usize) -> Place,
    ) -> Result<(), ConfigError> {
        for (name, value) in table {
            let at = place(name.span().start);
            let key = if prefix.is_empty() {
                name.get_ref().to_string()
            } else {
                format!("{prefix}.{}", name.get_ref())
            };
            match value.get_ref() {
                DeValue::Table(_) => {
                    if let DeValue::Table(inner) = value.into_inner() {
                        self.add_table(&key, inner, place)?;
                    }
                }
                _ => self.add(&key, plain(value, &at)?, &at)?,
            }
        }
        Ok(())
    }

    fn add(&mut self, key: &str, value: Value, place: &Place) -> Result<(), ConfigError> {
        if let Some(known) = keys::known(key) {
            self.entries.insert(known, Entry { value, place: place.clone() });
            return Ok(());
        }
        match (key, &value) {
            ("partition", Value::String(text)) => self.add_partition(text, place),
            (_, Value::String(_)) if keys::known(&format!("{key}.kind")).is_some() => {
                self.add(&format!("{key}.kind"), value, place)
            }
            _ if keys::is_section(key) => Err(ConfigError::BadValue {
                key: key.into(),
                value: value.to_string(),
                why: "this is a section with keys of its own".into(),
                hint: Some(format!("its keys are {}", known_beside(&format!("{key}.")))),
                place: Box::new(place.clone()),
            }),
            _ => Err(ConfigError::UnknownKey {
                key: key.into(),
                nearest: keys::nearest(key).map(str::to_owned),
                known: known_beside(key),
                place: Box::new(place.clone()),
            }),
        }
    }

    /// `partition = "dirichlet:alpha=0.5"`: the short form.
    fn add_partition(&mut self, text: &str, place: &Place) -> Result<(), ConfigError> {
        let spec: PartitionSpec =
            text.parse().map_err(|error: learn::partition::PartitionError| ConfigError::BadValue {
                key: "partition".into(),
                value: format!("{text:?}"),
                why: error.to_string(),
                hint: error.hint(),
                place: Box::new(place.clone()),
            })?;
        let config = Config { partition: spec, ..Config::blank() };
        for key in keys::keys().filter(|key| key.section() == Some("partition")) {
            let entry = key.show(&config).map(|value| Entry { value, place: place.clone() });
            self.entries.extend(entry.map(|entry| (key.name, entry)));
        }
        Ok(())
    }
}

/// A value without its places, which the key's place stands for.
fn plain(value: Spanned<DeValue<'_>>, place: &Place) -> Result<Value, ConfigError> {
    use serde::Deserialize;
    let text = |value: Value| match value {
        Value::Datetime(date) => Value::String(date.to_string()),
        other => other,
    };
    Value::deserialize(toml::de::ValueDeserializer::from(value)).map(text).map_err(|error| {
        ConfigError::Syntax { message: error.message().into(), place: Box::new(place.clone()) }
    })
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|&byte| byte == b'\n').count()
}

/// The keys of the same section, or all sections.
fn known_beside(key: &str) -> String {
    let section = key.split_once('.').map(|(section, _)| section).filter(|section| keys::is_section(section));
    let names: Vec<&str> = match section {
        Some(section) => {
            keys::keys().filter(|key| key.section() == Some(section)).map(|key| key.name).collect()
        }
        None => {
            let mut firsts: Vec<&str> = keys::keys().map(|key| key.section().unwrap_or(key.name)).collect();
            firsts.dedup();
            firsts
        }
    };
    names.join(", ")
}

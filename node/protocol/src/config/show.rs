//! From a configuration back to its keys: for `--dump-config`, run folders, the digest and comparisons.

use serde::Serialize;
use toml::Value;

use super::Config;
use super::keys::{Key, Whose, keys};

/// A key and its value.
pub(super) type Shown = (&'static str, Value);

/// All keys with a value, in the order of the table.
pub(super) fn entries(config: &Config) -> Vec<Shown> {
    keys().filter_map(|key| Some((key.name, key.show(config)?))).collect()
}

/// What all participants must share.
pub(super) fn shared(config: &Config) -> Vec<Shown> {
    all_share(config).filter_map(|key| Some((key.name, key.show(config)?))).collect()
}

/// Keys that all share; those that came later than the first runs only where they are not at their defaults.
fn all_share(config: &Config) -> impl Iterator<Item = &'static Key> {
    keys().filter(|key| key.whose == Whose::All && !(key.later && key.is_default(config)))
}

/// The same under the names that the keys had first, for the digest.
pub(super) fn digested(config: &Config) -> Vec<Shown> {
    all_share(config).filter_map(|key| Some((key.first_name(), key.show(config)?))).collect()
}

/// TOML text: plain keys first, then one section after another.
pub(super) fn text(entries: &[Shown]) -> String {
    let mut text = String::new();
    let mut current = "";
    for (key, value) in entries {
        let (section, name) = key.split_once('.').unwrap_or(("", key));
        if section != current {
            text.push_str(&format!("\n[{section}]\n"));
            current = section;
        }
        text.push_str(&format!("{name} = {value}\n"));
    }
    text
}

/// As the TOML of [`Config::to_toml`], in any format: sections are tables.
impl Serialize for Config {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = toml::Table::new();
        for (key, value) in entries(self) {
            match key.split_once('.') {
                None => drop(table.insert(key.into(), value)),
                Some((section, name)) => {
                    let inner = table.entry(section).or_insert_with(|| Value::Table(toml::Table::new()));
                    if let Value::Table(inner) = inner {
                        inner.insert(name.into(), value);
                    }
                }
            }
        }
        table.serialize(serializer)
    }
}

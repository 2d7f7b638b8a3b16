//! Keys of a configuration: what a row of the table says, and finding one by a name that people write.

use toml::Value;

use super::Config;
use super::error::ConfigError;
use super::field::Field;
use super::read::Reader;
use super::table::SECTIONS;

/// One key.
#[derive(Clone, Copy)]
pub struct Key {
    /// Its dotted name.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// Where its default comes from, where there is something to say.
    pub source: &'static str,
    /// Who decides.
    pub whose: Whose,
    /// Whether it came later than the first runs: at its default it is left out of the digest, so that those runs stay what they were.
    pub(super) later: bool,
    /// Other names by which people may know it.
    also: &'static [&'static str],
    /// Its name before it had this one: taken as well, and kept in digests, so that runs stay what they were.
    older: Option<&'static str>,
    field: &'static dyn Field,
}

/// Who decides about a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// All participants have the same value; it is part of the digest.
    All,
    /// Each participant has its own.
    Own,
    /// Only a simulation has it.
    Simulation,
}

/// A row of the table.
pub(super) const fn key(name: &'static str, meaning: &'static str, field: &'static dyn Field) -> Key {
    Key { name, meaning, source: "", whose: Whose::All, later: false, also: &[], older: None, field }
}

impl Key {
    /// Other names under which people look for it: they are suggested, not taken.
    pub(super) const fn also(self, also: &'static [&'static str]) -> Self {
        Self { also, ..self }
    }

    /// The name that it had before.
    pub(super) const fn formerly(self, older: &'static str) -> Self {
        Self { older: Some(older), ..self }
    }

    /// The name by which digests know it.
    pub(super) fn first_name(&self) -> &'static str {
        self.older.unwrap_or(self.name)
    }

    /// Where the default comes from.
    pub(super) const fn because(self, source: &'static str) -> Self {
        Self { source, ..self }
    }

    /// It came later than others.
    pub(super) const fn later(self) -> Self {
        Self { later: true, ..self }
    }

    /// Each participant has its own value.
    pub(super) const fn own(self) -> Self {
        Self { whose: Whose::Own, ..self }
    }

    /// Only simulations have it.
    pub(super) const fn simulated(self) -> Self {
        Self { whose: Whose::Simulation, ..self }
    }

    /// Puts what was given, or else the default, into its place.
    pub(super) fn read(&self, reader: &Reader<'_>, config: &mut Config) -> Result<(), ConfigError> {
        self.field.read(self.name, reader, config)
    }

    /// The value in a configuration, as TOML; `None` where the key says nothing there.
    pub fn show(&self, config: &Config) -> Option<Value> {
        self.field.show(config)
    }

    /// Whether it says in this configuration what it would say if nobody had written it.
    pub(super) fn is_default(&self, config: &Config) -> bool {
        self.field.show(config) == self.field.default(config)
    }

    /// The default in the built-in story, as TOML; `None` where nothing is the default.
    pub fn default(&self) -> Option<Value> {
        self.field.default(&Config::default())
    }

    /// Which values are allowed, in a few words.
    pub fn takes(&self) -> String {
        self.field.takes()
    }

    /// Whether it decides which other keys its section has.
    pub(super) fn is_kind(&self) -> bool {
        self.field.is_kind()
    }

    /// The part of the name before the dot.
    pub(super) fn section(&self) -> Option<&'static str> {
        self.name.split_once('.').map(|(section, _)| section)
    }
}

/// All keys, in the order in which they are printed.
pub fn keys() -> impl Iterator<Item = &'static Key> + Clone {
    SECTIONS.iter().copied().flatten()
}

/// The key that decides whether this one applies.
pub(super) fn kind_beside(name: &str) -> Option<&'static Key> {
    let section = name.split_once('.').map(|(section, _)| section);
    keys().find(|key| key.is_kind() && key.section() == section)
}

/// The other keys that the section of `kind` has in this configuration.
pub(super) fn parameters(kind: &str, config: &Config) -> impl Iterator<Item = &'static str> {
    let section = kind.split_once('.').map(|(section, _)| section);
    let beside = keys().filter(move |key| key.section() == section && !key.is_kind());
    beside.filter(|key| key.field.applies(config)).map(|key| key.name)
}

/// The table's own copy of a name.
pub(super) fn known(name: &str) -> Option<&'static str> {
    keys().find(|key| key.name == name || key.older == Some(name)).map(|key| key.name)
}

/// Whether keys begin with this word and a dot.
pub(super) fn is_section(name: &str) -> bool {
    keys().any(|key| key.section() == Some(name))
}

/// The key that was probably meant: a synonym, a key of another section, or the nearest by spelling.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    let lower = name.to_lowercase().replace('-', "_").replace("probability", "prob");
    let names = keys().map(|key| key.name);
    let last = |name: &'static str| name.rsplit('.').next().unwrap_or(name);
    let own = lower.rsplit('.').next().unwrap_or(&lower).to_owned();
    keys()
        .find(|key| key.also.contains(&lower.as_str()))
        .map(|key| key.name)
        .or_else(|| names.clone().find(|known| *known == lower))
        .or_else(|| {
            // `kind` ends several keys, and then the section decides.
            let mut same = names.clone().filter(|known| last(known) == own);
            same.next().filter(|_| same.next().is_none())
        })
        .or_else(|| names.clone().find(|known| lower.len() >= 3 && known.starts_with(&lower)))
        .or_else(|| topology::nearest(&lower, &names.clone().collect::<Vec<_>>()))
        .or_else(|| {
            let lasts: Vec<&str> = names.clone().map(last).collect();
            let near = topology::nearest(&own, &lasts)?;
            names.clone().find(|known| last(known) == near)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_synonyms_and_forgotten_sections_find_their_key() {
        for (written, meant) in [
            ("nodse", "nodes"),
            ("privacy.epsilom", "privacy.epsilon"),
            ("epsilon", "privacy.epsilon"),
            ("privacy.alpha", "partition.alpha"),
            ("lr", "learning_rate"),
            ("learning-rate", "learning_rate"),
            ("optimizer.kind", "optimiser.kind"),
            ("faults.drop", "faults.drop_prob"),
            ("drop_probability", "faults.drop_prob"),
        ] {
            assert_eq!(nearest(written), Some(meant), "{written}");
        }
        assert_eq!(nearest("banana"), None);
    }
}

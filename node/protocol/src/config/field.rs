//! What joins a key to its place in a [`Config`]: a row of the table says where the value is and which form it has, and both reading and showing follow.

use toml::Value;

use super::Config;
use super::error::ConfigError;
use super::form::Form;
use super::read::Reader;

/// A key's value in a configuration.
pub(super) trait Field: Sync {
    /// Puts what was given, or else the default, into its place.
    fn read(&self, key: &'static str, reader: &Reader<'_>, config: &mut Config) -> Result<(), ConfigError>;

    /// The value in its place; `None` where the key says nothing.
    fn show(&self, config: &Config) -> Option<Value>;

    /// Whether this configuration has a place for it: parameters of another kind have none.
    fn applies(&self, config: &Config) -> bool;

    /// What holds where nothing is given and the key applies.
    fn default(&self, config: &Config) -> Option<Value>;

    /// Which values are allowed, in a few words.
    fn takes(&self) -> String;

    /// Whether it decides which other keys its section has.
    fn is_kind(&self) -> bool;
}

/// A place in a configuration; `None` where a configuration has none.
pub(super) struct Place<T> {
    pub(super) get: fn(&Config) -> Option<&T>,
    pub(super) set: fn(&mut Config) -> Option<&mut T>,
}

/// The place of a field, `at!(privacy.delta)`, or of a parameter of a kind, `at!(model, ModelSpec::Ridge { penalty } => penalty)`.
macro_rules! at {
    ($($field:ident).+) => {
        $crate::config::field::Place {
            get: |config| Some(&config.$($field).+),
            set: |config| Some(&mut config.$($field).+),
        }
    };
    ($($field:ident).+, $parameter:pat => $value:ident) => {
        $crate::config::field::Place {
            get: |config| match &config.$($field).+ {
                $parameter => Some($value),
                _ => None,
            },
            set: |config| match &mut config.$($field).+ {
                $parameter => Some($value),
                _ => None,
            },
        }
    };
}
pub(super) use at;

/// A value of this form in this place.
pub(super) struct In<T: 'static, F>(pub(super) Place<T>, pub(super) F);

impl<T, F: Form<T>> Field for In<T, F> {
    fn read(&self, key: &'static str, reader: &Reader<'_>, config: &mut Config) -> Result<(), ConfigError> {
        if !self.applies(config) {
            return reader.refuse_parameter(key, config);
        }
        let value = self.1.read(key, reader, config)?;
        if let Some(place) = (self.0.set)(config) {
            *place = value;
        }
        Ok(())
    }

    fn show(&self, config: &Config) -> Option<Value> {
        (self.0.get)(config).and_then(|value| self.1.show(value))
    }

    fn applies(&self, config: &Config) -> bool {
        (self.0.get)(config).is_some()
    }

    fn default(&self, config: &Config) -> Option<Value> {
        self.1.show(&self.1.otherwise(config)?)
    }

    fn takes(&self) -> String {
        self.1.takes()
    }

    fn is_kind(&self) -> bool {
        self.1.is_kind()
    }
}

/// A value with its own way to be read and shown, for what depends on other keys.
pub(super) struct Special {
    pub(super) read: fn(&'static str, &Reader<'_>, &mut Config) -> Result<(), ConfigError>,
    pub(super) show: fn(&Config) -> Option<Value>,
    pub(super) takes: &'static str,
}

impl Field for Special {
    fn read(&self, key: &'static str, reader: &Reader<'_>, config: &mut Config) -> Result<(), ConfigError> {
        (self.read)(key, reader, config)
    }

    fn show(&self, config: &Config) -> Option<Value> {
        (self.show)(config)
    }

    fn applies(&self, _config: &Config) -> bool {
        true
    }

    fn default(&self, config: &Config) -> Option<Value> {
        (self.show)(config)
    }

    fn takes(&self) -> String {
        self.takes.into()
    }

    fn is_kind(&self) -> bool {
        false
    }
}

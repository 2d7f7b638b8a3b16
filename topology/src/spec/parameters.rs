//! The text of a spec taken apart: size and keys, each read once, the rest refused.

use super::catalogue::Entry;
use super::error::SpecError;
use crate::suggest::nearest;

/// Size and keys of one spec.
pub(super) struct Parameters<'a> {
    entry: &'static Entry,
    size: &'a str,
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Parameters<'a> {
    /// Takes `size[,key=value…]` apart. Unknown and repeated keys are refused here.
    pub(super) fn new(entry: &'static Entry, text: &'a str) -> Result<Self, SpecError> {
        let family = entry.name;
        let mut parts = text.split(',').map(str::trim);
        let size = parts.next().unwrap_or_default();
        if size.is_empty() || size.contains('=') {
            return Err(SpecError::MissingSize { family });
        }
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for part in parts {
            let Some((key, value)) = part.split_once('=').map(|(k, v)| (k.trim(), v.trim())) else {
                return Err(SpecError::NotAPair { family, part: part.to_owned() });
            };
            if !entry.all_keys().any(|known| known.name == key) {
                let nearest = nearest(key, &entry.all_keys().map(|known| known.name).collect::<Vec<_>>());
                return Err(SpecError::UnknownKey { family, key: key.to_owned(), nearest });
            }
            if pairs.iter().any(|(other, _)| *other == key) {
                return Err(SpecError::ConflictingKeys { family, why: format!("`{key}` is given twice") });
            }
            pairs.push((key, value));
        }
        Ok(Self { entry, size, pairs })
    }

    pub(super) fn family(&self) -> &'static str {
        self.entry.name
    }

    pub(super) fn size_text(&self) -> &'a str {
        self.size
    }

    pub(super) fn pairs(&self) -> &[(&'a str, &'a str)] {
        &self.pairs
    }

    /// The size as one number.
    pub(super) fn nodes(&self) -> Result<usize, SpecError> {
        if self.rows_and_columns().is_ok() {
            return Err(self.bad_size("the size is one number of nodes"));
        }
        whole(self.size).ok_or_else(|| self.bad_size("the size is a whole number of nodes"))
    }

    /// The size as rows × columns.
    pub(super) fn rows_and_columns(&self) -> Result<(usize, usize), SpecError> {
        let sides = self.size.split_once(['x', '×']).and_then(|(r, c)| Some((whole(r)?, whole(c)?)));
        sides.ok_or_else(|| self.bad_size("the size is rows x columns"))
    }

    pub(super) fn bad_size(&self, why: impl Into<String>) -> SpecError {
        SpecError::BadSize { family: self.family(), size: self.size.to_owned(), why: why.into() }
    }

    pub(super) fn bad_value(&self, key: &'static str, why: impl Into<String>) -> SpecError {
        let value = self.text(key).unwrap_or_default().to_owned();
        SpecError::BadValue { family: self.family(), key, value, why: why.into() }
    }

    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.pairs.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }

    /// A whole number, if the key is there.
    pub(super) fn optional_count(&self, key: &'static str) -> Result<Option<usize>, SpecError> {
        let read = |text| whole(text).ok_or_else(|| self.bad_value(key, "a whole number is needed"));
        self.text(key).map(read).transpose()
    }

    /// A whole number.
    pub(super) fn count(&self, key: &'static str) -> Result<usize, SpecError> {
        self.optional_count(key)?.ok_or(SpecError::MissingKey { family: self.family(), key })
    }

    /// A finite number, if the key is there.
    pub(super) fn optional_number(&self, key: &'static str) -> Result<Option<f64>, SpecError> {
        let read = |text: &str| {
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            number.ok_or_else(|| self.bad_value(key, "a number is needed"))
        };
        self.text(key).map(read).transpose()
    }

    /// A probability, if the key is there.
    pub(super) fn optional_probability(&self, key: &'static str) -> Result<Option<f64>, SpecError> {
        let number = self.optional_number(key)?;
        match number {
            Some(p) if !(0.0..=1.0).contains(&p) => Err(self.bad_value(key, "a probability lies in [0, 1]")),
            _ => Ok(number),
        }
    }

    /// A probability.
    pub(super) fn probability(&self, key: &'static str) -> Result<f64, SpecError> {
        self.optional_probability(key)?.ok_or(SpecError::MissingKey { family: self.family(), key })
    }

    pub(super) fn seed(&self) -> Result<u64, SpecError> {
        let read = |text: &str| text.parse().map_err(|_| self.bad_value("seed", "a whole number below 2^64"));
        self.text("seed").map_or(Ok(0), read)
    }

    pub(super) fn must_connect(&self) -> Result<bool, SpecError> {
        match self.text("connected") {
            None | Some("true") => Ok(true),
            Some("false") => Ok(false),
            Some(_) => Err(self.bad_value("connected", "`true` or `false` is needed")),
        }
    }
}

/// A whole number, `1_000_000` allowed; one beyond the machine's range becomes the largest, to be refused as too
/// large later.
fn whole(text: &str) -> Option<usize> {
    let digits: String = text.chars().filter(|&c| c != '_').collect();
    let is_number =
        text.starts_with(|c: char| c.is_ascii_digit()) && digits.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(usize::MAX))
}

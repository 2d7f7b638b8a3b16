//! The `key=value` pairs behind a source: each may be taken once, and none may be left over.

use std::collections::BTreeMap;
use std::str::FromStr;

use super::super::error::{listed, nearest};
use super::super::scaling::Bounds;

/// Pairs that have not been understood yet. Errors are sentences without the source, which the caller adds.
#[derive(Debug)]
pub(super) struct Keys {
    pairs: BTreeMap<String, String>,
    asked: Vec<String>,
}

impl Keys {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut pairs = BTreeMap::new();
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').ok_or_else(|| format!("`{pair}` is not key=value"))?;
            if pairs.insert(key.trim().to_string(), value.trim().to_string()).is_some() {
                return Err(format!("`{key}` is given twice"));
            }
        }
        Ok(Self { pairs, asked: Vec::new() })
    }

    /// The value of `key` as text.
    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        self.asked.push(key.to_string());
        self.pairs.remove(key)
    }

    /// The value of `key` as a number.
    pub(super) fn number<T: FromStr>(&mut self, key: &str) -> Result<Option<T>, String> {
        self.text(key).map(|text| parse_number(key, &text)).transpose()
    }

    /// Puts the value of `key`, where there is one, in place of a default.
    pub(super) fn set<T: FromStr>(&mut self, key: &str, slot: &mut T) -> Result<(), String> {
        if let Some(value) = self.number(key)? {
            *slot = value;
        }
        Ok(())
    }

    /// The members of a list, none where the key is absent.
    pub(super) fn list(&mut self, key: &str) -> Vec<String> {
        self.text(key).map(|text| split_list(&text)).unwrap_or_default()
    }

    /// Refuses what nobody asked for.
    pub(super) fn finish(self) -> Result<(), String> {
        let Some(unknown) = self.pairs.keys().next() else { return Ok(()) };
        let near =
            nearest(unknown, &self.asked).map_or(String::new(), |name| format!("did you mean `{name}`? "));
        Err(format!("there is no key `{unknown}`; {near}keys here are {}", listed(&self.asked)))
    }
}

pub(super) fn split_list(text: &str) -> Vec<String> {
    text.split('+').map(str::trim).filter(|word| !word.is_empty()).map(str::to_string).collect()
}

pub(super) fn parse_number<T: FromStr>(key: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{key}={text}` is not a number that fits"))
}

/// `LOW..HIGH`.
pub(super) fn parse_bounds(key: &str, text: &str) -> Result<Bounds, String> {
    let (low, high) =
        text.split_once("..").ok_or_else(|| format!("`{key}={text}` is not of the form LOW..HIGH"))?;
    let bounds = Bounds { low: parse_number(key, low)?, high: parse_number(key, high)? };
    bounds.check().map_err(|error| error.to_string())?;
    Ok(bounds)
}

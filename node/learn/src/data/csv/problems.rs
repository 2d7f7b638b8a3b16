//! All that is wrong with a file, in one list: whoever corrects a file wants to know everything at once.

use std::collections::BTreeMap;
use topology::Hint;

use super::super::error::{DataError, Place};

/// Rows of one kind of problem that are named.
const ROWS: usize = 5;
/// Kinds of problems that are listed.
const KINDS: usize = 40;

/// What was found so far: the first of each kind in each column, and where the others are.
#[derive(Debug, Default)]
pub(super) struct Problems {
    kinds: BTreeMap<(usize, String), Kind>,
    total: u64,
}

#[derive(Debug)]
struct Kind {
    first: DataError,
    others: Vec<u64>,
    count: u64,
}

impl Problems {
    /// Takes an error about a cell or a row; anything else ends the reading.
    pub(super) fn add(&mut self, error: DataError) -> Result<(), DataError> {
        let Some((row, key)) = place(&error) else { return Err(error) };
        self.total += 1;
        let order = self.kinds.len();
        match self.kinds.iter_mut().find(|((_, known), _)| *known == key) {
            Some((_, kind)) => {
                kind.count += 1;
                if kind.others.len() + 1 < ROWS {
                    kind.others.push(row);
                }
            }
            None if order < KINDS => {
                self.kinds.insert((order, key), Kind { first: error, others: Vec::new(), count: 1 });
            }
            None => {}
        }
        Ok(())
    }

    /// Whether nothing was found.
    pub(super) fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Nothing, the one problem, or the list.
    pub(super) fn finish(self, file: &str) -> Result<(), DataError> {
        let mut kinds: Vec<Kind> = self.kinds.into_values().collect();
        match kinds.len() {
            0 => Ok(()),
            1 if kinds[0].count == 1 => Err(kinds.remove(0).first),
            _ => Err(DataError::Several {
                file: file.to_owned(),
                problems: kinds.iter().map(Kind::line).collect(),
                total: self.total,
                hints: hints(&kinds),
            }),
        }
    }
}

impl Kind {
    fn line(&self) -> String {
        let rows: Vec<String> = self.others.iter().map(u64::to_string).collect();
        let rest = self.count - 1 - rows.len() as u64;
        let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        match rows.as_slice() {
            [] => self.first.to_string(),
            [row] if rest == 0 => format!("{}; also in row {row}", self.first),
            rows => format!("{}; also in rows {}{more}", self.first, rows.join(", ")),
        }
    }
}

/// Each advice once, the first three.
fn hints(kinds: &[Kind]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for hint in kinds.iter().filter_map(|kind| kind.first.hint()) {
        if found.len() < 3 && !found.contains(&hint) {
            found.push(hint);
        }
    }
    found
}

/// Row and kind of an error about a cell or a row.
fn place(error: &DataError) -> Option<(u64, String)> {
    let at = |kind: &str, place: &Place| Some((place.row, format!("{kind} {}", place.column)));
    match error {
        DataError::NotANumber { place, .. } => at("number", place),
        DataError::NotADate { place, .. } => at("date", place),
        DataError::NotFinite { place, .. } => at("finite", place),
        DataError::Missing { place, .. } => at("missing", place),
        // Each unknown word is of interest.
        DataError::UnknownCategory { place, text, .. } => at(&format!("category {text:?}"), place),
        DataError::LabelOutside { place, label, .. } => at(&format!("label {label:?}"), place),
        DataError::TwoSigns { place, .. } => Some((place.row, "signs".into())),
        DataError::UnequalRows { row, .. } => Some((*row, "fields".into())),
        _ => None,
    }
}

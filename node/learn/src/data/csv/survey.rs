//! The first pass over a CSV file: how many records, which categories, classes and ids.

use std::collections::{BTreeMap, BTreeSet};

use super::super::dataset::MAX_RECORDS;
use super::super::error::{Cell, DataError};
use super::super::input::Input;
use super::super::targets::{MAX_DISCOVERED_CLASSES, WholeNumbers};
use super::columns::{Columns, Role};
use super::options::{CsvOptions, TargetKind};
use super::problems::Problems;
use super::{CsvReader, DecimalSign, csv_error, is_missing, number, text};

/// Most different values of a categorical column: each becomes a feature.
const MAX_CATEGORIES: usize = 10_000;

/// What the first pass found.
#[derive(Debug)]
pub(super) struct Survey {
    pub(super) records: usize,
    /// Categories of each categorical column, in the order of their features.
    pub(super) categories: Vec<Categories>,
    pub(super) target: Option<ResolvedTarget>,
    /// Every id in the order of its first record.
    pub(super) group_names: Vec<String>,
}

/// The categories of one column.
#[derive(Debug)]
pub(super) struct Categories {
    pub(super) names: Vec<String>,
    pub(super) index: BTreeMap<String, usize>,
}

/// What the label column turned out to hold.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ResolvedTarget {
    Numbered(usize),
    /// Whole numbers, however they are written: `1`, `+1` and `1.0` are one class.
    Whole(WholeNumbers),
    Named(Vec<String>),
    Above(f32),
    Real,
}

impl Survey {
    pub(super) fn take(
        input: &Input,
        mut reader: CsvReader,
        columns: &Columns,
        (options, problems): (&CsvOptions, &mut Problems),
    ) -> Result<Self, DataError> {
        let mut tally = Tally::new(columns, options);
        let mut record = csv::ByteRecord::new();
        let mut records = 0usize;
        while reader.read_byte_record(&mut record).map_err(|error| csv_error(input, error))? {
            records += 1;
            let added = match record.len() == columns.names.len() {
                true => tally.add(columns, records as u64, &record),
                false => Err(unequal(columns, records as u64, &record)),
            };
            added.or_else(|error| problems.add(error))?;
        }
        if records == 0 {
            return Err(DataError::Empty { file: columns.file.clone() });
        }
        if records > MAX_RECORDS {
            let (count, limit) = (records as u64, MAX_RECORDS as u64);
            return Err(DataError::TooLarge { file: columns.file.clone(), what: "records", count, limit });
        }
        tally.finish(columns, options, records)
    }

    /// Features per record.
    pub(super) fn width(&self, columns: &Columns) -> usize {
        let words = |role: &Role| matches!(role, Role::Word { .. });
        let numbers = columns.features.iter().filter(|(_, role)| !words(role)).count();
        numbers + self.categories.iter().map(|categories| categories.names.len()).sum::<usize>()
    }

    /// A name per feature: the column, or `column=category`.
    pub(super) fn feature_names(&self, columns: &Columns) -> Vec<String> {
        let mut names = Vec::new();
        for (at, role) in &columns.features {
            let column = &columns.names[*at];
            match role {
                Role::Number { .. } | Role::Day { .. } => names.push(column.clone()),
                Role::Word { at, .. } => {
                    names.extend(self.categories[*at].names.iter().map(|name| format!("{column}={name}")));
                }
            }
        }
        names
    }

    /// Names of the classes, where they have names.
    pub(super) fn class_names(&self) -> Option<Vec<String>> {
        match &self.target {
            Some(ResolvedTarget::Whole(values)) => Some(values.names()),
            Some(ResolvedTarget::Named(names)) => Some(names.clone()),
            Some(ResolvedTarget::Above(threshold)) => {
                Some(vec![format!("at most {threshold}"), format!("above {threshold}")])
            }
            _ => None,
        }
    }
}

impl Categories {
    fn new(names: Vec<String>) -> Self {
        let index = names.iter().enumerate().map(|(at, name)| (name.clone(), at)).collect();
        Self { names, index }
    }
}

/// Values seen so far.
struct Tally {
    /// For each categorical column what was found, or `None` where it was declared.
    words: Vec<Option<BTreeSet<String>>>,
    /// Label values, as long as they could be classes.
    labels: Option<LabelValues>,
    groups: BTreeSet<Vec<u8>>,
    group_names: Vec<String>,
}

#[derive(Default)]
struct LabelValues {
    seen: BTreeSet<String>,
    whole: WholeNumbers,
    all_whole: bool,
    all_numbers: bool,
}

impl Tally {
    fn new(columns: &Columns, options: &CsvOptions) -> Self {
        let undeclared = |categories: &Option<Vec<String>>| categories.is_none().then(BTreeSet::new);
        let discover = columns.label.is_some() && options.target == TargetKind::Discover;
        Self {
            words: columns.words.iter().map(|(_, words)| undeclared(&words.categories)).collect(),
            labels: discover.then(|| LabelValues {
                all_whole: true,
                all_numbers: true,
                ..Default::default()
            }),
            groups: BTreeSet::new(),
            group_names: Vec::new(),
        }
    }

    fn add(&mut self, columns: &Columns, row: u64, record: &csv::ByteRecord) -> Result<(), DataError> {
        for ((at, _), found) in columns.words.iter().zip(&mut self.words) {
            let cell = record[*at].trim_ascii();
            if let Some(found) = found
                && !is_missing(cell)
            {
                insert_word(found, cell);
                if found.len() > MAX_CATEGORIES {
                    return Err(too_many(columns, *at));
                }
            }
        }
        if let Some(at) = columns.id {
            let cell = record[at].trim_ascii();
            if is_missing(cell) {
                return Err(DataError::Missing { place: columns.place(row, at), cell: Cell::Id });
            }
            if !self.groups.contains(cell) {
                self.groups.insert(cell.to_vec());
                self.group_names.push(text(cell).into_owned());
            }
        }
        if let (Some(labels), Some(at)) = (&mut self.labels, columns.label) {
            labels.add(record[at].trim_ascii(), columns.decimal);
            if !labels.all_numbers && labels.seen.len() > MAX_CATEGORIES {
                return Err(too_many(columns, at));
            }
        }
        Ok(())
    }

    fn finish(self, columns: &Columns, options: &CsvOptions, records: usize) -> Result<Survey, DataError> {
        let categories = columns.words.iter().zip(self.words).map(|((at, words), found)| {
            let names = match (&words.categories, found) {
                (Some(declared), _) => declared.clone(),
                (None, found) => found.unwrap_or_default().into_iter().collect(),
            };
            let made = Categories::new(names);
            if made.index.len() < made.names.len() {
                return Err(DataError::ColumnConflict {
                    file: columns.file.clone(),
                    column: columns.names[*at].clone(),
                    why: "declares a category twice",
                });
            }
            Ok(made)
        });
        let categories = categories.collect::<Result<Vec<_>, _>>()?;
        let target = columns.label.map(|_| resolve_target(&options.target, self.labels));
        if let (Some(ResolvedTarget::Named(names)), Some(at)) = (&target, columns.label)
            && names.iter().collect::<BTreeSet<_>>().len() < names.len()
        {
            let (file, column) = (columns.file.clone(), columns.names[at].clone());
            return Err(DataError::ColumnConflict {
                file,
                column,
                why: "has a class that is declared twice",
            });
        }
        Ok(Survey { records, categories, target, group_names: self.group_names })
    }
}

impl LabelValues {
    fn add(&mut self, cell: &[u8], decimal: DecimalSign) {
        // Once there are many numbers it is a real target unless a word follows, and no more values need to be kept.
        let number = || number(cell, decimal);
        let is_real = self.all_numbers && (self.whole.count() > MAX_DISCOVERED_CLASSES || !self.all_whole);
        if is_missing(cell) || (is_real && number().is_some()) {
            return;
        }
        if insert_word(&mut self.seen, cell) {
            let number = number();
            self.all_numbers &= number.is_some();
            self.all_whole &= number.is_some_and(|value| self.whole.insert(value));
        }
    }
}

fn resolve_target(declared: &TargetKind, found: Option<LabelValues>) -> ResolvedTarget {
    match declared {
        TargetKind::Classes(count) => ResolvedTarget::Numbered(*count),
        TargetKind::ClassNames(names) => ResolvedTarget::Named(names.clone()),
        TargetKind::Above(threshold) => ResolvedTarget::Above(*threshold),
        TargetKind::Real => ResolvedTarget::Real,
        TargetKind::Discover => {
            let found = found.unwrap_or_default();
            let few = found.whole.count() <= MAX_DISCOVERED_CLASSES;
            match (found.all_numbers, found.all_whole && few) {
                (true, true) => ResolvedTarget::Whole(found.whole),
                (true, false) => ResolvedTarget::Real,
                (false, _) => ResolvedTarget::Named(found.seen.into_iter().collect()),
            }
        }
    }
}

fn unequal(columns: &Columns, row: u64, record: &csv::ByteRecord) -> DataError {
    DataError::UnequalRows {
        file: columns.file.clone(),
        row,
        line: record.position().map_or(0, csv::Position::line),
        expected: columns.names.len() as u64,
        found: record.len() as u64,
    }
}

/// Adds a word without allocating where it is known; says whether it was new.
fn insert_word(words: &mut BTreeSet<String>, cell: &[u8]) -> bool {
    let word = text(cell);
    if words.contains(word.as_ref()) {
        return false;
    }
    words.insert(word.into_owned())
}

fn too_many(columns: &Columns, at: usize) -> DataError {
    DataError::TooManyCategories {
        file: columns.file.clone(),
        column: columns.names[at].clone(),
        limit: MAX_CATEGORIES,
    }
}

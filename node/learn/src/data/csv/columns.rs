//! Which column of the file has which job.

use super::super::error::{DataError, Place};
use super::options::{Categorical, CsvOptions};

/// What one column is used for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Role {
    /// A number; the value to put where it is missing, or a refusal.
    Number { fill: Option<f32> },
    /// A word: position among the categorical columns.
    Word { at: usize, fill_missing: bool },
    /// Label, id, split, or not used.
    NotAFeature,
}

/// The columns of a file and their jobs.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    pub(super) file: String,
    pub(super) names: Vec<String>,
    pub(super) roles: Vec<Role>,
    /// The categorical columns in the order of the file.
    pub(super) words: Vec<(usize, Categorical)>,
    pub(super) label: Option<usize>,
    pub(super) id: Option<usize>,
    pub(super) split: Option<usize>,
}

impl Columns {
    pub(super) fn assign(file: String, names: Vec<String>, options: &CsvOptions) -> Result<Self, DataError> {
        let mut columns = Self {
            roles: vec![Role::NotAFeature; names.len()],
            file,
            names,
            words: Vec::new(),
            label: None,
            id: None,
            split: None,
        };
        columns.refuse_repeated_names()?;
        columns.label = options.label.as_deref().map(|name| columns.find(name)).transpose()?;
        columns.id = options.id.as_deref().map(|name| columns.find(name)).transpose()?;
        columns.split = options.split.as_deref().map(|name| columns.find(name)).transpose()?;
        columns.refuse_two_jobs()?;
        columns.assign_features(options)?;
        Ok(columns)
    }

    /// The cell of `row` (from 1) in column `at`.
    pub(super) fn place(&self, row: u64, at: usize) -> Place {
        Place { file: self.file.clone(), row, column: self.names[at].clone() }
    }

    fn assign_features(&mut self, options: &CsvOptions) -> Result<(), DataError> {
        for name in options.missing.fill_column.keys() {
            self.find(name)?;
        }
        let dropped = self.find_all(options.drop.iter())?;
        let chosen = match &options.features {
            Some(names) => self.find_all(names.iter())?,
            None => (0..self.names.len()).collect(),
        };
        let words = self.find_all(options.categorical.iter().map(|words| &words.column))?;
        for at in chosen.iter().chain(&words).copied() {
            if dropped.contains(&at) && (options.features.is_some() || words.contains(&at)) {
                return self.conflict(at, "is to be used and to be dropped");
            }
        }
        let taken = [self.label, self.id, self.split];
        for at in 0..self.names.len() {
            if taken.contains(&Some(at)) || dropped.contains(&at) {
                if words.contains(&at) && taken.contains(&Some(at)) {
                    return self.conflict(at, "is a categorical feature and has another job");
                }
                continue;
            }
            let own_fill = options.missing.fill_column.get(&self.names[at]).copied();
            let fill = own_fill.or(options.missing.fill);
            if let Some(position) = words.iter().position(|&word| word == at) {
                self.roles[at] = Role::Word { at: self.words.len(), fill_missing: fill.is_some() };
                self.words.push((at, options.categorical[position].clone()));
            } else if chosen.contains(&at) {
                self.roles[at] = Role::Number { fill };
            }
        }
        if self.roles.iter().all(|role| *role == Role::NotAFeature) {
            return Err(DataError::Malformed {
                file: self.file.clone(),
                why: "no column is a feature".into(),
            });
        }
        Ok(())
    }

    fn find_all<'a>(&self, names: impl Iterator<Item = &'a String>) -> Result<Vec<usize>, DataError> {
        names.map(|name| self.find(name)).collect()
    }

    fn find(&self, name: &str) -> Result<usize, DataError> {
        self.names.iter().position(|column| column == name).ok_or_else(|| DataError::UnknownColumn {
            file: self.file.clone(),
            column: name.to_string(),
            columns: self.names.clone(),
        })
    }

    fn refuse_repeated_names(&self) -> Result<(), DataError> {
        let mut sorted: Vec<&String> = self.names.iter().collect();
        sorted.sort();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(()),
            Some(pair) => Err(DataError::ColumnConflict {
                file: self.file.clone(),
                column: pair[0].clone(),
                why: "is there twice",
            }),
        }
    }

    fn refuse_two_jobs(&self) -> Result<(), DataError> {
        let jobs = [self.label, self.id, self.split];
        for (position, job) in jobs.iter().enumerate() {
            if let Some(at) = job
                && jobs[..position].contains(job)
            {
                return self.conflict(*at, "has two of the jobs label, id and split");
            }
        }
        Ok(())
    }

    fn conflict<T>(&self, at: usize, why: &'static str) -> Result<T, DataError> {
        Err(DataError::ColumnConflict { file: self.file.clone(), column: self.names[at].clone(), why })
    }
}

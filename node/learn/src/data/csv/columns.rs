//! Which column of the file has which job.

use super::super::error::{DataError, Place};
use super::DecimalSign;
use super::options::{Categorical, CsvOptions};
use crate::schema::DateFormat;

/// What the cells of a feature hold.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Role {
    /// A number; the value to put where it is missing, or a refusal.
    Number { fill: Option<f32> },
    /// A day; likewise.
    Day { format: DateFormat, fill: Option<f32> },
    /// A word: position among the categorical columns.
    Word { at: usize, fill_missing: bool },
}

/// The columns of a file and their jobs.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    pub(super) file: String,
    pub(super) names: Vec<String>,
    /// The columns that are features and what they hold, in the order of the features.
    pub(super) features: Vec<(usize, Role)>,
    /// The categorical columns in the order of the features.
    pub(super) words: Vec<(usize, Categorical)>,
    pub(super) label: Option<usize>,
    pub(super) id: Option<usize>,
    pub(super) split: Option<usize>,
    /// The decimal sign.
    pub(super) decimal: DecimalSign,
}

impl Columns {
    pub(super) fn assign(file: String, names: Vec<String>, options: &CsvOptions) -> Result<Self, DataError> {
        let mut columns = Self {
            features: Vec::new(),
            file,
            names,
            words: Vec::new(),
            label: None,
            id: None,
            split: None,
            decimal: DecimalSign::Point,
        };
        columns.refuse_repeated_names()?;
        columns.refuse_unknown_names(options)?;
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
        let dropped = self.find_all(options.drop.iter())?;
        let words = self.find_all(options.categorical.iter().map(|words| &words.column))?;
        let mut order = match &options.features {
            Some(names) => self.find_all(names.iter())?,
            // What has no name (a sign too much at the end of every line, row numbers of another program) is nothing that anybody meant.
            None => (0..self.names.len()).filter(|&at| !self.names[at].is_empty()).collect(),
        };
        order.extend(words.iter().filter(|at| !order.contains(at)).copied().collect::<Vec<_>>());
        let taken = [self.label, self.id, self.split];
        for at in order {
            let is_word = words.contains(&at);
            if dropped.contains(&at) && (options.features.is_some() || is_word) {
                return self.conflict(at, "is to be used and to be dropped");
            }
            if taken.contains(&Some(at)) && is_word {
                return self.conflict(at, "is a categorical feature and has another job");
            }
            if !taken.contains(&Some(at)) && !dropped.contains(&at) {
                let role = self.role(at, words.iter().position(|&word| word == at), options);
                self.features.push((at, role));
            }
        }
        match self.features.is_empty() {
            false => Ok(()),
            true => {
                Err(DataError::Malformed { file: self.file.clone(), why: "no column is a feature".into() })
            }
        }
    }

    fn role(&mut self, at: usize, word: Option<usize>, options: &CsvOptions) -> Role {
        let name = &self.names[at];
        let fill = options.missing.fill_column.get(name).copied().or(options.missing.fill);
        if let Some(position) = word {
            let words = options.categorical[position].clone();
            let fill_missing = fill.is_some() || options.missing.words || words.fill.is_some();
            self.words.push((at, words));
            return Role::Word { at: self.words.len() - 1, fill_missing };
        }
        match options.dates.get(name) {
            Some(format) => Role::Day { format: format.clone(), fill },
            None => Role::Number { fill },
        }
    }

    /// All of them, or all that are not there.
    fn find_all<'a>(&self, names: impl Iterator<Item = &'a String>) -> Result<Vec<usize>, DataError> {
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for name in names {
            match self.names.iter().position(|column| column == name) {
                Some(at) => found.push(at),
                None => missing.push(name.clone()),
            }
        }
        if missing.is_empty() { Ok(found) } else { Err(self.unknown(missing)) }
    }

    fn find(&self, name: &str) -> Result<usize, DataError> {
        let at = self.names.iter().position(|column| column == name);
        at.ok_or_else(|| self.unknown(vec![name.to_owned()]))
    }

    fn unknown(&self, wanted: Vec<String>) -> DataError {
        DataError::UnknownColumn { file: self.file.clone(), wanted, columns: self.names.clone() }
    }

    /// All that are asked for and not there, at once.
    fn refuse_unknown_names(&self, options: &CsvOptions) -> Result<(), DataError> {
        let jobs = [&options.label, &options.id, &options.split].into_iter().flatten();
        let words = options.categorical.iter().map(|words| &words.column);
        let named = jobs
            .chain(words)
            .chain(options.features.iter().flatten())
            .chain(options.missing.fill_column.keys())
            .chain(options.dates.keys())
            .chain(&options.drop);
        let asked: std::collections::BTreeSet<&String> = named.collect();
        self.find_all(asked.into_iter()).map(drop)
    }

    fn refuse_repeated_names(&self) -> Result<(), DataError> {
        let mut sorted: Vec<&String> = self.names.iter().filter(|name| !name.is_empty()).collect();
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

//! What can be wrong with data: every error names the file and, where there is one, the row and the column.

use std::fmt;
use std::path::{Path, PathBuf};

use thiserror::Error;
use topology::Hint;

use super::hints::{a_date, has_decimal_comma, has_thousands, jobs, nearest_columns, no_names, shown};
use crate::schema::DateFormat;

/// A cell of a table in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, or the name of a built-in set.
    pub file: String,
    /// The record, counted from 1 without the header.
    pub row: u64,
    /// The name of the column, or its number from 0 (as `label_column` counts) where columns have no names.
    pub column: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`, row {}, column `{}`", self.file, self.row, self.column)
    }
}

/// What a cell is for: it decides what can be done about a bad one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    /// A feature.
    Feature,
    /// A feature of a table whose label nobody named: it may be that.
    Unlabelled,
    /// What is to be predicted.
    Label,
    /// Whom a record belongs to.
    Id,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Feature | Self::Unlabelled => "value",
            Self::Label => "label",
            Self::Id => "id",
        })
    }
}

/// An error of reading, describing or shaping data. [`DataError::hint`] says what to try instead.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// A file that cannot be opened.
    #[error("cannot open `{}`", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file that cannot be read to its end.
    #[error("cannot read `{file}`")]
    Read {
        /// The file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// Columns that are not there.
    #[error("`{file}` has no column {}; its columns are {}", listed(wanted), listed(columns))]
    UnknownColumn {
        /// The file.
        file: String,
        /// The names asked for that are not there.
        wanted: Vec<String>,
        /// The names that there are.
        columns: Vec<String>,
    },
    /// Two columns with the same name, or one column with two jobs.
    #[error("`{file}`: column `{column}` {why}")]
    ColumnConflict {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Text where a number should be.
    #[error("{place}: `{}` is not a number", shown(text))]
    NotANumber {
        /// Where.
        place: Place,
        /// What is there.
        text: String,
        /// What the column is for.
        cell: Cell,
    },
    /// Text where a date should be.
    #[error("{place}: `{}` is not a date of the form `{format}`", shown(text))]
    NotADate {
        /// Where.
        place: Place,
        /// What is there.
        text: String,
        /// How dates are written here.
        format: String,
    },
    /// An infinity or something that is no number.
    #[error("{place}: `{}` is not a finite number", shown(text))]
    NotFinite {
        /// Where.
        place: Place,
        /// What is there.
        text: String,
    },
    /// A cell without a value.
    #[error("{place}: the {cell} is missing")]
    Missing {
        /// Where.
        place: Place,
        /// What the column is for.
        cell: Cell,
    },
    /// A category that was not declared.
    #[error("{place}: `{}` is none of the declared categories {}", shown(text), listed(categories))]
    UnknownCategory {
        /// Where.
        place: Place,
        /// What is there.
        text: String,
        /// The categories declared.
        categories: Vec<String>,
    },
    /// A categorical column with more values than could be meant.
    #[error("column `{column}` of `{file}` has more than {limit} different values")]
    TooManyCategories {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// The most that is taken.
        limit: usize,
    },
    /// A label that is not one of the classes.
    #[error("{place}: the label `{}` is outside the classes {classes}", shown(label))]
    LabelOutside {
        /// Where.
        place: Place,
        /// The label.
        label: String,
        /// The classes.
        classes: String,
    },
    /// A row that is longer or shorter than the others.
    #[error("`{file}`, row {row} (line {line}): {found} fields, but {expected} were expected")]
    UnequalRows {
        /// The file.
        file: String,
        /// The record, from 1.
        row: u64,
        /// The line of the file, from 1.
        line: u64,
        /// Fields of the header.
        expected: u64,
        /// Fields of the row.
        found: u64,
    },
    /// A quote by which one record could hide others.
    #[error("`{file}`, {why}")]
    StrayQuote {
        /// The file.
        file: String,
        /// The line and what is there.
        why: String,
    },
    /// Numbers with a comma and numbers with a point, and nobody said which is the decimal sign.
    #[error("{place}: `{}` has another decimal sign than {other}", shown(text))]
    TwoSigns {
        /// The later of the first cell with a comma and the first with a point.
        place: Place,
        /// What is there.
        text: String,
        /// The other one, as a sentence shows it.
        other: String,
    },
    /// All that is wrong with the cells and rows of a file.
    #[error("`{file}` has {total} problems:\n  - {}", problems.join("\n  - "))]
    Several {
        /// The file.
        file: String,
        /// A sentence for each kind of problem in each column, with rows.
        problems: Vec<String>,
        /// How many there are.
        total: u64,
        /// What could be done about them.
        hints: Vec<String>,
    },
    /// A schema that cannot be read.
    #[error(transparent)]
    Schema(#[from] crate::schema::SchemaError),
    /// A file that ends too early.
    #[error("`{file}` is truncated: {what} needs {expected} bytes, but there are {found}")]
    Truncated {
        /// The file.
        file: String,
        /// What was being read.
        what: String,
        /// Bytes needed.
        expected: u64,
        /// Bytes there.
        found: u64,
    },
    /// A file that does not keep to its format.
    #[error("`{file}`: {why}")]
    Malformed {
        /// The file.
        file: String,
        /// What is wrong.
        why: String,
    },
    /// Arrays that belong together and differ in length.
    #[error("{left_count} {left}, but {right_count} {right}")]
    CountMismatch {
        /// What is counted on the left.
        left: String,
        /// How many.
        left_count: usize,
        /// What is counted on the right.
        right: String,
        /// How many.
        right_count: usize,
    },
    /// A set without records.
    #[error("`{file}` has no records")]
    Empty {
        /// The file.
        file: String,
    },
    /// More records or values than are taken.
    #[error("`{file}` has {count} {what}, more than the {limit} that are taken")]
    TooLarge {
        /// The file.
        file: String,
        /// What there is too much of.
        what: &'static str,
        /// How many there are.
        count: u64,
        /// How many are taken.
        limit: u64,
    },
    /// A parameter outside its range.
    #[error("`{name} = {value}` {why}")]
    BadParameter {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it should be.
        why: String,
    },
    /// A data source that cannot be understood.
    #[error("cannot understand the data source `{spec}`: {why}")]
    BadSource {
        /// The text given.
        spec: String,
        /// What is wrong with it.
        why: String,
    },
}

impl DataError {
    /// The same error about `file`, where it was about a table that did not know where it came from.
    pub(crate) fn in_file(mut self, name: &str) -> Self {
        match &mut self {
            Self::NotFinite { place, .. } | Self::LabelOutside { place, .. } => place.file = name.into(),
            Self::Empty { file } | Self::TooLarge { file, .. } => *file = name.into(),
            _ => {}
        }
        self
    }
}

impl Hint for DataError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Open { path, .. } => nearest_file(path).map(|name| format!("did you mean `{name}`?")),
            Self::UnknownColumn { wanted, columns, .. } => {
                nearest_columns(wanted, columns).or_else(|| no_names(columns))
            }
            Self::NotANumber { place, text, .. } if has_decimal_comma(text) => Some(format!(
                "`{text}` in column `{}` looks like a decimal comma: say `decimal=comma` behind the file",
                place.column
            )),
            Self::NotANumber { text, .. } if has_thousands(text) => {
                Some(format!("`{text}` seems to group thousands, which is not read: write such numbers without"))
            }
            Self::NotANumber { place, text, cell: Cell::Feature | Cell::Unlabelled }
                if DateFormat::found(text).is_some() =>
            {
                a_date(place, text)
            }
            Self::NotANumber { place, cell: cell @ (Cell::Feature | Cell::Unlabelled), .. } => {
                Some(jobs(&place.column, *cell))
            }
            Self::NotANumber { .. } => Some("labels that are words are declared with `classes=A+B+C`".into()),
            Self::NotFinite { text, .. } if text.eq_ignore_ascii_case("nan") => Some(
                "NaN is refused unless `fill=VALUE` says what to put in place of missing features".into(),
            ),
            Self::NotFinite { .. } => Some("infinities are refused; correct or remove the row".into()),
            Self::Missing { cell: Cell::Feature | Cell::Unlabelled, .. } => {
                Some("missing values are refused unless `fill=VALUE` behind the file, or `fill = VALUE` in a schema, says what to put there".into())
            }
            Self::Missing { cell, .. } => {
                Some(format!("remove the row: a {cell} is never filled in, since nobody could know it"))
            }
            Self::TooManyCategories { column, .. } => Some(format!("leave it out with `drop={column}`")),
            Self::LabelOutside { .. } => {
                Some("declare the classes with `classes=N` or `classes=A+B+C`".into())
            }
            Self::UnequalRows { .. } => {
                Some("check for a separator inside a field, which needs quotes around the field; where another sign stands between fields say so: `delimiter=semicolon`".into())
            }
            Self::StrayQuote { .. } => Some("quotes stand around a whole field, and twice inside of it (`\"a \"\"b\"\"\"`); where quotes are plain letters say `quotes=none` behind the file".into()),
            Self::TwoSigns { .. } => Some("say which is the decimal sign, `decimal=comma` or `decimal=point` behind the file, and write the others without the other sign".into()),
            Self::NotADate { place, text, .. } => a_date(place, text)
                .or_else(|| Some("say how dates are written: `%d.%m.%Y`, `%m/%d/%Y`, `iso`".into())),
            Self::Several { hints, .. } => (!hints.is_empty()).then(|| hints.join("\n      ")),
            Self::Schema(error) => error.hint(),
            Self::Truncated { .. } => Some("fetch or copy the file again".into()),
            _ => None,
        }
    }
}

/// Names in backquotes, at most forty of them.
pub(crate) fn listed(names: &[String]) -> String {
    const SHOWN: usize = 40;
    let mut text = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}

/// The name that differs least from `wanted`, if it is near enough to be what was meant.
pub(crate) fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a String>) -> Option<&'a str> {
    let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
    topology::nearest(wanted, &names)
}

/// A file beside the missing one with a similar name.
fn nearest_file(path: &Path) -> Option<String> {
    let wanted = path.file_name()?.to_str()?;
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name != wanted)
        .collect();
    names.sort();
    nearest(wanted, &names).map(|name| folder.join(name).display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_suggested_only_where_none_was_named() {
        let hint = |cell| {
            let place = Place { file: "a.csv".into(), row: 1, column: "ward".into() };
            DataError::NotANumber { place, text: "north".into(), cell }.hint().unwrap()
        };
        assert!(hint(Cell::Unlabelled).contains("label=ward") && !hint(Cell::Feature).contains("label="));
        assert!(hint(Cell::Feature).contains("categorical=ward") && hint(Cell::Feature).contains("`values`"));
    }

    #[test]
    fn the_nearest_name_is_suggested_and_a_strange_one_is_not() {
        let names = ["age".to_string(), "workclass".into(), "over50k".into()];
        assert_eq!(nearest("work_class", &names), Some("workclass"));
        assert_eq!(nearest("Over50K", &names), Some("over50k"));
        assert_eq!(nearest("temperature", &names), None);
    }
}

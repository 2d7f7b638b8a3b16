//! CSV files with a header line, read in two passes.
//!
//! The first pass counts records and collects categories, classes and ids; the second parses numbers into an
//! array of exactly the right size. Nothing else grows with the file, so a file of 1 GB costs little more than
//! its numbers as `f32`. What is wrong with cells and rows is collected and told at once.

mod columns;
mod dialect;
mod fill;
mod options;
mod problems;
mod quotes;
mod raw;
mod survey;

pub use dialect::DecimalSign;
pub(crate) use dialect::named as encoding_named;
pub use options::{Categorical, CsvOptions, Missing, TargetKind};
pub use raw::{RawTable, read_bytes, read_every_row, read_table};

use std::borrow::Cow;

use super::dataset::{Dataset, Groups, Loaded};
use super::error::DataError;
use super::input::Input;
use columns::Columns;
use dialect::{CsvReader, Dialect};
use fill::Filled;
use problems::Problems;
use quotes::StrayQuote;
use survey::Survey;

/// Reads a CSV file, plain or gzipped.
///
/// # Errors
/// A missing file, a column that is not there, cells that are not what their column should hold, rows of unequal
/// length, or no rows at all; the error names file, rows and columns.
pub fn read_csv(path: impl AsRef<std::path::Path>, options: &CsvOptions) -> Result<Loaded, DataError> {
    read_input(&Input::table(path)?, options)
}

/// The names of a table's columns, in their order.
pub(crate) fn header(input: &Input, options: &CsvOptions) -> Result<Vec<String>, DataError> {
    names(input, &mut Dialect::of(input, options)?.open(input)?)
}

/// Reads CSV from any input.
pub(crate) fn read_input(input: &Input, options: &CsvOptions) -> Result<Loaded, DataError> {
    let dialect = Dialect::of(input, options)?;
    let mut reader = dialect.open(input)?;
    let mut columns = Columns::assign(input.name(), names(input, &mut reader)?, options)?;
    columns.decimal = dialect.decimal;
    let mut problems = Problems::default();
    let survey = Survey::take(input, reader, &columns, (options, &mut problems))?;
    let filled = Filled::read(input, dialect, (&columns, &survey), &mut problems)?;
    problems.finish(&columns.file)?;
    assemble(columns, survey, filled)
}

fn names(input: &Input, reader: &mut CsvReader) -> Result<Vec<String>, DataError> {
    let header = reader.headers().map_err(|error| csv_error(input, error))?;
    if header.iter().all(str::is_empty) {
        return Err(DataError::Empty { file: input.name() });
    }
    Ok(header.iter().map(str::to_string).collect())
}

/// Records, the row (from 0) of each, and whether it is one to test by, where a column says so.
pub(crate) type GoodRows = (Dataset, Vec<u32>, Option<Vec<bool>>);

/// As [`read_input`], without the rows in which something is wrong: for whoever may not tell by refusing what a file holds.
pub(crate) fn read_good_rows(input: &Input, options: &CsvOptions) -> Result<GoodRows, DataError> {
    let dialect = Dialect::of(input, options)?;
    let mut reader = dialect.open(input)?;
    let mut columns = Columns::assign(input.name(), names(input, &mut reader)?, options)?;
    columns.decimal = dialect.decimal;
    let survey = Survey::take(input, reader, &columns, (options, &mut Problems::default()))?;
    let (mut filled, rows) = Filled::read_good(input, dialect, (&columns, &survey))?;
    let test_rows = std::mem::take(&mut filled.test_rows);
    let is_test = |row: &u32| test_rows.binary_search(row).is_ok();
    let test = columns.split.is_some().then(|| rows.iter().map(is_test).collect());
    Ok((records(&columns, survey, filled)?, rows, test))
}

fn records(columns: &Columns, survey: Survey, filled: Filled) -> Result<Dataset, DataError> {
    let width = survey.width(columns);
    let mut data = Dataset::new(filled.features, width, filled.targets)?
        .with_feature_names(survey.feature_names(columns))?;
    if let Some(names) = survey.class_names() {
        data = data.with_class_names(names)?;
    }
    if columns.id.is_some() {
        data = data.with_groups(Groups { of_record: filled.groups, names: survey.group_names })?;
    }
    Ok(data)
}

fn assemble(columns: Columns, survey: Survey, mut filled: Filled) -> Result<Loaded, DataError> {
    let (train_rows, test_rows) =
        (std::mem::take(&mut filled.train_rows), std::mem::take(&mut filled.test_rows));
    let data = records(&columns, survey, filled)?;
    if columns.split.is_none() {
        return Ok(Loaded { train: data, test: None });
    }
    if train_rows.is_empty() {
        return Err(DataError::Empty { file: format!("{} (split `train`)", columns.file) });
    }
    Ok(Loaded { train: data.subset(&train_rows), test: Some(data.subset(&test_rows)) })
}

fn csv_error(input: &Input, error: csv::Error) -> DataError {
    let text = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(source) => match source.get_ref().and_then(|inner| inner.downcast_ref()) {
            Some(stray @ StrayQuote { .. }) => {
                DataError::StrayQuote { file: input.name(), why: stray.to_string() }
            }
            None => input.read_error(source),
        },
        _ => input.malformed(text),
    }
}

/// Whether a cell stands for a value that is not known.
pub(crate) fn is_missing(cell: &[u8]) -> bool {
    cell.is_empty()
        || cell == b"?"
        || [&b"na"[..], b"n/a", b"nan", b"null"].iter().any(|word| cell.eq_ignore_ascii_case(word))
}

/// The number that a cell holds, by the decimal sign of its file.
pub(crate) fn number<T: std::str::FromStr>(cell: &[u8], decimal: DecimalSign) -> Option<T> {
    let text = std::str::from_utf8(cell).ok()?;
    let (has_comma, has_point) = (text.contains(','), text.contains('.'));
    match decimal {
        DecimalSign::Comma if has_point => None,
        DecimalSign::Comma => text.replace(',', ".").parse().ok(),
        DecimalSign::Either if has_comma && !has_point => text.replace(',', ".").parse().ok(),
        DecimalSign::Either | DecimalSign::Point => text.parse().ok(),
    }
}

/// A cell as text: what is no UTF-8 is read as Windows writes, each by itself.
pub(crate) fn text(cell: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(cell) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => encoding_rs::WINDOWS_1252.decode(cell).0,
    }
}

#[cfg(test)]
mod tests;

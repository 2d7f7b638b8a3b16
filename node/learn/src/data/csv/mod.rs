//! CSV files with a header line, read in two passes.
//!
//! The first pass counts records and collects categories, classes and ids; the second parses numbers into an
//! array of exactly the right size. Nothing else grows with the file, so a file of 1 GB costs little more than
//! its numbers as `f32`.

mod columns;
mod fill;
mod options;
mod survey;

pub use options::{Categorical, CsvOptions, Missing, TargetKind};

use std::io::Read;

use super::dataset::{Dataset, Groups, Loaded};
use super::error::DataError;
use super::input::Input;
use columns::Columns;
use fill::Filled;
use survey::Survey;

/// Reads a CSV file, plain or gzipped.
///
/// # Errors
/// A missing file, a column that is not there, a cell that is not what its column should hold, rows of unequal
/// length, or no rows at all; the error names file, row and column.
pub fn read_csv(path: impl AsRef<std::path::Path>, options: &CsvOptions) -> Result<Loaded, DataError> {
    read_input(&Input::file(path), options)
}

/// Reads CSV from any input.
pub(crate) fn read_input(input: &Input, options: &CsvOptions) -> Result<Loaded, DataError> {
    let mut reader = open(input, options)?;
    let header = reader.headers().map_err(|error| csv_error(input, error))?.clone();
    if header.iter().all(str::is_empty) {
        return Err(DataError::Empty { file: input.name() });
    }
    let columns = Columns::assign(input.name(), header.iter().map(str::to_string).collect(), options)?;
    let survey = Survey::take(input, reader, &columns, options)?;
    let filled = Filled::read(input, open(input, options)?, &columns, &survey)?;
    assemble(columns, survey, filled)
}

fn assemble(columns: Columns, survey: Survey, filled: Filled) -> Result<Loaded, DataError> {
    let width = survey.width(&columns);
    let mut data = Dataset::new(filled.features, width, filled.targets)?
        .with_feature_names(survey.feature_names(&columns))?;
    if let Some(names) = survey.class_names() {
        data = data.with_class_names(names)?;
    }
    if columns.id.is_some() {
        data = data.with_groups(Groups { of_record: filled.groups, names: survey.group_names })?;
    }
    if columns.split.is_none() || filled.test_rows.is_empty() {
        return Ok(Loaded { train: data, test: None });
    }
    if filled.train_rows.is_empty() {
        return Err(DataError::Empty { file: format!("{} (split `train`)", columns.file) });
    }
    Ok(Loaded { train: data.subset(&filled.train_rows), test: Some(data.subset(&filled.test_rows)) })
}

type CsvReader = csv::Reader<Box<dyn Read>>;

fn open(input: &Input, options: &CsvOptions) -> Result<CsvReader, DataError> {
    let delimiter = u8::try_from(options.delimiter).map_err(|_| DataError::BadParameter {
        name: "delimiter",
        value: options.delimiter.to_string(),
        why: "must be one byte".into(),
    })?;
    let content: Box<dyn Read> = Box::new(input.open()?);
    Ok(csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .buffer_capacity(1 << 16)
        .trim(csv::Trim::Headers)
        .from_reader(content))
}

fn csv_error(input: &Input, error: csv::Error) -> DataError {
    let text = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(source) => input.read_error(source),
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let (row, line) = pos.map_or((0, 0), |pos| (pos.record(), pos.line()));
            DataError::UnequalRows { file: input.name(), row, line, expected: expected_len, found: len }
        }
        _ => input.malformed(text),
    }
}

/// Whether a cell stands for a value that is not known.
fn is_missing(cell: &[u8]) -> bool {
    cell.is_empty()
        || cell == b"?"
        || [&b"na"[..], b"n/a", b"nan", b"null"].iter().any(|word| cell.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests;

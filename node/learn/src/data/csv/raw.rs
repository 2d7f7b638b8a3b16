//! A table as it stands in its file: names and texts.

use std::io::Read;
use std::path::Path;

use super::super::error::DataError;
use super::super::input::Input;
use super::dialect::Dialect;
use super::options::CsvOptions;
use super::{DecimalSign, csv_error, names, text};

/// The cells of a table as text.
#[derive(Debug, Clone, PartialEq)]
pub struct RawTable {
    /// Names of the columns.
    pub names: Vec<String>,
    /// The rows, each with as many cells as there are names.
    pub rows: Vec<Vec<String>>,
    /// The decimal sign of the file.
    pub decimal: DecimalSign,
}

/// Reads a table without asking what its columns mean; rows of another length than the header are left out.
///
/// # Errors
/// A file that cannot be read, or has no header.
pub fn read_table(path: impl AsRef<Path>, options: &CsvOptions) -> Result<RawTable, DataError> {
    read(path.as_ref(), options, false)
}

/// As [`read_table`], but a row of another length is there too: with empty cells at its end, or without those that have no name.
///
/// # Errors
/// As there.
pub fn read_every_row(path: impl AsRef<Path>, options: &CsvOptions) -> Result<RawTable, DataError> {
    read(path.as_ref(), options, true)
}

/// All bytes of a table, as often as they are wanted: what came through standard input was kept.
///
/// # Errors
/// A file that cannot be read.
pub fn read_bytes(path: impl AsRef<Path>) -> Result<Vec<u8>, DataError> {
    let input = Input::table(path)?;
    let mut bytes = Vec::new();
    input.open()?.read_to_end(&mut bytes).map_err(|source| input.read_error(source))?;
    Ok(bytes)
}

fn read(path: &Path, options: &CsvOptions, all: bool) -> Result<RawTable, DataError> {
    let input = Input::table(path)?;
    let dialect = Dialect::of(&input, options)?;
    let mut reader = dialect.open(&input)?;
    let names = names(&input, &mut reader)?;
    let mut rows = Vec::new();
    for record in reader.byte_records() {
        let record = record.map_err(|error| csv_error(&input, error))?;
        if all || record.len() == names.len() {
            let cell = |at| text(record.get(at).unwrap_or(b"").trim_ascii()).into_owned();
            rows.push((0..names.len()).map(cell).collect());
        }
    }
    Ok(RawTable { names, rows, decimal: dialect.decimal })
}

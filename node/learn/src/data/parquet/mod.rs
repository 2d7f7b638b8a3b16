//! Parquet files, known by their first bytes: the feature `parquet` writes their table as CSV into a file without a name, which is then read like any other, with the same
//! schema, the same messages and the same rows. Without the feature they are refused in words: as text they would be nonsense.

#[cfg(feature = "parquet")]
mod cells;
#[cfg(feature = "parquet")]
mod columns;

use super::error::DataError;
use super::input::Input;

#[cfg(not(feature = "parquet"))]
pub(super) fn to_csv(input: &Input) -> Result<Input, DataError> {
    Err(input.malformed(
        "it is a Parquet file, and this program was built without the feature `parquet`; as CSV it may come through standard input: `duckdb -csv -c \"FROM 'FILE'\" | murmur … -`",
    ))
}

/// The table of a Parquet file as CSV: commas, decimal points, ISO dates, 1 and 0 for true and false, nothing where a value is null.
///
/// # Errors
/// A file that is damaged or encrypted, columns in columns, or a kind of column that no table of text has.
#[cfg(feature = "parquet")]
pub(super) fn to_csv(input: &Input) -> Result<Input, DataError> {
    use std::sync::Arc;

    let file = input.stored()?;
    let mut spool = tempfile::tempfile().map_err(|source| input.read_error(source))?;
    // A damaged file must end in words. The reader is tried with thousands of those, but it is large, and not ours.
    let reading = std::panic::AssertUnwindSafe(|| columns::write(file, &mut spool));
    let written = std::panic::catch_unwind(reading).unwrap_or_else(|_| Err("it is damaged".into()));
    written.map_err(|why| input.malformed(why))?;
    Ok(Input::Spooled { name: input.name(), file: Arc::new(spool), ours: true })
}

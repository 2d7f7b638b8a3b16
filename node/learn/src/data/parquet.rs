//! Parquet files are known by their first bytes and refused in words: as text they would be a table of nonsense.

use std::path::Path;

use super::error::DataError;
use super::input::Input;

pub(super) fn to_csv(path: &Path) -> Result<Input, DataError> {
    Err(Input::file(path).malformed(
        "it is a Parquet file, which cannot be read yet; as CSV it may come through standard input: `duckdb -csv -c \"FROM 'FILE'\" | murmur … -`",
    ))
}

//! Parquet files: turned into text once, so that everything that is said about tables holds for them too.

use std::path::Path;

use super::error::DataError;
use super::input::Input;

#[cfg(not(feature = "parquet"))]
pub(super) fn to_csv(path: &Path) -> Result<Input, DataError> {
    Err(Input::file(path).malformed(
        "it is a Parquet file, which this build cannot read; releases can, or build with `--features parquet`",
    ))
}

#[cfg(feature = "parquet")]
pub(super) fn to_csv(path: &Path) -> Result<Input, DataError> {
    use std::fs::File;
    use std::sync::Arc;

    use parquet::file::reader::{FileReader, SerializedFileReader};

    let input = Input::file(path);
    let broken = |error: parquet::errors::ParquetError| input.malformed(error.to_string());
    let file = File::open(path).map_err(|source| DataError::Open { path: path.into(), source })?;
    let reader = SerializedFileReader::new(file).map_err(broken)?;
    let fields = reader.metadata().file_metadata().schema().get_fields();
    let names: Vec<String> = fields.iter().map(|field| field.name().to_owned()).collect();
    let spool = tempfile::tempfile().map_err(|source| input.read_error(source))?;
    let mut text = csv::Writer::from_writer(spool);
    let written = |result: csv::Result<()>| result.map_err(|error| input.malformed(error.to_string()));
    written(text.write_record(&names))?;
    for row in reader.get_row_iter(None).map_err(broken)? {
        let row = row.map_err(broken)?;
        written(text.write_record(row.get_column_iter().map(|(_, field)| cell(field))))?;
    }
    let file = text.into_inner().map_err(|error| input.malformed(error.to_string()))?;
    Ok(Input::Spooled { name: input.name(), file: Arc::new(file) })
}

/// A value as it would stand in a CSV: nothing for null, ISO for dates.
#[cfg(feature = "parquet")]
fn cell(field: &parquet::record::Field) -> String {
    use parquet::record::Field;
    match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Bytes(bytes) => String::from_utf8_lossy(bytes.data()).into_owned(),
        Field::Float(value) => value.to_string(),
        Field::Double(value) => value.to_string(),
        Field::Date(day) => crate::schema::day_number(f64::from(*day)).unwrap_or_default(),
        Field::TimestampMillis(at) => day_of(*at, 86_400_000),
        Field::TimestampMicros(at) => day_of(*at, 86_400_000_000),
        other => other.to_string(),
    }
}

#[cfg(feature = "parquet")]
fn day_of(at: i64, units: i64) -> String {
    crate::schema::day_number(at.div_euclid(units) as f64).unwrap_or_default()
}

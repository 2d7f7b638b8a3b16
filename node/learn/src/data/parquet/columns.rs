//! The columns of a Parquet file side by side, a block of rows at a time, so that a file larger than the memory can be read.

use std::fs::File;
use std::io::{BufWriter, Write};

use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::{ByteArray, DataType};
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::schema::types::SchemaDescriptor;

use super::cells::{Cell, Shown, shown};

/// Rows of a block.
const BLOCK: usize = 1024;

/// A column and what its values stand for.
struct Column {
    name: String,
    shown: Shown,
    may_be_null: bool,
}

/// Writes the table in `file` as CSV; what is wrong is said in words.
pub(super) fn write(file: File, out: &mut File) -> Result<(), String> {
    let reader = SerializedFileReader::new(file).map_err(damaged)?;
    let columns = columns_of(reader.metadata().file_metadata().schema_descr())?;
    let mut table = csv::Writer::from_writer(BufWriter::new(out));
    let mut line = csv::ByteRecord::new();
    columns.iter().for_each(|column| line.push_field(column.name.as_bytes()));
    table.write_byte_record(&line).map_err(|error| error.to_string())?;
    let mut done = 0u64;
    for at in 0..reader.num_row_groups() {
        let group = reader.get_row_group(at).map_err(damaged)?;
        let rows = usize::try_from(group.metadata().num_rows()).map_err(|_| "it is damaged")?;
        let mut readers = (0..columns.len())
            .map(|column| group.get_column_reader(column).map_err(damaged))
            .collect::<Result<Vec<_>, _>>()?;
        let mut left = rows;
        while left > 0 {
            let count = left.min(BLOCK);
            let cells = columns
                .iter()
                .zip(&mut readers)
                .map(|(column, reader)| block(column, reader, (count, done)))
                .collect::<Result<Vec<_>, _>>()?;
            for row in 0..count {
                line.clear();
                cells.iter().for_each(|column| line.push_field(column[row].as_bytes()));
                table.write_byte_record(&line).map_err(|error| error.to_string())?;
            }
            (left, done) = (left - count, done + count as u64);
        }
    }
    table.into_inner().map_err(|error| error.to_string())?.flush().map_err(|error| error.to_string())
}

fn columns_of(schema: &SchemaDescriptor) -> Result<Vec<Column>, String> {
    let column = |at: usize| {
        let about = schema.column(at);
        let name = about.path().string();
        if about.path().parts().len() != 1 || about.max_rep_level() > 0 {
            return Err(format!(
                "column `{name}` is part of a nested one; a table has one value in each cell"
            ));
        }
        let shown = shown(&about).ok_or_else(|| {
            let kind = about.logical_type_ref().map_or_else(String::new, |kind| format!(" ({kind:?})"));
            format!(
                "column `{name}` is of a kind that a table of text does not have: {}{kind}",
                about.physical_type()
            )
        })?;
        Ok(Column { name, shown, may_be_null: about.max_def_level() > 0 })
    };
    (0..schema.num_columns()).map(column).collect()
}

/// The next cells of a column.
fn block(column: &Column, reader: &mut ColumnReader, place: (usize, u64)) -> Result<Vec<String>, String> {
    match reader {
        ColumnReader::BoolColumnReader(reader) => cells(column, reader, place),
        ColumnReader::Int32ColumnReader(reader) => cells(column, reader, place),
        ColumnReader::Int64ColumnReader(reader) => cells(column, reader, place),
        ColumnReader::Int96ColumnReader(reader) => cells(column, reader, place),
        ColumnReader::FloatColumnReader(reader) => cells(column, reader, place),
        ColumnReader::DoubleColumnReader(reader) => cells(column, reader, place),
        ColumnReader::ByteArrayColumnReader(reader) => cells(column, reader, place),
        ColumnReader::FixedLenByteArrayColumnReader(reader) => {
            let wide = |value: &::parquet::data_type::FixedLenByteArray| {
                ByteArray::from(value.data().to_vec()).text(column.shown)
            };
            cells_by(column, reader, place, wide)
        }
    }
}

fn cells<T: DataType>(
    column: &Column,
    reader: &mut ColumnReaderImpl<T>,
    place: (usize, u64),
) -> Result<Vec<String>, String>
where
    T::T: Cell,
{
    cells_by(column, reader, place, |value| value.text(column.shown))
}

fn cells_by<T: DataType>(
    column: &Column,
    reader: &mut ColumnReaderImpl<T>,
    (count, before): (usize, u64),
    text: impl Fn(&T::T) -> Option<String>,
) -> Result<Vec<String>, String> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let wanted = column.may_be_null.then_some(&mut levels);
    let (records, ..) = reader.read_records(count, wanted, None, &mut values).map_err(damaged)?;
    if records != count {
        return Err(format!("it is damaged: column `{}` has fewer rows than others", column.name));
    }
    let mut values = values.iter();
    let cell = |row: usize| {
        if column.may_be_null && levels.get(row) == Some(&0) {
            return Ok(String::new());
        }
        values.next().and_then(&text).ok_or_else(|| {
            format!(
                "row {}, column `{}`: the value is no text, number or date",
                before + row as u64 + 1,
                column.name
            )
        })
    };
    (0..count).map(cell).collect()
}

fn damaged(error: ParquetError) -> String {
    format!("it cannot be read as Parquet: {error}")
}

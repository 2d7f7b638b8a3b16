//! Tables of losses as JSON: row by row, never as a second copy. NaN (what one would learn about oneself) is null.

use ndarray::Array2;
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

/// A list of rows.
pub(super) fn serialize<S: Serializer>(table: &Array2<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(Some(table.nrows()))?;
    for row in table.rows() {
        list.serialize_element(&Row(row.as_slice().expect("tables are made row by row")))?;
    }
    list.end()
}

/// As [`serialize`], for a table that may not be there.
pub(super) fn serialize_some<S: Serializer>(
    table: &Option<Array2<f64>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match table {
        Some(table) => serialize(table, serializer),
        None => serializer.serialize_none(),
    }
}

/// One of them.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a>(pub &'a [f64]);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|value| (!value.is_nan()).then_some(value)))
    }
}

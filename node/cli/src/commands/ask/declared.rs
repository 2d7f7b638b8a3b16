//! Declared columns: a schema, and what the command line adds to it.

use questions::columns::{Column, Columns};

use super::Args;
use crate::failure::Result;

/// The columns that a question may use.
pub(super) fn columns(args: &Args) -> Result<Columns> {
    let mut columns = Columns::default();
    for text in &args.column {
        columns.declare(text.parse::<Column>()?)?;
    }
    columns.person = args.person.clone().or(columns.person);
    Ok(columns)
}

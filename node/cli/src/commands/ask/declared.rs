//! Declared columns: a schema, and what the command line adds to it.

use std::collections::BTreeMap;
use std::path::Path;

use questions::columns::{Column, Columns};
use serde::Deserialize;

use super::Args;
use crate::failure::{Failure, Result};

/// The columns that a question may use.
pub(super) fn columns(args: &Args) -> Result<Columns> {
    let mut columns = declared_columns(args.schema.as_deref(), &args.column)?;
    columns.person = args.person.clone().or(columns.person);
    Ok(columns)
}

/// The columns of a schema, and what is declared on top of it.
pub(crate) fn declared_columns(schema: Option<&Path>, added: &[String]) -> Result<Columns> {
    let mut columns = match schema {
        Some(path) => read(path)?,
        None => Columns::default(),
    };
    for text in added {
        columns.declare(text.parse::<Column>()?)?;
    }
    Ok(columns)
}

/// The parts of a schema that questions use; what is there for training is read past.
#[derive(Debug, Deserialize)]
struct Schema {
    #[serde(default)]
    schema: Names,
    #[serde(default)]
    columns: BTreeMap<String, Declared>,
}

#[derive(Debug, Default, Deserialize)]
struct Names {
    person: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Declared {
    bounds: Option<[toml::Value; 2]>,
    #[serde(default)]
    integer: bool,
    values: Option<Vec<toml::Value>>,
    date: Option<String>,
    text: Option<usize>,
}

fn read(path: &Path) -> Result<Columns> {
    let context = || format!("cannot read the schema `{}`", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| Failure::from(error).context(context()))?;
    of_text(&text, &path.display().to_string())
}

/// The columns of a schema; `name` is how errors call it.
pub(super) fn of_text(text: &str, name: &str) -> Result<Columns> {
    let context = || format!("cannot read the schema `{name}`");
    let schema: Schema = toml::from_str(text).map_err(|error| Failure::of(error, None).context(context()))?;
    let mut columns = Columns::default();
    for (name, declared) in &schema.columns {
        let column = declared.column(name).map_err(|failure| failure.context(context()))?;
        columns.declare(column).map_err(|refusal| Failure::from(refusal).context(context()))?;
    }
    columns.person = schema.schema.person;
    Ok(columns)
}

impl Declared {
    /// The same declaration as on the command line. `fill` is for training: here what is missing stays so.
    fn column(&self, name: &str) -> Result<Column> {
        use questions::columns::Kind;
        if let Some(values) = &self.values {
            let values = values.iter().map(plain).collect();
            return Ok(Column { name: name.to_owned(), kind: Kind::Category { values }, fill: None });
        }
        if let Some(bytes) = self.text {
            return Ok(Column { name: name.to_owned(), kind: Kind::Text { bytes }, fill: None });
        }
        let mut keys = Vec::new();
        keys.extend(self.date.as_ref().map(|format| format!("date={format}")));
        keys.extend(
            self.bounds.as_ref().map(|[low, high]| format!("bounds={}..{}", plain(low), plain(high))),
        );
        keys.extend(self.integer.then(|| "integer".to_owned()));
        Ok(format!("{name}:{}", keys.join(",")).parse::<Column>()?)
    }
}

/// A number, a word or a date as it would be written in a cell.
fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

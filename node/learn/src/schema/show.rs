//! From a schema back to TOML: the same text for the same declaration, so that it can have a digest.

use toml::{Table, Value};

use super::{Column, Fill, Kind, Range, Schema, day_number};

impl Schema {
    /// The declaration as TOML; reading it back gives an equal schema.
    pub fn to_toml(&self) -> String {
        toml::to_string(&self.to_table()).expect("a table of plain values has a text")
    }

    /// The declaration as a table with `schema` and `columns`.
    pub fn to_table(&self) -> Table {
        let mut head = Table::new();
        if let Some(label) = &self.label {
            head.insert("label".into(), Value::String(label.column.clone()));
            if let Some(above) = label.above {
                head.insert("above".into(), Value::Float(above));
            }
        }
        if let Some(person) = &self.person {
            head.insert("person".into(), Value::String(person.clone()));
        }
        if self.draft {
            head.insert("draft".into(), Value::Boolean(true));
        }
        let columns = self.columns.iter().map(|(name, column)| {
            let taken = self.label.as_ref().is_some_and(|label| label.column == *name)
                || self.person.as_ref() == Some(name);
            (name.clone(), Value::Table(column.to_table(taken)))
        });
        let columns = columns.collect();
        Table::from_iter([("schema".into(), Value::Table(head)), ("columns".into(), Value::Table(columns))])
    }
}

impl Column {
    /// `taken`: whether another job keeps it from being a feature anyway.
    fn to_table(&self, taken: bool) -> Table {
        let mut table = Table::new();
        match &self.kind {
            Kind::Number { bounds, integer } => {
                table.insert("bounds".into(), pair(*bounds, Value::Float));
                if *integer {
                    table.insert("integer".into(), Value::Boolean(true));
                }
            }
            Kind::Words { values, other } => {
                table.insert(
                    "values".into(),
                    Value::Array(values.iter().cloned().map(Value::String).collect()),
                );
                if *other {
                    table.insert("other".into(), Value::Boolean(true));
                }
            }
            Kind::Date { format, bounds } => {
                table.insert("date".into(), Value::String(format.to_string()));
                table.insert("bounds".into(), pair(*bounds, day));
            }
            Kind::Text { bytes } => _ = table.insert("text".into(), Value::Integer(*bytes as i64)),
        }
        match (&self.fill, &self.kind) {
            (Some(Fill::Number(number)), Kind::Date { .. }) => _ = table.insert("fill".into(), day(*number)),
            (Some(Fill::Number(number)), _) => _ = table.insert("fill".into(), Value::Float(*number)),
            (Some(Fill::Word(word)), _) => _ = table.insert("fill".into(), Value::String(word.clone())),
            (None, _) => {}
        }
        if !self.feature && !taken && !matches!(self.kind, Kind::Text { .. }) {
            table.insert("feature".into(), Value::Boolean(false));
        }
        table
    }
}

fn pair(bounds: Range, show: fn(f64) -> Value) -> Value {
    Value::Array(vec![show(bounds.low), show(bounds.high)])
}

fn day(number: f64) -> Value {
    Value::String(day_number(number).expect("a day of a schema was read from a date"))
}

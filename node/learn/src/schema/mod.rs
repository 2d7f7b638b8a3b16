//! What all participants agreed on about their records: columns, kinds, bounds, categories, fills, label, persons.
//!
//! One declaration for training, prediction and questions. It is written before anybody looks at the records of others, so that nothing in it is
//! learnt from them; what is a file's own (delimiter, decimal sign, encoding, order of the columns) is not part of it.
//!
//! ```
//! let schema = learn::schema::Schema::from_toml(
//!     r#"
//!     [schema]
//!     label = "sick"
//!     person = "patient"
//!
//!     [columns.age]
//!     bounds = [0, 110]
//!     integer = true
//!     fill = 50
//!
//!     [columns.admitted]
//!     date = "%d.%m.%Y"
//!     bounds = ["2000-01-01", "2030-12-31"]
//!
//!     [columns.sick]
//!     values = ["no", "yes"]
//!     "#,
//!     "schema.toml",
//! )?;
//! assert_eq!(schema.features().map(|(name, _)| name).collect::<Vec<_>>(), ["admitted", "age"]);
//! # Ok::<(), learn::schema::SchemaError>(())
//! ```

mod date;
mod draft;
mod error;
mod keys;
mod read;
mod show;

pub use date::{DateFormat, day_number, iso_date};
pub use draft::draft;
pub use error::SchemaError;

use std::collections::BTreeMap;

/// A declaration of records. Columns are kept, and become features, in the order of their names: so the order in which a file or a declaration has them
/// does not matter.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schema {
    /// What is to be predicted.
    pub label: Option<Label>,
    /// The column that says which person a record is about; never a feature.
    pub person: Option<String>,
    /// The declared columns by name, the label's included.
    pub columns: BTreeMap<String, Column>,
    /// Whether nobody has confirmed it yet: bounds and categories are proposals from one file.
    pub draft: bool,
}

/// What is to be predicted.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// The column, which is declared.
    pub column: String,
    /// Two classes of a number: 1 above the threshold, 0 elsewhere.
    pub above: Option<f64>,
}

/// One declared column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// What its cells hold.
    pub kind: Kind,
    /// What training and prediction put where a value is missing; without it a missing number is refused and a missing word is none of the values.
    pub fill: Option<Fill>,
    /// Whether models learn from it.
    pub feature: bool,
}

/// What the cells of a column hold.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A number.
    Number {
        /// Values outside are moved to the bound.
        bounds: Range,
        /// Whole numbers only.
        integer: bool,
    },
    /// One of some words (or numbers that are names).
    Words {
        /// The words, in the order of their features.
        values: Vec<String>,
        /// Whether other words may occur; they are none of the values.
        other: bool,
    },
    /// A day, as a number of days since 1970-01-01.
    Date {
        /// How it is written.
        format: DateFormat,
        /// Days outside are moved to the bound.
        bounds: Range,
    },
    /// Any text: for questions only.
    Text {
        /// Bytes that are looked at.
        bytes: usize,
    },
}

/// What stands in for a missing value.
#[derive(Debug, Clone, PartialEq)]
pub enum Fill {
    /// A number, or a day as a number.
    Number(f64),
    /// One of the values.
    Word(String),
}

/// The least and the greatest value of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The least.
    pub low: f64,
    /// The greatest, above the least.
    pub high: f64,
}

impl Range {
    /// The value, or the bound that it is beyond.
    pub fn clamp(&self, value: f64) -> f64 {
        value.clamp(self.low, self.high)
    }

    /// From bounds to 0..1.
    pub fn to_unit(&self, value: f64) -> f64 {
        (self.clamp(value) - self.low) / (self.high - self.low)
    }
}

impl Column {
    /// The bounds of a number or a day.
    pub fn bounds(&self) -> Option<Range> {
        match &self.kind {
            Kind::Number { bounds, .. } | Kind::Date { bounds, .. } => Some(*bounds),
            Kind::Words { .. } | Kind::Text { .. } => None,
        }
    }

    /// The declared words.
    pub fn values(&self) -> Option<&[String]> {
        match &self.kind {
            Kind::Words { values, .. } => Some(values),
            _ => None,
        }
    }
}

impl Schema {
    /// The columns that models learn from, in the order of their features.
    pub fn features(&self) -> impl Iterator<Item = (&str, &Column)> {
        self.columns.iter().filter(|(_, column)| column.feature).map(|(name, column)| (name.as_str(), column))
    }

    /// The label's column.
    pub fn label_column(&self) -> Option<&Column> {
        self.columns.get(&self.label.as_ref()?.column)
    }
}

#[cfg(test)]
mod tests;

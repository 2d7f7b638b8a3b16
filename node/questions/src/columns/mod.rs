//! Columns are declared, never discovered: what a column may hold is public, what it holds is not.

mod dates;
mod parse;
mod reading;

use serde::{Deserialize, Serialize};

pub use reading::{Cell, Row};

use crate::refusal::Refusal;

/// The most bytes of a value of an open set.
const MOST_TEXT: usize = 64;

/// A lower and a higher finite number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

impl Bounds {
    /// Bounds of `what`.
    ///
    /// # Errors
    /// If they are equal, in the wrong order or not finite, or so far apart that their difference is not.
    pub fn new(what: &str, low: f64, high: f64) -> Result<Self, Refusal> {
        let bounds = Self { low, high };
        if low.is_finite() && high.is_finite() && low < high && bounds.range().is_finite() {
            Ok(bounds)
        } else {
            Err(Refusal::Bounds { what: what.to_owned(), low, high })
        }
    }

    /// hi − lo.
    #[must_use]
    pub fn range(&self) -> f64 {
        self.high - self.low
    }

    /// Where in the bounds a value lies, between 0 and 1.
    #[must_use]
    pub fn share(&self, value: f64) -> f64 {
        ((value - self.low) / self.range()).clamp(0.0, 1.0)
    }
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Numbers, or dates as days since 1970.
    Number {
        /// Between which they are held; needed wherever they enter a sum.
        bounds: Option<Bounds>,
        /// Whole numbers only: one bin each.
        integer: bool,
        /// How dates are written (`%d.%m.%Y`), where these are dates.
        date: Option<String>,
    },
    /// One of these.
    Category {
        /// In the order of their coordinates.
        values: Vec<String>,
    },
    /// Anything, cut to so many bytes.
    Text {
        /// How many.
        bytes: usize,
    },
}

impl Kind {
    /// Words for messages.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Number { date: Some(_), .. } => "a date",
            Self::Number { .. } => "a number",
            Self::Category { .. } => "a category",
            Self::Text { .. } => "text",
        }
    }
}

/// One declared column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// As in the header of the file.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// What stands in for a missing value.
    pub fill: Option<String>,
}

/// All declared columns.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Columns {
    columns: Vec<Column>,
    /// The column whose value names a person.
    pub person: Option<String>,
    /// Whether some of the columns say what a model makes of a record: then questions are `FROM model`, and about records to test by.
    #[serde(default)]
    pub of_model: bool,
}

impl Columns {
    /// Adds a column, or replaces the one of this name.
    ///
    /// # Errors
    /// If its declaration contradicts itself.
    pub fn declare(&mut self, column: Column) -> Result<(), Refusal> {
        check(&column)?;
        match self.columns.iter_mut().find(|known| known.name == column.name) {
            Some(known) => *known = column,
            None => self.columns.push(column),
        }
        Ok(())
    }

    /// The columns in the order of their declaration, which is the order of the cells of a row.
    #[must_use]
    pub fn all(&self) -> &[Column] {
        &self.columns
    }

    /// The position of a column.
    ///
    /// # Errors
    /// If no declaration names it.
    pub fn position(&self, name: &str) -> Result<usize, Refusal> {
        self.columns.iter().position(|column| column.name == name).ok_or_else(|| {
            let known = self.columns.iter().map(|column| column.name.clone()).collect();
            Refusal::Undeclared { column: name.to_owned(), known }
        })
    }
}

fn check(column: &Column) -> Result<(), Refusal> {
    let bad = |why: &str| Refusal::Declaration { column: column.name.clone(), why: why.to_owned() };
    if column.name.is_empty() {
        return Err(bad("a column needs a name"));
    }
    match &column.kind {
        Kind::Number { bounds: Some(bounds), .. } => {
            Bounds::new(&column.name, bounds.low, bounds.high)?;
        }
        Kind::Number { bounds: None, .. } => {}
        Kind::Category { values } => {
            let mut sorted = values.clone();
            sorted.sort();
            sorted.dedup();
            if values.is_empty() || sorted.len() < values.len() {
                return Err(bad("`values` must name at least one category, and none twice"));
            }
        }
        Kind::Text { bytes } if (1..=MOST_TEXT).contains(bytes) => {}
        Kind::Text { .. } => return Err(bad("`text` must be between 1 and 64 bytes")),
    }
    match &column.fill {
        Some(fill) if !reading::can_fill(column, fill) => Err(bad("`fill` is not a value of the column")),
        _ => Ok(()),
    }
}

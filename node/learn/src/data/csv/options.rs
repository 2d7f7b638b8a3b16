//! What the columns of a CSV file mean. The file does not say, and guessing would be a way to learn from a
//! column that was never meant to be used: everything but numeric features is declared.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::schema::DateFormat;

/// How to read a CSV file with a header line. Columns without another job are numeric features.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CsvOptions {
    /// The column to predict; without one the records have no target.
    pub label: Option<String>,
    /// What the label column holds.
    pub target: TargetKind,
    /// Columns of words, each of which becomes one 0/1 feature per category.
    pub categorical: Vec<Categorical>,
    /// Columns that are not used.
    pub drop: Vec<String>,
    /// Columns of days, each of which becomes a number of days since 1970-01-01, with how they are written.
    pub dates: BTreeMap<String, DateFormat>,
    /// If given, only these columns are features, in this order (and behind them the categorical ones that are not named).
    pub features: Option<Vec<String>>,
    /// The column that says whom a record belongs to, for the `natural` partition; not a feature.
    pub id: Option<String>,
    /// A column with `train` and `test`: the `test` records become the common test set.
    pub split: Option<String>,
    /// What to do where a value is missing (empty, `?`, `NA`, `N/A`, `null` or `nan`).
    pub missing: Missing,
    /// What stands between two fields; where nothing is said the header shows it.
    pub delimiter: Option<char>,
    /// The decimal sign; where nothing is said a point, and a comma too where fields are not divided by commas.
    pub decimal: Option<char>,
    /// The encoding by its usual name; where nothing is said the header shows it.
    pub encoding: Option<String>,
    /// Whether quotes are letters as others are: then no field has a delimiter or a line break in it.
    pub plain_quotes: bool,
}

impl CsvOptions {
    /// Options with a label column and all else as by default.
    pub fn labelled(column: &str) -> Self {
        Self { label: Some(column.to_string()), ..Self::default() }
    }
}

/// What a label column holds.
///
/// Participants that learn together must agree on the classes, so they declare them; `Discover` looks at one's
/// own file only and is meant for a set that is then divided.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// Words, or at most twenty different whole numbers, are classes; anything else is a real number.
    #[default]
    Discover,
    /// Classes numbered from 0.
    Classes(usize),
    /// Classes with these names, numbered in this order.
    ClassNames(Vec<String>),
    /// Two classes: 1 where the number is above the threshold, 0 elsewhere.
    Above(f32),
    /// A real number.
    Real,
}

/// A column of words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Categorical {
    /// The column.
    pub column: String,
    /// Its categories in the order of the features made of them. Without them they are discovered, in one's
    /// own file only: participants that learn together declare them, or their features would not match.
    pub categories: Option<Vec<String>>,
    /// Whether other words may occur than the declared ones; they are none of the categories.
    pub other: bool,
    /// The category of a missing cell; without it a missing one is none of the categories, if anything is filled in at all.
    pub fill: Option<String>,
}

impl Categorical {
    /// A column whose categories are those found in the file, in alphabetical order.
    pub fn discovered(column: &str) -> Self {
        Self { column: column.to_string(), ..Self::default() }
    }
}

/// What to do where a value is missing: by default the file is refused.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Missing {
    /// What to put where a number is missing. A missing category then has 0 for every category.
    pub fill: Option<f32>,
    /// Whether a missing category may be none of the categories, also where no number is filled in.
    pub words: bool,
    /// What to put into one column, instead of `fill`.
    pub fill_column: BTreeMap<String, f32>,
}

impl Missing {
    /// Every missing number becomes `value`, every missing category none of the categories.
    pub fn fill(value: f32) -> Self {
        Self { fill: Some(value), ..Self::default() }
    }
}

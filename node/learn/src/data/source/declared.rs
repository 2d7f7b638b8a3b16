//! A table whose columns a schema declares: the file says only how it is written.

use std::path::Path;

use super::super::csv::{self, Categorical, CsvOptions, Missing, TargetKind};
use super::super::error::DataError;
use super::super::input::Input;
use super::super::scaling::{Bounds, Scaling};
use super::{DataSource, SourceKind};
use crate::schema::{Column, Fill, Kind, Range, Schema};

/// Whether a file must have the label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelUse {
    /// To learn, or to judge a model.
    Needed,
    /// To predict: it is read where it is there.
    IfThere,
}

impl DataSource {
    /// The same file, read as `schema` declares.
    ///
    /// # Guarantee
    /// Every record becomes a row by itself: bounds, categories and fills come from the schema, none from the file. Features are in the order of the
    /// schema, whatever the order of the file.
    ///
    /// # Errors
    /// No table with names above its columns, or a key that the schema decides.
    pub fn with_schema(&self, schema: &Schema, label: LabelUse) -> Result<Self, DataError> {
        let SourceKind::Csv(path, own) = &self.kind else {
            return Err(self.refusal("a schema is for tables with names above their columns: CSV"));
        };
        let file = CsvOptions {
            delimiter: own.delimiter,
            decimal: own.decimal,
            encoding: own.encoding.clone(),
            plain_quotes: own.plain_quotes,
            split: own.split.clone(),
            ..CsvOptions::default()
        };
        // Predictions are for all records.
        let file = if label == LabelUse::IfThere { CsvOptions { split: None, ..file } } else { file };
        if (CsvOptions { split: own.split.clone(), ..file.clone() } != *own)
            || self.scale.is_some()
            || self.target_bounds.is_some()
        {
            return Err(self.refusal(
                "the schema says what the columns are; behind the file stand only `delimiter`, `decimal`, `encoding`, `format`, `quotes`, `split`",
            ));
        }
        let has_label = match label {
            LabelUse::Needed => true,
            LabelUse::IfThere => has_column(path, &file, schema)?,
        };
        let options = declared(schema, file, has_label);
        let bounds =
            schema.features().filter_map(|(name, column)| Some((name.to_owned(), single(column.bounds()?))));
        let scale = Scaling::UnitsByName { bounds: bounds.collect(), default: None };
        let target_bounds = match (&schema.label, schema.label_column()) {
            (Some(label), Some(column)) if has_label && label.above.is_none() => column.bounds().map(single),
            _ => None,
        };
        let kind = SourceKind::Csv(path.clone(), options);
        Ok(Self { kind, scale: Some(scale), target_bounds, schema: None })
    }

    fn refusal(&self, why: &str) -> DataError {
        DataError::BadSource { spec: self.to_string(), why: why.to_owned() }
    }
}

fn has_column(path: &Path, file: &CsvOptions, schema: &Schema) -> Result<bool, DataError> {
    let Some(label) = &schema.label else { return Ok(false) };
    Ok(csv::header(&Input::table(path)?, file)?.contains(&label.column))
}

fn declared(schema: &Schema, file: CsvOptions, has_label: bool) -> CsvOptions {
    let label = schema.label.as_ref().filter(|_| has_label);
    let target = match (label, schema.label_column().map(|column| &column.kind)) {
        (Some(label), Some(Kind::Number { .. })) => {
            label.above.map_or(TargetKind::Real, |threshold| TargetKind::Above(threshold as f32))
        }
        (Some(_), Some(Kind::Words { values, .. })) => TargetKind::ClassNames(values.clone()),
        _ => TargetKind::Discover,
    };
    let words = schema.features().filter_map(|(name, column)| categorical(name, column));
    let dates = schema.features().filter_map(|(name, column)| match &column.kind {
        Kind::Date { format, .. } => Some((name.to_owned(), format.clone())),
        _ => None,
    });
    let fills = schema.features().filter_map(|(name, column)| match &column.fill {
        Some(Fill::Number(value)) => Some((name.to_owned(), *value as f32)),
        _ => None,
    });
    CsvOptions {
        label: label.map(|label| label.column.clone()),
        target,
        categorical: words.collect(),
        dates: dates.collect(),
        features: Some(schema.features().map(|(name, _)| name.to_owned()).collect()),
        id: schema.person.clone(),
        missing: Missing { fill: None, words: true, fill_column: fills.collect() },
        ..file
    }
}

fn categorical(name: &str, column: &Column) -> Option<Categorical> {
    let Kind::Words { values, other } = &column.kind else { return None };
    let fill = match &column.fill {
        Some(Fill::Word(word)) => Some(word.clone()),
        _ => None,
    };
    Some(Categorical { column: name.to_owned(), categories: Some(values.clone()), other: *other, fill })
}

fn single(range: Range) -> Bounds {
    Bounds { low: range.low as f32, high: range.high as f32 }
}

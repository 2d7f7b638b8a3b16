//! `describe`: Table 1 of a paper, column by column.

use super::ast::{Aggregate, Described, Kind, LevelSource, Levels, Question, Scalar, Value};
use crate::columns::{Column, Columns, Kind as Declared};
use crate::refusal::Refusal;

/// The question behind `murmur ask describe`: every declared column that has bounds or values.
///
/// # Errors
/// If no column can be described.
pub fn describe(columns: &Columns) -> Result<Question, Refusal> {
    let mut aggregates = Vec::new();
    for (at, declared) in columns.all().iter().enumerate() {
        if is_described(declared) {
            aggregates.extend(column(at, columns)?);
        }
    }
    if aggregates.is_empty() {
        return Err(Refusal::NoBounds {
            column: columns.all().first().map_or("age", |c| &c.name).to_owned(),
        });
    }
    Ok(Question { text: "describe".into(), aggregates, filter: None, groups: Vec::new(), least_nodes: None })
}

fn is_described(declared: &Column) -> bool {
    matches!(declared.kind, Declared::Number { bounds: Some(_), .. } | Declared::Category { .. })
}

/// What `describe(column)` asks.
pub(super) fn column(at: usize, columns: &Columns) -> Result<Vec<Aggregate>, Refusal> {
    let declared = &columns.all()[at];
    let name = &declared.name;
    match &declared.kind {
        Declared::Number { bounds: Some(bounds), integer, .. } => {
            let value = Value {
                text: name.clone(),
                scalar: Scalar::Column(at),
                bounds: *bounds,
                integer: *integer && bounds.low.fract() == 0.0 && bounds.high.fract() == 0.0,
                may_be_missing: declared.fill.is_none(),
            };
            let part = |written: String, kind: Kind| Aggregate { written, kind };
            let figure =
                |word: &str, which| part(format!("{word}({name})"), Kind::Described(value.clone(), which));
            let quantile = |written: String, q| part(written, Kind::Quantile(value.clone(), q));
            Ok(vec![
                figure("count", Described::Count),
                figure("missing", Described::Missing),
                figure("mean", Described::Mean),
                figure("stddev", Described::Stddev),
                quantile(format!("quantile({name}, 0.25)"), 0.25),
                quantile(format!("median({name})"), 0.5),
                quantile(format!("quantile({name}, 0.75)"), 0.75),
            ])
        }
        Declared::Number { bounds: None, .. } => Err(Refusal::NoBounds { column: name.clone() }),
        Declared::Category { values } => {
            let names = values.iter().cloned().chain(["other".into(), "missing".into()]).collect();
            let source = LevelSource::Category(at);
            let levels = Levels { text: name.clone(), names, declared: values.len(), source };
            Ok(vec![Aggregate { written: format!("histogram({name})"), kind: Kind::Histogram(levels) }])
        }
        kind => Err(Refusal::Kind { column: name.clone(), wanted: "a number", declared: kind.name() }),
    }
}

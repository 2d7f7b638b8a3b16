//! From TOML to a schema. Everything that does not fit is said at once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use toml::{Table, Value};

use super::keys::{Keys, section};
use super::{Column, DateFormat, Fill, Kind, Label, Range, Schema, SchemaError, day_number, iso_date};

/// Most bytes of a text column.
const LONGEST_TEXT: usize = 64;
/// Most values of a column of words.
const MOST_VALUES: usize = 10_000;

const COLUMN_KEYS: &[&str] = &["bounds", "integer", "fill", "values", "other", "date", "text", "feature"];

#[derive(Debug, Default)]
struct Head {
    label: Option<String>,
    above: Option<f64>,
    person: Option<String>,
    draft: bool,
}

impl Head {
    fn read(table: &Table, problems: &mut Vec<String>) -> Self {
        let known = ["label", "above", "person", "draft"];
        let mut keys = Keys::of(table, "schema".into(), &known, problems);
        Self {
            label: keys.text("label"),
            above: keys.number("above"),
            person: keys.text("person"),
            draft: keys.flag("draft").unwrap_or(false),
        }
    }
}

#[derive(Debug, Default)]
struct Declared {
    bounds: Option<Value>,
    integer: bool,
    fill: Option<Value>,
    values: Option<Value>,
    other: bool,
    date: Option<Value>,
    text: Option<Value>,
    feature: Option<bool>,
}

impl Declared {
    fn read(name: &str, table: &Table, problems: &mut Vec<String>) -> Self {
        let mut keys = Keys::of(table, format!("columns.{name}"), COLUMN_KEYS, problems);
        Self {
            bounds: keys.value("bounds"),
            integer: keys.flag("integer").unwrap_or(false),
            fill: keys.value("fill"),
            values: keys.value("values"),
            other: keys.flag("other").unwrap_or(false),
            date: keys.value("date"),
            text: keys.value("text"),
            feature: keys.flag("feature"),
        }
    }
}

impl Schema {
    /// Reads the schema in a file.
    ///
    /// # Errors
    /// A file that cannot be read, and as [`from_toml`](Self::from_toml).
    pub fn load(path: &Path) -> Result<Self, SchemaError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| SchemaError::File { path: path.to_owned(), why: error.to_string() })?;
        Self::from_toml(&text, &path.display().to_string())
    }

    /// Reads a schema; `source_name` is how errors call the text.
    ///
    /// # Errors
    /// Text that is not TOML, or a list of everything that does not fit.
    pub fn from_toml(text: &str, source_name: &str) -> Result<Self, SchemaError> {
        let syntax = |error: toml::de::Error| SchemaError::Syntax {
            source_name: source_name.to_owned(),
            message: error.to_string().trim_end().to_owned(),
        };
        let file: Table = toml::from_str(text).map_err(syntax)?;
        let mut problems = Vec::new();
        let schema = build(&file, &mut problems);
        match problems.is_empty() {
            true => Ok(schema),
            false => Err(SchemaError::Problems { source_name: source_name.to_owned(), problems }),
        }
    }
}

fn build(file: &Table, problems: &mut Vec<String>) -> Schema {
    let mut head = Head::default();
    let mut declared = BTreeMap::new();
    for (name, value) in file {
        match name.as_str() {
            "schema" => {
                head = section((name, value), problems)
                    .map(|table| Head::read(table, problems))
                    .unwrap_or_default();
            }
            "columns" => {
                for (name, value) in section((name, value), problems).into_iter().flatten() {
                    let own = section((&format!("columns.{name}"), value), problems);
                    declared.insert(name.clone(), own.map(|table| Declared::read(name, table, problems)));
                }
            }
            _ => {
                problems.push(format!("unknown section `{name}`; known are `[schema]` and `[columns.NAME]`"))
            }
        }
    }
    assemble(head, declared, problems)
}

/// Of the columns, `None` are declared and so broken that nothing can be said about them.
fn assemble(head: Head, declared: BTreeMap<String, Option<Declared>>, problems: &mut Vec<String>) -> Schema {
    let mut columns = BTreeMap::new();
    let names: BTreeSet<String> = declared.keys().cloned().collect();
    for (name, declared) in declared.into_iter().filter_map(|(name, own)| Some((name, own?))) {
        let wanted = declared.feature;
        match column(declared) {
            Ok(mut column) => {
                let is_text = matches!(column.kind, Kind::Text { .. });
                let is_taken = head.label.as_ref() == Some(&name) || head.person.as_ref() == Some(&name);
                if wanted == Some(true) && (is_text || is_taken) {
                    problems.push(format!("`columns.{name}`: it cannot be a feature"));
                }
                column.feature = wanted.unwrap_or(true) && !is_text && !is_taken;
                columns.insert(name, column);
            }
            Err(found) => {
                problems.extend(found.into_iter().map(|problem| format!("`columns.{name}`: {problem}")));
            }
        }
    }
    let label = head.label.map(|column| Label { column, above: head.above });
    match &label {
        None if head.above.is_some() => problems.push("`schema.above` needs `schema.label`".into()),
        // What is wrong with a broken column was said.
        Some(label) if columns.contains_key(&label.column) || !names.contains(&label.column) => {
            check_label(label, columns.get(&label.column), problems);
        }
        _ => {}
    }
    if label.as_ref().map(|label| &label.column) == head.person.as_ref() && head.person.is_some() {
        problems.push("`schema.label` and `schema.person` are one column".into());
    }
    if problems.is_empty() && !columns.values().any(|column| column.feature) {
        problems.push("no column is a feature: declare some under `[columns.NAME]`".into());
    }
    Schema { label, person: head.person, columns, draft: head.draft }
}

fn check_label(label: &Label, column: Option<&Column>, problems: &mut Vec<String>) {
    let name = &label.column;
    match (column.map(|column| &column.kind), label.above) {
        (None, _) => {
            problems.push(format!("`schema.label = {name:?}` is not declared: add `[columns.{name}]`"))
        }
        (Some(Kind::Number { .. }), _) | (Some(Kind::Words { other: false, .. }), None) => {}
        (Some(Kind::Words { other: true, .. }), _) => {
            problems.push(format!("`columns.{name}`: a label has no other values than the declared ones"));
        }
        (Some(_), Some(_)) => problems.push(format!(
            "`schema.above`: `{name}` is not a column of numbers: declare its `bounds` in place of `values`"
        )),
        (Some(_), None) => problems.push(format!("`columns.{name}`: a label is a number or one of `values`")),
    }
    if column.is_some_and(|column| column.fill.is_some()) {
        problems.push(format!("`columns.{name}`: a label is never filled in, since nobody could know it"));
    }
}

/// One column, or all that is wrong with it.
fn column(declared: Declared) -> Result<Column, Vec<String>> {
    let mut problems = Vec::new();
    let kind = match (&declared.values, &declared.date, &declared.text) {
        (Some(values), None, None) => words(values, &declared, &mut problems),
        (None, Some(format), None) => date(format, &declared, &mut problems),
        (None, None, Some(bytes)) => text(bytes, &declared, &mut problems),
        (None, None, None) => number(&declared, &mut problems),
        _ => {
            problems.push("`values`, `date` and `text` exclude each other".into());
            None
        }
    };
    if declared.other && declared.values.is_none() {
        problems.push("`other` belongs to `values`".into());
    }
    if declared.integer && (declared.values.is_some() || declared.date.is_some() || declared.text.is_some()) {
        problems.push("`integer` belongs to numbers".into());
    }
    let fill = match (&kind, declared.fill) {
        (Some(kind), Some(value)) => fill(kind, &value).map_err(|problem| problems.push(problem)).ok(),
        _ => None,
    };
    match kind {
        Some(kind) if problems.is_empty() => Ok(Column { kind, fill, feature: true }),
        _ => Err(problems),
    }
}

fn words(values: &Value, declared: &Declared, problems: &mut Vec<String>) -> Option<Kind> {
    let Some(values) = values.as_array() else {
        problems.push(format!("`values = {values}` is not a list such as [\"north\", \"south\"]"));
        return None;
    };
    if declared.bounds.is_some() {
        problems.push("`values` and `bounds` exclude each other".into());
    }
    let names: Vec<String> = values.iter().filter_map(word).collect();
    if names.len() < values.len() {
        problems.push("`values` are words, numbers, or true and false".into());
    }
    if names.is_empty() || names.len() > MOST_VALUES {
        problems.push(format!("`values` has {} entries; 1 to {MOST_VALUES} are taken", names.len()));
    }
    let mut seen = BTreeSet::new();
    for name in &names {
        if !seen.insert(name) {
            problems.push(format!("`values` has `{name}` twice"));
        }
    }
    Some(Kind::Words { values: names, other: declared.other })
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) if number.is_finite() => Some(number.to_string()),
        Value::Boolean(flag) => Some(flag.to_string()),
        _ => None,
    }
}

fn date(format: &Value, declared: &Declared, problems: &mut Vec<String>) -> Option<Kind> {
    let format = match format {
        Value::String(text) => DateFormat::parse(text),
        Value::Boolean(true) => Ok(DateFormat::Iso),
        other => Err(format!("`date = {other}` is no format such as \"%d.%m.%Y\", or \"iso\"")),
    };
    let bounds = bounds(declared, day, problems);
    let format = format.map_err(|problem| problems.push(problem)).ok()?;
    Some(Kind::Date { format, bounds: bounds? })
}

fn text(bytes: &Value, declared: &Declared, problems: &mut Vec<String>) -> Option<Kind> {
    if declared.bounds.is_some() || declared.fill.is_some() {
        problems.push("a text has neither `bounds` nor `fill`".into());
    }
    let taken = bytes.as_integer().and_then(|bytes| usize::try_from(bytes).ok());
    let taken = taken.filter(|bytes| (1..=LONGEST_TEXT).contains(bytes));
    if taken.is_none() {
        problems.push(format!("`text = {bytes}` is not between 1 and {LONGEST_TEXT} bytes"));
    }
    taken.map(|bytes| Kind::Text { bytes })
}

fn number(declared: &Declared, problems: &mut Vec<String>) -> Option<Kind> {
    let bounds = bounds(declared, real, problems)?;
    Some(Kind::Number { bounds, integer: declared.integer })
}

fn bounds(declared: &Declared, read: fn(&Value) -> Option<f64>, problems: &mut Vec<String>) -> Option<Range> {
    let Some(given) = &declared.bounds else {
        problems.push(
            "`bounds = [LOW, HIGH]` is missing: the least and the greatest value that can be meant".into(),
        );
        return None;
    };
    let shown = || format!("`bounds = {given}`");
    let Some([low, high]) = given.as_array().map(Vec::as_slice) else {
        problems.push(format!("{} are not two values", shown()));
        return None;
    };
    let (Some(low), Some(high)) = (read(low), read(high)) else {
        problems.push(format!("{} are not two values of this column (dates as \"2000-01-31\")", shown()));
        return None;
    };
    // Scaled values are single precision.
    if !(low < high && ((high - low) as f32).is_finite() && (high as f32) > (low as f32)) {
        problems.push(format!("{}: the first must be below the second", shown()));
        return None;
    }
    Some(Range { low, high })
}

/// A value that can occur: nothing that is filled in may lie where no value can.
fn fill(kind: &Kind, value: &Value) -> Result<Fill, String> {
    let wrong = |what: &str| format!("`fill = {value}` is not {what}");
    match kind {
        Kind::Number { bounds, integer } => {
            let number = real(value).ok_or_else(|| wrong("a number"))?;
            if *integer && number != libm::trunc(number) {
                return Err(wrong("a whole number, and the column is `integer = true`"));
            }
            inside(*bounds, number).ok_or_else(|| {
                wrong(&format!("within the bounds of the column, {} to {}", bounds.low, bounds.high))
            })
        }
        Kind::Date { bounds, .. } => {
            let day = day(value).ok_or_else(|| wrong("a date such as \"2000-01-31\""))?;
            let shown = |day| day_number(day).unwrap_or_default();
            inside(*bounds, day).ok_or_else(|| {
                let (low, high) = (shown(bounds.low), shown(bounds.high));
                wrong(&format!("within the bounds of the column, {low} to {high}"))
            })
        }
        Kind::Words { values, .. } => word(value)
            .filter(|word| values.contains(word))
            .map(Fill::Word)
            .ok_or_else(|| wrong("one of the values")),
        Kind::Text { .. } => Err(wrong("possible in a text")),
    }
}

fn inside(bounds: Range, number: f64) -> Option<Fill> {
    (bounds.low..=bounds.high).contains(&number).then_some(Fill::Number(number))
}

pub(super) fn real(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number).filter(|number| number.is_finite()),
        _ => None,
    }
}

fn day(value: &Value) -> Option<f64> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Datetime(date) => date.to_string(),
        _ => return None,
    };
    iso_date(&text).map(f64::from)
}

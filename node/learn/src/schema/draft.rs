//! A first draft of a schema from one file: proposals for a person to confirm, never taken as they are.
//!
//! Bounds and categories that come from private records tell about them to everybody who gets the schema. So a draft is marked as one, and what starts a
//! swarm refuses it until somebody has read every line and put in what is known about the columns instead of what is in this file.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{DateFormat, day_number};
use crate::data::RawTable;
use crate::data::csv::{is_missing, number};

/// Most different words that are proposed as categories.
const MOST_WORDS: usize = 60;

const HEAD: &str = "\
# A draft: bounds and values are PROPOSALS taken from one file, and everybody in
# the swarm will see this text. Put what is known about each column in their
# place (what can occur, not what occurs here), drop what nobody needs, and when
# every line is what you mean, delete the line `draft = true`.
";

/// The text of a draft. `label` and `person` name columns, where they are known.
pub fn draft(table: &RawTable, label: Option<&str>, person: Option<&str>) -> String {
    let mut text = format!("{HEAD}\n[schema]\ndraft = true\n");
    match label {
        Some(label) => _ = writeln!(text, "label = {}", quoted(label)),
        None => text.push_str("# label = \"…\"   what is to be predicted\n"),
    }
    match person {
        Some(person) => _ = writeln!(text, "person = {}", quoted(person)),
        None => text.push_str(
            "# person = \"…\"   the column that says whom a record is about, where persons have several\n",
        ),
    }
    // What has no name cannot be declared.
    let mut order: Vec<usize> = (0..table.names.len()).filter(|&at| !table.names[at].is_empty()).collect();
    order.sort_by_key(|&at| &table.names[at]);
    for at in order {
        let name = &table.names[at];
        if person != Some(name.as_str()) {
            let found = Found::of(table, at);
            text.push_str(&found.section(name, label == Some(name.as_str())));
        }
    }
    text
}

/// What one column holds.
struct Found {
    records: usize,
    missing: usize,
    /// Different words, as long as there are few.
    words: Option<BTreeSet<String>>,
    numbers: Option<Vec<f64>>,
    days: Option<(DateFormat, Vec<f64>)>,
}

impl Found {
    fn of(table: &RawTable, at: usize) -> Self {
        let cells: Vec<&str> = table
            .rows
            .iter()
            .map(|row| row[at].as_str())
            .filter(|cell| !is_missing(cell.as_bytes()))
            .collect();
        let words: BTreeSet<String> = cells.iter().map(|cell| (*cell).to_owned()).collect();
        let all = |read: &dyn Fn(&str) -> Option<f64>| {
            (!cells.is_empty())
                .then(|| cells.iter().map(|cell| read(cell)).collect::<Option<Vec<f64>>>())
                .flatten()
        };
        let finite =
            |cell: &str| number::<f64>(cell.as_bytes(), table.decimal).filter(|value| value.is_finite());
        let days = DateFormat::usual().find_map(|format| {
            let days = all(&|cell| format.day(cell).map(f64::from))?;
            Some((format, days))
        });
        Self {
            records: table.rows.len(),
            missing: table.rows.len() - cells.len(),
            numbers: all(&finite),
            days,
            words: (words.len() <= MOST_WORDS).then_some(words),
        }
    }

    fn section(&self, name: &str, is_label: bool) -> String {
        let mut text = format!("\n[columns.{}]\n", key(name));
        match (&self.days, &self.numbers, &self.words) {
            (Some((format, days)), _, _) => self.days_section(&mut text, format, days),
            (None, Some(numbers), words) => {
                self.numbers_section(&mut text, numbers, (words.as_ref(), is_label))
            }
            (None, None, Some(words)) if !words.is_empty() => {
                _ = writeln!(
                    text,
                    "values = [{}]   # proposal",
                    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(", ")
                );
                if self.missing > 0 {
                    _ = writeln!(
                        text,
                        "# {} of {} are missing: none of the values, or `fill = \"…\"`",
                        self.missing, self.records
                    );
                }
            }
            _ => {
                text = format!(
                    "\n# `{name}` has many different words: for questions `text = 8`, never learnt from\n"
                );
                _ = writeln!(text, "[columns.{}]\ntext = 8", key(name));
            }
        }
        text
    }

    fn days_section(&self, text: &mut String, format: &DateFormat, days: &[f64]) {
        let (low, high) = range(days);
        let shown = |day: f64| quoted(&day_number(day).unwrap_or_default());
        _ = writeln!(text, "date = {}", quoted(&format.to_string()));
        _ = writeln!(
            text,
            "bounds = [{}, {}]   # proposal",
            shown(low),
            shown(if low < high { high } else { low + 1.0 })
        );
        if self.missing > 0 {
            let middle = libm::floor(0.5 * (low + high));
            _ = writeln!(
                text,
                "fill = {}   # proposal: {} of {} are missing",
                shown(middle),
                self.missing,
                self.records
            );
        }
    }

    fn numbers_section(
        &self,
        text: &mut String,
        numbers: &[f64],
        (words, is_label): (Option<&BTreeSet<String>>, bool),
    ) {
        let whole = numbers.iter().all(|value| *value == libm::trunc(*value));
        if is_label && whole && words.is_some_and(|words| words.len() <= 20) {
            let distinct: BTreeSet<i64> = numbers.iter().map(|value| *value as i64).collect();
            let values: Vec<String> = distinct.iter().map(|value| quoted(&value.to_string())).collect();
            _ = writeln!(text, "values = [{}]   # proposal", values.join(", "));
            return;
        }
        let (low, high) = rounded(range(numbers));
        _ = writeln!(text, "bounds = [{}, {}]   # proposal", low + 0.0, high + 0.0);
        if whole {
            text.push_str("integer = true\n");
        }
        if whole && !is_label && words.is_some_and(|words| (3..=10).contains(&words.len())) {
            text.push_str(
                "# if these numbers are names and not amounts: `values = [1, 2, …]` in place of the above\n",
            );
        }
        if self.missing > 0 {
            let middle = 0.5 * (low + high);
            let middle = if whole { libm::floor(middle) } else { middle };
            _ = writeln!(
                text,
                "fill = {middle}   # proposal: {} of {} are missing",
                self.missing, self.records
            );
        }
    }
}

fn range(values: &[f64]) -> (f64, f64) {
    values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| (low.min(value), high.max(value)))
}

/// Bounds with one digit that contain the values: coarse, so that they tell little and look like what they are.
fn rounded((low, high): (f64, f64)) -> (f64, f64) {
    let width = if high > low { high - low } else { high.abs().max(1.0) };
    let step = libm::pow(10.0, libm::floor(libm::log10(width)));
    let down = libm::floor(low / step) * step;
    let up = libm::ceil(high / step) * step;
    let down = if low >= 0.0 && down <= width { 0.0 } else { down };
    (tidy(down), tidy(if up > down { up } else { down + step }))
}

/// Without digits that only rounding made.
fn tidy(value: f64) -> f64 {
    format!("{value:.9e}").parse().unwrap_or(value)
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A key as it may stand in a heading.
fn key(name: &str) -> String {
    let bare = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if bare { name.to_owned() } else { quoted(name) }
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, Range, Schema};
    use super::*;
    use crate::data::DecimalSign;

    fn table() -> RawTable {
        let rows = [
            ["7", "31.05.2024", "1,5", "north", "no", "free text 1"],
            ["8", "01.06.2024", "", "south", "yes", "free text 2"],
            ["8", "02.06.2024", "87,25", "", "no", "free text 3"],
        ];
        let mut rows: Vec<Vec<String>> = rows.iter().map(|row| row.map(String::from).to_vec()).collect();
        // More words than are taken for categories.
        let first = rows[0].clone();
        rows.extend((0..100).map(|at| {
            let mut row = first.clone();
            row[5] = format!("more {at}");
            row
        }));
        let names = ["patient", "seen", "a weight", "region", "sick", "note"].map(String::from).to_vec();
        RawTable { names, rows, decimal: DecimalSign::Comma }
    }

    #[test]
    fn a_draft_can_be_read_and_says_that_it_is_one() {
        let text = draft(&table(), Some("sick"), Some("patient"));
        let schema = Schema::from_toml(&text, "draft").unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert!(schema.draft);
        assert_eq!(schema.columns["a weight"].bounds(), Some(Range { low: 0.0, high: 90.0 }));
        assert_eq!(schema.columns["region"].values().unwrap(), ["north", "south"]);
        assert_eq!(schema.columns["sick"].values().unwrap(), ["no", "yes"]);
        assert!(matches!(schema.columns["note"].kind, Kind::Text { bytes: 8 }));
        assert!(
            matches!(&schema.columns["seen"].kind, Kind::Date { format, .. } if format.to_string() == "%d.%m.%Y")
        );
        assert!(!schema.columns.contains_key("patient"));
        assert_eq!(text.matches("# proposal").count(), 5, "{text}");
    }

    #[test]
    fn proposed_bounds_are_coarse_and_contain_everything() {
        assert_eq!(rounded((29.0, 77.0)), (0.0, 80.0));
        assert_eq!(rounded((0.0, 1.0)), (0.0, 1.0));
        assert_eq!(rounded((-2.6, 6.2)), (-3.0, 7.0));
        assert_eq!(rounded((0.001, 0.0042)), (0.0, 0.005));
        assert_eq!(rounded((5.0, 5.0)).0, 0.0);
        assert_eq!(rounded((1990.0, 2010.0)), (1990.0, 2010.0));
    }
}

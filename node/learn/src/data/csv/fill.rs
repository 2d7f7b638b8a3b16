//! The second pass over a CSV file: numbers into arrays of the size that the first pass found.

use std::collections::BTreeMap;

use super::super::dataset::Targets;
use super::super::error::{Cell, DataError, Place, listed};
use super::super::input::Input;
use super::columns::{Columns, Role};
use super::dialect::Dialect;
use super::problems::Problems;
use super::survey::{ResolvedTarget, Survey};
use super::{DecimalSign, csv_error, is_missing, number, text};

/// The content of a file as arrays.
#[derive(Debug)]
pub(super) struct Filled {
    pub(super) features: Vec<f32>,
    pub(super) targets: Targets,
    pub(super) groups: Vec<u32>,
    pub(super) train_rows: Vec<u32>,
    pub(super) test_rows: Vec<u32>,
}

impl Filled {
    pub(super) fn read(
        input: &Input,
        dialect: Dialect,
        (columns, survey): (&Columns, &Survey),
        problems: &mut Problems,
    ) -> Result<Self, DataError> {
        let mut reader = dialect.open(input)?;
        let mut filler = Filler::new(columns, survey);
        let mut record = csv::ByteRecord::new();
        let mut row = 0u64;
        while reader.read_byte_record(&mut record).map_err(|error| csv_error(input, error))? {
            row += 1;
            if row as usize > survey.records {
                return Err(input.malformed("the file changed while it was read"));
            }
            // Rows of another length were found in the first pass.
            if record.len() == columns.names.len() {
                filler.add(row, &record, problems)?;
            }
        }
        if row as usize != survey.records {
            return Err(input.malformed("the file changed while it was read"));
        }
        filler.signs.check().or_else(|error| problems.add(error))?;
        Ok(filler.filled)
    }
}

/// Numbers of features, labels, groups and rows of either part.
type Lengths = [usize; 5];

impl Filled {
    /// As [`read`](Self::read), without the rows that have a problem: the records, and the row (from 0) of each.
    pub(super) fn read_good(
        input: &Input,
        dialect: Dialect,
        (columns, survey): (&Columns, &Survey),
    ) -> Result<(Self, Vec<u32>), DataError> {
        let mut reader = dialect.open(input)?;
        let (mut filler, mut rows) = (Filler::new(columns, survey), Vec::new());
        let mut record = csv::ByteRecord::new();
        let mut row = 0;
        while reader.read_byte_record(&mut record).map_err(|error| csv_error(input, error))? {
            row += 1;
            if record.len() != columns.names.len() {
                continue;
            }
            let (before, mut problems) = (filler.filled.lengths(), Problems::default());
            filler.add(u64::from(row), &record, &mut problems)?;
            if problems.is_empty() { rows.push(row - 1) } else { filler.filled.cut(before) }
        }
        Ok((filler.filled, rows))
    }

    fn lengths(&self) -> Lengths {
        let targets = match &self.targets {
            Targets::Class { labels, .. } => labels.len(),
            Targets::Real(values) => values.len(),
            Targets::None => 0,
        };
        [self.features.len(), targets, self.groups.len(), self.train_rows.len(), self.test_rows.len()]
    }

    fn cut(&mut self, [features, targets, groups, train, test]: Lengths) {
        self.features.truncate(features);
        match &mut self.targets {
            Targets::Class { labels, .. } => labels.truncate(targets),
            Targets::Real(values) => values.truncate(targets),
            Targets::None => {}
        }
        self.groups.truncate(groups);
        self.train_rows.truncate(train);
        self.test_rows.truncate(test);
    }
}

struct Filler<'a> {
    columns: &'a Columns,
    survey: &'a Survey,
    class_index: BTreeMap<&'a str, u32>,
    group_index: BTreeMap<&'a str, u32>,
    signs: Signs,
    filled: Filled,
}

impl<'a> Filler<'a> {
    fn new(columns: &'a Columns, survey: &'a Survey) -> Self {
        let capacity = |wanted: bool| if wanted { survey.records } else { 0 };
        let targets = match &survey.target {
            None => Targets::None,
            Some(ResolvedTarget::Real) => Targets::Real(Vec::with_capacity(survey.records)),
            Some(ResolvedTarget::Numbered(classes)) => class_targets(survey, *classes),
            Some(ResolvedTarget::Whole(values)) => class_targets(survey, values.count()),
            Some(ResolvedTarget::Named(names)) => class_targets(survey, names.len()),
            Some(ResolvedTarget::Above(_)) => class_targets(survey, 2),
        };
        let class_index = match &survey.target {
            Some(ResolvedTarget::Named(names)) => positions(names),
            _ => BTreeMap::new(),
        };
        Self {
            columns,
            survey,
            class_index,
            group_index: positions(&survey.group_names),
            signs: Signs::default(),
            filled: Filled {
                features: Vec::with_capacity(survey.records * survey.width(columns)),
                targets,
                groups: Vec::with_capacity(capacity(columns.id.is_some())),
                train_rows: Vec::with_capacity(capacity(columns.split.is_some())),
                test_rows: Vec::new(),
            },
        }
    }

    /// Adds a record. What is wrong with a cell is a problem of the whole file, which is then not used: what stands in its place does not matter.
    fn add(&mut self, row: u64, record: &csv::ByteRecord, problems: &mut Problems) -> Result<(), DataError> {
        let columns = self.columns;
        for (at, role) in &columns.features {
            self.add_feature(row, (*at, role), record[*at].trim_ascii())
                .or_else(|error| problems.add(error))?;
        }
        if let Some(at) = columns.label {
            self.add_label(row, at, record[at].trim_ascii()).or_else(|error| problems.add(error))?;
        }
        if let Some(at) = columns.id {
            let id = text(record[at].trim_ascii());
            self.filled.groups.push(self.group_index.get(id.as_ref()).copied().unwrap_or(0));
        }
        match columns.split {
            Some(at) => self.add_split(row, at, record[at].trim_ascii()).or_else(|error| problems.add(error)),
            None => Ok(()),
        }
    }

    fn add_feature(&mut self, row: u64, (at, role): (usize, &Role), cell: &[u8]) -> Result<(), DataError> {
        let place = || self.columns.place(row, at);
        match role {
            Role::Number { fill } => {
                let kind = if self.columns.label.is_some() { Cell::Feature } else { Cell::Unlabelled };
                let value = parse_number((cell, self.columns.decimal), (kind, *fill), place)?;
                self.signs.note(self.columns, (row, at), cell);
                self.filled.features.push(value);
            }
            Role::Day { format, fill } => {
                let day = format.day(&text(cell));
                let value = match (day, is_missing(cell), fill) {
                    (Some(day), _, _) => day as f32,
                    (None, true, Some(fill)) => *fill,
                    (None, true, None) => {
                        return Err(DataError::Missing { place: place(), cell: Cell::Feature });
                    }
                    (None, false, _) => {
                        let text = text(cell).into_owned();
                        return Err(DataError::NotADate { place: place(), text, format: format.to_string() });
                    }
                };
                self.filled.features.push(value);
            }
            Role::Word { at: word, fill_missing } => {
                let hot = self.category(row, at, (*word, *fill_missing), cell)?;
                let start = self.filled.features.len();
                let width = self.survey.categories[*word].names.len();
                self.filled.features.resize(start + width, 0.0);
                if let Some(hot) = hot {
                    self.filled.features[start + hot] = 1.0;
                }
            }
        }
        Ok(())
    }

    /// The position of a word among the categories, or `None` where it is missing or another one and may be.
    fn category(
        &self,
        row: u64,
        at: usize,
        (word, fill_missing): (usize, bool),
        cell: &[u8],
    ) -> Result<Option<usize>, DataError> {
        let text = text(cell);
        let categories = &self.survey.categories[word];
        let declared = &self.columns.words[word].1;
        // A declared category may be called `NA`.
        if let Some(found) = position(&categories.index, &text, self.columns.decimal) {
            return Ok(Some(found));
        }
        let place = self.columns.place(row, at);
        match (is_missing(cell), fill_missing) {
            (true, true) => Ok(declared.fill.as_ref().and_then(|fill| categories.index.get(fill).copied())),
            (true, false) => Err(DataError::Missing { place, cell: Cell::Feature }),
            (false, _) if declared.other => Ok(None),
            (false, _) => Err(DataError::UnknownCategory {
                place,
                text: text.into_owned(),
                categories: categories.names.clone(),
            }),
        }
    }

    fn add_label(&mut self, row: u64, at: usize, cell: &[u8]) -> Result<(), DataError> {
        let place = || self.columns.place(row, at);
        let outside = |classes: String| DataError::LabelOutside {
            place: place(),
            label: text(cell).into_owned(),
            classes,
        };
        let class = match &self.survey.target {
            Some(ResolvedTarget::Named(names)) => {
                match position(&self.class_index, &text(cell), self.columns.decimal) {
                    Some(class) => class,
                    None if is_missing(cell) => {
                        return Err(DataError::Missing { place: place(), cell: Cell::Label });
                    }
                    None => return Err(outside(listed(names))),
                }
            }
            Some(ResolvedTarget::Whole(values)) => {
                let value = parse_number((cell, self.columns.decimal), LABEL, place)?;
                values.class(f64::from(value)).ok_or_else(|| outside(listed(&values.names())))?
            }
            Some(ResolvedTarget::Numbered(classes)) => {
                let value = parse_number((cell, self.columns.decimal), LABEL, place)?;
                if value < 0.0 || value >= *classes as f32 || value != libm::truncf(value) {
                    return Err(outside(format!("0 to {}", *classes as i64 - 1)));
                }
                value as u32
            }
            Some(ResolvedTarget::Above(threshold)) => {
                u32::from(parse_number((cell, self.columns.decimal), LABEL, place)? > *threshold)
            }
            Some(ResolvedTarget::Real) | None => 0,
        };
        match &mut self.filled.targets {
            Targets::Class { labels, .. } => labels.push(class),
            Targets::Real(values) => {
                let number =
                    parse_number((cell, self.columns.decimal), LABEL, || self.columns.place(row, at))?;
                self.signs.note(self.columns, (row, at), cell);
                values.push(number);
            }
            Targets::None => {}
        }
        Ok(())
    }

    fn add_split(&mut self, row: u64, at: usize, cell: &[u8]) -> Result<(), DataError> {
        let index = (row - 1) as u32;
        if cell.eq_ignore_ascii_case(b"train") {
            self.filled.train_rows.push(index);
        } else if cell.eq_ignore_ascii_case(b"test") {
            self.filled.test_rows.push(index);
        } else {
            return Err(DataError::UnknownCategory {
                place: self.columns.place(row, at),
                text: text(cell).into_owned(),
                categories: vec!["train".into(), "test".into()],
            });
        }
        Ok(())
    }
}

/// The first number with a comma and the first with a point, where either may be the decimal sign.
#[derive(Default)]
struct Signs {
    comma: Option<(Place, String)>,
    point: Option<(Place, String)>,
}

impl Signs {
    fn note(&mut self, columns: &Columns, (row, at): (u64, usize), cell: &[u8]) {
        if columns.decimal != DecimalSign::Either {
            return;
        }
        let first = match (cell.contains(&b','), cell.contains(&b'.')) {
            (true, _) => &mut self.comma,
            (false, true) => &mut self.point,
            (false, false) => return,
        };
        first.get_or_insert_with(|| (columns.place(row, at), text(cell).into_owned()));
    }

    /// Both in one file: one of them may group thousands, and guessing would be wrong by a factor of a thousand.
    fn check(&self) -> Result<(), DataError> {
        let (Some((comma, with_comma)), Some((point, with_point))) = (&self.comma, &self.point) else {
            return Ok(());
        };
        let (earlier, later) = if comma.row <= point.row {
            ((comma, with_comma), (point, with_point))
        } else {
            ((point, with_point), (comma, with_comma))
        };
        let other = format!("`{}` in row {}, column `{}`", earlier.1, earlier.0.row, earlier.0.column);
        Err(DataError::TwoSigns { place: later.0.clone(), text: later.1.clone(), other })
    }
}

fn class_targets(survey: &Survey, classes: usize) -> Targets {
    Targets::Class { labels: Vec::with_capacity(survey.records), classes }
}

fn positions(names: &[String]) -> BTreeMap<&str, u32> {
    names.iter().enumerate().map(|(at, name)| (name.as_str(), at as u32)).collect()
}

/// A label is never filled in.
const LABEL: (Cell, Option<f32>) = (Cell::Label, None);

/// Where a word stands among others. Numbers that are names are one name however they are written: `1`, `+1` and `1.0`.
fn position<K: std::borrow::Borrow<str> + Ord, V: Copy>(
    index: &BTreeMap<K, V>,
    text: &str,
    decimal: DecimalSign,
) -> Option<V> {
    index.get(text).copied().or_else(|| {
        let value: f64 = number(text.as_bytes(), decimal).filter(|value: &f64| value.is_finite())?;
        // Without the sign of a zero.
        index.get((value + 0.0).to_string().as_str()).copied()
    })
}

/// A finite number, or `fill` where the cell has none.
fn parse_number(
    (bytes, decimal): (&[u8], DecimalSign),
    (cell, fill): (Cell, Option<f32>),
    place: impl Fn() -> Place,
) -> Result<f32, DataError> {
    let text = || text(bytes).into_owned();
    if let Some(value) = number::<f32>(bytes, decimal) {
        if value.is_finite() {
            return Ok(value);
        }
        if !value.is_nan() {
            return Err(DataError::NotFinite { place: place(), text: text() });
        }
    }
    match (is_missing(bytes), fill) {
        (true, Some(value)) => Ok(value),
        (true, None) => Err(DataError::Missing { place: place(), cell }),
        (false, _) => Err(DataError::NotANumber { place: place(), text: text(), cell }),
    }
}

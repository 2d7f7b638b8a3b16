//! The libsvm format: one record per line, `label index:value index:value … # comment`, indices increasing.
//!
//! Read in two passes like CSV. Indices count from 1 unless it is said that they count from 0: one record with an index 0 must not move all others' features.

use std::io::BufRead;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::csv::TargetKind;
use super::dataset::{Dataset, Loaded, Targets};
use super::error::{DataError, Place};
use super::input::Input;
use super::targets;

/// Most features, and most numbers in all: rows are stored densely.
const MAX_FEATURES: u64 = 10_000_000;
const MAX_VALUES: u64 = 1 << 32;

/// How to read a libsvm file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LibsvmOptions {
    /// Number of features. Without it the largest index of one's own file decides: participants that learn
    /// together declare it.
    pub features: Option<usize>,
    /// Whether indices count from 0; else from 1, and a 0 is refused.
    pub from_zero: bool,
    /// What the labels are.
    pub target: TargetKind,
}

/// Reads a libsvm file, plain or gzipped.
///
/// # Errors
/// A missing file, a line that is not in this format, an index above the declared number of features, a label
/// outside the classes, or a value that is not finite; the error names file, row and column.
pub fn read_libsvm(path: impl AsRef<Path>, options: &LibsvmOptions) -> Result<Loaded, DataError> {
    read_input(&Input::file(path), options)
}

pub(crate) fn read_input(input: &Input, options: &LibsvmOptions) -> Result<Loaded, DataError> {
    let mut survey = Survey::default();
    for_each_row(input, |row, fields| survey.add(input, (row, fields), options))?;
    let width = survey.width(input, options)?;
    let first = u64::from(!options.from_zero);
    let mut features = Vec::with_capacity(survey.records * width);
    let mut labels = Vec::with_capacity(survey.records);
    for_each_row(input, |_, fields| {
        labels.push(fields.label);
        let start = features.len();
        features.resize(start + width, 0.0f32);
        for (index, value) in fields.values.iter() {
            let column = (index - first) as usize;
            if column >= width || labels.len() > survey.records {
                return Err(input.malformed("the file changed while it was read"));
            }
            features[start + column] = *value;
        }
        Ok(())
    })?;
    let file = input.name();
    let (targets, names) = targets::from_numbers(&file, &labels, &options.target)?;
    let named = matches!(targets, Targets::Class { .. }).then_some(names).flatten();
    let mut data = Dataset::new(features, width, targets).map_err(|error| error.in_file(&file))?;
    if let Some(names) = named {
        data = data.with_class_names(names)?;
    }
    Ok(Loaded { train: data, test: None })
}

/// One line.
#[derive(Default)]
struct Fields {
    label: f64,
    values: Vec<(u64, f32)>,
}

#[derive(Default)]
struct Survey {
    records: usize,
    largest_index: u64,
}

impl Survey {
    fn add(
        &mut self,
        input: &Input,
        (row, fields): (u64, &Fields),
        options: &LibsvmOptions,
    ) -> Result<(), DataError> {
        self.records += 1;
        if let (Some((first, _)), Some((last, _))) = (fields.values.first(), fields.values.last()) {
            if *first == 0 && !options.from_zero {
                return Err(input.malformed(format!(
                    "row {row}: the index 0, but indices count from 1; say `first=0` behind the file where they count from 0"
                )));
            }
            self.largest_index = self.largest_index.max(*last);
        }
        Ok(())
    }

    fn width(&self, input: &Input, options: &LibsvmOptions) -> Result<usize, DataError> {
        if self.records == 0 {
            return Err(DataError::Empty { file: input.name() });
        }
        let used = self.largest_index.saturating_add(u64::from(options.from_zero));
        let width = options.features.map_or(used, |declared| declared as u64);
        if used > width {
            let why = format!(
                "the index {} does not fit {width} features that count from {}",
                self.largest_index,
                u8::from(!options.from_zero)
            );
            return Err(input.malformed(why));
        }
        if width == 0 {
            return Err(input.malformed("no record has a feature"));
        }
        let too_large = |what, count, limit| DataError::TooLarge { file: input.name(), what, count, limit };
        if width > MAX_FEATURES {
            return Err(too_large("features", width, MAX_FEATURES));
        }
        let values = width.saturating_mul(self.records as u64);
        if values > MAX_VALUES {
            return Err(too_large("numbers in dense rows", values, MAX_VALUES));
        }
        Ok(width as usize)
    }
}

/// Parses every line that holds a record.
fn for_each_row(
    input: &Input,
    mut take: impl FnMut(u64, &Fields) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let mut content = input.open()?;
    let mut line = Vec::new();
    let mut fields = Fields::default();
    let mut row = 0u64;
    loop {
        line.clear();
        let read = content.read_until(b'\n', &mut line).map_err(|source| input.read_error(source))?;
        if read == 0 {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.split('#').next().unwrap_or_default().trim();
        if !text.is_empty() {
            row += 1;
            parse_line(input, row, text, &mut fields)?;
            take(row, &fields)?;
        }
    }
}

fn parse_line(input: &Input, row: u64, text: &str, fields: &mut Fields) -> Result<(), DataError> {
    let mut words = text.split_ascii_whitespace();
    let label = words.next().unwrap_or_default();
    fields.label = parse(input, label, (row, "label"))?;
    fields.values.clear();
    for word in words {
        let Some((index, value)) = word.split_once(':') else {
            return Err(input.malformed(format!("row {row}: `{word}` is not `index:value`")));
        };
        if index == "qid" {
            continue;
        }
        let Ok(position) = index.parse::<u64>() else {
            return Err(input.malformed(format!("row {row}: the index `{index}` is not a whole number")));
        };
        if fields.values.last().is_some_and(|(last, _)| *last >= position) {
            return Err(input.malformed(format!("row {row}: the index {position} does not increase")));
        }
        fields.values.push((position, parse(input, value, (row, index))? as f32));
    }
    Ok(())
}

fn parse(input: &Input, text: &str, (row, column): (u64, &str)) -> Result<f64, DataError> {
    let Ok(value) = text.parse::<f64>() else {
        return Err(input.malformed(format!("row {row}, column `{column}`: `{text}` is not a number")));
    };
    if !(value as f32).is_finite() {
        let place = Place { file: input.name(), row, column: column.to_string() };
        return Err(DataError::NotFinite { place, text: text.to_string() });
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str, options: &LibsvmOptions) -> Result<Loaded, DataError> {
        read_input(&Input::Embedded { name: "test.svm", bytes: text.as_bytes().to_vec().leak() }, options)
    }

    fn refused(text: &str) -> String {
        read(text, &LibsvmOptions::default()).unwrap_err().to_string()
    }

    #[test]
    fn absent_indices_are_zero_and_labels_are_sorted_into_classes() {
        let text = "+1 1:0.5 3:-2 # a comment\n\n# nothing\n-1 2:4e0 qid:3\n";
        let data = read(&text.replace(" qid:3", ""), &LibsvmOptions::default()).unwrap().train;
        assert_eq!((data.row(0), data.row(1)), (&[0.5, 0.0, -2.0][..], &[0.0, 4.0, 0.0][..]));
        assert_eq!(data.labels().unwrap().as_ref(), [1, 0]);
        assert_eq!(data.class_names().unwrap(), ["-1", "1"]);
    }

    #[test]
    fn a_file_counts_from_zero_where_it_is_said_and_never_by_one_record() {
        let from_zero = LibsvmOptions { from_zero: true, ..Default::default() };
        let data = read("1 0:5 1:6\n0 1:7\n", &from_zero).unwrap().train;
        assert_eq!((data.row(0), data.row(1)), (&[5.0, 6.0][..], &[0.0, 7.0][..]));
        // One record more must not move the features of the others.
        let message = refused("1 1:6\n0 0:7\n");
        assert!(message.contains("row 2") && message.contains("first=0"), "{message}");
    }

    #[test]
    fn declared_features_give_wider_rows_and_refuse_larger_indices() {
        let declared = |features| LibsvmOptions { features: Some(features), ..Default::default() };
        assert_eq!(read("1 2:1\n", &declared(5)).unwrap().train.columns(), 5);
        let message = read("1 6:1\n", &declared(5)).unwrap_err().to_string();
        assert!(message.contains("index 6") && message.contains("5 features"), "{message}");
    }

    #[test]
    fn errors_name_row_and_column() {
        for (text, parts) in [
            ("1 1:2\n1 1:x\n", ["row 2", "column `1`", "`x`"]),
            ("spam 1:2\n", ["row 1", "column `label`", "`spam`"]),
            ("1 1:2\n0 4:inf\n", ["row 2", "column `4`", "finite"]),
            ("1 1:2 1:3\n", ["row 1", "index 1", "increase"]),
            ("1 5\n", ["row 1", "`5`", "index:value"]),
            ("1 99999999999:1\n", ["test.svm", "features", "more than"]),
            ("1 1:1 18446744073709551615:1\n", ["test.svm", "features", "more than"]),
            ("", ["test.svm", "no", "records"]),
        ] {
            let message = refused(text);
            assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "[0-9:. #\nx-]{0,60}") {
            let _ = read(&text, &LibsvmOptions { features: Some(10), ..Default::default() });
        }
    }
}

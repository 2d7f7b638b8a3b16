//! One record decides about itself and nothing else: whatever a row of a table becomes, every other is read as before, and is kept apart or learnt from as
//! before, or the file is refused.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use learn::data::{CoinOf, DataError, DataSource, Dataset, LabelUse, Target, held_out};
use learn::schema::Schema;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseResult, TestRunner};

const SCHEMA: &str = r#"
[schema]
label = "sick"
person = "patient"

[columns.age]
bounds = [0, 100]
fill = 50

[columns.weight]
bounds = [0, 200]
fill = 70

[columns.region]
values = ["nord", "süd"]
other = true

[columns.sick]
values = ["no", "yes"]
"#;

const NAMES: [&str; 6] = ["patient", "age", "weight", "region", "sick", "note"];

/// How a table is written.
#[derive(Debug, Clone, Copy)]
enum Written {
    Utf8,
    Latin,
    Wide,
}

/// A table, and one place in it where something else stands.
#[derive(Debug, Clone)]
struct Case {
    delimiter: u8,
    written: Written,
    rows: Vec<[String; 6]>,
    at: usize,
    /// Whether the row there stays as well.
    stays: bool,
    instead: Vec<u8>,
}

impl Case {
    /// The whole file, with the row of this place as it is or with what is there instead.
    fn file(&self, changed: bool) -> Vec<u8> {
        let mut lines: Vec<Vec<u8>> = vec![self.line(&NAMES.map(String::from))];
        lines.extend(self.rows.iter().map(|row| self.line(row)));
        if changed {
            let line = if self.stays { lines[self.at + 1].clone() } else { Vec::new() };
            lines[self.at + 1] = [line, self.instead.clone(), self.bytes("\n")].concat();
        }
        let mark = if matches!(self.written, Written::Wide) { vec![0xff, 0xfe] } else { Vec::new() };
        [mark, lines.concat()].concat()
    }

    fn line(&self, fields: &[String; 6]) -> Vec<u8> {
        let mut writer = csv::WriterBuilder::new().delimiter(self.delimiter).from_writer(Vec::new());
        writer.write_record(fields).unwrap();
        self.bytes(std::str::from_utf8(&writer.into_inner().unwrap()).unwrap())
    }

    fn bytes(&self, text: &str) -> Vec<u8> {
        match self.written {
            Written::Utf8 => text.as_bytes().to_vec(),
            Written::Latin => {
                text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap_or(b'?')).collect()
            }
            Written::Wide => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        }
    }
}

fn number(comma: bool) -> impl Strategy<Value = String> {
    (0..150u32, 0..10u32, 0..4u32).prop_map(move |(whole, tenth, kind)| match kind {
        0 => String::new(),
        1 => whole.to_string(),
        _ if comma => format!("{whole},{tenth}"),
        _ => format!("{whole}.{tenth}"),
    })
}

fn row(comma: bool) -> impl Strategy<Value = [String; 6]> {
    let words = |words: &'static [&'static str]| prop::sample::select(words).prop_map(String::from);
    (
        (0..6u32).prop_map(|person| format!("P{person}")),
        number(comma),
        number(comma),
        words(&["nord", "süd", "", "ost"]),
        words(&["no", "yes"]),
        "[a-bäü\",;\n\r.0-9 ]{0,8}",
    )
        .prop_map(|(person, age, weight, region, sick, note)| [person, age, weight, region, sick, note])
}

/// Something that may stand where a record stood: nothing, a row that is written otherwise, a row with anything in its free text, or any bytes.
fn instead(delimiter: u8) -> impl Strategy<Value = Vec<u8>> {
    let sign = char::from(delimiter);
    let fields = move |fields: Vec<String>| fields.join(&sign.to_string()).into_bytes();
    let bytes = || {
        let byte = prop_oneof![3 => prop::sample::select(&b"\",;\n\r\0.09a\t|"[..]), 1 => any::<u8>()];
        prop::collection::vec(byte, 0..12)
    };
    let begin = format!("P9{sign}1{sign}2{sign}nord{sign}no{sign}").into_bytes();
    prop_oneof![
        Just(Vec::new()),
        row(true).prop_map(move |row| fields(row.to_vec())),
        row(false).prop_map(move |row| fields(row.to_vec())),
        prop::sample::select(&["1e30", "-1e-30", "NaN", "inf", "1.234,5", "٣", "0x1f"][..])
            .prop_map(move |odd| { fields(["P1", odd, "2", "nord", "yes", "x"].map(String::from).to_vec()) }),
        (Just(begin), bytes()).prop_map(|(begin, bytes)| [begin, bytes].concat()),
        bytes(),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    let delimiters = prop::sample::select(&[b';', b',', b'\t', b'|'][..]);
    let written = prop::sample::select(&[Written::Utf8, Written::Latin, Written::Wide][..]);
    (delimiters, written, any::<bool>()).prop_flat_map(|(delimiter, written, comma)| {
        let rows = prop::collection::vec(row(comma && delimiter != b','), 2..8);
        (rows, instead(delimiter), any::<prop::sample::Index>(), any::<bool>()).prop_map(
            move |(rows, instead, at, stays)| {
                let at = at.index(rows.len());
                Case { delimiter, written, rows, at, stays, instead }
            },
        )
    })
}

/// A record as it is learnt from, and where.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    features: Vec<u32>,
    target: Target,
    person: String,
}

fn seen(data: &Dataset) -> Vec<Seen> {
    let persons = (data.group_of_records().unwrap(), data.group_names().unwrap());
    let one = |record: usize| Seen {
        features: data.row(record).iter().map(|value| value.to_bits()).collect(),
        target: data.target(record),
        person: persons.1[persons.0[record] as usize].clone(),
    };
    (0..data.len()).map(one).collect()
}

/// How often equal records are kept apart, and learnt from.
fn coins(data: &Dataset, of: CoinOf) -> BTreeMap<String, [usize; 2]> {
    let mut parts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for (record, apart) in seen(data).into_iter().zip(held_out(data, 0.4, 7, of).unwrap()) {
        let content = (record.features, record.target);
        parts.entry(format!("{content:?}")).or_default()[usize::from(apart)] += 1;
    }
    parts
}

fn path() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("murmur-records-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(format!("{:?}.csv", std::thread::current().id()))
}

fn with_schema(content: &[u8]) -> Result<Dataset, DataError> {
    let path = path();
    std::fs::write(&path, content).unwrap();
    let source: DataSource = path.display().to_string().parse().unwrap();
    let schema = Schema::from_toml(SCHEMA, "schema.toml").unwrap();
    Ok(source.with_schema(&schema, LabelUse::Needed)?.load(1)?.train)
}

/// Categories and classes as they are found in the file.
fn with_keys(content: &[u8]) -> Result<Dataset, DataError> {
    let path = path();
    std::fs::write(&path, content).unwrap();
    let keys = "label=sick,id=patient,categorical=region,drop=note,fill=0";
    Ok(format!("{}:{keys}", path.display()).parse::<DataSource>().unwrap().load(1)?.train)
}

fn others_are_the_same(case: &Case, before: &Dataset, after: &Dataset) -> TestCaseResult {
    let (old, new) = (seen(before), seen(after));
    let behind = old.len() - case.at - 1;
    prop_assert!(new.len() + 1 >= old.len());
    prop_assert_eq!(&old[..case.at], &new[..case.at]);
    prop_assert_eq!(&old[old.len() - behind..], &new[new.len() - behind..]);
    if case.stays {
        prop_assert!(new.len() >= old.len() && old[case.at] == new[case.at]);
    }
    // Equal records have coins that are counted; of those that nothing changed about, as many are kept apart as before.
    let content = |seen: &Seen| format!("{:?}", (&seen.features, &seen.target));
    let changed: Vec<String> = old[case.at..old.len() - behind]
        .iter()
        .chain(&new[case.at..new.len() - behind])
        .map(content)
        .collect();
    for of in [CoinOf::Record, CoinOf::Group] {
        let (mut old, mut new) = (coins(before, of), coins(after, of));
        for content in &changed {
            old.remove(content);
            new.remove(content);
        }
        prop_assert_eq!(old, new);
    }
    Ok(())
}

#[test]
fn a_record_changes_no_other() {
    let (taken, refused) = (Cell::new(0), Cell::new(0));
    let config = Config { cases: 3000, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let checked = runner.run(&case(), |case| {
        for read in [with_schema, with_keys] {
            let Ok(before) = read(&case.file(false)) else { continue };
            let after = match read(&case.file(true)) {
                Ok(after) => after,
                Err(error) => {
                    refused.set(refused.get() + 1);
                    prop_assert!(!error.to_string().is_empty());
                    continue;
                }
            };
            // What is found in a file is compared by all members when they meet: where it differs nobody learns.
            if before.feature_names() != after.feature_names() || before.class_names() != after.class_names()
            {
                continue;
            }
            taken.set(taken.get() + 1);
            others_are_the_same(&case, &before, &after)?;
        }
        Ok(())
    });
    checked.unwrap();
    // A reader that refuses everything would pass; most of what is refused here has quotes or fields too many.
    assert!(taken.get() > 1500, "{} taken, {} refused", taken.get(), refused.get());
}

/// Rows that went wrong before: each beside a table in which it once decided about others.
#[test]
fn what_once_changed_others_is_refused_or_changes_nothing() {
    let case = |delimiter, rows: &[[&str; 6]], instead: &[u8]| Case {
        delimiter,
        written: Written::Utf8,
        rows: rows.iter().map(|row| row.map(String::from)).collect(),
        at: 0,
        stays: true,
        instead: instead.to_vec(),
    };
    let comma = [["P1", "1,5", "70", "nord", "no", "a"], ["P2", "2,5", "80", "süd", "yes", "b"]];
    for instead in [
        // Both signs: nothing was guessed any more, and decimal commas were no numbers.
        b"P3;2.5;4;nord;no;x".to_vec(),
        b"P3;3;4;s\xfcd;no;x".to_vec(),
        b"P3;3;4;nord;no;\0".to_vec(),
        // Opened, never closed.
        b"P3;3;4;nord;no;\"x".to_vec(),
        b"P3,3,4,nord,no,x".to_vec(),
    ] {
        let case = case(b';', &comma, &instead);
        let before = with_schema(&case.file(false)).unwrap();
        if let Ok(after) = with_schema(&case.file(true)) {
            others_are_the_same(&case, &before, &after).unwrap();
        }
    }
    // A quote that is opened would have closed at the next record's first one, and that record would have been gone.
    let quoted = [["P1", "1", "70", "nord", "no", "a"], ["P2", "2", "80", "süd", "yes", "b, c"]];
    let case = case(b',', &quoted, b"P3,3,4,nord,no,\"x");
    let error = with_schema(&case.file(true)).unwrap_err();
    assert!(error.to_string().contains("line 3"), "{error}");
    let hint = topology::Hint::hint(&error).unwrap();
    assert!(hint.contains("quotes=none"), "{hint}");
}

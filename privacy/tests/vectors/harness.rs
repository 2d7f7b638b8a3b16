//! Reference vectors: files of cases, each with inputs and what must come out. All crates' vector tests share this file.
//!
//! The files are those of the crate's test data, or those of the folder that `MURMUR_VECTORS` names, with the same shapes. Each file prints
//! `vectors: N agree in FILE`, which `./test vectors` sums. To add a file or a part of one: a [`Section`] with a check per case.

use std::error::Error;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::Value;

/// What a check says where it cannot compare at all: a case that lacks something, a program that refuses it.
pub(crate) type Outcome = Result<(), Box<dyn Error>>;

/// Cases of one kind in one file.
pub(crate) struct Section {
    /// The file, without `.json`.
    pub(crate) file: &'static str,
    /// Where in the file they are.
    pub(crate) part: Part,
    /// Keys of a case that are given: all other numbers are results, and a change of one must be found.
    pub(crate) inputs: &'static [&'static str],
    /// Compares one case.
    pub(crate) check: fn(&Case<'_>, &mut Comparison) -> Outcome,
    /// Numbers that say nothing, by case and JSON pointer: what a watcher learns of itself in formulas that do not define it.
    pub(crate) unstated: fn(&Value, &str) -> bool,
}

/// Which cases of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    /// The file is a list, and these are all of it.
    All,
    /// The list under this key of the file.
    #[allow(dead_code, reason = "not every crate has such files")]
    Under(&'static str),
    /// The file is a list, and these are those whose text under a key begins with this word.
    #[allow(dead_code, reason = "not every crate has such files")]
    With(&'static str, &'static str),
}

/// One case.
pub(crate) struct Case<'a>(pub(crate) &'a Value);

impl Case<'_> {
    /// The value under a key.
    pub(crate) fn get<T: DeserializeOwned>(&self, key: &str) -> Result<T, Box<dyn Error>> {
        let value = self.0.get(key).ok_or_else(|| format!("there is no `{key}`"))?;
        T::deserialize(value).map_err(|error| format!("`{key}`: {error}").into())
    }
}

/// What was found beside what was expected.
#[derive(Default)]
pub(crate) struct Comparison {
    compared: usize,
    wrong: Vec<String>,
}

impl Comparison {
    /// Both within `tolerance` of each other.
    pub(crate) fn near(&mut self, what: impl Display, found: f64, expected: f64, tolerance: f64) {
        let agrees = (found - expected).abs() <= tolerance;
        self.holds(agrees, format_args!("{what}: {found} for {expected}"));
    }

    /// Lists of the same length, number by number.
    pub(crate) fn all_near(&mut self, what: impl Display, found: &[f64], expected: &[f64], tolerance: f64) {
        self.holds(found.len() == expected.len(), format_args!("{what}: {} numbers", found.len()));
        for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
            self.near(format_args!("{what}, at {at}"), *found, *expected, tolerance);
        }
    }

    /// Anything else that must be true.
    pub(crate) fn holds(&mut self, is_true: bool, what: impl Display) {
        self.compared += 1;
        if !is_true {
            self.wrong.push(what.to_string());
        }
    }
}

/// Compares all cases of all sections, in the crate's own files or in those of `MURMUR_VECTORS`.
pub(crate) fn agree(own: &str, sections: &[Section]) {
    let (folder, is_own) = match std::env::var_os("MURMUR_VECTORS") {
        Some(folder) => (workspace().join(folder), false),
        None => (PathBuf::from(own), true),
    };
    let mut files: Vec<&str> = sections.iter().map(|section| section.file).collect();
    files.dedup();
    for file in files {
        let path = folder.join(format!("{file}.json"));
        if !is_own && !path.exists() {
            println!("vectors: there is no {}", path.display());
            continue;
        }
        let (mut cases, mut wrong) = (0, Vec::new());
        let value = read(&path);
        for section in sections.iter().filter(|section| section.file == file) {
            for (at, case) in section.cases(&value).into_iter().enumerate() {
                cases += 1;
                wrong.extend(
                    section
                        .objections(case)
                        .into_iter()
                        .map(|what| format!("{:?} {at}: {what}", section.part)),
                );
            }
        }
        assert!(wrong.is_empty(), "{}: {} do not agree\n{}", path.display(), wrong.len(), wrong.join("\n"));
        println!("vectors: {cases} agree in {file}.json");
    }
}

/// Changes every number that a case states as a result, one at a time, and expects the check to object.
pub(crate) fn a_changed_number_is_found(own: &str, sections: &[Section]) {
    for section in sections {
        let value = read(&Path::new(own).join(format!("{}.json", section.file)));
        for case in section.cases(&value) {
            assert_eq!(section.objections(case), [""; 0], "{} {:?}", section.file, section.part);
            for pointer in section.results(case) {
                let mut changed = case.clone();
                let number = changed.pointer_mut(&pointer).expect("it was found there");
                *number = another(number);
                let what = format!("{} {:?}: {pointer} of {case}", section.file, section.part);
                assert!(!section.objections(&changed).is_empty(), "a change is not noticed: {what}");
            }
        }
    }
}

impl Section {
    fn cases<'a>(&self, file: &'a Value) -> Vec<&'a Value> {
        let list = match self.part {
            Part::All | Part::With(..) => file,
            Part::Under(key) => &file[key],
        };
        let list = list.as_array().unwrap_or_else(|| panic!("{} {:?}: not a list", self.file, self.part));
        let belongs = |case: &&Value| match self.part {
            Part::With(key, word) => case[key].as_str().is_some_and(|text| text.starts_with(word)),
            Part::All | Part::Under(_) => true,
        };
        let cases: Vec<&Value> = list.iter().filter(belongs).collect();
        assert!(!cases.is_empty(), "{} {:?}: no case", self.file, self.part);
        cases
    }

    /// What is wrong with a case.
    fn objections(&self, case: &Value) -> Vec<String> {
        let mut comparison = Comparison::default();
        let outcome = (self.check)(&Case(case), &mut comparison);
        let mut wrong = comparison.wrong;
        wrong.extend(outcome.err().map(|error| error.to_string()));
        if comparison.compared == 0 && wrong.is_empty() {
            wrong.push("nothing was compared".into());
        }
        wrong
    }

    /// Where the numbers of a case are that are not given.
    fn results(&self, case: &Value) -> Vec<String> {
        let mut found = Vec::new();
        for (key, value) in case.as_object().expect("a case is an object") {
            if !self.inputs.contains(&key.as_str()) {
                numbers(value, &format!("/{}", key.replace('~', "~0").replace('/', "~1")), &mut found);
            }
        }
        found.retain(|pointer| !(self.unstated)(case, pointer));
        found
    }
}

/// The JSON pointers of all numbers below a value.
fn numbers(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(at.to_owned()),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(i, value)| numbers(value, &format!("{at}/{i}"), found));
        }
        Value::Object(table) => table.iter().for_each(|(key, value)| {
            numbers(value, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), found);
        }),
        _ => {}
    }
}

/// Another number of the same kind, one per cent or a thousandth away.
fn another(number: &Value) -> Value {
    match number.as_i64() {
        Some(whole) => Value::from(whole + 1),
        None => {
            let x = number.as_f64().unwrap_or_default();
            Value::from(x + (0.01 * x.abs()).max(1e-3))
        }
    }
}

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Paths of `MURMUR_VECTORS` are meant from where `./test` is.
fn workspace() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    crates.filter(|folder| folder.join("Cargo.lock").exists()).last().unwrap_or(Path::new(".")).to_owned()
}

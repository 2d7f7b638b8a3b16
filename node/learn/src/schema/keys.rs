//! Keys of a table, read so that one wrong value hides no other: each is a problem in a list.

use toml::{Table, Value};
use topology::nearest;

/// A table that is read key by key.
pub(super) struct Keys<'a> {
    table: &'a Table,
    /// Where it stands, for the problems: `columns.age`.
    place: String,
    problems: &'a mut Vec<String>,
}

impl<'a> Keys<'a> {
    /// Begins to read; keys that are not `known` are problems.
    pub(super) fn of(table: &'a Table, place: String, known: &[&str], problems: &'a mut Vec<String>) -> Self {
        for key in table.keys().filter(|key| !known.contains(&key.as_str())) {
            let meant = match nearest(key, known) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("known are {}", known.join(", ")),
            };
            problems.push(format!("`{place}`: unknown key `{key}`; {meant}"));
        }
        Self { table, place, problems }
    }

    /// Whatever stands there.
    pub(super) fn value(&self, key: &str) -> Option<Value> {
        self.table.get(key).cloned()
    }

    /// A text.
    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        self.read(key, "a text", |value| value.as_str().map(str::to_owned))
    }

    /// Yes or no.
    pub(super) fn flag(&mut self, key: &str) -> Option<bool> {
        self.read(key, "true or false", Value::as_bool)
    }

    /// A finite number.
    pub(super) fn number(&mut self, key: &str) -> Option<f64> {
        self.read(key, "a number", super::read::real)
    }

    fn read<T>(&mut self, key: &str, what: &str, read: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let value = self.table.get(key)?;
        let found = read(value);
        if found.is_none() {
            self.problems.push(format!("`{}`: `{key} = {value}` is not {what}", self.place));
        }
        found
    }
}

/// The table that a key holds; anything else there is a problem.
pub(super) fn section<'a>((name, value): (&str, &'a Value), problems: &mut Vec<String>) -> Option<&'a Table> {
    let found = value.as_table();
    if found.is_none() {
        problems.push(format!("`{name} = {value}` is no section: write `[{name}]` and its keys below"));
    }
    found
}

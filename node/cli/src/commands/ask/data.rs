//! The file of a simulation: cells as they stand, and its division among nodes.

use std::collections::BTreeMap;
use std::path::Path;

use learn::data::{CsvOptions, DecimalSign, RawTable, read_every_row};
use privacy::noise::RootSeed;
use protocol::work::question::{Exam, Judged};
use questions::columns::{Column, Columns, Kind, Row};
use questions::noise::Trust;
use rand::seq::SliceRandom;

use super::{Args, missing_columns};
use crate::failure::{Failure, Result};

/// Members of a simulated swarm where nothing else is said.
const NODES: usize = 64;

/// Records with the ids that divide or protect them.
pub(crate) struct Table {
    rows: Vec<Row>,
    persons: Option<Vec<Vec<u8>>>,
    members: Option<Vec<Vec<u8>>>,
}

impl Table {
    /// Reads a table in whatever dialect it is, or as `options` say. A short row has missing cells at its end: nothing fails because of what a
    /// record holds.
    pub(crate) fn read(
        path: &Path,
        options: &CsvOptions,
        columns: &Columns,
        by: Option<&str>,
    ) -> Result<Self> {
        let RawTable { names: header, rows, decimal } = read_every_row(path, options)?;
        if let Some(absent) = missing_columns(columns, &header) {
            let failure = Failure::new(format!("`{}` has no column {absent}", path.display()));
            return Err(failure.hint(format!("its columns are {}", header.join(", "))));
        }
        let position = |name: &str| header.iter().position(|known| known == name);
        let wanted = |name: Option<&str>| -> Result<Option<usize>> {
            name.map(|name| {
                position(name)
                    .ok_or_else(|| Failure::new(format!("`{}` has no column {name}", path.display())))
            })
            .transpose()
        };
        let (person, member) = (wanted(columns.person.as_deref())?, wanted(by)?);
        let of_all = |at: usize| rows.iter().map(|row| row[at].clone().into_bytes()).collect();
        let (persons, members) = (person.map(of_all), member.map(of_all));
        let numbers: Vec<usize> = match decimal {
            DecimalSign::Comma | DecimalSign::Either => columns
                .all()
                .iter()
                .filter(|column| is_number(column))
                .filter_map(|own| position(&own.name))
                .collect(),
            DecimalSign::Point => Vec::new(),
        };
        let read = |mut row: Vec<String>| {
            numbers.iter().for_each(|&at| with_a_point(&mut row[at]));
            columns.read(|name| position(name).map(|at| row[at].as_bytes()))
        };
        Ok(Self { rows: rows.into_iter().map(read).collect(), persons, members })
    }

    /// The records, and who each is about.
    pub(crate) fn into_rows(self) -> (Vec<Row>, Option<Vec<Vec<u8>>>) {
        (self.rows, self.persons)
    }

    /// The records to test a model by, with what it makes of them.
    pub(super) fn judged(self, judged: &Judged, exam: &Exam) -> Self {
        let all: Vec<usize> = (0..exam.rows().len()).collect();
        let of = |ids: Vec<Vec<u8>>| exam.rows().iter().map(|&row| ids[row as usize].clone()).collect();
        Self {
            rows: judged.rows(exam, &self.rows, &all),
            persons: self.persons.map(of),
            members: self.members.map(of),
        }
    }

    pub(super) fn records(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn row(&self, at: usize) -> &Row {
        &self.rows[at]
    }

    pub(super) fn persons(&self) -> Option<&[Vec<u8>]> {
        self.persons.as_deref()
    }

    /// The records of each node: by the value of a column, or dealt out in a random order.
    /// In the local model everybody is a node.
    pub(super) fn divide(&self, args: &Args) -> Vec<Vec<usize>> {
        if args.trust() == Trust::Local {
            return (0..self.rows.len()).map(|record| vec![record]).collect();
        }
        if let Some(members) = &self.members {
            let mut nodes: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
            for (record, member) in members.iter().enumerate() {
                nodes.entry(member).or_default().push(record);
            }
            return nodes.into_values().collect();
        }
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.shuffle(&mut RootSeed(args.seed).stream(RootSeed::DATA));
        let mut nodes = vec![Vec::new(); args.nodes.unwrap_or(NODES)];
        let count = nodes.len();
        order.into_iter().enumerate().for_each(|(at, record)| nodes[at % count].push(record));
        nodes
    }
}

fn is_number(column: &Column) -> bool {
    matches!(column.kind, Kind::Number { date: None, .. })
}

/// A number with a decimal comma, as everybody else writes it; anything else stays as it is.
fn with_a_point(cell: &mut String) {
    let pointed = cell.replacen(',', ".", 1);
    if cell.contains(',') && !cell.contains('.') && pointed.parse::<f64>().is_ok() {
        *cell = pointed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_get_a_point_and_texts_stay() {
        let pointed = |cell: &str| {
            let mut cell = cell.to_owned();
            with_a_point(&mut cell);
            cell
        };
        assert_eq!(
            ["1,5", "-0,25", "7", "1,234,5", "a,b", "1.5,2", ""].map(pointed),
            ["1.5", "-0.25", "7", "1,234,5", "a,b", "1.5,2", ""]
        );
    }
}

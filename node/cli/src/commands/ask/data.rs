//! The file of a simulation: cells as they stand, and its division among nodes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use privacy::noise::RootSeed;
use questions::columns::{Columns, Row};
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
    /// Reads a CSV file, plain or gzipped, comma, semicolon or tab. A short row has missing cells at its end: nothing fails
    /// because of what a record holds.
    pub(crate) fn read(path: &Path, columns: &Columns, by: Option<&str>) -> Result<Self> {
        let failed =
            |error: std::io::Error| Failure::from(error).context(format!("cannot read `{}`", path.display()));
        let mut input = open(path).map_err(failed)?;
        let delimiter = delimiter(input.fill_buf().map_err(failed)?);
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .flexible(true)
            .trim(csv::Trim::Headers)
            .from_reader(input);
        let broken =
            |error: csv::Error| Failure::of(error, None).context(format!("cannot read `{}`", path.display()));
        let header: Vec<String> = reader
            .byte_headers()
            .map_err(broken)?
            .iter()
            .map(|name| String::from_utf8_lossy(name).trim_start_matches('\u{feff}').to_owned())
            .collect();
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
        let mut table = Self {
            rows: Vec::new(),
            persons: person.map(|_| Vec::new()),
            members: member.map(|_| Vec::new()),
        };
        let mut record = csv::ByteRecord::new();
        while reader.read_byte_record(&mut record).map_err(broken)? {
            let cell = |at: usize| record.get(at).unwrap_or(b"").trim_ascii();
            table.rows.push(columns.read(|name| position(name).map(cell)));
            if let (Some(persons), Some(at)) = (&mut table.persons, person) {
                persons.push(cell(at).to_vec());
            }
            if let (Some(members), Some(at)) = (&mut table.members, member) {
                members.push(cell(at).to_vec());
            }
        }
        Ok(table)
    }

    /// The records, and who each is about.
    pub(crate) fn into_rows(self) -> (Vec<Row>, Option<Vec<Vec<u8>>>) {
        (self.rows, self.persons)
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

fn open(path: &Path) -> std::io::Result<Box<dyn BufRead>> {
    let mut raw = BufReader::new(File::open(path)?);
    if raw.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        let content: Box<dyn Read> = Box::new(MultiGzDecoder::new(raw));
        return Ok(Box::new(BufReader::with_capacity(1 << 16, content)));
    }
    Ok(Box::new(raw))
}

/// The sign that the header has most of.
fn delimiter(start: &[u8]) -> u8 {
    let header = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let count = |sign: u8| header.iter().filter(|&&byte| byte == sign).count();
    [b';', b'\t']
        .into_iter()
        .filter(|&sign| count(sign) > count(b','))
        .max_by_key(|&sign| count(sign))
        .unwrap_or(b',')
}

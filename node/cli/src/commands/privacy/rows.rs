//! All pairs as JSON, CSV and NPY, row by row: what is printed is never held.

use super::watched;
use crate::failure::{Failure, Result};
use privacy::network::Analysis;
use privacy::question::streamed::{Figures, JsonRow, Row, Stream};
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};

/// One object: what is known of the answer, then the rows of μ², then those of ε, which wait in a file that has no name.
pub(super) fn json(stream: &Stream, to: &mut dyn Write) -> Result<()> {
    let head = serde_json::to_string(&stream.head()).map_err(not_json)?;
    let open = head.strip_suffix('}').ok_or_else(|| Failure::new("the head of an answer is no object"))?;
    let mut waiting = BufWriter::new(tempfile::tempfile()?);
    watched(|told| {
        stream.rows(Figures::Both, told, |row| {
            // Nothing is printed of what is refused.
            if row.number == 0 {
                write!(to, "{open},\"mu2\":[")?;
            }
            json_row(row.number, row.mu2, to)?;
            row.epsilon.iter().try_for_each(|epsilon| waiting.write_all(&epsilon.to_le_bytes()))?;
            Ok::<(), Failure>(())
        })
    })?;
    to.write_all(b"],\"epsilon\":[")?;
    let file = waiting.into_inner().map_err(|error| error.into_error())?;
    copied(file, stream.shape(), |number, row| json_row(number, row, to))?;
    Ok(to.write_all(b"]}\n")?)
}

fn json_row(number: usize, row: &[f64], to: &mut dyn Write) -> Result<()> {
    if number > 0 {
        to.write_all(b",")?;
    }
    serde_json::to_writer(to, &JsonRow(row)).map_err(not_json)
}

fn not_json(error: serde_json::Error) -> Failure {
    Failure::of(error, None)
}

/// Reads the rows of a file back.
fn copied(
    mut file: File,
    (rows, nodes): (usize, usize),
    mut take: impl FnMut(usize, &[f64]) -> Result<()>,
) -> Result<()> {
    file.rewind()?;
    let mut file = BufReader::new(file);
    let (mut bytes, mut row) = (vec![0; 8 * nodes], vec![0.0; nodes]);
    for number in 0..rows {
        file.read_exact(&mut bytes)?;
        let (values, _) = bytes.as_chunks::<8>();
        row.iter_mut().zip(values).for_each(|(value, bytes)| *value = f64::from_le_bytes(*bytes));
        take(number, &row)?;
    }
    Ok(())
}

/// A line for every pair.
pub(super) fn csv(stream: &Stream, to: &mut dyn Write) -> Result<()> {
    watched(|told| {
        stream.rows(Figures::Both, told, |row| {
            if row.number == 0 {
                csv_header(to)?;
            }
            csv_row(&row, stream.distances(row.watchers).as_deref(), stream.analysis(), to)
        })
    })
}

pub(super) fn csv_header(to: &mut dyn Write) -> Result<()> {
    Ok(to.write_all(b"watcher,source,distance,mu2,epsilon,analysis\n")?)
}

pub(super) fn csv_row(
    row: &Row<'_>,
    distances: Option<&[Option<u32>]>,
    analysis: Analysis,
    to: &mut dyn Write,
) -> Result<()> {
    let names: Vec<String> = row.watchers.members().iter().map(usize::to_string).collect();
    let name = names.join("+");
    for node in (0..row.mu2.len()).filter(|&node| !row.watchers.contains(node)) {
        let distance =
            distances.and_then(|distances| distances[node]).map_or(String::new(), |d| d.to_string());
        let (mu2, epsilon) = (row.mu2[node], row.epsilon[node]);
        writeln!(to, "{name},{node},{distance},{mu2:?},{epsilon:?},{analysis}")?;
    }
    Ok(())
}

/// μ² as a matrix.
pub(super) fn npy(stream: &Stream, to: &mut dyn Write) -> Result<()> {
    watched(|told| {
        stream.rows(Figures::Mu2, told, |row| {
            if row.number == 0 {
                npy_header(stream.shape(), to)?;
            }
            row.mu2.iter().try_for_each(|value| to.write_all(&value.to_le_bytes()))?;
            Ok::<(), Failure>(())
        })
    })
}

/// NumPy's format 1.0: a magic number, a padded header; the values come next.
pub(super) fn npy_header(shape: (usize, usize), to: &mut dyn Write) -> Result<()> {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", shape.0, shape.1);
    let padding = 64 - (10 + header.len() + 1) % 64;
    let length = (header.len() + padding % 64 + 1) as u16;
    to.write_all(b"\x93NUMPY\x01\x00")?;
    to.write_all(&length.to_le_bytes())?;
    writeln!(to, "{header}{:1$}", "", padding % 64)?;
    Ok(())
}

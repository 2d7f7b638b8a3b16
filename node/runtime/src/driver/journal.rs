//! The node's run log: one JSON line per event, appended.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use protocol::LogLine;

/// Name of the log in the folder of a node.
pub const FILE: &str = "log.jsonl";

/// An open log.
#[derive(Debug)]
pub(crate) struct Journal {
    file: BufWriter<File>,
}

impl Journal {
    /// Opens the log of a folder at its end. A line that a crash cut short is ended first, so that it spoils no other.
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        let path = folder.join(FILE);
        let cut = std::fs::read(&path).is_ok_and(|text| !text.is_empty() && !text.ends_with(b"\n"));
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        if cut {
            file.write_all(b"\n")?;
        }
        Ok(Self { file: BufWriter::new(file) })
    }

    pub(crate) fn append(&mut self, line: &LogLine) -> io::Result<()> {
        serde_json::to_writer(&mut self.file, line)?;
        self.file.write_all(b"\n")
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Reads a log; lines that a crash cut short are left out and counted.
///
/// # Errors
/// A file that cannot be read.
pub fn read(path: &Path) -> io::Result<(Vec<LogLine>, usize)> {
    let text = std::fs::read(path)?;
    let mut lines = Vec::new();
    let mut damaged = 0;
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match serde_json::from_slice(line) {
            Ok(line) => lines.push(line),
            Err(_) => damaged += 1,
        }
    }
    Ok((lines, damaged))
}

#[cfg(test)]
mod tests {
    use protocol::{RunEvent, Time};

    use super::*;

    #[test]
    fn a_line_that_a_crash_cut_short_spoils_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let line = |t| LogLine { time: Time(t), node: Some(1), event: RunEvent::Outside { epoch: 2 } };
        let write = |t| {
            let mut journal = Journal::open(folder.path()).unwrap();
            journal.append(&line(t)).unwrap();
            journal.flush().unwrap();
        };
        write(1);
        let path = folder.path().join(FILE);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"t\":5,\"no").unwrap();
        write(2);
        assert_eq!(read(&path).unwrap(), (vec![line(1), line(2)], 1));
    }
}

//! The node's run log: one JSON line per event, appended.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use protocol::LogLine;
use protocol::folder::LOG;

use super::DriverError;
use crate::identity::owner_only;

/// An open log.
#[derive(Debug)]
pub(crate) struct Journal {
    folder: PathBuf,
    file: BufWriter<File>,
}

impl Journal {
    /// Opens the log of a folder at its end. A line that a crash cut short is ended first, so that it spoils no other.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn open(folder: &Path) -> Result<Self, DriverError> {
        let file = at_a_line_end(&folder.join(LOG)).map_err(failed(folder))?;
        Ok(Self { folder: folder.to_owned(), file: BufWriter::new(file) })
    }

    /// Appends a line.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn append(&mut self, line: &LogLine) -> Result<(), DriverError> {
        let written = serde_json::to_writer(&mut self.file, line).map_err(io::Error::from);
        written.and_then(|()| self.file.write_all(b"\n")).map_err(failed(&self.folder))
    }

    /// Gives everything to the operating system.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn flush(&mut self) -> Result<(), DriverError> {
        self.file.flush().map_err(failed(&self.folder))
    }
}

fn at_a_line_end(path: &Path) -> io::Result<File> {
    let mut file = owner_only().create(true).read(true).append(true).open(path)?;
    let mut last = [b'\n'];
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last != [b'\n'] {
        file.write_all(b"\n")?;
    }
    Ok(file)
}

fn failed(folder: &Path) -> impl FnOnce(io::Error) -> DriverError {
    let folder = folder.to_owned();
    |source| DriverError::Journal { folder, source }
}

#[cfg(test)]
mod tests {
    use protocol::log::Log;
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
        let path = folder.path().join(LOG);
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"t\":5,\"no").unwrap();
        write(2);
        write(3);
        let log = Log::open(&path).unwrap();
        assert_eq!((log.lines, log.lost.len()), (vec![line(1), line(2), line(3)], 1));
        assert_eq!(std::fs::read(&path).unwrap().iter().filter(|byte| **byte == b'\n').count(), 4);
    }
}

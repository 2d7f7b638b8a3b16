//! The node's run log: one JSON line per event, appended.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use protocol::LogLine;
use protocol::folder::LOG;
use protocol::log::{LONGEST_PIECE, last_piece, piece};

use super::DriverError;
use crate::identity::owner_only;

/// An open log.
#[derive(Debug)]
pub(crate) struct Journal {
    folder: PathBuf,
    file: BufWriter<File>,
    /// Which piece is open, and how long it is.
    number: u32,
    length: u64,
    longest: u64,
}

impl Journal {
    /// Opens the log of a folder at its end. A line that a crash cut short is ended first, so that it spoils no other.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn open(folder: &Path) -> Result<Self, DriverError> {
        Self::open_in_pieces(folder, LONGEST_PIECE).map_err(failed(folder))
    }

    fn open_in_pieces(folder: &Path, longest: u64) -> io::Result<Self> {
        let first = folder.join(LOG);
        let number = last_piece(&first)?;
        let (file, length) = at_a_line_end(&piece(&first, number))?;
        Ok(Self { folder: folder.to_owned(), file: BufWriter::new(file), number, length, longest })
    }

    /// Appends a line.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn append(&mut self, line: &LogLine) -> Result<(), DriverError> {
        self.put(line).map_err(failed(&self.folder))
    }

    fn put(&mut self, line: &LogLine) -> io::Result<()> {
        if self.length >= self.longest {
            self.begin_next()?;
        }
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.length += text.len() as u64;
        self.file.write_all(&text)
    }

    /// Goes on in the next piece. This one is whole then, so whoever sees the next has all of this one.
    fn begin_next(&mut self) -> io::Result<()> {
        self.file.flush()?;
        let next = self.number.checked_add(1).ok_or_else(|| io::Error::other("there are too many pieces"))?;
        let (file, length) = at_a_line_end(&piece(&self.folder.join(LOG), next))?;
        (self.file, self.number, self.length) = (BufWriter::new(file), next, length);
        Ok(())
    }

    /// Gives everything to the operating system.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn flush(&mut self) -> Result<(), DriverError> {
        self.file.flush().map_err(failed(&self.folder))
    }
}

/// The file, at its end, which is the end of a line; and how long it is.
fn at_a_line_end(path: &Path) -> io::Result<(File, u64)> {
    let mut file = owner_only().create(true).read(true).append(true).open(path)?;
    let mut last = [b'\n'];
    let mut length = file.seek(SeekFrom::End(0))?;
    if length > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last != [b'\n'] {
        file.write_all(b"\n")?;
        length += 1;
    }
    Ok((file, length))
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
    #[test]
    fn a_long_log_goes_on_in_the_next_piece_through_crashes_and_is_read_as_one() {
        let folder = tempfile::tempdir().unwrap();
        let line = |t| LogLine { time: Time(t), node: Some(1), event: RunEvent::Outside { epoch: 2 } };
        let first = folder.path().join(LOG);
        for start in (0..60).step_by(12) {
            let mut journal = Journal::open_in_pieces(folder.path(), 400).unwrap();
            (start..start + 12).for_each(|t| journal.append(&line(t)).unwrap());
            journal.flush().unwrap();
            let last = piece(&first, last_piece(&first).unwrap());
            let mut file = std::fs::OpenOptions::new().append(true).open(last).unwrap();
            file.write_all(b"{\"t\":5,\"no").unwrap();
        }
        let log = Log::open(&first).unwrap();
        assert_eq!((log.lines, log.lost.len()), ((0..60).map(line).collect(), 5));
        let last = last_piece(&first).unwrap();
        assert!(last > 5, "{last} pieces");
        for number in 0..=last {
            let length = std::fs::metadata(piece(&first, number)).unwrap().len();
            assert!(length <= 400 + 60, "piece {number} has {length} bytes");
        }
    }
}

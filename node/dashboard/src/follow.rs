//! A log file that grows, read as it does.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

use protocol::LogLine;
use protocol::log::Reader;

/// Bytes that are read at a time: a long log of earlier days is taken in pieces.
const PIECE: u64 = 1 << 20;

/// The place in a log up to which it was read.
#[derive(Debug)]
pub(crate) struct Follower {
    path: PathBuf,
    offset: u64,
    reader: Reader,
}

impl Follower {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, offset: 0, reader: Reader::default() }
    }

    /// Calls `each` with the lines that are new, at most one piece of them; says whether there may be more. A file that is not there yet has none.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub(crate) fn poll(&mut self, each: impl FnMut(LogLine)) -> io::Result<bool> {
        // Opened anew each time: a swarm of a thousand nodes would hold too many files open.
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        file.seek(SeekFrom::Start(self.offset))?;
        let mut piece = Vec::new();
        let read = file.take(PIECE).read_to_end(&mut piece)? as u64;
        self.offset += read;
        self.reader.push(&piece, each);
        Ok(read == PIECE)
    }

    pub(crate) fn damaged(&self) -> u64 {
        self.reader.lost().len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{done, released};
    use std::io::Write;

    #[test]
    fn lines_are_read_once_and_only_when_they_are_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let mut follower = Follower::new(path.clone());
        let mut poll = || {
            let mut lines = Vec::new();
            follower.poll(|line| lines.push(line)).unwrap();
            (lines, follower.damaged())
        };
        assert_eq!(poll(), (vec![], 0));
        let text = |line: &LogLine| serde_json::to_string(line).unwrap() + "\n";
        let (first, second) = (released(0, 0, 1.5), done(0, 0, 2));
        let mut file = File::create(&path).unwrap();
        let (head, tail) = (text(&second)[..20].to_owned(), text(&second)[20..].to_owned());
        file.write_all((text(&first) + &head).as_bytes()).unwrap();
        assert_eq!(poll(), (vec![first.clone()], 0));
        file.write_all((tail + "{\"t\":5,\"no\n" + &text(&first)).as_bytes()).unwrap();
        assert_eq!(poll(), (vec![second, first], 1));
        assert_eq!(poll(), (vec![], 1));
    }
}

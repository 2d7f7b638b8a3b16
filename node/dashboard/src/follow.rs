//! A log file that grows, read as it does.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

use protocol::LogLine;
use protocol::log::{Reader, piece};

/// Bytes that are read at a time: a long log of earlier days is taken in pieces.
const PIECE: u64 = 1 << 20;

/// The place in a log up to which it was read.
#[derive(Debug)]
pub(crate) struct Follower {
    first: PathBuf,
    /// Which piece of it.
    number: u32,
    offset: u64,
    reader: Reader,
}

impl Follower {
    pub(crate) fn new(first: PathBuf) -> Self {
        Self { first, number: 0, offset: 0, reader: Reader::default() }
    }

    /// Calls `each` with the lines that are new, at most one piece of them; says whether there may be more. A file that is not there yet has none.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub(crate) fn poll(&mut self, each: impl FnMut(LogLine)) -> io::Result<bool> {
        // Looked for before the reading: where the next is there, this one is not written any more.
        let goes_on = self.number.checked_add(1).is_some_and(|next| piece(&self.first, next).is_file());
        // Opened anew each time: a swarm of a thousand nodes would hold too many files open.
        let mut file = match File::open(piece(&self.first, self.number)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        file.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = Vec::new();
        let read = file.take(PIECE).read_to_end(&mut bytes)? as u64;
        self.offset += read;
        self.reader.push(&bytes, each);
        let ends = goes_on && read < PIECE;
        if ends {
            (self.number, self.offset) = (self.number + 1, 0);
        }
        Ok(ends || read == PIECE)
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
    #[test]
    fn a_log_in_pieces_is_followed_from_one_to_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let text = |round: u32| serde_json::to_string(&done(0, round, 2)).unwrap() + "\n";
        let write = |number: u32, text: &str| {
            let mut file = File::options().create(true).append(true).open(piece(&path, number)).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        };
        let mut follower = Follower::new(path.clone());
        let mut all = || {
            let mut lines = Vec::new();
            while follower.poll(|line| lines.push(line)).unwrap() {}
            lines
        };
        write(0, &text(0));
        assert_eq!(all(), [done(0, 0, 2)]);
        write(0, &text(1));
        write(1, &text(2));
        write(2, &text(3));
        assert_eq!(all(), [1, 2, 3].map(|round| done(0, round, 2)));
        write(2, &text(4));
        assert_eq!(all(), [done(0, 4, 2)]);
        assert_eq!(all(), []);
    }
}

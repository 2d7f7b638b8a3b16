//! The one reader of logs: bytes in, lines and what was lost out.
//!
//! A crash, a full disk or a careless copy can cut a line anywhere, inside a letter too, and a bad disk can spoil one in the middle. Neither stops a reader: the
//! lines that are whole are read, the others are counted, and whoever reads decides what that costs ([`Log::whole`] refuses).

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use thiserror::Error;
use topology::Hint;

use super::LogLine;
use super::pieces::pieces;
use crate::PeerIx;

/// Bytes that are read at a time.
const PIECE: usize = 1 << 20;

/// A log that cannot be read, or not as a whole.
#[derive(Debug, Error)]
pub enum ReadError {
    /// No such file, or no permission, or a broken disk.
    #[error("the run log `{}` cannot be read", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line that is no event, where only a whole log will do.
    #[error("line {} of `{}` {}", lost.line, path.display(), lost.how)]
    Line {
        /// Which file.
        path: PathBuf,
        /// Which line.
        lost: Lost,
    },
}

impl Hint for ReadError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::File { .. } => Some("give the folder of a run, which holds `log.jsonl`"),
            Self::Line { .. } => Some(
                "a last line that was cut off by a crash may be removed; any other damage makes the account incomplete",
            ),
        };
        hint.map(str::to_owned)
    }
}

/// A line that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// Its number in the file, from 1.
    pub line: u64,
    /// What became of it.
    pub how: How,
    /// Whose line it was, where its beginning says so.
    pub node: Option<PeerIx>,
    /// The kind of its event, where its beginning says so.
    pub event: Option<String>,
}

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It ends early: what is there is a beginning.
    Cut,
    /// It is no event of a run.
    Damaged,
}

impl std::fmt::Display for How {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Cut => "was cut short",
            Self::Damaged => "is no event of a run",
        })
    }
}

/// How every line begins.
const BEGINNING: &[u8] = b"{\"t\":";

impl Lost {
    fn of(line: u64, text: &[u8], error: &serde_json::Error) -> Self {
        // Where the beginning of another line is inside, more than one is lost, and the first speaks for itself only.
        let beginnings = text.windows(BEGINNING.len()).filter(|at| *at == BEGINNING).count();
        if !error.is_eof() || beginnings > 1 || text.iter().all(u8::is_ascii_whitespace) {
            return Self { line, how: How::Damaged, node: None, event: None };
        }
        let (node, event) = beginning(text);
        Self { line, how: How::Cut, node, event }
    }

    /// Whether the line may have told of a contribution. Only a beginning that says otherwise is believed.
    pub fn may_cost(&self) -> bool {
        self.may_tell() && self.event.as_deref() != Some("refused")
    }

    /// Whether the line may have told that somebody was, or could have been, sent something: one that was refused goes on mixing, and sends.
    pub fn may_tell(&self) -> bool {
        !matches!(
            self.event.as_deref(),
            Some("run" | "declared" | "named" | "peer_fault" | "late" | "finished")
        )
    }
}

/// Node and kind of event of a line, as far as its beginning tells: a number or a name that is cut itself tells nothing.
fn beginning(text: &[u8]) -> (Option<PeerIx>, Option<String>) {
    let text = std::str::from_utf8(text).unwrap_or_else(|error| {
        std::str::from_utf8(&text[..error.valid_up_to()]).expect("valid up to there")
    });
    let parsed = || {
        let (_, rest) = text.strip_prefix("{\"t\":")?.split_once(',')?;
        let (node, rest) = match rest.strip_prefix("\"node\":") {
            Some(rest) => rest.split_once(',').map(|(node, rest)| (node.parse().ok(), rest))?,
            None => (None, rest),
        };
        let name = rest.strip_prefix("\"event\":\"").and_then(|rest| rest.split_once('"'));
        Some((node, name.map(|(name, _)| name.to_owned())))
    };
    parsed().unwrap_or_default()
}

/// Takes a log piece by piece, as it is read or as it grows.
#[derive(Debug, Clone, Default)]
pub struct Reader {
    /// The beginning of a line whose end was not yet there.
    rest: Vec<u8>,
    line: u64,
    lost: Vec<Lost>,
}

impl Reader {
    /// Takes the next bytes; calls `each` with the lines that they end.
    pub fn push(&mut self, bytes: &[u8], mut each: impl FnMut(LogLine)) {
        let mut bytes = bytes;
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (text, after) = bytes.split_at(end);
            if self.rest.is_empty() {
                self.take(text, &mut each);
            } else {
                self.rest.extend_from_slice(text);
                let whole = std::mem::take(&mut self.rest);
                self.take(&whole, &mut each);
            }
            bytes = &after[1..];
        }
        self.rest.extend_from_slice(bytes);
    }

    /// There are no more bytes: what is left is the last line, whole or cut.
    pub fn finish(mut self, mut each: impl FnMut(LogLine)) -> Vec<Lost> {
        let last = std::mem::take(&mut self.rest);
        if !last.is_empty() {
            self.take(&last, &mut each);
        }
        self.lost
    }

    /// The lines that could not be read so far.
    pub fn lost(&self) -> &[Lost] {
        &self.lost
    }

    fn take(&mut self, text: &[u8], each: &mut impl FnMut(LogLine)) {
        self.line += 1;
        if text.is_empty() {
            return;
        }
        match serde_json::from_slice(text) {
            Ok(line) => each(line),
            Err(error) => self.lost.push(Lost::of(self.line, text, &error)),
        }
    }
}

/// A log that was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Log {
    /// The lines that are whole, in their order.
    pub lines: Vec<LogLine>,
    /// Those that are not.
    pub lost: Vec<Lost>,
}

impl Log {
    /// Reads the bytes of a log, whatever became of them.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        let (mut reader, mut lines) = (Reader::default(), Vec::new());
        reader.push(bytes, |line| lines.push(line));
        let lost = reader.finish(|line| lines.push(line));
        Self { lines, lost }
    }

    /// Reads the log that begins with this file, in all its [pieces](super::piece).
    ///
    /// # Errors
    /// A file that cannot be read, or that is gone while the log goes on in a later one; never what is in it.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let mut log = Self::default();
        for (_, piece) in open_pieces(path)? {
            log.lines.extend(piece.lines);
            log.lost.extend(piece.lost);
        }
        Ok(log)
    }

    /// The lines of a log of which none may be lost.
    ///
    /// # Errors
    /// As [`open`](Self::open); the first line that is lost.
    pub fn whole(path: &Path) -> Result<Vec<LogLine>, ReadError> {
        let mut lines = Vec::new();
        for (path, piece) in open_pieces(path)? {
            if let Some(lost) = piece.lost.into_iter().next() {
                return Err(ReadError::Line { path, lost });
            }
            lines.extend(piece.lines);
        }
        Ok(lines)
    }
}

/// The pieces of a log, each with its file.
fn open_pieces(first: &Path) -> Result<Vec<(PathBuf, Log)>, ReadError> {
    let paths = pieces(first).map_err(|(path, source)| ReadError::File { path, source })?;
    let read = |path: PathBuf| match open_one(&path) {
        Ok(log) => Ok((path, log)),
        Err(source) => Err(ReadError::File { path, source }),
    };
    paths.into_iter().map(read).collect()
}

fn open_one(path: &Path) -> std::io::Result<Log> {
    let mut file = File::open(path)?;
    let (mut reader, mut lines) = (Reader::default(), Vec::new());
    let mut piece = Vec::with_capacity(PIECE);
    loop {
        piece.clear();
        if (&mut file).take(PIECE as u64).read_to_end(&mut piece)? == 0 {
            let lost = reader.finish(|line| lines.push(line));
            return Ok(Log { lines, lost });
        }
        reader.push(&piece, |line| lines.push(line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RunEvent, Time};

    fn refused(node: PeerIx, round: u32) -> LogLine {
        let reason = "99.1 % of ε = 2, the budget of node \u{1F426}".to_owned();
        LogLine { time: Time(u64::from(round)), node: Some(node), event: RunEvent::Refused { round, reason } }
    }

    fn text(lines: &[LogLine]) -> Vec<u8> {
        lines
            .iter()
            .flat_map(|line| serde_json::to_string(line).unwrap().into_bytes().into_iter().chain([b'\n']))
            .collect()
    }

    #[test]
    fn a_log_cut_at_any_byte_gives_the_lines_before_and_says_what_the_last_one_was() {
        let lines = [refused(12, 0), refused(12, 1)];
        let (all, first) = (text(&lines), text(&lines[..1]).len());
        for cut in first..=all.len() {
            let log = Log::of_bytes(&all[..cut]);
            // A line is whole when its last brace is there; the line end may be missing.
            let whole = if cut + 1 >= all.len() { 2 } else { 1 };
            assert_eq!(log.lines, lines[..whole], "cut at {cut}");
            let begun = cut > first && whole == 1;
            assert_eq!(log.lost.len(), usize::from(begun), "cut at {cut}");
            for lost in log.lost {
                assert_eq!((lost.line, lost.how), (2, How::Cut));
                let beginning = &all[first..cut];
                let has = |part: &str| beginning.len() >= part.len();
                assert_eq!(lost.node, has("{\"t\":1,\"node\":12,").then_some(12));
                let named = has("{\"t\":1,\"node\":12,\"event\":\"refused\"");
                assert_eq!(lost.event.as_deref(), named.then_some("refused"));
                assert_eq!(lost.may_cost(), !named);
            }
        }
    }

    #[test]
    fn pieces_of_any_length_give_the_same_lines() {
        let mut bytes = text(&[refused(0, 0), refused(1, 0)]);
        bytes.extend_from_slice(b"{\"t\":5,\"node\":3,\"ev\n\n\xff\xfe\n");
        bytes.extend_from_slice(&text(&[refused(2, 7)]));
        let whole = Log::of_bytes(&bytes);
        assert_eq!(whole.lines.len(), 3);
        let lost: Vec<_> = whole.lost.iter().map(|lost| (lost.line, lost.how, lost.node)).collect();
        assert_eq!(lost, [(3, How::Cut, Some(3)), (5, How::Damaged, None)]);
        for length in 1..bytes.len() {
            let (mut reader, mut lines) = (Reader::default(), Vec::new());
            bytes.chunks(length).for_each(|piece| reader.push(piece, |line| lines.push(line)));
            let lost = reader.finish(|line| lines.push(line));
            assert_eq!(Log { lines, lost }, whole, "pieces of {length}");
        }
    }

    #[test]
    fn a_damaged_line_in_the_middle_is_counted_and_may_have_told_of_anything() {
        let [before, after] = [text(&[refused(0, 0)]), text(&[refused(0, 1)])];
        let nonsense = b"{\"t\":0,\"node\":1,\"event\":\"nonsense\"}\n";
        let log = Log::of_bytes(&[before.as_slice(), nonsense, &after].concat());
        assert_eq!(log.lines.len(), 2);
        assert_eq!(log.lost, [Lost { line: 2, how: How::Damaged, node: None, event: None }]);
        assert!(log.lost[0].may_cost());
    }

    #[test]
    fn two_lines_in_one_and_blanks_are_damage_of_anybody() {
        let cut = b"{\"t\":0,\"node\":1,\"event\":\"peer_fault\",\"round\":";
        let next = text(&[refused(2, 1)]);
        let log = Log::of_bytes(&[cut, next.as_slice(), b"      \n", &next].concat());
        let damage = |line| Lost { line, how: How::Damaged, node: None, event: None };
        assert_eq!((log.lines.len(), log.lost.as_slice()), (1, [damage(1), damage(2)].as_slice()));
        assert!(log.lost.iter().all(Lost::may_cost));
    }

    #[test]
    fn where_only_a_whole_log_will_do_the_bad_line_is_named() {
        let folder = std::env::temp_dir().join(format!("murmur-log-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (file, good) = (folder.join("log.jsonl"), text(&[refused(0, 0)]));
        std::fs::write(&file, [good.as_slice(), b"\n{\"t\":1}\n"].concat()).unwrap();
        let error = Log::whole(&file).unwrap_err();
        assert!(error.to_string().contains("line 3"), "{error}");
        assert!(error.hint().is_some());
        std::fs::write(&file, &good).unwrap();
        assert_eq!(Log::whole(&file).unwrap(), [refused(0, 0)]);
        // In pieces it is one log; the bad line is named with its file.
        let [next, last] = [1, 2].map(|number| crate::log::piece(&file, number));
        std::fs::write(&next, text(&[refused(0, 1)])).unwrap();
        std::fs::write(&last, text(&[refused(0, 2)])).unwrap();
        assert_eq!(Log::whole(&file).unwrap(), [0, 1, 2].map(|round| refused(0, round)));
        std::fs::write(&next, "{\"t\":").unwrap();
        assert_eq!((Log::open(&file).unwrap().lines.len(), Log::open(&file).unwrap().lost.len()), (2, 1));
        assert!(Log::whole(&file).unwrap_err().to_string().contains("log-000001.jsonl"));
        std::fs::remove_file(&next).unwrap();
        assert!(Log::open(&file).unwrap_err().to_string().contains("log-000001.jsonl"), "a piece is gone");
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(Log::whole(&file).unwrap_err().to_string().contains("cannot be read"));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_stop_the_reader(bytes: Vec<u8>) {
            let log = Log::of_bytes(&bytes);
            proptest::prop_assert!(log.lost.len() <= bytes.len());
        }
    }
}

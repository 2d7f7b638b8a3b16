//! Quotes that are opened and never closed, or stand where none may, would let one record swallow others. So a table is read by the grammar of RFC 4180, and
//! refused where it does not keep to it.

use std::fmt;
use std::io::{self, Read};

/// What a table was refused for.
#[derive(Debug)]
pub(crate) struct StrayQuote {
    line: u64,
    what: &'static str,
}

impl fmt::Display for StrayQuote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for StrayQuote {}

const INSIDE: &str = "a quote inside a field that does not begin with one";
const BEHIND: &str = "something stands between a closing quote and the end of its field";
const OPEN: &str = "a quote is opened here and never closed";

/// Where in a field the last byte was.
#[derive(Debug, Clone, Copy, PartialEq)]
enum At {
    Start,
    Bare,
    Quoted,
    /// Behind a quote in a quoted field: its end, or the first of two.
    Quote,
}

/// Passes a text on as it is, and ends in an error where a quote stands that RFC 4180 has no place for.
///
/// # Guarantee
/// A field has an even number of quotes, so a record that is one more, or another one, has an odd number and the table ends in an error, or it begins and
/// ends outside of quotes, and every other record is read as it was.
pub(super) struct Quotes<R> {
    inner: R,
    delimiter: u8,
    at: At,
    line: u64,
    opened: u64,
    /// Bytes of a mark at the beginning that were not seen yet.
    mark: &'static [u8],
}

impl<R: Read> Quotes<R> {
    pub(super) fn new(inner: R, delimiter: u8) -> Self {
        Self { inner, delimiter, at: At::Start, line: 1, opened: 1, mark: b"\xef\xbb\xbf" }
    }

    fn check(&mut self, chunk: &[u8]) -> Result<(), StrayQuote> {
        // Most tables have no quotes: then only where the chunk ends counts.
        if self.mark.is_empty() && matches!(self.at, At::Start | At::Bare) && !chunk.contains(&b'"') {
            self.line += chunk.iter().filter(|byte| **byte == b'\n').count() as u64;
            if let Some(last) = chunk.last() {
                self.at = self.outside(*last);
            }
            return Ok(());
        }
        chunk.iter().try_for_each(|byte| self.step(*byte))
    }

    fn outside(&self, byte: u8) -> At {
        if byte == self.delimiter || matches!(byte, b'\n' | b'\r') { At::Start } else { At::Bare }
    }

    fn step(&mut self, byte: u8) -> Result<(), StrayQuote> {
        match self.mark.split_first() {
            Some((first, rest)) if *first == byte => {
                self.mark = rest;
                return Ok(());
            }
            _ => self.mark = b"",
        }
        let stray = |what| Err(StrayQuote { line: self.line, what });
        let next = match (self.at, byte) {
            (At::Start, b'"') => {
                self.opened = self.line;
                At::Quoted
            }
            (At::Bare, b'"') => return stray(INSIDE),
            (At::Start | At::Bare, other) => self.outside(other),
            (At::Quoted, b'"') => At::Quote,
            (At::Quoted, _) | (At::Quote, b'"') => At::Quoted,
            (At::Quote, other) => match self.outside(other) {
                At::Start => At::Start,
                _ => return stray(BEHIND),
            },
        };
        self.line += u64::from(byte == b'\n');
        self.at = next;
        Ok(())
    }
}

impl<R: Read> Read for Quotes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        let checked = match count {
            0 if self.at == At::Quoted && !buffer.is_empty() => {
                Err(StrayQuote { line: self.opened, what: OPEN })
            }
            _ => self.check(&buffer[..count]),
        };
        checked.map_err(|stray| io::Error::new(io::ErrorKind::InvalidData, stray))?;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The line of the complaint, if there is one, with `chunk` bytes at a time.
    fn complaint(text: &[u8], chunk: usize) -> Option<u64> {
        let mut quotes = Quotes::new(text, b',');
        let mut buffer = vec![0; chunk];
        loop {
            match quotes.read(&mut buffer) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => {
                    return error
                        .get_ref()
                        .and_then(|inner| inner.downcast_ref::<StrayQuote>())
                        .map(|s| s.line);
                }
            }
        }
    }

    #[test]
    fn what_the_grammar_has_passes_and_the_rest_is_named_with_its_line() {
        for good in [
            "a,b\n1,2\n",
            "\u{feff}\"a\",b\r\n\"1,\"\"2\"\"\",\"x\ny\"\r\n",
            "a\n\"\"\n",
            "a,b\r\"1\",2\r",
            "a\n\"last\"",
            "",
        ] {
            for chunk in 1..9 {
                assert_eq!(complaint(good.as_bytes(), chunk), None, "{good:?} by {chunk}");
            }
        }
        for (bad, line) in [
            ("a,b\n1,\"2\n3,4\n", 2),
            ("a,b\n1,5\" pipe\n", 2),
            ("a,b\n1,2\n\"x\"y,4\n", 3),
            ("a,b\n1,2\n3, \"4\"\n", 3),
            ("a,b\n1,\"2\n3,\"4\",5\n", 3),
        ] {
            for chunk in 1..9 {
                assert_eq!(complaint(bad.as_bytes(), chunk), Some(line), "{bad:?} by {chunk}");
            }
        }
    }

    proptest! {
        /// What passes is read the same by whoever knows the grammar: records and fields as many as were written.
        #[test]
        fn whatever_a_writer_writes_passes(rows in prop::collection::vec(prop::collection::vec("[a-c\",\n\r; ]{0,6}", 2), 1..8), chunk in 1usize..40) {
            let mut writer = csv::Writer::from_writer(Vec::new());
            rows.iter().for_each(|row| writer.write_record(row).unwrap());
            prop_assert_eq!(complaint(&writer.into_inner().unwrap(), chunk), None);
        }
    }
}

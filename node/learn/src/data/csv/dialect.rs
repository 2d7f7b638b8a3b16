//! What is a file's own: delimiter, decimal sign, encoding, quotes. Said, or shown by the line with the names of the columns, which is public: no record
//! decides how the others are read.

use std::io::{BufRead, Read};

use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use encoding_rs_io::DecodeReaderBytesBuilder;

use super::super::error::DataError;
use super::super::input::Input;
use super::options::CsvOptions;
use super::quotes::Quotes;

/// Bytes among which the first line is looked for.
const SAMPLE: usize = 1 << 16;
/// What stands between fields in practice, the likeliest first.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// How numbers of a file are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecimalSign {
    /// `1.5`
    Point,
    /// `1,5`; a point is then no decimal sign, and whether it groups thousands nobody knows.
    Comma,
    /// Nothing was said, and a comma stands for nothing else: each cell by itself is read with the one or the other.
    Either,
}

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
    pub(crate) decimal: DecimalSign,
    pub(crate) encoding: &'static Encoding,
    /// Whether quotes are signs and not letters.
    pub(crate) quoting: bool,
}

pub(super) type CsvReader = csv::Reader<Box<dyn Read>>;

impl Dialect {
    const OURS: Self = Self { delimiter: b',', decimal: DecimalSign::Point, encoding: UTF_8, quoting: true };

    /// What was said, and for the rest what the header shows.
    ///
    /// # Guarantee
    /// Nothing but the first line and the options has a say. A file in which one record could hide others (by half a letter, or a state of the encoding) is
    /// refused; for quotes see [`Quotes`].
    ///
    /// # Assumes
    /// The first line is the header, which is public.
    pub(super) fn of(input: &Input, options: &CsvOptions) -> Result<Self, DataError> {
        if input.is_our_csv() {
            return Ok(Self::OURS);
        }
        let beginning = input.beginning(SAMPLE)?;
        let marked = Encoding::for_bom(&beginning).map(|(encoding, _)| encoding);
        let encoding = match (&options.encoding, marked) {
            (Some(name), _) => named(name)?,
            (None, Some(marked)) => marked,
            (None, None) => found_encoding(first_line(&beginning)),
        };
        whole_letters(input, encoding)?;
        let (text, _, _) = encoding.decode(&beginning);
        let header = text.trim_start_matches(['\n', '\r']).split(['\n', '\r']).next().unwrap_or_default();
        if header.contains('\0') {
            return Err(input.malformed("it has bytes that no text has: a table is CSV, TSV or Parquet"));
        }
        let delimiter = match options.delimiter {
            Some(said) => one_byte("delimiter", said)?,
            None => found_delimiter(header),
        };
        let decimal = match options.decimal {
            Some(',') => DecimalSign::Comma,
            Some('.') => DecimalSign::Point,
            Some(other) => return Err(bad("decimal", other, "must be a comma or a point")),
            None if delimiter == b',' => DecimalSign::Point,
            None => DecimalSign::Either,
        };
        Ok(Self { delimiter, decimal, encoding, quoting: !options.plain_quotes })
    }

    /// The file from its beginning, as UTF-8 where an encoding was said or shown; cells of others are read one by one.
    pub(super) fn open(self, input: &Input) -> Result<CsvReader, DataError> {
        let raw: Box<dyn BufRead> = input.open()?;
        let content: Box<dyn Read> = match self.encoding == UTF_8 {
            true => Box::new(raw),
            false => Box::new(DecodeReaderBytesBuilder::new().encoding(Some(self.encoding)).build(raw)),
        };
        let checked: Box<dyn Read> = match self.quoting {
            true => Box::new(Quotes::new(content, self.delimiter)),
            false => content,
        };
        Ok(csv::ReaderBuilder::new()
            .delimiter(self.delimiter)
            .quoting(self.quoting)
            .buffer_capacity(1 << 16)
            .trim(csv::Trim::Headers)
            .flexible(true)
            .from_reader(checked))
    }
}

/// An encoding by one of its usual names.
pub(crate) fn named(name: &str) -> Result<&'static Encoding, DataError> {
    let refused =
        |why: &str| DataError::BadParameter { name: "encoding", value: name.to_owned(), why: why.into() };
    match Encoding::for_label(name.as_bytes()) {
        Some(encoding) if encoding == ISO_2022_JP => Err(refused(
            "has states, by which one record could change how the next are read; write the file as UTF-8",
        )),
        Some(encoding) => Ok(encoding),
        None => Err(refused("is not known; try utf-8, windows-1252, latin1 or utf-16le")),
    }
}

/// Half a letter in the middle would shift all that follow.
fn whole_letters(input: &Input, encoding: &'static Encoding) -> Result<(), DataError> {
    let is_wide = encoding == UTF_16LE || encoding == UTF_16BE;
    if is_wide && input.content_length()? % 2 == 1 {
        return Err(input.malformed("it is UTF-16 with half a letter somewhere: write it as UTF-8"));
    }
    Ok(())
}

/// The first line with something in it, as bytes.
fn first_line(beginning: &[u8]) -> &[u8] {
    let start = beginning.trim_ascii_start();
    start.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default()
}

/// UTF-8 where it is that, else what Windows writes in western Europe, which reads any bytes.
fn found_encoding(header: &[u8]) -> &'static Encoding {
    // The last letter of a very long line may be cut.
    match std::str::from_utf8(header) {
        Err(error) if error.error_len().is_some() => WINDOWS_1252,
        _ => UTF_8,
    }
}

/// The delimiter by which the header has the most fields; where nothing divides, a comma; and of equals the likelier one, which stands first.
fn found_delimiter(header: &str) -> u8 {
    let fields = |delimiter: &u8| {
        let reader =
            csv::ReaderBuilder::new().delimiter(*delimiter).has_headers(false).from_reader(header.as_bytes());
        reader.into_records().next().and_then(Result::ok).map_or(0, |record| record.len())
    };
    DELIMITERS.into_iter().rev().max_by_key(fields).unwrap_or(b',')
}

fn one_byte(name: &'static str, said: char) -> Result<u8, DataError> {
    u8::try_from(said).map_err(|_| bad(name, said, "must be one byte"))
}

fn bad(name: &'static str, said: char, why: &str) -> DataError {
    DataError::BadParameter { name, value: said.to_string(), why: why.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use DecimalSign::{Either, Point};

    fn read(bytes: &[u8], options: &CsvOptions) -> Result<Dialect, DataError> {
        Dialect::of(&Input::Embedded { name: "test", bytes: bytes.to_vec().leak() }, options)
    }

    fn of(bytes: &[u8]) -> (char, DecimalSign, &'static str) {
        let found = read(bytes, &CsvOptions::default()).unwrap();
        (found.delimiter as char, found.decimal, found.encoding.name())
    }

    #[test]
    fn the_header_decides() {
        assert_eq!(of(b"a,b\n1.5,2\n"), (',', Point, "UTF-8"));
        assert_eq!(of(b"a;b\n1,5;2\n"), (';', Either, "UTF-8"));
        assert_eq!(of(b"\r\n\na;b\n1,5;2\n"), (';', Either, "UTF-8"), "lines without anything");
        assert_eq!(of(b"a;b\r1,2\r"), (';', Either, "UTF-8"), "an old Mac");
        assert_eq!(of(b"a\tb\tc\n1\t2\t3\n"), ('\t', Either, "UTF-8"));
        assert_eq!(of(b"\ta\n0\t1\n"), ('\t', Either, "UTF-8"), "a column without a name");
        assert_eq!(of(b"a|b\n1|2\n"), ('|', Either, "UTF-8"));
        assert_eq!(of(b"\"x; y\",b\n1,2\n"), (',', Point, "UTF-8"), "inside of quotes");
        assert_eq!(of(b"only\n1;x\n2\n"), (',', Point, "UTF-8"));
        assert_eq!(of(b"a,b\n1;2\n"), (',', Point, "UTF-8"));
        assert_eq!(of(b""), (',', Point, "UTF-8"));
        let said = CsvOptions { decimal: Some('.'), ..CsvOptions::default() };
        assert_eq!(read(b"a;b\n1,5;2\n", &said).unwrap().decimal, Point);
        let said = CsvOptions { decimal: Some(','), ..CsvOptions::default() };
        assert_eq!(read(b"a,b\n1.5,2\n", &said).unwrap().decimal, DecimalSign::Comma);
    }

    #[test]
    fn no_record_decides_how_the_others_are_read() {
        for record in [&b"1,5;2"[..], b"1,5;2.5", b"1.5;2", b"st\xe4dte;1", b"a,b,c,d,e", b"\0;\0", b"\t\t\t"]
        {
            let file = [b"a;b\n1,5;2\n", record, b"\n3;4\n"].concat();
            assert_eq!(of(&file), (';', Either, "UTF-8"), "{record:?}");
        }
        assert_eq!(of(b"st\xe4dte;x\n1;2\n"), (';', Either, "windows-1252"));
        assert_eq!(of("städte;x\n1;2\n".as_bytes()).2, "UTF-8");
        let wide: Vec<u8> = "\u{feff}a\tb\n1;2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(of(&wide), ('\t', Either, "UTF-16LE"));
    }

    #[test]
    fn half_a_letter_and_encodings_with_states_are_refused() {
        let mut wide: Vec<u8> = "\u{feff}a;b\n1;2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        wide.insert(12, b'x');
        let refused = |bytes: &[u8], options| read(bytes, &options).unwrap_err().to_string();
        assert!(refused(&wide, CsvOptions::default()).contains("half a letter"));
        let states = CsvOptions { encoding: Some("iso-2022-jp".into()), ..CsvOptions::default() };
        assert!(refused(b"a;b\n", states).contains("has states"));
        assert!(refused(b"a\0;b\n", CsvOptions::default()).contains("no text has"));
    }
}

//! What is a file's own: delimiter, decimal sign, encoding. Found in its beginning unless it was said.

use std::io::{BufRead, Read};

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use encoding_rs_io::DecodeReaderBytesBuilder;

use super::super::error::DataError;
use super::super::input::Input;
use super::options::CsvOptions;

/// Bytes that are looked at.
const SAMPLE: usize = 1 << 16;
/// Rows that are looked at.
const ROWS: usize = 50;
/// What stands between fields in practice, the likeliest first.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
    pub(crate) decimal: u8,
    pub(crate) encoding: &'static Encoding,
}

pub(super) type CsvReader = csv::Reader<Box<dyn Read>>;

impl Dialect {
    /// What was said, and for the rest what the beginning of the file shows.
    pub(super) fn of(input: &Input, options: &CsvOptions) -> Result<Self, DataError> {
        if input.is_our_csv() {
            return Ok(Self { delimiter: b',', decimal: b'.', encoding: UTF_8 });
        }
        let beginning = input.beginning(SAMPLE)?;
        let encoding = match &options.encoding {
            Some(name) => named(name)?,
            None => found_encoding(&beginning, beginning.len() < SAMPLE),
        };
        let (text, _, _) = encoding.decode(&beginning);
        if text.contains('\0') {
            return Err(input.malformed("it has bytes that no text has: a table is CSV, TSV or Parquet"));
        }
        let whole = whole_lines(&text, beginning.len() < SAMPLE);
        let delimiter = match options.delimiter {
            Some(said) => one_byte("delimiter", said)?,
            None => found_delimiter(whole),
        };
        let decimal = match options.decimal {
            Some(said) => one_byte("decimal", said)?,
            None => found_decimal(whole, delimiter),
        };
        Ok(Self { delimiter, decimal, encoding })
    }

    /// What was said, and for the rest what the header shows: no record decides how the others are read. A comma is read as a decimal sign beside the
    /// point wherever it stands for nothing else.
    ///
    /// # Guarantee
    /// Nothing but the first line and the options has a say.
    ///
    /// # Assumes
    /// The first line is the header, which is public.
    pub(super) fn of_header(input: &Input, options: &CsvOptions) -> Result<Self, DataError> {
        if input.is_our_csv() {
            return Ok(Self { delimiter: b',', decimal: b'.', encoding: UTF_8 });
        }
        let beginning = input.beginning(SAMPLE)?;
        let marked = Encoding::for_bom(&beginning).map(|(encoding, _)| encoding);
        let header = match marked {
            Some(_) => &beginning[..],
            None => beginning.split(|byte| *byte == b'\n').next().unwrap_or_default(),
        };
        let encoding = match (&options.encoding, marked) {
            (Some(name), _) => named(name)?,
            (None, Some(marked)) => marked,
            (None, None) => found_encoding(header, true),
        };
        let (text, _, _) = encoding.decode(header);
        let first = text.lines().next().unwrap_or_default();
        if first.contains('\0') {
            return Err(input.malformed("it has bytes that no text has: a table is CSV, TSV or Parquet"));
        }
        let delimiter = match options.delimiter {
            Some(said) => one_byte("delimiter", said)?,
            None => found_delimiter(first),
        };
        let decimal = match options.decimal {
            Some(said) => one_byte("decimal", said)?,
            None if delimiter == b',' => b'.',
            None => b',',
        };
        Ok(Self { delimiter, decimal, encoding })
    }

    /// The file from its beginning, as UTF-8.
    pub(super) fn open(self, input: &Input) -> Result<CsvReader, DataError> {
        let raw: Box<dyn BufRead> = input.open()?;
        let content: Box<dyn Read> = match self.encoding == UTF_8 {
            true => Box::new(raw),
            false => Box::new(DecodeReaderBytesBuilder::new().encoding(Some(self.encoding)).build(raw)),
        };
        Ok(csv::ReaderBuilder::new()
            .delimiter(self.delimiter)
            .buffer_capacity(1 << 16)
            .trim(csv::Trim::Headers)
            .flexible(true)
            .from_reader(content))
    }
}

/// An encoding by one of its usual names.
pub(crate) fn named(name: &str) -> Result<&'static Encoding, DataError> {
    Encoding::for_label(name.as_bytes()).ok_or_else(|| DataError::BadParameter {
        name: "encoding",
        value: name.to_owned(),
        why: "is not known; try utf-8, windows-1252, latin1 or utf-16le".into(),
    })
}

/// UTF-16 by its mark, UTF-8 where it is that, else what Windows writes in western Europe, which reads any bytes.
fn found_encoding(beginning: &[u8], is_all: bool) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(beginning) {
        return encoding;
    }
    match std::str::from_utf8(beginning) {
        Ok(_) => UTF_8,
        // The last letter may be cut.
        Err(error) if error.error_len().is_none() && !is_all => UTF_8,
        Err(_) => WINDOWS_1252,
    }
}

/// The text without a last line that is cut.
fn whole_lines(text: &str, is_all: bool) -> &str {
    match text.rfind('\n') {
        Some(end) if !is_all => &text[..end],
        _ => text,
    }
}

/// The delimiter by which most rows have as many fields as the first, and the most of them: a row that is broken must not hide how the others are written.
fn found_delimiter(text: &str) -> u8 {
    let fields = |delimiter: u8| {
        let rows = rows(text, delimiter);
        let first = rows.first().map_or(0, Vec::len);
        let alike = rows.iter().filter(|row| row.len() == first).count();
        if 2 * alike >= rows.len() { first * alike } else { 0 }
    };
    // Where nothing divides, a comma; and of equals the likelier one, which stands first.
    let divides = |delimiter: &u8| rows(text, *delimiter).first().is_some_and(|first| first.len() > 1);
    DELIMITERS.into_iter().filter(divides).rev().max_by_key(|&delimiter| fields(delimiter)).unwrap_or(b',')
}

/// A comma where numbers have one and none has a point. Not in a file with commas between its fields: there `1,234` in quotes is a thousand more often
/// than a little more than one.
fn found_decimal(text: &str, delimiter: u8) -> u8 {
    if delimiter == b',' {
        return b'.';
    }
    let rows = rows(text, delimiter);
    let has = |sign: char| {
        let with_sign = |cell: &String| {
            let digits = cell.trim().trim_start_matches(['-', '+']);
            digits.split_once(sign).is_some_and(|(whole, part)| {
                !part.is_empty() && (whole.to_owned() + part).bytes().all(|byte| byte.is_ascii_digit())
            })
        };
        rows.iter().skip(1).flatten().any(with_sign)
    };
    if has(',') && !has('.') { b',' } else { b'.' }
}

fn rows(text: &str, delimiter: u8) -> Vec<Vec<String>> {
    let reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let fields = |record: csv::StringRecord| record.iter().map(str::to_owned).collect();
    reader.into_records().take(ROWS).map_while(Result::ok).map(fields).collect()
}

fn one_byte(name: &'static str, said: char) -> Result<u8, DataError> {
    u8::try_from(said).map_err(|_| DataError::BadParameter {
        name,
        value: said.to_string(),
        why: "must be one byte".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> (char, char, &'static str) {
        let input = Input::Embedded { name: "test", bytes: bytes.to_vec().leak() };
        let found = Dialect::of(&input, &CsvOptions::default()).unwrap();
        (found.delimiter as char, found.decimal as char, found.encoding.name())
    }

    #[test]
    fn delimiter_and_decimal_sign_are_found() {
        assert_eq!(of(b"a,b\n1.5,2\n"), (',', '.', "UTF-8"));
        assert_eq!(of(b"a;b\n1,5;2\n"), (';', ',', "UTF-8"));
        assert_eq!(of(b"a;b\n1,5;2.5\n"), (';', '.', "UTF-8"), "both signs: nothing is guessed");
        assert_eq!(of(b"a;b\n\"x, y\";2\n"), (';', '.', "UTF-8"));
        assert_eq!(of(b"a\tb\tc\n1\t2\t3\n"), ('\t', '.', "UTF-8"));
        assert_eq!(of(b"a|b\n1|2\n"), ('|', '.', "UTF-8"));
        assert_eq!(of(b"only\n1\n2\n"), (',', '.', "UTF-8"));
        assert_eq!(of(b"only\n1;x\n2\n"), (',', '.', "UTF-8"));
        assert_eq!(of(b"a;b;c\n1,5;2;3\n1;2\n2,5;3;4\n"), (';', ',', "UTF-8"), "a row is broken");
        assert_eq!(of(b"a,b\n1;2\n"), (',', '.', "UTF-8"), "the header decides");
        assert_eq!(of(b"a,b\n\"1,234\",2\n"), (',', '.', "UTF-8"));
        assert_eq!(of(b""), (',', '.', "UTF-8"));
    }

    #[test]
    fn no_record_decides_how_the_others_are_read() {
        let of = |bytes: &[u8]| {
            let input = Input::Embedded { name: "test", bytes: bytes.to_vec().leak() };
            let found = Dialect::of_header(&input, &CsvOptions::default()).unwrap();
            (found.delimiter as char, found.decimal as char, found.encoding.name())
        };
        for record in [&b"1,5;2"[..], b"1,5;2.5", b"1.5;2", b"st\xe4dte;1", b"a,b,c,d,e", b"\0;\0", b"\t\t\t"]
        {
            let file = [b"a;b\n1,5;2\n", record, b"\n3;4\n"].concat();
            assert_eq!(of(&file), (';', ',', "UTF-8"), "{record:?}");
        }
        assert_eq!(of(b"a,b\n1;5\n"), (',', '.', "UTF-8"));
        assert_eq!(of(b"st\xe4dte;x\n1;2\n"), (';', ',', "windows-1252"));
        let wide: Vec<u8> = "\u{feff}a\tb\n1;2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(of(&wide), ('\t', ',', "UTF-16LE"));
    }

    #[test]
    fn encodings_are_found_by_mark_or_because_it_is_no_utf_8() {
        assert_eq!(of("städte;x\n1;2\n".as_bytes()).2, "UTF-8");
        assert_eq!(of(b"st\xe4dte;x\n1;2\n").2, "windows-1252");
        let wide: Vec<u8> = "\u{feff}a;b\n1;2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(of(&wide), (';', '.', "UTF-16LE"));
    }
}

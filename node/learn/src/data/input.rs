//! Where bytes come from: a file or an embedded set, plain or gzipped.
//!
//! Compression is detected by content, not by name. An input can be opened again and again, so readers take one
//! pass to count and one to fill: arrays are allocated once, at their exact size, and never grow.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use flate2::read::MultiGzDecoder;

use super::error::DataError;

/// Bytes read at a time.
const BUFFER: usize = 1 << 16;

/// The first two bytes of every gzip member (RFC 1952).
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The first bytes of every Parquet file.
const PARQUET_MAGIC: &[u8] = b"PAR1";

/// Something that can be read from its beginning as often as needed.
#[derive(Debug, Clone)]
pub(crate) enum Input {
    /// A file.
    File(PathBuf),
    /// What came through standard input or was unpacked, in a file without a name that is gone with the program.
    Spooled {
        /// What it is called in errors.
        name: String,
        /// The content.
        file: Arc<File>,
        /// Whether it is CSV that was written here, so that nothing about it is to be guessed.
        ours: bool,
    },
    /// A set inside the program.
    Embedded {
        /// What it is called in errors.
        name: &'static str,
        /// Its content.
        bytes: &'static [u8],
    },
}

impl Input {
    pub(crate) fn file(path: impl AsRef<Path>) -> Self {
        Self::File(path.as_ref().to_path_buf())
    }

    /// A file of a table: `-` is standard input, which can be read once and is kept.
    pub(crate) fn table(path: impl AsRef<Path>) -> Result<Self, DataError> {
        let path = path.as_ref();
        let input = if path == Path::new("-") { standard_input()? } else { Self::file(path) };
        if input.beginning(PARQUET_MAGIC.len())? == PARQUET_MAGIC {
            return super::parquet::to_csv(&input);
        }
        Ok(input)
    }

    /// Whether it is CSV that was written here.
    pub(crate) fn is_our_csv(&self) -> bool {
        matches!(self, Self::Spooled { ours: true, .. })
    }

    /// The bytes as they are stored, for readers that jump.
    #[cfg(feature = "parquet")]
    pub(crate) fn stored(&self) -> Result<File, DataError> {
        match self {
            Self::File(path) => {
                File::open(path).map_err(|source| DataError::Open { path: path.clone(), source })
            }
            Self::Spooled { file, .. } => file.try_clone().map_err(|source| self.read_error(source)),
            Self::Embedded { .. } => Err(self.malformed("what is inside the program is no Parquet")),
        }
    }

    /// What it is called in errors.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Spooled { name, .. } => name.clone(),
            Self::File(path) => path.display().to_string(),
            Self::Embedded { name, .. } => (*name).to_string(),
        }
    }

    /// The content from its beginning, decompressed where it is gzipped.
    pub(crate) fn open(&self) -> Result<Box<dyn BufRead>, DataError> {
        let mut raw = self.open_raw()?;
        let start = raw.fill_buf().map_err(|source| self.read_error(source))?;
        if start.starts_with(&GZIP_MAGIC) {
            return Ok(Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(raw))));
        }
        Ok(raw)
    }

    /// The first `count` bytes of the content, fewer where it is shorter.
    pub(crate) fn beginning(&self, count: usize) -> Result<Vec<u8>, DataError> {
        let mut start = Vec::with_capacity(count);
        let mut content = self.open()?.take(count as u64);
        content.read_to_end(&mut start).map_err(|source| self.read_error(source))?;
        Ok(start)
    }

    /// Bytes of the content; a gzipped one is read through once to know.
    pub(crate) fn content_length(&self) -> Result<u64, DataError> {
        if let Self::File(path) = self {
            let mut raw = self.open_raw()?;
            let start = raw.fill_buf().map_err(|source| self.read_error(source))?;
            if !start.starts_with(&GZIP_MAGIC) {
                let about = path.metadata().map_err(|source| self.read_error(source))?;
                return Ok(about.len());
            }
        }
        io::copy(&mut self.open()?, &mut io::sink()).map_err(|source| self.read_error(source))
    }

    pub(crate) fn read_error(&self, source: io::Error) -> DataError {
        DataError::Read { file: self.name(), source }
    }

    pub(crate) fn malformed(&self, why: impl Into<String>) -> DataError {
        DataError::Malformed { file: self.name(), why: why.into() }
    }

    fn open_raw(&self) -> Result<Box<dyn BufRead>, DataError> {
        match self {
            Self::Embedded { bytes, .. } => Ok(Box::new(Cursor::new(*bytes))),
            Self::Spooled { file, .. } => {
                let reader = SpoolReader { file: Arc::clone(file), at: 0 };
                Ok(Box::new(BufReader::with_capacity(BUFFER, reader)))
            }
            Self::File(path) => {
                let cannot = |source| DataError::Open { path: path.clone(), source };
                let file = File::open(path).map_err(cannot)?;
                let about = file.metadata().map_err(cannot)?;
                if !about.is_file() {
                    let what = if about.is_dir() {
                        "is a folder; a file is needed"
                    } else {
                        "is a pipe or device, and it is read twice; a table may come through standard input: `-`"
                    };
                    return Err(self.malformed(what));
                }
                Ok(Box::new(BufReader::with_capacity(BUFFER, file)))
            }
        }
    }
}

/// Everything that standard input has, kept from the first call on.
fn standard_input() -> Result<Input, DataError> {
    static KEPT: OnceLock<Result<Arc<File>, String>> = OnceLock::new();
    let keep = || {
        let mut spool = tempfile::tempfile()?;
        io::copy(&mut io::stdin().lock(), &mut spool)?;
        Ok::<_, io::Error>(Arc::new(spool))
    };
    let name = "standard input".to_owned();
    match KEPT.get_or_init(|| keep().map_err(|error| error.to_string())) {
        Ok(file) => Ok(Input::Spooled { name, file: Arc::clone(file), ours: false }),
        Err(why) => Err(DataError::Read { file: name, source: io::Error::other(why.clone()) }),
    }
}

/// Reads a file that others read too, each at its own place.
struct SpoolReader {
    file: Arc<File>,
    at: u64,
}

impl Read for SpoolReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let count = std::os::unix::fs::FileExt::read_at(&*self.file, buffer, self.at)?;
        #[cfg(windows)]
        let count = std::os::windows::fs::FileExt::seek_read(&*self.file, buffer, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn gzip_is_found_by_content_and_members_are_joined() {
        let mut packed = Vec::new();
        for part in ["first,", "second"] {
            let mut member = flate2::write::GzEncoder::new(&mut packed, flate2::Compression::fast());
            member.write_all(part.as_bytes()).unwrap();
            member.finish().unwrap();
        }
        let input = Input::Embedded { name: "test", bytes: packed.leak() };
        let mut text = String::new();
        input.open().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "first,second");
        assert_eq!(input.content_length().unwrap(), 12);
        assert_eq!(input.beginning(5).unwrap(), b"first");
    }

    #[test]
    fn a_spooled_input_is_read_from_its_beginning_as_often_as_needed() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"one,two").unwrap();
        let input = Input::Spooled { name: "spool".into(), file: Arc::new(file), ours: false };
        let mut first = input.open().unwrap();
        first.read_exact(&mut [0; 4]).unwrap();
        assert_eq!(input.beginning(3).unwrap(), b"one");
        let mut rest = String::new();
        first.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "two");
    }

    #[test]
    fn a_folder_is_refused_as_such() {
        let message = Input::file(".").open().err().unwrap().to_string();
        assert!(message.contains("is a folder"), "{message}");
    }
}

//! Where bytes come from: a file or an embedded set, plain or gzipped.
//!
//! Compression is detected by content, not by name. An input can be opened again and again, so readers take one
//! pass to count and one to fill: arrays are allocated once, at their exact size, and never grow.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use super::error::DataError;

/// Bytes read at a time.
const BUFFER: usize = 1 << 16;

/// The first two bytes of every gzip member (RFC 1952).
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Something that can be read from its beginning as often as needed.
#[derive(Debug, Clone)]
pub(crate) enum Input {
    /// A file.
    File(PathBuf),
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

    /// What it is called in errors.
    pub(crate) fn name(&self) -> String {
        match self {
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
            Self::File(path) => {
                let cannot = |source| DataError::Open { path: path.clone(), source };
                let file = File::open(path).map_err(cannot)?;
                let about = file.metadata().map_err(cannot)?;
                if !about.is_file() {
                    let what = if about.is_dir() { "is a folder" } else { "is a pipe or device" };
                    return Err(self.malformed(format!("{what}; a regular file is needed, it is read twice")));
                }
                Ok(Box::new(BufReader::with_capacity(BUFFER, file)))
            }
        }
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
    fn a_folder_is_refused_as_such() {
        let message = Input::file(".").open().err().unwrap().to_string();
        assert!(message.contains("is a folder"), "{message}");
    }
}

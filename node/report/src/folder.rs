//! The folder of a run: `runs/<name>/` with the effective configuration, the log, the metrics, the model and the result.
//!
//! Invariant: an existing folder is never written to; a file is whole or not there, but for the log, which grows while the run goes on.

use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use learn::checkpoint::{self, CheckpointError, CheckpointInfo};
use learn::model::Model;
use protocol::LogLine;
use protocol::folder::{CONFIG, LOG, MODEL};
use thiserror::Error;
use topology::Hint;

/// Names `<name>-2`, `<name>-3`, … are tried up to here.
const MOST_TRIED: u32 = 1_000_000;

/// Why a folder cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FolderError {
    /// The file system refused.
    #[error("cannot {doing} `{path}`")]
    File {
        /// What was tried.
        doing: &'static str,
        /// Which file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A model that cannot be saved.
    #[error("cannot save the model")]
    Model(#[from] CheckpointError),
}

impl Hint for FolderError {
    fn hint(&self) -> Option<String> {
        let hint: String = match self {
            Self::File { .. } => "choose another folder with `--out DIR`".into(),
            Self::Model(error) => return error.hint(),
        };
        Some(hint)
    }
}

/// The folder of one run.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    log: BufWriter<File>,
    failed: Option<std::io::Error>,
}

impl Folder {
    /// Makes a new folder in `parent`: `name`, or where that exists `name-2`, `name-3`, …
    ///
    /// # Errors
    /// A parent that cannot be written to.
    pub fn create(parent: &Path, name: &str, config: &str) -> Result<Self, FolderError> {
        fs::create_dir_all(parent).map_err(failed("make the folder", parent))?;
        let path = fresh(parent, name)?;
        let log_path = path.join(LOG);
        let log = File::create_new(&log_path).map_err(failed("make", &log_path))?;
        let folder = Self { path, log: BufWriter::new(log), failed: None };
        folder.write(CONFIG, config.as_bytes())?;
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a line to the log. An error is kept and told by [`finish_log`](Self::finish_log).
    pub fn append(&mut self, line: &LogLine) {
        if self.failed.is_none() {
            let written = serde_json::to_writer(&mut self.log, line)
                .map_err(std::io::Error::from)
                .and_then(|()| self.log.write_all(b"\n"));
            self.failed = written.err();
        }
    }

    /// Writes what is left of the log to disk.
    ///
    /// # Errors
    /// The first line that could not be written.
    pub fn finish_log(&mut self) -> Result<(), FolderError> {
        let done = match self.failed.take() {
            Some(error) => Err(error),
            None => self.log.flush().and_then(|()| self.log.get_ref().sync_all()),
        };
        done.map_err(failed("write", &self.path.join(LOG)))
    }

    /// Writes a file beside its name and renames it.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), FolderError> {
        let (path, part) = (self.path.join(name), self.path.join(format!("{name}.part")));
        fs::write(&part, bytes).and_then(|()| fs::rename(&part, &path)).map_err(failed("write", &path))
    }

    /// Saves the model.
    ///
    /// # Errors
    /// Parameters that are not finite, or a file that cannot be written.
    pub fn save_model(
        &self,
        model: &dyn Model,
        params: &[f32],
        info: &CheckpointInfo,
    ) -> Result<(), FolderError> {
        Ok(checkpoint::save(&self.path.join(MODEL), model, params, info)?)
    }
}

/// A folder that nobody else made: making it is what decides.
fn fresh(parent: &Path, name: &str) -> Result<PathBuf, FolderError> {
    for number in 1..=MOST_TRIED {
        let path = parent.join(if number == 1 { name.to_owned() } else { format!("{name}-{number}") });
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number < MOST_TRIED => {}
            Err(error) => return Err(failed("make the folder", &path)(error)),
        }
    }
    unreachable!("the last number returns")
}

fn failed(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> FolderError {
    let path = path.to_path_buf();
    move |source| FolderError::File { doing, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_run_of_the_same_name_gets_a_folder_of_its_own() {
        let parent = std::env::temp_dir().join(format!("murmur-folder-{}", std::process::id()));
        let _ = fs::remove_dir_all(&parent);
        let first = Folder::create(&parent, "run", "a = 1\n").unwrap();
        let second = Folder::create(&parent, "run", "a = 2\n").unwrap();
        assert_eq!((first.path(), second.path()), (&*parent.join("run"), &*parent.join("run-2")));
        assert_eq!(fs::read_to_string(parent.join("run/config.toml")).unwrap(), "a = 1\n");
        let names: Vec<_> =
            fs::read_dir(parent.join("run")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), 2, "{names:?}");
        fs::remove_dir_all(&parent).unwrap();
    }
}

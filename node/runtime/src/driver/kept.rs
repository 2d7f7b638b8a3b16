//! What contributions keep from one to the next, on disk beside the ledger.
//!
//! Invariant: it is on disk before the contribution that it came from is handed on, so a node that comes back goes on from what it had.

use std::io;
use std::path::{Path, PathBuf};

use protocol::work::NodeState;

use super::DriverError;
use crate::identity::replace_owner_only;

/// Its name in the folder of the node. As secret as the data: only the owner may read it.
const FILE: &str = "state.safetensors";

/// The state of a node, and what of it is on disk. By default nothing, nowhere.
#[derive(Default)]
pub(crate) struct Kept {
    path: PathBuf,
    pub(crate) state: NodeState,
    written: Vec<u8>,
}

impl Kept {
    /// What is in a folder; nothing if there is no file.
    pub(crate) fn load(folder: &Path) -> Result<Self, DriverError> {
        let path = folder.join(FILE);
        let failed = |source| DriverError::State { path: path.clone(), source };
        let written = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { path, state: NodeState::default(), written: Vec::new() });
            }
            Err(error) => return Err(failed(error)),
        };
        let state = NodeState::from_bytes(&written)
            .map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error)))?;
        Ok(Self { path, state, written })
    }

    /// Writes what has changed; most nodes keep nothing and write nothing.
    pub(crate) fn save(&mut self) -> Result<(), DriverError> {
        if self.state.is_empty() && self.written.is_empty() {
            return Ok(());
        }
        let bytes = self.state.to_bytes();
        if bytes != self.written {
            let failed = |source| DriverError::State { path: self.path.clone(), source };
            replace_owner_only(&self.path, &bytes).map_err(failed)?;
            self.written = bytes;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use protocol::Hint;

    use super::*;

    #[test]
    fn what_is_kept_comes_back_and_what_is_damaged_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let mut kept = Kept::load(folder.path()).unwrap();
        kept.save().unwrap();
        assert!(!folder.path().join(FILE).exists(), "nothing is kept");
        for round in 0..3 {
            kept.state.set("personal", vec![round as f32; 4]);
            kept.save().unwrap();
        }
        let back = Kept::load(folder.path()).unwrap();
        assert_eq!(back.state.get("personal"), Some(&[2.0; 4][..]));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no file is left beside it");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(folder.path().join(FILE)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        std::fs::write(folder.path().join(FILE), b"damaged").unwrap();
        let Err(error) = Kept::load(folder.path()) else { panic!("it was read") };
        assert!(error.to_string().contains(FILE) && error.hint().is_some(), "{error}");
    }
}

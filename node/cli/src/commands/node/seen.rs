//! The records of a node's last start: a report must not speak of two sets as one.

use protocol::Setup;
use runtime::identity::owner_only;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Name of the digest in the folder of a node. It stays there: a digest of private records is not for others.
const FILE: &str = "data.digest";

/// The records of this start.
pub(super) struct Seen {
    path: PathBuf,
    digest: String,
}

impl Seen {
    /// Of the records that this node learns from.
    pub(super) fn of(setup: &Setup, state: &Path) -> Self {
        let digest = setup.train.first().map(learn::data::fingerprint).unwrap_or_default();
        Self { path: state.join(FILE), digest }
    }

    /// A warning, where the last start had other records.
    pub(super) fn change(&self) -> Option<String> {
        let last = std::fs::read_to_string(&self.path).ok()?;
        (last.trim() != self.digest).then(|| {
            "the data are not those of this node's last start: its ledger and its report would count two sets as one. \
             With other data use another folder (`--state DIR`) and add up what both cost"
                .to_owned()
        })
    }

    /// Remembers them for the next start.
    pub(super) fn keep(&self) {
        // Only a warning depends on it.
        let file = owner_only().write(true).create(true).truncate(true).open(&self.path);
        let _ = file.and_then(|mut file| file.write_all(format!("{}\n", self.digest).as_bytes()));
    }
}

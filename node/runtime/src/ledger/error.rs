//! Why a ledger cannot be used, and what to try.

use std::path::PathBuf;

use protocol::Hint;

/// Why the ledger cannot be used. The node must stop: what is not recorded must not be sent.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// Another process has it open.
    #[error("another process uses the state in `{}`", path.display())]
    InUse {
        /// Which file.
        path: PathBuf,
    },
    /// It is that of another run or node.
    #[error("the state in `{}` belongs to {theirs}, not to {ours}", path.display())]
    Foreign {
        /// Which file.
        path: PathBuf,
        /// Whose it is.
        theirs: String,
        /// Who opened it.
        ours: String,
    },
    /// The file cannot be read or written: a full disk, a read-only folder, a damaged file.
    #[error("cannot {doing} `{}`: nothing more will be sent", path.display())]
    Storage {
        /// What was tried.
        doing: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        source: Box<redb::Error>,
    },
    /// The file that counts records cannot be read or written.
    #[error("cannot count records in `{}`: nothing more will be sent", path.display())]
    Count {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Another process on this machine has the same identity, in another folder.
    #[error("two nodes have one identity: another process on this machine is {identity}")]
    Twin {
        /// Which.
        identity: String,
    },
    /// What is in it makes no sense.
    #[error("`{}` is damaged: {what}", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What.
        what: String,
    },
}

impl Hint for LedgerError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::InUse { .. } => {
                "two nodes cannot share one state: give the second its own folder with `--state DIR`".into()
            }
            Self::Foreign { .. } => "choose another folder with `--state DIR`".into(),
            Self::Twin { .. } => {
                "a copy of a folder is no second node: each needs a folder of its own, made with `--state DIR`".into()
            }
            Self::Count { .. } => {
                "name a folder outside of the node's that it can write to: `MURMUR_LEDGER=DIR`".into()
            }
            Self::Storage { .. } => {
                "make room or give write access, then start the node again: it goes on where it was".into()
            }
            Self::Damaged { .. } => {
                "what was spent is in this file: do not reuse its identity without it".into()
            }
        })
    }
}

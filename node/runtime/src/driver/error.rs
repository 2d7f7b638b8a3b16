//! Why a node stopped that should not have.

use std::path::PathBuf;

use privacy::noise::NoiseError;
use protocol::Hint;

use crate::ledger::LedgerError;
use crate::network::NetworkError;

/// Why a node stopped that should not have.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// No identity.
    #[error(transparent)]
    Identity(#[from] crate::identity::IdentityError),
    /// The node's folder cannot be made.
    #[error("cannot make the folder `{}`", folder.display())]
    Folder {
        /// Which.
        folder: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The ledger cannot be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// No network.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The log cannot be written.
    #[error("cannot write the run log in `{}`", folder.display())]
    Journal {
        /// The node's folder.
        folder: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// What contributions keep cannot be read or written.
    #[error("cannot use what this node keeps between contributions, `{}`", path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The book of questions cannot be used.
    #[error(transparent)]
    Book(#[from] crate::asking::BookError),
    /// The owner could not ask.
    #[error("cannot listen for questions of this node's owner")]
    Door(#[source] std::io::Error),
    /// No private noise.
    #[error("the system gives no random bytes for noise")]
    Noise(#[from] NoiseError),
    /// Noise that everybody can compute, on a ledger of contributions with private noise.
    #[error("the state in `{}` has {records} contributions with private noise", folder.display())]
    SeededAfterPrivate {
        /// The node's folder.
        folder: PathBuf,
        /// How many.
        records: u64,
    },
    /// No thread.
    #[error("cannot start a thread")]
    Thread(#[source] std::io::Error),
    /// A contribution cannot be computed.
    #[error("cannot compute a contribution")]
    Compute(#[from] learn::train::TrainError),
    /// A member's configuration or data do not go with ours.
    #[error("{peer} cannot work with this node: {reason}")]
    Differs {
        /// Who.
        peer: String,
        /// What differs, all of it.
        reason: String,
    },
    /// Another process has this node's identity.
    #[error("two nodes have one identity: {0}")]
    Twin(String),
    /// The state knows a roster of which this node is no part.
    #[error("this node is not among the members that its state names")]
    Outsider,
    /// An identity that signs nothing.
    #[error("an identity among the members has no Ed25519 key")]
    NoKey,
    /// Members that cannot decide anything.
    #[error("the members cannot decide together")]
    Credentials(#[from] protocol::agreement::CredentialsError),
    /// A renewed swarm file that this node does not go on with.
    #[error(transparent)]
    Declined(super::Declined),
    /// A renewed swarm file that does not follow from the one before.
    #[error("the swarm file does not go on from the run as it was")]
    Renewal(#[from] crate::renewals::Unfit),
    /// Settings that follow from the swarm file.
    #[error(transparent)]
    Setup(#[from] protocol::SetupError),
    /// The others did not come.
    #[error("waited {waited} s in vain for {missing}")]
    Alone {
        /// Who.
        missing: String,
        /// How long nobody new had come.
        waited: u64,
        /// What was tried, and what may help.
        tried: String,
    },
    /// The network ended by itself.
    #[error("the network task ended")]
    NetworkGone,
}

impl Hint for DriverError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Identity(error) => error.hint(),
            Self::Declined(error) => error.hint(),
            Self::Renewal(error) => error.hint(),
            Self::Setup(error) => error.hint(),
            Self::Ledger(error) => error.hint(),
            Self::Book(error) => error.hint(),
            Self::Network(error) => error.hint(),
            Self::Folder { .. } => Some("choose a folder that you may write to with `--state DIR`".into()),
            Self::Journal { .. } => Some("make room or give write access, then start the node again".into()),
            Self::State { path, .. } => {
                Some(format!("move `{}` away; contributions then begin anew", path.display()))
            }
            Self::SeededAfterPrivate { .. } => {
                Some("leave the seed out, or try seeded noise in another folder: `--state DIR`".into())
            }
            Self::Differs { .. } => Some(
                "correct one of the two and start both again; nothing was sent, and nothing was spent".into(),
            ),
            Self::Alone { tried, .. } => {
                Some(format!("{tried}. Nothing was sent; a longer `timeouts.give_up` waits longer"))
            }
            Self::Twin(_) => Some("each node needs a folder of its own: `--state DIR`".into()),
            _ => None,
        }
    }
}

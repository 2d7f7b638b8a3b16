//! Who a node is: its key, and its position among the others.
//!
//! `PeerId` (libp2p's identity) and [`PeerIx`] (the position in the topology) meet in this file and nowhere else.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use libp2p::PeerId;
use libp2p::identity::{Keypair, PublicKey};
use protocol::Hint;
use protocol::{Digest, PeerIx};
use zeroize::Zeroizing;

use crate::secret::{from_hex, to_hex};

/// Name of the key's file in the folder of a node.
const FILE: &str = "identity.key";

/// An Ed25519 key that is kept in a file which only its owner may read.
#[derive(Debug, Clone)]
pub struct Identity {
    keypair: Keypair,
    created: bool,
}

/// Why there is no identity.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// The file cannot be read or written.
    #[error("cannot {doing} `{}`", path.display())]
    Io {
        /// `read` or `create`.
        doing: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Not a key.
    #[error("`{}` holds no key", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
    },
    /// Others may read it.
    #[error("others may read the key in `{}` (mode {mode:o})", path.display())]
    Exposed {
        /// Which file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
}

impl Hint for IdentityError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Io { .. } => Some("choose a folder that you may write to with `--state DIR`".into()),
            Self::Damaged { path } => {
                Some(format!("move `{}` away; the node then gets a new identity", path.display()))
            }
            Self::Exposed { path, .. } => Some(format!("chmod 600 {}", path.display())),
        }
    }
}

impl Identity {
    /// The identity in a folder, made at the first call.
    ///
    /// # Errors
    /// A folder that cannot be written to, a damaged file, or one that others may read.
    pub fn load_or_create(folder: &Path) -> Result<Self, IdentityError> {
        let path = folder.join(FILE);
        match fs::read_to_string(&path).map(Zeroizing::new) {
            Ok(text) => Self::parse(&path, text.trim()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let fresh = Self::ephemeral();
                fresh.save(folder).map(|()| fresh)
            }
            Err(source) => Err(IdentityError::Io { doing: "read", path, source }),
        }
    }

    /// The identity in a folder, if there is one that can be used.
    pub fn look(folder: &Path) -> Option<Self> {
        let path = folder.join(FILE);
        let text = Zeroizing::new(fs::read_to_string(&path).ok()?);
        Self::parse(&path, text.trim()).ok()
    }

    /// A fresh identity, not kept anywhere.
    pub fn ephemeral() -> Self {
        Self { keypair: Keypair::generate_ed25519(), created: true }
    }

    fn parse(path: &Path, text: &str) -> Result<Self, IdentityError> {
        check_mode(path)?;
        let damaged = || IdentityError::Damaged { path: path.into() };
        let bytes = Zeroizing::new(from_hex(text).ok_or_else(damaged)?);
        let keypair = Keypair::from_protobuf_encoding(&bytes).map_err(|_| damaged())?;
        Ok(Self { keypair, created: false })
    }

    /// Keeps it in a folder that has none.
    ///
    /// # Errors
    /// A folder that cannot be written to, or that has an identity.
    pub fn save(&self, folder: &Path) -> Result<(), IdentityError> {
        let path = folder.join(FILE);
        let encoded = self.keypair.to_protobuf_encoding().expect("Ed25519 keys have an encoding");
        let bytes = Zeroizing::new(encoded);
        let text = Zeroizing::new(to_hex(&bytes) + "\n");
        private_folder(folder)
            .and_then(|()| write_owner_only(&path, &text))
            .map_err(|source| IdentityError::Io { doing: "create", path, source })
    }

    /// Whether it was made just now.
    pub fn is_new(&self) -> bool {
        self.created
    }

    /// The public name.
    pub fn peer_id(&self) -> PeerId {
        self.keypair.public().to_peer_id()
    }

    /// The secret that signs: 32 bytes.
    pub(crate) fn seed(&self) -> Option<[u8; 32]> {
        let keypair = self.keypair.clone().try_into_ed25519().ok()?;
        keypair.secret().as_ref().try_into().ok()
    }

    pub(crate) fn keypair(&self) -> &Keypair {
        &self.keypair
    }
}

/// Writes a file that only its owner may read: whole or not at all, and not over another.
///
/// # Errors
/// Whatever the file system says.
pub fn write_owner_only(path: &Path, text: &str) -> io::Result<()> {
    // Unlike a rename, a link does not replace what somebody else wrote meanwhile.
    write_by(path, text.as_bytes(), |beside| fs::hard_link(beside, path))
}

/// As [`write_owner_only`], in place of what was there.
///
/// # Errors
/// If the file cannot be written.
pub fn replace_owner_only(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_by(path, bytes, |beside| fs::rename(beside, path))
}

/// How a file is opened that nobody else may read, whatever the process was told about new files (umask).
pub fn owner_only() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
}

/// Makes a folder that only its owner may enter; one that is there is closed to others.
///
/// # Errors
/// Whatever the file system says.
pub fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder)?;
    close_to_others(folder);
    Ok(())
}

/// Takes a file or folder that is there away from others, where it is ours.
pub fn close_to_others(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let Ok(meta) = fs::metadata(path) else { return };
        let mode = meta.permissions().mode();
        if mode & 0o077 != 0 {
            // Somebody else's stays as it is: what we put into it is closed by itself.
            let _ = fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o7700));
        }
    }
    #[cfg(not(unix))]
    let _ = path;
}

fn write_by(path: &Path, bytes: &[u8], put: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let mut options = owner_only();
    options.write(true).create(true).truncate(true);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let beside = path.with_file_name(name);
    let written = options.open(&beside).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        put(&beside)
    });
    let _ = fs::remove_file(&beside);
    written
}

#[cfg(unix)]
fn check_mode(path: &Path) -> Result<(), IdentityError> {
    use std::os::unix::fs::PermissionsExt;
    let meta = fs::metadata(path).map_err(|source| IdentityError::Io {
        doing: "read",
        path: path.into(),
        source,
    })?;
    let mode = meta.permissions().mode() & 0o777;
    if mode & 0o077 == 0 { Ok(()) } else { Err(IdentityError::Exposed { path: path.into(), mode }) }
}

#[cfg(not(unix))]
fn check_mode(_path: &Path) -> Result<(), IdentityError> {
    Ok(())
}

/// The members of a run, in the order of their identities' bytes, and behind them those who joined by renewals: the same list at every node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roster(Vec<PeerId>);

impl Roster {
    /// The roster of these members.
    pub fn new(members: impl IntoIterator<Item = PeerId>) -> Self {
        let mut members: Vec<PeerId> = members.into_iter().collect();
        members.sort_unstable();
        members.dedup();
        Self(members)
    }

    /// The places of a renewed run: in the order in which they are given.
    pub fn in_order(members: impl IntoIterator<Item = PeerId>) -> Self {
        Self(members.into_iter().collect())
    }

    /// What a peer or a file says, if it is one: known identities, in order.
    pub fn from_bytes(members: &[Vec<u8>]) -> Option<Self> {
        let parsed: Option<Vec<PeerId>> =
            members.iter().map(|bytes| PeerId::from_bytes(bytes).ok()).collect();
        let parsed = parsed?;
        let roster = Self::new(parsed.iter().copied());
        (roster.0 == parsed).then_some(roster)
    }

    /// The places of a run, as a ledger keeps them.
    pub fn places_from_bytes(members: &[Vec<u8>]) -> Option<Self> {
        let parsed: Option<Vec<PeerId>> =
            members.iter().map(|bytes| PeerId::from_bytes(bytes).ok()).collect();
        parsed.map(Self)
    }

    /// As bytes, for the wire and the ledger.
    pub fn to_bytes(&self) -> Vec<Vec<u8>> {
        self.0.iter().map(|peer| peer.to_bytes()).collect()
    }

    /// The members in order.
    pub fn members(&self) -> &[PeerId] {
        &self.0
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is nobody.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Position of a member.
    pub fn position(&self, peer: &PeerId) -> Option<PeerIx> {
        // In order but for those who joined, who are few.
        let found = self.0.binary_search(peer).ok();
        let at = found.or_else(|| self.0.iter().position(|member| member == peer))?;
        PeerIx::try_from(at).ok()
    }

    /// The member at a position.
    pub fn peer(&self, position: PeerIx) -> Option<&PeerId> {
        self.0.get(position as usize)
    }

    /// The Ed25519 keys that the identities contain, in order; `None` where one contains none.
    pub fn keys(&self) -> Option<Vec<[u8; 32]>> {
        self.0.iter().map(key_of).collect()
    }

    /// What all members must agree on.
    pub fn digest(&self) -> Digest {
        let names: Vec<String> = self.0.iter().map(|peer| peer.to_base58()).collect();
        Digest::of_text(&names.join("\n"))
    }
}

/// The identity that contains an Ed25519 key.
pub fn peer_of(key: &[u8; 32]) -> Option<PeerId> {
    let key = libp2p::identity::ed25519::PublicKey::try_from_bytes(key).ok()?;
    Some(PublicKey::from(key).to_peer_id())
}

/// The Ed25519 key inside an identity.
pub(crate) fn key_of(peer: &PeerId) -> Option<[u8; 32]> {
    let multihash: &libp2p::multihash::Multihash<64> = peer.as_ref();
    let key = PublicKey::try_decode_protobuf(multihash.digest()).ok()?;
    Some(key.try_into_ed25519().ok()?.to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_made_once_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("state");
        let first = Identity::load_or_create(&inside).unwrap();
        let second = Identity::load_or_create(&inside).unwrap();
        assert_eq!(first.peer_id(), second.peer_id());
        assert!(first.is_new() && !second.is_new());
        assert_eq!(fs::read_dir(&inside).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_may_read_the_key() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        Identity::load_or_create(folder.path()).unwrap();
        let path = folder.path().join(FILE);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let refused = Identity::load_or_create(folder.path()).unwrap_err();
        assert!(matches!(refused, IdentityError::Exposed { mode: 0o644, .. }), "{refused}");
    }

    #[test]
    fn a_damaged_key_is_refused_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        write_owner_only(&folder.path().join(FILE), "08011240").unwrap();
        let refused = Identity::load_or_create(folder.path()).unwrap_err();
        assert!(matches!(refused, IdentityError::Damaged { .. }), "{refused}");
    }

    #[test]
    fn a_roster_is_the_same_list_everywhere() {
        let peers: Vec<PeerId> = (0..5).map(|_| PeerId::random()).collect();
        let roster = Roster::new(peers.iter().copied());
        let reversed = Roster::new(peers.iter().rev().copied());
        assert_eq!(roster, reversed);
        assert_eq!(roster.digest(), reversed.digest());
        for (at, peer) in roster.members().iter().enumerate() {
            assert_eq!(roster.position(peer), Some(at as PeerIx));
            assert_eq!(roster.peer(at as PeerIx), Some(peer));
        }
        assert_eq!(Roster::from_bytes(&roster.to_bytes()), Some(roster.clone()));
        let mut unordered = roster.to_bytes();
        unordered.swap(0, 1);
        assert_eq!(Roster::from_bytes(&unordered), None);
        assert_eq!(Roster::from_bytes(&[vec![1, 2, 3]]), None);
    }
}

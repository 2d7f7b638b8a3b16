//! The key of one process.

use std::fmt;

use hkdf::Hkdf;
use sha2::Sha256;
use x25519_dalek::{PublicKey, SharedSecret, StaticSecret};

use crate::settings::RunId;

/// The public half, as it is told to others.
pub type MaskKey = [u8; 32];

/// The secret half of a process's key. Wiped when it goes; never written down: a process that starts again has another.
pub struct MaskSecret(StaticSecret);

impl MaskSecret {
    /// The key of these bytes.
    ///
    /// # Guarantee
    /// Who knows neither this secret nor that of the other side cannot tell what they share from random bytes.
    ///
    /// # Assumes
    /// The bytes are uniform, secret and used for one process only; X25519 (the gap Diffie–Hellman problem on Curve25519).
    pub fn new(uniform: [u8; 32]) -> Self {
        Self(StaticSecret::from(uniform))
    }

    /// What others are told.
    pub fn public(&self) -> MaskKey {
        PublicKey::from(&self.0).to_bytes()
    }

    /// Bytes that follow from it for one purpose and epoch, apart from everything that is shared.
    pub(super) fn draw(&self, purpose: &str, (run, epoch): (RunId, u32)) -> [u8; 32] {
        let mut draw = [0; 32];
        Hkdf::<Sha256>::new(Some(purpose.as_bytes()), self.0.as_bytes())
            .expand(&[&run.0.to_le_bytes()[..], &epoch.to_le_bytes()].concat(), &mut draw)
            .expect("32 bytes are within reach of HKDF");
        draw
    }

    /// What is shared with the holder of a public key; `None` for a key with which everybody shares the same.
    pub(crate) fn shared_with(&self, theirs: &MaskKey) -> Option<SharedSecret> {
        let shared = self.0.diffie_hellman(&PublicKey::from(*theirs));
        shared.was_contributory().then_some(shared)
    }
}

/// Never printed.
impl fmt::Debug for MaskSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MaskSecret")
    }
}

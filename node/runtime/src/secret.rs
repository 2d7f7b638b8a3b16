//! The secret that the members of a swarm share, and what is derived from it.

use std::fmt;
use std::fmt::Write as _;
use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use rand::TryRng;
use rand::rngs::SysRng;
use sha2::Sha256;
use zeroize::Zeroizing;

/// 32 bytes that whoever may join the swarm has. Never printed, but by [`Secret::to_hex`]. All copies of one are the same bytes in memory, wiped with the last.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<Zeroizing<[u8; 32]>>);

impl Secret {
    /// A fresh one, from the operating system.
    ///
    /// # Errors
    /// A system without randomness.
    pub fn generate() -> Result<Self, rand::rngs::SysError> {
        Ok(Self(Arc::new(Zeroizing::new(random()?))))
    }

    /// From 64 hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        let bytes = Zeroizing::new(from_hex(text)?);
        let mut secret = Zeroizing::new([0; 32]);
        if bytes.len() != secret.len() {
            return None;
        }
        secret.copy_from_slice(&bytes);
        Some(Self(Arc::new(secret)))
    }

    /// For the swarm file.
    pub fn to_hex(&self) -> String {
        to_hex(self.0.as_slice())
    }

    /// What goes into the keys of every channel.
    pub(crate) fn channel_key(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.mac(&[b"murmur channel 1"]))
    }

    /// HMAC-SHA256 over the parts, each with its length in front.
    pub(crate) fn mac(&self, parts: &[&[u8]]) -> [u8; 32] {
        self.over(parts).finalize().into_bytes().into()
    }

    /// Whether `mac` is that of the parts, in constant time.
    pub(crate) fn verifies(&self, parts: &[&[u8]], mac: &[u8; 32]) -> bool {
        self.over(parts).verify_slice(mac).is_ok()
    }

    fn over(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(self.0.as_slice()).expect("HMAC takes keys of any length");
        for part in parts {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Bytes that nobody can predict.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], rand::rngs::SysError> {
    let mut bytes = [0; N];
    SysRng.try_fill_bytes(&mut bytes)?;
    Ok(bytes)
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    // In one piece: growing would leave copies of secrets behind.
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 2);
    for at in (0..text.len()).step_by(2) {
        bytes.push(u8::from_str_radix(&text[at..at + 2], 16).ok()?);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_survives_its_file_and_is_not_printed() {
        let secret = Secret::generate().unwrap();
        assert_eq!(Secret::from_hex(&secret.to_hex()), Some(secret.clone()));
        assert!(!format!("{secret:?}").contains(&secret.to_hex()[..8]));
        for bad in ["", "abc", "zz", &"é".repeat(32), &"0".repeat(62)] {
            assert_eq!(Secret::from_hex(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_mac_is_that_of_hmac_sha256() {
        let secret = Secret(Arc::new(Zeroizing::new([7; 32])));
        // python3 -c "import hmac;print(hmac.new(bytes([7]*32),(2).to_bytes(8,'little')+b'ab'+bytes(8),'sha256').hexdigest())"
        let expected = "e2c9f724b4a68f4927c0fde5eda79f53c6a9ce82bf20f30bc1430b8619762f2e";
        assert_eq!(to_hex(&secret.mac(&[b"ab", b""])), expected);
        assert!(secret.verifies(&[b"ab", b""], &secret.mac(&[b"ab", b""])));
        assert!(!secret.verifies(&[b"a", b"b"], &secret.mac(&[b"ab", b""])));
    }
}

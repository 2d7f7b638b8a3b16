//! Digests of 32 bytes: statements are signed through them, and whoever lacks something asks for it by them.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use super::codec::{CodecError, Reader, Wire};

/// SHA-256 of a name and canonical bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Fingerprint(pub [u8; 32]);

impl Fingerprint {
    /// Of bytes under a name, which keeps different kinds of things apart.
    pub fn of(name: &str, bytes: &[u8]) -> Self {
        let length = (name.len() as u64).to_le_bytes();
        let hash = Sha256::new().chain_update(length).chain_update(name).chain_update(bytes);
        Self(hash.finalize().into())
    }

    /// Of little-endian parameters: SHA-256 of their bytes and nothing else, so that any tool can find it.
    pub fn of_model(params: &[f32]) -> Self {
        let mut hash = Sha256::new();
        let mut block = [0_u8; 1024];
        for chunk in params.chunks(256) {
            for (to, value) in block.chunks_exact_mut(4).zip(chunk) {
                to.copy_from_slice(&value.to_le_bytes());
            }
            hash.update(&block[..4 * chunk.len()]);
        }
        Self(hash.finalize().into())
    }

    /// Its first half, as lines of a log show it.
    pub fn short(&self) -> crate::Digest {
        let mut half = [0; 16];
        half.copy_from_slice(&self.0[..16]);
        crate::Digest(half)
    }

    pub(crate) fn of_wire(name: &str, value: &impl Wire) -> Self {
        Self::of(name, &value.to_bytes())
    }
}

impl Wire for Fingerprint {
    const LEAST: usize = 32;
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        <[u8; 32]>::read(from).map(Self)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        from_hex(&text).map(Self).ok_or_else(|| {
            serde::de::Error::custom(format!("`{text}` is not a digest of 64 hexadecimal digits"))
        })
    }
}

/// So many bytes as text, if it is exactly that.
pub(super) fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let canonical = text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    if text.len() != 2 * N || !canonical {
        return None;
    }
    let mut bytes = [0; N];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_kinds_apart_and_models_have_the_plain_digest() {
        assert_ne!(Fingerprint::of("ab", b"c"), Fingerprint::of("a", b"bc"));
        // python3 -c "import hashlib,struct; print(hashlib.sha256(struct.pack('<2f', 1.0,
        // -2.5)).hexdigest())"
        let expected = "48943f7a0ea247f8e3c9386d0c5822fe181d323a9289980426638cc4e72a43e1";
        assert_eq!(Fingerprint::of_model(&[1.0, -2.5]).to_string(), expected);
        let json = serde_json::to_string(&Fingerprint([7; 32])).unwrap();
        assert_eq!(serde_json::from_str::<Fingerprint>(&json).unwrap(), Fingerprint([7; 32]));
        assert!(serde_json::from_str::<Fingerprint>("\"07\"").is_err());
    }
}

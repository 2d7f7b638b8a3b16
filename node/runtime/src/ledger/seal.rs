//! The checksum of a record: behind its text, over its number and its text.

use sha2::{Digest as _, Sha256};

use crate::secret::to_hex;

/// Bytes of SHA-256 that are kept.
const BYTES: usize = 16;

/// A record's text with its checksum.
pub(super) fn seal(id: u64, text: &[u8]) -> Vec<u8> {
    [text, b"\n", checksum(id, text).as_bytes()].concat()
}

/// The text of a record that is whole. Ledgers of earlier versions have no checksums, and nothing behind the text.
pub(super) fn open(id: u64, bytes: &[u8]) -> Option<&[u8]> {
    match bytes.iter().position(|&byte| byte == b'\n') {
        None => bytes.ends_with(b"}").then_some(bytes),
        Some(end) => {
            let (text, sum) = (&bytes[..end], &bytes[end + 1..]);
            (sum == checksum(id, text).as_bytes()).then_some(text)
        }
    }
}

fn checksum(id: u64, text: &[u8]) -> String {
    let sum = Sha256::new().chain_update(id.to_le_bytes()).chain_update(text).finalize();
    to_hex(&sum[..BYTES])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_bit_of_a_record_can_change_unnoticed() {
        let text = br#"{"id":7,"round":3}"#;
        let sealed = seal(7, text);
        assert_eq!(open(7, &sealed), Some(&text[..]));
        assert_eq!(open(8, &sealed), None, "under another number");
        for bit in 0..8 * sealed.len() {
            let mut damaged = sealed.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(open(7, &damaged), None, "bit {bit}");
        }
        assert_eq!(open(7, text), Some(&text[..]), "an earlier version");
        assert_eq!(open(7, &sealed[..sealed.len() - 1]), None);
    }
}

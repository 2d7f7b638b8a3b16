//! What one datagram says, and how it is sealed.

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, UnboundKey};

use crate::network::channel::nonce_of;

/// Bytes of a frame in one datagram: with all that stands around them they pass through any network that has IPv6.
pub(super) const PIECE: usize = 1100;
/// Pieces of a frame, as many as the bits of a mask.
pub(super) const PIECES: usize = 16;
/// Frames beyond the first that is missing of which a datagram can say what of them is there.
pub(super) const WINDOW: u64 = 16;
/// The longest datagram.
pub(super) const DATAGRAM: usize = 1280;

/// Bytes of a number, and of what sealing adds.
const NUMBER: usize = 8;
const TAG: usize = 16;

/// What has come in at the sender.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Heard {
    /// All frames before this one have been used.
    pub(super) next: u64,
    /// The newest datagram; numbers begin with 1. Who says 0 wants an answer.
    pub(super) newest: u64,
    /// Of frames from `next` on: how far from it, and which pieces are there.
    pub(super) parts: Vec<(u8, u16)>,
}

/// A part of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// Number of the frame among those that go as datagrams.
    pub(super) frame: u64,
    /// How many frames of the stream come before it.
    pub(super) after: u64,
    /// Pieces of the frame.
    pub(super) count: u8,
    /// Which one this is.
    pub(super) index: u8,
    pub(super) bytes: Vec<u8>,
}

/// What a datagram says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Packet {
    pub(super) heard: Heard,
    pub(super) piece: Option<Piece>,
}

impl Packet {
    fn to_bytes(&self, bytes: &mut Vec<u8>) {
        let Heard { next, newest, parts } = &self.heard;
        bytes.extend_from_slice(&next.to_le_bytes());
        bytes.extend_from_slice(&newest.to_le_bytes());
        let parts = &parts[..parts.len().min(WINDOW as usize)];
        bytes.push(parts.len() as u8);
        for (distance, have) in parts {
            bytes.push(*distance);
            bytes.extend_from_slice(&have.to_le_bytes());
        }
        if let Some(piece) = &self.piece {
            bytes.extend_from_slice(&piece.frame.to_le_bytes());
            bytes.extend_from_slice(&piece.after.to_le_bytes());
            bytes.extend_from_slice(&[piece.count, piece.index]);
            bytes.extend_from_slice(&piece.bytes);
        }
    }

    /// `None` where it is not one.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let next = u64::from_le_bytes(take(&mut rest)?);
        let newest = u64::from_le_bytes(take(&mut rest)?);
        let [count] = take(&mut rest)?;
        let part = |rest: &mut &[u8]| Some((take::<1>(rest)?[0], u16::from_le_bytes(take(rest)?)));
        let parts = (0..count).map(|_| part(&mut rest)).collect::<Option<Vec<_>>>()?;
        let piece = if rest.is_empty() { None } else { Some(Piece::from_bytes(rest)?) };
        Some(Self { heard: Heard { next, newest, parts }, piece })
    }
}

impl Piece {
    fn from_bytes(mut rest: &[u8]) -> Option<Self> {
        let frame = u64::from_le_bytes(take(&mut rest)?);
        let after = u64::from_le_bytes(take(&mut rest)?);
        let [count, index] = take(&mut rest)?;
        let is_last = index.checked_add(1) == Some(count);
        let fits = if is_last { (1..=PIECE).contains(&rest.len()) } else { rest.len() == PIECE };
        let is_one = usize::from(count) <= PIECES && index < count && fits;
        is_one.then(|| Self { frame, after, count, index, bytes: rest.to_vec() })
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, behind) = rest.split_first_chunk::<N>()?;
    *rest = behind;
    Some(*first)
}

fn key_of(bytes: &[u8; 32]) -> LessSafeKey {
    LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, bytes).expect("its keys have 32 bytes"))
}

/// Seals datagrams, each with the next number.
pub(super) struct Seal {
    key: LessSafeKey,
    used: u64,
}

impl Seal {
    /// With a key that nothing else is sealed with.
    pub(super) fn new(key: &[u8; 32]) -> Self {
        Self { key: key_of(key), used: 0 }
    }

    /// The number of a datagram, and its bytes. `None` where numbers have run out.
    pub(super) fn seal(&mut self, packet: &Packet) -> Option<(u64, Vec<u8>)> {
        self.used = self.used.checked_add(1)?;
        let mut bytes = Vec::with_capacity(DATAGRAM);
        bytes.extend_from_slice(&self.used.to_le_bytes());
        packet.to_bytes(&mut bytes);
        let said = &mut bytes[NUMBER..];
        let tag = self.key.seal_in_place_separate_tag(nonce_of(self.used), Aad::empty(), said).ok()?;
        bytes.extend_from_slice(tag.as_ref());
        Some((self.used, bytes))
    }
}

/// Opens datagrams.
pub(super) struct Open(LessSafeKey);

impl Open {
    pub(super) fn new(key: &[u8; 32]) -> Self {
        Self(key_of(key))
    }

    /// The number and what was said; `None` where somebody else has sealed it, or nobody.
    pub(super) fn open(&self, datagram: &mut [u8]) -> Option<(u64, Packet)> {
        let (number, sealed) = datagram.split_first_chunk_mut::<NUMBER>()?;
        let number = u64::from_le_bytes(*number);
        if sealed.len() < TAG {
            return None;
        }
        let said = self.0.open_in_place(nonce_of(number), Aad::empty(), sealed).ok()?;
        Some((number, Packet::from_bytes(said)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Packet {
        let parts = (0..WINDOW as u8).map(|distance| (distance, 0xa5a5)).collect();
        let piece = Piece { frame: 7, after: 3, count: 16, index: 4, bytes: vec![9; PIECE] };
        Packet { heard: Heard { next: 5, newest: 1 << 40, parts }, piece: Some(piece) }
    }

    #[test]
    fn the_longest_datagram_passes_where_ipv6_does() {
        let (number, bytes) = Seal::new(&[1; 32]).seal(&full()).unwrap();
        assert_eq!(number, 1);
        assert!(bytes.len() <= 1280 - 40 - 8, "{}", bytes.len());
    }

    #[test]
    fn what_is_sealed_is_opened_and_what_was_changed_is_not() {
        let (mut seal, open) = (Seal::new(&[1; 32]), Open::new(&[1; 32]));
        for (at, packet) in [Packet::default(), full()].into_iter().enumerate() {
            let (_, bytes) = seal.seal(&packet).unwrap();
            assert_eq!(open.open(&mut bytes.clone()), Some((at as u64 + 1, packet)));
            for place in 0..bytes.len() {
                let mut changed = bytes.clone();
                changed[place] ^= 4;
                assert_eq!(open.open(&mut changed), None, "{place}");
                assert_eq!(open.open(&mut bytes[..place].to_vec()), None, "{place}");
            }
            assert_eq!(Open::new(&[2; 32]).open(&mut bytes.clone()), None);
        }
    }

    #[test]
    fn pieces_that_cannot_be_are_refused() {
        let bytes_of = |packet: &Packet| {
            let mut bytes = Vec::new();
            packet.to_bytes(&mut bytes);
            bytes
        };
        assert_eq!(Packet::from_bytes(&bytes_of(&full())), Some(full()));
        let with = |change: &dyn Fn(&mut Piece)| {
            let mut packet = full();
            packet.piece.iter_mut().for_each(change);
            Packet::from_bytes(&bytes_of(&packet))
        };
        assert_eq!(with(&|piece| piece.count = 17), None);
        assert_eq!(with(&|piece| piece.index = 16), None);
        assert_eq!(with(&|piece| piece.index = u8::MAX), None);
        assert_eq!(with(&|piece| piece.bytes.truncate(PIECE - 1)), None, "not the last");
        assert_eq!(with(&|piece| (piece.count, piece.bytes) = (5, Vec::new())), None, "nothing in it");
        assert!(with(&|piece| piece.count = 5).is_some());
    }
}

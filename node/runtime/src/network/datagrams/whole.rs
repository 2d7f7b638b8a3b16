//! Frames made of the pieces that come in, given on in order and once.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::packet::{Heard, PIECE, Piece, WINDOW};

/// A frame that is whole waits so long for what the stream brings before it. Messages may overtake each other, as they do in the simulator, and those that a stream holds up
/// may be held up for many seconds; but mostly they are only a moment behind.
const STREAM: Duration = Duration::from_millis(50);

/// A frame of which something is here.
#[derive(Debug)]
struct Part {
    after: u64,
    count: u8,
    have: u16,
    bytes: Vec<u8>,
    /// Bytes of the last piece.
    last: usize,
    /// Since when it is whole.
    since: Instant,
}

impl Part {
    fn is_whole(&self) -> bool {
        self.have.count_ones() == u32::from(self.count)
    }
}

/// What has come in.
#[derive(Debug, Default)]
pub(super) struct Whole {
    /// The first frame that was not used.
    used: u64,
    /// The first frame that was not given on.
    given: u64,
    /// Frames of the stream that are not waited for any more.
    overtaken: u64,
    parts: BTreeMap<u64, Part>,
    pub(super) newest: u64,
}

impl Whole {
    /// A piece; what is used already, or too far ahead, is dropped.
    pub(super) fn on_piece(&mut self, piece: &Piece, now: Instant) {
        if piece.frame < self.given || piece.frame >= self.used.saturating_add(WINDOW) {
            return;
        }
        let part = self.parts.entry(piece.frame).or_insert_with(|| Part {
            after: piece.after,
            count: piece.count,
            have: 0,
            bytes: vec![0; usize::from(piece.count) * PIECE],
            last: PIECE,
            since: now,
        });
        // Two that do not agree come from a peer that cannot count: the first is as good as the second.
        if part.count != piece.count || part.have >> piece.index & 1 == 1 {
            return;
        }
        let begin = usize::from(piece.index) * PIECE;
        part.bytes[begin..begin + piece.bytes.len()].copy_from_slice(&piece.bytes);
        if piece.index + 1 == piece.count {
            part.last = piece.bytes.len();
        }
        part.have |= 1 << piece.index;
        part.since = now;
    }

    /// A frame that came by the stream after all.
    pub(super) fn on_again(&mut self, frame: u64, bytes: Vec<u8>, now: Instant) {
        let is_whole = self.parts.get(&frame).is_some_and(Part::is_whole);
        if frame >= self.given && frame < self.used.saturating_add(WINDOW) && !is_whole {
            let last = bytes.len();
            // What comes by the stream comes after all that was said there before.
            self.parts.insert(frame, Part { after: 0, count: 1, have: 1, bytes, last, since: now });
        }
    }

    /// What the peer may forget.
    pub(super) fn heard(&self) -> Heard {
        let part = |(frame, part): (&u64, &Part)| {
            ((frame - self.used) as u8, if part.is_whole() { u16::MAX } else { part.have })
        };
        Heard { next: self.used, newest: self.newest, parts: self.parts.iter().map(part).collect() }
    }

    /// When the next frame may be given on, where it is whole; so many frames of the stream have come.
    pub(super) fn ready_at(&self, streamed: u64) -> Option<Instant> {
        let part = self.parts.get(&self.given).filter(|part| part.is_whole())?;
        let in_order = part.after <= streamed.max(self.overtaken);
        Some(part.since + if in_order { Duration::ZERO } else { STREAM })
    }

    /// Whether what comes after so many frames of the stream is not waited for any more.
    pub(super) fn has_overtaken(&self, streamed: u64) -> bool {
        streamed < self.overtaken
    }

    pub(super) fn is_ready(&self, streamed: u64, now: Instant) -> bool {
        self.ready_at(streamed).is_some_and(|at| at <= now)
    }

    /// The next frame, where it is ready.
    pub(super) fn give(&mut self, streamed: u64, now: Instant) -> Option<Vec<u8>> {
        if !self.is_ready(streamed, now) {
            return None;
        }
        let part = self.parts.get_mut(&self.given)?;
        self.overtaken = self.overtaken.max(part.after);
        let mut bytes = std::mem::take(&mut part.bytes);
        bytes.truncate((usize::from(part.count) - 1) * PIECE + part.last);
        self.given += 1;
        Some(bytes)
    }

    /// Whether all that was given on was used.
    pub(super) fn is_settled(&self) -> bool {
        self.given == self.used
    }

    /// The first of those that were given on was used.
    pub(super) fn on_used(&mut self) {
        self.parts.remove(&self.used);
        self.used += 1;
    }
}

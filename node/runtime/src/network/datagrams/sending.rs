//! Frames that were sent as datagrams, until the peer has them.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use super::pace::Pace;
use super::packet::{Heard, PIECE, PIECES, Piece, WINDOW};

/// When nothing was heard for so long of what is on its way, nothing gets through.
const STALLED: Duration = Duration::from_secs(1);
/// Datagrams of which we know when they were sent.
const TIMES: usize = 256;

/// A frame on its way.
#[derive(Debug)]
struct Said {
    after: u64,
    bytes: Vec<u8>,
    /// Pieces that the peer has not, as bits.
    missing: u16,
    /// How often it was said, and when it is said again.
    tries: u32,
    again_at: Instant,
    /// The last datagram with a part of it.
    number: u64,
}

impl Said {
    fn count(&self) -> usize {
        self.bytes.len().div_ceil(PIECE)
    }
}

/// What is on its way.
#[derive(Debug)]
pub(super) struct Sending {
    /// Number of the first.
    first: u64,
    said: VecDeque<Said>,
    pace: Pace,
    /// Numbers of datagrams, and when they were sent.
    times: VecDeque<(u64, Instant)>,
    /// When the peer last had something new of what is on its way, and when it last said anything.
    progress: Instant,
    heard: Instant,
    /// How often everything is said at once.
    pub(super) copies: u32,
}

/// Whether a frame of so many bytes can go as datagrams.
pub(super) fn fits(bytes: usize) -> bool {
    bytes <= PIECE * PIECES
}

impl Sending {
    pub(super) fn new(now: Instant) -> Self {
        let (said, times) = (VecDeque::new(), VecDeque::new());
        Self { first: 0, said, pace: Pace::default(), times, progress: now, heard: now, copies: 1 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.said.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.said.len() as u64 >= WINDOW
    }

    /// A frame to be sent, after so many frames of the stream.
    pub(super) fn push(&mut self, after: u64, bytes: Vec<u8>, now: Instant) {
        if self.is_done() {
            (self.progress, self.heard) = (now, now);
        }
        let missing = u16::MAX >> (PIECES - bytes.len().div_ceil(PIECE).clamp(1, PIECES));
        self.said.push_back(Said { after, bytes, missing, tries: 0, again_at: now, number: 0 });
    }

    /// Whether the peer has everything, used or not.
    fn is_done(&self) -> bool {
        self.said.iter().all(|said| said.missing == 0)
    }

    /// Whether nothing gets through.
    pub(super) fn is_stalled(&self, now: Instant) -> bool {
        let since = if self.is_done() { self.heard } else { self.progress.min(self.heard) };
        !self.said.is_empty() && now.duration_since(since) >= STALLED
    }

    /// When there is something to do.
    pub(super) fn wake_at(&self) -> Option<Instant> {
        // The first of them is said again until it was used, or the word that it was might get lost.
        let due = self.said.iter().enumerate().filter(|(at, said)| *at == 0 || said.missing != 0);
        due.map(|(_, said)| said.again_at).min()
    }

    /// A datagram was sent.
    pub(super) fn sent(&mut self, number: u64, now: Instant) {
        if self.times.len() == TIMES {
            self.times.pop_front();
        }
        self.times.push_back((number, now));
    }

    /// Says what is due; `put` sends a piece and returns the number of its datagram.
    pub(super) fn pour(&mut self, now: Instant, mut put: impl FnMut(Piece) -> Option<u64>) {
        let mut numbers = Vec::new();
        for (at, said) in self.said.iter_mut().enumerate() {
            if (said.missing == 0 && at > 0) || said.again_at > now {
                continue;
            }
            let (frame, count) = (self.first + at as u64, said.count() as u8);
            let (pieces, copies) = if said.missing == 0 { (1, 1) } else { (said.missing, self.copies) };
            for _ in 0..copies {
                for index in (0..count).filter(|index| pieces >> index & 1 == 1) {
                    let begin = usize::from(index) * PIECE;
                    let bytes = said.bytes[begin..said.bytes.len().min(begin + PIECE)].to_vec();
                    let number = put(Piece { frame, after: said.after, count, index, bytes });
                    said.number = number.unwrap_or(said.number);
                    numbers.extend(number);
                }
            }
            said.again_at = now + self.pace.wait(said.tries);
            said.tries += 1;
        }
        numbers.into_iter().for_each(|number| self.sent(number, now));
    }

    /// The peer says what it has.
    pub(super) fn on_heard(&mut self, heard: &Heard, now: Instant) {
        self.heard = now;
        while self.first < heard.next && self.said.pop_front().is_some() {
            self.first += 1;
            self.progress = now;
        }
        for &(distance, have) in &heard.parts {
            let place = heard.next.saturating_add(distance.into()).checked_sub(self.first);
            let said = place.and_then(|place| self.said.get_mut(usize::try_from(place).ok()?));
            if let Some(said) = said.filter(|said| said.missing & have != 0) {
                said.missing &= !have;
                self.progress = now;
            }
        }
        let passed = self.times.iter().take_while(|(number, _)| *number <= heard.newest).count();
        if let Some((number, at)) = self.times.drain(..passed).next_back()
            && number == heard.newest
        {
            self.pace.on_round_trip(now.duration_since(at));
        }
        // Something that was sent later has come: what is missing was lost.
        let lost = |said: &&mut Said| said.missing != 0 && said.tries > 0 && said.number <= heard.newest;
        self.said.iter_mut().filter(lost).for_each(|said| said.again_at = said.again_at.min(now));
    }

    /// Takes back all that the peer may not have used, with its numbers.
    pub(super) fn take_back(&mut self) -> Vec<(u64, Vec<u8>)> {
        let first = self.first;
        self.first += self.said.len() as u64;
        (first..).zip(self.said.drain(..).map(|said| said.bytes)).collect()
    }
}

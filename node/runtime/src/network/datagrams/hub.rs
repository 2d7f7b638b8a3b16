//! What the writer, the reader and the socket of a link share about its datagrams.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::packet::{Heard, Open, Packet, Seal};
use super::sending::{Sending, fits};
use super::trial::{Trial, Verdict};
use super::whole::Whole;
use crate::wire::{Doorway, Frame, WireError, to_bytes};

/// After this long without a datagram the peer is told that we are here.
const ALIVE: Duration = Duration::from_secs(4);

/// Datagrams that are answered one by one, at once.
const ASKED: usize = 64;

/// Where a frame goes.
#[derive(Debug, PartialEq)]
pub(in crate::network) enum Way {
    /// It went as datagrams.
    Datagrams,
    /// It is for the stream, behind these, which did not get through as datagrams.
    Stream(Vec<Frame>),
}

/// What small frames go by.
#[derive(Debug)]
enum Use {
    Stream { again_at: Instant },
    Trying(Trial),
    Datagrams,
}

/// The peer's end.
struct Theirs {
    seal: Seal,
    at: Option<SocketAddr>,
}

pub(super) struct Inner {
    usage: Use,
    theirs: Option<Theirs>,
    pub(super) sending: Sending,
    pub(super) whole: Whole,
    /// Frames of the stream that were written, and that came.
    written: u64,
    streamed: u64,
    /// Whether the peer waits to hear what has come, and which datagrams it wants answered one by one.
    owes: bool,
    asked: Vec<u64>,
    said: Instant,
    heard: Option<Instant>,
    back: Vec<Frame>,
}

/// Datagrams beside a stream.
pub(in crate::network) struct Beside {
    inner: Mutex<Inner>,
    /// The machine of the peer, where it can be called at all.
    pub(super) far: Option<IpAddr>,
    /// Something is to be done by the socket.
    pub(super) stir: Notify,
    /// Something has changed for the writer.
    moved: Notify,
    /// Somebody wants datagrams.
    pub(super) wanted: Notify,
    /// A frame was used.
    used: Notify,
}

/// Whether a frame has its place in the order: not those about the link itself.
pub(in crate::network) fn is_in_order(frame: &Frame) -> bool {
    !matches!(frame, Frame::Alive { .. } | Frame::Datagrams(_) | Frame::Again { .. })
}

impl Beside {
    /// For a link with a peer on this machine, where it is called straight.
    pub(in crate::network) fn new(far: Option<IpAddr>) -> Self {
        let now = Instant::now();
        let inner = Inner {
            usage: Use::Stream { again_at: now },
            theirs: None,
            sending: Sending::new(now),
            whole: Whole::default(),
            written: 0,
            streamed: 0,
            owes: false,
            asked: Vec::new(),
            said: now,
            heard: None,
            back: Vec::new(),
        };
        let [stir, moved, wanted, used] = [(); 4].map(|()| Notify::new());
        Self { inner: Mutex::new(inner), far, stir, moved, wanted, used }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing that may panic is done while it is held.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The peer has missed something: the way is tried, if it was not lately.
    pub(in crate::network) fn want(&self) {
        if self.far.is_some() {
            self.wanted.notify_one();
            self.lock().want(Instant::now());
            self.stir.notify_one();
        }
    }

    /// The peer says where it can be sent datagrams.
    pub(in crate::network) fn on_doorway(&self, doorway: &Doorway) {
        let at = self.far.map(|ip| SocketAddr::new(ip, doorway.port));
        let mut inner = self.lock();
        // Numbers under one key come once: it is taken once.
        if inner.theirs.is_none() {
            inner.theirs = Some(Theirs { seal: Seal::new(&doorway.key.0), at });
            inner.want(Instant::now());
        }
        drop(inner);
        self.wanted.notify_one();
        self.stir.notify_one();
    }

    /// A frame of the stream came, and was used.
    pub(in crate::network) fn on_streamed(&self) {
        self.lock().streamed += 1;
        self.stir.notify_one();
    }

    /// Whether datagrams that were sent after it did not wait for what the stream brings now.
    pub(in crate::network) fn is_overtaken(&self) -> bool {
        let inner = self.lock();
        inner.whole.has_overtaken(inner.streamed)
    }

    /// As if datagrams had not waited for so many frames of the stream.
    #[cfg(test)]
    pub(in crate::network) fn danger_overtake(&self, frames: u64) {
        let mut inner = self.lock();
        let piece = super::packet::Piece { frame: 0, after: frames, count: 1, index: 0, bytes: vec![0] };
        let now = Instant::now();
        inner.whole.on_piece(&piece, now);
        inner.whole.give(0, now + Duration::from_secs(1));
    }

    /// A frame came by the stream that was tried as datagrams.
    pub(in crate::network) fn on_again(&self, number: u64, bytes: Vec<u8>) {
        self.lock().whole.on_again(number, bytes, Instant::now());
        self.stir.notify_one();
    }

    /// Waits until all frames that are whole were used: what comes by the stream now was said after them.
    pub(in crate::network) async fn settled(&self) {
        while !self.lock().is_settled() {
            self.used.notified().await;
        }
    }

    /// Waits until the peer has all that went as datagrams, or they do not get through; what is left is for the stream.
    pub(in crate::network) async fn emptied(&self) -> Vec<Frame> {
        while !self.lock().sending.is_empty() {
            self.moved.notified().await;
        }
        std::mem::take(&mut self.lock().back)
    }

    /// Whether datagrams of the peer came within this time.
    pub(in crate::network) fn heard_within(&self, time: Duration) -> bool {
        self.lock().heard.is_some_and(|at| at.elapsed() < time)
    }

    /// Frames that did not get through as datagrams, when there are some.
    pub(in crate::network) async fn fallen(&self) -> Vec<Frame> {
        loop {
            let back = std::mem::take(&mut self.lock().back);
            if !back.is_empty() {
                return back;
            }
            self.moved.notified().await;
        }
    }

    /// Takes a frame, or says that it is for the stream; waits where others must come first.
    ///
    /// # Errors
    /// A frame that cannot be written.
    pub(in crate::network) async fn take(&self, frame: &Frame) -> Result<Way, WireError> {
        if !is_in_order(frame) {
            return Ok(Way::Stream(Vec::new()));
        }
        // Not before it may be needed: nearly all links never lose anything.
        let mut bytes = None;
        loop {
            if bytes.is_none() && self.lock().speaks() && is_small(frame) {
                bytes = Some(to_bytes(frame)?).filter(|bytes| fits(bytes.len()));
            }
            if let Some(way) = self.lock().offer(&mut bytes) {
                self.stir.notify_one();
                return Ok(way);
            }
            self.moved.notified().await;
        }
    }

    /// A packet came; `open` opens it. Whether it was one.
    pub(super) fn on_datagram(&self, open: &Open, datagram: &mut [u8], from: SocketAddr) -> bool {
        let Some((number, packet)) = open.open(datagram) else { return false };
        let mut inner = self.lock();
        inner.on_packet(number, &packet, from);
        drop(inner);
        self.moved.notify_one();
        true
    }

    /// What is to be sent now, and where to.
    pub(super) fn pour(&self) -> (Option<SocketAddr>, Vec<Vec<u8>>) {
        let mut inner = self.lock();
        let datagrams = inner.pour(Instant::now());
        let has_fallen = !inner.back.is_empty();
        let at = inner.theirs.as_ref().and_then(|theirs| theirs.at);
        drop(inner);
        if has_fallen {
            self.moved.notify_one();
        }
        (at, datagrams)
    }

    pub(super) fn is_ready(&self) -> bool {
        let inner = self.lock();
        inner.whole.is_ready(inner.streamed, Instant::now())
    }

    /// The next frame that is whole, in order.
    pub(super) fn give(&self) -> Option<Vec<u8>> {
        let mut inner = self.lock();
        let streamed = inner.streamed;
        inner.whole.give(streamed, Instant::now())
    }

    /// The first of those that were given was used.
    pub(in crate::network) fn on_used(&self) {
        let mut inner = self.lock();
        inner.whole.on_used();
        inner.owes = true;
        drop(inner);
        self.stir.notify_one();
        self.used.notify_one();
    }
}

/// Without writing it: what is certainly too long needs no try.
fn is_small(frame: &Frame) -> bool {
    matches!(frame, Frame::Message(message) if fits(message.bytes() as usize))
}

impl Inner {
    fn want(&mut self, now: Instant) {
        if let Use::Stream { again_at } = self.usage
            && self.theirs.is_some()
            && again_at <= now
        {
            self.usage = Use::Trying(Trial::new(now));
        }
    }

    fn is_settled(&self) -> bool {
        self.whole.is_settled() && !self.whole.is_ready(self.streamed, Instant::now())
    }

    fn speaks(&self) -> bool {
        matches!(self.usage, Use::Datagrams)
    }

    /// Takes a frame that is small, or says that there is nothing before it. `None`: not yet.
    fn offer(&mut self, bytes: &mut Option<Vec<u8>>) -> Option<Way> {
        if self.speaks() && bytes.is_some() {
            if self.sending.is_full() {
                return None;
            }
            self.sending.push(self.written, bytes.take()?, Instant::now());
            return Some(Way::Datagrams);
        }
        if !self.sending.is_empty() {
            return None;
        }
        self.written += 1;
        Some(Way::Stream(std::mem::take(&mut self.back)))
    }

    fn on_packet(&mut self, number: u64, packet: &Packet, from: SocketAddr) {
        let now = Instant::now();
        self.heard = Some(now);
        let heard = &packet.heard;
        if number > self.whole.newest {
            self.whole.newest = number;
            if let Some(theirs) = &mut self.theirs {
                theirs.at = Some(from);
            }
        }
        self.sending.on_heard(heard, now);
        if let Use::Trying(trial) = &mut self.usage {
            trial.on_answer(heard.newest, now);
        }
        self.owes |= packet.piece.is_some();
        if heard.newest == 0 && self.asked.len() < ASKED {
            self.asked.push(number);
        }
        packet.piece.iter().for_each(|piece| self.whole.on_piece(piece, now));
    }

    /// When there is something to do, if there is.
    pub(super) fn wake_at(&self) -> Option<Instant> {
        self.theirs.as_ref()?;
        let trial = match &self.usage {
            Use::Trying(trial) => Some(trial.wake_at()),
            _ => None,
        };
        let alive = self.said + ALIVE;
        // What is ready waits for room, and not for time.
        let ready = self.whole.ready_at(self.streamed).filter(|at| *at > Instant::now());
        Some([trial, self.sending.wake_at(), ready].into_iter().flatten().fold(alive, Instant::min))
    }

    /// The datagrams that are due.
    fn pour(&mut self, now: Instant) -> Vec<Vec<u8>> {
        self.judge(now);
        let Self { usage, theirs, sending, whole, owes, asked, said, .. } = self;
        let Some(theirs) = theirs else { return Vec::new() };
        let mut datagrams = Vec::new();
        let mut put = |newest, piece| {
            let heard = Heard { newest, ..whole.heard() };
            let (number, datagram) = theirs.seal.seal(&Packet { heard, piece })?;
            datagrams.push(datagram);
            Some(number)
        };
        asked.drain(..).for_each(|number| {
            put(number, None);
        });
        if let Use::Trying(trial) = usage
            && trial.is_due(now)
            // Who says that nothing has come is answered.
            && let Some(number) = put(0, None)
        {
            trial.sent(number, now);
            sending.sent(number, now);
        }
        let newest = whole.newest;
        sending.pour(now, |piece| {
            // What carries a piece says what has come, too.
            *owes = false;
            put(newest, Some(piece))
        });
        if *owes || *said + ALIVE <= now {
            put(newest, None);
        }
        if !datagrams.is_empty() {
            (*owes, *said) = (false, now);
        }
        datagrams
    }

    /// Whether a trial is over, and whether what is said still gets through.
    fn judge(&mut self, now: Instant) {
        if let Use::Trying(trial) = &self.usage
            && let Some(verdict) = trial.verdict(now)
        {
            tracing::debug!(?verdict, "tried datagrams");
            self.usage = match verdict {
                Verdict::Lossy(copies) => {
                    self.sending.copies = copies;
                    Use::Datagrams
                }
                Verdict::Closed => Use::Stream { again_at: Trial::again_at(true, now) },
                Verdict::Lossless => Use::Stream { again_at: Trial::again_at(false, now) },
            };
        }
        if self.sending.is_stalled(now) {
            tracing::debug!("datagrams do not get through any more");
            self.usage = Use::Stream { again_at: Trial::again_at(false, now) };
            let again = |(number, bytes)| Frame::Again { number, bytes };
            self.back.extend(self.sending.take_back().into_iter().map(again));
        }
    }
}

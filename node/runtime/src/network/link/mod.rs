//! A conversation with one peer: a bounded queue out, frames in, and an end when the peer falls silent.

use std::sync::Arc;
use std::time::Duration;

use futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use libp2p::PeerId;
use protocol::Body;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::time::{Instant, timeout, timeout_at};

use super::Event;
use crate::wire::{Frame, Known, Limits, WireError, read_head, read_numbers, write_frame};

/// Frames that wait for one peer. The protocol asks again for what is lost, so a peer that does not read costs its own messages and no memory.
const QUEUE: usize = 64;

/// Room that small frames may always use, in units of [`UNIT`].
const SMALL: u32 = 256;
/// The unit in which room is counted.
const UNIT: usize = 1024;

/// Room of a link that a frame takes until it was dealt with: what a peer sends faster than we use it stays at the peer.
#[derive(Debug)]
pub struct Held(#[expect(dead_code, reason = "held for its end")] Option<OwnedSemaphorePermit>);

/// What of a peer's frames may wait here: two vectors as long as the model (the longest frame has four), or one frame that is longer.
#[derive(Debug, Clone)]
struct Room {
    free: Arc<Semaphore>,
    all: u32,
}

impl Room {
    fn new(limits: Limits) -> Self {
        let all = SMALL.saturating_add(units(limits.numbers.saturating_mul(2)));
        Self { free: Arc::new(Semaphore::new(all as usize)), all }
    }

    /// Waits until there is room for so many bytes.
    async fn take(&self, bytes: usize) -> Held {
        let units = units(bytes).clamp(1, self.all);
        // Never closed.
        Held(Arc::clone(&self.free).acquire_many_owned(units).await.ok())
    }
}

fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX)
}

/// Where the peer asks for what was sent, packets may get lost; so long we think so.
const LOSSY: Duration = Duration::from_secs(60);
/// On such a link, when a word is said behind a frame that nothing follows, in milliseconds from then on. A packet that gets lost is missed by who gets a later one: without one the
/// system waits for at least 200 ms before it sends it again over TCP, and twice as long each time. So what is said matters not, and who hears it needs nothing of it.
/// A guess: half of these come before a lossless link with the delay of a continent has answered.
const ECHOES: [u64; 10] = [3, 6, 10, 15, 25, 40, 60, 90, 130, 180];

/// How long a link may be silent.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// After this long without a word we say that we are here.
    pub alive: Duration,
    /// After this long without a word from the peer the link is dead.
    pub silence: Duration,
    /// A frame that was begun must be whole after this long, in either direction.
    pub frame: Duration,
}

impl Default for Patience {
    /// A dead peer is noticed at about the time when the protocol gives it up.
    fn default() -> Self {
        Self {
            alive: Duration::from_secs(4),
            silence: Duration::from_secs(12),
            frame: Duration::from_secs(30),
        }
    }
}

/// The near end of a link.
#[derive(Debug, Clone)]
pub struct Link {
    /// Who is at the other end.
    pub peer: PeerId,
    /// Number of the link, so that a late report about an old one is not taken for the new one.
    pub id: u64,
    queue: mpsc::Sender<Frame>,
    /// How many words came in that say nothing but that the peer is there. Others may be of a process that has died: they wait here to be read.
    heard: Arc<watch::Sender<u64>>,
}

/// Why a frame was not queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The peer does not take what is sent.
    #[error("the peer's queue is full")]
    Full,
    /// The link has ended.
    #[error("the link has ended")]
    Ended,
}

impl Link {
    /// Queues a frame; never waits.
    ///
    /// # Errors
    /// A full queue or an ended link: the frame is dropped.
    pub fn send(&self, frame: Frame) -> Result<(), SendError> {
        self.queue.try_send(frame).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => SendError::Full,
            mpsc::error::TrySendError::Closed(_) => SendError::Ended,
        })
    }

    /// Whether the other end answers within `patience`.
    pub(crate) async fn answers(&self, patience: Duration) -> bool {
        let mut heard = self.heard.subscribe();
        if self.send(Frame::Alive { answer: true }) == Err(SendError::Ended) {
            return false;
        }
        tokio::select! {
            changed = heard.changed() => changed.is_ok(),
            () = self.queue.closed() => false,
            () = tokio::time::sleep(patience) => false,
        }
    }
}

/// When the peer last asked for something that it had not got.
#[derive(Debug)]
struct Missed(watch::Sender<Option<Instant>>);

impl Default for Missed {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl Missed {
    fn on_frame(&self, frame: &Frame) {
        if matches!(frame, Frame::Message(message) if matches!(message.body, Body::Nudge)) {
            self.0.send_replace(Some(Instant::now()));
        }
    }

    fn lately(&self) -> bool {
        self.0.borrow().is_some_and(|at| at.elapsed() < LOSSY)
    }
}

/// Where frames go that came in.
#[derive(Debug, Clone)]
pub(crate) struct Inbox {
    /// To the driver.
    pub(crate) events: mpsc::Sender<Event>,
    /// Addresses of others: to the network itself.
    pub(crate) known: mpsc::Sender<(PeerId, Vec<Known>)>,
}

/// Makes a link on a stream whose hello is done. `run` ends with the reason why the link did.
pub(crate) fn open<S>(
    stream: S,
    (peer, id): (PeerId, u64),
    (limits, patience): (Limits, Patience),
    inbox: Inbox,
) -> (Link, impl Future<Output = WireError> + Send)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (queue, frames) = mpsc::channel(QUEUE);
    let heard = Arc::new(watch::channel(0).0);
    let link = Link { peer, id, queue: queue.clone(), heard: heard.clone() };
    let (reader, writer) = stream.split();
    // The reader must not keep the queue open: a link ends when its owners drop it.
    let answers = queue.downgrade();
    let room = Room::new(limits);
    let missed = Missed::default();
    let run = async move {
        let read = async {
            let mut reader = reader;
            loop {
                match read_one(&mut reader, (limits, &room), patience).await {
                    Ok(frame) => {
                        if matches!(frame.0, Frame::Alive { answer: false }) {
                            heard.send_modify(|count| *count += 1);
                        }
                        missed.on_frame(&frame.0);
                        if let Err(end) = deliver(frame, &answers, (peer, id), &inbox).await {
                            return WireError::Io(end.into());
                        }
                    }
                    Err(error) => return error,
                }
            }
        };
        tokio::select! {
            error = read => error,
            error = write_all(writer, frames, (patience, &missed)) => error,
        }
    };
    (link, run)
}

async fn read_one(
    reader: &mut (impl AsyncRead + Unpin),
    (limits, room): (Limits, &Room),
    patience: Patience,
) -> Result<(Frame, Held), WireError> {
    let slow = |_| WireError::Io(std::io::ErrorKind::TimedOut.into());
    let mut length = [0; 4];
    timeout(patience.silence, reader.read_exact(&mut length[..1])).await.map_err(slow)??;
    let head = async {
        reader.read_exact(&mut length[1..]).await?;
        read_head(reader, length, limits).await
    };
    let head = timeout(patience.frame, head).await.map_err(slow)??;
    // Not on the peer's time: it is for us to make room.
    let held = room.take(u32::from_le_bytes(length) as usize + head.numbers.bytes()).await;
    let frame = timeout(patience.frame, read_numbers(reader, head)).await.map_err(slow)??;
    Ok((frame, held))
}

/// Passes a frame on; waits where the driver is behind, which makes the peer wait in turn.
async fn deliver(
    (frame, held): (Frame, Held),
    answers: &mpsc::WeakSender<Frame>,
    (peer, id): (PeerId, u64),
    inbox: &Inbox,
) -> Result<(), std::io::ErrorKind> {
    use std::io::ErrorKind::{ConnectionRefused, Interrupted};
    match frame {
        Frame::Alive { answer } => {
            if answer && let Some(queue) = answers.upgrade() {
                // A full queue answers by itself.
                let _ = queue.try_send(Frame::Alive { answer: false });
            }
            Ok(())
        }
        Frame::Members(known) => inbox.known.send((peer, known)).await.map_err(|_| Interrupted),
        // Said after the hello, when the other side has thought about it.
        Frame::Refuse(refusal, reason) => {
            let event = Event::Refused { peer, refusal, reason }.readable();
            inbox.events.send(event).await.map_err(|_| Interrupted)?;
            Err(ConnectionRefused)
        }
        frame => inbox.events.send(Event::Frame { peer, id, frame, held }).await.map_err(|_| Interrupted),
    }
}

async fn write_all(
    mut writer: impl AsyncWrite + Unpin,
    mut frames: mpsc::Receiver<Frame>,
    (patience, missed): (Patience, &Missed),
) -> WireError {
    let mut echoes = ECHOES.len();
    let mut said = Instant::now();
    loop {
        let next = ECHOES.get(echoes).map_or(patience.alive, |&after| Duration::from_millis(after));
        let frame = match timeout_at(said + next, frames.recv()).await {
            Ok(Some(frame)) => {
                (echoes, said) = (if missed.lately() { 0 } else { ECHOES.len() }, Instant::now());
                frame
            }
            // Everybody who could send has gone: say so to the peer.
            Ok(None) => {
                let _ = timeout(patience.frame, writer.close()).await;
                return WireError::Io(std::io::ErrorKind::ConnectionAborted.into());
            }
            Err(_) => {
                if echoes < ECHOES.len() {
                    echoes += 1;
                } else {
                    said = Instant::now();
                }
                Frame::Alive { answer: false }
            }
        };
        match timeout(patience.frame, write_frame(&mut writer, &frame)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return error,
            Err(_) => return WireError::Io(std::io::ErrorKind::TimedOut.into()),
        }
    }
}

#[cfg(test)]
mod tests;

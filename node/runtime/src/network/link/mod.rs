//! A conversation with one peer: a bounded queue out, frames in, and an end when the peer falls silent.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use libp2p::PeerId;
use protocol::{Body, Message};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::time::{Instant, timeout, timeout_at};

use super::Event;
use super::datagrams::{Beside, Way, is_in_order};
use crate::wire::{Frame, Known, Limits, WireError, read_frame, read_head, read_numbers, write_frame};

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
    /// Whether the peer asks with it.
    fn on_frame(&self, frame: &Frame) -> bool {
        let asks = matches!(frame, Frame::Message(message) if matches!(message.body, Body::Nudge));
        if asks {
            self.0.send_replace(Some(Instant::now()));
        }
        asks
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

/// Makes a link on a stream whose hello is done, with a peer on a `machine` that can be sent datagrams. `run` ends with the reason why the link did.
pub(crate) fn open<S>(
    stream: S,
    (peer, id): (PeerId, u64),
    (limits, patience): (Limits, Patience),
    inbox: Inbox,
    machine: Option<IpAddr>,
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
    let ears = Ears {
        from: (peer, id),
        limits,
        patience,
        room: Room::new(limits),
        heard,
        answers,
        inbox,
        missed: Missed::default(),
        beside: Beside::new(machine),
        newest: AtomicU32::new(0),
    };
    let run = async move {
        let (to_ears, whole) = mpsc::channel(1);
        tokio::select! {
            error = ears.read_all(reader) => error,
            error = ears.use_all(whole) => error,
            error = write_all(writer, frames, (patience, &ears.missed, &ears.beside)) => error,
            () = ears.beside.run(&ears.answers, to_ears) => WireError::Io(std::io::ErrorKind::Other.into()),
        }
    };
    (link, run)
}

/// Where what comes in goes.
struct Ears {
    from: (PeerId, u64),
    limits: Limits,
    patience: Patience,
    room: Room,
    heard: Arc<watch::Sender<u64>>,
    answers: mpsc::WeakSender<Frame>,
    inbox: Inbox,
    missed: Missed,
    beside: Beside,
    /// The newest round of which something came as a datagram.
    newest: AtomicU32,
}

impl Ears {
    /// What comes by the stream, until it ends.
    async fn read_all(&self, mut reader: impl AsyncRead + Unpin) -> WireError {
        loop {
            match self.read_one(&mut reader).await {
                Ok((Frame::Datagrams(doorway), _)) => self.beside.on_doorway(&doorway),
                Ok((Frame::Again { number, bytes }, _)) => self.beside.on_again(number, bytes),
                Ok((frame, held)) => {
                    if self.missed.on_frame(&frame) {
                        self.beside.want();
                    }
                    let in_order = is_in_order(&frame);
                    if in_order {
                        self.beside.settled().await;
                    }
                    if !self.is_stale(&frame)
                        && let Err(end) = self.hear(frame, held).await
                    {
                        return end;
                    }
                    if in_order {
                        self.beside.on_streamed();
                    }
                }
                Err(error) => return error,
            }
        }
    }

    /// Whether it hung in the stream until the rounds that it belongs to were over: what the peer was asked for it has said again since, and twice would look like a repetition.
    fn is_stale(&self, frame: &Frame) -> bool {
        let newest = self.newest.load(Relaxed);
        let is_old = |message: &Message| message.numbers.is_some() && message.round < newest;
        self.beside.is_overtaken() && matches!(frame, Frame::Message(message) if is_old(message))
    }

    /// What comes as datagrams, each frame in one piece again.
    async fn use_all(&self, mut whole: mpsc::Receiver<Vec<u8>>) -> WireError {
        while let Some(bytes) = whole.recv().await {
            let message = match read_frame(&mut bytes.as_slice(), self.limits).await {
                Ok(Frame::Message(message)) => message,
                // Nothing else goes as datagrams.
                Ok(_) => return WireError::Malformed,
                Err(error) => return error,
            };
            self.newest.fetch_max(message.round, Relaxed);
            let held = self.room.take(bytes.len()).await;
            if let Err(end) = self.hear(Frame::Message(message), held).await {
                return end;
            }
            self.beside.on_used();
        }
        // Datagrams have come to an end, and the link has not.
        std::future::pending().await
    }

    async fn hear(&self, frame: Frame, held: Held) -> Result<(), WireError> {
        if matches!(frame, Frame::Alive { answer: false }) {
            self.heard.send_modify(|count| *count += 1);
        }
        let heard = deliver((frame, held), &self.answers, self.from, &self.inbox).await;
        heard.map_err(|end| WireError::Io(end.into()))
    }

    async fn read_one(&self, reader: &mut (impl AsyncRead + Unpin)) -> Result<(Frame, Held), WireError> {
        let slow = |_| WireError::Io(std::io::ErrorKind::TimedOut.into());
        let mut length = [0; 4];
        loop {
            match timeout(self.patience.silence, reader.read_exact(&mut length[..1])).await {
                Ok(read) => {
                    read?;
                    break;
                }
                Err(_) if self.beside.heard_within(self.patience.silence) => {}
                Err(elapsed) => return Err(slow(elapsed)),
            }
        }
        let head = async {
            reader.read_exact(&mut length[1..]).await?;
            read_head(reader, length, self.limits).await
        };
        let head = timeout(self.patience.frame, head).await.map_err(slow)??;
        // Not on the peer's time: it is for us to make room.
        let held = self.room.take(u32::from_le_bytes(length) as usize + head.numbers.bytes()).await;
        let frame = timeout(self.patience.frame, read_numbers(reader, head)).await.map_err(slow)??;
        Ok((frame, held))
    }
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

/// Writes what is queued, until the queue ends or the stream does.
async fn write_all(
    mut writer: impl AsyncWrite + Unpin,
    mut frames: mpsc::Receiver<Frame>,
    (patience, missed, beside): (Patience, &Missed, &Beside),
) -> WireError {
    let mut echoes = ECHOES.len();
    let mut said = Instant::now();
    loop {
        let next = ECHOES.get(echoes).map_or(patience.alive, |&after| Duration::from_millis(after));
        let came = tokio::select! {
            back = beside.fallen() => Some(back),
            came = timeout_at(said + next, frames.recv()) => match came {
                Ok(None) => return end(writer, patience, beside).await,
                Ok(Some(frame)) => match beside.take(&frame).await {
                    Ok(Way::Datagrams) => continue,
                    Ok(Way::Stream(before)) => Some(before.into_iter().chain([frame]).collect()),
                    Err(error) => return error,
                },
                Err(_) => None,
            },
        };
        let all = match came {
            Some(all) => {
                (echoes, said) = (if missed.lately() { 0 } else { ECHOES.len() }, Instant::now());
                all
            }
            None => {
                if echoes < ECHOES.len() {
                    echoes += 1;
                } else {
                    said = Instant::now();
                }
                vec![Frame::Alive { answer: false }]
            }
        };
        if let Err(error) = write_each(&mut writer, &all, patience).await {
            return error;
        }
    }
}

/// Everybody who could send has gone: says so to the peer, behind what was sent.
async fn end(mut writer: impl AsyncWrite + Unpin, patience: Patience, beside: &Beside) -> WireError {
    let close = async {
        let back = beside.emptied().await;
        // If the stream has ended, no matter.
        let _ = write_each(&mut writer, &back, patience).await;
        let _ = writer.close().await;
    };
    let _ = timeout(patience.frame, close).await;
    WireError::Io(std::io::ErrorKind::ConnectionAborted.into())
}

async fn write_each(
    writer: &mut (impl AsyncWrite + Unpin),
    frames: &[Frame],
    patience: Patience,
) -> Result<(), WireError> {
    for frame in frames {
        let written = timeout(patience.frame, write_frame(writer, frame)).await;
        written.map_err(|_| WireError::Io(std::io::ErrorKind::TimedOut.into()))??;
    }
    Ok(())
}

#[cfg(test)]
mod tests;

//! Records on a connection: a length, and that many sealed bytes.

use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::{AsyncRead, AsyncWrite};
use ring::aead::{AES_256_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

/// Bytes of a length.
const LENGTH: usize = 2;
/// Bytes that sealing adds.
const TAG: usize = 16;
/// The longest record, before it is sealed.
const RECORD: usize = u16::MAX as usize - TAG;
/// Room for what comes in, until a longer record comes.
const ROOM: usize = 4 << 10;

/// What records are sealed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cipher {
    Aes,
    ChaCha,
}

/// A connection of which each record is sealed with the next number.
pub struct Sealed<S> {
    io: S,
    seal: Numbered,
    open: Numbered,
    outgoing: Outgoing,
    incoming: Incoming,
}

/// A key, and how often it was used.
struct Numbered {
    key: LessSafeKey,
    used: u64,
}

/// A record that grows, and is sealed before it is written.
#[derive(Default)]
struct Outgoing {
    bytes: Vec<u8>,
    /// How much was written, once it is sealed.
    written: Option<usize>,
}

/// What came in.
struct Incoming {
    bytes: Vec<u8>,
    /// Not opened yet.
    sealed: Range<usize>,
    /// Opened, and not read yet.
    plain: Range<usize>,
}

impl Numbered {
    fn new(cipher: Cipher, key: &[u8; 32]) -> Self {
        let algorithm = match cipher {
            Cipher::Aes => &AES_256_GCM,
            Cipher::ChaCha => &CHACHA20_POLY1305,
        };
        let key = UnboundKey::new(algorithm, key).expect("both ciphers have keys of 32 bytes");
        Self { key: LessSafeKey::new(key), used: 0 }
    }

    /// A number that comes once.
    fn nonce(&mut self) -> io::Result<Nonce> {
        let nonce = nonce_of(self.used);
        self.used = self.used.checked_add(1).ok_or(io::ErrorKind::StorageFull)?;
        Ok(nonce)
    }
}

/// The nonce of a number, which comes once under a key.
pub(in crate::network) fn nonce_of(number: u64) -> Nonce {
    let mut bytes = [0; NONCE_LEN];
    bytes[NONCE_LEN - 8..].copy_from_slice(&number.to_be_bytes());
    Nonce::assume_unique_for_key(bytes)
}

impl<S> Sealed<S> {
    /// With a key for each direction.
    pub(super) fn new(io: S, cipher: Cipher, [ours, theirs]: [&[u8; 32]; 2]) -> Self {
        let incoming = Incoming { bytes: vec![0; ROOM], sealed: 0..0, plain: 0..0 };
        let [seal, open] = [ours, theirs].map(|key| Numbered::new(cipher, key));
        Self { io, seal, open, outgoing: Outgoing::default(), incoming }
    }
}

impl Outgoing {
    /// Takes as much as there is room for.
    fn append(&mut self, bytes: &[u8]) -> usize {
        if self.bytes.is_empty() {
            self.bytes.extend_from_slice(&[0; LENGTH]);
        }
        let taken = bytes.len().min(LENGTH + RECORD - self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..taken]);
        taken
    }

    fn is_full(&self) -> bool {
        self.bytes.len() == LENGTH + RECORD
    }

    fn seal(&mut self, key: &mut Numbered) -> io::Result<()> {
        let nonce = key.nonce()?;
        let (length, record) = self.bytes.split_at_mut(LENGTH);
        let tag = key.key.seal_in_place_separate_tag(nonce, Aad::empty(), record);
        let tag = tag.map_err(|_| io::ErrorKind::InvalidData)?;
        length.copy_from_slice(&((record.len() + TAG) as u16).to_be_bytes());
        self.bytes.extend_from_slice(tag.as_ref());
        self.written = Some(0);
        Ok(())
    }

    /// Writes what is sealed.
    fn drain(&mut self, mut io: Pin<&mut impl AsyncWrite>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(written) = &mut self.written else { return Poll::Ready(Ok(())) };
        while *written < self.bytes.len() {
            match ready!(io.as_mut().poll_write(cx, &self.bytes[*written..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                more => *written += more,
            }
        }
        self.bytes.clear();
        self.written = None;
        Poll::Ready(Ok(()))
    }
}

impl Incoming {
    /// Opens the next record, where all of it is there.
    fn open(&mut self, key: &mut Numbered) -> io::Result<bool> {
        let Some(length) = self.announced() else { return Ok(false) };
        let begin = self.sealed.start + LENGTH;
        let Some(record) = self.bytes[..self.sealed.end].get_mut(begin..begin + length) else {
            return Ok(false);
        };
        let nonce = key.nonce()?;
        let plain =
            key.key.open_in_place(nonce, Aad::empty(), record).map_err(|_| io::ErrorKind::InvalidData)?;
        self.plain = begin..begin + plain.len();
        self.sealed.start = begin + length;
        Ok(true)
    }

    /// Bytes of the record that is next.
    fn announced(&self) -> Option<usize> {
        let length = self.bytes[self.sealed.clone()].first_chunk::<LENGTH>()?;
        Some(usize::from(u16::from_be_bytes(*length)))
    }

    /// Where the next bytes go: there is room for the record that is next.
    fn room(&mut self) -> &mut [u8] {
        self.bytes.copy_within(self.sealed.clone(), 0);
        self.sealed = 0..self.sealed.len();
        let needed = LENGTH + self.announced().unwrap_or(0);
        if needed > self.bytes.len() {
            self.bytes.resize(needed, 0);
        }
        &mut self.bytes[self.sealed.end..]
    }

    fn read(&mut self, out: &mut [u8]) -> usize {
        let taken = out.len().min(self.plain.len());
        out[..taken].copy_from_slice(&self.bytes[self.plain.start..][..taken]);
        self.plain.start += taken;
        taken
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Sealed<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut [u8]) -> Poll<io::Result<usize>> {
        let Self { io, open, incoming, .. } = self.get_mut();
        while incoming.plain.is_empty() {
            if incoming.open(open)? {
                continue;
            }
            let came = ready!(Pin::new(&mut *io).poll_read(cx, incoming.room()))?;
            if came == 0 {
                let is_cut = !incoming.sealed.is_empty();
                let end = if is_cut { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(0) };
                return Poll::Ready(end);
            }
            incoming.sealed.end += came;
        }
        Poll::Ready(Ok(incoming.read(out)))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Sealed<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let Self { io, seal, outgoing, .. } = self.get_mut();
        ready!(outgoing.drain(Pin::new(io), cx))?;
        let taken = outgoing.append(bytes);
        if outgoing.is_full() {
            outgoing.seal(seal)?;
            // What cannot be written now is written before the next is taken.
            if let Poll::Ready(written) = outgoing.drain(Pin::new(io), cx) {
                written?;
            }
        }
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { io, seal, outgoing, .. } = self.get_mut();
        if outgoing.written.is_none() && !outgoing.bytes.is_empty() {
            outgoing.seal(seal)?;
        }
        ready!(outgoing.drain(Pin::new(io), cx))?;
        Pin::new(io).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush(cx))?;
        Pin::new(&mut self.io).poll_close(cx)
    }
}

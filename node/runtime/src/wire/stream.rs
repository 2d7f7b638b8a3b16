//! Frames on a byte stream.

use std::ops::Range;

use futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use protocol::{Numbers, Values, Words};

use super::{Announced, Frame, Head, Limits, WireError, encode};

/// Numbers that are converted at a time: 64 KiB of bytes, or twice that.
const CHUNK: usize = 16 * 1024;

/// Writes one frame and flushes.
///
/// # Errors
/// A lost connection, or a header that is too long.
pub async fn write_frame(io: &mut (impl AsyncWrite + Unpin), frame: &Frame) -> Result<(), WireError> {
    let (mut bytes, numbers) = encode(frame)?;
    if let Some(numbers) = numbers {
        for start in (0..numbers.len()).step_by(CHUNK) {
            append(&mut bytes, numbers, start..numbers.len().min(start + CHUNK));
            io.write_all(&bytes).await?;
            bytes.clear();
        }
    }
    io.write_all(&bytes).await?;
    io.flush().await?;
    Ok(())
}

/// Appends some of the numbers as they travel.
pub(super) fn append(bytes: &mut Vec<u8>, numbers: &Numbers, range: Range<usize>) {
    match numbers {
        Numbers::Reals(values) => extend(bytes, &values.as_slice()[range], f32::to_le_bytes),
        Numbers::Words(words) => match (words.as_32(), words.as_64()) {
            (Some(words), _) => extend(bytes, &words[range], u32::to_le_bytes),
            (_, Some(words)) => extend(bytes, &words[range], u64::to_le_bytes),
            (None, None) => {}
        },
    }
}

fn extend<T: Copy, const WIDTH: usize>(bytes: &mut Vec<u8>, numbers: &[T], form: impl Fn(T) -> [u8; WIDTH]) {
    let before = bytes.len();
    bytes.resize(before + WIDTH * numbers.len(), 0);
    let (places, _) = bytes[before..].as_chunks_mut::<WIDTH>();
    places.iter_mut().zip(numbers).for_each(|(place, &number)| *place = form(number));
}

/// Reads one frame. Memory grows with what has arrived, never with what was announced.
///
/// # Errors
/// A lost connection, or a frame that is malformed or passes the limits: the stream cannot be used afterwards.
pub async fn read_frame(io: &mut (impl AsyncRead + Unpin), limits: Limits) -> Result<Frame, WireError> {
    let mut length = [0; 4];
    io.read_exact(&mut length).await?;
    let head = read_head(io, length, limits).await?;
    read_numbers(io, head).await
}

/// Reads what follows the length of the header, up to the numbers.
pub(crate) async fn read_head(
    io: &mut (impl AsyncRead + Unpin),
    length: [u8; 4],
    limits: Limits,
) -> Result<Head, WireError> {
    let length = u32::from_le_bytes(length) as usize;
    if length > limits.header {
        return Err(WireError::LongHeader { length, limit: limits.header });
    }
    let mut header = vec![0; length];
    io.read_exact(&mut header).await?;
    Head::decode(&header, limits)
}

/// Reads the numbers behind a header.
pub(crate) async fn read_numbers(io: &mut (impl AsyncRead + Unpin), head: Head) -> Result<Frame, WireError> {
    let count = head.numbers.count();
    let numbers = match head.numbers {
        Announced::Nothing => None,
        Announced::Reals(_) => {
            Some(Numbers::Reals(Values::from_wire(read_all(io, count, f32::from_le_bytes).await?)))
        }
        Announced::Words32(_) => {
            Some(Numbers::Words(Words::modulo_32(read_all(io, count, u32::from_le_bytes).await?)))
        }
        Announced::Words64(_) => {
            Some(Numbers::Words(Words::modulo_64(read_all(io, count, u64::from_le_bytes).await?)))
        }
    };
    Ok(head.with(numbers))
}

async fn read_all<T, const WIDTH: usize>(
    io: &mut (impl AsyncRead + Unpin),
    count: usize,
    number: impl Fn([u8; WIDTH]) -> T,
) -> Result<Vec<T>, WireError> {
    let mut numbers = Vec::new();
    let mut buffer = vec![0; WIDTH * count.min(CHUNK)];
    while numbers.len() < count {
        let part = &mut buffer[..WIDTH * (count - numbers.len()).min(CHUNK)];
        io.read_exact(part).await?;
        if numbers.is_empty() && count > CHUNK {
            // The peer has sent a first part in earnest; the rest is bounded by the model.
            numbers.reserve_exact(count);
        }
        numbers.extend(part.as_chunks::<WIDTH>().0.iter().map(|&bytes| number(bytes)));
    }
    Ok(numbers)
}

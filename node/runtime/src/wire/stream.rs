//! Frames on a byte stream.

use futures::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::{Frame, Head, Limits, WireError, encode};

/// Numbers that are converted at a time: 64 KiB of bytes.
const CHUNK: usize = 16 * 1024;

/// Writes one frame and flushes.
///
/// # Errors
/// A lost connection, or a header that is too long.
pub async fn write_frame(io: &mut (impl AsyncWrite + Unpin), frame: &Frame) -> Result<(), WireError> {
    let (mut bytes, values) = encode(frame)?;
    for chunk in values.map_or(&[][..], |values| values.as_slice()).chunks(CHUNK) {
        bytes.reserve(4 * chunk.len());
        bytes.extend(chunk.iter().flat_map(|value| value.to_le_bytes()));
        io.write_all(&bytes).await?;
        bytes.clear();
    }
    io.write_all(&bytes).await?;
    io.flush().await?;
    Ok(())
}

/// Reads one frame. Memory grows with what has arrived, never with what was announced.
///
/// # Errors
/// A lost connection, or a frame that is malformed or passes the limits: the stream cannot be used afterwards.
pub async fn read_frame(io: &mut (impl AsyncRead + Unpin), limits: Limits) -> Result<Frame, WireError> {
    let mut length = [0; 4];
    io.read_exact(&mut length).await?;
    read_frame_after(io, length, limits).await
}

/// Reads what follows the length of the header.
pub(crate) async fn read_frame_after(
    io: &mut (impl AsyncRead + Unpin),
    length: [u8; 4],
    limits: Limits,
) -> Result<Frame, WireError> {
    let length = u32::from_le_bytes(length) as usize;
    if length > limits.header {
        return Err(WireError::LongHeader { length, limit: limits.header });
    }
    let mut header = vec![0; length];
    io.read_exact(&mut header).await?;
    let head = Head::decode(&header, limits)?;
    let mut values = Vec::new();
    let mut buffer = vec![0; 4 * head.values.min(CHUNK)];
    while values.len() < head.values {
        let part = &mut buffer[..4 * (head.values - values.len()).min(CHUNK)];
        io.read_exact(part).await?;
        if values.is_empty() && head.values > CHUNK {
            // The peer has sent a first part in earnest; the rest is bounded by the model.
            values.reserve_exact(head.values);
        }
        let number = |bytes: &[u8]| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        values.extend(part.chunks_exact(4).map(number));
    }
    Ok(head.with(values))
}

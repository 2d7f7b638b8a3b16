//! What travels between two nodes: frames of a header and raw numbers.
//!
//! A frame is the length of the header (`u32`, little-endian), the header (bincode), then as many little-endian numbers as the header says: `f32`,
//! or residues modulo 2³² or 2⁶⁴. Every length is checked against a limit before anything is allocated: a header is at most [`MAX_HEADER`] bytes, and no frame carries more numbers than
//! the largest message of the run's model. bincode is used in this module and nowhere else, through serde and with a limit: without one a
//! forged length inside a header could ask for any amount of memory.

mod frame;
mod header;
mod stream;

pub use frame::{Card, DatagramKey, Doorway, Frame, Greeting, Known, Refusal, Standing};
pub use stream::{read_frame, write_frame};
pub(crate) use stream::{read_head, read_numbers};

pub use header::{Announced, Head};
use protocol::{Load, Numbers};

/// Version of the frames and of all that is said before them; peers with another one are refused.
pub const VERSION: u8 = 5;

/// The longest header. A roster of a thousand nodes with their addresses fits, and a proposal of three hundred with the turns that justify it.
pub const MAX_HEADER: usize = 4 * 1024 * 1024;

/// bincode's little-endian variable-length integers, with a limit on what one header may take.
fn encoding() -> impl bincode::config::Config {
    bincode::config::standard().with_limit::<MAX_HEADER>()
}

/// How much a peer may send in one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the header.
    pub header: usize,
    /// Numbers behind it.
    pub numbers: usize,
}

impl Limits {
    /// Before a peer has proved that it belongs here: a greeting, and no numbers.
    pub const STRANGER: Self = Self { header: 256, numbers: 0 };

    /// For members of a swarm whose model has `parameters` numbers.
    pub fn for_model(parameters: usize) -> Self {
        Self { header: MAX_HEADER, numbers: Load::most(parameters) }
    }

    /// The same with room for at least so many numbers.
    #[must_use]
    pub fn with_numbers(self, numbers: usize) -> Self {
        Self { numbers: self.numbers.max(numbers), ..self }
    }
}

/// A frame that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// The connection failed or ended.
    #[error("connection lost")]
    Io(#[from] std::io::Error),
    /// The header is longer than allowed.
    #[error("header of {length} bytes where at most {limit} are allowed")]
    LongHeader {
        /// What was announced.
        length: usize,
        /// What is allowed.
        limit: usize,
    },
    /// More numbers than allowed.
    #[error("{count} numbers where at most {limit} are allowed")]
    ManyNumbers {
        /// What was announced.
        count: usize,
        /// What is allowed.
        limit: usize,
    },
    /// The header is not one.
    #[error("malformed header")]
    Malformed,
    /// Numbers where none belong, or none where some do.
    #[error("{count} numbers behind a frame that carries {}", if *.count == 0 { "some" } else { "none" })]
    Misplaced {
        /// How many.
        count: usize,
    },
    /// Another version of the protocol.
    #[error("version {theirs} of the wire format, ours is {VERSION}")]
    Version {
        /// What the peer speaks.
        theirs: u8,
    },
}

/// The bytes of a frame up to its numbers, and the numbers.
///
/// # Errors
/// A header that would be too long.
pub fn encode(frame: &Frame) -> Result<(Vec<u8>, Option<&Numbers>), WireError> {
    let numbers = frame.numbers();
    let header = (VERSION, Announced::of(numbers), frame);
    let mut bytes = vec![0; 4];
    let encoded = bincode::serde::encode_to_vec(header, encoding()).map_err(|_| WireError::Malformed)?;
    if encoded.len() > MAX_HEADER {
        return Err(WireError::LongHeader { length: encoded.len(), limit: MAX_HEADER });
    }
    bytes[..4].copy_from_slice(&(encoded.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&encoded);
    Ok((bytes, numbers))
}

/// The whole frame in one buffer, for tests and short frames.
///
/// # Errors
/// As [`encode`].
pub fn to_bytes(frame: &Frame) -> Result<Vec<u8>, WireError> {
    let (mut bytes, numbers) = encode(frame)?;
    if let Some(numbers) = numbers {
        stream::append(&mut bytes, numbers, 0..numbers.len());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;

//! What travels between two nodes: frames of a header and raw parameters.
//!
//! A frame is the length of the header (`u32`, little-endian), the header (bincode), then as many little-endian `f32` as the header says. Every
//! length is checked against a limit before anything is allocated: a header is at most [`MAX_HEADER`] bytes, and no frame carries more numbers than
//! the largest message of the run's model. bincode is used in this module and nowhere else, through serde and with a limit: without one a
//! forged length inside a header could ask for any amount of memory.

mod frame;
mod header;
mod stream;

pub use frame::{Card, Frame, Greeting, Known, Refusal, Standing};
pub(crate) use stream::read_frame_after;
pub use stream::{read_frame, write_frame};

use header::Header;
use protocol::Values;

/// Version of the frames; peers with another one are refused.
pub const VERSION: u8 = 2;

/// The longest header. A roster of a thousand nodes with their addresses fits.
pub const MAX_HEADER: usize = 256 * 1024;

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
    pub values: usize,
}

impl Limits {
    /// Before a peer has proved that it belongs here: a greeting, and no numbers.
    pub const STRANGER: Self = Self { header: 256, values: 0 };

    /// For members of a swarm whose model has `parameters` numbers: a model travels with at most three vectors of the optimiser behind it.
    pub fn for_model(parameters: usize) -> Self {
        Self { header: MAX_HEADER, values: parameters.saturating_mul(4).saturating_add(4) }
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
    ManyValues {
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
pub fn encode(frame: &Frame) -> Result<(Vec<u8>, Option<&Values>), WireError> {
    let values = frame.values();
    let header = Header::of(frame, values.map_or(0, Values::len));
    let mut bytes = vec![0; 4];
    let encoded = bincode::serde::encode_to_vec(&header, encoding()).map_err(|_| WireError::Malformed)?;
    if encoded.len() > MAX_HEADER {
        return Err(WireError::LongHeader { length: encoded.len(), limit: MAX_HEADER });
    }
    bytes[..4].copy_from_slice(&(encoded.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&encoded);
    Ok((bytes, values))
}

/// A header that was read and checked; its numbers are still to come.
#[derive(Debug)]
pub struct Head {
    header: Header,
    /// How many numbers follow.
    pub values: usize,
}

impl Head {
    /// Reads a header (without its length).
    ///
    /// # Errors
    /// Bytes that are no header, trailing bytes, another version, more numbers than allowed.
    pub fn decode(bytes: &[u8], limits: Limits) -> Result<Self, WireError> {
        if bytes.len() > limits.header {
            return Err(WireError::LongHeader { length: bytes.len(), limit: limits.header });
        }
        // The version is the first byte: say so even where the rest has another shape.
        match bytes.first() {
            Some(&VERSION) => {}
            Some(&theirs) => return Err(WireError::Version { theirs }),
            None => return Err(WireError::Malformed),
        }
        let (header, used) = bincode::serde::decode_from_slice::<Header, _>(bytes, encoding())
            .map_err(|_| WireError::Malformed)?;
        if used != bytes.len() {
            return Err(WireError::Malformed);
        }
        let values = header.values as usize;
        if values > limits.values {
            return Err(WireError::ManyValues { count: values, limit: limits.values });
        }
        if header.content.carries_values() != (values > 0) {
            return Err(WireError::Misplaced { count: values });
        }
        Ok(Self { header, values })
    }

    /// The frame, with the numbers that followed.
    pub fn with(self, values: Vec<f32>) -> Frame {
        self.header.into_frame(Values::from_wire(values))
    }
}

/// The whole frame in one buffer, for tests and short frames.
///
/// # Errors
/// As [`encode`].
pub fn to_bytes(frame: &Frame) -> Result<Vec<u8>, WireError> {
    let (mut bytes, values) = encode(frame)?;
    if let Some(values) = values {
        bytes.extend(values.as_slice().iter().flat_map(|value| value.to_le_bytes()));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;

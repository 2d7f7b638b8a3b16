//! Headers: everything of a frame but its numbers, and how many of them follow.

use protocol::{Load, Numbers};
use serde::{Deserialize, Serialize};

use super::{Frame, Limits, WireError, encoding};

/// What bincode reads and writes: the version, the numbers that follow, and the frame without them.
type Header = (u8, Announced, Frame);

/// How many numbers follow a header, and of which kind. The order of variants is part of the wire format: append, never reorder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Announced {
    /// None.
    Nothing,
    /// So many `f32`.
    Reals(u32),
    /// So many `u32`, modulo 2³².
    Words32(u32),
    /// So many `u64`, modulo 2⁶⁴.
    Words64(u32),
}

impl Announced {
    /// What a frame carries.
    pub(super) fn of(numbers: Option<&Numbers>) -> Self {
        // Four thousand million numbers are refused by the limits long before.
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        match numbers {
            None => Self::Nothing,
            Some(Numbers::Reals(values)) => Self::Reals(count(values.len())),
            Some(Numbers::Words(words)) if words.width() == 4 => Self::Words32(count(words.len())),
            Some(Numbers::Words(words)) => Self::Words64(count(words.len())),
        }
    }

    /// How many numbers.
    pub fn count(self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Reals(count) | Self::Words32(count) | Self::Words64(count) => count as usize,
        }
    }
}

impl Announced {
    /// How many bytes.
    pub fn bytes(self) -> usize {
        let width = if matches!(self, Self::Words64(_)) { 8 } else { 4 };
        self.count().saturating_mul(width)
    }
}

/// A header that was read and checked; its numbers are still to come.
#[derive(Debug)]
pub struct Head {
    frame: Frame,
    /// What follows.
    pub numbers: Announced,
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
            Some(&super::VERSION) => {}
            Some(&theirs) => return Err(WireError::Version { theirs }),
            None => return Err(WireError::Malformed),
        }
        let ((_, numbers, frame), used) = bincode::serde::decode_from_slice::<Header, _>(bytes, encoding())
            .map_err(|_| WireError::Malformed)?;
        if used != bytes.len() {
            return Err(WireError::Malformed);
        }
        let count = numbers.count();
        if count > limits.numbers {
            return Err(WireError::ManyNumbers { count, limit: limits.numbers });
        }
        let is_loaded = matches!(&frame, Frame::Message(message) if message.body.load() != Load::Nothing);
        if is_loaded != (count > 0) || (count == 0 && numbers != Announced::Nothing) {
            return Err(WireError::Misplaced { count });
        }
        Ok(Self { frame, numbers })
    }

    /// The frame, with the numbers that followed.
    pub fn with(self, numbers: Option<Numbers>) -> Frame {
        let mut frame = self.frame;
        if let Frame::Message(message) = &mut frame {
            message.numbers = numbers;
        }
        frame
    }
}

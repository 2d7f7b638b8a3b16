//! The run log: its lines, the one way to read them, and the one order in which those of several nodes are put.

mod declared;
pub(crate) mod event;
mod merge;
mod order;
mod pieces;
mod read;
mod renewed;
#[cfg(test)]
mod testing;

pub use declared::{Declared, Earlier, LONGEST_NAME, is_shown, readable_name};
pub use event::{FaultKind, LogLine, RunEvent};
pub use merge::Merge;
pub use order::{Part, Place, by_round};
pub use pieces::{LONGEST_PIECE, last_piece, piece};
pub use read::{How, Log, Lost, ReadError, Reader};
pub use renewed::Renewed;

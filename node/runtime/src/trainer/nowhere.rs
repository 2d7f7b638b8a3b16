//! Where there are no socket pairs there are no trainers yet.

use std::time::Instant;

use protocol::work::external::{Answer, Ask, Hello, Trouble};

use super::Command;

/// Nothing.
pub(super) struct Live;

impl Live {
    pub(super) fn start(command: &Command, _deadline: Instant) -> Result<(Self, Hello), Trouble> {
        Err(Trouble::Start {
            command: command.to_string(),
            why: "trainers need a system with Unix sockets".into(),
        })
    }

    pub(super) fn answer(&mut self, _: &Ask<'_>, _: &mut Vec<u8>, _: Instant) -> Result<Answer, Trouble> {
        Err(Trouble::Ended { how: "it never ran".into() })
    }
}

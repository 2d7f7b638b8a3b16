//! Tokens in the hands of a node, and copies of those that it passed on.

use super::{Name, Say};
use crate::core::Core;
use crate::time::Patience;
use crate::values::Values;
use crate::{PeerIx, Time};

/// Where a token came from, and under which name: its copy there is kept until this node's own is safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) peer: PeerIx,
    pub(crate) hop: u32,
    pub(crate) generation: u32,
}

/// A token that this node holds.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) token: u32,
    pub(crate) hop: u32,
    pub(crate) generation: u32,
    pub(crate) values: Values,
    /// The last other holder; `None` if there was none yet.
    pub(crate) origin: Option<Origin>,
}

/// A copy of a token that this node passed on.
#[derive(Debug)]
pub(crate) struct Copy {
    /// The token as it was sent: `hop` is that of the receiver.
    pub(crate) sent: Held,
    pub(crate) to: PeerIx,
    pub(crate) stage: Stage,
    /// Whether the receiver has ever confirmed it, so that the holder before knows that its own copy may go.
    pub(crate) confirmed: bool,
    /// How often the receiver was asked what became of it.
    pub(crate) asked: u32,
}

/// What a copy waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// That the receiver says it has the token. The same bytes are sent again and again.
    Offered(Patience),
    /// That the receiver says that the token is safe beyond it.
    Guarded {
        /// Ask again then.
        until: Time,
    },
}

impl Held {
    pub(crate) fn name(&self) -> Name {
        Name { token: self.token, hop: self.hop, generation: self.generation }
    }
}

impl Copy {
    /// One that was kept: it is offered as soon as the node is back.
    pub(crate) fn restored((sent, to, confirmed): (Held, PeerIx, bool)) -> Self {
        Self { sent, to, stage: Stage::Guarded { until: Time(0) }, confirmed, asked: 0 }
    }

    /// Sends the token: the same bytes whenever it is sent again.
    pub(crate) fn send(&self, core: &mut Core) {
        core.send(self.to, (self.sent.hop, 0), Say::Token(self.sent.name()), self.sent.values.clone());
    }

    pub(crate) fn is(&self, name: Name, to: PeerIx) -> bool {
        self.to == to && self.sent.name() == name
    }

    pub(crate) fn wake_at(&self) -> Time {
        match self.stage {
            Stage::Offered(patience) => patience.again.min(patience.until),
            Stage::Guarded { until } => until,
        }
    }
}

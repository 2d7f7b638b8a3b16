//! Tokens in the hands of a node, and copies of those that it passed on.

use crate::message::{Body, Patience};
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
#[derive(Debug)]
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

impl Copy {
    pub(crate) fn body(&self) -> Body {
        let Held { token, hop, generation, ref values, .. } = self.sent;
        Body::Token { token, hop, generation, values: values.clone() }
    }

    pub(crate) fn is(&self, (token, hop, generation): (u32, u32, u32), to: PeerIx) -> bool {
        self.to == to && (self.sent.token, self.sent.hop, self.sent.generation) == (token, hop, generation)
    }

    pub(crate) fn wake_at(&self) -> Time {
        match self.stage {
            Stage::Offered(patience) => patience.again.min(patience.until),
            Stage::Guarded { until } => until,
        }
    }
}

//! Members that do not follow the protocol: for tests of swarms that bear some.

use protocol::agreement::Credentials;
use protocol::masks::Lie;
use protocol::{Message, PeerIx, Settings};

/// What becomes of a member's messages on their way out. The participant behind it is honest and does not know.
pub trait Mouth: Send {
    /// Sends what it makes of `message`.
    fn say(&mut self, to: PeerIx, message: Message, send: &mut dyn FnMut(PeerIx, Message));
}

/// Makes the mouth of the member at this place, which signs with these credentials.
pub type MouthOf = Box<dyn Fn(&Settings, PeerIx, Credentials) -> Box<dyn Mouth> + Send>;

/// All that is wrong with a node; nothing, but in tests.
#[derive(Default)]
pub(super) struct Lies {
    /// What it lies about under masks.
    pub(super) words: Option<Lie>,
    pub(super) mouth: Option<MouthOf>,
}

//! One side of a hello against bytes that were chosen beforehand: what a hostile peer could say.

use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use futures::{AsyncRead, AsyncWrite};
use libp2p::{Multiaddr, PeerId};
use protocol::Digest;

use super::hello::{HelloError, Introduction, exchange_cards, prove};
use crate::identity::Roster;
use crate::schema::Schema;
use crate::secret::Secret;
use crate::wire::{Card, Standing};

/// What the node that listens would share with its swarm.
const CONFIG: &str = "rounds = 1\n[privacy]\nepsilon = 4.0\n";

/// Listens to `bytes` as to a stranger: `true` only if they prove that they know a secret, which cannot be.
pub fn hears_a_proof(bytes: &[u8]) -> bool {
    let Ok(us) = introduction() else { return false };
    now(prove(&mut Script { unheard: bytes }, &us, us.me)).is_ok()
}

/// Listens to `bytes` as to somebody who has proved to know the secret, and reads what it says about itself as the event loop does.
///
/// # Errors
/// As a hello.
pub fn hears_a_card(bytes: &[u8]) -> Result<Card, HelloError> {
    let card = now(exchange_cards(&mut Script { unheard: bytes }, &introduction()?))?;
    if let Standing::Running { roster, .. } = &card.standing
        && let Some(roster) = Roster::from_bytes(roster)
    {
        assert_eq!(Roster::from_bytes(&roster.to_bytes()), Some(roster));
    }
    card.addresses.iter().filter_map(|address| address.parse::<Multiaddr>().ok()).for_each(drop);
    Ok(card)
}

fn introduction() -> Result<Introduction, HelloError> {
    let schema =
        Schema { features: 2, target: "classes".into(), classes: Some(2), columns: None, class_names: None };
    let card = Card {
        run: "digits".into(),
        config: Digest::of_text(CONFIG).0,
        schema: schema.digest().0,
        instance: 1,
        standing: Standing::Gathering,
        addresses: Vec::new(),
        name: String::new(),
    };
    let (me, secret) = (PeerId::random(), Secret::generate()?);
    Ok(Introduction { me, secret, card, config: CONFIG.into(), schema: schema.into(), is_relay: false })
}

/// The result of something that never waits: all bytes are there already.
fn now<T>(work: impl Future<Output = T>) -> T {
    match pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => unreachable!("a script never waits"),
    }
}

/// A stream that says what is in it, and then ends; what is said to it is lost.
struct Script<'a> {
    unheard: &'a [u8],
}

impl AsyncRead for Script<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.unheard).poll_read(context, buffer)
    }
}

impl AsyncWrite for Script<'_> {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

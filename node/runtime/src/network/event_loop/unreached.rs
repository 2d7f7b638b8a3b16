//! Peers that others told us of and that we have never reached: who, where it was tried, and why in vain.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;

use libp2p::core::transport::TransportError;
use libp2p::{Multiaddr, PeerId};
use tokio::time::Instant;

use super::circuits;

/// A first call often comes too early; who is not reached after this long is named.
const AFTER: Duration = Duration::from_secs(5);
/// Addresses that are shown.
const SHOWN: usize = 4;

/// Since when nobody was reached there; nothing once it was said, or once it was reached.
#[derive(Debug, Default)]
pub(super) struct Unreached(BTreeMap<PeerId, Option<Instant>>);

impl Unreached {
    pub(super) fn reached(&mut self, peer: PeerId) {
        self.0.insert(peer, None);
    }

    /// A call was in vain; whether it is time to say so.
    pub(super) fn failed(&mut self, peer: PeerId, now: Instant) -> bool {
        let since = self.0.entry(peer).or_insert(Some(now));
        let long = since.is_some_and(|first| now.duration_since(first) >= AFTER);
        if long {
            *since = None;
        }
        long
    }
}

/// Where it was tried, and how that ended.
pub(super) fn tried<E: Error + 'static>(calls: &[(Multiaddr, TransportError<E>)]) -> String {
    let one = |(address, error): &(Multiaddr, TransportError<E>)| {
        let bare = if circuits::is_circuit(address) { "a relay".to_owned() } else { without_peer(address) };
        format!("{bare} ({})", root(error))
    };
    let mut all: Vec<String> = calls.iter().take(SHOWN).map(one).collect();
    all.dedup();
    if calls.len() > SHOWN {
        all.push(format!("{} more", calls.len() - SHOWN));
    }
    all.join(", ")
}

fn without_peer(address: &Multiaddr) -> String {
    let parts = address.iter().filter(|part| !matches!(part, libp2p::multiaddr::Protocol::P2p(_)));
    parts.collect::<Multiaddr>().to_string()
}

/// The last cause: what is above it are the layers through which it came.
fn root(error: &(dyn Error + 'static)) -> String {
    let mut last = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    let text = last.to_string();
    text.rsplit(": ").next().unwrap_or(&text).trim_end_matches(']').to_owned()
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn who_is_not_reached_is_named_once_and_who_was_reached_never() {
        let (now, [a, b]) = (Instant::now(), [PeerId::random(), PeerId::random()]);
        let mut unreached = Unreached::default();
        let after = |seconds: u64| now + Duration::from_secs(seconds);
        assert_eq!(
            [0, 4, 5, 6, 60].map(|at| unreached.failed(a, after(at))),
            [false, false, true, false, false]
        );
        unreached.failed(b, now);
        unreached.reached(b);
        assert!(!unreached.failed(b, after(60)), "it is away, and others say so");
    }

    #[test]
    fn what_was_tried_names_addresses_and_the_last_cause() {
        let peer = PeerId::random();
        let straight: Multiaddr = format!("/ip4/10.1.0.2/tcp/7000/p2p/{peer}").parse().unwrap();
        let circuit: Multiaddr = format!("/ip4/203.0.113.9/tcp/7000/p2p/{peer}/p2p-circuit").parse().unwrap();
        let refused = || TransportError::Other(io::Error::from(io::ErrorKind::ConnectionRefused));
        let calls =
            [(straight, refused()), (circuit, TransportError::Other(io::Error::other("no reservation")))];
        assert_eq!(tried(&calls), "/ip4/10.1.0.2/tcp/7000 (connection refused), a relay (no reservation)");
        let many: Vec<_> = (0..9).map(|_| (calls[0].0.clone(), refused())).collect();
        assert!(tried(&many).ends_with("(connection refused), 5 more"), "{}", tried(&many));
    }
}

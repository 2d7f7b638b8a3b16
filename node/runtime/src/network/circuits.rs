//! Relays: how a node behind a router is reached, and what a relay gives.

use std::time::Duration;

use libp2p::core::transport::ListenerId;
use libp2p::multiaddr::Protocol;
use libp2p::{Multiaddr, PeerId, relay};
use tokio::time::Instant;

/// How long until a relay that did not answer is asked again.
const AGAIN: Duration = Duration::from_secs(5);

/// The identity that the address of a relay must end with.
pub(crate) fn relay_of(address: &Multiaddr) -> Option<PeerId> {
    match address.iter().last() {
        Some(Protocol::P2p(peer)) => Some(peer),
        _ => None,
    }
}

/// Where circuits begin that these relays give: to us, or to anybody who has a place there.
pub(super) fn through(relays: &[Multiaddr]) -> impl Iterator<Item = Multiaddr> {
    relays.iter().map(|relay| relay.clone().with(Protocol::P2pCircuit))
}

/// Whether an address leads through a relay.
pub(super) fn is_circuit(address: &Multiaddr) -> bool {
    address.iter().any(|part| part == Protocol::P2pCircuit)
}

/// What a relay gives to the members of a swarm: places for all of them, and circuits between all pairs for as long as a run takes. libp2p's own limits, two
/// minutes and 128 KiB, are for strangers; here nobody else gets as far.
pub(super) fn served(nodes: usize) -> relay::Config {
    relay::Config {
        max_reservations: 2 * nodes + 16,
        max_reservations_per_peer: 4,
        reservation_rate_limiters: Vec::new(),
        max_circuits: nodes * nodes + 16,
        max_circuits_per_peer: 2 * nodes + 16,
        circuit_src_rate_limiters: Vec::new(),
        // The most that the protocol can say.
        max_circuit_duration: Duration::from_secs(u32::MAX.into()),
        max_circuit_bytes: 0,
        ..relay::Config::default()
    }
}

/// The places that a node wants at relays, and has.
#[derive(Debug, Default)]
pub(super) struct Places {
    wanted: Vec<(Multiaddr, Option<ListenerId>)>,
    pub(super) again: Option<Instant>,
}

impl Places {
    pub(super) fn new(relays: &[Multiaddr]) -> Self {
        Self { wanted: through(relays).map(|address| (address, None)).collect(), again: None }
    }

    /// A relay answers: now is the time to ask.
    pub(super) fn reached(&mut self, now: Instant) {
        if self.wanted.iter().any(|(_, place)| place.is_none()) {
            self.again = Some(now);
        }
    }

    /// Asks for the places that we have not; `ask` says under which number an answer will come.
    pub(super) fn ask(&mut self, mut ask: impl FnMut(Multiaddr) -> Option<ListenerId>, now: Instant) {
        self.again = None;
        for (address, place) in &mut self.wanted {
            if place.is_none() {
                *place = ask(address.clone());
                if place.is_none() {
                    self.again = Some(now + AGAIN);
                }
            }
        }
    }

    /// A place is gone; where it was one of these it is asked for again.
    pub(super) fn lost(&mut self, listener: ListenerId, now: Instant) -> bool {
        let lost = self.wanted.iter_mut().find(|(_, place)| *place == Some(listener));
        let Some((_, place)) = lost else { return false };
        *place = None;
        self.again = Some(now + AGAIN);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_is_lost_is_asked_for_again_and_others_are_not() {
        let now = Instant::now();
        let relays: Vec<Multiaddr> =
            [1, 2].map(|n| format!("/ip4/10.0.0.{n}/tcp/7000").parse().unwrap()).to_vec();
        let mut places = Places::new(&relays);
        assert_eq!(places.again, None, "nobody has answered");
        places.reached(now);
        assert_eq!(places.again, Some(now));
        let ids = [ListenerId::next(), ListenerId::next(), ListenerId::next()];
        let mut given = ids.iter().copied();
        let mut asked = Vec::new();
        places.ask(
            |address| {
                asked.push(address.to_string());
                given.next()
            },
            now,
        );
        assert_eq!(asked, ["/ip4/10.0.0.1/tcp/7000/p2p-circuit", "/ip4/10.0.0.2/tcp/7000/p2p-circuit"]);
        assert_eq!(places.again, None);
        assert!(!places.lost(ids[2], now), "somebody else's");
        assert!(places.lost(ids[1], now) && places.again.is_some());
        let mut again = Vec::new();
        places.ask(
            |address| {
                again.push(address.to_string());
                None
            },
            now,
        );
        assert_eq!(again, ["/ip4/10.0.0.2/tcp/7000/p2p-circuit"]);
        assert!(places.again.is_some(), "it could not even be asked for");
        let mut none = Places::new(&[]);
        none.reached(now);
        assert!(none.again.is_none());
    }

    #[test]
    fn the_address_of_a_relay_ends_with_its_identity() {
        let peer = PeerId::random();
        let with = format!("/dns4/relay.example/tcp/7000/p2p/{peer}").parse().unwrap();
        assert_eq!(relay_of(&with), Some(peer));
        assert_eq!(relay_of(&"/ip4/10.0.0.1/tcp/7000".parse().unwrap()), None);
        assert!(is_circuit(&with.with(Protocol::P2pCircuit)));
    }
}

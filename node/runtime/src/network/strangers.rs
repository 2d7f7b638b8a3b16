//! Who speaks another language: with another swarm secret no byte of a peer can be understood, and so it is with a program that is no node.
//!
//! One such peer calls again and again, so it is told of when it is new and then ever more rarely.

use std::collections::BTreeMap;

use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;

use super::channel::NOT_UNDERSTOOD;

/// Peers that are remembered.
const MOST: usize = 1024;
/// A single call that ends in the handshake can have many reasons: the other may just have stopped.
const PATIENCE: u32 = 2;

/// How a connection that was of no use ends: ours, QUIC's, and one on which nothing was said.
const GARBLED: [&str; 3] = [NOT_UNDERSTOOD, "Handshake failed", "Timeout has been reached"];

/// How often somebody could not be understood.
#[derive(Debug, Default)]
pub(super) struct Strangers {
    met: BTreeMap<Multiaddr, u32>,
}

impl Strangers {
    /// Somebody called; the number of times, where it is worth a line.
    pub(super) fn called_us(&mut self, from: &Multiaddr) -> Option<u32> {
        // Each call has a port of its own.
        let host = from.iter().take(1).collect();
        Some(self.count(host)).filter(|times| times.is_power_of_two())
    }

    /// We called; the number of times, where it is worth a line.
    pub(super) fn we_called(&mut self, address: &Multiaddr) -> Option<u32> {
        let bare: Multiaddr =
            address.iter().filter(|protocol| !matches!(protocol, Protocol::P2p(_))).collect();
        Some(self.count(bare)).filter(|times| *times >= PATIENCE && times.is_power_of_two())
    }

    /// It was understood after all.
    pub(super) fn understood(&mut self, address: &Multiaddr) {
        self.met.remove(address);
    }

    fn count(&mut self, who: Multiaddr) -> u32 {
        if self.met.len() >= MOST && !self.met.contains_key(&who) {
            self.met.clear();
        }
        let times = self.met.entry(who).or_default();
        *times = times.saturating_add(1);
        *times
    }
}

/// Whether a connection was there, and then no word could be understood, or none came in time. By the words of libp2p's errors, whose types are hidden behind those of its
/// transports; a test with two secrets notices where they change.
pub(super) fn is_garbled(error: &(dyn std::error::Error + 'static)) -> bool {
    says_one_of(error, &GARBLED)
}

/// Whether somebody who knows the secret speaks another version.
pub(super) fn is_other_version(error: &(dyn std::error::Error + 'static)) -> bool {
    says_one_of(error, &["of the wire format"])
}

fn says_one_of(error: &(dyn std::error::Error + 'static), words: &[&str]) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        let text = error.to_string();
        if words.iter().any(|words| text.contains(words)) {
            return true;
        }
        next = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stranger_that_calls_a_thousand_times_is_told_of_ten_times() {
        let mut strangers = Strangers::default();
        let call = |port: u16| format!("/ip4/10.0.0.7/tcp/{port}").parse().unwrap();
        let told: Vec<u32> = (1..=1000).filter_map(|port| strangers.called_us(&call(port))).collect();
        assert_eq!(told, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]);
        let address = call(7000);
        assert_eq!([(); 3].map(|()| strangers.we_called(&address)), [None, Some(2), None]);
        strangers.understood(&address);
        assert_eq!(strangers.we_called(&address), None);
        for port in 1..=u16::MAX {
            strangers.we_called(&call(port));
        }
        assert!(strangers.met.len() <= MOST);
    }
}

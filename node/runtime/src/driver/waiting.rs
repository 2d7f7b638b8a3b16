//! A node that waits for the others: after ten seconds it says for whom, what it tried and what may help; after `timeouts.give_up` without anybody new it ends.

use std::time::Duration;

use libp2p::{Multiaddr, PeerId};

use super::{Driver, DriverError};
use crate::swarm_file::Member;

/// A person should hear of it after so long.
const SILENT: Duration = Duration::from_secs(10);

/// Addresses that are shown.
const SHOWN: usize = 8;

/// How long nobody new has come, and what was tried.
#[derive(Debug)]
pub(super) struct Waiting {
    passed: Duration,
    present: usize,
    said: bool,
    peers: Vec<Multiaddr>,
    mdns: bool,
    give_up: Duration,
}

impl Waiting {
    /// For a node that calls these addresses, and those in the swarm file of the members that are not `me`.
    pub(super) fn new(
        (peers, roster, me): (&[Multiaddr], &[Member], PeerId),
        mdns: bool,
        give_up: u64,
    ) -> Self {
        let give_up = Duration::from_micros(give_up);
        let others = roster.iter().filter(|member| member.peer != me);
        let peers = peers.iter().chain(others.flat_map(|member| &member.addresses)).cloned().collect();
        Self { passed: Duration::ZERO, present: 0, said: false, peers, mdns, give_up }
    }

    /// Time has passed with so many here. Whether it is time to speak.
    fn on_tick(&mut self, elapsed: Duration, present: usize) -> bool {
        if present != self.present {
            (self.present, self.passed, self.said) = (present, Duration::ZERO, false);
        }
        self.passed += elapsed;
        let speak = self.passed >= SILENT && !self.said;
        self.said |= speak;
        speak
    }

    fn is_over(&self) -> bool {
        self.passed >= self.give_up
    }

    /// What was tried, and what may help.
    fn tried(&self) -> String {
        let lan = if self.mdns { "the local network (mDNS)" } else { "not the local network (`--no-mdns`)" };
        let mut called: Vec<String> = self.peers.iter().take(SHOWN).map(Multiaddr::to_string).collect();
        if self.peers.len() > SHOWN {
            called.push(format!("{} more", self.peers.len() - SHOWN));
        }
        let called = if called.is_empty() { "no address".to_owned() } else { called.join(", ") };
        format!(
            "tried {lan} and {called}. They need the same swarm file; where the local network does not help, start one with `--peer ADDR` of another, and look at firewalls"
        )
    }
}

impl Driver {
    /// Nobody new for so long: tells, and at last ends.
    pub(super) fn wait(&mut self, elapsed: Duration) -> Result<(), DriverError> {
        let present = self.links.len() + 1;
        let speak = self.waiting.on_tick(elapsed, present);
        let missing = self.missing();
        if self.waiting.is_over() {
            let waited = self.waiting.passed.as_secs();
            return Err(DriverError::Alone { missing, waited, tried: self.waiting.tried() });
        }
        if speak {
            let text = format!("waiting for {missing}: {}", self.waiting.tried());
            tracing::warn!("{text}");
            self.notice(text);
        }
        Ok(())
    }

    /// Who is not here, each of them where the swarm file says who they are.
    fn missing(&self) -> String {
        let here = |peer: &PeerId| *peer == self.me || self.links.contains_key(peer);
        let absent: Vec<String> =
            self.names.pinned().filter(|(peer, _)| !here(peer)).map(|(_, name)| name).collect();
        let more = self.members.saturating_sub(self.links.len() + 1);
        let of = self.members;
        let members = if more == 1 { "member" } else { "members" };
        let named = if absent.len() == more && more > 0 {
            format!(" ({})", absent.join(", "))
        } else {
            String::new()
        };
        format!("{more} more {members} of {of}{named}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_speaks_once_after_ten_seconds_and_again_when_somebody_has_come() {
        let mut waiting = Waiting::new((&[], &[], PeerId::random()), true, 60_000_000);
        let mut spoken =
            |seconds: u64, present: usize| waiting.on_tick(Duration::from_secs(seconds), present);
        assert_eq!([spoken(6, 1), spoken(6, 1), spoken(6, 1)], [false, true, false]);
        assert_eq!([spoken(9, 2), spoken(2, 2), spoken(40, 2)], [false, true, false]);
        assert!(!waiting.is_over());
        waiting.on_tick(Duration::from_secs(10), 2);
        assert!(waiting.is_over() && waiting.tried().contains("--peer ADDR"));
    }

    #[test]
    fn what_was_tried_has_the_addresses_of_the_swarm_file_but_not_ones_own() {
        let at = |port: usize| vec![format!("/ip4/10.0.0.1/tcp/{port}").parse::<Multiaddr>().unwrap()];
        let member = |port| Member { peer: PeerId::random(), addresses: at(port), name: None };
        let roster: Vec<Member> = (1..=11).map(member).collect();
        let tried = Waiting::new((&at(99), &roster[..3], roster[1].peer), false, 1).tried();
        assert!(
            tried.contains(
                "(`--no-mdns`) and /ip4/10.0.0.1/tcp/99, /ip4/10.0.0.1/tcp/1, /ip4/10.0.0.1/tcp/3. They"
            ),
            "{tried}"
        );
        let tried = Waiting::new((&[], &roster, roster[0].peer), true, 1).tried();
        assert!(tried.contains("/ip4/10.0.0.1/tcp/9, 2 more. They") && !tried.contains("tcp/1,"), "{tried}");
    }
}

//! Whom a node knows, where they can be reached, and when to try again.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use libp2p::multiaddr::Protocol;
use libp2p::{Multiaddr, PeerId};
use tokio::time::Instant;

use crate::wire::Known;

/// Addresses that are kept of one peer.
const ADDRESSES: usize = 8;
/// The first pause before another try, and the longest.
const PAUSE: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(10));
/// Of two peers one calls; the other waits this long for that, so that two do not call each other at once.
const COURTESY: Duration = Duration::from_secs(3);
/// It waits longer while others arrive, for the other may not have come to it yet: in a large swarm that starts all together every pair would otherwise
/// meet twice. But never longer than this: the other may not know where we are.
const LONGEST_COURTESY: Duration = Duration::from_secs(20);

/// The address book.
#[derive(Debug)]
pub(crate) struct Book {
    me: PeerId,
    /// Largest number of peers: what others tell must not fill the memory.
    limit: usize,
    /// How long to wait for a peer whose turn it is to call.
    courtesy: Duration,
    peers: BTreeMap<PeerId, Entry>,
    /// Addresses whose owner is not known yet.
    nameless: BTreeMap<Multiaddr, Retry>,
}

#[derive(Debug)]
struct Entry {
    addresses: BTreeSet<Multiaddr>,
    retry: Retry,
    /// Until when its first call may be waited for; none once we have called, or where it is for us to call.
    courtesy_ends: Option<Instant>,
}

#[derive(Debug, Clone, Copy)]
struct Retry {
    at: Instant,
    pause: Duration,
}

impl Retry {
    fn at(at: Instant) -> Self {
        Self { at, pause: PAUSE.0 }
    }

    fn later(&mut self, now: Instant) {
        self.at = now + self.pause;
        self.pause = (2 * self.pause).min(PAUSE.1);
    }
}

/// Somebody to call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Call {
    Peer(PeerId, Vec<Multiaddr>),
    Address(Multiaddr),
}

impl Book {
    pub(crate) fn new(me: PeerId, limit: usize) -> Self {
        Self { me, limit, courtesy: COURTESY, peers: BTreeMap::new(), nameless: BTreeMap::new() }
    }

    /// For a node that comes back: the others do not know where it is now, so it calls them all.
    pub(crate) fn without_courtesy(self) -> Self {
        Self { courtesy: Duration::ZERO, ..self }
    }

    /// Whether it is for us to call this peer, and not the other way round.
    ///
    /// Identities are keys, so their last bits are coins: everybody calls about half of the others. Were it always the smaller identity, the smallest
    /// would call everybody, and all would wait for it.
    pub(crate) fn calls(&self, peer: &PeerId) -> bool {
        let coin = |peer: &PeerId| peer.to_bytes().last().is_some_and(|byte| byte & 1 == 1);
        (self.me < *peer) == (coin(&self.me) == coin(peer))
    }

    /// Adds an address, of a peer that is named in it or not.
    pub(crate) fn add_address(&mut self, address: Multiaddr, now: Instant) {
        match address.iter().last() {
            Some(Protocol::P2p(peer)) => self.add(peer, [address], now),
            _ => {
                self.nameless.entry(address).or_insert_with(|| Retry::at(now));
            }
        }
    }

    /// Adds addresses of a peer that may know of us as well; a new one is tried soon, by one of the two.
    pub(crate) fn add(&mut self, peer: PeerId, addresses: impl IntoIterator<Item = Multiaddr>, now: Instant) {
        self.insert((peer, !self.calls(&peer)), addresses, now);
    }

    /// Adds a peer to whom we were introduced as newcomers: it does not know of us, so it is for us to call.
    pub(crate) fn add_as_newcomer(
        &mut self,
        peer: PeerId,
        addresses: impl IntoIterator<Item = Multiaddr>,
        now: Instant,
    ) {
        self.insert((peer, false), addresses, now);
    }

    /// Adds a newcomer, who was told of us and calls.
    pub(crate) fn add_newcomer(
        &mut self,
        peer: PeerId,
        addresses: impl IntoIterator<Item = Multiaddr>,
        now: Instant,
    ) {
        self.insert((peer, true), addresses, now);
    }

    fn insert(
        &mut self,
        (peer, waits): (PeerId, bool),
        addresses: impl IntoIterator<Item = Multiaddr>,
        now: Instant,
    ) {
        if peer == self.me || (!self.peers.contains_key(&peer) && self.peers.len() >= self.limit) {
            return;
        }
        let waits = waits && !self.courtesy.is_zero();
        let first_try = if waits { now + self.courtesy } else { now };
        let entry = self.peers.entry(peer).or_insert_with(|| Entry {
            addresses: BTreeSet::new(),
            retry: Retry::at(first_try),
            courtesy_ends: waits.then(|| now + LONGEST_COURTESY),
        });
        if !waits && entry.courtesy_ends.take().is_some() {
            entry.retry = Retry::at(now);
        }
        for mut address in addresses {
            if matches!(address.iter().last(), Some(Protocol::P2p(_))) {
                address.pop();
            }
            if !address.is_empty() && entry.addresses.len() < ADDRESSES && entry.addresses.insert(address) {
                entry.retry.at = entry.retry.at.min(first_try);
            }
        }
    }

    /// An address turned out to belong to this peer.
    pub(crate) fn name(&mut self, address: &Multiaddr, peer: PeerId, now: Instant) {
        let mut bare = address.clone();
        if matches!(bare.iter().last(), Some(Protocol::P2p(_))) {
            bare.pop();
        }
        self.nameless.remove(&bare);
        self.add(peer, [bare], now);
    }

    /// An address leads to ourselves.
    pub(crate) fn forget(&mut self, address: &Multiaddr) {
        self.nameless.remove(address);
    }

    /// Whom to call now, of those who are not `here`; at most so many.
    pub(crate) fn due(&mut self, now: Instant, here: impl Fn(&PeerId) -> bool, most: usize) -> Vec<Call> {
        let mut calls = Vec::new();
        for (peer, entry) in &mut self.peers {
            if calls.len() == most {
                return calls;
            }
            if entry.retry.at <= now && !here(peer) && !entry.addresses.is_empty() {
                entry.retry.later(now);
                entry.courtesy_ends = None;
                calls.push(Call::Peer(*peer, entry.addresses.iter().cloned().collect()));
            }
        }
        for (address, retry) in &mut self.nameless {
            if retry.at <= now && calls.len() < most {
                retry.later(now);
                calls.push(Call::Address(address.clone()));
            }
        }
        calls
    }

    /// When somebody is due next.
    pub(crate) fn next_due(&self, here: impl Fn(&PeerId) -> bool) -> Option<Instant> {
        let peers = self.peers.iter().filter(|(peer, entry)| !here(peer) && !entry.addresses.is_empty());
        let waiting = peers.map(|(_, entry)| entry.retry.at);
        waiting.chain(self.nameless.values().map(|retry| retry.at)).min()
    }

    /// The conversation with a peer began or ended: the next failure is the first again.
    pub(crate) fn reached(&mut self, peer: &PeerId, now: Instant) {
        let pause = if self.calls(peer) { Duration::ZERO } else { self.courtesy };
        if let Some(entry) = self.peers.get_mut(peer) {
            entry.retry = Retry::at(now + pause);
            entry.courtesy_ends = None;
        }
        for entry in self.peers.values_mut() {
            if let Some(end) = entry.courtesy_ends {
                entry.retry.at = entry.retry.at.max(now + self.courtesy).min(end);
            }
        }
    }

    /// It refused us, or we refused it: no hurry.
    pub(crate) fn refused(&mut self, peer: &PeerId, now: Instant) {
        if let Some(entry) = self.peers.get_mut(peer) {
            entry.retry = Retry { at: now + 3 * PAUSE.1, pause: PAUSE.1 };
        }
    }

    /// What to tell others about a peer.
    pub(crate) fn known(&self, peer: &PeerId) -> Option<Known> {
        let entry = self.peers.get(peer)?;
        let addresses = entry.addresses.iter().map(Multiaddr::to_string).collect();
        Some(Known { peer: peer.to_bytes(), addresses })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(port: u16) -> Multiaddr {
        format!("/ip4/127.0.0.1/tcp/{port}").parse().unwrap()
    }

    /// Two peers of which the first calls the second.
    fn caller_and_called() -> (PeerId, PeerId) {
        let (one, other) = (PeerId::random(), PeerId::random());
        if Book::new(one, 1).calls(&other) { (one, other) } else { (other, one) }
    }

    #[test]
    fn one_of_two_calls_and_nobody_calls_all() {
        let peers: Vec<PeerId> = (0..64).map(|_| PeerId::random()).collect();
        for me in &peers {
            let book = Book::new(*me, 64);
            let others = || peers.iter().filter(|peer| *peer != me);
            let calls = others().filter(|peer| book.calls(peer)).count();
            // Of 63 coins; a fair one passes these bounds once in ten million million.
            assert!((3..=60).contains(&calls), "{calls}");
            assert!(others().all(|peer| book.calls(peer) != Book::new(*peer, 64).calls(me)));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_of_two_calls_first_and_pauses_grow() {
        let (caller, called) = caller_and_called();
        let now = Instant::now();
        let mut book = Book::new(caller, 10);
        book.add(called, [address(1)], now);
        assert_eq!(book.due(now, |_| false, 9), [Call::Peer(called, vec![address(1)])]);
        assert_eq!(book.due(now, |_| false, 9), []);
        assert_eq!(book.next_due(|_| false), Some(now + PAUSE.0));
        assert_eq!(book.next_due(|_| true), None);
        let mut other = Book::new(called, 10);
        other.add(caller, [address(2)], now);
        assert_eq!(other.due(now, |_| false, 9), []);
        assert_eq!(other.due(now + COURTESY, |_| false, 9).len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn newcomers_call_whatever_the_coins_say() {
        let (caller, called) = caller_and_called();
        let now = Instant::now();
        for (me, peer) in [(caller, called), (called, caller)] {
            let mut newcomer = Book::new(me, 10);
            newcomer.add(peer, [], now);
            newcomer.add_as_newcomer(peer, [address(1)], now);
            assert_eq!(newcomer.due(now, |_| false, 9).len(), 1);
            let mut old = Book::new(me, 10);
            old.add_newcomer(peer, [address(1)], now);
            assert_eq!(old.due(now, |_| false, 9), []);
            assert_eq!(old.due(now + COURTESY, |_| false, 9).len(), 1);
            // Where both are told, there is no reason to wait.
            old = Book::new(me, 10);
            old.add_newcomer(peer, [address(1)], now);
            old.add_as_newcomer(peer, [address(1)], now);
            assert_eq!(old.due(now, |_| false, 9).len(), 1);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn courtesy_lasts_while_others_arrive_but_not_for_ever() {
        let ((caller, me), other) = (caller_and_called(), PeerId::random());
        let now = Instant::now();
        let mut book = Book::new(me, 10);
        book.add(caller, [address(1)], now);
        book.add(other, [address(2)], now);
        let call = [Call::Peer(caller, vec![address(1)])];
        let mut time = now;
        while time + COURTESY < now + LONGEST_COURTESY {
            time += COURTESY;
            book.reached(&other, time - COURTESY / 2);
            assert_eq!(book.due(time, |peer| *peer == other, 9), [], "{:?}", time - now);
        }
        book.reached(&other, now + LONGEST_COURTESY);
        assert_eq!(book.due(now + LONGEST_COURTESY, |peer| *peer == other, 9), call);
        // From now on it is called as anybody who did not answer.
        book.reached(&other, now + LONGEST_COURTESY);
        assert_eq!(book.due(now + LONGEST_COURTESY + PAUSE.0, |peer| *peer == other, 9), call);
    }

    #[tokio::test(start_paused = true)]
    async fn what_others_tell_does_not_fill_the_memory() {
        let (me, now) = (PeerId::random(), Instant::now());
        let mut book = Book::new(me, 3);
        for _ in 0..100 {
            book.add(PeerId::random(), (0..100).map(address), now);
        }
        assert_eq!(book.peers.len(), 3);
        assert!(book.peers.values().all(|entry| entry.addresses.len() == ADDRESSES));
        book.add(me, [address(1)], now);
        assert!(!book.peers.contains_key(&me));
    }
}

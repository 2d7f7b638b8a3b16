//! Who tells whom about whom.
//!
//! Who is called tells who calls whom it knows, and the newcomer calls these. So everybody who was here before hears of newcomers by being called; for where that is not
//! possible there are news, which go to a few, and with the links that follow from them to a few more.

use std::ops::Bound::{Excluded, Unbounded};

use libp2p::{Multiaddr, PeerId};
use tokio::time::Instant;

use super::{EventLoop, FRIENDS, NEWS};
use crate::network::circuits::through;
use crate::network::link::Link;
use crate::network::plausible;
use crate::wire::{Frame, Known};

impl EventLoop {
    /// Tells a newcomer whom we know; some others hear about it with the next news.
    pub(super) fn introduce(&mut self, newcomer: &Link) {
        if !self.called.contains(&newcomer.peer) {
            let others: Vec<Known> = self.links.keys().filter_map(|peer| self.book.known(peer)).collect();
            if !others.is_empty() {
                let _ = newcomer.send(Frame::Members(others));
            }
        }
        self.news.push(newcomer.peer);
        let now = Instant::now();
        if self.news_at.is_none() {
            let quiet = now.saturating_duration_since(self.news_told) > self.news_pause;
            self.news_pause = if quiet { NEWS.0 } else { (2 * self.news_pause).min(NEWS.1) };
            self.news_at = Some(now + self.news_pause);
        }
    }

    /// One frame about all who came lately, for those who follow us in the order of identities: in a large swarm that starts together everything to everybody would be most
    /// of what is said.
    pub(super) fn spread_news(&mut self) {
        self.news_at = None;
        self.news_told = Instant::now();
        let news: Vec<Known> = self.news.drain(..).filter_map(|peer| self.book.known(&peer)).collect();
        let behind = self.links.range((Excluded(self.me), Unbounded));
        for (_, current) in behind.chain(self.links.range(..self.me)).take(FRIENDS) {
            let _ = current.link.send(Frame::Members(news.clone()));
        }
    }

    pub(super) fn on_known(&mut self, teller: PeerId, known: Vec<Known>) {
        let (now, here) = (Instant::now(), self.here.contains(&teller));
        let is_introduction = self.called.remove(&teller);
        for Known { peer, addresses } in known {
            let Ok(peer) = PeerId::from_bytes(&peer) else { continue };
            if self.links.contains_key(&peer) {
                continue;
            }
            // Whoever it is may have a place at a relay of ours: that is tried too.
            let told = plausible::those_to_call(&addresses, here);
            let addresses: Vec<Multiaddr> = through(&self.settings.relays).chain(told).collect();
            if is_introduction {
                self.book.add_as_newcomer(peer, addresses, now);
            } else {
                self.book.add_newcomer(peer, addresses, now);
            }
        }
    }
}

//! Who tells whom about whom.

use libp2p::{Multiaddr, PeerId};
use tokio::time::Instant;

use super::{EventLoop, NEWS};
use crate::network::circuits::through;
use crate::network::link::Link;
use crate::network::plausible;
use crate::wire::{Frame, Known};

impl EventLoop {
    /// Tells a newcomer whom we know; the others hear about it with the next news.
    pub(super) fn introduce(&mut self, newcomer: &Link) {
        let others: Vec<Known> = self.links.keys().filter_map(|peer| self.book.known(peer)).collect();
        if !others.is_empty() {
            let _ = newcomer.send(Frame::Members(others));
        }
        self.news.push(newcomer.peer);
        let now = Instant::now();
        if self.news_at.is_none() {
            let quiet = now.saturating_duration_since(self.news_told) > self.news_pause;
            self.news_pause = if quiet { NEWS.0 } else { (2 * self.news_pause).min(NEWS.1) };
            self.news_at = Some(now + self.news_pause);
        }
    }

    /// One frame about all who came lately: one for each would be a frame per pair and node.
    pub(super) fn spread_news(&mut self) {
        self.news_at = None;
        self.news_told = Instant::now();
        let news: Vec<Known> = self.news.drain(..).filter_map(|peer| self.book.known(&peer)).collect();
        for current in self.links.values() {
            let _ = current.link.send(Frame::Members(news.clone()));
        }
    }

    pub(super) fn on_known(&mut self, teller: PeerId, known: Vec<Known>) {
        let (now, here) = (Instant::now(), self.here.contains(&teller));
        for Known { peer, addresses } in known {
            let Ok(peer) = PeerId::from_bytes(&peer) else { continue };
            // Whoever it is may have a place at a relay of ours: that is tried too.
            let told = plausible::those_to_call(&addresses, here);
            let addresses: Vec<Multiaddr> = through(&self.settings.relays).chain(told).collect();
            self.book.add(peer, addresses, now);
        }
    }
}

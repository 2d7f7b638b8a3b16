//! Whether a way loses packets, found out by sending some.

use std::time::Duration;

use tokio::time::Instant;

/// Packets that are sent: where one of twenty gets lost in either direction, fewer than one trial in ten sees nothing of it.
const PACKETS: u32 = 24;
/// Time between two.
const PAUSE: Duration = Duration::from_millis(4);
/// What has not been answered after this is lost.
const ANSWERS: Duration = Duration::from_secs(1);
/// A way is not tried again before this.
const AGAIN: Duration = Duration::from_secs(5);
/// From this part of lost packets on everything is said twice: one of so many.
const TWICE: u32 = 12;

/// What a way is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing comes through: there is a wall, or nobody.
    Closed,
    /// Nothing gets lost: a stream is better.
    Lossless,
    /// Packets get lost; so often each should be sent.
    Lossy(u32),
}

/// Packets under way, by which a way is judged.
#[derive(Debug)]
pub(super) struct Trial {
    sent: u32,
    /// Numbers that were not answered yet.
    open: Vec<u64>,
    next_at: Instant,
}

impl Trial {
    pub(super) fn new(now: Instant) -> Self {
        Self { sent: 0, open: Vec::new(), next_at: now }
    }

    /// When there is something to do.
    pub(super) fn wake_at(&self) -> Instant {
        self.next_at
    }

    /// Whether a packet is to be sent now.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.sent < PACKETS && self.next_at <= now
    }

    /// It was, with this number.
    pub(super) fn sent(&mut self, number: u64, now: Instant) {
        self.open.push(number);
        self.sent += 1;
        self.next_at = now + if self.sent < PACKETS { PAUSE } else { ANSWERS };
    }

    /// The peer has heard this number.
    pub(super) fn on_answer(&mut self, number: u64) {
        self.open.retain(|open| *open != number);
    }

    /// What came out of it, once it is over.
    pub(super) fn verdict(&self, now: Instant) -> Option<Verdict> {
        let lost = u32::try_from(self.open.len()).unwrap_or(u32::MAX);
        let is_over = self.sent == PACKETS && (lost == 0 || now >= self.next_at);
        is_over.then(|| match lost {
            PACKETS => Verdict::Closed,
            0 => Verdict::Lossless,
            lost => Verdict::Lossy(if lost * TWICE >= PACKETS { 2 } else { 1 }),
        })
    }

    /// When the next may begin.
    pub(super) fn again_at(now: Instant) -> Instant {
        now + AGAIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(answers: impl Fn(u64) -> bool) -> Verdict {
        let mut now = Instant::now();
        let mut trial = Trial::new(now);
        for number in 8.. {
            if let Some(verdict) = trial.verdict(now) {
                return verdict;
            }
            if trial.is_due(now) {
                trial.sent(number, now);
            }
            if answers(number) {
                trial.on_answer(number);
                trial.on_answer(number);
            }
            now = now.max(trial.wake_at());
        }
        unreachable!("it ends")
    }

    #[test]
    fn a_way_is_judged_by_what_comes_back() {
        assert_eq!(tried(|_| true), Verdict::Lossless);
        assert_eq!(tried(|_| false), Verdict::Closed);
        assert_eq!(tried(|number| number != 9), Verdict::Lossy(1));
        assert_eq!(tried(|number| number % 3 > 0), Verdict::Lossy(2));
    }
}

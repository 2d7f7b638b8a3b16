//! Whether a way loses packets, found out by sending some.

use std::time::Duration;

use tokio::time::Instant;

/// Packets that are sent: where one of twenty gets lost in either direction, fewer than one trial in ten sees nothing of it.
const PACKETS: u32 = 24;
/// Time between two.
const PAUSE: Duration = Duration::from_millis(4);
/// What has not been answered after this is lost; where some have been, after four times what these took, and not before the least.
const ANSWERS: Duration = Duration::from_secs(1);
const LEAST: Duration = Duration::from_millis(50);
/// A way is not tried again before this, where nothing got lost and where nothing came through.
const AGAIN: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(10)];
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
    /// Numbers that were not answered yet, and when they were sent.
    open: Vec<(u64, Instant)>,
    /// The newest that was.
    answered: u64,
    /// The longest that an answer took.
    longest: Option<Duration>,
    next_at: Instant,
    last: Instant,
}

impl Trial {
    pub(super) fn new(now: Instant) -> Self {
        Self { sent: 0, open: Vec::new(), answered: 0, longest: None, next_at: now, last: now }
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
        self.open.push((number, now));
        self.sent += 1;
        self.last = now;
        self.next_at = now + if self.sent < PACKETS { PAUSE } else { self.waits() };
    }

    /// How long answers may take. Where nothing is missing but the last ones, somebody is slow rather than something lost.
    fn waits(&self) -> Duration {
        let has_gaps = self.open.iter().any(|(number, _)| *number < self.answered);
        let longest = self.longest.filter(|_| has_gaps);
        longest.map_or(ANSWERS, |longest| (4 * longest).clamp(LEAST, ANSWERS))
    }

    /// The peer has heard this number.
    pub(super) fn on_answer(&mut self, number: u64, now: Instant) {
        let Some(at) = self.open.iter().position(|(open, _)| *open == number) else { return };
        let (_, sent) = self.open.swap_remove(at);
        self.longest = self.longest.max(Some(now.duration_since(sent)));
        self.answered = self.answered.max(number);
        if self.sent == PACKETS {
            self.next_at = self.last + self.waits();
        }
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

    /// When the next may begin, where nothing gets lost, or nothing comes through.
    pub(super) fn again_at(is_closed: bool, now: Instant) -> Instant {
        now + AGAIN[usize::from(is_closed)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(answers: impl Fn(u64) -> bool) -> (Verdict, u128) {
        let mut now = Instant::now();
        let begin = now;
        let mut trial = Trial::new(now);
        for number in 8.. {
            if let Some(verdict) = trial.verdict(now) {
                return (verdict, (now - begin).as_millis());
            }
            if trial.is_due(now) {
                trial.sent(number, now);
            }
            if answers(number) {
                trial.on_answer(number, now);
                trial.on_answer(number, now);
            }
            if trial.verdict(now).is_none() {
                now = now.max(trial.wake_at());
            }
        }
        unreachable!("it ends")
    }

    #[test]
    fn a_way_is_judged_by_what_comes_back() {
        // Sent for 23 pauses of 4 ms, then waited for.
        assert_eq!(tried(|_| true), (Verdict::Lossless, 92));
        assert_eq!(tried(|_| false), (Verdict::Closed, 92 + 1000));
        assert_eq!(tried(|number| number != 9), (Verdict::Lossy(1), 92 + 50));
        assert_eq!(tried(|number| number % 3 > 0), (Verdict::Lossy(2), 92 + 50));
    }
    #[test]
    fn who_is_slow_loses_nothing() {
        let begin = Instant::now();
        let at = |ms: u64| begin + Duration::from_millis(ms);
        let mut trial = Trial::new(begin);
        (0..24).for_each(|number| trial.sent(number + 1, at(4 * number)));
        (0..20).for_each(|number| trial.on_answer(number + 1, at(4 * number + 1)));
        assert_eq!(trial.verdict(at(500)), None);
        (20..24).for_each(|number| trial.on_answer(number + 1, at(500)));
        assert_eq!(trial.verdict(at(500)), Some(Verdict::Lossless));
    }
}

//! How long to wait for an answer before a datagram is sent again.

use std::time::Duration;

/// Before anything is known of the way.
const FIRST: Duration = Duration::from_millis(30);
/// Not less: what comes between a datagram and its answer is also the other's processor.
const LEAST: Duration = Duration::from_millis(2);
/// From then on waits do not grow: seventeen times the first.
const GROWS: u32 = 7;

/// The smoothed round trip and how far it strays, as TCP has it (RFC 6298).
#[derive(Debug, Default)]
pub(super) struct Pace(Option<(Duration, Duration)>);

impl Pace {
    pub(super) fn on_round_trip(&mut self, took: Duration) {
        self.0 = Some(match self.0 {
            None => (took, took / 2),
            Some((smooth, strays)) => ((smooth * 7 + took) / 8, (strays * 3 + smooth.abs_diff(took)) / 4),
        });
    }

    /// How long to wait after so many tries that were in vain.
    pub(super) fn wait(&self, vain: u32) -> Duration {
        let first = self.0.map_or(FIRST, |(smooth, strays)| (smooth + 4 * strays).max(LEAST));
        first.mul_f64(1.5_f64.powi(vain.min(GROWS) as i32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_follow_the_way_and_grow() {
        let ms = Duration::from_millis;
        let mut pace = Pace::default();
        assert_eq!(pace.wait(0), FIRST);
        pace.on_round_trip(ms(40));
        assert_eq!(pace.wait(0), ms(40 + 4 * 20));
        (0..100).for_each(|_| pace.on_round_trip(ms(40)));
        assert!((ms(40)..ms(41)).contains(&pace.wait(0)), "{:?}", pace.wait(0));
        assert!((ms(90)..ms(93)).contains(&pace.wait(2)), "{:?}", pace.wait(2));
        assert_eq!(pace.wait(GROWS), pace.wait(u32::MAX));
        (0..100).for_each(|_| pace.on_round_trip(Duration::from_micros(50)));
        assert_eq!(pace.wait(0), LEAST);
    }
}

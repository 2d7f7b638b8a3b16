//! Wrong tokens: who brings several is heard slowly, one at a time.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;

/// Mistakes that cost nothing.
const FREE: u32 = 5;
/// After so long without a mistake they are forgotten.
const FORGET: Duration = Duration::from_secs(60);
/// How long each further token takes.
const PAUSE: Duration = Duration::from_millis(200);
/// Tokens of one address that may wait to be heard.
const WAITING: usize = 8;
/// Addresses that are remembered; the rest are one.
const ADDRESSES: usize = 1024;

/// Who has guessed.
#[derive(Debug, Clone, Default)]
pub(super) struct Guesses(Arc<Mutex<BTreeMap<Option<IpAddr>, Guesser>>>);

#[derive(Debug, Clone)]
struct Guesser {
    wrong: u32,
    last: Instant,
    /// One may be heard.
    turn: Arc<Semaphore>,
    /// So many may wait for that.
    queue: Arc<Semaphore>,
}

impl Guesses {
    /// Waits until a token from this address may be looked at; `false` where too many wait already.
    pub(super) async fn turn(&self, address: IpAddr) -> bool {
        let Some(guesser) = self.suspect(address) else { return true };
        let Ok(_place) = Arc::clone(&guesser.queue).try_acquire_owned() else { return false };
        let _turn = guesser.turn.acquire().await;
        tokio::time::sleep(PAUSE).await;
        true
    }

    /// A token was wrong.
    pub(super) fn wrong(&self, address: IpAddr) {
        let mut all = self.all();
        let now = Instant::now();
        all.retain(|_, guesser| now.duration_since(guesser.last) < FORGET);
        let key = Some(address).filter(|_| all.contains_key(&Some(address)) || all.len() < ADDRESSES);
        let guesser = all.entry(key).or_insert_with(|| Guesser {
            wrong: 0,
            last: now,
            turn: Arc::new(Semaphore::new(1)),
            queue: Arc::new(Semaphore::new(WAITING)),
        });
        (guesser.wrong, guesser.last) = (guesser.wrong.saturating_add(1), now);
    }

    /// What is known of an address that has made too many mistakes lately.
    fn suspect(&self, address: IpAddr) -> Option<Guesser> {
        let all = self.all();
        let known = all.get(&Some(address)).or_else(|| all.get(&None))?;
        (known.wrong >= FREE && known.last.elapsed() < FORGET).then(|| known.clone())
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Option<IpAddr>, Guesser>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn guessing_takes_longer_than_a_life() {
        let (guesses, address) = (Guesses::default(), "10.0.0.1".parse().unwrap());
        let start = Instant::now();
        for _ in 0..105 {
            assert!(guesses.turn(address).await);
            guesses.wrong(address);
        }
        assert_eq!(start.elapsed(), 100 * PAUSE);
        // Others are not held up, and mistakes are forgotten.
        assert!(guesses.suspect("10.0.0.2".parse().unwrap()).is_none());
        let mut crowd: Vec<_> = (0..100).map(|_| Box::pin(guesses.turn(address))).collect();
        let mut heard = 0;
        for turn in &mut crowd {
            if let std::task::Poll::Ready(admitted) = futures::poll!(turn) {
                assert!(!admitted);
                heard += 1;
            }
        }
        assert_eq!(heard, 100 - WAITING);
        drop(crowd);
        tokio::time::advance(FORGET).await;
        assert!(guesses.suspect(address).is_none());
    }

    #[test]
    fn a_crowd_of_addresses_fills_no_memory() {
        let guesses = Guesses::default();
        (0..10_000_u32).for_each(|at| guesses.wrong(IpAddr::V4(at.into())));
        assert!(guesses.all().len() <= ADDRESSES + 1);
        assert!(guesses.suspect("200.0.0.1".parse().unwrap()).is_some(), "the rest are one");
    }
}

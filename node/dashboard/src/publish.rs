//! From the fold to those who look: the newest picture, and the last few differences that led to it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::watch;

use crate::health::Progress;
use crate::state::State;
use crate::view::{Run, Tick};

/// Differences that are kept for readers that are a little late; those that are later get the whole picture.
const KEPT_TICKS: usize = 8;

/// A picture of the run.
#[derive(Debug)]
pub(crate) struct Picture {
    pub(crate) version: u64,
    pub(crate) run: Run,
    /// JSON of the differences that led to this version, the oldest first.
    ticks: VecDeque<Arc<str>>,
    pub(crate) over: bool,
    pub(crate) progress: Progress,
}

impl Picture {
    /// The differences from `version` to this one; `None` where they are not kept.
    pub(crate) fn since(&self, version: u64) -> Option<impl Iterator<Item = &Arc<str>>> {
        let missed = usize::try_from(self.version.checked_sub(version)?).ok()?;
        (missed <= self.ticks.len()).then(|| self.ticks.iter().skip(self.ticks.len() - missed))
    }
}

/// Makes pictures.
#[derive(Debug)]
pub(crate) struct Publisher {
    pictures: watch::Sender<Arc<Picture>>,
}

impl Publisher {
    pub(crate) fn new(state: &State) -> Self {
        let run = Run::of(state);
        let progress = Progress::new(run.status.phase, Instant::now());
        let first = Picture { version: 0, run, ticks: VecDeque::new(), over: false, progress };
        Self { pictures: watch::channel(Arc::new(first)).0 }
    }

    pub(crate) fn pictures(&self) -> watch::Receiver<Arc<Picture>> {
        self.pictures.subscribe()
    }

    /// Shows the state as it is now. Never waits: a slow reader finds the newest picture when it looks.
    pub(crate) fn publish(&self, state: &mut State) {
        let before = self.pictures.borrow().clone();
        let tick = serde_json::to_string(&Tick::of(state)).unwrap_or_default();
        let mut ticks = before.ticks.clone();
        if ticks.len() == KEPT_TICKS {
            ticks.pop_front();
        }
        ticks.push_back(tick.into());
        let over = state.over.is_some();
        let version = before.version + 1;
        let run = Run::of(state);
        let progress = before.progress.next(run.status.phase, run.status.round, Instant::now());
        self.pictures.send_replace(Arc::new(Picture { version, run, ticks, over, progress }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{Only, Outline};
    use crate::testing::{Swarm, config};

    #[test]
    fn a_reader_that_is_a_little_late_gets_differences_and_a_later_one_does_not() {
        let mut state = State::new(Outline::of(&config(&["nodes=2"]), Only::Everybody));
        let publisher = Publisher::new(&state);
        let pictures = publisher.pictures();
        let mut swarm = Swarm::new(2);
        for _ in 0..20 {
            swarm.rounds(1).iter().for_each(|line| state.push(line));
            publisher.publish(&mut state);
        }
        let picture = pictures.borrow().clone();
        assert_eq!(picture.version, 20);
        assert_eq!(picture.since(20).unwrap().count(), 0);
        let ticks: Vec<_> = picture.since(18).unwrap().collect();
        assert!(ticks.len() == 2 && ticks[1].contains(r#""round":20"#) && ticks[0].contains(r#""round":19"#));
        assert!(picture.since(3).is_none() && picture.since(21).is_none());
    }
}

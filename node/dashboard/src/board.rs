//! Where processes write what they know of themselves, and the fold reads it: the last word of each, so that it needs no queue and nobody ever waits.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::personal::Figures;

use crate::state::row::Vitals;

/// The board of a run; clones are the same board.
#[derive(Debug, Clone)]
pub struct Board(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    board: Mutex<Words>,
    ended: Condvar,
}

/// What was written since it was read last.
#[derive(Debug, Default)]
pub(crate) struct Words {
    pub(crate) nodes: Vec<Slot>,
    pub(crate) over: Option<End>,
}

/// The last words of one process.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    pub(crate) vitals: Option<Vitals>,
    /// Whether it ended well, once it has ended.
    pub(crate) ended: Option<bool>,
    /// How good its own models are, once it has made them.
    pub(crate) own: Option<Figures>,
}

/// How a run ends for the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// It is over: a last picture is to be made.
    Finished(String),
    /// Nobody looks any more.
    Abandoned,
}

impl Board {
    pub(crate) fn new(slots: usize) -> Self {
        let nodes = (0..slots.max(1)).map(|_| Slot::default()).collect();
        Self(Arc::new(Shared { board: Mutex::new(Words { nodes, over: None }), ended: Condvar::new() }))
    }

    /// A process says how it is. A node alone has slot 0.
    pub fn vitals(&self, slot: usize, vitals: Vitals) {
        if let Some(slot) = self.lock().nodes.get_mut(slot) {
            slot.vitals = Some(vitals);
        }
    }

    /// A process has made models of its own.
    pub fn own(&self, slot: usize, figures: Figures) {
        if let Some(slot) = self.lock().nodes.get_mut(slot) {
            slot.own = Some(figures);
        }
    }

    /// A process has ended.
    pub fn ended(&self, slot: usize, well: bool) {
        if let Some(slot) = self.lock().nodes.get_mut(slot) {
            slot.ended = Some(well);
        }
    }

    pub(crate) fn over(&self, end: End) {
        self.lock().over.get_or_insert(end);
        self.0.ended.notify_all();
    }

    /// Takes what is new; how the run ends stays.
    pub(crate) fn take(&self) -> Words {
        let mut words = self.lock();
        let nodes = words.nodes.iter_mut().map(std::mem::take).collect();
        Words { nodes, over: words.over.clone() }
    }

    /// Waits so long, or until the run is over.
    pub(crate) fn wait(&self, pause: Duration) {
        let words = self.lock();
        let waited = self.0.ended.wait_timeout_while(words, pause, |words| words.over.is_none());
        drop(waited);
    }

    fn lock(&self) -> MutexGuard<'_, Words> {
        // Nothing that is done under the lock can panic half-way.
        self.0.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

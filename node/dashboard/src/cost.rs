//! What a node's own log costs while it grows, for a screen: the same figures, for the same round, as the page and the report.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use privacy::number::{Precision, up};
use protocol::account::Shape;

use crate::facts::Only;
use crate::follow::Follower;
use crate::price::{Priced, Pricer};

/// Priced so often at most.
const PAUSE: Duration = Duration::from_secs(1);

/// What the log has cost so far.
#[derive(Debug)]
pub struct Cost {
    last: Option<Arc<Mutex<Option<Figure>>>>,
    shown: Option<Figure>,
}

/// ε after a round.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Rounds that it is about.
    pub round: u32,
    /// Towards the member that saw most.
    pub worst: f64,
    /// By this analysis.
    pub analysis: String,
}

impl Figure {
    /// `ε = 1.234 after round 7 (rounds)`, as a report prints it.
    pub fn words(&self) -> String {
        format!("ε = {} after round {} ({})", up(self.worst, Precision::Digits(4)), self.round, self.analysis)
    }

    fn of(priced: &Priced) -> Option<Self> {
        let worst = priced.peers.iter().flatten().map(|peer| peer.worst).reduce(f64::max)?;
        Some(Self { round: priced.round, worst, analysis: priced.analysis.clone() })
    }
}

impl Cost {
    /// Follows the log of one node until this is dropped. Where no thread can be had nothing is known.
    pub fn follow(log: PathBuf, shape: Shape) -> Self {
        let last = Arc::new(Mutex::new(None));
        let told = Arc::downgrade(&last);
        let started = std::thread::Builder::new().name("cost".into()).spawn(move || watch(log, shape, &told));
        Self { last: started.is_ok().then_some(last), shown: None }
    }

    /// Nothing is known, and nobody asks.
    pub fn unknown() -> Self {
        Self { last: None, shown: None }
    }

    /// The last figure.
    pub fn figure(&mut self) -> Option<&Figure> {
        if let Some(last) = &self.last {
            self.shown.clone_from(&last.lock().unwrap_or_else(PoisonError::into_inner));
        }
        self.shown.as_ref()
    }
}

fn watch(log: PathBuf, shape: Shape, told: &Weak<Mutex<Option<Figure>>>) {
    let (mut log, mut pricer) = (Follower::new(log), Pricer::new(shape, Only::Myself));
    loop {
        let Some(told) = told.upgrade() else { return };
        pricer.want();
        // What cannot be read now may be readable later.
        while log.poll(|line| pricer.push(&line)).unwrap_or(false) {}
        if let Some(figure) = pricer.take().as_ref().and_then(Figure::of) {
            *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(figure);
        }
        drop(told);
        std::thread::sleep(PAUSE);
    }
}

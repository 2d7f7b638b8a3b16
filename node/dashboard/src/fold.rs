//! The thread that reads logs, folds them and makes pictures. It waits for nobody and nobody waits for it: the node writes its log as always.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use protocol::log::Merge;

use crate::board::{Board, End};
use crate::facts::{Facts, Only, Outline};
use crate::follow::Follower;
use crate::price::Pricer;
use crate::publish::Publisher;
use crate::state::State;

/// Pictures per second at most, in a small swarm; a large one gets fewer, since each costs more.
const PAUSE: Duration = Duration::from_millis(100);
/// Nodes for which the pause grows by one more of itself.
const NODES_PER_PAUSE: usize = 256;
/// A picture is made so often even where nothing happens, so that a page can tell silence from death.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// Prices are found so often at most, and never for more than one part in so many of the time.
const PRICE_PAUSE: Duration = Duration::from_secs(1);
const PRICE_SHARE: u32 = 20;

/// Where the facts of a run come from: they may take seconds to work out, so the thread does it.
pub(crate) type MakeFacts = Box<dyn FnOnce() -> Result<Facts, String> + Send>;

/// The work of the thread.
pub(crate) struct Fold {
    state: State,
    board: Board,
    publisher: Publisher,
    logs: Vec<Follower>,
    merge: Merge,
    pricer: Option<Pricer>,
    unpriced: bool,
    price_at: Instant,
    /// The longest that one price took.
    price_cost: Duration,
    damaged: u64,
}

impl Fold {
    pub(crate) fn new(outline: Outline, logs: Vec<PathBuf>, board: Board) -> Self {
        let state = State::new(outline);
        let now = Instant::now();
        Self {
            publisher: Publisher::new(&state),
            state,
            board,
            merge: Merge::new(logs.len()),
            logs: logs.into_iter().map(Follower::new).collect(),
            pricer: None,
            unpriced: false,
            price_at: now,
            price_cost: Duration::ZERO,
            damaged: 0,
        }
    }

    pub(crate) fn publisher(&self) -> &Publisher {
        &self.publisher
    }

    /// Folds until the run is over.
    pub(crate) fn run(mut self, facts: MakeFacts) {
        match facts() {
            Ok(facts) => {
                self.pricer = Some(Pricer::new(facts.shape.clone(), self.state.outline.only));
                self.state.know(facts);
            }
            Err(reason) => self.state.warn(format!("losses are not priced here: {reason}")),
        }
        self.publisher.publish(&mut self.state);
        let pause = PAUSE * u32::try_from(1 + self.state.nodes.len() / NODES_PER_PAUSE).unwrap_or(1);
        let mut shown = Instant::now();
        loop {
            // Looked at before the logs: what was written before the end is read then.
            let (end, mut news) = self.read_board();
            let more = self.read_logs(&mut news);
            match end {
                Some(End::Finished(reason)) if !more => return self.finish(reason),
                Some(End::Abandoned) => return,
                _ => {}
            }
            self.fold_lines(false);
            news |= self.price_if_due();
            if news || shown.elapsed() >= HEARTBEAT {
                self.publisher.publish(&mut self.state);
                shown = Instant::now();
            }
            if !more {
                self.board.wait(pause);
            }
        }
    }

    fn finish(mut self, reason: String) {
        self.fold_lines(true);
        if let Some(pricer) = &mut self.pricer {
            self.state.on_priced(pricer.price());
        }
        self.state.on_over(reason);
        self.publisher.publish(&mut self.state);
    }

    fn read_board(&mut self) -> (Option<End>, bool) {
        let words = self.board.take();
        let alone = self.state.outline.only == Only::Myself;
        let mut news = false;
        for (slot, said) in words.nodes.into_iter().enumerate() {
            if let Some(vitals) = said.vitals {
                news = true;
                self.set_gone(slot, false);
                self.state.on_vitals((!alone).then_some(slot), vitals);
            }
            if let Some(figures) = said.own {
                news = true;
                self.state.on_own((!alone).then_some(slot), figures);
            }
            if let Some(well) = said.ended {
                news = true;
                self.set_gone(slot, true);
                self.state.on_ended(slot, well);
            }
        }
        (words.over, news)
    }

    fn set_gone(&mut self, log: usize, gone: bool) {
        if log < self.logs.len() {
            self.merge.set_gone(log, gone);
        }
    }

    /// Reads what is new; says whether there may be more.
    fn read_logs(&mut self, news: &mut bool) -> bool {
        let mut more = false;
        for (at, log) in self.logs.iter_mut().enumerate() {
            let merge = &mut self.merge;
            let polled = log.poll(|line| {
                *news = true;
                merge.push(at, line);
            });
            match polled {
                Ok(left) => more |= left,
                Err(error) => tracing::debug!(log = at, %error, "a log cannot be read"),
            }
        }
        let damaged = self.logs.iter().map(Follower::damaged).sum();
        if damaged > self.damaged {
            self.damaged = damaged;
            self.state
                .warn(format!("{damaged} lines of logs cannot be read: cut short by crashes, or damaged"));
        }
        more
    }

    fn fold_lines(&mut self, all: bool) {
        let lines = if all { self.merge.finish() } else { self.merge.take() };
        self.unpriced |= !lines.is_empty();
        for line in &lines {
            self.state.push(line);
            if let Some(pricer) = &mut self.pricer {
                let begun = Instant::now();
                pricer.push(line);
                self.price_cost = self.price_cost.max(begun.elapsed());
            }
        }
    }

    /// Asks for prices where they are due; they come when a round is over, and are shown with it.
    fn price_if_due(&mut self) -> bool {
        let now = Instant::now();
        let Some(pricer) = self.pricer.as_mut() else { return false };
        if self.unpriced && now >= self.price_at {
            pricer.want();
            self.unpriced = false;
            self.price_at = now + PRICE_PAUSE.max(self.price_cost * PRICE_SHARE);
        }
        let Some(priced) = pricer.take() else { return false };
        self.state.on_priced(priced);
        true
    }
}

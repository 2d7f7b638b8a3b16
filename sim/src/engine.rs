//! The loop over windows: run all shards, exchange their messages, publish their lines.

use std::sync::Mutex;

use protocol::work::Room;
use protocol::{LogLine, PeerIx, Setup, Time};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use crate::check::Agreement;
use crate::error::SimError;
use crate::hooks::{Hook, Unhooked};
use crate::outcome::{Ended, Finished, Models, Observation, Options};
use crate::progress::Progress;
use crate::report::Line;
use crate::scenario::{Limits, Specials};
use crate::shard::Shard;
use crate::world::World;

/// Arrivals in a window below which waking other threads costs more than it saves.
const WORTH_THREADS: usize = 128;

/// Runs a setup in virtual time. `sink` gets every line of the run log in its order, `observe` the swarm after each round.
///
/// The log, the models and all figures depend on the setup only: not on threads, not on the machine's load.
///
/// # Errors
/// A setup that does not fit together, a contribution that cannot be computed, or, with [`Options::check`], an invariant that does not hold.
///
/// # Guarantee
/// None: noise is seeded and the first line says so (`private_noise: false`).
pub fn simulate(
    setup: &Setup,
    options: &Options,
    sink: &mut (dyn FnMut(&LogLine) + Send),
    observe: &mut (dyn FnMut(&Observation<'_>) + Send),
) -> Result<Finished, SimError> {
    simulate_with(setup, options, &Unhooked, sink, observe)
}

/// As [`simulate`], with a [`Hook`] that sees every delivered message and may make contributions and noise in the nodes' place.
///
/// # Errors
/// As [`simulate`].
///
/// # Guarantee
/// None, as [`simulate`].
pub fn simulate_with(
    setup: &Setup,
    options: &Options,
    hook: &dyn Hook,
    sink: &mut (dyn FnMut(&LogLine) + Send),
    observe: &mut (dyn FnMut(&Observation<'_>) + Send),
) -> Result<Finished, SimError> {
    let world = World::new(setup, hook, options.check)?;
    sink(&setup.first_line("sim", &options.version, false));
    let threads = options.threads;
    let build = ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = build.map_err(|source| SimError::Threads { threads, source })?;
    // As a member of the pool: a thread outside it would be put to sleep and woken for each window, and shards would go from core to core.
    pool.install(|| {
        let mut engine = Engine::new(&world)?;
        let ended = engine.run(sink, observe)?;
        Ok(engine.finish(ended))
    })
}

struct Engine<'w> {
    world: &'w World<'w>,
    shards: Vec<Shard>,
    /// Buffers for gradients: one for each thread that computes at a time.
    rooms: Mutex<Vec<Room>>,
    progress: Progress,
    agreement: Agreement,
    lines: Vec<Line>,
    now: u64,
    bytes: u64,
    messages: u64,
    dropped: u64,
}

impl<'w> Engine<'w> {
    fn new(world: &'w World<'w>) -> Result<Self, SimError> {
        let specials = Specials::new(world)?;
        let (nodes, per_shard) = (world.nodes, world.per_shard());
        let shards = nodes.div_ceil(per_shard);
        let shard = |index: usize| {
            let members = index * per_shard..nodes.min((index + 1) * per_shard);
            let first = members.start as PeerIx;
            let slots = members.map(|node| specials.slot(node as PeerIx, world)).collect();
            Shard::new(first, slots, shards, world)
        };
        let shards = (0..shards).into_par_iter().map(shard).collect();
        Ok(Self {
            world,
            shards,
            rooms: Mutex::default(),
            progress: Progress::new(nodes, world.setup.settings.rounds, world.tokens > 0),
            agreement: Agreement::default(),
            lines: Vec::new(),
            now: 0,
            bytes: 0,
            messages: 0,
            dropped: 0,
        })
    }

    fn run(
        &mut self,
        sink: &mut (dyn FnMut(&LogLine) + Send),
        observe: &mut (dyn FnMut(&Observation<'_>) + Send),
    ) -> Result<Ended, SimError> {
        let limits = Limits::new(self.world);
        while self.shards.iter().any(|shard| shard.open > 0) {
            let next = self.shards.iter().filter_map(|shard| shard.next(self.world)).min();
            let Some(window) = next else { return Ok(Ended::Quiet) };
            if limits.are_passed(window.saturating_mul(self.world.window), self.progress.moved) {
                return Ok(Ended::Stalled);
            }
            self.step(window);
            self.exchange();
            self.publish(sink)?;
            self.observe(observe);
        }
        Ok(Ended::AllDone)
    }

    /// All shards that have something to do in a window, in parallel where that is worth it.
    fn step(&mut self, window: u64) {
        let (world, rooms) = (self.world, &self.rooms);
        let is_due = |shard: &Shard| shard.next(world).is_some_and(|next| next <= window);
        let run = |shard: &mut Shard| {
            // Taken for the whole window; a nested parallel loop may bring another shard onto this thread meanwhile.
            let mut room = rooms.lock().expect("no holder panics").pop().unwrap_or_default();
            shard.run(window, world, &mut room);
            rooms.lock().expect("no holder panics").push(room);
        };
        let load: usize = self.shards.iter().map(|shard| shard.load(window)).sum();
        if load < WORTH_THREADS {
            self.shards.iter_mut().filter(|shard| is_due(shard)).for_each(run);
        } else {
            self.shards.par_iter_mut().with_max_len(1).filter(|shard| is_due(shard)).for_each(run);
        }
    }

    /// Hands parcels over, in the order of the sending shards: part of the order in which messages are handled.
    fn exchange(&mut self) {
        for sender in 0..self.shards.len() {
            while let Some((shard, parcel)) = self.shards[sender].next_parcel() {
                self.shards[shard].deliver(parcel);
            }
        }
    }

    /// Brings the lines of a window in order, by (time, node, sequence), and passes them on.
    fn publish(&mut self, sink: &mut (dyn FnMut(&LogLine) + Send)) -> Result<(), SimError> {
        let mut failed: Option<(u64, PeerIx, SimError)> = None;
        for shard in &mut self.shards {
            let report = &mut shard.report;
            self.bytes += std::mem::take(&mut report.bytes);
            self.messages += std::mem::take(&mut report.messages);
            self.dropped += std::mem::take(&mut report.dropped);
            self.lines.append(&mut report.lines);
            if let Some(error) = report.error.take()
                && failed.as_ref().is_none_or(|(time, ..)| error.0 < *time)
            {
                failed = Some(error);
            }
        }
        // Stable: lines of equal time stay by node and in their order.
        self.lines.sort_by_key(|line| line.time);
        for line in self.lines.drain(..) {
            self.now = line.time;
            self.progress.see(&line);
            if self.world.check {
                self.agreement.check(&line)?;
            }
            sink(&LogLine { time: Time(line.time), node: Some(line.node), event: line.event });
        }
        // After the lines: the last line of a node that was lost must not make it count again.
        for shard in &mut self.shards {
            shard.report.presence.drain(..).for_each(|node| self.progress.on_presence(node));
        }
        failed.map_or(Ok(()), |(_, _, error)| Err(error))
    }

    fn observe(&mut self, observe: &mut (dyn FnMut(&Observation<'_>) + Send)) {
        while let Some((round, train_loss)) = self.progress.next_over() {
            observe(&Observation {
                round,
                time: Time(self.now),
                models: Models::new(&self.shards, self.world, self.now),
                latest: self.progress.latest,
                train_loss,
                bytes: self.bytes,
            });
        }
    }

    fn finish(self, ended: Ended) -> Finished {
        let nodes = self.world.nodes;
        let mut finished = Finished {
            ended,
            reached: 0,
            time: Time(self.now),
            models: Vec::with_capacity(nodes),
            bytes_per_node: Vec::with_capacity(nodes),
            records_per_node: Vec::with_capacity(nodes),
            messages: self.messages,
            dropped: self.dropped,
            rounds: self.progress.observed,
        };
        for slot in self.shards.into_iter().flat_map(Shard::into_slots) {
            finished.bytes_per_node.push(slot.bytes);
            finished.records_per_node.push(slot.ledger);
            finished.reached += usize::from(slot.has_reached_the_end());
            finished.models.push(slot.into_model());
        }
        finished
    }
}

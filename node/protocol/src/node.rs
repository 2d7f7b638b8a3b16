//! The participant: inputs in, outputs out.

use std::sync::Arc;

use privacy::event::DpEvent;
use privacy::noise::NoiseSource;
use serde::{Deserialize, Serialize};

use crate::agreement::{Certificate, Credentials, KeptReserves, Memory};
use crate::algorithm::{Algorithm, Machine};
use crate::core::Core;
use crate::event::RunEvent;
use crate::message::Message;
use crate::recipients::Recipients;
use crate::rounds::{Lie, Masks};
use crate::settings::Settings;
use crate::values::Values;
use crate::work::{Computed, Job};
use crate::{PeerIx, Time};

/// What a driver tells a node.
#[derive(Debug)]
pub enum Input {
    /// The run begins, or the node was [restored](Node::restored) and comes back.
    Start,
    /// A message arrived.
    Received {
        /// Who sent it, as the connection proved.
        from: PeerIx,
        /// What was said.
        message: Message,
    },
    /// The work that [`Output::Compute`] asked for is done.
    Computed(Computed),
    /// The record with this number is durable.
    Recorded(u64),
    /// Time has passed: [`Node::wake_at`] has come.
    Tick,
    /// The node is to leave for good: the others are told, and its vote goes with it.
    Leave,
}

/// What a node asks its driver to do. In order.
#[derive(Debug)]
pub enum Output {
    /// Compute a contribution, off the network thread, and answer with [`Input::Computed`].
    Compute(Job),
    /// Make this durable, then answer with [`Input::Recorded`].
    Record(Record),
    /// The disk is old: the others know of records of these numbers that are not on it. Write each of them down, durably before any later record, as a
    /// contribution of which nothing is known ([`UNKNOWN_ROUND`]). It is charged in full.
    Forgotten(std::ops::Range<u64>),
    /// Send a message, to each of the recipients in their order.
    Send {
        /// To whom.
        to: Recipients,
        /// What.
        message: Message,
    },
    /// Append to the run log.
    Log(Box<RunEvent>),
    /// A round boundary: keep this, durably where the driver has a disk, to come back after a crash.
    Save(Box<Snapshot>),
    /// The run is over for this node; it still answers others.
    Done,
}

/// The round of a contribution that nobody remembers: no line of a log is about it.
pub const UNKNOWN_ROUND: u32 = u32::MAX;

/// What a driver knows of the disk from which a node comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Disk {
    /// The last one: something that is not restored with it says so.
    #[default]
    Sure,
    /// It may be an old copy.
    Unsure,
    /// It is an old copy.
    Old,
}

/// A privacy event that must be durable before what it stands for is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Number of the record at this node, from 0, without gaps.
    pub id: u64,
    /// Round; for a walk the hop.
    pub round: u32,
    /// What is released.
    pub release: DpEvent,
    /// Masked rounds: how many members hide it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub among: Option<u32>,
}

/// What a node needs to come back: at a round boundary.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Epoch of the roster.
    pub epoch: u32,
    /// Members of the roster.
    pub members: Vec<PeerIx>,
    /// The next round.
    pub round: u32,
    /// How many rounds made the model.
    pub version: u32,
    /// Parameters, and behind them the state of the optimiser.
    pub model: Values,
    /// Number of records so far.
    pub records: u64,
    /// What was spent towards each peer, by each budget rule, in the unit of its price.
    pub spent: Vec<Vec<f64>>,
    /// The model before, where a decision may go back to it.
    pub before: Option<Values>,
    /// What the node signed about the next decision, and the last one with its proof.
    pub agreement: Option<Arc<Memory>>,
    /// What it reserved, and holds of others.
    pub reserves: KeptReserves,
}

impl Snapshot {
    /// The same, with so many records after it of which nothing is known: each is charged in full, whatever masks hide now. A roster in which one of them was
    /// made may have been smaller than the one that was saved.
    pub fn with_unknown(mut self, settings: &Settings, unknown: u64) -> Self {
        for (rule, spent) in settings.budget.iter().zip(&mut self.spent) {
            let in_full = rule.price.of(1.0);
            spent.iter_mut().for_each(|spent| (0..unknown).for_each(|_| *spent += in_full));
        }
        self.records += unknown;
        self
    }

    /// Where a node stands that saved nothing yet: everybody is a member and has the public first model.
    pub fn first(settings: &Settings) -> Self {
        Self {
            epoch: 0,
            members: (0..settings.nodes as PeerIx).collect(),
            round: 0,
            version: 0,
            model: settings.initial.clone(),
            records: 0,
            spent: Vec::new(),
            before: None,
            agreement: None,
            reserves: KeptReserves::default(),
        }
    }
}

/// One participant.
pub struct Node {
    core: Core,
    machine: Box<dyn Machine>,
}

impl Node {
    /// The participant at position `me`. `noise` is for message noise and needed only where the settings ask for it.
    ///
    /// # Panics
    /// Where `me` is not below the number of nodes, or the settings ask for message noise and there is no source of it.
    pub fn new(me: PeerIx, settings: Arc<Settings>, noise: Option<Box<dyn NoiseSource>>) -> Self {
        assert!((me as usize) < settings.nodes, "node {me} of {}", settings.nodes);
        let machine = Algorithm::machine(me, &settings, noise);
        Self { core: Core::new(me, settings), machine }
    }

    /// The same participant with masks, for settings that ask for them; without, it takes no part in masked rounds.
    #[must_use]
    pub fn with_masks(mut self, masks: Masks) -> Self {
        self.machine.wear(masks);
        self
    }

    /// The same participant as a member that lies under masks from some time on: for tests and simulations.
    #[must_use]
    pub fn danger_lying(mut self, lie: Lie, from: Time) -> Self {
        self.machine.danger_lie(lie, from);
        self
    }

    /// The same participant for a driver that keeps no [snapshots](Output::Save), since it knows that this node never comes back after a crash.
    #[must_use]
    pub fn without_saving(mut self) -> Self {
        self.core.saves = false;
        self
    }

    /// A participant that comes back after a crash with what it had saved. `records` is the number of records that its ledger holds, which may
    /// be larger than the snapshot's: those that came after it are charged in full.
    #[must_use]
    pub fn restored(mut self, snapshot: &Snapshot, records: u64) -> Self {
        self.core.restore(snapshot, records);
        self.machine.restore(&self.core.settings, snapshot);
        self
    }

    /// Says what is known of the disk; without, it is taken to be the last one.
    #[must_use]
    pub fn with_disk(mut self, disk: Disk) -> Self {
        self.machine.found(disk);
        self
    }

    /// The same participant with an identity of its own. Without one its signatures are made from the run's name and prove nothing: good for
    /// simulations only. Before [`restored`](Self::restored).
    #[must_use]
    pub fn with_credentials(mut self, credentials: Credentials) -> Self {
        self.machine.enroll(credentials);
        self
    }

    /// Takes one input. Drain [`poll_output`](Self::poll_output) afterwards.
    pub fn handle(&mut self, now: Time, input: Input) {
        let core = &mut self.core;
        core.now = now;
        match input {
            Input::Received { from, message } if !core.accepts(from, &message) => {
                self.machine.on_refused(core, from, message);
            }
            input => self.machine.handle(core, input),
        }
    }

    /// The next thing to do, or none.
    #[inline]
    pub fn poll_output(&mut self) -> Option<Output> {
        self.core.outputs.pop()
    }

    /// When to call with [`Input::Tick`] if nothing happens before; spurious calls do no harm.
    pub fn wake_at(&self) -> Option<Time> {
        self.machine.wake_at()
    }

    /// The model that this node holds now.
    pub fn model(&self) -> &[f32] {
        self.machine.model()
    }

    /// The memory of a vector that the node does not need any more, where it has some: a driver may make the next contribution in it.
    pub fn spare_memory(&mut self) -> Option<Vec<f32>> {
        self.machine.spare_memory()
    }

    /// The round that the node is in, or has finished last.
    pub fn round(&self) -> u32 {
        self.machine.round()
    }

    /// Whether the run is over for this node.
    pub fn is_done(&self) -> bool {
        self.core.done
    }

    /// Whether it ended where it should; otherwise for a reason that was set.
    pub fn has_reached_the_end(&self) -> bool {
        self.core.reached
    }

    /// What proves the last decision to anybody, where there was one.
    pub fn certificate(&self) -> Option<&Certificate> {
        self.machine.certificate()
    }

    /// What this node has spent, by each budget rule, as a part of its limit.
    pub fn spent(&self) -> Vec<f64> {
        self.core.budget.spent_fractions(&self.core.settings)
    }
}

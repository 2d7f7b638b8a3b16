//! What all algorithms share: outputs, checks of incoming messages, faults, and the budget.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crate::contribution::Budget;
use crate::event::{FaultKind, RunEvent};
use crate::message::{Body, Message};
use crate::node::{Output, Snapshot};
use crate::numbers::{Load, Numbers};
use crate::recipients::Recipients;
use crate::settings::Settings;
use crate::{PeerIx, Time};

/// Messages beyond what a round needs (repeated, late, asking again) that a peer may send in one round.
const NUISANCE_LIMIT: u32 = 256;

/// A message that was here before and is so many rounds old is held against its sender: the network's own repetitions come sooner.
pub(crate) const REPEATED_AFTER: u32 = 2;

/// The common part of a node.
pub(crate) struct Core {
    pub(crate) me: PeerIx,
    pub(crate) settings: Arc<Settings>,
    pub(crate) now: Time,
    pub(crate) outputs: Outputs,
    pub(crate) budget: Budget,
    pub(crate) next_record: u64,
    pub(crate) done: bool,
    /// Whether it is done because the run reached its end.
    pub(crate) reached: bool,
    /// Whether the driver keeps what a node needs to come back after a crash.
    pub(crate) saves: bool,
    /// Peers that sent what no honest node can send, or from which nothing comes back: they are left out where there is a choice.
    pub(crate) accused: BTreeSet<PeerIx>,
    faults: BTreeMap<(PeerIx, FaultKind), u32>,
    nuisance: BTreeMap<PeerIx, u32>,
}

impl Core {
    pub(crate) fn new(me: PeerIx, settings: Arc<Settings>) -> Self {
        Self {
            me,
            budget: Budget::new(&settings),
            settings,
            now: Time::default(),
            outputs: Outputs::default(),
            next_record: 0,
            done: false,
            reached: false,
            saves: true,
            accused: BTreeSet::new(),
            faults: BTreeMap::new(),
            nuisance: BTreeMap::new(),
        }
    }

    pub(crate) fn restore(&mut self, snapshot: &Snapshot, records: u64) {
        // Records after the snapshot may have been sent: they are charged in full, or, with masks, as the roster of the snapshot hid them: a roster is
        // saved before anything is contributed in it.
        let unsettled = records.saturating_sub(snapshot.records);
        self.next_record = records.max(snapshot.records);
        let hidden = self.settings.algorithm.hidden(snapshot.members.len()).map(|hidden| (self.me, hidden));
        let settings = self.settings.clone();
        self.budget.restore(&settings, &snapshot.spent, (unsettled, self.next_record), hidden);
    }

    /// Whether a message is well-formed, whatever the algorithm; says so in the log if not.
    pub(crate) fn accepts(&mut self, from: PeerIx, message: &Message) -> bool {
        let fault = if message.run != self.settings.run {
            FaultKind::WrongRun
        } else if from as usize >= self.settings.nodes || from == self.me {
            FaultKind::WrongSender
        } else if message.numbers.as_ref().is_some_and(|numbers| !numbers.is_finite()) {
            FaultKind::NotFinite
        } else if self.has_wrong_length(message) {
            FaultKind::WrongLength
        } else {
            return true;
        };
        self.fault(from, fault, message.round);
        false
    }

    fn has_wrong_length(&self, message: &Message) -> bool {
        let parameters = self.settings.initial.len();
        match &message.numbers {
            // Only sums of masked rounds are words, and these know how many there are.
            Some(Numbers::Words(words)) => {
                let most = self.settings.algorithm.most_numbers(parameters, self.settings.nodes);
                message.body.load() != Load::Vector || words.len() > most
            }
            numbers => {
                let count = numbers.as_ref().map_or(0, Numbers::len);
                !message.body.load().admits(count, parameters)
            }
        }
    }

    /// Logs that a peer did wrong: every time at first, then at every doubling, so that a flood cannot fill the disk.
    pub(crate) fn fault(&mut self, peer: PeerIx, fault: FaultKind, round: u32) {
        if fault.is_forged() {
            self.accused.insert(peer);
        }
        let count = self.faults.entry((peer, fault)).or_insert(0);
        *count = count.saturating_add(1);
        if *count <= 4 || count.is_power_of_two() {
            self.log(RunEvent::PeerFault { peer, fault, round });
        }
    }

    /// Counts a message that is allowed but not needed; `false` once a peer sends more than anybody has reason to in one round.
    pub(crate) fn tolerates(&mut self, peer: PeerIx, round: u32) -> bool {
        let count = self.nuisance.entry(peer).or_insert(0);
        *count = count.saturating_add(1);
        let tolerated = *count <= NUISANCE_LIMIT;
        if *count == NUISANCE_LIMIT + 1 {
            self.fault(peer, FaultKind::Flood, round);
        }
        tolerated
    }

    /// A new round: everybody may ask again.
    pub(crate) fn forgive(&mut self) {
        self.nuisance.clear();
    }

    /// Says something that carries no numbers.
    pub(crate) fn tell(&mut self, to: impl Into<Recipients>, place: (u32, u32), body: impl Into<Body>) {
        self.put(to.into(), place, body.into(), None);
    }

    /// Says something with numbers beside it.
    pub(crate) fn send(
        &mut self,
        to: impl Into<Recipients>,
        place: (u32, u32),
        body: impl Into<Body>,
        numbers: impl Into<Numbers>,
    ) {
        self.put(to.into(), place, body.into(), Some(numbers.into()));
    }

    fn put(&mut self, to: Recipients, (round, step): (u32, u32), body: Body, numbers: Option<Numbers>) {
        let message = Message { run: self.settings.run, round, step, body, numbers };
        self.outputs.push(Output::Send { to, message });
    }

    /// Hands the driver what the node needs to come back; not even made where nobody keeps it.
    pub(crate) fn save(&mut self, snapshot: impl FnOnce(&Self) -> Snapshot) {
        if self.saves {
            let snapshot = Box::new(snapshot(self));
            self.outputs.push(Output::Save(snapshot));
        }
    }

    pub(crate) fn log(&mut self, event: RunEvent) {
        self.outputs.push(Output::Log(Box::new(event)));
    }

    /// The run is over for this node: it `reached` its end, or ends before it for a reason that was set.
    pub(crate) fn finish(&mut self, rounds: u32, model: &[f32], reason: &str, reached: bool) {
        if !self.done {
            (self.done, self.reached) = (true, reached);
            let model = crate::Digest::of(model);
            self.log(RunEvent::Finished { rounds, model, reason: reason.into() });
            self.outputs.push(Output::Done);
        }
    }
}

/// A queue that gives its memory back when it is empty: a simulation has a million of them.
#[derive(Default)]
pub(crate) struct Outputs(VecDeque<Output>);

impl Outputs {
    /// Room for what a node of a few neighbours says at once: growing step by step would copy it twice.
    const AT_FIRST: usize = 8;

    pub(crate) fn push(&mut self, output: Output) {
        if self.0.capacity() == 0 {
            self.0.reserve(Self::AT_FIRST);
        }
        self.0.push_back(output);
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Output> {
        let next = self.0.pop_front();
        if next.is_none() && self.0.capacity() > 0 {
            self.0 = VecDeque::new();
        }
        next
    }
}

/// The parameters after one step of the optimiser against the mean contribution, penalty included; in the gradient's memory.
pub(crate) fn stepped(
    settings: &Settings,
    round: u32,
    params: &[f32],
    mut gradient: Vec<f32>,
    optimiser: &mut dyn learn::optimiser::Optimiser,
) -> Vec<f32> {
    let penalty = settings.step.penalty as f32;
    if penalty != 0.0 {
        gradient.iter_mut().zip(params).for_each(|(gradient, param)| *gradient += penalty * param);
    }
    optimiser.step_into(params, &mut gradient, settings.step.sizes.at(u64::from(round)));
    gradient
}

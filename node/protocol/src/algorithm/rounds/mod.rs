//! DP-SGD in rounds that end in exact consensus (`rounds`).
//!
//! Each round every member contributes a noised gradient, recursive doubling over a fresh public order gives all members the same sum, and all
//! take the same step: the digests of their models agree. Messages carry the digest of the model that the round started from.
//!
//! Whatever goes wrong (a silent peer, a differing digest, a malformed sum) ends the round for those who notice, and an
//! [assembly](crate::agreement) decides who is there and from which model to go on. Partial sums of a broken round are dropped everywhere, and
//! its contributions are charged as if everybody had seen them. Nodes that come back are taken in at a round boundary. The end is decided too: that
//! decision certifies the result.
//!
//! Invariants: a contribution starts from a model that the whole roster holds; nobody contributes twice to one round number; no model is taken on
//! one member's word; at most one finished round is unsettled, and it counts in full against the budget until the next one proves that all members
//! agreed.

mod agreeing;
mod carried;
pub(crate) mod danger;
mod ending;
mod exchange;
mod fold;
mod halving;
pub(crate) mod leverage;
mod looking;
mod machine;
pub(crate) mod masks;
mod meeting;
mod members;
mod messages;
mod model;
mod objections;
mod plan;
pub(crate) mod proved;
mod reserving;
mod returning;
pub(crate) mod robust;
mod say;
mod settings;
mod slow;
mod trace;
mod turns;

use std::sync::Arc;

use crate::agreement::TroubleKind;
use crate::algorithm::Algorithm;
use crate::contribution::Contribution;
use crate::core::Core;
use crate::message::Body;
use crate::node::Snapshot;
use crate::settings::Settings;
use crate::time::Patience;
use crate::work::{Computed, Given, Job};
use crate::{PeerIx, Time};

use agreeing::Agreeing;
use carried::Carried;
pub use danger::Tongue;
use exchange::{Asked, Early, Exchange, Sent};
pub(crate) use fold::RoundsFold;
use leverage::Leverages;
use looking::Looking;
use masks::Wearing;
pub use masks::{Bared, Flaw, Hidden, Lie, Looks, MaskKey, MaskSecret, MaskSettings, Masks, inspection};
use model::SharedModel;
pub use model::first_model;
use reserving::Reserving;
pub(crate) use robust::{MOST_MEMBERS as MOST_ROBUST_MEMBERS, MOST_PARAMETERS as MOST_ROBUST_PARAMETERS};
pub use robust::{Robust, Said, What};
pub use say::{Agreed, KeyTold, Say, Sum};
pub use settings::RoundsSettings;
use trace::Trace;

pub(crate) struct Rounds {
    model: SharedModel,
    epoch: u32,
    members: Arc<[PeerIx]>,
    /// Who must not be partners, and before which round.
    apart: Arc<[(PeerIx, PeerIx, u32)]>,
    round: u32,
    /// The next round.
    next_round: u32,
    /// The first round that this node has not begun in any epoch: it contributes to no earlier one.
    unused: u32,
    /// The first round that was not finished.
    unfinished: u32,
    /// When the round that is under way began.
    began: Time,
    phase: Phase,
    contribution: Contribution,
    slow: slow::Slow,
    /// The round of a contribution that was recorded in the round that is under way.
    released: Option<u32>,
    settling: Option<Settling>,
    early: Early,
    asked: Asked,
    sent: Sent,
    trace: Trace,
    /// Rounds in the open.
    robust: robust::State,
    agreeing: Agreeing,
    reserving: Reserving,
    came_back: bool,
    /// Masks, where the driver gave some.
    wearing: Option<Wearing>,
    looking: Looking,
    /// What it adds to its words from some time on, in tests and simulations.
    lies: Option<(Lie, Time)>,
}

enum Phase {
    /// Before the start.
    Waiting,
    /// It came back, and asks what the others hold of it.
    Recalling,
    /// Keys of members are not known yet.
    Meeting(Patience),
    /// The contribution is being computed or recorded.
    Contributing,
    Exchanging(Box<Exchange>),
    /// Contributions are told to all.
    Hearing(Patience),
    /// Roster and model are being agreed on; who has no seat asks for one.
    Assembling,
    /// The model of the decision is not here.
    Fetching {
        from: PeerIx,
        patience: Patience,
    },
    Over,
}

/// A finished round whose consensus is not proved yet.
struct Settling {
    members: Arc<[PeerIx]>,
    leverages: Leverages,
}

impl Rounds {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            model: SharedModel::first(settings),
            epoch: 0,
            members: if rounds_settings(settings).late {
                Arc::new([])
            } else {
                (0..settings.nodes as PeerIx).collect()
            },
            apart: Arc::new([]),
            round: 0,
            next_round: 0,
            unused: 0,
            unfinished: 0,
            began: Time(0),
            phase: Phase::Waiting,
            contribution: Contribution::None,
            slow: slow::Slow::default(),
            released: None,
            settling: None,
            early: Early::default(),
            asked: Asked::default(),
            sent: Sent::default(),
            trace: Trace::default(),
            robust: robust::State::default(),
            agreeing: Agreeing::default(),
            reserving: Reserving::default(),
            came_back: false,
            wearing: None,
            looking: Looking::default(),
            lies: None,
        }
    }

    fn on_start(&mut self, core: &mut Core) {
        if core.settings.algorithm.is_masked() && self.wearing.is_none() {
            return self.end(core, "there are no masks for masked rounds", false);
        }
        if self.came_back && self.machine(core).is_over() {
            let wanted = self.machine(core).decision().model;
            self.take_model(core, wanted);
        } else if self.came_back {
            if core.settings.certify {
                self.recall(core, true);
            } else {
                self.call_assembly(core, "this node came back", None);
            }
        } else if self.first_seats_are_decided(core) {
            self.recall(core, false);
            self.call_assembly(core, "the run begins", None);
        } else if (self.has_coins(core) || rounds_settings(&core.settings).proved.is_some())
            && core.settings.certify
        {
            // The first decision fixes everybody's coins, or keys.
            self.introduce(core, false);
            self.call_assembly(core, "the run begins", None);
        } else {
            self.introduce(core, false);
            self.log_streams(core);
            self.start_round(core);
        }
    }

    /// Whether the first assembly seats who came.
    fn first_seats_are_decided(&mut self, core: &Core) -> bool {
        if rounds_settings(&core.settings).late {
            self.credentials(core);
        }
        self.agreeing.credentials.as_ref().is_some_and(|it| it.charter.terms().seats.is_empty())
    }

    /// The next round, or the end.
    fn start_round(&mut self, core: &mut Core) {
        let rounds = core.settings.rounds;
        if self.model.version() >= rounds {
            return self.conclude(core);
        }
        if self.agreeing.leaving {
            return self.call_assembly(core, "this node leaves", None);
        }
        if self.next_round >= settings::most_numbers(rounds) {
            return self.end(core, "too many rounds were broken", false);
        }
        if !self.has_keys(core) {
            return;
        }
        if self.may_have_begun(core) {
            return self.call_assembly(core, "this node may have been in the round before", None);
        }
        self.round = self.next_round;
        self.next_round += 1;
        self.began = core.now;
        self.early.forget_before(self.round, self.epoch);
        self.sent.forget_before(self.round.saturating_sub(1));
        core.forgive();
        // Under masks everybody adds noise of its own in every round of every epoch.
        let fresh = self.round >= self.unused || core.settings.algorithm.is_masked();
        self.unused = self.unused.max(self.next_round);
        debug_assert!(self.round < self.unused, "a number that was begun is never begun as a new one");
        self.save(core);
        self.reserve_ahead(core);
        if core.settings.certify {
            self.trace.begin(self.round);
        }
        self.phase = Phase::Contributing;
        self.on_place(core);
        if !matches!(self.phase, Phase::Contributing) {
            return;
        }
        if fresh {
            self.begin_contribution(core);
        } else {
            self.add_nothing(core);
        }
    }

    /// All rounds are done here: that is decided too, and the decision proves the result.
    fn conclude(&mut self, core: &mut Core) {
        if core.settings.certify {
            self.call_assembly(core, "all rounds are done", None);
        } else {
            self.end(core, "all rounds are done", true);
        }
    }

    fn add_nothing(&mut self, core: &mut Core) {
        let nothing = vec![0.0; self.model.params().len()];
        self.exchange(core, Carried::Reals(nothing), 0);
    }

    fn begin_contribution(&mut self, core: &mut Core) {
        if self.contribution.is_recording() {
            return; // That of a broken round; its record must be answered first.
        }
        let settings = core.settings.clone();
        let drawn = settings.algorithm.drawn(&settings.key, self.round, self.members.len());
        let is_drawn = |member: &PeerIx| match &drawn {
            Some(drawn) => self.members.binary_search(member).is_ok_and(|at| drawn[at]),
            None => true,
        };
        if !is_drawn(&core.me) {
            // Under masks its noise is counted on all the same.
            return self.add_no_data(core);
        }
        let among = match &drawn {
            Some(_) => self.members.iter().copied().filter(is_drawn).collect(),
            None => self.members.clone(),
        };
        if !self.may_record(core) {
            return; // Until a quorum holds the reserve.
        }
        if self.is_late(core) {
            return;
        }
        let pending = u32::from(self.settling.is_some());
        let job = Job { among: Some(among), ..Job::new(self.round, self.model.given()) };
        if let Some(hidden) = core.settings.algorithm.hidden(self.members.len()) {
            return self.begin_hidden(core, job, hidden);
        }
        if self.rests(core) {
            return;
        }
        if !self.contribution.begin(core, job, pending) {
            // What is spent does not come back.
            let for_good = pending == 0;
            self.rest_before(core, if for_good { u32::MAX } else { self.round.saturating_add(1) });
            self.add_nothing(core);
        }
    }

    fn job(&self) -> Job {
        Job { among: Some(self.members.clone()), ..Job::new(self.round, self.model.given()) }
    }

    fn on_recorded(&mut self, core: &mut Core, id: u64) {
        self.reserves_are_durable(core, id);
        if self.on_look_recorded(core, id) {
            return;
        }
        let Some((round, values)) = self.contribution.on_recorded(core, id, (0, 0)) else { return };
        let contributing = matches!(self.phase, Phase::Contributing);
        let masked = core.settings.algorithm.is_masked();
        if contributing && round == self.round {
            // What masks hide was charged when it was recorded.
            self.released = (!masked).then_some(round);
            self.give(core, values, true);
        } else {
            // Its round was broken meanwhile. It was not sent, but it is on record.
            if !masked {
                core.budget.charge_in_full();
            }
            if contributing {
                self.begin_contribution(core);
            }
        }
    }

    /// A contribution goes into the round; masked where it is words.
    fn give(&mut self, core: &mut Core, given: Given, has_data: bool) {
        debug_assert!(!self.contribution.is_recording(), "what is sent is on record");
        let noisy = match given {
            Given::Reals(values) => return self.exchange(core, Carried::Reals(values.into_values()), 1),
            Given::Words(noisy) if rounds_settings(&core.settings).proved.is_some() => {
                return self.prove(core, noisy, has_data);
            }
            Given::Words(noisy) => noisy,
        };
        let place = (self.round, self.model.digest());
        let settings = core.settings.clone();
        let masked = settings.mechanism.words().zip(self.wearing.as_ref());
        let masked = masked.and_then(|(on, worn)| worn.put_on(noisy, has_data, place, &on.mechanism));
        match masked {
            // How many added data is under the masks too.
            Some((mut words, mut opening)) => {
                self.lie(core, &mut words, &mut opening);
                self.trace.masked(opening);
                self.exchange(core, Carried::Words(words), 0);
            }
            None => self.call_assembly(core, "there is no mask for this roster", None),
        }
    }

    fn on_computed(&mut self, core: &mut Core, computed: Computed) {
        self.is_free_again(&computed);
        let Some(noise) = self.contribution.on_computed(core, computed) else { return };
        if matches!(self.phase, Phase::Contributing) {
            self.give(core, noise, false);
        }
    }

    fn on_tick(&mut self, core: &mut Core) {
        self.agreement_tick(core);
        self.reserving_tick(core);
        match &mut self.phase {
            Phase::Contributing => self.contributing_tick(core),
            Phase::Waiting | Phase::Over => {}
            Phase::Recalling if core.now >= self.agreeing.ends => {
                let missing = self.machine(core).not_recalled();
                self.on_missing(core, missing);
                self.give_up(core);
            }
            Phase::Recalling => {}
            Phase::Meeting(_) => self.meeting_tick(core),
            Phase::Hearing(_) => self.hearing_tick(core),
            Phase::Exchanging(exchange) => {
                let Some((peer, patience)) = &mut exchange.waiting else { return };
                let peer = *peer;
                if core.now >= patience.until {
                    return self.call_about(core, "a peer is silent", TroubleKind::Silent, peer);
                }
                if core.now >= patience.again {
                    patience.again = core.now.after(core.settings.timeouts.resend);
                    self.asked.ask(peer, self.round);
                    core.tell(peer, (self.round, exchange.step()), Body::Nudge);
                }
            }
            Phase::Assembling if core.now >= self.agreeing.ends => self.give_up(core),
            Phase::Assembling => {}
            Phase::Fetching { .. } => self.fetch_tick(core),
        }
    }

    /// The end, by decision, or before it for a reason that was set.
    fn end(&mut self, core: &mut Core, reason: &str, reached: bool) {
        self.phase = Phase::Over;
        self.save(core);
        core.finish(self.model.version(), self.model.params(), reason, reached);
    }

    /// A round boundary, or a vote: what must survive a crash.
    fn save(&mut self, core: &mut Core) {
        if let Some(machine) = self.agreeing.machine.as_ref().filter(|_| core.saves) {
            self.reserving.company = machine.company();
        }
        let reserves = self.reserving.on_save(core.next_record);
        // A record that was asked for is among `records` below, so whoever comes back does not charge it again: it is charged here.
        // What masks hide is charged with its record.
        let recording = self.contribution.is_recording() && !core.settings.algorithm.is_masked();
        let pending =
            u32::from(self.settling.is_some()) + u32::from(self.released.is_some()) + u32::from(recording);
        core.save(|core| Snapshot {
            epoch: self.epoch,
            members: self.members.to_vec(),
            round: self.round.max(self.unused.saturating_sub(1)),
            version: self.model.version(),
            model: self.model.encoded(),
            records: core.next_record,
            spent: core.budget.saved(pending),
            before: self.model.before().cloned(),
            agreement: self.agreeing.memory.clone(),
            reserves,
        });
    }
}

fn rounds_settings(settings: &Settings) -> &RoundsSettings {
    let Algorithm::Rounds(rounds) = &settings.algorithm else {
        unreachable!("the machine is chosen by the algorithm")
    };
    rounds
}

/// How long to wait for a message from now on.
fn patience(core: &Core) -> Patience {
    let timeouts = &core.settings.timeouts;
    Patience {
        again: core.now.after(timeouts.resend),
        until: core.now.after(timeouts.silence),
        latest: core.now.after(timeouts.latest()),
    }
}

//! A token carries the model along a random walk; each holder adds a noisy step.
//!
//! A token of T hops has holders at hops 0, 1, …, T, each of which contributes once: T + 1 contributions. Where the kernel leaves it at the same
//! node, that node holds it again at the next hop. The path is drawn by public randomness (`path`). A refused contribution passes the token on
//! unchanged. Optimisers with memory keep it at the node: a token carries parameters only.
//!
//! **Custody.** Call the holder of hop k h_k. The receiver answers `TokenHere`, at once; until then the sender repeats the same bytes. When h_{k+1} has
//! the token, h_k tells h_{k−1} `TokenSafe`, which then forgets its copy; so there are two copies, or one and the holder who makes the next step.
//! A receiver that is silent for `silence` is given up: the token goes to another one under the next generation. A holder that hears no
//! `TokenSafe` for three times that asks by sending the token of that hop again.
//!
//! Invariants: what is sent was recorded, or refused, before; a token that is not newer than the last one seen (generation first, then hop) is
//! answered and not used, so a repeated message never makes a second contribution. After a restart two tokens may live for a while: the one of
//! the lower generation ends where it meets the trace of the higher. Each of their contributions has a record of its own.
//!
//! Copies are on disk before the token is sent, with what has gone on from here (`kept`): a node that comes back offers them again, the same bytes, and
//! takes a token that it held and had not passed on as a new one. So a token survives whatever crashes, while its last two holders come back.
//!
//! A token whose only holder is gone for good before it passed it on once is lost.

mod custody;
mod fold;
mod kept;
mod notice;
mod passing;
mod path;
mod plan;
mod renewing;
mod say;
mod settings;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use learn::optimiser::Optimiser;

use self::custody::{Copy, Held, Origin};
pub(crate) use self::fold::WalkFold;
use self::kept::Kept;
use self::notice::Notice;
use self::passing::tell_origin;
use self::renewing::Renewing;
pub use self::say::{Name, Say};
pub use self::settings::WalkSettings;
pub(crate) use self::settings::hops;
use crate::agreement::Credentials;
use crate::algorithm::{Algorithm, Machine};
use crate::contribution::Contribution;
use crate::core::{Core, stepped};
use crate::event::{FaultKind, RunEvent};
use crate::message::{Body, Message};
use crate::node::{Disk, Input, Snapshot};
use crate::numbers::Numbers;
use crate::settings::Settings;
use crate::values::Values;
use crate::work::{Computed, Job};
use crate::{PeerIx, Time, plausible};

/// The state machine: any number of tokens, one contribution at a time.
pub(crate) struct Walk {
    started: bool,
    /// Came back with a state of an earlier version, which does not say what became of its tokens: it starts none.
    forgetful: bool,
    model: Values,
    hop: u32,
    /// The token whose contribution is being made.
    current: Option<Held>,
    /// Whether it has been overtaken meanwhile: its contribution is not used.
    stale: bool,
    contribution: Contribution,
    queue: VecDeque<Held>,
    copies: Vec<Copy>,
    /// The newest generation and hop of each token that went on from here.
    passed: BTreeMap<u32, (u32, u32)>,
    /// The newest generation and hop of each token.
    seen: BTreeMap<u32, (u32, u32)>,
    /// The newest generation and hop at which a peer is known to have held a token, by token and peer.
    held_by: BTreeMap<(u32, PeerIx), (u32, u32)>,
    /// How often tokens that had gone on from here were answered again.
    answered: BTreeMap<Name, u32>,
    over: BTreeSet<u32>,
    notices: Vec<Notice>,
    renewing: Renewing,
    optimiser: Box<dyn Optimiser>,
    largest_squared: f64,
}

impl Walk {
    pub(crate) fn new(settings: &Settings) -> Self {
        let optimiser = settings.step.optimiser.build(settings.initial.len());
        Self {
            started: false,
            forgetful: false,
            model: settings.initial.clone(),
            hop: 0,
            current: None,
            stale: false,
            contribution: Contribution::None,
            queue: VecDeque::new(),
            copies: Vec::new(),
            passed: BTreeMap::new(),
            seen: BTreeMap::new(),
            held_by: BTreeMap::new(),
            answered: BTreeMap::new(),
            over: BTreeSet::new(),
            notices: Vec::new(),
            renewing: Renewing::default(),
            optimiser: optimiser.expect("the optimiser of the settings was checked"),
            largest_squared: plausible::largest_model(settings, f64::from(settings.rounds) + 1.0).powi(2),
        }
    }

    fn on_start(&mut self, core: &mut Core) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        self.recall_decisions(core);
        self.offer_again(core);
        let tokens = 0..walk_settings(&core.settings).starts.len() as u32;
        tokens.for_each(|token| self.renewing.held(token, core.now));
        let starts = walk_settings(&core.settings).starts.iter().enumerate();
        let mine: Vec<u32> =
            starts.filter(|(_, start)| **start == core.me).map(|(token, _)| token as u32).collect();
        let gone =
            |token: &u32| self.forgetful || self.passed.contains_key(token) || self.over.contains(token);
        let mine: Vec<u32> = mine.into_iter().filter(|token| !gone(token)).collect();
        for token in mine {
            let values = core.settings.initial.clone();
            self.hold(core, Held { token, hop: 0, generation: 0, values, origin: None }, core.me);
        }
    }

    fn on_message(&mut self, core: &mut Core, from: PeerIx, message: Message) {
        let Body::Walk(say) = message.body else {
            return core.fault(from, FaultKind::WrongKind, message.round);
        };
        self.renewing.heard_from(from);
        if say.token().is_some_and(|token| token as usize >= walk_settings(&core.settings).starts.len()) {
            return core.fault(from, FaultKind::WrongRound, message.round);
        }
        match (say, message.numbers.and_then(Numbers::into_reals)) {
            (Say::Token(Name { token, hop, generation }), Some(values)) => {
                let origin = Some(Origin { peer: from, hop, generation });
                self.on_token(core, from, Held { token, hop, generation, values, origin });
            }
            (Say::Token(_), None) => core.fault(from, FaultKind::WrongKind, message.round),
            (Say::Here(name), _) => self.on_here(core, from, name),
            (Say::Safe(name), _) => self.on_safe(core, from, name),
            (Say::Over { token }, _) => self.on_over(core, from, token),
            (Say::Agreement(said), _) => self.on_agreement(core, from, &said),
        }
    }

    fn on_token(&mut self, core: &mut Core, from: PeerIx, held: Held) {
        let Held { token, hop, generation, .. } = held;
        let fault = if hop == 0 || hop > core.settings.rounds {
            FaultKind::WrongRound
        } else if walk_settings(&core.settings).kernel.weight(from as usize, core.me as usize) == 0.0 {
            FaultKind::WrongSender
        } else if self.largest_squared.is_finite() && held.values.squared_norm() > self.largest_squared {
            FaultKind::TooLarge
        } else if self.over.contains(&token) || self.seen.get(&token) >= Some(&(generation, hop)) {
            return self.answer_again(core, from, &held);
        } else if core.accused.contains(&from) {
            // Who sent what nobody honest sends is not believed any more; it gives the token to somebody else, or others do.
            return;
        } else if !self.admits(core, from, held.name()) {
            return;
        } else {
            core.tell(from, (hop, 0), Say::Here(held.name()));
            self.was_held_by(from, token, (generation, hop - 1));
            return self.hold(core, held, from);
        };
        core.fault(from, fault, hop);
    }

    /// A new token is here, from outside or by staying.
    fn hold(&mut self, core: &mut Core, held: Held, from: PeerIx) {
        let Held { token, hop, generation, .. } = held;
        let seen = self.seen.insert(token, (generation, hop));
        debug_assert!(seen < Some((generation, hop)), "a token only goes forward: {seen:?}, then hop {hop}");
        self.renewing.held(token, core.now);
        self.forget(core, token);
        core.forgive();
        core.log(RunEvent::Held { token, hop, generation, from });
        self.queue.push_back(held);
    }

    /// Whatever is here of this token has been overtaken.
    fn forget(&mut self, core: &mut Core, token: u32) {
        self.stale |= self.current.as_ref().is_some_and(|held| held.token == token);
        self.queue.retain(|held| held.token != token);
        let (gone, kept) = std::mem::take(&mut self.copies).into_iter().partition(|c| c.sent.token == token);
        self.copies = kept;
        let gone: Vec<Copy> = gone;
        gone.iter().filter(|copy| !copy.confirmed).for_each(|copy| tell_origin(core, &copy.sent));
    }

    /// Starts the next contribution, if none is being made.
    fn work(&mut self, core: &mut Core) {
        while self.current.is_none()
            && let Some(held) = self.queue.pop_front()
        {
            if self.contribution.begin(core, Job::new(held.hop, held.values.clone()), 0) {
                self.stale = false;
                self.current = Some(held);
            } else {
                self.pass_on(core, held);
            }
        }
    }

    fn on_computed(&mut self, core: &mut Core, computed: Computed) {
        if self.stale && matches!(self.contribution, Contribution::Computing { .. }) {
            // Nothing was recorded and nothing will be sent.
            self.contribution = Contribution::None;
            self.current = None;
        } else {
            self.contribution.on_computed(core, computed);
        }
    }

    fn on_recorded(&mut self, core: &mut Core, id: u64) {
        let label = self.current.as_ref().map_or((0, 0), |held| (held.token, held.generation));
        let Some((hop, gradient)) = self.contribution.on_recorded(core, id, label) else { return };
        // The next holder sees the contribution as it is.
        core.budget.charge_in_full();
        let Some(gradient) = gradient.into_reals() else { return };
        let Some(mut held) = self.current.take().filter(|_| !self.stale) else { return };
        let (params, gradient) = (held.values.as_slice(), gradient.into_values());
        let next = Values::derived(stepped(&core.settings, hop, params, gradient, &mut *self.optimiser));
        // A step that overflowed would be refused by everybody.
        if next.is_finite() {
            held.values = next;
        }
        self.pass_on(core, held);
    }

    fn pass_on(&mut self, core: &mut Core, held: Held) {
        self.model = held.values.clone();
        self.hop = held.hop;
        if held.hop >= core.settings.rounds {
            tell_origin(core, &held);
            self.end_token(core, held.token);
            self.save(core);
            self.notices.push(Notice::new(core, held.token));
        } else {
            self.offer(core, held, None);
        }
    }

    /// Keeps everything that is needed to come back.
    fn save(&self, core: &mut Core) {
        // A record that was asked for is among `records` below, so whoever comes back does not charge it again: it is charged here.
        let recording = u32::from(self.contribution.is_recording());
        core.save(|core| {
            let copies = self.copies.iter().map(|copy| (&copy.sent, copy.to, copy.confirmed));
            let last = &self.renewing.last;
            let (members, model) = Kept::written((&self.passed, &self.over, last), copies, &self.model);
            Snapshot {
                epoch: 0,
                members,
                round: self.hop,
                version: self.hop + 1,
                model,
                records: core.next_record,
                spent: core.budget.saved(recording),
                before: None,
                agreement: self.renewing.memory.clone(),
                reserves: Default::default(),
            }
        });
    }

    fn on_over(&mut self, core: &mut Core, from: PeerIx, token: u32) {
        if core.tolerates(from, core.settings.rounds) {
            let hop = aware(core);
            core.tell(from, (hop, 0), Say::Safe(Name { token, hop, generation: 0 }));
        }
        self.end_token(core, token);
    }

    fn end_token(&mut self, core: &mut Core, token: u32) {
        if self.over.insert(token) {
            self.forget(core, token);
        }
        if self.over.len() == walk_settings(&core.settings).starts.len() {
            core.finish(self.hop, self.model.as_slice(), "all tokens made their last hop", true);
        }
    }
}

impl Machine for Walk {
    /// Takes over the model, and the tokens that went on from here. One that was here is with the holder before, who will send it again.
    fn restore(&mut self, settings: &Settings, snapshot: &Snapshot) {
        self.hop = snapshot.round;
        self.renewing.memory.clone_from(&snapshot.agreement);
        self.renewing.returned = true;
        let Some((kept, model)) = Kept::read(&snapshot.members, &snapshot.model, settings.initial.len())
        else {
            self.forgetful = snapshot.version > 0;
            if snapshot.model.len() == self.model.len() {
                self.model = snapshot.model.clone();
            }
            return;
        };
        self.model = model;
        self.seen.clone_from(&kept.passed);
        (self.passed, self.over, self.renewing.last) = (kept.passed, kept.over, kept.last);
        self.copies = kept.copies.into_iter().map(Copy::restored).collect();
    }

    fn handle(&mut self, core: &mut Core, input: Input) {
        match input {
            Input::Start => self.on_start(core),
            Input::Received { from, message } => self.on_message(core, from, message),
            Input::Computed(computed) => self.on_computed(core, computed),
            Input::Recorded(id) => self.on_recorded(core, id),
            Input::Tick => self.renewing_tick(core),
            Input::Leave => core.finish(self.hop, self.model.as_slice(), "this node left", false),
        }
        self.on_time(core);
        self.work(core);
        self.renewing.lost = self.lost_at(core);
    }

    fn enroll(&mut self, credentials: Credentials) {
        self.renewing.credentials = Some(credentials);
    }

    fn found(&mut self, disk: Disk) {
        self.renewing.is_old = disk == Disk::Old;
    }

    fn wake_at(&self) -> Option<Time> {
        let copies = self.copies.iter().map(Copy::wake_at);
        let notices = self.notices.iter().map(Notice::wake_at);
        copies.chain(notices).chain(self.renewing_wake_at()).min()
    }

    fn model(&self) -> &[f32] {
        self.model.as_slice()
    }

    fn round(&self) -> u32 {
        self.hop
    }
}

/// The hop, behind the last, with which a node answers that it knows of the end.
fn aware(core: &Core) -> u32 {
    core.settings.rounds.saturating_add(1)
}

fn walk_settings(settings: &Settings) -> &WalkSettings {
    let Algorithm::Walk(walk) = &settings.algorithm else {
        unreachable!("the machine is chosen by the algorithm")
    };
    walk
}

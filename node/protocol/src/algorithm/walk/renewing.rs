//! Tokens that were lost go on by decision.
//!
//! Where some member may be hostile a token has the generation that was decided, so nobody renews one alone: a holder that gets no answer calls an assembly, and so does who has
//! not held a token for so long that it must be lost. A lone call stops nobody that has held the token lately. Everybody states the newest copy of each token
//! that went on from it, which is on its disk, or the public first model; who has stated one adds nothing under that generation. The decision opens the next
//! at the (f + 1)-th largest hop, from the copy of who stated it.
//!
//! # Guarantee
//! With at most f hostile members a token goes on from a hop that is no later than one that an honest member states, if these are a quorum. Every contribution has
//! its record, so that a token in two places costs accuracy and nothing else.
//! # Assumes
//! Nothing about what the copy holds: whoever has a model may replace it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::custody::Held;
use super::{Name, Notice, Say, Walk, walk_settings};
use crate::agreement::{
    Agreement, Ask, Credentials, Decision, Fault, Fingerprint, Input, Memory, Message, Model, Output,
    Standing, TokenCopy, TokenStart,
};
use crate::algorithm::traffic::Traffic;
use crate::core::Core;
use crate::event::{FaultKind, RunEvent};
use crate::recipients::Recipients;
use crate::rounds::Agreed;
use crate::{PeerIx, Time};

/// A call of others is joined by who has not held a token for so many times `silence`.
const QUIET: u64 = 2;
/// And by everybody after so many, or who called would wait for ever.
const HEEDED: u64 = 8;

/// One member's part in the agreement on tokens; made when the first is lost.
#[derive(Default)]
pub(super) struct Renewing {
    pub(super) credentials: Option<Credentials>,
    pub(super) memory: Option<Arc<Memory>>,
    machine: Option<Box<Agreement>>,
    traffic: Traffic,
    /// The newest copy of each token that went on from here, by its own hop.
    pub(super) last: BTreeMap<u32, Held>,
    /// The generation of each token that was decided.
    decided: BTreeMap<u32, u32>,
    /// When each token was here last, or was renewed.
    held_at: BTreeMap<u32, Time>,
    /// Who had no seat, and was not heard since.
    absent: BTreeSet<PeerIx>,
    /// Since when somebody calls.
    called: Option<Time>,
    missing: Vec<PeerIx>,
    /// When the next token counts as lost.
    pub(super) lost: Option<Time>,
    /// It comes back.
    pub(super) returned: bool,
    /// The disk is an old copy: what was signed may be forgotten.
    pub(super) is_old: bool,
}

impl Renewing {
    pub(super) fn is_absent(&self, peer: PeerIx) -> bool {
        self.absent.contains(&peer)
    }

    pub(super) fn heard_from(&mut self, peer: PeerIx) {
        self.absent.remove(&peer);
    }

    /// The token is here.
    pub(super) fn held(&mut self, token: u32, now: Time) {
        self.held_at.insert(token, now);
    }

    /// Whether this node has said where it stands, and waits for the decision.
    pub(super) fn is_sealed(&self) -> bool {
        self.machine.as_ref().is_some_and(|machine| machine.is_assembling())
    }
}

/// Whether a holder that gets no answer may renew its token alone.
pub(super) fn may_renew_alone(core: &Core) -> bool {
    core.settings.hostile == 0
}

impl Walk {
    fn agreement(&mut self, core: &Core) -> &mut Agreement {
        let Renewing { credentials, memory, machine, is_old, .. } = &mut self.renewing;
        let (settings, walk) = (&core.settings, walk_settings(&core.settings));
        machine.get_or_insert_with(|| {
            let known = credentials.get_or_insert_with(|| {
                Credentials::danger_from_seed(settings, walk.charter(settings), core.me)
            });
            let fresh = Agreement::new(known.charter.clone(), known.keys.clone(), core.me);
            let back = match memory {
                Some(memory) => fresh.restored((**memory).clone()),
                None => fresh,
            };
            Box::new(if *is_old { back.mute() } else { back })
        })
    }

    /// After a restart: what was decided before, and what meanwhile; who hears the question knows that this node is back.
    pub(super) fn recall_decisions(&mut self, core: &mut Core) {
        if !self.renewing.returned {
            return;
        }
        let mut epoch = 0;
        if self.renewing.memory.is_some() {
            let decision = self.agreement(core).decision().clone();
            epoch = decision.epoch;
            self.learn(core, &decision);
        }
        core.tell(others(core), (0, 0), agreed(Message::Ask(Ask::Decided(epoch))));
        self.drain_agreement(core);
    }

    /// What the last decision says of generations and absence.
    fn learn(&mut self, core: &Core, decision: &Decision) {
        let decided = decision.tokens.iter().map(|start| (start.token, start.generation));
        self.renewing.decided.extend(decided);
        let is_absent = |peer: &PeerIx| *peer != core.me && decision.epoch > 0 && !decision.has_seat(*peer);
        self.renewing.absent = (0..core.settings.nodes as PeerIx).filter(is_absent).collect();
    }

    /// Whether a token of this name may be taken; if not, who is behind is told.
    pub(super) fn admits(&mut self, core: &mut Core, from: PeerIx, name: Name) -> bool {
        if self.renewing.is_sealed() {
            return false;
        }
        if may_renew_alone(core) {
            return true;
        }
        let decided = self.renewing.decided.get(&name.token).copied().unwrap_or(0);
        if name.generation == decided {
            return true;
        }
        if core.tolerates(from, name.hop) {
            let epoch = self.agreement(core).decision().epoch;
            let said = if name.generation > decided {
                Message::Ask(Ask::Decided(epoch))
            } else {
                Message::Decided(self.agreement(core).certificate().clone())
            };
            core.tell(from, (0, 0), agreed(said));
        }
        false
    }

    /// Asks for an assembly: from now on this node adds nothing under the generations that it states.
    pub(super) fn seek(&mut self, core: &mut Core) {
        if core.done || self.renewing.is_sealed() {
            return;
        }
        // What is being made is recorded, if it is, and goes nowhere.
        self.stale |= self.current.is_some();
        self.queue.clear();
        let standing = self.standing(core);
        self.agree(core, Input::Call(Box::new(standing)));
    }

    fn standing(&mut self, core: &Core) -> Standing {
        let model = Model { version: 0, digest: self.agreement(core).charter().terms().model };
        let first = Fingerprint::of_model(core.settings.initial.as_slice());
        let tokens = 0..walk_settings(&core.settings).starts.len() as u32;
        let copy = |token: u32| match self.renewing.last.get(&token) {
            Some(held) => {
                let Held { generation, hop, .. } = *held;
                TokenCopy { token, generation, hop, digest: stands_for(held, core.me) }
            }
            // Everybody has the public first model.
            None => TokenCopy { token, generation: 0, hop: 0, digest: first },
        };
        let (rounds, proofs) = (Vec::new(), Vec::new());
        let tokens = tokens.filter(|token| !self.over.contains(token)).map(copy).collect();
        Standing {
            key: [0; 32],
            model,
            before: None,
            next_round: 0,
            rounds,
            tokens,
            look: None,
            proofs,
            leaving: false,
        }
    }

    pub(super) fn on_agreement(&mut self, core: &mut Core, from: PeerIx, said: &Agreed) {
        if self.renewing.traffic.is_flood(core, from) {
            return;
        }
        let next = self.agreement(core).decision().epoch.saturating_add(1);
        if matches!(&*said.0, Message::Standing(standing) if standing.place().epoch == next) {
            self.renewing.called.get_or_insert(core.now);
            // Who looks for a token that has ended is told so.
            let over: Vec<u32> = self.over.iter().copied().collect();
            over.into_iter()
                .for_each(|token| core.tell(from, (core.settings.rounds, 0), Say::Over { token }));
        }
        self.agree(core, Input::Received { from, message: (*said.0).clone() });
    }

    fn agree(&mut self, core: &mut Core, input: Input) {
        let now = core.now;
        self.agreement(core).handle(now, input);
        self.drain_agreement(core);
    }

    fn drain_agreement(&mut self, core: &mut Core) {
        while let Some(output) = self.renewing.machine.as_mut().and_then(|machine| machine.poll_output()) {
            match output {
                Output::Persist(memory) => {
                    self.renewing.memory = Some(Arc::from(memory));
                    self.save(core);
                }
                Output::Send { to, message } => core.tell(to, (0, 0), agreed(message)),
                Output::SendAll(message) => {
                    core.tell(others(core), (0, 0), agreed(message));
                }
                Output::Call { .. } => self.seek(core),
                Output::Decided(decided) => self.renew(core, &decided.decision),
                Output::Fault { member, fault } => {
                    let kind =
                        if fault == Fault::Proven { FaultKind::Proven } else { FaultKind::BadSignature };
                    core.fault(member, kind, 0);
                }
                Output::Missing(missing) if missing != self.renewing.missing => {
                    self.renewing.missing.clone_from(&missing);
                    core.log(RunEvent::Waiting { missing });
                }
                // Only rounds have boundaries, and members that reserve their records.
                Output::Missing(_)
                | Output::Knocked(_)
                | Output::Boundary(_)
                | Output::KeepReserve(_)
                | Output::Reserved(_) => {}
            }
        }
    }

    /// Tokens go on where the decision says.
    fn renew(&mut self, core: &mut Core, decision: &Decision) {
        self.learn(core, decision);
        self.renewing.called = None;
        self.renewing.missing.clear();
        for start in &decision.tokens {
            self.renewing.held(start.token, core.now);
            if self.over.contains(&start.token) {
                self.notices.push(Notice::new(core, start.token));
                continue;
            }
            self.forget(core, start.token);
            self.seen.insert(start.token, (start.generation, start.hop));
            if start.holder == core.me {
                self.go_on(core, *start);
            }
        }
        self.save(core);
    }

    /// My copy is the one from which a token goes on.
    fn go_on(&mut self, core: &mut Core, start: TokenStart) {
        let TokenStart { token, generation, hop, digest, .. } = start;
        let kept = self.renewing.last.get(&token);
        let copy_of = kept.map(|held| held.generation);
        let (at, stated, values) = match kept {
            Some(held) => (held.hop, stands_for(held, core.me), held.values.clone()),
            None => {
                let first = core.settings.initial.clone();
                (0, Fingerprint::of_model(first.as_slice()), first)
            }
        };
        if at == hop && stated == digest {
            core.log(RunEvent::TokenRestarted { token, hop, generation, copy_of });
            self.offer(core, Held { token, hop, generation, values, origin: None }, None);
        }
    }

    pub(super) fn renewing_tick(&mut self, core: &mut Core) {
        let due = self.renewing.machine.as_ref().and_then(|machine| machine.wake_at());
        if due.is_some_and(|due| core.now >= due) {
            self.agree(core, Input::Tick);
        }
        if self.lost_at(core).is_some_and(|lost| core.now >= lost) {
            self.seek(core);
        }
    }

    /// When a token that has not been here by then is looked for.
    pub(super) fn lost_at(&self, core: &Core) -> Option<Time> {
        if core.done || !self.started || self.renewing.is_sealed() {
            return None;
        }
        let silence = core.settings.timeouts.silence;
        let times = if self.renewing.called.is_some() { QUIET } else { core.settings.nodes as u64 };
        let patience = silence.saturating_mul(times.max(QUIET));
        let copies = self.copies.iter().map(|copy| &copy.sent);
        let here = |token: u32| {
            self.current.iter().chain(&self.queue).chain(copies.clone()).any(|held| held.token == token)
        };
        let tokens = 0..walk_settings(&core.settings).starts.len() as u32;
        let lost = tokens.filter(|token| !self.over.contains(token) && !here(*token));
        let quiet = lost.map(|token| self.renewing.held_at.get(&token).copied().unwrap_or_default());
        let heeded = self.renewing.called.map(|since| since.after(silence.saturating_mul(HEEDED)));
        quiet.map(|since| since.after(patience)).chain(heeded).min()
    }

    pub(super) fn renewing_wake_at(&self) -> Option<Time> {
        let machine = self.renewing.machine.as_ref().and_then(|machine| machine.wake_at());
        machine.into_iter().chain(self.renewing.lost).min()
    }
}

/// What a copy is stated by: its name. With a digest of its numbers everybody could check a guess of them, though it was never offered the token.
fn stands_for(held: &Held, holder: PeerIx) -> Fingerprint {
    let Name { token, hop, generation } = held.name();
    Fingerprint::of("murmur token copy 1", &[token, generation, hop, holder].map(u32::to_le_bytes).concat())
}

fn others(core: &Core) -> Recipients {
    (0..core.settings.nodes as PeerIx).filter(|&peer| peer != core.me).collect()
}

fn agreed(message: Message) -> Say {
    Say::Agreement(Agreed(Arc::new(message)))
}

//! Passing a token on, reliably: offers, answers, guarded copies and restarts.
//!
//! Invariant: what is sent again is the same bytes, so it costs nothing; a token goes to somebody else only under a new generation.

use super::custody::{Copy, Held, Origin, Stage};
use super::path::{self, Move};
use super::renewing::may_renew_alone;
use super::{Name, Notice, Say, Walk, aware, walk_settings};
use crate::PeerIx;
use crate::core::Core;
use crate::event::{FaultKind, RunEvent};
use crate::time::Patience;

/// A holder that hears nothing of a token that it passed on asks after so many times `silence`.
const GUARDED: u64 = 3;

/// A receiver that answers, but from which the token never goes on, is asked so often and then avoided.
const MOST_ASKED: u32 = 3;

/// Answers that may be lost on the way. An honest sender stops at either of the two messages of an answer: with a fifth of all messages lost it is
/// taken for one that replays once in 16,000 tokens; that is logged and excludes nobody.
const ANSWERED_IN_VAIN: u32 = 3;

/// Tokens whose answers are counted at a time.
const MOST_ANSWERED: usize = 64;

/// Who held a token again so many hops later has forgotten its older copy, and none of the network's repetitions is that late.
const HOPS_AFTER: u32 = 4;

impl Walk {
    /// Sends a token to its next holder.
    pub(super) fn offer(&mut self, core: &mut Core, held: Held, avoided: Option<PeerIx>) {
        let at = Move { token: held.token, generation: held.generation, hop: held.hop };
        let kernel = &walk_settings(&core.settings).kernel;
        let is_avoided = |peer: PeerIx| {
            Some(peer) == avoided || core.accused.contains(&peer) || self.renewing.is_absent(peer)
        };
        let to = path::next_holder(kernel, &core.settings.key, at, core.me, is_avoided);
        self.passed.insert(held.token, (held.generation, held.hop));
        self.renewing.last.insert(held.token, Held { origin: None, ..held.clone() });
        let sent = Held { hop: held.hop + 1, ..held };
        if to == core.me {
            return self.hold(core, sent, core.me);
        }
        let copy = Copy { sent, to, stage: offered(core), confirmed: false, asked: 0 };
        // In the log before it is sent: from here on `to` counts as having seen it. What is sent again is the same bytes.
        let Name { token, hop, generation } = copy.sent.name();
        core.log(RunEvent::Offered { token, hop, generation, to });
        self.copies.push(copy);
        // On disk before anybody has it: then it cannot be lost.
        self.save(core);
        if let Some(copy) = self.copies.last() {
            copy.send(core);
        }
    }

    /// After a restart: what had been sent may have been lost, and tokens that ended may still be waited for.
    pub(super) fn offer_again(&mut self, core: &mut Core) {
        for copy in &mut self.copies {
            copy.stage = offered(core);
            copy.send(core);
        }
        let over: Vec<u32> = self.over.iter().copied().collect();
        self.notices.extend(over.into_iter().map(|token| Notice::new(core, token)));
    }

    /// A token that is not new: it is answered, for the answer may have been lost, and not used.
    pub(super) fn answer_again(&mut self, core: &mut Core, from: PeerIx, again: &Held) {
        let (name, origin) = (again.name(), again.origin);
        let Name { token, hop, .. } = name;
        if !core.tolerates(from, hop) {
            return;
        }
        core.tell(from, (hop, 0), Say::Here(name));
        let held = self.queue.iter().chain(self.current.iter().filter(|_| !self.stale));
        let offered = self.copies.iter().filter(|copy| !copy.confirmed).map(|copy| &copy.sent);
        let is_here = held.chain(offered).any(|held| held.token == token && held.origin == origin);
        if !is_here {
            core.tell(from, (hop, 0), Say::Safe(name));
            if self.is_replay(from, name) {
                core.fault(from, FaultKind::Replay, hop);
            }
        }
        if self.over.contains(&token) {
            core.tell(from, (hop, 0), Say::Over { token });
        }
    }

    /// Whether there is no honest reason to send a token that went on from here: the sender has held it since, or was told so several times.
    fn is_replay(&mut self, from: PeerIx, name: Name) -> bool {
        if self.answered.len() >= MOST_ANSWERED {
            self.answered.clear();
        }
        let answers = self.answered.entry(name).or_insert(0);
        *answers = answers.saturating_add(1);
        let Name { token, hop, generation } = name;
        let newest = self.held_by.get(&(token, from)).copied().unwrap_or_default();
        *answers > ANSWERED_IN_VAIN || newest >= (generation, hop.saturating_add(HOPS_AFTER))
    }

    /// Remembers that a peer held a token; who holds it again forgets older copies.
    pub(super) fn was_held_by(&mut self, peer: PeerIx, token: u32, at: (u32, u32)) {
        let newest = self.held_by.entry((token, peer)).or_insert(at);
        *newest = at.max(*newest);
    }

    /// The receiver has the token: the holder before may forget its copy.
    pub(super) fn on_here(&mut self, core: &mut Core, from: PeerIx, name: Name) {
        let Some(copy) = self.copies.iter_mut().find(|copy| copy.is(name, from)) else {
            core.tolerates(from, name.hop);
            return;
        };
        if matches!(copy.stage, Stage::Offered(_)) {
            let until = core.now.after(core.settings.timeouts.silence.saturating_mul(GUARDED));
            copy.stage = Stage::Guarded { until };
        }
        if !std::mem::replace(&mut copy.confirmed, true) {
            tell_origin(core, &copy.sent);
        }
        self.was_held_by(from, name.token, (name.generation, name.hop));
    }

    /// The token is safe beyond its receiver: the copy may go.
    pub(super) fn on_safe(&mut self, core: &mut Core, from: PeerIx, name: Name) {
        if name.hop == aware(core) {
            self.notices.iter_mut().for_each(|notice| notice.on_aware(name.token, from));
        } else if let Some(at) = self.copies.iter().position(|copy| copy.is(name, from)) {
            let copy = self.copies.remove(at);
            // Or it would be offered again after a restart, long after.
            self.save(core);
            if !copy.confirmed {
                tell_origin(core, &copy.sent);
            }
        } else {
            core.tolerates(from, name.hop);
        }
    }

    pub(super) fn on_time(&mut self, core: &mut Core) {
        let alone = may_renew_alone(core);
        let mut lost = false;
        for mut copy in std::mem::take(&mut self.copies) {
            if copy.wake_at() > core.now {
                self.copies.push(copy);
                continue;
            }
            copy.stage = match copy.stage {
                Stage::Offered(patience) if core.now >= patience.until => {
                    if alone {
                        self.restart(core, copy);
                        continue;
                    }
                    lost = true;
                    offered(core)
                }
                Stage::Offered(patience) => Stage::Offered(Patience {
                    again: core.now.after(core.settings.timeouts.resend),
                    ..patience
                }),
                // It says that it has the token, and nobody ever gets it from there.
                Stage::Guarded { .. } if copy.asked >= MOST_ASKED => {
                    core.accused.insert(copy.to);
                    if alone {
                        self.restart(core, copy);
                        continue;
                    }
                    lost = true;
                    offered(core)
                }
                Stage::Guarded { .. } => {
                    copy.asked += 1;
                    offered(core)
                }
            };
            copy.send(core);
            self.copies.push(copy);
        }
        if lost {
            self.seek(core);
        }
        self.notices.iter_mut().for_each(|notice| notice.on_tick(core));
        self.notices.retain(|notice| notice.is_needed(core.now));
    }

    /// The receiver does not answer: the token goes on from the copy, to somebody else, under a new generation.
    fn restart(&mut self, core: &mut Core, copy: Copy) {
        let newest = self.seen.get(&copy.sent.token).map_or(0, |seen| seen.0);
        let generation = copy.sent.generation.max(newest).saturating_add(1);
        let copy_of = Some(copy.sent.generation);
        let held = Held { hop: copy.sent.hop - 1, generation, ..copy.sent };
        let Held { token, hop, .. } = held;
        self.seen.insert(token, (generation, hop));
        core.log(RunEvent::TokenRestarted { token, hop, generation, copy_of });
        self.offer(core, held, Some(copy.to));
    }
}

fn offered(core: &Core) -> Stage {
    let timeouts = core.settings.timeouts;
    Stage::Offered(Patience {
        again: core.now.after(timeouts.resend),
        until: core.now.after(timeouts.silence),
        latest: core.now.after(timeouts.silence),
    })
}

/// The copy of the last other holder is no longer needed.
pub(super) fn tell_origin(core: &mut Core, held: &Held) {
    if let Some(Origin { peer, hop, generation }) = held.origin {
        core.tell(peer, (hop, 0), Say::Safe(Name { token: held.token, hop, generation }));
    }
}

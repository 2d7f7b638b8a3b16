//! The turns of an exchange: what is sent, what is waited for, and what is taken in.

use super::carried::Carried;
use super::exchange::{Exchange, Heard, Leg, Turn};
use super::{Lie, Phase, Rounds, Say, Sum, patience, rounds_settings};
use crate::PeerIx;
use crate::agreement::TroubleKind;
use crate::core::Core;
use crate::message::{Body, Message};
use crate::values::Values;

impl Rounds {
    /// Begins to add up, with what this member gives.
    pub(super) fn exchange(&mut self, core: &mut Core, sum: Carried, count: u32) {
        let sum = match (sum, rounds_settings(&core.settings).robust) {
            (Carried::Reals(contribution), Some(_)) => {
                return self.open(core, Values::derived(contribution).into(), count);
            }
            (sum, _) => sum,
        };
        let Ok(position) = self.members.binary_search(&core.me) else {
            return self.call_assembly(core, "this node has no seat", None);
        };
        let place = (self.round, &self.members, &*self.apart);
        let settings = core.settings.clone();
        let rounds = rounds_settings(&settings);
        let meetings = rounds.meetings(&settings.key, place);
        let halves = rounds.halves(settings.initial.len(), self.members.len());
        let exchange = Exchange { meetings, halves, position, turn: 0, sum, count, waiting: None };
        self.phase = Phase::Exchanging(Box::new(exchange));
        self.advance(core);
    }

    /// Goes on as far as what was heard allows.
    pub(super) fn advance(&mut self, core: &mut Core) {
        loop {
            let Phase::Exchanging(exchange) = &self.phase else { return };
            let Some(turn) = exchange.turn() else { return self.finish_round(core) };
            if exchange.waiting.is_none() {
                self.speak(core, &turn);
            }
            if !self.listen(core, turn) {
                return;
            }
        }
    }

    /// Sends what this turn asks for.
    fn speak(&mut self, core: &mut Core, turn: &Turn) {
        let (Phase::Exchanging(exchange), Some(leg)) = (&self.phase, &turn.gives) else { return };
        let Leg { step, partner, part } = leg.clone();
        let to = self.members[partner];
        let (epoch, start) = (self.epoch, self.model.digest());
        let (place, count) = ((self.round, step), exchange.count);
        let numbers = exchange.sum.numbers(part);
        let reach = exchange.reach(leg);
        let signature = self.signature(place, to, (count, &numbers, reach));
        let said = Box::new(Sum { epoch, count, start, signature });
        let heard = Heard { said: said.clone(), numbers: numbers.clone() };
        if core.settings.certify {
            self.trace.sent(step, to, (&heard, reach));
        }
        self.sent.keep(place, to, heard);
        core.send(to, place, Say::Sum(said), numbers);
    }

    /// Takes in what this turn waits for; `false` if it is not there yet or the round broke.
    fn listen(&mut self, core: &mut Core, turn: Turn) -> bool {
        let Phase::Exchanging(exchange) = &mut self.phase else { return false };
        let Some((leg, how)) = turn.takes else {
            exchange.turn += 1;
            return true;
        };
        let from = self.members[leg.partner];
        let Some(heard) = self.early.take((self.round, leg.step, from)) else {
            if exchange.waiting.is_none() {
                exchange.waiting = Some((from, patience(core)));
                self.on_place(core);
            }
            return false;
        };
        // What cannot be shown to be the partner's is not stated: it would be a proof against who states it.
        let reach = exchange.reach(&leg);
        let signed = self.is_signed(core.me, (self.round, leg.step), from, (&heard, reach));
        if core.settings.certify && signed {
            self.trace.heard(leg.step, from, (&heard, reach), how);
        }
        if let Some((kind, reason)) = self.objection(core, (&heard, signed), &leg) {
            if core.settings.certify && signed && kind == TroubleKind::Malformed && self.signs(self.round) {
                self.trace.show(&heard);
            }
            self.call_about(core, reason, kind, from);
            return false;
        }
        let lie = self.lies.filter(|(_, from)| core.now >= *from).map(|(lie, _)| lie);
        let Phase::Exchanging(exchange) = &mut self.phase else { return false };
        exchange.take((&leg, how), &heard);
        exchange.waiting = None;
        if let (Some(Lie::ChangedSum), Carried::Words(sum)) = (lie, &mut exchange.sum)
            && exchange.turn == 1
        {
            Lie::ChangedSum.change(sum, 0);
        }
        exchange.turn += 1;
        true
    }

    /// What came from whom I wait for, and cannot be taken: shown, where it is signed.
    pub(super) fn hear_refused(&mut self, core: &Core, from: PeerIx, message: Message) {
        let Phase::Exchanging(exchange) = &self.phase else { return };
        let Some((leg, how)) = exchange.turn().and_then(|turn| turn.takes) else { return };
        let (Body::Rounds(Say::Sum(said)), Some(numbers)) = (message.body, message.numbers) else { return };
        let is_awaited = (message.round, message.step) == (self.round, leg.step) && said.epoch == self.epoch;
        let (heard, reach) = (Heard { said, numbers }, exchange.reach(&leg));
        let signed = self.is_signed(core.me, (self.round, leg.step), from, (&heard, reach));
        if is_awaited && signed && core.settings.certify && self.signs(self.round) {
            self.trace.heard(leg.step, from, (&heard, reach), how);
            self.trace.show(&heard);
        }
    }
}

//! One round of recursive doubling, or [halving](super::halving), by messages: who is heard next, what was sent, what came early.
//!
//! Invariant: a node carries the sum of what reached it and adds in the order of the turns, so that all members end with the same bits.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use topology::schedule::{Plan, Role};

use super::Sum;
use super::carried::Carried;
use super::halving::Halving;
use super::masks::CHECK_WORDS;
use crate::PeerIx;
use crate::numbers::Numbers;
use crate::time::Patience;

/// The exchange of one round, as far as it has come.
pub(super) struct Exchange {
    pub(super) meetings: Meetings,
    /// Whether parts are added up and gathered, instead of whole vectors added.
    pub(super) halves: bool,
    /// My position in the roster.
    pub(super) position: usize,
    pub(super) turn: usize,
    pub(super) sum: Carried,
    pub(super) count: u32,
    /// Whom I wait for, and how long.
    pub(super) waiting: Option<(PeerIx, Patience)>,
}

/// Who meets whom in a round.
#[derive(Debug, Clone)]
pub(super) struct Meetings {
    pub(super) plan: Arc<Plan>,
    /// The position of each member in the order of the round.
    pub(super) positions: Arc<[u32]>,
}

/// One message of an exchange: its number, the other member, and which words are in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Leg {
    pub(super) step: u32,
    pub(super) partner: usize,
    pub(super) part: Range<usize>,
}

/// Where in the whole vector a sum belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reach {
    /// Where its words begin.
    pub(super) start: u32,
    /// Whether its last words are those of the whole vector: the zeros of masked words.
    pub(super) ends: bool,
}

impl Reach {
    /// The whole vector.
    pub(super) const WHOLE: Self = Self { start: 0, ends: true };
}

/// What is done with numbers that are heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// They are added to those that I hold.
    Adds,
    /// They are the total, instead of mine.
    Replaces,
    /// They go before those that I have given.
    GoesBefore,
    /// They go behind those that I have given.
    GoesBehind,
}

/// What a member does in one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) gives: Option<Leg>,
    pub(super) takes: Option<(Leg, How)>,
}

impl Turn {
    /// Nothing.
    pub(super) const IDLE: Self = Self { gives: None, takes: None };

    /// With whole vectors.
    pub(super) fn of_role(role: Role, step: u32, whole: Range<usize>) -> Self {
        let leg = |partner| Leg { step, partner, part: whole.clone() };
        let how = if let Role::Adopt(_) = role { How::Replaces } else { How::Adds };
        let gives = match role {
            Role::SendTo(partner) | Role::Exchange(partner) | Role::GiveTo(partner) => Some(leg(partner)),
            Role::Idle | Role::ReceiveFrom(_) | Role::Adopt(_) => None,
        };
        Self { gives, takes: role.hears().map(|partner| (leg(partner), how)) }
    }
}

impl Exchange {
    fn halving(&self) -> Option<Halving<'_>> {
        let Meetings { plan, positions } = &self.meetings;
        self.halves.then(|| Halving { plan, positions, words: self.sum.len(), tail: CHECK_WORDS })
    }

    /// What I do in this turn; `None` after the last.
    pub(super) fn turn(&self) -> Option<Turn> {
        self.turn_at(self.turn)
    }

    fn turn_at(&self, turn: usize) -> Option<Turn> {
        let plan = &self.meetings.plan;
        match self.halving() {
            Some(halving) => (turn < halving.turns()).then(|| halving.turn(turn, self.position)),
            None => (turn < plan.steps())
                .then(|| Turn::of_role(plan.role(turn, self.position), turn as u32, 0..self.sum.len())),
        }
    }

    /// Where the words of a message belong.
    pub(super) fn reach(&self, leg: &Leg) -> Reach {
        Reach { start: leg.part.start as u32, ends: leg.part.end == self.sum.len() }
    }

    /// The number under which I wait for something in this turn.
    pub(super) fn step(&self) -> u32 {
        let takes = self.turn().and_then(|turn| turn.takes);
        takes.map_or(self.turn as u32, |(leg, _)| leg.step)
    }

    /// The member from whom something with this number is for me.
    pub(super) fn speaker(&self, step: u32) -> Option<usize> {
        let turn = self.halving().map_or(step as usize, |halving| halving.turn_of(step as usize));
        let (leg, _) = self.turn_at(turn)?.takes?;
        (leg.step == step).then_some(leg.partner)
    }

    /// Takes in what the partner of this turn sent.
    pub(super) fn take(&mut self, (leg, how): (&Leg, How), heard: &Heard) {
        debug_assert_eq!(heard.numbers.len(), leg.part.len(), "what is taken in was checked");
        if how == How::Adds {
            self.sum.add(leg.part.clone(), &heard.numbers);
            self.count = self.count.saturating_add(heard.said.count);
        } else {
            self.sum.adopt(leg.part.clone(), &heard.numbers);
            self.count = heard.said.count;
        }
    }

    /// The most inputs that a message of this turn may stand for. How many are in words is under the masks.
    pub(super) fn largest_count(&self, partner: usize) -> u32 {
        match &self.sum {
            Carried::Reals(_) => self.meetings.plan.inputs_held(self.turn, partner) as u32,
            Carried::Words(_) => 0,
        }
    }
}

/// So many sums of one member are kept that came before they were needed, and so many vectors: who is honest is in this round or the next, and meets another once in each, or
/// twice with halves. What is not kept is asked for again.
const MOST_EARLY: (usize, usize) = (4, 2);

/// A sum on its way, with what is said about it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Heard {
    pub(super) said: Box<Sum>,
    pub(super) numbers: Numbers,
}

/// Sums that came before they were needed; bounded for each sender, so that nobody takes the room of others.
#[derive(Default)]
pub(super) struct Early(BTreeMap<(u32, u32, PeerIx), Heard>);

/// What keeping a message came to.
pub(super) enum Kept {
    Yes,
    /// The same message again.
    Again,
    /// Another message for the same place.
    Contradicts,
    /// Its sender has no room left.
    TooMany,
}

impl Early {
    /// Keeps a message unless there are as many of its sender already as it has reason to send; `room` is the length of a vector, none for what is used at once.
    pub(super) fn keep(&mut self, place: (u32, u32, PeerIx), heard: Heard, room: Option<usize>) -> Kept {
        match self.0.get(&place) {
            Some(before) if *before == heard => Kept::Again,
            Some(_) => Kept::Contradicts,
            None if room.is_some_and(|whole| !self.has_room(place.2, heard.numbers.len(), whole)) => {
                Kept::TooMany
            }
            None => {
                self.0.insert(place, heard);
                Kept::Yes
            }
        }
    }

    fn has_room(&self, of: PeerIx, more: usize, whole: usize) -> bool {
        let kept = self.0.iter().filter(|((_, _, from), _)| *from == of);
        let (count, numbers) =
            kept.fold((1, more), |(count, sum), (_, heard)| (count + 1, sum + heard.numbers.len()));
        count <= MOST_EARLY.0 && numbers <= MOST_EARLY.1 * whole
    }

    pub(super) fn take(&mut self, place: (u32, u32, PeerIx)) -> Option<Heard> {
        self.0.remove(&place)
    }

    /// Forgets rounds before `round` and other epochs.
    pub(super) fn forget_before(&mut self, round: u32, epoch: u32) {
        self.0.retain(|&(of, _, _), heard| of >= round && heard.said.epoch == epoch);
    }
}

/// Of whom sums of which rounds were asked for again: each of them may come twice, and the second however late. Bounded.
#[derive(Default)]
pub(super) struct Asked(BTreeSet<(PeerIx, u32)>);

impl Asked {
    /// For so many rounds it is remembered.
    const FOR: u32 = 1024;

    pub(super) fn ask(&mut self, of: PeerIx, round: u32) {
        self.0.retain(|&(_, asked)| asked.saturating_add(Self::FOR) >= round);
        self.0.insert((of, round));
    }

    pub(super) fn has(&self, of: PeerIx, round: u32) -> bool {
        self.0.contains(&(of, round))
    }
}

/// Messages of this round and the one before, to be sent again on request.
#[derive(Default)]
pub(super) struct Sent(BTreeMap<(u32, u32), (PeerIx, Heard)>);

impl Sent {
    pub(super) fn keep(&mut self, place: (u32, u32), to: PeerIx, sum: Heard) {
        self.0.insert(place, (to, sum));
    }

    /// What was sent to `to` in that round and step.
    pub(super) fn to(&self, place: (u32, u32), to: PeerIx) -> Option<&Heard> {
        self.0.get(&place).filter(|(receiver, _)| *receiver == to).map(|(_, sum)| sum)
    }

    pub(super) fn forget_before(&mut self, round: u32) {
        self.0 = self.0.split_off(&(round, 0));
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

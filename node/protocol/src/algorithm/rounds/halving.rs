//! Exchange by halving: every member adds up one part of the vectors, then the parts are gathered.
//!
//! Partners are those of doubling. Where two meet on the way in, each gives the other the half that it does not keep and adds what it gets to the half that it
//! keeps: after K meetings a member of the core has the total of one of 2^K parts. On the way back, in the opposite order, two partners give each other what they
//! have, until all have everything: 2d(1 − 2^−K) words a member instead of d·K. Extras give their vector to a proxy first, and get the total from it, as in
//! doubling. Recursive halving and doubling: Thakur, Rabenseifner, Gropp (2005), "Optimization of collective communication operations in MPICH".
//!
//! Words add up modulo 2³² or 2⁶⁴, so the total has the same bits as that of doubling. For masked words only: whoever adds up a part has everybody's words of it,
//! and without masks a first partner has half of a contribution as it is.
//!
//! *Numbers of steps.* On the way in the two messages of a meeting are about different words, so each has a number of its own, the one of the partner who keeps
//! the lower half first. What is stated of a round then says of no step on the way in both what was sent and what was heard, and partners are held to the
//! same result only where they have one ([`agreement`](crate::agreement), blame).

use std::ops::Range;

use topology::schedule::{Plan, Role};

use super::exchange::{How, Leg, Turn};

/// The exchange of one round for so many words.
pub(super) struct Halving<'a> {
    pub(super) plan: &'a Plan,
    /// The position of each member in the order of the round.
    pub(super) positions: &'a [u32],
    pub(super) words: usize,
    /// So many words at the end stay together: those that show whether a total is whole.
    pub(super) tail: usize,
}

/// What happens in a turn: folding in, a meeting in some dimension on the way in or back, or folding out.
enum Stage {
    Fold,
    Reduce(usize),
    Gather(usize),
}

impl Halving<'_> {
    /// 1 where extras fold in before and out after.
    fn folds(&self) -> usize {
        usize::from(self.plan.extras() > 0)
    }

    /// K.
    fn dimensions(&self) -> usize {
        self.plan.steps() - 2 * self.folds()
    }

    /// How many turns a round has.
    pub(super) fn turns(&self) -> usize {
        2 * (self.dimensions() + self.folds())
    }

    fn stage(&self, turn: usize) -> Stage {
        let (folds, dimensions) = (self.folds(), self.dimensions());
        match turn.checked_sub(folds) {
            Some(at) if at < dimensions => Stage::Reduce(at),
            Some(at) if at < 2 * dimensions => Stage::Gather(2 * dimensions - 1 - at),
            None | Some(_) => Stage::Fold,
        }
    }

    /// The turn to which a number of a step belongs.
    pub(super) fn turn_of(&self, step: usize) -> usize {
        let (folds, dimensions) = (self.folds(), self.dimensions());
        match step.checked_sub(folds) {
            None => 0,
            Some(at) if at < 2 * dimensions => folds + at / 2,
            Some(at) => folds + at - dimensions,
        }
    }

    /// What a member does in a turn.
    pub(super) fn turn(&self, turn: usize, member: usize) -> Turn {
        let (folds, dimensions) = (self.folds(), self.dimensions());
        match self.stage(turn) {
            // Turns and steps of the plan begin alike; the last are those of folding out.
            Stage::Fold => {
                let first = turn < folds;
                let step = if first { 0 } else { turn + dimensions };
                let role = self.plan.role(if first { 0 } else { self.plan.steps() - 1 }, member);
                Turn::of_role(role, step as u32, 0..self.words)
            }
            Stage::Reduce(dimension) => {
                let Some((partner, own, theirs)) = self.meeting(dimension, member) else { return Turn::IDLE };
                let is_upper = usize::from(own.start > theirs.start);
                let step = |upper: usize| (folds + 2 * dimension + upper) as u32;
                Turn {
                    gives: Some(Leg { step: step(is_upper), partner, part: theirs }),
                    takes: Some((Leg { step: step(1 - is_upper), partner, part: own }, How::Adds)),
                }
            }
            Stage::Gather(dimension) => {
                let Some((partner, own, theirs)) = self.meeting(dimension, member) else { return Turn::IDLE };
                let step = (turn + dimensions) as u32;
                let how = if theirs.start < own.start { How::GoesBefore } else { How::GoesBehind };
                Turn {
                    gives: Some(Leg { step, partner, part: own }),
                    takes: Some((Leg { step, partner, part: theirs }, how)),
                }
            }
        }
    }

    /// Whom a member of the core meets in a dimension, and the halves that the two are in charge of beyond it.
    fn meeting(&self, dimension: usize, member: usize) -> Option<(usize, Range<usize>, Range<usize>)> {
        let Role::Exchange(partner) = self.plan.role(self.folds() + dimension, member) else { return None };
        Some((partner, self.part(member, dimension + 1), self.part(partner, dimension + 1)))
    }

    /// The words that are a member's after so many meetings on the way in: cut in two at each, by one digit of its position.
    fn part(&self, member: usize, meetings: usize) -> Range<usize> {
        let position = self.positions[member];
        let divided = self.words.saturating_sub(self.tail);
        let part = (0..meetings).fold(0..divided, |part, digit| {
            let middle = part.start + part.len() / 2;
            if position >> digit & 1 == 0 { part.start..middle } else { middle..part.end }
        });
        // They are behind the last of the parts, which is that of whom every digit says so.
        let is_last = (0..meetings).all(|digit| position >> digit & 1 == 1);
        if is_last { part.start..self.words } else { part }
    }
}

#[cfg(test)]
mod tests {
    use topology::schedule::{RunKey, shuffled_order};

    use super::*;

    fn positions(order: &[u32]) -> Vec<u32> {
        let mut positions = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &member)| positions[member as usize] = at as u32);
        positions
    }

    /// Runs a round on vectors of words, message by message; words sent by each member.
    fn played(members: usize, words: usize, tail: usize) -> (Vec<Vec<u32>>, Vec<usize>) {
        let order = shuffled_order(&RunKey::new("halving"), members as u64, members);
        let (plan, positions) = (Plan::with_order(order.clone()).unwrap(), positions(&order));
        let halving = Halving { plan: &plan, positions: &positions, words, tail };
        let input =
            |member: usize, at: usize| (member as u32 + 1).wrapping_mul(0x9e37_79b9) ^ (at as u32 * 77);
        let mut held: Vec<Vec<u32>> =
            (0..members).map(|member| (0..words).map(|at| input(member, at)).collect()).collect();
        let mut sent = vec![0; members];
        for turn in 0..halving.turns() {
            let before = held.clone();
            for (member, mine) in held.iter_mut().enumerate() {
                let Some((leg, how)) = halving.turn(turn, member).takes else { continue };
                let given = halving.turn(turn, leg.partner).gives.expect("who is waited for gives");
                assert_eq!((given.step, given.partner, &given.part), (leg.step, member, &leg.part));
                assert_eq!(halving.turn_of(leg.step as usize), turn);
                sent[leg.partner] += leg.part.len();
                for at in leg.part {
                    let heard = before[leg.partner][at];
                    mine[at] = if how == How::Adds { mine[at].wrapping_add(heard) } else { heard };
                }
            }
        }
        (held, sent)
    }

    /// The total by plain addition, at every member, for any number of members and words.
    #[test]
    fn everybody_ends_with_the_total() {
        for members in 1..=40 {
            for (words, tail) in [(64, 0), (67, 3), (1000, 4)] {
                let (held, _) = played(members, words, tail);
                let order_free: Vec<u32> = (0..words)
                    .map(|at| {
                        (0..members).fold(0_u32, |sum, member| {
                            let input = (member as u32 + 1).wrapping_mul(0x9e37_79b9) ^ (at as u32 * 77);
                            sum.wrapping_add(input)
                        })
                    })
                    .collect();
                assert!(held.iter().all(|vector| *vector == order_free), "{members} members, {words} words");
            }
        }
    }

    /// By theory: 2d(1 − 1/n) words a member for powers of two; proxies and extras send a vector more at most.
    #[test]
    fn a_member_sends_two_vectors_less_two_parts() {
        for members in [2_usize, 4, 8, 64] {
            let words = 64 * 10;
            let (_, sent) = played(members, words, 0);
            assert!(sent.iter().all(|&sent| sent == 2 * (words - words / members)), "{members}: {sent:?}");
        }
        let (_, sent) = played(11, 640, 0);
        assert!(sent.iter().all(|&sent| sent <= 2 * (640 - 80) + 640), "{sent:?}");
        assert_eq!(sent.iter().filter(|&&sent| sent == 640).count(), 3, "extras give one vector each");
    }

    #[test]
    fn the_words_at_the_end_stay_together() {
        let order: Vec<u32> = (0..16).collect();
        let plan = Plan::with_order(order.clone()).unwrap();
        for words in [4, 5, 19, 36, 100] {
            let halving = Halving { plan: &plan, positions: &order, words, tail: 4 };
            for (member, meetings) in (0..16).flat_map(|member| (0..=4).map(move |at| (member, at))) {
                let part = halving.part(member, meetings);
                assert!(part.end <= words - 4 || (part.start <= words - 4 && part.end == words), "{part:?}");
            }
        }
    }

    /// Steps have their numbers in the order of the turns, and no meeting on the way in gives and takes under one number.
    #[test]
    fn numbers_of_steps_grow_and_are_below_what_a_record_has_room_for() {
        for members in [2_usize, 3, 6, 64, 100, 1000] {
            let order: Vec<u32> = (0..members as u32).collect();
            let plan = Plan::with_order(order.clone()).unwrap();
            let halving = Halving { plan: &plan, positions: &order, words: 4096, tail: 4 };
            for member in 0..members {
                let mut last = None;
                for turn in 0..halving.turns() {
                    let Turn { gives, takes } = halving.turn(turn, member);
                    let adds = takes.as_ref().is_some_and(|(_, how)| *how == How::Adds);
                    let mut steps: Vec<u32> = gives.iter().map(|leg| leg.step).collect();
                    steps.extend(takes.iter().map(|(leg, _)| leg.step));
                    if adds && steps.len() == 2 {
                        assert_ne!(steps[0], steps[1]);
                    }
                    steps.sort_unstable();
                    for step in steps {
                        assert!(last.is_none_or(|last| last <= step) && step < 64);
                        last = Some(step);
                    }
                }
            }
        }
    }
}

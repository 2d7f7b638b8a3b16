//! What can happen in a state, and what must hold in each.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use stateright::{Model as _, Property};

use super::super::super::flaw::{self, Flaw};
use super::super::super::message::Message;
use super::super::super::{Input, Memory};
use super::super::a_model;
use super::{Action, Member, State, Step, Swarm, bits, subsets};

impl stateright::Model for Swarm {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        flaw::set(self.flaw);
        let mut state = State {
            members: vec![None; self.charter.members()],
            turns: BTreeSet::new(),
            proposals: BTreeSet::new(),
            votes: BTreeSet::new(),
            commits: BTreeSet::new(),
            restarts: 0,
        };
        for me in bits(self.honest()) {
            let member = Member { node: self.fresh(me), memory: Memory::default(), away: false };
            state.members[me as usize] = Some(Arc::new(member));
            let call = Box::new(self.standings[me as usize].content().clone());
            self.give(&mut state, me, Input::Call(call));
        }
        vec![self.script.iter().fold(state, |state, step| self.follow(state, *step))]
    }

    fn actions(&self, s: &State, out: &mut Vec<Action>) {
        flaw::set(self.flaw);
        let away = s.members.iter().flatten().filter(|member| member.away).count();
        for member in s.members.iter().flatten().filter(|member| !member.away) {
            let node = &member.node;
            let Some(assembly) = &node.assembly else { continue };
            let (who, view) = (node.me, assembly.view);
            if view == 0 && assembly.turn.is_none() {
                for heard in subsets(self.honest()).filter(|heard| heard >> who & 1 == 1) {
                    let stories = [None, Some(0), Some(1)].into_iter().take(1 + self.stories.len());
                    let enough = |story: &Option<usize>| {
                        heard.count_ones() as usize + usize::from(story.is_some()) >= self.quorum()
                    };
                    let wide = |story: &Option<usize>| !self.narrow || *story == Some(who as usize % 2);
                    if !self.narrow || heard == self.honest() {
                        let stories = stories.filter(enough).filter(wide);
                        out.extend(stories.map(|story| Action::First { who, heard, story }));
                    }
                }
            }
            if view > 0 && assembly.turn.is_none() && view < self.last_view {
                out.push(Action::Turn(who));
            }
            for left in view..self.last_view {
                for (of, hostile) in self.quorums(s, left) {
                    out.push(Action::Enter { who, view: left, of, hostile });
                }
            }
            let late = self.flaw == Some(Flaw::ActsAfterTurn) || self.flaw == Some(Flaw::VotesTwice);
            if view > 0 && ((assembly.vote.is_none() && assembly.turn.is_none()) || late) {
                let honest =
                    s.proposals.iter().filter(|p| p.place().view == view && Some(p.by()) != self.hostile);
                let mut offers: Vec<_> = honest.cloned().collect();
                if Some(node.proposer(view)) == self.hostile {
                    offers = self.offers(s, view, node);
                }
                out.extend(offers.into_iter().map(|what| Action::Propose { who, what }));
            }
            for (place, value) in self.locks(s) {
                let commits = place.view == view && assembly.commit.is_none();
                if commits || place.view > assembly.lock_view() {
                    out.push(Action::Lock { who, place, value });
                }
            }
            if s.restarts < self.restarts && view > 0 {
                out.push(Action::Restart(who));
            }
            if away < self.crashes as usize {
                out.push(Action::Crash(who));
            }
        }
    }

    fn next_state(&self, s: &State, action: Action) -> Option<State> {
        flaw::set(self.flaw);
        let mut next = s.clone();
        match action {
            Action::First { who, heard, story } => {
                let honest = bits(heard).map(|member| &self.standings[member as usize]);
                let story = story.map(|story| &self.stories[story]);
                let all: Vec<_> = honest.chain(story).cloned().collect();
                for standing in all {
                    let from = standing.by();
                    self.give(&mut next, who, Input::Received { from, message: Message::Standing(standing) });
                }
                self.give(&mut next, who, Input::Tick);
            }
            Action::Turn(who) => self.give(&mut next, who, Input::Tick),
            Action::Enter { who, view, of, hostile } => {
                let turns = self.turns(s, view, of, hostile);
                let from = turns.turns.first()?.by();
                self.give(&mut next, who, Input::Received { from, message: Message::Turns(turns) });
            }
            Action::Propose { who, what } => {
                next.proposals.insert(what.clone());
                self.give(
                    &mut next,
                    who,
                    Input::Received { from: what.by(), message: Message::Propose(what) },
                );
            }
            Action::Lock { who, place, value } => {
                let locked = self.locked(s, place, value)?;
                let from = self.charter.proposer(&self.before.electorate, place.epoch, place.view);
                self.give(&mut next, who, Input::Received { from, message: Message::Locked(locked) });
            }
            Action::Restart(who) => {
                next.restarts += 1;
                let member = next.members[who as usize].clone()?;
                let mut memory = member.memory.clone();
                if self.flaw == Some(Flaw::Amnesia) {
                    (memory.vote, memory.commit, memory.locked, memory.turn) = (None, None, None, None);
                }
                let mut node = self.fresh(who).restored(memory.clone());
                node.now = member.node.now;
                next.members[who as usize] = Some(Arc::new(Member { node, memory, away: false }));
            }
            Action::Crash(who) => {
                let member = next.members[who as usize].clone()?;
                next.members[who as usize] = Some(Arc::new(Member { away: true, ..(*member).clone() }));
            }
        }
        (next != *s).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::<Self>::always("agreement", |swarm, s| swarm.decided(s).len() <= 1),
            Property::<Self>::always("validity", |swarm, s| {
                swarm.decided(s).into_iter().all(|value| {
                    let model = Self::value(s, value).model;
                    model == a_model(model.version, model.version as u8) && model.version <= 2
                })
            }),
            Property::<Self>::always("no wrong expulsion", |swarm, s| {
                let first = s.turns.iter().filter(|turn| turn.place().view == 0);
                let heard =
                    first.map(|turn| turn.content().heard.iter().fold(0_u8, |mask, (m, _)| mask | 1 << m));
                let known = heard.fold(swarm.honest(), |all, heard| all & heard);
                let seated = |value| bits(known).all(|member| Self::value(s, value).has_seat(member));
                swarm.decided(s).into_iter().all(seated)
            }),
            Property::<Self>::always("one lock per view", |swarm, s| {
                let locks = swarm.locks(s);
                locks.windows(2).all(|pair| pair[0].0.view != pair[1].0.view)
            }),
            Property::<Self>::always("nobody honest is proved hostile", |swarm, s| {
                let proofs = s.members.iter().flatten().flat_map(|member| member.node.proofs.keys());
                proofs.copied().all(|member| Some(member) == swarm.hostile)
            }),
            Property::<Self>::always("progress", |swarm, s| {
                let mut hash = std::hash::DefaultHasher::new();
                s.hash(&mut hash);
                !hash.finish().is_multiple_of(swarm.sample) || swarm.recovers(s)
            }),
            Property::<Self>::sometimes("decided in view 1", |swarm, s| decided_in(swarm, s, 1)),
            Property::<Self>::sometimes("decided in view 2", |swarm, s| decided_in(swarm, s, 2)),
        ]
    }
}

impl Swarm {
    fn follow(&self, mut state: State, step: Step) -> State {
        let times = if matches!(step, Step::All) { self.honest().count_ones() } else { 1 };
        for _ in 0..times {
            let mut actions = Vec::new();
            self.actions(&state, &mut actions);
            let action = actions.into_iter().find(|action| step.is(action));
            let action = action.unwrap_or_else(|| panic!("the script does not fit at {step:?}: {state:?}"));
            state = self.next_state(&state, action).expect("it changes something");
        }
        state
    }
}

impl Step {
    fn is(self, action: &Action) -> bool {
        match (self, action) {
            (Self::All, Action::First { .. }) => true,
            (Self::Enter(by, turned), Action::Enter { who, of, hostile, .. }) => {
                by == *who && turned == *of && hostile.is_some()
            }
            (Self::Vote(by), Action::Propose { who, .. })
            | (Self::Commit(by), Action::Lock { who, .. })
            | (Self::Turn(by), Action::Turn(who))
            | (Self::Restart(by), Action::Restart(who)) => by == *who,
            _ => false,
        }
    }
}

fn decided_in(swarm: &Swarm, s: &State, view: u32) -> bool {
    let decided = swarm.decided(s);
    s.commits.iter().any(|commit| commit.place.view == view && decided.contains(&commit.value))
}

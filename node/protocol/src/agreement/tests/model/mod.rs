//! The machine as it is built, under a model checker: every order of events in a small swarm, with a member
//! that signs whatever helps it.
//!
//! Honest members are [`Agreement`]s. What they signed stays in a pool, and anybody may receive it or not:
//! loss, delay, repetition and reordering are all "not yet". The hostile member is no machine: wherever its
//! signature helps towards a quorum it is there, with any lock that exists; it tells everybody another story
//! about its model, and where it proposes, it proposes everything that honest members accept. Whoever asks
//! for a standing gets it: not to be answered is the same as not to have been asked.
//!
//! Checked in every state: agreement, validity, no wrong expulsion, one lock per view, nobody honest proved
//! hostile; and in a sample of them progress: if from there on messages flow and the hostile member is
//! silent, all honest members decide, and alike.

mod checks;
mod events;

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::super::decision::{Decision, Seat};
use super::super::flaw::{self, Flaw};
use super::super::justify::Verdict;
use super::super::keys::Kind;
use super::super::message::{Ask, Message, Turns};
use super::super::outcome::outcome;
use super::super::sealed::{Place, Sealed};
use super::super::statements::{Lock, Locked, Propose, Standing, Turn, Voice};
use super::super::{Agreement, Charter, Fingerprint, Input, Memory, Output};
use super::{Net, PlainKeys, SILENCE, a_model, charter_with, standing};
use crate::PeerIx;

/// A swarm to be checked.
#[derive(Clone)]
struct Swarm {
    charter: Arc<Charter>,
    before: Arc<Decision>,
    hostile: Option<PeerIx>,
    /// What honest members say, and the stories of the hostile one.
    standings: Vec<Arc<Sealed<Standing>>>,
    stories: Vec<Arc<Sealed<Standing>>>,
    last_view: u32,
    restarts: u8,
    crashes: u8,
    flaw: Option<Flaw>,
    /// Everybody hears everybody before its first turn, and the hostile member's stories in turn: leaves more
    /// of a bounded search for what follows.
    narrow: bool,
    /// What has happened before the search begins.
    script: &'static [Step],
    /// Progress is tried in one of so many states.
    sample: u64,
}

/// One step of a script: the first action of this kind that there is.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Everybody makes its first turn.
    All,
    /// Enters the view after this one, by turns of these and of the hostile member.
    Enter(PeerIx, u8),
    /// Receives the proposal that is there.
    Vote(PeerIx),
    /// Receives the votes of a quorum.
    Commit(PeerIx),
    Turn(PeerIx),
    Restart(PeerIx),
}

/// An honest member, and what it has on its disk.
#[derive(Clone)]
struct Member {
    node: Agreement,
    memory: Memory,
    away: bool,
}

/// All members, and what the honest ones have signed.
#[derive(Clone)]
struct State {
    members: Vec<Option<Arc<Member>>>,
    turns: BTreeSet<Arc<Sealed<Turn>>>,
    proposals: BTreeSet<Arc<Sealed<Propose>>>,
    votes: BTreeSet<Voice>,
    commits: BTreeSet<Voice>,
    restarts: u8,
}

#[derive(Clone, Debug, PartialEq)]
enum Action {
    /// Hears these members and perhaps a story, and turns for the first time.
    First {
        who: PeerIx,
        heard: u8,
        story: Option<usize>,
    },
    /// The time of its view is up.
    Turn(PeerIx),
    /// Receives turns of honest members, and perhaps one of the hostile, with this lock.
    Enter {
        who: PeerIx,
        view: u32,
        of: u8,
        hostile: Option<Option<Place>>,
    },
    /// Receives a proposal.
    Propose {
        who: PeerIx,
        what: Arc<Sealed<Propose>>,
    },
    /// Receives the votes of a quorum.
    Lock {
        who: PeerIx,
        place: Place,
        value: Fingerprint,
    },
    Restart(PeerIx),
    Crash(PeerIx),
}

impl Member {
    /// What decides how it goes on. Of the turns that opened its view only whether it can still propose by
    /// them.
    fn essence(&self) -> impl Hash + PartialEq {
        let node = &self.node;
        let assembly = node.assembly.as_ref().map(|a| {
            let leads = node.proposer(a.view) == node.me && a.lead.is_none() && a.vote.is_none();
            let lead = a.lead.as_ref().map(|lead| lead.propose.digest());
            let entered = a.entered.clone().filter(|_| leads);
            let turn = a.turn.as_ref().map(|turn| turn.turn.digest());
            (a.view, turn, a.vote, a.commit, a.locked.clone(), lead, entered)
        });
        let proofs: Vec<PeerIx> = node.proofs.keys().copied().collect();
        (assembly, node.standings.named(), proofs, self.away)
    }
}

impl State {
    fn essence(&self) -> impl Hash + PartialEq {
        let members: Vec<_> = self.members.iter().flatten().map(|member| member.essence()).collect();
        let proposals: Vec<Fingerprint> = self.proposals.iter().map(|propose| propose.digest()).collect();
        let turns: Vec<_> =
            self.turns.iter().map(|turn| (turn.by(), turn.place().view, turn.digest())).collect();
        (members, turns, proposals, self.votes.clone(), self.commits.clone(), self.restarts)
    }
}

impl Hash for State {
    fn hash<H: Hasher>(&self, to: &mut H) {
        self.essence().hash(to);
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.essence() == other.essence()
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for member in self.members.iter().flatten() {
            let a = member.node.assembly.as_ref();
            let heard: Vec<PeerIx> = member.node.standings.members().collect();
            let view =
                a.map(|a| (a.view, a.turn.is_some(), a.vote.is_some(), a.commit.is_some(), a.lock_view()));
            writeln!(f, "{}: {view:?} heard {heard:?}", member.node.me)?;
        }
        Ok(())
    }
}

fn bits(mask: u8) -> impl Iterator<Item = PeerIx> {
    (0..8).filter(move |bit| mask >> bit & 1 == 1)
}

fn subsets(of: u8) -> impl Iterator<Item = u8> {
    (0..=of).filter(move |mask| mask & !of == 0)
}

impl Swarm {
    fn new(members: usize, f: u32, hostile: Option<PeerIx>, shift: u32) -> Self {
        let charter = charter_with(members, f);
        let seats = charter.everybody().map(|member| Seat { member, key: [0; 32] }).collect();
        let model = a_model(0, 0);
        // The epoch chooses who proposes first: one in which it is the member that was asked for.
        let first = |epoch: u32| charter.proposer(&charter.genesis().electorate, epoch + 1, 1);
        let epoch = (1..).find(|&epoch| first(epoch) == shift).expect("everybody's turn comes");
        let before = Arc::new(Decision { epoch, seats, model, ..(*charter.genesis()).clone() });
        let place = Place { epoch: epoch + 1, electorate: before.electorate.fingerprint(), view: 0 };
        let seal = |by: PeerIx, content: Standing| {
            Arc::new(Sealed::new(by, place, content, (&*charter, &PlainKeys(by))))
        };
        // The first two finished the round, the others did not.
        let says = |member: PeerIx| {
            let version = if member < 2 { 2 } else { 1 };
            let at = |version: u32| a_model(version, version as u8);
            seal(member, standing(at(version), Some(at(version - 1)), version))
        };
        let standings = charter.everybody().map(says).collect();
        let tales = [standing(a_model(2, 2), Some(a_model(1, 1)), 2), standing(a_model(9, 66), None, 99)];
        let stories = hostile.into_iter().flat_map(|by| tales.clone().map(|tale| seal(by, tale))).collect();
        let (restarts, crashes) = (0, 0);
        Self {
            charter,
            before,
            hostile,
            standings,
            stories,
            last_view: 2,
            restarts,
            crashes,
            flaw: None,
            narrow: false,
            script: &[],
            sample: 512,
        }
    }

    fn honest(&self) -> u8 {
        let all = (1_u8 << self.charter.members()) - 1;
        self.hostile.map_or(all, |hostile| all & !(1 << hostile))
    }

    fn quorum(&self) -> usize {
        flaw::quorum(&self.before.electorate)
    }

    fn enough(&self, honest: u8) -> bool {
        honest.count_ones() as usize + usize::from(self.hostile.is_some()) >= self.quorum()
    }

    fn fresh(&self, me: PeerIx) -> Agreement {
        let mut node = Agreement::new(self.charter.clone(), Arc::new(PlainKeys(me)), me);
        node.decision = self.before.clone();
        node.electorate = self.before.electorate.fingerprint();
        node
    }

    fn place(&self, view: u32) -> Place {
        let electorate = self.before.electorate.fingerprint();
        Place { epoch: self.before.epoch + 1, electorate, view }
    }

    /// Gives a member an input, answers what it asks, and keeps what it signed.
    fn give(&self, s: &mut State, who: PeerIx, input: Input) {
        let Some(member) = &s.members[who as usize] else { return };
        let mut member = (**member).clone();
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            // Later each time, so that questions are not held back.
            let mut now = member.node.now.after(SILENCE);
            if matches!(input, Input::Tick) {
                now = now.max(member.node.assembly.as_ref().map_or(now, |a| a.until));
            }
            member.node.handle(now, input);
            while let Some(output) = member.node.poll_output() {
                let message = match output {
                    Output::Persist(memory) => {
                        member.memory = *memory;
                        continue;
                    }
                    Output::Send { message, .. } | Output::SendAll(message) => message,
                    _ => continue,
                };
                match message {
                    Message::Ask(Ask::Standings(list)) => {
                        let all = self.standings.iter().chain(&self.stories);
                        let asked = all.filter(|s| list.heard.contains(&(s.by(), s.digest())));
                        let answer = |standing: &Arc<Sealed<Standing>>| Input::Received {
                            from: standing.by(),
                            message: Message::Standing(standing.clone()),
                        };
                        inputs.extend(
                            asked
                                .filter(|s| !member.node.standings.has_digest(s.by(), s.digest()))
                                .map(answer),
                        );
                    }
                    Message::Turn(turn) => drop(s.turns.insert(turn.turn)),
                    Message::Propose(propose) => drop(s.proposals.insert(propose)),
                    Message::Vote(vote) => drop(s.votes.insert(vote)),
                    Message::Commit(commit) => drop(s.commits.insert(commit)),
                    _ => {}
                }
            }
            // The proposer's own voice does not leave it.
            if let Some(assembly) = &member.node.assembly {
                s.votes.extend(assembly.vote);
                s.commits.extend(assembly.commit);
            }
        }
        s.members[who as usize] = Some(Arc::new(member));
    }

    fn turned(&self, s: &State, view: u32) -> u8 {
        s.turns.iter().filter(|turn| turn.place().view == view).fold(0, |mask, turn| mask | 1 << turn.by())
    }

    /// Values that a quorum voted for, by view, with the hostile member's vote for each.
    fn locks(&self, s: &State) -> Vec<(Place, Fingerprint)> {
        let places: BTreeSet<(Place, Fingerprint)> =
            s.votes.iter().map(|vote| (vote.place, vote.value)).collect();
        let is_locked = |&(place, value): &(Place, Fingerprint)| {
            let voters = s.votes.iter().filter(|vote| (vote.place, vote.value) == (place, value));
            self.enough(voters.fold(0, |mask, vote| mask | 1 << vote.ballot.by))
        };
        places.into_iter().filter(is_locked).collect()
    }

    fn locked(&self, s: &State, place: Place, value: Fingerprint) -> Option<Arc<Locked>> {
        let mut votes: Vec<_> = s
            .votes
            .iter()
            .filter(|vote| (vote.place, vote.value) == (place, value))
            .map(|vote| vote.ballot)
            .collect();
        if let Some(by) = self.hostile {
            votes.push(Voice::new(Kind::Vote, (place, value), by, (&self.charter, &PlainKeys(by))).ballot);
        }
        votes.sort_unstable();
        votes.dedup_by_key(|vote| vote.by);
        let proposal = s.proposals.iter().find(|propose| propose.content().value.digest() == value)?;
        let lock = Lock { place, value, votes };
        Some(Arc::new(Locked { lock, value: proposal.content().value.clone() }))
    }

    /// Turns of these members, with one of the hostile member, and the newest lock among them.
    fn turns(&self, s: &State, view: u32, of: u8, hostile: Option<Option<Place>>) -> Turns {
        let of_honest = s.turns.iter().filter(|turn| turn.place().view == view && of >> turn.by() & 1 == 1);
        let mut turns: Vec<Arc<Sealed<Turn>>> = of_honest.cloned().collect();
        let locks = self.locks(s);
        if let (Some(by), Some(lock)) = (self.hostile, hostile) {
            let lock = lock.and_then(|place| locks.iter().find(|(at, _)| *at == place));
            let lock = lock.map(|&(place, value)| (place.view, value));
            let heard = vec![(by, self.stories[0].digest())];
            let content = Turn { lock, heard };
            turns.push(Arc::new(Sealed::new(
                by,
                self.place(view),
                content,
                (&*self.charter, &PlainKeys(by)),
            )));
        }
        turns.sort_by_key(|turn| turn.by());
        let newest = turns.iter().filter_map(|turn| turn.content().lock).max();
        let locked = newest.and_then(|(view, value)| self.locked(s, self.place(view), value));
        Turns { turns, locked }
    }

    /// All ways in which a quorum turned away from a view, as far as they differ.
    fn quorums(&self, s: &State, view: u32) -> Vec<(u8, Option<Option<Place>>)> {
        let turned = self.turned(s, view);
        let locks: Vec<Place> =
            self.locks(s).iter().map(|(place, _)| *place).filter(|at| at.view <= view).collect();
        let mut found = Vec::new();
        for of in subsets(turned) {
            if of.count_ones() as usize >= self.quorum() {
                found.push((of, None));
            }
            if self.hostile.is_some() && of.count_ones() as usize + 1 >= self.quorum() {
                found.push((of, Some(None)));
                found.extend(locks.iter().map(|&place| (of, Some(Some(place)))));
            }
        }
        found
    }

    /// Everything that a hostile proposer could propose and this member would accept.
    fn offers(&self, s: &State, view: u32, node: &Agreement) -> Vec<Arc<Sealed<Propose>>> {
        let Some(by) = self.hostile else { return Vec::new() };
        let mut offers = Vec::new();
        for (of, hostile) in self.quorums(s, view - 1) {
            let Turns { turns, locked } = self.turns(s, view - 1, of, hostile);
            let mut push = |value: Arc<Decision>, lock: Option<Lock>, standings: Vec<super::super::Named>| {
                let content = Propose { turns: turns.clone(), lock, value, standings, proofs: Vec::new() };
                offers.push(Arc::new(Sealed::new(
                    by,
                    self.place(view),
                    content,
                    (&*self.charter, &PlainKeys(by)),
                )));
            };
            for honest in subsets(self.honest()) {
                for story in [None, Some(0), Some(1)] {
                    let set = bits(honest).map(|member| &self.standings[member as usize]);
                    let set: Vec<_> = set.chain(story.map(|story: usize| &self.stories[story])).collect();
                    let found = set.iter().map(|standing| (standing.by(), standing.content())).collect();
                    let standings = set.iter().map(|standing| (standing.by(), standing.digest())).collect();
                    match &locked {
                        Some(locked) if self.flaw != Some(Flaw::IgnoresLocks) => {
                            push(locked.value.clone(), Some(locked.lock.clone()), standings);
                        }
                        _ => {
                            let value = outcome(&self.before, &found, &BTreeSet::new(), node.tools());
                            if let Some(value) = value {
                                push(Arc::new(value), None, standings);
                            }
                        }
                    }
                }
            }
        }
        // With all standings at hand, as they are for whoever asks.
        let mut known = node.standings.clone();
        for standing in self.standings.iter().chain(&self.stories) {
            if !known.has_digest(standing.by(), standing.digest()) {
                known.insert(standing.clone());
            }
        }
        offers.retain(|offer| node.examine(offer, &known) == Verdict::Justified);
        offers.sort_by_key(|offer| offer.content().value.digest());
        offers.dedup_by_key(|offer| offer.content().value.digest());
        offers
    }

    fn decided(&self, s: &State) -> BTreeSet<Fingerprint> {
        let places: BTreeSet<(Place, Fingerprint)> = s.commits.iter().map(|c| (c.place, c.value)).collect();
        let is_decided = |(place, value): &(Place, Fingerprint)| {
            let by = s.commits.iter().filter(|commit| (commit.place, commit.value) == (*place, *value));
            self.enough(by.fold(0, |mask, commit| mask | 1 << commit.ballot.by))
        };
        places.into_iter().filter(is_decided).map(|(_, value)| value).collect()
    }

    fn value(s: &State, value: Fingerprint) -> &Decision {
        let of = |propose: &&Arc<Sealed<Propose>>| propose.content().value.digest() == value;
        &s.proposals.iter().find(of).expect("what is decided was proposed").content().value
    }

    /// From here on messages flow and the hostile member is silent: all honest members decide alike.
    fn recovers(&self, s: &State) -> bool {
        let mut net = Net::with(self.charter.members(), self.before.electorate.hostile);
        let members: Vec<PeerIx> =
            s.members.iter().flatten().filter(|m| !m.away).map(|m| m.node.me).collect();
        net.nodes = s.members.iter().map(|m| Some(m.as_ref().filter(|m| !m.away)?.node.clone())).collect();
        net.nodes.resize_with(self.charter.members(), || None);
        net.now = net.nodes.iter().flatten().map(|node| node.now).max().unwrap_or_default();
        let epoch = self.before.epoch + 1;
        let decides = net.settle(&members, epoch);
        let found: BTreeSet<Fingerprint> = members
            .iter()
            .filter(|&&m| decides && net.epoch(m) >= epoch)
            .map(|&m| net.last(m).digest())
            .collect();
        decides && found.len() == 1 && self.decided(s).iter().all(|value| found.contains(value))
    }
}

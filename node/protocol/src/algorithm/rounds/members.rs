//! Who is in: calling and following assemblies, fetching the model, knocking, and taking in those who knock.

use super::assembly::Standing;
use super::model::SharedModel;
use super::{AssemblyKind, AssemblyMessage, Ballot, Phase, Proposal, Rounds, Say, patience};
use crate::PeerIx;
use crate::core::Core;
use crate::event::{FaultKind, RunEvent};
use crate::values::Values;

/// No honest run counts so many rounds, epochs or ballots. What is beyond is forged, and would leave no room to count on.
const FAR: u32 = 1 << 30;

impl Rounds {
    /// Ends the round that is under way and asks everybody to agree on who is there. `about` is the peer that gave reason to.
    pub(super) fn call_assembly(&mut self, core: &mut Core, reason: &str, about: Option<PeerIx>) {
        self.break_round(core, reason, about);
        self.assembly.follow(self.epoch + 1, core.now);
        let until = core.now.after(core.settings.timeouts.silence);
        let ballot = self.assembly.lead(core.me, until);
        self.phase = Phase::Assembling;
        self.assembly.again = core.now.after(core.settings.timeouts.resend);
        self.save(core);
        let standing = self.standing(core);
        if let Some(leading) = &mut self.assembly.leading {
            leading.promises.insert(core.me, standing);
        }
        self.say_to_all(core, ballot, &AssemblyKind::Prepare);
        self.try_to_propose(core);
    }

    /// Somebody asked to be taken in, and all know it by the same sum: the first member calls, the others wait for it.
    pub(super) fn assemble_after_round(&mut self, core: &mut Core) {
        let rank = self.members.binary_search(&core.me).unwrap_or(0) as u64;
        if rank == 0 {
            return self.call_assembly(core, "somebody knocked", None);
        }
        self.phase = Phase::Assembling;
        self.assembly.follow(self.epoch + 1, core.now);
        self.assembly.leading = None;
        self.assembly.again = self.my_turn(core);
    }

    pub(super) fn on_assembly(&mut self, core: &mut Core, from: PeerIx, said: AssemblyMessage) {
        let AssemblyMessage { epoch, ballot, kind } = said;
        if epoch <= self.epoch {
            let asks = matches!(kind, AssemblyKind::Prepare | AssemblyKind::Accept(_));
            if asks && core.tolerates(from, 0) {
                self.tell_decision(core, from);
            }
            return;
        }
        if epoch > FAR || ballot.0 > FAR || !self.is_sound(core, &kind) {
            return core.fault(from, FaultKind::WrongKind, 0);
        }
        match kind {
            AssemblyKind::Commit(proposal) => self.commit(core, epoch, proposal),
            AssemblyKind::Prepare => self.on_prepare(core, from, epoch, ballot),
            AssemblyKind::Accept(proposal) => {
                self.assembly.follow(epoch, core.now);
                if self.assembly.accepts(ballot, &proposal) {
                    self.save(core);
                    self.say(core, from, ballot, AssemblyKind::Accepted);
                }
            }
            AssemblyKind::Promise { accepted, version, model, round, accused } => {
                let standing = Standing { accepted, version, model, round, accused };
                self.on_promise(core, from, (epoch, ballot), standing);
            }
            AssemblyKind::Accepted => self.on_accepted(core, from, (epoch, ballot)),
        }
    }

    /// A proposal names members that exist, in order, among them its holder; no number is beyond what a run can reach.
    fn is_sound(&self, core: &Core, kind: &AssemblyKind) -> bool {
        let sound = |proposal: &Proposal| {
            let rises = proposal.members.windows(2).all(|pair| pair[0] < pair[1]);
            let exist = proposal.members.last().is_some_and(|&last| (last as usize) < core.settings.nodes);
            let near = proposal.round <= FAR && proposal.version <= FAR;
            rises && exist && near && proposal.members.binary_search(&proposal.holder).is_ok()
        };
        match kind {
            AssemblyKind::Commit(proposal) | AssemblyKind::Accept(proposal) => sound(proposal),
            AssemblyKind::Promise { accepted, version, round, .. } => {
                let accepts = accepted.as_ref().is_none_or(|(_, proposal)| sound(proposal));
                accepts && *version <= FAR && *round <= FAR
            }
            AssemblyKind::Prepare | AssemblyKind::Accepted => true,
        }
    }

    fn on_prepare(&mut self, core: &mut Core, from: PeerIx, epoch: u32, ballot: Ballot) {
        if !core.tolerates(from, 0) {
            return;
        }
        self.assembly.follow(epoch, core.now);
        if ballot.1 != from || !self.assembly.promises(ballot) {
            return;
        }
        self.break_round(core, "an assembly was called", Some(from));
        if !matches!(self.phase, Phase::Over | Phase::Outside { .. }) {
            self.phase = Phase::Assembling;
        }
        self.assembly.again = self.my_turn(core);
        self.save(core);
        let Standing { accepted, version, model, round, accused } = self.standing(core);
        self.say(core, from, ballot, AssemblyKind::Promise { accepted, version, model, round, accused });
    }

    fn on_promise(&mut self, core: &mut Core, from: PeerIx, place: (u32, Ballot), standing: Standing) {
        if let Some(leading) = &mut self.assembly.leading
            && (self.assembly.acceptor.epoch, leading.ballot) == place
            && leading.proposal.is_none()
        {
            leading.promises.insert(from, standing);
            self.try_to_propose(core);
        }
    }

    fn on_accepted(&mut self, core: &mut Core, from: PeerIx, place: (u32, Ballot)) {
        if let Some(leading) = &mut self.assembly.leading
            && (self.assembly.acceptor.epoch, leading.ballot) == place
        {
            leading.accepts.insert(from);
            self.try_to_commit(core);
        }
    }

    /// Proposes once all who can answer did, or the time is up.
    fn try_to_propose(&mut self, core: &mut Core) {
        let Some(leading) = &mut self.assembly.leading else { return };
        let complete = leading.is_complete(core.settings.nodes, &self.given_up);
        if leading.proposal.is_some() || !(complete || core.now >= leading.until) {
            return;
        }
        let Some(proposal) = leading.propose(&self.members) else {
            // No majority: go on asking.
            leading.until = core.now.after(core.settings.timeouts.silence);
            return;
        };
        let ballot = leading.ballot;
        leading.proposal = Some(proposal.clone());
        leading.accepts.insert(core.me);
        leading.until = core.now.after(core.settings.timeouts.silence);
        self.assembly.acceptor.accepted = Some((ballot, proposal.clone()));
        self.save(core);
        self.say_to_all(core, ballot, &AssemblyKind::Accept(proposal));
        self.try_to_commit(core);
    }

    fn try_to_commit(&mut self, core: &mut Core) {
        let Some(leading) = &self.assembly.leading else { return };
        let Some(proposal) = leading.proposal.clone().filter(|_| leading.is_decided(&self.members)) else {
            return;
        };
        let (epoch, ballot) = (self.assembly.acceptor.epoch, leading.ballot);
        self.say_to_all(core, ballot, &AssemblyKind::Commit(proposal.clone()));
        self.commit(core, epoch, proposal);
    }

    /// A new epoch begins.
    fn commit(&mut self, core: &mut Core, epoch: u32, proposal: Proposal) {
        self.break_round(core, "a new roster was decided", None);
        self.settle(core, proposal.model == self.model.digest());
        self.epoch = epoch;
        self.members = proposal.members.clone().into();
        self.next_round = self.next_round.max(proposal.round);
        let (members, round, model) = (proposal.members.clone(), proposal.round, proposal.model);
        core.log(RunEvent::Roster { epoch, round, members, model });
        self.assembly = super::Assembly::new(epoch + 1, core.now);
        self.early.forget_before(proposal.round, epoch);
        self.sent.clear();
        self.knocks.clear();
        core.accused.extend(&proposal.banned);
        let holder = proposal.holder;
        let is_member = proposal.members.binary_search(&core.me).is_ok();
        self.decided = Some(proposal);
        if matches!(self.phase, Phase::Over) {
            self.save(core);
        } else if !is_member {
            core.log(RunEvent::Outside { epoch });
            self.step_outside(core);
        } else if model == self.model.digest() {
            self.start_round(core);
        } else {
            self.phase = Phase::Fetching { from: holder, patience: patience(core) };
            self.fetch_from(core, holder);
        }
    }

    pub(super) fn on_model(&mut self, core: &mut Core, from: PeerIx, version: u32, values: &Values) {
        let Some(model) = SharedModel::decoded(&core.settings, version, values) else {
            return core.fault(from, FaultKind::WrongLength, 0);
        };
        match &self.phase {
            Phase::Fetching { .. } => {
                let wanted = self.decided.as_ref().map(|proposal| proposal.model);
                if wanted != Some(model.digest()) {
                    return core.fault(from, FaultKind::WrongDigest, 0);
                }
                self.model = model;
                self.start_round(core);
            }
            // The others are done: their model is the result.
            Phase::Outside { .. } | Phase::Exchanging(_) | Phase::Assembling
                if version >= core.settings.rounds =>
            {
                self.break_round(core, "the others are done", Some(from));
                self.settle(core, false);
                self.model = model;
                self.end(core, "the others are done");
            }
            _ => {
                core.tolerates(from, 0);
            }
        }
    }

    pub(super) fn on_knock(&mut self, core: &mut Core, from: PeerIx, epoch: u32) {
        if !core.tolerates(from, 0) {
            return;
        }
        let begun = self.decided.as_ref().map_or(0, |proposal| proposal.round);
        match self.phase {
            Phase::Over => self.send_model(core, from, (0, 0)),
            _ if core.accused.contains(&from) => {}
            _ if self.members.binary_search(&from).is_err() => {
                self.knocks.insert(from);
            }
            // It missed the decision and nothing more.
            _ if epoch < self.epoch && self.round <= begun => self.tell_decision(core, from),
            _ if self.waits_for_members() => self.call_assembly(core, "a member lost its place", Some(from)),
            _ => {}
        }
    }

    /// Not in step: knock until the others take me in.
    pub(super) fn step_outside(&mut self, core: &mut Core) {
        let timeouts = core.settings.timeouts;
        self.phase = Phase::Outside {
            again: core.now,
            call: core.now.after(timeouts.silence),
            until: core.now.after(timeouts.give_up),
        };
        self.outside_tick(core);
    }

    pub(super) fn outside_tick(&mut self, core: &mut Core) {
        let me = core.me;
        let Phase::Outside { again, call, until } = &mut self.phase else { return };
        if core.now >= *until {
            return self.end(core, "nobody took this node in");
        }
        // A whole swarm that was restarted has nobody inside: then a member calls.
        if core.now >= *call && self.members.binary_search(&core.me).is_ok() {
            return self.call_assembly(core, "members came back", None);
        }
        if core.now >= *call {
            *call = core.now.after(core.settings.timeouts.silence);
        }
        if core.now >= *again {
            *again = core.now.after(core.settings.timeouts.resend.saturating_mul(4));
            for peer in (0..core.settings.nodes as PeerIx).filter(|&peer| peer != me) {
                core.tell(peer, (0, 0), Say::Knock { epoch: self.epoch });
            }
        }
    }

    pub(super) fn fetch_tick(&mut self, core: &mut Core) {
        let Phase::Fetching { from, patience } = &mut self.phase else { return };
        if core.now >= patience.until {
            let from = *from;
            return self.call_assembly(core, "the model could not be had", Some(from));
        }
        patience.again = core.now.after(core.settings.timeouts.resend);
        // Whoever has joined the round holds the model too: ask one after the other.
        let next = self.members.iter().position(|member| *member == *from).map_or(0, |at| at + 1);
        let ask = self.members[next % self.members.len()];
        *from = if ask == core.me { self.members[(next + 1) % self.members.len()] } else { ask };
        let from = *from;
        self.fetch_from(core, from);
    }

    /// Asks for the model of the decision; not itself, even where a forged decision says that this node has it.
    fn fetch_from(&self, core: &mut Core, from: PeerIx) {
        if let Some(proposal) = self.decided.as_ref().filter(|_| from != core.me) {
            core.tell(from, (0, 0), Say::Fetch { digest: proposal.model });
        }
    }

    /// Says again what was not answered, or calls an assembly where the caller fell silent.
    pub(super) fn assembly_tick(&mut self, core: &mut Core) {
        if core.now < self.assembly.again {
            return;
        }
        if core.now >= self.assembly.since.after(core.settings.timeouts.give_up) {
            return self.end(core, "no majority of the roster could be reached");
        }
        let Some(leading) = &self.assembly.leading else {
            return self.call_assembly(core, "an assembly came to nothing", None);
        };
        if leading.proposal.is_some() && core.now >= leading.until {
            return self.call_assembly(core, "an assembly came to nothing", None);
        }
        self.assembly.again = core.now.after(core.settings.timeouts.resend);
        let ballot = leading.ballot;
        let (kind, answered): (AssemblyKind, Vec<PeerIx>) = match &leading.proposal {
            None => (AssemblyKind::Prepare, leading.promises.keys().copied().collect()),
            Some(proposal) => {
                (AssemblyKind::Accept(proposal.clone()), leading.accepts.iter().copied().collect())
            }
        };
        for peer in 0..core.settings.nodes as PeerIx {
            if answered.binary_search(&peer).is_err() {
                self.say(core, peer, ballot, kind.clone());
            }
        }
        self.try_to_propose(core);
    }

    /// What I would tell a proposer.
    fn standing(&self, core: &Core) -> Standing {
        Standing {
            accepted: self.assembly.acceptor.accepted.clone(),
            version: self.model.version(),
            model: self.model.digest(),
            round: self.next_round,
            accused: core.accused.iter().copied().collect(),
        }
    }

    /// When to call an assembly myself if the caller falls silent: members one after the other, so that they do not outbid each other.
    fn my_turn(&self, core: &Core) -> crate::Time {
        let rank = self.members.binary_search(&core.me).unwrap_or(self.members.len()) as u64;
        let timeouts = core.settings.timeouts;
        core.now.after(2 * timeouts.silence + rank.min(1_000) * timeouts.resend)
    }

    /// How the current epoch began, for somebody who missed it.
    pub(super) fn tell_decision(&self, core: &mut Core, to: PeerIx) {
        if let Some(proposal) = &self.decided {
            let said = AssemblyMessage {
                epoch: self.epoch,
                ballot: (0, 0),
                kind: AssemblyKind::Commit(proposal.clone()),
            };
            core.tell(to, (0, 0), Say::Assembly(Box::new(said)));
        }
    }

    fn say(&self, core: &mut Core, to: PeerIx, ballot: Ballot, kind: AssemblyKind) {
        if to != core.me {
            let said = AssemblyMessage { epoch: self.assembly.acceptor.epoch, ballot, kind };
            core.tell(to, (0, 0), Say::Assembly(Box::new(said)));
        }
    }

    fn say_to_all(&self, core: &mut Core, ballot: Ballot, kind: &AssemblyKind) {
        (0..core.settings.nodes as PeerIx).for_each(|peer| self.say(core, peer, ballot, kind.clone()));
    }
}

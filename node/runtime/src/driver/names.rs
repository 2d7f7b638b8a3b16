//! What members are called: as the swarm file says, else as they say themselves over a channel that proves their key.

use std::collections::BTreeMap;

use libp2p::PeerId;
use protocol::log::Declared;
use protocol::{LogLine, PeerIx, RunEvent};

use super::session::Clock;
use super::{Course, Driver, DriverError, Stage};
use crate::swarm_file::Member;

/// Names by identity. What the swarm file says stays: all members agreed on it.
#[derive(Debug, Default)]
pub(super) struct Names {
    agreed: BTreeMap<PeerId, String>,
    said: BTreeMap<PeerId, String>,
    /// How often each has said another name.
    changed: BTreeMap<PeerId, u32>,
    /// Everybody in the swarm file.
    pinned: Vec<PeerId>,
}

/// So many names of one member are written down: nobody fills the log by calling itself something else again and again.
const MOST_NAMES: u32 = 8;

impl Names {
    pub(super) fn of(roster: &[Member], (me, declared): (PeerId, &Declared)) -> Self {
        let agreed = roster.iter().filter_map(|member| Some((member.peer, member.name.clone()?)));
        let said = declared.name.clone().map(|name| (me, name));
        let pinned = roster.iter().map(|member| member.peer).collect();
        Self { agreed: agreed.collect(), said: said.into_iter().collect(), changed: BTreeMap::new(), pinned }
    }

    pub(super) fn get(&self, peer: &PeerId) -> Option<&String> {
        self.agreed.get(peer).or_else(|| self.said.get(peer))
    }

    /// Everybody in the swarm file, by name or else by identity.
    pub(super) fn pinned(&self) -> impl Iterator<Item = (&PeerId, String)> {
        let named = |peer| self.agreed.get(peer).cloned().unwrap_or_else(|| peer.to_string());
        self.pinned.iter().map(move |peer| (peer, named(peer)))
    }

    /// Whether that was news.
    fn learn(&mut self, peer: PeerId, name: String) -> bool {
        if self.agreed.contains_key(&peer) || self.said.get(&peer) == Some(&name) {
            return false;
        }
        let changed = self.changed.entry(peer).or_insert(0);
        *changed = changed.saturating_add(1);
        let is_news = *changed <= MOST_NAMES;
        if is_news {
            self.said.insert(peer, name);
        }
        is_news
    }
}

impl Driver {
    /// The first lines of a process: how the run began, that it came back, or what was renewed since.
    pub(super) fn head_lines(
        &mut self,
        (me, clock): (PeerIx, Clock),
        (resumes, private_noise): (bool, bool),
    ) -> Result<(), DriverError> {
        let line = |event| LogLine { time: clock.now(), node: Some(me), event };
        let goes_on = self.course.as_ref().is_some_and(Course::goes_on);
        let first = if resumes || goes_on {
            line(RunEvent::Resumed { private_noise })
        } else {
            self.setup.first_line("libp2p", env!("CARGO_PKG_VERSION"), private_noise)
        };
        self.journal.append(&first)?;
        let renewed = self.course.as_ref().filter(|_| !resumes).map(Course::lines).unwrap_or_default();
        renewed.into_iter().try_for_each(|one| self.journal.append(&line(RunEvent::Renewed(Box::new(one)))))
    }

    /// Puts at the head of the log what a report needs to know.
    pub(super) fn declare(&mut self, me: PeerIx, (clock, begun_at): (Clock, u64)) -> Result<(), DriverError> {
        let declared = Declared {
            begun: begun_at / 1_000_000,
            identity: self.me.to_base58(),
            name: self.names.get(&self.me).cloned(),
            ..self.declared.clone()
        };
        let line = |event| LogLine { time: clock.now(), node: Some(me), event };
        self.journal.append(&line(RunEvent::Declared(Box::new(declared))))?;
        let Stage::Running(session) = &self.stage else { return Ok(()) };
        let members = session.roster.members().iter().enumerate();
        let known: BTreeMap<PeerIx, String> =
            members.filter_map(|(at, peer)| Some((at as PeerIx, self.names.get(peer)?.clone()))).collect();
        for (&peer, name) in &known {
            self.journal.append(&line(RunEvent::Named { peer, name: name.clone() }))?;
        }
        self.status.send_modify(|status| status.names = known);
        Ok(())
    }

    /// Hears what a peer calls itself.
    pub(super) fn learn_name(&mut self, peer: PeerId, name: Option<String>) -> Result<(), DriverError> {
        let Some(name) = name.filter(|name| self.names.learn(peer, name.clone())) else { return Ok(()) };
        let Stage::Running(session) = &self.stage else { return Ok(()) };
        let (Some(at), Some(me)) = (session.roster.position(&peer), session.roster.position(&self.me)) else {
            return Ok(());
        };
        let event = RunEvent::Named { peer: at, name: name.clone() };
        self.journal.append(&LogLine { time: session.clock.now(), node: Some(me), event })?;
        self.status.send_modify(|status| drop(status.names.insert(at, name)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_calls_itself_something_else_again_and_again_is_written_down_a_few_times() {
        let (me, peer, agreed) = (PeerId::random(), PeerId::random(), PeerId::random());
        let member = Member { peer: agreed, name: Some("clinic".into()), addresses: Vec::new() };
        let mut names = Names::of(&[member], (me, &Declared::default()));
        assert!(!names.learn(agreed, "another".into()), "all agreed on it");
        let told = (0..1000).filter(|at| names.learn(peer, format!("name {}", at / 2))).count();
        assert_eq!(told, MOST_NAMES as usize);
        assert_eq!(names.get(&peer).map(String::as_str), Some("name 7"));
    }
}

//! What the participant asks for, done: the same match on `Output` as in the simulator.

use std::collections::BTreeMap;

use libp2p::PeerId;
use protocol::work::Job;
use protocol::{LogLine, Message, Output, PeerIx, Record, RunEvent, Snapshot};
use tokio::time::Instant;

use super::{Driver, DriverError, Phase, Stage, Status};
use crate::identity::Roster;
use crate::network::Link;
use crate::wire::Frame;

impl Driver {
    /// Does everything that the participant asks for.
    pub(super) fn drain(&mut self) -> Result<(), DriverError> {
        let mut changed = false;
        while let Some(output) = self.next_output() {
            changed = true;
            match output {
                Output::Compute(job) => self.on_compute(job),
                Output::Record(record) => self.on_record(record),
                Output::Send { to, message } => self.on_send(&to, &message)?,
                Output::Log(event) => self.on_log(*event)?,
                Output::Save(snapshot) => self.on_save(*snapshot)?,
                Output::Forgotten(records) => self.on_forgotten(records),
                Output::Done => self.on_done(),
            }
        }
        if changed {
            self.journal.flush()?;
            self.show();
        }
        Ok(())
    }

    fn next_output(&mut self) -> Option<Output> {
        match &mut self.stage {
            Stage::Gathering { .. } => None,
            Stage::Running(session) => session.node.poll_output(),
        }
    }

    fn on_compute(&mut self, job: Job) {
        if let Stage::Running(session) = &self.stage {
            self.worker.compute(session.me, job);
        }
    }

    fn on_record(&mut self, record: Record) {
        self.status.send_if_modified(Status::on_record);
        self.keeper.record(record);
    }

    /// The others know of more than this disk does.
    fn on_forgotten(&mut self, records: std::ops::Range<u64>) {
        let text = super::opening::old_disk(&self.state, records.end - records.start);
        self.status.send_modify(|status| status.notice = Some(text));
        self.keeper.forgotten(records, self.setup.settings.release.clone());
    }

    fn on_send(&mut self, to: &[PeerIx], message: &Message) -> Result<(), DriverError> {
        let Stage::Running(session) = &mut self.stage else { return Ok(()) };
        // What was released is in the log before anybody can have it.
        self.journal.flush()?;
        let (roster, links) = (&session.roster, &self.links);
        let sent = match &mut session.mouth {
            None => send(roster, links, to, message),
            Some(mouth) => {
                let mut sent = 0;
                let put = &mut |to, message| sent += send(roster, links, &[to], &message);
                to.iter().for_each(|&to| mouth.say(to, message.clone(), put));
                sent
            }
        };
        self.status.send_if_modified(|status| {
            status.bytes.0 += sent * message.bytes();
            status.dropped += (to.len() as u64).saturating_sub(sent);
            false
        });
        Ok(())
    }

    fn on_log(&mut self, event: RunEvent) -> Result<(), DriverError> {
        let Stage::Running(session) = &self.stage else { return Ok(()) };
        self.status.send_if_modified(|status| {
            status.on_event(&event);
            false
        });
        self.journal.append(&LogLine { time: session.clock.now(), node: Some(session.me), event })
    }

    fn on_save(&mut self, snapshot: Snapshot) -> Result<(), DriverError> {
        let Stage::Running(session) = &mut self.stage else { return Ok(()) };
        let promises = session.promises(&snapshot);
        session.saved = Some(snapshot.clone());
        if !promises {
            self.keeper.save(snapshot);
        } else if !self.keeper.save_now(snapshot) {
            // What follows would give the promise.
            return Err(self.keeper.failure());
        }
        Ok(())
    }

    fn on_done(&mut self) {
        let Stage::Running(session) = &mut self.stage else { return };
        session.done = Some(Instant::now());
        if session.node.has_reached_the_end() {
            self.keeper.finish();
        }
        self.links.values().for_each(|link| {
            // A full queue: the peer asks, or finds us gone.
            let _ = link.send(Frame::Finished);
        });
    }

    fn show(&mut self) {
        let Stage::Running(session) = &self.stage else { return };
        let rules = &self.setup.settings.budget;
        self.status.send_modify(|status| {
            status.round = session.node.round();
            status.spent = rules.iter().map(|rule| rule.name.clone()).zip(session.node.spent()).collect();
            if session.done.is_some() {
                status.phase = Phase::Done;
            }
        });
    }
}

/// Queues a message for peers; how many of them have a link that takes it.
pub(super) fn send(roster: &Roster, links: &BTreeMap<PeerId, Link>, to: &[PeerIx], message: &Message) -> u64 {
    let link = |&to: &PeerIx| roster.peer(to).and_then(|peer| links.get(peer));
    let taken = |link: &&Link| link.send(Frame::Message(message.clone())).is_ok();
    to.iter().filter_map(link).filter(taken).count() as u64
}

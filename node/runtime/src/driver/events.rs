//! What the network reports, and the passing of time.

use std::time::Duration;

use libp2p::{Multiaddr, PeerId};
use protocol::{Input, Message};
use tokio::time::Instant;

use super::{Driver, DriverError, Stage, begun_now, terms};
use crate::gathering::{SignedRoster, Step};
use crate::identity::Roster;
use crate::network::{Event, Link};
use crate::wire::{Frame, Refusal, Standing};

impl Driver {
    pub(super) fn on_network(&mut self, event: Event) -> Result<(), DriverError> {
        match event {
            Event::Listening(address) => {
                tracing::info!(%address, "listening");
                self.status.send_modify(|status| status.addresses.push(address));
                Ok(())
            }
            Event::Linked { link, standing, name } => {
                self.learn_name(link.peer, name)?;
                self.on_linked(link, standing)
            }
            Event::Lost { peer, id, reason } => {
                self.on_lost(peer, id, &reason);
                Ok(())
            }
            Event::Frame { peer, id, frame, held: _held } => {
                if self.links.get(&peer).is_some_and(|link| link.id == id) {
                    self.on_frame(peer, frame)?;
                }
                Ok(())
            }
            Event::Refused { peer, refusal, reason } => self.on_refused(peer, refusal, reason),
            // Waiting would not make them fit.
            Event::Differs { peer, reason } if self.ends_gathering(peer) => {
                Err(DriverError::Differs { peer: peer.to_string(), reason })
            }
            Event::Differs { peer, reason } => {
                self.complain(format!("turned {peer} away: {reason}"));
                Ok(())
            }
            Event::TurnedAway { peer, reason } => {
                let who = peer.map_or_else(|| "somebody".to_owned(), |peer| peer.to_string());
                self.complain(format!("turned {who} away: {reason}"));
                Ok(())
            }
            Event::Unreached { peer, tried } => {
                let name = self.names.get(&peer).cloned().unwrap_or_else(|| peer.to_string());
                self.complain(format!(
                    "cannot reach {name}: tried {tried}. If it runs, a firewall or a router is between: open its port, or run `murmur relay` where both can call, and give both `--relay ADDR`"
                ));
                Ok(())
            }
            Event::Garbled { address, times } => {
                self.on_garbled(&address, times);
                Ok(())
            }
            Event::Twin { address } => {
                let text = format!("the node at {address} has the identity of this one");
                if matches!(self.stage, Stage::Gathering { .. }) {
                    return Err(DriverError::Twin(text));
                }
                tracing::error!("{text}");
                self.notice(text);
                Ok(())
            }
        }
    }

    fn on_garbled(&mut self, address: &Multiaddr, times: u32) {
        let often = if times == 1 { String::new() } else { format!(" ({times} times so far)") };
        self.complain(format!(
            "somebody at {address} does not know the secret of this swarm{often}: another swarm on this network, another swarm file, an older murmur, or no murmur node"
        ));
    }

    fn on_linked(&mut self, link: Link, standing: Standing) -> Result<(), DriverError> {
        let peer = link.peer;
        tracing::info!(%peer, "linked");
        self.links.insert(peer, link);
        self.show_present();
        match (&mut self.stage, standing) {
            (Stage::Running(session), _) => {
                if session.done.is_some() {
                    self.say(peer, Frame::Finished);
                }
                Ok(())
            }
            (Stage::Gathering { gathering, .. }, Standing::Running { roster, attempt, signatures }) => {
                // They began while we were not looking: by the signatures of all, ours among them, or as pinned.
                let said = Roster::from_bytes(&roster);
                let said = said.map(|roster| SignedRoster { roster, attempt, signatures });
                match said.and_then(|said| gathering.on_running(said)) {
                    Some(step) => self.take(vec![step]),
                    None => Ok(()),
                }
            }
            (Stage::Gathering { gathering, .. }, Standing::Gathering) => {
                let steps = gathering.on_linked(peer);
                self.take(steps)
            }
        }
    }

    fn on_lost(&mut self, peer: PeerId, id: u64, reason: &str) {
        if self.links.get(&peer).is_some_and(|link| link.id == id) {
            tracing::info!(%peer, reason, "link ended");
            self.links.remove(&peer);
            if let Stage::Gathering { gathering, .. } = &mut self.stage {
                gathering.on_lost(peer);
            }
            self.show_present();
        }
    }

    fn on_frame(&mut self, peer: PeerId, frame: Frame) -> Result<(), DriverError> {
        match frame {
            Frame::Message(message) => {
                if let Some(message) = self.question_message(peer, message)? {
                    self.on_message(peer, message);
                }
            }
            Frame::Asking(said) => return self.on_said(peer, *said),
            Frame::Finished => {
                if let Stage::Running(session) = &mut self.stage {
                    session.finished.insert(peer);
                }
            }
            Frame::Confirm { attempt, roster, signature } => {
                if let (Stage::Gathering { gathering, .. }, Some(roster)) =
                    (&mut self.stage, Roster::from_bytes(&roster))
                {
                    let steps = gathering.on_confirm(peer, attempt, roster, signature);
                    return self.take(steps);
                }
            }
            // The hello is over, and the network keeps the rest for itself.
            Frame::Greeting(_)
            | Frame::Proof(_)
            | Frame::Card(_)
            | Frame::Config(_)
            | Frame::Schema(_)
            | Frame::Refuse(..)
            | Frame::Members(_)
            | Frame::Alive { .. }
            | Frame::Datagrams(_)
            | Frame::Again { .. } => {
                tracing::warn!(%peer, "a frame out of place: link dropped");
                self.control.drop_peer(peer);
            }
        }
        Ok(())
    }

    pub(super) fn on_message(&mut self, peer: PeerId, message: Message) {
        match &mut self.stage {
            Stage::Running(session) => {
                if let Some(from) = session.roster.position(&peer) {
                    let bytes = message.bytes();
                    self.status.send_if_modified(|status| {
                        status.bytes.1 += bytes;
                        false
                    });
                    session.handle(Input::Received { from, message });
                }
            }
            // The protocol asks again for what does not fit.
            Stage::Gathering { early, .. } => {
                if !early.keep(peer, message) {
                    tracing::debug!(%peer, "an early message does not fit");
                }
            }
        }
    }

    fn on_refused(&mut self, peer: PeerId, refusal: Refusal, reason: String) -> Result<(), DriverError> {
        // Nobody is stopped by what one other says.
        if refusal == Refusal::Duplicate && self.twins.on_refused(peer, self.members) {
            return Err(DriverError::Twin(reason));
        }
        self.complain(format!("refused by {peer}: {reason}"));
        Ok(())
    }

    /// Whether so many object to this node before the start that one of them is honest.
    fn ends_gathering(&mut self, peer: PeerId) -> bool {
        self.objectors.insert(peer);
        let honest = self.objectors.len() > self.setup.settings.hostile as usize;
        honest && matches!(self.stage, Stage::Gathering { .. })
    }

    pub(super) fn on_time(&mut self, elapsed: Duration) -> Result<(), DriverError> {
        match &mut self.stage {
            Stage::Running(session) => {
                session.handle(Input::Tick);
                Ok(())
            }
            Stage::Gathering { gathering, .. } => {
                let steps = gathering.on_tick(elapsed);
                self.take(steps)?;
                if matches!(self.stage, Stage::Gathering { .. }) { self.wait(elapsed) } else { Ok(()) }
            }
        }
    }

    fn take(&mut self, steps: Vec<Step>) -> Result<(), DriverError> {
        for step in steps {
            match step {
                Step::Tell(peers, attempt, roster, signature) => {
                    let roster = roster.to_bytes();
                    for peer in peers {
                        let (roster, signature) = (roster.clone(), signature.clone());
                        self.say(peer, Frame::Confirm { attempt, roster, signature });
                    }
                }
                Step::Begin(roster) => return self.begin_fresh(roster),
            }
        }
        Ok(())
    }

    fn begin_fresh(&mut self, roster: SignedRoster) -> Result<(), DriverError> {
        let mut begun = begun_now(roster);
        match &self.course {
            Some(course) => begun = course.begun(begun),
            None => begun.part.terms = Some(terms::founding(&self.setup, &begun.roster)?),
        }
        self.keeper.begin(begun.clone());
        tracing::info!(members = begun.roster.len(), roster = %begun.roster.digest(), "the run begins");
        for peer in self.links.keys().copied().collect::<Vec<_>>() {
            if begun.places().position(&peer).is_none() {
                let reason = format!("the run has begun with {} other members", begun.roster.len());
                self.say(peer, Frame::Refuse(Refusal::Closed, reason));
                self.links.remove(&peer);
                self.control.drop_peer(peer);
            }
        }
        self.begin(begun, None)
    }

    fn say(&self, peer: PeerId, frame: Frame) {
        if let Some(link) = self.links.get(&peer)
            && let Err(error) = link.send(frame)
        {
            tracing::debug!(%peer, %error, "not said");
        }
    }

    pub(super) fn show_present(&mut self) {
        let present = self.links.len() + 1;
        let linked = match &self.stage {
            Stage::Running(session) => {
                self.links.keys().filter_map(|peer| session.roster.position(peer)).collect()
            }
            Stage::Gathering { .. } => Vec::new(),
        };
        self.status.send_modify(|status| (status.present, status.linked) = (present, linked));
    }

    /// Tells what strangers do, unless there is too much of it.
    fn complain(&mut self, text: String) {
        if let Some(text) = self.complaints.tell(text, Instant::now()) {
            tracing::warn!("{text}");
            self.notice(text);
        }
    }

    pub(super) fn notice(&mut self, text: String) {
        self.status.send_modify(|status| status.notice = Some(text));
    }
}

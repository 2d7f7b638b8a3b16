//! Members that lie, for tests and simulations: statements that are properly signed by one member of a run whose keys everybody can compute.

use std::sync::Arc;

use super::decision::{Certificate, Decided, Decision};
use super::keys::{Ballot, Kind, Signature, Statement};
use super::message::{Message, TurnMessage};
use super::records::sum_statement;
use super::sealed::{Place, Sealed};
use super::statements::Standing;
use super::{Charter, Credentials, Fingerprint};
use crate::PeerIx;
use crate::settings::Settings;

/// A hostile member with its keys.
#[derive(Debug, Clone)]
pub struct Liar {
    credentials: Credentials,
    me: PeerIx,
}

impl Liar {
    /// Member `me` of a simulated run.
    pub fn new(settings: &Settings, me: PeerIx) -> Self {
        let charter = Credentials::danger_charter(settings, settings.algorithm.seats_who_comes());
        Self { credentials: Credentials::danger_from_seed(settings, &charter, me), me }
    }

    /// Member `me` of a run whose keys only their owners have.
    pub fn with_credentials(credentials: Credentials, me: PeerIx) -> Self {
        Self { credentials, me }
    }

    /// What all agreed on.
    pub fn charter(&self) -> &Charter {
        &self.credentials.charter
    }

    /// The liar's own standing, changed and signed anew; nothing for any other message.
    pub fn standing(&self, message: &Message, change: impl FnOnce(&mut Standing)) -> Option<Message> {
        let Message::Standing(sealed) = message else { return None };
        let mut content = (sealed.by() == self.me).then(|| sealed.content().clone())?;
        change(&mut content);
        let tools = (&*self.credentials.charter, &*self.credentials.keys);
        Some(Message::Standing(Arc::new(Sealed::new(self.me, sealed.place(), content, tools))))
    }

    /// The liar's own signature under a sum of this epoch, round and step; while the votes are those of the beginning.
    pub fn sign_sum(&self, (epoch, round, step): (u32, u32, u32), to: PeerIx, sum: Fingerprint) -> Signature {
        let electorate = self.charter().genesis().electorate.fingerprint();
        let statement = sum_statement(Place { epoch, electorate, view: round }, step, to, sum);
        self.credentials.keys.sign(&statement.bytes(self.charter()))
    }

    /// The liar's own turn in a view that nobody has reached; nothing for any other message.
    pub fn turn_in(&self, message: &Message, view: u32) -> Option<Message> {
        let Message::Turn(said) = message else { return None };
        let content = (said.turn.by() == self.me).then(|| said.turn.content().clone())?;
        let place = Place { view, ..said.turn.place() };
        let tools = (&*self.credentials.charter, &*self.credentials.keys);
        let turn = Arc::new(Sealed::new(self.me, place, content, tools));
        Some(Message::Turn(TurnMessage { turn, locked: said.locked.clone() }))
    }

    /// A decision with as many commits as a quorum has, all of them signed by the liar.
    pub fn decided(&self, decision: Decision) -> Message {
        let genesis = self.charter().genesis();
        let statement = Statement {
            kind: Kind::Commit,
            epoch: decision.epoch,
            electorate: genesis.electorate.fingerprint(),
            view: 1,
            content: decision.digest(),
        };
        let signature = self.credentials.keys.sign(&statement.bytes(self.charter()));
        let votes = genesis.electorate.votes.iter().take(genesis.electorate.quorum());
        let commits = votes.map(|&by| Ballot { by, signature }).collect();
        let decided = Decided { decision: Arc::new(decision), view: 1, commits };
        Message::Decided(Certificate { chain: vec![Arc::new(decided)] })
    }
}

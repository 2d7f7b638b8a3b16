//! The model that a question is about: members that do not have it get it from whoever asks.

use std::path::Path;
use std::sync::Arc;

use libp2p::PeerId;
use protocol::work::question::{Ask, Judged, MOST_MODEL, model_digest};
use protocol::{Digest, folder};

use super::{Driver, DriverError, Known, Offer, Opinion, Said};
use crate::asking::Respondent;

/// A model that is here.
pub(super) struct Held {
    digest: String,
    bytes: Vec<u8>,
    /// Or why this node cannot be asked about it.
    judged: Result<Arc<Judged>, String>,
}

/// The last model that was asked about, and the one that is on its way.
#[derive(Default)]
pub(super) struct Models {
    held: Option<Held>,
    awaited: Option<(PeerId, Offer, Digest)>,
}

impl Models {
    /// A model by its digest.
    pub(super) fn get(&self, digest: &str) -> Option<Result<Arc<Judged>, String>> {
        self.held.as_ref().filter(|held| held.digest == digest).map(|held| held.judged.clone())
    }

    fn hold(&mut self, respondent: &Respondent, bytes: Vec<u8>) {
        let judged = Judged::new(&bytes, &respondent.schema).map(Arc::new).map_err(|error| error.to_string());
        self.held = Some(Held { digest: model_digest(&bytes), bytes, judged });
    }
}

impl Driver {
    /// Whether the model of a question is here: held, or the one in this node's folder.
    fn has_model(&mut self, digest: &str) -> bool {
        let path = self.state.join(folder::MODEL);
        self.asking.models.get(digest).is_some() || self.take_model(&path, digest).is_ok()
    }

    /// Reads the model of a question from a file of this machine.
    pub(super) fn take_model(&mut self, path: &Path, digest: &str) -> Result<(), String> {
        let Some(respondent) = self.asking.respondent.clone() else {
            return Err("this node was started without the columns of the swarm file".into());
        };
        let bytes = std::fs::read(path).map_err(|error| format!("the model cannot be read: {error}"))?;
        if bytes.len() > MOST_MODEL {
            return Err(format!("the model has {} bytes; {MOST_MODEL} are the most", bytes.len()));
        }
        if model_digest(&bytes) != digest {
            return Err("the file of the model changed while it was asked about".into());
        }
        self.asking.models.hold(&respondent, bytes);
        Ok(())
    }

    /// Whether an offer has to wait for its model, which is then on its way.
    pub(super) fn waits_for_model(&mut self, peer: PeerId, offer: &Offer) -> bool {
        let wanted = serde_json::from_str::<Ask>(&offer.ask).ok().and_then(|ask| ask.model);
        let Some(digest) = wanted else { return false };
        if self.asking.respondent.is_none() || self.has_model(&digest) {
            return false;
        }
        let id = offer.id(&self.roster_name(), &peer.to_base58());
        self.asking.models.awaited = Some((peer, offer.clone(), id));
        self.tell_member(peer, Said::FetchModel { id: id.0 });
        true
    }

    /// Only of the question that is under way, and only by whoever asks it.
    pub(super) fn on_fetch_model(&mut self, peer: PeerId, id: [u8; 16]) {
        let Some(current) = self.asking.current.as_ref().filter(|current| current.id.0 == id) else { return };
        let wanted = current.ask().model.as_ref().filter(|_| current.asker == self.me);
        let held = self.asking.models.held.as_ref().filter(|held| Some(&held.digest) == wanted);
        if let Some(bytes) = held.map(|held| held.bytes.clone()) {
            self.tell_member(peer, Said::Model { id, bytes });
        }
    }

    pub(super) fn on_model(&mut self, peer: PeerId, id: [u8; 16], bytes: Vec<u8>) -> Result<(), DriverError> {
        let is_awaited = |(from, _, of): &mut (PeerId, Offer, Digest)| *from == peer && of.0 == id;
        let Some((_, offer, _)) = self.asking.models.awaited.take_if(is_awaited) else { return Ok(()) };
        let wanted = serde_json::from_str::<Ask>(&offer.ask).ok().and_then(|ask| ask.model);
        let fits = bytes.len() <= MOST_MODEL && Some(model_digest(&bytes)) == wanted;
        match self.asking.respondent.clone() {
            Some(respondent) if fits => {
                self.asking.models.hold(&respondent, bytes);
                self.on_offer(peer, offer)
            }
            _ => {
                let why = "the model that was sent is not the one of the question".to_owned();
                let opinion = Opinion { id, joins: false, declines: Some(why), known: Known::Nothing };
                self.tell_members(&Said::Opinion(opinion));
                Ok(())
            }
        }
    }
}

//! What this node thinks of a question: from its rules, its books and the text, never from its records.

use std::sync::Arc;

use libp2p::PeerId;
use protocol::Digest;
use protocol::work::question::{Ask, Question};

use super::{Known, Offer, Opinion};
use crate::asking::{Book, Respondent};

/// Where a question is asked.
pub(super) struct At<'a> {
    pub(super) respondent: Option<&'a Respondent>,
    pub(super) book: &'a Book,
    /// Run and roster.
    pub(super) roster: &'a str,
    pub(super) asker: PeerId,
}

impl At<'_> {
    /// The opinion, and the question where this node takes part.
    pub(super) fn opinion(&self, id: Digest, offer: &Offer) -> (Opinion, Option<Arc<Question>>) {
        let away =
            |why: String| Opinion { id: id.0, joins: false, declines: Some(why), known: Known::Nothing };
        let Some(respondent) = self.respondent else {
            return (away("this node was started without the columns of the swarm file".into()), None);
        };
        if self.book.has(&id.to_string()) {
            return (away("this very question was answered before".into()), None);
        }
        let ask = match serde_json::from_str::<Ask>(&offer.ask) {
            Ok(ask) => ask,
            Err(error) => return (away(format!("the offer cannot be read: {error}")), None),
        };
        let question = match Question::new(ask.clone(), respondent.columns.clone(), respondent.members) {
            Ok(question) => question,
            Err(refusal) => return (away(refusal.to_string()), None),
        };
        let declines = self.declines(respondent, &ask);
        let known = self.known(respondent, offer);
        (Opinion { id: id.0, joins: true, declines, known }, Some(Arc::new(question)))
    }

    fn declines(&self, respondent: &Respondent, ask: &Ask) -> Option<String> {
        if respondent.table.is_none() {
            return Some("this node holds no table".into());
        }
        let before = self.book.entries();
        if let Err(decline) = respondent.rules.allow((&self.asker, ask), before, respondent.protected) {
            return Some(decline.to_string());
        }
        let account = respondent.account.as_ref();
        let full = account.is_some_and(|account| !account.has_room(ask.epsilon));
        full.then(|| "`budget.total_epsilon` of the data has no room for it".to_owned())
    }

    /// What the book says of the same words on the same records.
    fn known(&self, respondent: &Respondent, offer: &Offer) -> Known {
        let mut same = self
            .book
            .entries()
            .iter()
            .filter(|entry| entry.is_same(&offer.ask, respondent.digest(), self.roster));
        match same.clone().filter_map(|entry| entry.model()).next_back() {
            Some(model) => Known::Holds(Digest::of(model).0),
            None if same.next().is_some() => Known::Contributed,
            None => Known::Nothing,
        }
    }
}

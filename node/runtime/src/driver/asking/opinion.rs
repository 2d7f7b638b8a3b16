//! What this node thinks of a question: from its rules, its books and the text, never from its records.

use std::sync::Arc;

use libp2p::PeerId;
use privacy::event::DpEvent;
use protocol::Digest;
use protocol::work::question::{Ask, Judged, Question};

use super::models::Models;
use super::{Known, Offer, Opinion};
use crate::asking::{Book, Respondent};

/// Where a question is asked.
pub(super) struct At<'a> {
    pub(super) respondent: Option<&'a Respondent>,
    pub(super) book: &'a Book,
    /// Run and roster.
    pub(super) roster: &'a str,
    pub(super) asker: PeerId,
    pub(super) models: &'a Models,
}

/// A question that this node takes part in, and the model that it is about.
pub(super) type Joined = (Arc<Question>, Option<Arc<Judged>>);

impl At<'_> {
    /// The opinion, and the question where this node takes part.
    pub(super) fn opinion(&self, id: Digest, offer: &Offer) -> (Opinion, Option<Joined>) {
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
        let judged = match self.judged(&ask) {
            Ok(judged) => judged,
            Err(why) => return (away(why), None),
        };
        let columns = respondent.columns(judged.as_deref());
        let planned = columns
            .and_then(|columns| Question::new(ask.clone(), columns, respondent.members))
            .and_then(|question| Ok((question.event()?, question)));
        let (event, question) = match planned {
            Ok(planned) => planned,
            Err(refusal) => return (away(refusal.to_string()), None),
        };
        let declines = self.declines(respondent, &ask, matches!(event, DpEvent::PureDp { .. }));
        let known = self.known(respondent, offer);
        (Opinion { id: id.0, joins: true, declines, known }, Some((Arc::new(question), judged)))
    }

    /// The model that the question is about, where it is about one.
    fn judged(&self, ask: &Ask) -> Result<Option<Arc<Judged>>, String> {
        let Some(digest) = &ask.model else { return Ok(None) };
        match self.models.get(digest) {
            Some(judged) => judged.map(Some),
            None => Err("the model of the question is not here".into()),
        }
    }

    fn declines(&self, respondent: &Respondent, ask: &Ask, pure: bool) -> Option<String> {
        let Some(table) = &respondent.table else { return Some("this node holds no table".into()) };
        if let (Some(_), Err(why)) = (&ask.model, &table.exam) {
            return Some(why.clone());
        }
        let before = self.book.entries();
        if let Err(decline) = respondent.rules.allow((&self.asker, ask, pure), before, respondent.agreed) {
            return Some(decline.to_string());
        }
        let account = respondent.account.as_ref();
        let full =
            account.is_some_and(|account| !account.has_room(ask.epsilon, respondent.agreed.unit.word()));
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

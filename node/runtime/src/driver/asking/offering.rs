//! From the offer to the beginning: everybody says what it thinks, and whoever asked decides whether the question begins.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use libp2p::PeerId;
use privacy::noise::{NoiseSource, SystemNoise};
use protocol::Digest;
use protocol::work::question::Ask;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::opinion::At;
use super::{Current, Driver, DriverError, EARLY, Known, Offer, Opinion, Reply, Said, Stage};

impl Driver {
    /// The owner of this node asks.
    pub(super) fn ask(
        &mut self,
        ask: Ask,
        model: Option<&Path>,
        reply: oneshot::Sender<Reply>,
    ) -> Result<(), DriverError> {
        let refuse = |reply: oneshot::Sender<Reply>, why: &str| {
            // Whoever asked may have gone.
            let _ = reply.send(Reply::Refused { why: why.to_owned(), charged: false });
            Ok(())
        };
        if !matches!(self.stage, Stage::Running(_)) {
            return refuse(reply, "the members have not met yet");
        }
        if self.asking.current.is_some() {
            return refuse(reply, "another question is under way: ask again in a moment");
        }
        if let (Some(digest), Some(path)) = (&ask.model, model)
            && let Err(why) = self.take_model(path, digest)
        {
            return refuse(reply, &why);
        }
        let mut nonce = [0];
        SystemNoise::new()?.words(&mut nonce);
        let text = serde_json::to_string(&ask).unwrap_or_default();
        let offer = Offer { ask: text, nonce: nonce[0] };
        let (id, opinion) = match self.consider(self.me, offer.clone()) {
            Ok(considered) => considered,
            Err(opinion) => {
                return refuse(reply, opinion.declines.as_deref().unwrap_or("it cannot be asked"));
            }
        };
        if let Some(current) = &mut self.asking.current {
            current.reply = Some(reply);
        }
        tracing::info!(question = %id, "asking the members");
        self.tell_members(&Said::Offer(offer));
        self.tell_members(&Said::Opinion(opinion));
        self.decide_if_all_spoke()
    }

    /// A member asks.
    pub(super) fn on_offer(&mut self, peer: PeerId, offer: Offer) -> Result<(), DriverError> {
        if offer.ask.len() > crate::asking::LONGEST {
            return Ok(());
        }
        if self.waits_for_model(peer, &offer) {
            return Ok(());
        }
        let opinion = match self.consider(peer, offer) {
            Ok((_, opinion)) | Err(opinion) => opinion,
        };
        self.tell_members(&Said::Opinion(opinion));
        Ok(())
    }

    /// Takes a question up where this node joins it; its opinion in any case.
    fn consider(&mut self, asker: PeerId, offer: Offer) -> Result<(Digest, Opinion), Opinion> {
        let roster = self.roster_name();
        let id = offer.id(&roster, &asker.to_base58());
        if self.asking.current.is_some() {
            let why = "another question is under way".to_owned();
            return Err(Opinion { id: id.0, joins: false, declines: Some(why), known: Known::Nothing });
        }
        let asking = &self.asking;
        let (respondent, models) = (asking.respondent.as_deref(), &asking.models);
        let at = At { respondent, book: &asking.book, roster: &roster, asker, models };
        let (opinion, question) = at.opinion(id, &offer);
        let Some((question, judged)) = question else { return Err(opinion) };
        let mut opinions = BTreeMap::from([(self.me, opinion.clone())]);
        let early = std::mem::take(&mut self.asking.early);
        opinions.extend(early.into_iter().filter(|(_, early)| early.id == id.0));
        let since = Instant::now();
        self.asking.current = Some(Current {
            id,
            offer,
            question,
            asker,
            opinions,
            since,
            reply: None,
            fetching: None,
            begins: None,
            judged,
            course: None,
            run: None,
            ahead: VecDeque::new(),
        });
        Ok((id, opinion))
    }

    pub(super) fn on_opinion(&mut self, peer: PeerId, opinion: Opinion) -> Result<(), DriverError> {
        if !self.asking.is_current(&opinion.id) {
            // Its question is on its way from somebody else.
            if self.asking.early.len() >= EARLY {
                self.asking.early.pop_front();
            }
            self.asking.early.push_back((peer, opinion));
            return Ok(());
        }
        if let Some(current) = &mut self.asking.current {
            // The first word counts.
            current.opinions.entry(peer).or_insert(opinion);
        }
        match self.asking.current.as_ref().and_then(|current| current.begins) {
            Some((_, everybody)) => self.begin_when_heard(everybody),
            None => self.decide_if_all_spoke(),
        }
    }

    /// The asker has heard enough; this node counts for itself, so it waits until it has heard all that are here, or enough of them.
    pub(super) fn begin_when_heard(&mut self, everybody: bool) -> Result<(), DriverError> {
        let (nodes, all) = (self.members(), self.all_spoke());
        let Some(respondent) = &self.asking.respondent else { return Ok(()) };
        let Some(current) = self.asking.current.as_mut().filter(|current| current.run.is_none()) else {
            return Ok(());
        };
        if all || current.givers() >= respondent.rules.least(nodes) {
            return self.begin_question(everybody);
        }
        current.begins.get_or_insert((Instant::now(), everybody));
        Ok(())
    }

    pub(super) fn members(&self) -> usize {
        match &self.stage {
            Stage::Running(session) => session.members.len(),
            Stage::Gathering { .. } => 0,
        }
    }

    /// Whether every member that is here has said what it thinks.
    fn all_spoke(&self) -> bool {
        let (Some(current), Stage::Running(session)) = (&self.asking.current, &self.stage) else {
            return false;
        };
        let here = |peer: &&PeerId| session.members.position(peer).is_some();
        self.links.keys().filter(here).all(|peer| current.opinions.contains_key(peer))
    }

    fn decide_if_all_spoke(&mut self) -> Result<(), DriverError> {
        let Some(current) = &self.asking.current else { return Ok(()) };
        let waits = current.reply.is_some() && current.run.is_none() && current.fetching.is_none();
        if waits && self.all_spoke() { self.decide() } else { Ok(()) }
    }

    /// All have spoken, or had time to: a stored answer, a beginning, or a refusal with the reasons.
    pub(super) fn decide(&mut self) -> Result<(), DriverError> {
        let (Some(current), Stage::Running(session)) = (&self.asking.current, &self.stage) else {
            return Ok(());
        };
        let Some(respondent) = self.asking.respondent.clone() else { return Ok(()) };
        if current.fetching.is_some() {
            return self.refuse_question("the answer that the members hold could not be had".into());
        }
        let nodes = session.members.len();
        if let Some(held) = held(current, (nodes, respondent.members.hostile)) {
            return self.take_stored(held);
        }
        let joins = current.opinions.values().filter(|opinion| opinion.joins).count();
        let gives = current.givers();
        let (needed, quorum) = (respondent.rules.least(nodes), quorum(nodes, respondent.members.hostile));
        if gives < needed || joins < quorum {
            let what = if gives < needed {
                format!(
                    "{gives} of {nodes} members would add records, `questions.min_contributors` = {needed}"
                )
            } else {
                format!("{joins} of {nodes} members are here, {quorum} must be")
            };
            let reasons = self.reasons();
            return self.refuse_question(format!("{what}{reasons}"));
        }
        self.begin_question(joins == nodes)
    }

    /// Why members add nothing, by name.
    fn reasons(&self) -> String {
        let Some(current) = &self.asking.current else { return String::new() };
        let name = |peer: &PeerId| self.names.get(peer).cloned().unwrap_or_else(|| short(peer));
        let said = current.opinions.iter().filter_map(|(peer, opinion)| {
            // A stranger's words are shown on one line and not without end.
            let why: String =
                opinion.declines.as_ref()?.chars().filter(|c| !c.is_control()).take(300).collect();
            Some(format!("\n  {}: {why}", name(peer)))
        });
        said.collect()
    }

    fn refuse_question(&mut self, why: String) -> Result<(), DriverError> {
        let Some(current) = self.asking.current.take() else { return Ok(()) };
        self.tell_members(&Said::Withdrawn { id: current.id.0 });
        current.refuse(why, false);
        Ok(())
    }

    /// An earlier answer that enough members hold.
    fn take_stored(&mut self, held: [u8; 16]) -> Result<(), DriverError> {
        let Some(current) = &mut self.asking.current else { return Ok(()) };
        let own = self.asking.book.entries().iter().rev().filter_map(|entry| entry.model());
        if let Some(model) = own.into_iter().find(|model| Digest::of(model).0 == held).map(<[f32]>::to_vec) {
            return self.answer_stored(&model);
        }
        current.fetching = Some(held);
        current.since = Instant::now();
        let holds = current.opinions.iter().find(|(_, opinion)| opinion.known == Known::Holds(held));
        if let Some(peer) = holds.map(|(peer, _)| *peer) {
            let id = current.id.0;
            self.tell_member(peer, Said::Fetch { id });
        }
        Ok(())
    }

    pub(super) fn on_fetch(&mut self, peer: PeerId, id: [u8; 16]) {
        let Some(current) = self.asking.current.as_ref().filter(|current| current.id.0 == id) else { return };
        let Some(Known::Holds(held)) = current.opinions.get(&self.me).map(|opinion| opinion.known) else {
            return;
        };
        let models = self.asking.book.entries().iter().filter_map(|entry| entry.model());
        if let Some(model) = models.into_iter().find(|model| Digest::of(model).0 == held) {
            self.tell_member(peer, Said::Stored { id, model: model.to_vec() });
        }
    }

    /// It is the answer if it has the digest that more than the hostile ones named.
    pub(super) fn on_stored(&mut self, id: &[u8; 16], model: &[f32]) -> Result<(), DriverError> {
        let Some(current) = self.asking.current.as_ref().filter(|current| current.id.0 == *id) else {
            return Ok(());
        };
        let finite = model.iter().all(|value| value.is_finite());
        if finite && current.fetching == Some(Digest::of(model).0) {
            self.answer_stored(model)
        } else {
            Ok(())
        }
    }

    fn answer_stored(&mut self, model: &[f32]) -> Result<(), DriverError> {
        let Some(current) = &self.asking.current else { return Ok(()) };
        let left = self.left(current.ask().delta);
        let Some(totals) = current.question.read(model) else {
            return self.refuse_question("the stored answer cannot be read".into());
        };
        let Some(mut current) = self.asking.current.take() else { return Ok(()) };
        self.tell_members(&Said::Withdrawn { id: current.id.0 });
        if let Some(reply) = current.reply.take() {
            // Whoever asked may have gone.
            let _ = reply.send(Reply::Answered { totals, stored: true, left });
        }
        Ok(())
    }

    /// Run and roster, as books name them.
    pub(super) fn roster_name(&self) -> String {
        match &self.stage {
            Stage::Running(session) => format!("{} {}", session.run, session.members.digest()),
            Stage::Gathering { .. } => String::new(),
        }
    }
}

/// The digest of an answer that all members know of, and that more of them hold than may be hostile.
fn held(current: &Current, (nodes, hostile): (usize, u32)) -> Option<[u8; 16]> {
    if current.opinions.len() < nodes || current.known().any(|known| known == Known::Nothing) {
        return None;
    }
    let mut votes: BTreeMap<[u8; 16], u32> = BTreeMap::new();
    for known in current.known() {
        if let Known::Holds(digest) = known {
            *votes.entry(digest).or_default() += 1;
        }
    }
    let best = votes.into_iter().max_by_key(|(_, votes)| *votes)?;
    (best.1 > hostile).then_some(best.0)
}

/// Signatures that a decision of so many needs.
fn quorum(nodes: usize, hostile: u32) -> usize {
    (nodes + hostile as usize + 1).div_ceil(2)
}

fn short(peer: &PeerId) -> String {
    let text = peer.to_base58();
    let start = text.len().saturating_sub(8);
    format!("…{}", &text[start..])
}

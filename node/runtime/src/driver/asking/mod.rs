//! Questions beside the run: one at a time, from the offer to the answer.
//!
//! Who is asked by its owner offers the question to all. Every member plans it, holds it against its own rules and tells everybody what it thinks; the
//! asker begins when all have, and enough of them add records. The answer is [a run of its own](protocol::work::question) over the same links, with its own name, so that its
//! messages are told from those of the training.
//!
//! Invariants: a member that joins a question once never joins it again, also after a crash; its book and its ledger are on disk before the first word of
//! its contribution leaves; whatever happens the asker hears an answer or a reason.

mod models;
mod offering;
mod opinion;
mod running;

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use libp2p::PeerId;
use privacy::noise::{NoiseSource, SystemNoise};
use protocol::work::Computed;
use protocol::work::question::{Ask, Judged, Question};
use protocol::{Digest, Message, PeerIx, RunId};
use questions::plan::MOST_COORDINATES;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::{Driver, DriverError, Stage};
use crate::asking::{Book, Call, Door, Known, Offer, Opinion, Reply, Respondent, Said, Wish};
use crate::wire::Frame;
use models::Models;
use running::{Course, Run};

/// How long opinions are waited for.
const OPINIONS: Duration = Duration::from_secs(5);
/// How long opinions are waited for that come later than the beginning.
const LATE: Duration = Duration::from_secs(2);
/// How long an offer stands that nobody begins.
const STANDS: Duration = Duration::from_secs(20);
/// How often to look what has become of a question.
const LOOK: Duration = Duration::from_millis(100);
/// Opinions that came before their question.
const EARLY: usize = 1024;
/// Messages that came before the total that they are of.
const EARLY_MESSAGES: usize = 256;
/// A question ends after so many silences of a member, whatever the others do.
const SILENCES: u32 = 12;

/// Questions at one node.
pub(super) struct Asking {
    respondent: Option<Arc<Respondent>>,
    book: Book,
    door: Option<Door>,
    current: Option<Current>,
    /// The run of the last question, which others may still need.
    last: Option<Run>,
    early: VecDeque<(PeerId, Opinion)>,
    models: Models,
    /// When to look what has become of a question.
    look: Instant,
    computed: (mpsc::Sender<Made>, mpsc::Receiver<Made>),
}

/// A contribution to a question, made on a thread of its own.
struct Made {
    run: RunId,
    computed: Result<Computed, DriverError>,
}

/// Something that happened.
pub(super) enum Happened {
    Wished(Wish),
    Made(RunId, Result<Box<Computed>, DriverError>),
}

/// The question that is under way.
struct Current {
    id: Digest,
    offer: Offer,
    question: Arc<Question>,
    asker: PeerId,
    opinions: BTreeMap<PeerId, Opinion>,
    since: Instant,
    /// Where the asker's owner waits.
    reply: Option<oneshot::Sender<Reply>>,
    /// Whose earlier answer was asked for, and its digest.
    fetching: Option<[u8; 16]>,
    /// Since when it is to begin, and whether with everybody: opinions of some are still on their way here.
    begins: Option<(Instant, bool)>,
    /// The model that it is about.
    judged: Option<Arc<Judged>>,
    /// What is the same for all of its totals, from the beginning on.
    course: Option<Course>,
    run: Option<Run>,
    /// Messages of the total that comes next.
    ahead: VecDeque<(PeerIx, Message)>,
}

impl Asking {
    /// Opens the book and the door; a node with nothing to answer from listens to nobody.
    pub(super) fn open(state: &Path, respondent: Option<Respondent>) -> Result<Self, DriverError> {
        let book = Book::open(state)?;
        let door = respondent.is_some().then(|| Door::open(state, token()?).map_err(DriverError::Door));
        Ok(Self {
            respondent: respondent.map(Arc::new),
            book,
            door: door.transpose()?,
            current: None,
            last: None,
            early: VecDeque::new(),
            models: Models::default(),
            look: Instant::now(),
            computed: mpsc::channel(4),
        })
    }

    /// The most numbers of a question's messages, as of a model of so many.
    pub(super) fn numbers(&self) -> usize {
        if self.respondent.is_some() { MOST_COORDINATES as usize } else { 0 }
    }

    /// The next thing that happens.
    pub(super) async fn next(&mut self) -> Happened {
        let wish = async {
            match &mut self.door {
                Some(door) => door.wishes.recv().await,
                None => None,
            }
        };
        tokio::select! {
            Some(wish) = wish => Happened::Wished(wish),
            Some(Made { run, computed }) = self.computed.1.recv() => Happened::Made(run, computed.map(Box::new)),
        }
    }

    /// When to look again; `None` while nothing is asked.
    pub(super) fn wake_at(&self) -> Option<Instant> {
        let look = self.current.as_ref().map(|_| self.look);
        let current = self.current.as_ref().and_then(|current| current.run.as_ref());
        let runs = current.into_iter().chain(&self.last).filter_map(Run::wake_at);
        look.into_iter().chain(runs).min()
    }

    fn is_current(&self, id: &[u8; 16]) -> bool {
        self.current.as_ref().is_some_and(|current| current.id.0 == *id)
    }
}

/// Something that nobody guesses.
fn token() -> Result<String, DriverError> {
    let mut words = [0; 2];
    SystemNoise::new()?.words(&mut words);
    Ok(words.map(|word| format!("{word:016x}")).concat())
}

/// The name of the run of a question's total.
fn run_of(id: Digest, number: usize) -> RunId {
    let digest = Digest::of_text(&format!("murmur question total 1\n{id}\n{number}"));
    let (first, _) = digest.0.split_at(8);
    RunId(u64::from_le_bytes(first.try_into().expect("eight bytes")))
}

impl Driver {
    pub(super) fn on_happened(&mut self, happened: Happened) -> Result<(), DriverError> {
        match happened {
            Happened::Wished(Wish { call, reply }) => match call {
                Call::Left => {
                    let delta = self.asking.respondent.as_ref().map_or(1e-5, |own| own.agreed.delta);
                    let left = self.left(delta);
                    // Whoever asked may have gone.
                    let _ = reply.send(Reply::Left(left));
                    Ok(())
                }
                Call::Ask { ask, model } => self.ask(ask, model.as_deref(), reply),
            },
            Happened::Made(run, computed) => self.on_made(run, *computed?),
        }
    }

    /// Time has passed.
    pub(super) fn asking_tick(&mut self) -> Result<(), DriverError> {
        self.asking.look = Instant::now() + LOOK;
        let Some(current) = &self.asking.current else { return self.tick_runs() };
        let waited = current.since.elapsed();
        if current.run.is_some() {
            return self.tick_runs();
        }
        if let Some((since, everybody)) = current.begins {
            return if since.elapsed() >= LATE { self.begin_question(everybody) } else { self.tick_runs() };
        }
        if current.reply.is_some() && waited >= OPINIONS {
            return self.decide();
        }
        if waited >= STANDS {
            self.drop_question("nobody began it");
        }
        self.tick_runs()
    }

    /// What a member says about questions.
    pub(super) fn on_said(&mut self, peer: PeerId, said: Said) -> Result<(), DriverError> {
        let Stage::Running(session) = &self.stage else { return Ok(()) };
        if session.members.position(&peer).is_none() {
            return Ok(());
        }
        match said {
            Said::Offer(offer) => self.on_offer(peer, offer),
            Said::Opinion(opinion) => self.on_opinion(peer, opinion),
            Said::Begin { id, everybody } if self.asking.is_current(&id) => self.begin_when_heard(everybody),
            Said::Withdrawn { id } if self.asking.is_current(&id) => {
                let asker = self.asking.current.as_ref().is_some_and(|current| current.asker == peer);
                if asker && self.asking.current.as_ref().is_some_and(|current| current.run.is_none()) {
                    self.drop_question("it was withdrawn");
                }
                Ok(())
            }
            Said::Fetch { id } => {
                self.on_fetch(peer, id);
                Ok(())
            }
            Said::Stored { id, model } => self.on_stored(&id, &model),
            Said::FetchModel { id } => {
                self.on_fetch_model(peer, id);
                Ok(())
            }
            Said::Model { id, bytes } => self.on_model(peer, id, bytes),
            Said::Begin { .. } | Said::Withdrawn { .. } => Ok(()),
        }
    }

    /// A message of a question's run is taken here; what belongs to the training is given back.
    pub(super) fn question_message(
        &mut self,
        peer: PeerId,
        message: Message,
    ) -> Result<Option<Message>, DriverError> {
        let Stage::Running(session) = &self.stage else { return Ok(Some(message)) };
        let (Some(from), training) = (session.members.position(&peer), session.run) else {
            return Ok(Some(message));
        };
        if message.run == training {
            return Ok(Some(message));
        }
        let current = self.asking.current.as_mut().and_then(|current| current.run.as_mut());
        let runs = current.into_iter().chain(&mut self.asking.last);
        if let Some(run) = runs.into_iter().find(|run| run.is(message.run)) {
            run.hear(from, message);
            return self.drain_question().map(|()| None);
        }
        if let Some(current) = self.asking.current.as_mut().filter(|current| current.is_next(message.run)) {
            // Others are done with the total that is under way here.
            if current.ahead.len() >= EARLY_MESSAGES {
                current.ahead.pop_front();
            }
            current.ahead.push_back((from, message));
            return Ok(None);
        }
        // Of a question that is over here, or that this process never heard of.
        tracing::debug!(%peer, run = %message.run, "a message of a run that is not under way");
        Ok(None)
    }

    /// To all members that are here.
    fn tell_members(&self, said: &Said) {
        let Stage::Running(session) = &self.stage else { return };
        for peer in self.links.keys().filter(|peer| session.members.position(peer).is_some()) {
            self.tell_member(*peer, said.clone());
        }
    }

    fn tell_member(&self, peer: PeerId, said: Said) {
        if let Some(link) = self.links.get(&peer)
            && let Err(error) = link.send(Frame::Asking(Box::new(said)))
        {
            tracing::debug!(%peer, %error, "not said");
        }
    }

    /// ε that this node's rules leave.
    fn left(&self, delta: f64) -> f64 {
        let rules = self.asking.respondent.as_ref().map(|respondent| &respondent.rules);
        rules.map_or(0.0, |rules| rules.left(self.asking.book.entries(), delta))
    }

    /// The end of a question that did not begin, or that nobody here waits for.
    fn drop_question(&mut self, why: &str) {
        if let Some(current) = self.asking.current.take() {
            tracing::info!(question = %current.id, why, "a question is dropped");
            current.refuse(why.to_owned(), false);
        }
    }
}

impl Current {
    /// Tells the owner of the asker, where it is this node.
    fn refuse(self, why: String, charged: bool) {
        if let Some(reply) = self.reply {
            // Whoever asked may have gone.
            let _ = reply.send(Reply::Refused { why, charged });
        }
    }

    /// Whether it is the run of the total that comes next.
    fn is_next(&self, run: RunId) -> bool {
        let number = self.course.as_ref().map_or(0, |course| course.number() + 1);
        self.run.is_some() && run == run_of(self.id, number)
    }

    /// What was asked.
    fn ask(&self) -> &Ask {
        self.question.ask()
    }

    /// How many members would add records, by what this node heard.
    fn givers(&self) -> usize {
        self.opinions.values().filter(|opinion| opinion.joins && opinion.declines.is_none()).count()
    }

    fn known(&self) -> impl Iterator<Item = Known> {
        self.opinions.values().map(|opinion| opinion.known)
    }
}

//! The runs of a question's totals: a participant beside that of the training, over the same links.

use std::sync::Arc;

use privacy::event::DpEvent;
use privacy::noise::SystemNoise;
use protocol::agreement::{Credentials, Fingerprint, Terms};
use protocol::work::question::{Answering, Leg, Rows, Total};
use protocol::work::{Desk, Job, NodeState, Room, Work, carry_out};
use protocol::{Input, LogLine, Message, Node, Output, PeerIx, Record, RunEvent, RunId, Time, first_model};
use tokio::time::Instant;

use super::{Driver, DriverError, Made, Reply, SILENCES, Said, Stage, run_of};
use crate::asking::{Entry, Outcome};
use crate::data_ledger::Use;
use crate::driver::noise::fresh_masks;
use crate::driver::outputs::send;
use crate::driver::session::{Clock, unix_micros};

/// What is the same for all totals of a question.
pub(super) struct Course {
    leg: Arc<Leg>,
    /// Whether this node adds noise only.
    refuses: bool,
    rows: Rows,
    /// The models of the totals that are done, one behind the other.
    models: Vec<f32>,
    /// Whether a contribution of this node is in its books.
    charged: bool,
}

impl Course {
    /// Which total is under way.
    pub(super) fn number(&self) -> usize {
        self.leg.number()
    }
}

/// A participant in the run of a question's total.
pub(super) struct Run {
    node: Node,
    id: RunId,
    clock: Clock,
    began: Instant,
    work: Arc<Answering>,
    /// Why a round of it broke, where one did.
    broken: Option<String>,
}

impl Run {
    pub(super) fn is(&self, run: RunId) -> bool {
        self.id == run
    }

    pub(super) fn hear(&mut self, from: PeerIx, message: Message) {
        self.handle(Input::Received { from, message });
    }

    fn handle(&mut self, input: Input) {
        self.node.handle(self.clock.now(), input);
    }

    pub(super) fn wake_at(&self) -> Option<Instant> {
        self.node.wake_at().map(|time: Time| self.clock.at(time))
    }

    /// Whether its clock asks for it.
    fn is_due(&self) -> bool {
        self.node.wake_at().is_some_and(|time| self.clock.now() >= time)
    }
}

impl Driver {
    /// The question begins here, if this node has not begun it.
    ///
    /// # Guarantee
    /// Records are added only where this node itself heard from as many that would add theirs as its rules ask for.
    pub(super) fn begin_question(&mut self, everybody: bool) -> Result<(), DriverError> {
        let nodes = self.members();
        let Some(current) = &mut self.asking.current else { return Ok(()) };
        let Some(respondent) = self.asking.respondent.clone() else { return Ok(()) };
        if current.run.is_some() {
            return Ok(());
        }
        let gives = |peer| current.opinions.get(peer).is_some_and(|own| own.declines.is_none());
        let refuses = !gives(&self.me) || current.givers() < respondent.rules.least(nodes);
        let key = Fingerprint::of("murmur chosen records 1", &self.seed).0;
        let rows = respondent.rows(current.ask(), current.judged.clone(), key.to_vec());
        let first = match current.question.first() {
            Ok(first) => Arc::new(first),
            Err(refusal) => {
                self.drop_question(&refusal.to_string());
                return Ok(());
            }
        };
        current.course = Some(Course { leg: first, refuses, rows, models: Vec::new(), charged: false });
        let said = Said::Begin { id: current.id.0, everybody };
        self.asking.last = None;
        self.start_total(everybody)?;
        // Passed on by everybody: the asker may not live to tell all.
        self.tell_members(&said);
        self.drain_question()
    }

    /// The run of the total that the course is at. `everybody`: whether all members take part, so that nobody needs to be waited for.
    fn start_total(&mut self, everybody: bool) -> Result<(), DriverError> {
        let Stage::Running(session) = &self.stage else { return Ok(()) };
        let roster = session.members.clone();
        let Some(me) = roster.position(&self.me) else { return Ok(()) };
        let Some(current) = &mut self.asking.current else { return Ok(()) };
        let Some(course) = &current.course else { return Ok(()) };
        let (leg, number) = (course.leg.clone(), course.number());
        let id = run_of(current.id, number);
        let settings = leg.settings(id, course.refuses);
        let terms = Terms {
            name: format!("question {} {number}", current.id),
            config: Fingerprint::of("murmur question 1", &current.id.0),
            roster: roster.keys().ok_or(DriverError::NoKey)?,
            hostile: settings.hostile,
            rounds: settings.rounds,
            model: first_model(&settings),
            // Where all take part they have their seats at once; keys of masks are told by each.
            seats: if everybody { vec![[0; 32]; roster.len()] } else { Vec::new() },
            continued: None,
        };
        let timeouts = settings.timeouts;
        let credentials =
            Credentials::new(terms, &self.seed, (timeouts.silence, timeouts.resend))?.within(&settings);
        let node =
            Node::new(me, Arc::new(settings), None).with_credentials(credentials).with_masks(fresh_masks()?);
        let mut run = Run {
            node: node.without_saving(),
            id,
            clock: Clock::since(unix_micros()),
            began: Instant::now(),
            work: Arc::new(Answering::new(current.question.clone(), leg, course.rows.clone())),
            broken: None,
        };
        run.handle(Input::Start);
        for (from, message) in current.ahead.drain(..).filter(|(_, message)| message.run == id) {
            run.hear(from, message);
        }
        current.run = Some(run);
        Ok(())
    }

    pub(super) fn on_made(
        &mut self,
        run: RunId,
        computed: protocol::work::Computed,
    ) -> Result<(), DriverError> {
        let current = self.asking.current.as_mut().and_then(|current| current.run.as_mut());
        if let Some(current) = current.filter(|current| current.is(run)) {
            current.handle(Input::Computed(computed));
        }
        self.drain_question()
    }

    pub(super) fn tick_runs(&mut self) -> Result<(), DriverError> {
        let current = self.asking.current.as_mut().and_then(|current| current.run.as_mut());
        for run in current.into_iter().chain(&mut self.asking.last).filter(|run| run.is_due()) {
            run.handle(Input::Tick);
        }
        self.drain_question()?;
        let late = self.asking.current.as_ref().and_then(|current| current.run.as_ref()).is_some_and(|run| {
            let silence = self.setup.settings.timeouts.silence;
            run.began.elapsed() >= std::time::Duration::from_micros(silence) * SILENCES
        });
        if late {
            self.end_question(Err("the members did not come to an end with it".into()))
        } else {
            Ok(())
        }
    }

    /// Does what the runs of questions ask for: the same match on `Output` as for the training.
    pub(super) fn drain_question(&mut self) -> Result<(), DriverError> {
        while let Some(output) = self.next_of_last() {
            if let Output::Send { to, message } = output {
                self.send_of_question(&to, &message);
            }
        }
        while let Some(output) = self.next_of_current() {
            match output {
                Output::Compute(job) => self.compute_question(job),
                Output::Record(record) => self.record_question(&record)?,
                Output::Send { to, message } => self.send_of_question(&to, &message),
                Output::Log(event) => self.note_of_question(*event),
                // Nobody comes back to a question after a crash, so nobody has forgotten anything of it.
                Output::Save(_) | Output::Forgotten(_) => {}
                Output::Done => self.on_total_done()?,
            }
        }
        Ok(())
    }

    fn next_of_current(&mut self) -> Option<Output> {
        self.asking.current.as_mut()?.run.as_mut()?.node.poll_output()
    }

    fn next_of_last(&mut self) -> Option<Output> {
        self.asking.last.as_mut()?.node.poll_output()
    }

    fn send_of_question(&mut self, to: &[PeerIx], message: &Message) {
        if let Stage::Running(session) = &self.stage {
            send(&session.members, &self.links, to, message);
        }
    }

    /// Off the network thread; the noise is the operating system's, whatever the run's is.
    fn compute_question(&mut self, job: Job) {
        let (Some(current), Stage::Running(session)) = (&self.asking.current, &self.stage) else { return };
        let Some(run) = &current.run else { return };
        let Some(position) = session.members.position(&self.me) else { return };
        let (work, run) = (run.work.clone(), run.id);
        let back = self.asking.computed.0.clone();
        tokio::task::spawn_blocking(move || {
            let made = || {
                let (mut room, mut state) = (Room::default(), NodeState::default());
                let desk = &mut Desk { node: 0, position, room: &mut room, state: &mut state };
                let mut noise = SystemNoise::new()?;
                Ok(carry_out(work.as_ref() as &dyn Work, desk, &job, &mut noise)?)
            };
            // The driver may have ended.
            let _ = back.blocking_send(Made { run, computed: made() });
        });
    }

    /// The book and the ledger of the data, on disk before anything is sent. What cannot be put down is not told.
    fn record_question(&mut self, record: &Record) -> Result<(), DriverError> {
        let roster = self.roster_name();
        let (Some(current), Some(respondent)) = (&self.asking.current, &self.asking.respondent) else {
            return Ok(());
        };
        if current.course.as_ref().is_some_and(|course| course.charged) {
            // The first total paid for all.
            return self.recorded(record);
        }
        let (id, ask, now) = (current.id.to_string(), current.ask().clone(), unix_micros() / 1_000_000);
        let entry = Entry {
            id: id.clone(),
            ask: current.offer.ask.clone(),
            epsilon: ask.epsilon,
            delta: ask.delta,
            pure: matches!(current.question.event(), Ok(DpEvent::PureDp { .. })),
            asker: current.asker.to_base58(),
            data: respondent.digest().to_owned(),
            roster,
            at: now,
            outcome: None,
        };
        let used = Use {
            data: String::new(),
            run: format!("question {}", &id[..8]),
            config: id,
            identity: self.me.to_base58(),
            state: std::path::PathBuf::new(),
            began: now,
            unit: respondent.agreed.unit.word().into(),
            scope: crate::asking::SCOPE.into(),
            epsilon: ask.epsilon,
            delta: ask.delta,
            digest: respondent.digest().to_owned(),
            settled: true,
        };
        let paid = respondent.account.as_ref().map_or(Ok(()), |account| account.put_down(used));
        if let Err(unpaid) = paid {
            // Never answered as recorded: nothing of it is sent, and the round breaks.
            return self.end_question(Err(unpaid.to_string()));
        }
        self.asking.book.put(entry)?;
        if let Some(course) = self.asking.current.as_mut().and_then(|current| current.course.as_mut()) {
            course.charged = true;
        }
        self.recorded(record)
    }

    fn recorded(&mut self, record: &Record) -> Result<(), DriverError> {
        if let Some(run) = self.asking.current.as_mut().and_then(|current| current.run.as_mut()) {
            run.handle(Input::Recorded(record.id));
        }
        Ok(())
    }

    fn note_of_question(&mut self, event: RunEvent) {
        let Some(run) = self.asking.current.as_mut().and_then(|current| current.run.as_mut()) else { return };
        if let RunEvent::RoundBroken { reason, .. } = event {
            run.broken = Some(reason);
        }
    }

    /// A total is there, or there is none: the next one, the answer, or a reason.
    fn on_total_done(&mut self) -> Result<(), DriverError> {
        let nodes = self.members();
        let Some(current) = &mut self.asking.current else { return Ok(()) };
        let (Some(run), Some(respondent)) = (&current.run, &self.asking.respondent) else { return Ok(()) };
        let Some(course) = &mut current.course else { return Ok(()) };
        let needed = respondent.rules.least(nodes);
        // Who had contributed to a round that broke adds noise to the next.
        let broken =
            run.broken.as_ref().map_or_else(String::new, |reason| format!(" (a round broke: {reason})"));
        if !run.node.has_reached_the_end() {
            return self.end_question(Err(format!("the members came to no decision{broken}")));
        }
        let model = run.node.model().to_vec();
        let total = match course.leg.read(&model) {
            Some(total) if total.givers >= needed => total,
            total => {
                let givers = total.map_or(0, |total| total.givers);
                let why = format!(
                    "{givers} members added records, `questions.min_contributors` = {needed}{broken}"
                );
                return self.end_question(Err(why));
            }
        };
        course.models.extend(model);
        match current.question.next(&course.leg, &total) {
            Err(refusal) => self.end_question(Err(refusal.to_string())),
            Ok(None) => {
                let models = std::mem::take(&mut course.models);
                let totals = current.question.read(&models);
                let unreadable = || "the totals cannot be read".to_owned();
                self.end_question(totals.map(|totals| (models, totals)).ok_or_else(unreadable))
            }
            Ok(Some(next)) => {
                course.leg = Arc::new(next);
                self.asking.last = current.run.take();
                self.start_total(total.members == nodes)
            }
        }
    }

    /// The answer, or why there is none; both are kept.
    fn end_question(&mut self, found: Result<(Vec<f32>, Vec<Total>), String>) -> Result<(), DriverError> {
        let Some(mut current) = self.asking.current.take() else { return Ok(()) };
        let Some(run) = current.run.take() else { return Ok(()) };
        let id = current.id.to_string();
        let outcome = match &found {
            Ok((model, _)) => Outcome::Answered(model.clone()),
            Err(why) => Outcome::Broken(why.clone()),
        };
        if let Some(entry) = self.asking.book.entries().iter().find(|entry| entry.id == id).cloned() {
            self.asking.book.put(Entry { outcome: Some(outcome), ..entry })?;
        }
        let charged = current.course.as_ref().is_some_and(|course| course.charged);
        self.log_question(&current, &found, charged)?;
        let left = self.left(current.ask().delta);
        self.asking.last = Some(run);
        match found {
            Ok((_, totals)) => {
                if let Some(reply) = current.reply.take() {
                    // Whoever asked may have gone.
                    let _ = reply.send(Reply::Answered { totals, stored: false, left });
                }
            }
            Err(why) => current.refuse(why, charged),
        }
        Ok(())
    }

    /// In the log of the node: what was asked, what it cost, and what came of it.
    fn log_question(
        &mut self,
        current: &super::Current,
        found: &Result<(Vec<f32>, Vec<Total>), String>,
        charged: bool,
    ) -> Result<(), DriverError> {
        let Stage::Running(session) = &self.stage else { return Ok(()) };
        let ask = current.ask();
        let outcome = match found {
            Ok((_, totals)) => {
                let givers = totals.iter().map(|total| total.givers).min().unwrap_or(0);
                let members = totals.iter().map(|total| total.members).min().unwrap_or(0);
                let said = current.question.in_words(totals).map(|said| format!(": {said}"));
                format!("answered by {givers} of {members} members{}", said.unwrap_or_default())
            }
            Err(why) => why.lines().next().unwrap_or_default().to_owned(),
        };
        let event = RunEvent::Question {
            id: current.id.to_string(),
            question: ask.question.clone(),
            epsilon: if charged { ask.epsilon } else { 0.0 },
            delta: ask.delta,
            outcome: outcome.clone(),
        };
        self.journal.append(&LogLine { time: session.clock.now(), node: Some(session.me), event })?;
        self.journal.flush()?;
        self.notice(format!("question `{}`: {outcome}", ask.question));
        Ok(())
    }
}

//! The loop between the participant and the world.
//!
//! Invariants: a record is on disk before the participant hears of it, and a message leaves only when the participant says so; gradients and the disk
//! never hold up the network; what a peer does can cost that peer, never the process.

mod asking;
mod complaints;
mod course;
mod early;
mod error;
mod events;
mod glimpse;
mod hostile;
mod journal;
mod keeper;
mod kept;
mod names;
mod noise;
mod opening;
mod outputs;
mod session;
mod status;
mod terms;
mod twins;
mod waiting;
mod worker;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use libp2p::{Multiaddr, PeerId};
use protocol::agreement::DecisionFile;
use protocol::log::Declared;
use protocol::masks::Lie;
use protocol::{Input, Setup};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::asking::Respondent;
use crate::gathering::Gathering;
use crate::ledger::{Begun, Found};
use crate::network::{Control, Link, Network, Patience};
use crate::schema::Schema;
use crate::swarm_file::SwarmFile;
use crate::wire::Limits;
use asking::Asking;
use complaints::Complaints;
use course::Course;
pub use course::Declined;
use early::Early;
pub use error::DriverError;
use glimpse::Glimpses;
pub use glimpse::{Glimpse, Seen};
use hostile::Lies;
pub use hostile::{Mouth, MouthOf};
use journal::Journal;
use keeper::Keeper;
use kept::Kept;
use names::Names;
pub use noise::{Danger, SeededNoises};
use noise::{MessageNoise, fresh_masks};
use opening::{Opened, begun_now, forgotten, gathering, network_settings, running, standing};
use session::{Clock, Session};
pub use status::{Phase, Status};
use twins::Twins;
use waiting::Waiting;
use worker::{Bench, Worker};

/// How often the search for the others is looked at.
const GATHER_TICK: Duration = Duration::from_millis(250);
/// How long a node that has finished waits for members that it cannot reach.
const FAREWELL: Duration = Duration::from_secs(5);
/// How long it answers those whom it can.
const LINGER: Duration = Duration::from_secs(60);
/// How often a node looks whether it is to leave.
const LEAVE_TICK: Duration = Duration::from_secs(1);
/// A file of this name in the folder of a node says that it is to leave for good.
pub const LEAVE: &str = "leave";

/// What a node needs.
pub struct Options {
    /// The swarm.
    pub swarm: SwarmFile,
    /// The run, with this node's data.
    pub setup: Setup,
    /// The folder of the node.
    pub state: PathBuf,
    /// Where to listen.
    pub listen: Vec<Multiaddr>,
    /// Whom to call.
    pub peers: Vec<Multiaddr>,
    /// Whether to look for peers on the local network.
    pub mdns: bool,
    /// Relays through which it can be reached, beside those of the swarm file.
    pub relays: Vec<Multiaddr>,
    /// When a link is dead.
    pub patience: Patience,
    /// For tests: noise that everybody can compute. The run protects nobody.
    pub danger: Option<Danger>,
    /// What the node's log says at its head; identity and beginning are filled in here.
    pub declared: Declared,
    /// Where the node's records are counted, outside of its folder; without it an old copy of the folder is not noticed.
    pub counts: Option<PathBuf>,
    /// What it answers questions from; without, it takes no part in them.
    pub respondent: Option<Respondent>,
    /// Whether it goes on answering questions when the run is over, until it is stopped.
    pub stays: bool,
}

/// How a node ended.
#[derive(Debug)]
pub struct Outcome {
    /// Whether the run is over for it; otherwise it was stopped.
    pub finished: bool,
    /// Whether it reached its end; otherwise it ended before, for a reason that was set.
    pub reached: bool,
    /// What proves the model to anybody, where members decided on it.
    pub decision: Option<DecisionFile>,
    /// The last picture.
    pub status: Status,
    /// Its model; empty if the run has not begun.
    pub model: Vec<f32>,
}

/// One node, ready to run.
pub struct Driver {
    network: Network,
    control: Control,
    keeper: Keeper,
    worker: Worker,
    journal: Journal,
    setup: Setup,
    me: PeerId,
    /// Of the identity.
    seed: [u8; 32],
    /// Its folder.
    state: PathBuf,
    message_noise: MessageNoise,
    links: BTreeMap<PeerId, Link>,
    complaints: Complaints,
    /// Who says that it cannot work with this node, or that there are two of it.
    objectors: BTreeSet<PeerId>,
    stage: Stage,
    status: watch::Sender<Status>,
    glimpses: Glimpses,
    declared: Declared,
    names: Names,
    waiting: Waiting,
    twins: Twins,
    asking: Asking,
    stays: bool,
    lies: Lies,
    /// Where the swarm file was renewed.
    course: Option<Course>,
    /// How many members there are now.
    members: usize,
}

/// Before or after the start.
enum Stage {
    Gathering { gathering: Box<Gathering>, early: Early, ledger_has: Box<Found> },
    Running(Box<Session>),
}

impl Stage {
    /// Before the start of a run with a model of so many parameters.
    fn gathering(gathering: Box<Gathering>, parameters: usize, found: Found) -> Self {
        Self::Gathering { gathering, early: Early::new(parameters), ledger_has: Box::new(found) }
    }
}

impl Driver {
    /// Opens the state, starts the threads and the network. Needs a tokio runtime.
    ///
    /// # Errors
    /// As [`DriverError`] says; nothing was sent then.
    pub fn start(options: Options) -> Result<Self, DriverError> {
        let Options { swarm, setup, state, listen, peers, mdns, relays, patience, danger, .. } = options;
        let Options { declared, counts, respondent, stays, .. } = options;
        let Opened { identity, seed, ledger, found, noise, message_noise, journal, course } =
            opening::open((&state, counts.as_deref()), (&swarm, &setup), danger)?;
        let me = identity.peer_id();
        let asking = Asking::open(&state, respondent)?;
        let (members, numbers) = (swarm.nodes, setup.settings.initial.len().max(asking.numbers()));
        let most = setup.settings.algorithm.most_numbers(setup.settings.initial.len(), members);
        let bench = Bench { work: setup.door.clone(), noise, kept: Kept::load(&state)? };
        let waiting = Waiting::new((&peers, &swarm.roster, me), mdns, setup.settings.timeouts.give_up);
        let names = Names::of(&swarm.roster, (me, &declared));
        let common = (swarm.config.as_str(), &swarm.renewal_digests()[..]);
        let (digest, config) = terms::terms(&setup, common, message_noise.is_private());
        let gathering = Box::new(gathering(&identity, &swarm, &setup, digest));
        let form = (Schema::of(&setup.door.form()).into(), Limits::for_model(numbers).with_numbers(most));
        let own = (identity, declared.name.clone().unwrap_or_default(), digest, config);
        let reach = (listen, peers, mdns, relays, patience);
        let network = Network::start(network_settings(own, swarm, form, reach), standing(&found))?;
        let fresh = Status::new(me, (members, setup.settings.rounds));
        let status = Status { notice: forgotten(&found, &state), ..fresh };
        Ok(Self {
            control: network.control(),
            network,
            keeper: Keeper::start(ledger).map_err(DriverError::Thread)?,
            worker: Worker::start(bench).map_err(DriverError::Thread)?,
            journal,
            me,
            seed,
            message_noise,
            links: BTreeMap::new(),
            complaints: Complaints::default(),
            objectors: BTreeSet::new(),
            state,
            stage: Stage::gathering(gathering, setup.settings.initial.len(), found),
            status: watch::channel(status).0,
            glimpses: Glimpses::new(),
            setup,
            declared,
            names,
            waiting,
            twins: Twins::default(),
            asking,
            stays,
            lies: Lies::default(),
            course,
            members,
        })
    }

    /// The same as a member that lies under masks: for tests of swarms that bear one.
    #[must_use]
    pub fn danger_lying(mut self, lie: Lie) -> Self {
        self.lies.words = Some(lie);
        self
    }

    /// The same as a member that says something else than it should.
    #[must_use]
    pub fn danger_speaking(mut self, mouth: MouthOf) -> Self {
        self.lies.mouth = Some(mouth);
        self
    }

    /// To tell the network whom to call.
    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// To watch the node.
    pub fn status(&self) -> watch::Receiver<Status> {
        self.status.subscribe()
    }

    /// To look at the model while the node runs.
    pub fn glimpse(&self) -> Glimpse {
        self.glimpses.glimpse()
    }

    /// Runs until the run is over or `stop` is ready; then writes what is left.
    ///
    /// # Errors
    /// As [`DriverError`] says. What was sent was recorded.
    pub async fn run(mut self, stop: impl Future<Output = ()>) -> Result<Outcome, DriverError> {
        let finished = self.until(stop).await;
        if finished.is_ok() {
            self.journal.flush()?;
        }
        let Self { network, keeper, stage, status, links, .. } = self;
        drop(links);
        let (model, saved, reached, decision) = match stage {
            Stage::Running(session) => {
                let reached = session.node.has_reached_the_end();
                let decision = session.decision().filter(|_| reached);
                (session.node.model().to_vec(), session.saved, reached, decision)
            }
            // What was over before this process began had reached its end.
            Stage::Gathering { .. } => (Vec::new(), None, true, None),
        };
        let (kept, ()) = tokio::join!(keeper.close(saved), network.close());
        let finished = finished?;
        kept?;
        Ok(Outcome { finished, reached, decision, status: status.borrow().clone(), model })
    }

    async fn until(&mut self, stop: impl Future<Output = ()>) -> Result<bool, DriverError> {
        tokio::pin!(stop);
        if self.resume()? && !self.stays {
            return Ok(true);
        }
        let mut last = Instant::now();
        let mut leave = tokio::time::interval(LEAVE_TICK);
        loop {
            self.drain()?;
            if self.is_over() {
                return Ok(true);
            }
            let wake = self.asking.wake_at().map_or_else(|| self.wake_at(), |look| look.min(self.wake_at()));
            tokio::select! {
                () = &mut stop => return Ok(matches!(&self.stage, Stage::Running(session) if session.done.is_some())),
                event = self.network.events.recv() => {
                    self.on_network(event.ok_or(DriverError::NetworkGone)?)?;
                }
                Some(result) = self.worker.results.recv() => self.feed(Input::Computed(result?)),
                recorded = self.keeper.done.recv() => match recorded {
                    Some(recorded) => self.feed(Input::Recorded(recorded?)),
                    // Whatever ended it: what cannot be recorded must not be waited for.
                    None => return Err(self.keeper.failure()),
                },
                Some(answer) = self.glimpses.asked.recv() => {
                    if let Stage::Running(session) = &self.stage {
                        // Whoever asked may have gone.
                        let _ = answer.send((session.node.round(), session.node.model().to_vec()));
                    }
                }
                happened = self.asking.next() => self.on_happened(happened)?,
                _ = leave.tick() => self.leave_if_asked(),
                () = tokio::time::sleep_until(wake) => {
                    let elapsed = last.elapsed();
                    last = Instant::now();
                    self.on_time(elapsed)?;
                    self.asking_tick()?;
                }
            }
        }
    }

    /// Goes straight back into a run that had begun. Says whether it was over: then nothing is left to do.
    fn resume(&mut self) -> Result<bool, DriverError> {
        let Stage::Gathering { ledger_has, .. } = &mut self.stage else { return Ok(false) };
        let found = std::mem::take(ledger_has.as_mut());
        let Some(begun) = found.begun.clone() else {
            // Where records were counted that are not here, it comes back with nothing.
            **ledger_has = found;
            return Ok(false);
        };
        self.status.send_modify(|status| status.recorded = found.records);
        if found.finished {
            // The last snapshot is of the beginning of the last round.
            let last = found.snapshot.as_ref().map_or(0, |snapshot| snapshot.round.saturating_add(1));
            let round = last.min(self.setup.settings.rounds);
            self.status.send_modify(|status| {
                status.phase = Phase::Done;
                status.position = begun.places().position(&self.me);
                status.round = round;
            });
            if !self.stays {
                return Ok(true);
            }
        }
        self.begin(begun, Some(&found)).map(|()| found.finished)
    }

    fn begin(&mut self, begun: Begun, found: Option<&Found>) -> Result<(), DriverError> {
        let emptied = match &mut self.stage {
            Stage::Gathering { ledger_has, .. }
                if ledger_has.records > 0 || ledger_has.snapshot.is_some() =>
            {
                Some(std::mem::take(&mut **ledger_has))
            }
            _ => None,
        };
        let found = found.or(emptied.as_ref());
        let me = begun.places().position(&self.me).ok_or(DriverError::Outsider)?;
        let clock = Clock::since(begun.at);
        self.control.begin(running(&begun));
        let begun_at = begun.at;
        let terms = match begun.part.terms.clone() {
            Some(terms) => terms,
            None => terms::founding(&self.setup, &begun.roster)?,
        };
        let credentials = terms::credentials(&self.setup, &self.seed, terms)?;
        let mouth = self.lies.mouth.as_ref().map(|of| of(&self.setup.settings, me, credentials.clone()));
        let place = (me, begun);
        let noise = self.message_noise.take(me)?;
        let masks = fresh_masks()?;
        let session = Session::new(place, &self.setup.settings, noise, masks, clock, (credentials, found));
        let session = session.danger_lying(self.lies.words, mouth);
        let stage = std::mem::replace(&mut self.stage, Stage::Running(Box::new(session)));
        let private_noise = self.message_noise.is_private();
        let resumes = found.is_some_and(|found| found.begun.is_some());
        self.head_lines((me, clock), (resumes, private_noise))?;
        self.declare(me, (clock, begun_at))?;
        self.status.send_modify(|status| {
            status.phase = Phase::Running;
            status.position = Some(me);
        });
        self.show_present();
        self.feed(Input::Start);
        self.drain()?;
        if let Stage::Gathering { early, .. } = stage {
            early.take().for_each(|(peer, message)| self.on_message(peer, message));
        }
        Ok(())
    }

    /// Tells the participant once that it is to leave. A node that has not begun has nothing to leave.
    fn leave_if_asked(&mut self) {
        if let Stage::Running(session) = &mut self.stage
            && !session.leaves
            && self.state.join(LEAVE).is_file()
        {
            session.leaves = true;
            session.handle(Input::Leave);
        }
    }

    fn feed(&mut self, input: Input) {
        if let Stage::Running(session) = &mut self.stage {
            session.handle(input);
        }
    }

    /// Whether nobody needs this node any more.
    fn is_over(&self) -> bool {
        let Stage::Running(session) = &self.stage else { return false };
        let Some(since) = session.done.filter(|_| !self.stays) else { return false };
        // Who has left is not asked any more: the others have decided so, and go on by their own words.
        let linger = if session.has_left() { FAREWELL } else { LINGER };
        let passed = since.elapsed();
        session.is_over()
            || passed >= linger
            || (passed >= FAREWELL && session.is_over_for(|peer| self.links.contains_key(peer)))
    }

    fn wake_at(&self) -> Instant {
        let soon = Instant::now() + GATHER_TICK;
        match &self.stage {
            Stage::Gathering { .. } => soon,
            Stage::Running(session) => {
                let wake = session.node.wake_at().map(|time| session.clock.at(time));
                let end = session.done.map(|_| soon);
                let never = Instant::now() + LINGER;
                [wake, end, Some(never)].into_iter().flatten().min().unwrap_or(never)
            }
        }
    }
}

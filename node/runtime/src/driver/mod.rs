//! The loop between the participant and the world.
//!
//! Invariants: a record is on disk before the participant hears of it, and a message leaves only when the participant says so; gradients and the disk
//! never hold up the network; what a peer does can cost that peer, never the process.

mod complaints;
mod error;
mod events;
mod glimpse;
mod journal;
mod keeper;
mod kept;
mod noise;
mod outputs;
mod session;
mod status;
mod terms;
mod worker;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use libp2p::{Multiaddr, PeerId};
use protocol::{BudgetRule, Input, LogLine, Message, RunEvent, Setup};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::gathering::Gathering;
use crate::identity::{Identity, Roster};
use crate::ledger::{Begun, Found, Ledger, Owner};
use crate::network::{Control, Link, Network, Patience};
use crate::schema::Schema;
use crate::swarm_file::SwarmFile;
use crate::wire::{Limits, Standing};
use complaints::Complaints;
pub use error::DriverError;
use glimpse::Glimpses;
pub use glimpse::{Glimpse, Seen};
use journal::Journal;
use keeper::Keeper;
use kept::Kept;
pub use noise::{Danger, SeededNoises};
use noise::{MessageNoise, noises};
use session::{Clock, Session, unix_micros};
pub use status::{Phase, Status};
use worker::{Bench, Worker};

/// How often the search for the others is looked at.
const GATHER_TICK: Duration = Duration::from_millis(250);
/// How long a node that has finished waits for members that it cannot reach.
const FAREWELL: Duration = Duration::from_secs(5);
/// How long it answers those whom it can.
const LINGER: Duration = Duration::from_secs(60);
/// Messages of members that began before us.
const EARLY: usize = 1024;

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
    /// When a link is dead.
    pub patience: Patience,
    /// For tests: noise that everybody can compute. The run protects nobody.
    pub danger: Option<Danger>,
}

/// How a node ended.
#[derive(Debug)]
pub struct Outcome {
    /// Whether the run is over for it; otherwise it was stopped.
    pub finished: bool,
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
    message_noise: MessageNoise,
    links: BTreeMap<PeerId, Link>,
    complaints: Complaints,
    stage: Stage,
    status: watch::Sender<Status>,
    glimpses: Glimpses,
}

/// Before or after the start.
enum Stage {
    Gathering { gathering: Box<Gathering>, early: Vec<(PeerId, Message)>, ledger_has: Box<Found> },
    Running(Box<Session>),
}

impl Driver {
    /// Opens the state, starts the threads and the network. Needs a tokio runtime.
    ///
    /// # Errors
    /// As [`DriverError`] says; nothing was sent then.
    pub fn start(options: Options) -> Result<Self, DriverError> {
        let Options { swarm, setup, state, listen, peers, mdns, patience, danger } = options;
        let identity = Identity::load_or_create(&state)?;
        let me = identity.peer_id();
        let owner = Owner { identity: me.to_base58(), run: format!("{} ({})", swarm.name, setup.digest) };
        let (ledger, mut found) = Ledger::open(&state, &owner)?;
        let units: Vec<String> = setup.settings.budget.iter().map(BudgetRule::unit).collect();
        found.keep_units(&units);
        let (noise, message_noise) = noises(danger)?;
        check_noise(&message_noise, &found, &state)?;
        let ledger = ledger.with_units(units).with_seeded_noise(!message_noise.is_private());
        let journal = Journal::open(&state)?;
        let bench = Bench { work: setup.door.clone(), noise, kept: Kept::load(&state)? };
        let standing = standing(&found);
        let (digest, config) = terms::terms(&setup, &swarm.config, message_noise.is_private());
        let network = Network::start(
            crate::network::Settings {
                identity,
                secret: swarm.secret,
                run: swarm.name.clone(),
                nodes: swarm.nodes,
                digest,
                config,
                schema: Schema::of(&setup.door.form()).into(),
                limits: Limits::for_model(setup.settings.initial.len()),
                patience,
                listen,
                peers,
                roster: swarm.roster,
                mdns,
            },
            standing,
        )?;
        let status = Status::new(me, (swarm.nodes, setup.settings.rounds));
        Ok(Self {
            control: network.control(),
            network,
            keeper: Keeper::start(ledger).map_err(DriverError::Thread)?,
            worker: Worker::start(bench).map_err(DriverError::Thread)?,
            journal,
            me,
            message_noise,
            links: BTreeMap::new(),
            complaints: Complaints::default(),
            stage: Stage::Gathering {
                gathering: Box::new(Gathering::new(me, swarm.nodes)),
                early: Vec::new(),
                ledger_has: Box::new(found),
            },
            status: watch::channel(status).0,
            glimpses: Glimpses::new(),
            setup,
        })
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
        let (model, saved) = match stage {
            Stage::Running(session) => (session.node.model().to_vec(), session.saved),
            Stage::Gathering { .. } => (Vec::new(), None),
        };
        let (kept, ()) = tokio::join!(keeper.close(saved), network.close());
        let finished = finished?;
        kept?;
        Ok(Outcome { finished, status: status.borrow().clone(), model })
    }

    async fn until(&mut self, stop: impl Future<Output = ()>) -> Result<bool, DriverError> {
        tokio::pin!(stop);
        if self.resume()? {
            return Ok(true);
        }
        let mut last = Instant::now();
        loop {
            self.drain()?;
            if self.is_over() {
                return Ok(true);
            }
            let wake = self.wake_at();
            tokio::select! {
                () = &mut stop => return Ok(matches!(&self.stage, Stage::Running(session) if session.done.is_some())),
                event = self.network.events.recv() => {
                    self.on_network(event.ok_or(DriverError::NetworkGone)?)?;
                }
                Some(result) = self.worker.results.recv() => self.feed(Input::Computed(result?)),
                Some(recorded) = self.keeper.done.recv() => self.feed(Input::Recorded(recorded?)),
                Some(answer) = self.glimpses.asked.recv() => {
                    if let Stage::Running(session) = &self.stage {
                        // Whoever asked may have gone.
                        let _ = answer.send((session.node.round(), session.node.model().to_vec()));
                    }
                }
                () = tokio::time::sleep_until(wake) => {
                    let elapsed = last.elapsed();
                    last = Instant::now();
                    self.on_time(elapsed)?;
                }
            }
        }
    }

    /// Goes straight back into a run that had begun. Says whether it was over: then nothing is left to do.
    fn resume(&mut self) -> Result<bool, DriverError> {
        let Stage::Gathering { ledger_has, .. } = &mut self.stage else { return Ok(false) };
        let found = std::mem::take(ledger_has.as_mut());
        let Some(begun) = found.begun.clone() else { return Ok(false) };
        self.status.send_modify(|status| status.recorded = found.records);
        if found.finished {
            let round = found.snapshot.as_ref().map_or(0, |snapshot| snapshot.round);
            self.status.send_modify(|status| {
                status.phase = Phase::Done;
                status.position = begun.roster.position(&self.me);
                status.round = round;
            });
            return Ok(true);
        }
        self.begin(begun, Some(&found)).map(|()| false)
    }

    fn begin(&mut self, begun: Begun, found: Option<&Found>) -> Result<(), DriverError> {
        let me = begun.roster.position(&self.me).ok_or(DriverError::Outsider)?;
        let clock = Clock::since(begun.at);
        self.control.begin(begun.roster.to_bytes());
        let place = (me, begun.roster);
        let noise = self.message_noise.take(me)?;
        let session = Session::new(place, &self.setup.settings, noise, clock, found);
        let stage = std::mem::replace(&mut self.stage, Stage::Running(Box::new(session)));
        let private_noise = self.message_noise.is_private();
        let line = match found {
            None => self.setup.first_line("libp2p", env!("CARGO_PKG_VERSION"), private_noise),
            Some(_) => {
                LogLine { time: clock.now(), node: Some(me), event: RunEvent::Resumed { private_noise } }
            }
        };
        self.journal.append(&line)?;
        self.status.send_modify(|status| {
            status.phase = Phase::Running;
            status.position = Some(me);
        });
        self.show_present();
        self.feed(Input::Start);
        self.drain()?;
        if let Stage::Gathering { early, .. } = stage {
            early.into_iter().for_each(|(peer, message)| self.on_message(peer, message));
        }
        Ok(())
    }

    fn feed(&mut self, input: Input) {
        if let Stage::Running(session) = &mut self.stage {
            session.handle(input);
        }
    }

    /// Whether nobody needs this node any more.
    fn is_over(&self) -> bool {
        let Stage::Running(session) = &self.stage else { return false };
        let Some(since) = session.done else { return false };
        let passed = since.elapsed();
        session.is_over()
            || passed >= LINGER
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

/// Noise that everybody can compute must not follow private noise: the ledger, and every report, would take it for private.
fn check_noise(noise: &MessageNoise, found: &Found, state: &std::path::Path) -> Result<(), DriverError> {
    if noise.is_private() || found.records == 0 || found.seeded {
        return Ok(());
    }
    Err(DriverError::SeededAfterPrivate { folder: state.to_owned(), records: found.records })
}

/// Where a node stands that found this in its ledger.
fn standing(found: &Found) -> Standing {
    match &found.begun {
        Some(begun) => Standing::Running { roster: begun.roster.to_bytes() },
        None => Standing::Gathering,
    }
}

/// The start of a run, now.
fn begun_now(roster: Roster) -> Begun {
    Begun { roster, at: unix_micros() }
}

//! One run of a scenario with a chosen noise and chosen data, watched by one node: the view is what the real protocol delivered to it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use learn::data::Dataset;
use learn::model::{Mean, Model};
use learn::train::TrainError;
use privacy::mechanisms::MechanismError;
use privacy::mechanisms::grid::GridGaussian;
use privacy::noise::NoiseSource;
use protocol::masks::{Bared, Masks};
use protocol::work::{
    Adjacency, Computed, Desk, Given, Job, Mechanism, OnGrid, Room, Unit, WorkSettings, contribute,
};
use protocol::{LogLine, Numbers, PeerIx, Setup, Values};
use sim::{
    Delivery, Due, Finished, Hook, Options, SimError, contribution_noise, mask_secret, message_noise,
    simulate_with,
};

use crate::sabotage::Sabotage;

/// A scenario that is run again and again.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) setup: Setup,
    pub(crate) sabotage: Option<Sabotage>,
    /// How contributions are made: by the watched node, and by the others.
    watched: WorkSettings,
    others: WorkSettings,
    /// Of masked rounds: noise on the grid for either.
    on_grid: Vec<(f64, Mechanism)>,
    mean: Mean,
}

/// What a node contributes.
pub(crate) enum Act {
    /// Its own data.
    Own,
    /// These records instead of its own.
    Records(Dataset),
    /// These rows as gradients of its records, or as its whole update at node level: gradient canaries.
    Rows(Dataset),
}

/// Which of the numbers in a message are kept.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Keep {
    None,
    One(usize),
    All,
}

/// Where a message has its place in a run: round, step (of a token the generation), token, sender, receiver.
pub(crate) type Place = (u32, u32, u32, PeerIx, PeerIx);

/// By node and count: what was contributed, and the same without noise.
pub(crate) type Contributions = BTreeMap<(PeerIx, u32), (Vec<f32>, Vec<f32>)>;

/// How a run is made.
pub(crate) struct Play<'a> {
    /// Seed of all noise; links and schedules stay those of the scenario.
    pub(crate) seed: u64,
    pub(crate) act: &'a (dyn Fn(&Due<'_>) -> Act + Sync),
    /// Who is watched, where it is somebody.
    pub(crate) source: Option<usize>,
    /// Who watches; several pool their views.
    pub(crate) watchers: &'a [usize],
    /// Whether words are sent without masks, which should change no total.
    pub(crate) unmasked: bool,
    pub(crate) keep: Keep,
    /// Whether contributions are kept, with and without their noise.
    pub(crate) with_contributions: bool,
    /// Whether the log is kept.
    pub(crate) with_log: bool,
    /// Whether no noise is added.
    pub(crate) silent: bool,
}

/// What came of it.
pub(crate) struct Played {
    /// Messages that a watcher received or sent.
    pub(crate) view: BTreeMap<Place, Vec<f32>>,
    /// Of masked rounds: one word of every message, whoever received it.
    pub(crate) words: BTreeMap<Place, i64>,
    /// Where they were asked for.
    pub(crate) contributions: Contributions,
    pub(crate) log: Vec<LogLine>,
    pub(crate) finished: Finished,
}

impl Scene {
    pub(crate) fn new(setup: Setup, sabotage: Option<Sabotage>) -> Result<Self, MechanismError> {
        let setup = setup.without_loss();
        let honest = setup.work.as_ref();
        let work = |watched| sabotage.map_or_else(|| Ok(honest.clone()), |it| it.work(honest, watched));
        let (watched, others) = (work(true)?, work(false)?);
        let on_grid = [&watched, &others].map(|work| weakened(&setup, work)).into_iter();
        let on_grid = on_grid.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        let mean = Mean::new(setup.settings.initial.len()).expect("a model has parameters");
        Ok(Self { watched, others, on_grid, mean, setup, sabotage })
    }

    /// Whether rounds are masked.
    pub(crate) fn is_masked(&self) -> bool {
        self.setup.settings.algorithm.is_masked()
    }

    /// What a job's mechanism is for contributions of this kind: noise on a grid follows the noise multiplier.
    fn mechanism(&self, of_job: &Mechanism, work: &WorkSettings) -> Mechanism {
        let weakened = self.on_grid.iter().find(|(multiplier, _)| *multiplier == work.noise_multiplier);
        weakened.map_or_else(|| of_job.clone(), |(_, mechanism)| mechanism.clone())
    }

    /// Parameters of the model.
    pub(crate) fn parameters(&self) -> usize {
        self.setup.settings.initial.len()
    }

    pub(crate) fn is_node_level(&self) -> bool {
        self.setup.work.unit.adjacency() == Adjacency::Node
    }

    /// Runs it once.
    pub(crate) fn play(&self, play: &Play<'_>) -> Result<Played, SimError> {
        let (view, words, contributions) = Default::default();
        let stage = Stage { scene: self, play, view, words, contributions };
        let mut log = Vec::new();
        let options = Options { threads: 1, ..Options::default() };
        let mut sink = |line: &LogLine| {
            if play.with_log {
                log.push(line.clone());
            }
        };
        let finished = simulate_with(&self.setup, &options, &stage, &mut sink, &mut |_| ())?;
        let view = stage.view.into_inner().expect("no holder panics");
        let words = stage.words.into_inner().expect("no holder panics");
        let contributions = stage.contributions.into_inner().expect("no holder panics");
        Ok(Played { view, words, contributions, log, finished })
    }
}

/// The mechanism on a grid for a smaller noise multiplier than the run's, with the multiplier.
fn weakened(setup: &Setup, work: &WorkSettings) -> Result<Option<(f64, Mechanism)>, MechanismError> {
    let Mechanism::Grid(on) = &setup.settings.mechanism else { return Ok(None) };
    let part = work.noise_multiplier / setup.work.noise_multiplier;
    if part >= 1.0 {
        return Ok(None);
    }
    let multiplier = on.mechanism.noise_multiplier() * part * (1.0 + 1e-9);
    let mechanism =
        GridGaussian::with_multiplier(*on.mechanism.grid(), multiplier, on.mechanism.sensitivity())?;
    let on = OnGrid { mechanism, ..**on };
    Ok(Some((work.noise_multiplier, Mechanism::Grid(Arc::new(on)))))
}

/// At node level a row stands for the whole update: no local steps, the same clipping and noise.
fn for_rows(work: &WorkSettings) -> WorkSettings {
    match work.unit {
        Unit::Node { .. } => WorkSettings { unit: Unit::Value, ..work.clone() },
        Unit::Record { .. } | Unit::Person { .. } | Unit::Value => work.clone(),
    }
}

struct Stage<'a> {
    scene: &'a Scene,
    play: &'a Play<'a>,
    view: Mutex<BTreeMap<Place, Vec<f32>>>,
    words: Mutex<BTreeMap<Place, i64>>,
    contributions: Mutex<Contributions>,
}

impl Stage<'_> {
    /// One contribution by these settings; called again, it has the same noise.
    fn make(
        &self,
        due: &Due<'_>,
        act: &Act,
        work: &WorkSettings,
        room: &mut Room,
    ) -> Result<Computed, TrainError> {
        let scene = self.scene;
        let count = scene.sabotage.map_or(due.count, |sabotage| sabotage.noise_of(due.count));
        let noise = &mut contribution_noise(self.play.seed, due.node, count);
        let model: &dyn Model = scene.setup.model.as_ref();
        let job = &Job { mechanism: scene.mechanism(&due.job.mechanism, work), ..due.job.clone() };
        match act {
            Act::Own => {
                let data = &scene.setup.train[due.node as usize];
                contribute(work, (model, data), job, room.workspace(model), noise)
            }
            Act::Records(data) => contribute(work, (model, data), job, room.workspace(model), noise),
            Act::Rows(rows) => {
                // The gradient of ½‖θ − x‖² at 0 is −x: every row is its own gradient, and goes through the real clipping and noise.
                let params = Values::from_wire(vec![0.0; scene.parameters()]);
                let job = Job { mechanism: job.mechanism.clone(), ..Job::new(due.job.round, params) };
                let mut room = Room::default();
                contribute(&for_rows(work), (&scene.mean, rows), &job, room.workspace(&scene.mean), noise)
            }
        }
    }
}

impl Hook for Stage<'_> {
    fn delivered(&self, delivery: &Delivery<'_>) {
        let Delivery { from, to, message, .. } = *delivery;
        if let (Some(Numbers::Words(words)), Keep::One(at)) = (&message.numbers, self.play.keep) {
            // With masks the claim is about somebody who sees all traffic.
            let place = (message.round, message.step, 0, from, to);
            let narrow = words.as_32().and_then(|words| words.get(at)).map(|&word| i64::from(word as i32));
            let wide = words.as_64().and_then(|words| words.get(at)).map(|&word| word as i64);
            if let Some(word) = narrow.or(wide) {
                self.words.lock().expect("no holder panics").entry(place).or_insert(word);
            }
            return;
        }
        let watches = |node: PeerIx| self.play.watchers.contains(&(node as usize));
        if !watches(from) && !watches(to) {
            return;
        }
        let Some(values) = message.numbers.as_ref().and_then(Numbers::reals) else { return };
        let kept = match self.play.keep {
            Keep::None => return,
            Keep::One(at) => vec![values.as_slice().get(at).copied().unwrap_or(0.0)],
            Keep::All => values.as_slice().to_vec(),
        };
        // A token that was overtaken is another message than the one that overtook it; tokens have no steps.
        let (token, generation) = message.body.branch();
        let place = (message.round, message.step.max(generation), token, from, to);
        self.view.lock().expect("no holder panics").entry(place).or_insert(kept);
    }

    fn contribution(&self, due: &Due<'_>, desk: &mut Desk<'_>) -> Result<Computed, TrainError> {
        let act = (self.play.act)(due);
        let scene = self.scene;
        let own = if matches!(act, Act::Own) { &scene.others } else { &scene.watched };
        let quiet = || WorkSettings { noise_multiplier: 0.0, ..own.clone() };
        let mut computed = match self.play.silent {
            true => self.make(due, &act, &quiet(), desk.room)?,
            false => self.make(due, &act, own, desk.room)?,
        };
        if scene.sabotage.is_some() && !self.play.silent {
            // What an honest node would have written down.
            computed.release = self.make(due, &act, &scene.setup.work, desk.room)?.release;
        }
        if self.play.with_contributions {
            let clean = self.make(due, &act, &quiet(), desk.room)?;
            let values =
                |given: &Given| given.reals().map_or_else(Vec::new, |values| values.values().to_vec());
            let pair = (values(&computed.contribution), values(&clean.contribution));
            self.contributions.lock().expect("no holder panics").insert((due.node, due.count), pair);
        }
        Ok(computed)
    }

    /// With the streams that the watchers know left out: what is sent is then what they can make of it.
    fn masks(&self, _setup: &Setup, node: PeerIx, life: u32) -> Masks {
        if self.play.unmasked {
            return Masks::DangerPretended;
        }
        let known = self.play.watchers.iter().map(|&watcher| watcher as PeerIx).collect();
        let flaw = self.scene.sabotage.and_then(|sabotage| sabotage.flaw(self.play.source));
        let bared = Bared { flaw, known };
        Masks::DangerBared(mask_secret(self.play.seed, node, life), bared)
    }

    fn message_noise(&self, _setup: &Setup, node: PeerIx, life: u32) -> Box<dyn NoiseSource> {
        Box::new(message_noise(self.play.seed, node, life))
    }
}

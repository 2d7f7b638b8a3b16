//! Members that lie inside their contributions, and know everything: the records of all nodes, and the noise that the honest ones add.
//!
//! No check of a norm sees them: a contribution carries noise that is often longer than all that it says, and a lie has that room.

use std::fmt;
use std::sync::{Arc, Mutex};

use learn::data::{Dataset, Targets};
use learn::gradient::GradientError;
use learn::model::Model;
use learn::train::TrainError;
use privacy::noise::NoiseSource;
use protocol::config::HostileKind;
use protocol::work::{
    BuiltIn, Computed, Desk, Form, Given, Job, Mechanism, NodeState, Room, Work, carry_out,
};
use protocol::{Digest, PeerIx, Setup};

use crate::noise::contribution_noise;

/// Room for rounding in single precision below the largest norm that is believed.
const BELOW: f64 = 0.999;

/// The contributions of a run in which some members lie: a [`Work`], so that either driver may be given it.
pub struct Liars {
    /// What honest members do.
    work: Arc<dyn Work>,
    /// The same with false labels.
    mislabelled: Option<Arc<dyn Work>>,
    model: Arc<dyn Model>,
    train: Arc<[Dataset]>,
    lies: Vec<Lie>,
    largest: f64,
    seed: u64,
    /// What was found out about the last round that somebody asked for.
    known: Mutex<Option<(u32, Digest, Arc<Truth>)>>,
}

/// Who lies how, and from when.
struct Lie {
    nodes: Vec<PeerIx>,
    kind: HostileKind,
    from: u64,
}

/// What the honest members contribute to a round.
struct Truth {
    mean: Vec<f64>,
    deviation: Vec<f64>,
    /// Of all their records, without clipping and noise.
    gradient: Vec<f64>,
}

impl Liars {
    /// Those of a setup of all nodes, where its `faults.hostile` has some whose lies are in their contributions; `nodes` says who each entry means.
    pub fn of(setup: &Setup, nodes: impl Fn(usize) -> Vec<PeerIx>) -> Option<Self> {
        let entries = setup.config.faults.hostile.iter().enumerate();
        let lies: Vec<Lie> = entries
            .filter(|(_, hostile)| is_lie(hostile.kind))
            .map(|(at, hostile)| Lie { nodes: nodes(at), kind: hostile.kind, from: hostile.from })
            .collect();
        let mislabelled = || {
            let train: Vec<Dataset> = setup.train.iter().map(with_false_labels).collect();
            Arc::new(BuiltIn::new(setup.work.clone(), setup.model.clone(), train.into())) as Arc<dyn Work>
        };
        (!lies.is_empty()).then(|| Self {
            work: setup.door.clone(),
            mislabelled: lies.iter().any(|lie| lie.kind == HostileKind::Label).then(mislabelled),
            model: setup.model.clone(),
            train: setup.train.clone(),
            lies,
            largest: setup.settings.largest_norm,
            seed: setup.config.seed,
            known: Mutex::default(),
        })
    }

    /// Whether a node lies by this time.
    pub fn lies(&self, node: PeerIx, now: u64) -> bool {
        self.kind_of(node).is_some_and(|lie| now >= lie.from)
    }

    fn kind_of(&self, node: PeerIx) -> Option<&Lie> {
        self.lies.iter().find(|lie| lie.nodes.contains(&node))
    }

    /// What the honest members contribute to this job; found once for all liars.
    fn truth(&self, job: &Job, room: &mut Room) -> Result<Arc<Truth>, TrainError> {
        let place = (job.round, Digest::of(job.params.as_slice()));
        let known = self.known.lock().expect("nobody panics here").clone();
        if let Some((round, digest, truth)) = known
            && (round, digest) == place
        {
            return Ok(truth);
        }
        // Not under the lock: whoever else asks meanwhile finds the same.
        let truth = Arc::new(self.find_out(job, room)?);
        *self.known.lock().expect("nobody panics here") = Some((place.0, place.1, truth.clone()));
        Ok(truth)
    }

    fn find_out(&self, job: &Job, room: &mut Room) -> Result<Truth, TrainError> {
        let honest = || (0..self.train.len()).filter(|&node| self.kind_of(node as PeerIx).is_none());
        let mut all: Vec<Vec<f64>> = Vec::new();
        for node in honest() {
            let position = node as PeerIx;
            let mut noise = contribution_noise(self.seed, position, job.round);
            let desk = &mut Desk { node, position, room: &mut *room, state: &mut NodeState::default() };
            all.push(reals(&self.work.contribute(desk, job, &mut noise)?.contribution, &job.mechanism));
        }
        let count = all.len().max(1) as f64;
        let numbers = job.params.len();
        let column = |at: usize| all.iter().map(move |vector| vector[at]);
        let mean: Vec<f64> = (0..numbers).map(|at| column(at).sum::<f64>() / count).collect();
        let square = |at: usize| column(at).map(|value| (value - mean[at]).powi(2)).sum::<f64>() / count;
        let deviation = (0..numbers).map(|at| square(at).sqrt()).collect();
        let gradient = if numbers == self.model.parameter_count() {
            self.gradient(honest(), job, room)?
        } else {
            mean.clone()
        };
        Ok(Truth { mean, deviation, gradient })
    }

    fn gradient(
        &self,
        honest: impl Iterator<Item = usize>,
        job: &Job,
        room: &mut Room,
    ) -> Result<Vec<f64>, TrainError> {
        let mut sum = vec![0.0; job.params.len()];
        for node in honest {
            let data = &self.train[node];
            let records: Vec<u32> = (0..data.len() as u32).collect();
            let workspace = room.workspace(self.model.as_ref());
            let mean = workspace.mean(job.params.as_slice(), data, &records)?;
            sum.iter_mut().zip(&mean).for_each(|(sum, value)| *sum += f64::from(*value));
            workspace.recycle(mean);
        }
        Ok(sum)
    }

    /// The lie that stands in a contribution's place.
    fn lie(&self, kind: HostileKind, job: &Job, room: &mut Room) -> Result<Vec<f32>, TrainError> {
        let truth = self.truth(job, room)?;
        Ok(match kind {
            HostileKind::Alie(z) => truth
                .mean
                .iter()
                .zip(&truth.deviation)
                .map(|(mean, deviation)| (mean - z * deviation * mean.signum()) as f32)
                .collect(),
            HostileKind::Push(part) => {
                let norm = truth.gradient.iter().map(|value| value * value).sum::<f64>().sqrt();
                let length = -part * BELOW * self.largest / norm.max(f64::MIN_POSITIVE);
                truth.gradient.iter().map(|value| (value * length) as f32).collect()
            }
            _ => truth.mean.iter().map(|mean| *mean as f32).collect(),
        })
    }
}

impl Work for Liars {
    fn nodes(&self) -> usize {
        self.work.nodes()
    }

    fn form(&self) -> Form {
        self.work.form()
    }

    fn records(&self, node: usize) -> usize {
        self.work.records(node)
    }

    fn contribute(
        &self,
        desk: &mut Desk<'_>,
        job: &Job,
        noise: &mut dyn NoiseSource,
    ) -> Result<Computed, TrainError> {
        // In a process of one node too all nodes are known here.
        desk.node = desk.position as usize;
        let lie = self.kind_of(desk.position).filter(|_| !job.only_noise);
        let work =
            self.mislabelled.as_ref().filter(|_| lie.is_some_and(|lie| lie.kind == HostileKind::Label));
        let own = carry_out(work.unwrap_or(&self.work).as_ref(), desk, job, noise)?;
        let Some(lie) = lie else { return Ok(own) };
        let contribution = match lie.kind {
            HostileKind::Label => own.contribution,
            HostileKind::Sign => negated(own.contribution),
            kind => replaced(own.contribution, &self.lie(kind, job, desk.room)?, &job.mechanism, noise)?,
        };
        Ok(Computed { contribution, ..own })
    }
}

impl fmt::Debug for Liars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Liars({} of {} nodes)",
            self.lies.iter().map(|lie| lie.nodes.len()).sum::<usize>(),
            self.nodes()
        )
    }
}

/// Whether a kind of hostile member lies in what it contributes.
pub(super) fn is_lie(kind: HostileKind) -> bool {
    matches!(kind, HostileKind::Sign | HostileKind::Label | HostileKind::Alie(_) | HostileKind::Push(_))
}

fn reals(given: &Given, mechanism: &Mechanism) -> Vec<f64> {
    match (given, mechanism) {
        (Given::Words(noisy), Mechanism::Grid(on)) => noisy
            .words()
            .centred()
            .map(|word| on.mechanism.grid().real(word) / on.divisor.unwrap_or(1.0))
            .collect(),
        (Given::Words(noisy), _) => noisy.words().centred().map(|word| word as f64).collect(),
        (Given::Reals(values), _) => values.values().iter().map(|&value| f64::from(value)).collect(),
    }
}

fn negated(given: Given) -> Given {
    match given {
        Given::Reals(values) => {
            Given::Reals(values.post_process(|values| values.iter_mut().for_each(|value| *value = -*value)))
        }
        Given::Words(words) => Given::Words(words.negated()),
    }
}

/// The lie in the form of a contribution. Words of a grid get noise: without, nobody could tell them from others either.
fn replaced(
    given: Given,
    lie: &[f32],
    mechanism: &Mechanism,
    noise: &mut dyn NoiseSource,
) -> Result<Given, TrainError> {
    Ok(match (given, mechanism) {
        (Given::Words(_), Mechanism::Grid(on)) => {
            let sum: Vec<f32> =
                lie.iter().map(|value| (f64::from(*value) * on.divisor.unwrap_or(1.0)) as f32).collect();
            let words = on.mechanism.release(&sum, noise).map_err(GradientError::from)?.value;
            Given::Words(words.with_noise_behind(on.behind, &on.mechanism, noise))
        }
        (Given::Reals(values), _) => Given::Reals(values.post_process(|values| {
            values.iter_mut().zip(lie).for_each(|(value, lie)| *value = *lie);
        })),
        (other, _) => other,
    })
}

/// Every class is called the next one, every number its opposite.
fn with_false_labels(data: &Dataset) -> Dataset {
    let targets = match data.targets() {
        Targets::Class { labels, classes } => {
            let next = |label: &u32| ((*label as usize + 1) % classes) as u32;
            Targets::Class { labels: labels.iter().map(next).collect(), classes }
        }
        Targets::Real(values) => Targets::Real(values.iter().map(|value| -value).collect()),
        other => other,
    };
    let features = (0..data.len()).flat_map(|record| data.row(record).to_vec()).collect();
    Dataset::new(features, data.columns(), targets).unwrap_or_else(|_| data.clone())
}

#[cfg(test)]
mod tests {
    use protocol::Values;
    use protocol::config::Config;

    use super::*;

    fn setup(kind: &str) -> Setup {
        let text = format!(
            "name = \"liars\"\nnodes = 8\nrounds = 3\nprivacy.noise_multiplier = 1\nbatch_size = \"all\"\n\
             faults.hostile = [{{ nodes = [6, 7], kind = \"{kind}\" }}]"
        );
        Setup::new(Config::from_toml(&text, "a test").unwrap()).unwrap()
    }

    fn contribution(work: &dyn Work, setup: &Setup, node: PeerIx) -> Vec<f64> {
        let job = Job::new(1, Values::from_wire(setup.settings.initial.as_slice().to_vec()));
        let (room, state) = (&mut Room::default(), &mut NodeState::default());
        let desk = &mut Desk { node: node as usize, position: node, room, state };
        let mut noise = contribution_noise(setup.config.seed, node, 1);
        reals(&work.contribute(desk, &job, &mut noise).unwrap().contribution, &job.mechanism)
    }

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    /// What each is by its definition, computed again from the honest contributions.
    #[test]
    fn each_lie_is_what_its_name_says_and_passes_the_check_of_norms() {
        let lie = |kind: &str| {
            let setup = setup(kind);
            let liars = Liars::of(&setup, |at| setup.config.faults.hostile[at].nodes.clone()).unwrap();
            assert!(liars.lies(7, 0) && !liars.lies(5, 0));
            let honest: Vec<_> = (0..6).map(|node| contribution(setup.door.as_ref(), &setup, node)).collect();
            assert_eq!(contribution(&liars, &setup, 2), honest[2], "{kind}: honest members are left alone");
            let own = contribution(setup.door.as_ref(), &setup, 7);
            let lie = contribution(&liars, &setup, 7);
            assert!(dot(&lie, &lie).sqrt() <= setup.settings.largest_norm, "{kind}");
            (lie, own, honest, setup.settings.largest_norm)
        };
        let (sign, own, ..) = lie("sign");
        assert!(sign.iter().zip(&own).all(|(lie, own)| *lie == -own));
        let (label, own, ..) = lie("label");
        assert_ne!(label, own);
        let (alie, _, honest, _) = lie("alie:1.5");
        for at in [0, 100, 649] {
            let mean = honest.iter().map(|vector| vector[at]).sum::<f64>() / 6.0;
            let square = honest.iter().map(|vector| (vector[at] - mean).powi(2)).sum::<f64>() / 6.0;
            let expected = mean - 1.5 * square.sqrt() * mean.signum();
            assert!((alie[at] - expected).abs() < 1e-6, "{} for {expected}", alie[at]);
        }
        let (push, _, honest, largest) = lie("push:0.3");
        assert!((dot(&push, &push).sqrt() / (0.3 * BELOW * largest) - 1.0).abs() < 1e-5);
        let sum: Vec<f64> = (0..push.len()).map(|at| honest.iter().map(|vector| vector[at]).sum()).collect();
        let cosine = dot(&push, &sum) / (dot(&push, &push) * dot(&sum, &sum)).sqrt();
        assert!(cosine < -0.3, "against what the honest ones say: {cosine}");
    }
}

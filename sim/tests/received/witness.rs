//! A hook that makes contributions whose noise can be read off, and keeps what was delivered.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use learn::gradient::ExampleGradient;
use learn::train::TrainError;
use privacy::clip::ClipNorm;
use privacy::noise::{NoiseSource, danger_from_seed};
use protocol::work::{Computed, Desk};
use protocol::{PeerIx, Settings, Setup, Snapshot};
use sim::{Delivery, Due, Hook};

use super::dice::Dice;
use super::pairs::{Pairs, Published};
use super::rows::{Rows, dot, worst};
use super::scenario::{Scenario, limited};

/// Draws of message noise that one life of a node may make.
const DRAWS: usize = 40;

pub(crate) struct Witness {
    inner: Mutex<Inner>,
    /// What one unit of noise is in the numbers of a contribution.
    amplitude: f64,
    /// What one unit of noise is in the numbers of a message of `mean`.
    learning_rate: f64,
    rho: Option<f64>,
    most: Vec<Option<usize>>,
    seed: u64,
    message_noise: f64,
    ratio: f64,
    pairs: Option<Pairs>,
    old_disks: bool,
}

#[derive(Default)]
struct Inner {
    /// Whose the k-th contribution is.
    contributors: Vec<usize>,
    delivered: Vec<(usize, Vec<f32>)>,
    /// The first state that each node sent.
    published: Published,
    /// Node and life of each source of message noise.
    lives: Vec<(PeerIx, u32)>,
    /// What was on the disk of a node, with how many records, whenever it changed.
    disks: BTreeMap<PeerIx, Vec<(Snapshot, u64)>>,
    dice: Option<Dice>,
}

impl Witness {
    pub(crate) fn new(setup: &Setup, scenario: &Scenario, seed: u64) -> Self {
        let settings = &setup.settings;
        let ratio = setup.config.algorithm.message_noise;
        let deviation = setup.work.noise_multiplier * setup.config.privacy.clip_norm;
        Self {
            inner: Mutex::new(Inner { dice: Some(Dice::new(!seed)), ..Inner::default() }),
            amplitude: settings.largest_norm / 4.0,
            learning_rate: setup.config.learning_rate,
            rho: scenario.rho,
            most: scenario.most.clone(),
            seed,
            message_noise: ratio * deviation,
            ratio,
            pairs: Pairs::of(setup),
            old_disks: scenario.old_disks,
        }
    }

    /// What was delivered, as rows.
    pub(crate) fn seen(&self) -> Seen {
        let inner = self.inner.lock().unwrap();
        let contributions = inner.contributors.len();
        let width = inner.delivered.first().map_or(contributions, |(_, values)| values.len());
        assert!(contributions <= width, "{contributions} contributions in a model of {width} numbers");
        if let Some(pairs) = &self.pairs {
            return pairs.seen(&inner.published, &inner.contributors, &inner.delivered);
        }
        let draws = if self.message_noise > 0.0 { self.draws(&inner.lives, width) } else { Vec::new() };
        let rows = inner.delivered.iter().map(|(to, values)| {
            let values: Vec<f64> = values.iter().map(|&value| f64::from(value) / self.amplitude).collect();
            (*to, self.row(&values, contributions, &draws))
        });
        let makers = inner.lives.iter().flat_map(|(node, _)| std::iter::repeat_n(*node as usize, DRAWS));
        let owners = inner.contributors.iter().copied().chain(makers.take(draws.len()));
        Seen { rows: rows.collect(), owners: owners.map(|owner| [owner; 2]).collect(), contributions }
    }

    /// All message noise that was, or could have been, drawn.
    fn draws(&self, lives: &[(PeerIx, u32)], width: usize) -> Vec<Vec<f64>> {
        let life = |&(node, life): &(PeerIx, u32)| {
            let mut source = source(self.seed, node, life);
            let draw = move |_| {
                let mut normals = vec![0.0; width];
                source.standard_normals(&mut normals);
                normals
            };
            (0..DRAWS).map(draw).collect::<Vec<_>>()
        };
        lives.iter().flat_map(life).collect()
    }

    /// The row of a message over contributions and message noises. Behind the contributions a message has noise of messages only, from which the share of
    /// each draw follows; it is then taken off the rest.
    fn row(&self, values: &[f64], contributions: usize, draws: &[Vec<f64>]) -> Vec<f64> {
        if draws.is_empty() {
            return values[..contributions].to_vec();
        }
        let scale = self.message_noise / self.amplitude;
        let tail = |draw: &Vec<f64>| draw[contributions..].iter().map(|x| x * scale).collect::<Vec<f64>>();
        let tails: Vec<Vec<f64>> = draws.iter().map(tail).collect();
        let shares = least_squares(&tails, &values[contributions..]);
        let mut row = values[..contributions].to_vec();
        for (share, draw) in shares.iter().zip(draws) {
            row.iter_mut().zip(draw).for_each(|(x, normal)| *x -= share * scale * normal);
        }
        row.extend(shares.iter().map(|share| share * self.ratio));
        row
    }
}

fn source(seed: u64, node: PeerIx, life: u32) -> privacy::noise::SeededNoise {
    danger_from_seed(seed ^ (u64::from(node) << 32 | u64::from(life)), "received")
}

impl Hook for Witness {
    fn delivered(&self, delivery: &Delivery<'_>) {
        if let Some(values) = delivery.message.numbers.as_ref().and_then(protocol::Numbers::reals) {
            let (from, to) = (delivery.from as usize, delivery.to as usize);
            let mut inner = self.inner.lock().unwrap();
            if delivery.message.step == 0 {
                inner.published.entry(from).or_insert_with(|| values.as_slice().to_vec());
            }
            inner.delivered.push((to, values.as_slice().to_vec()));
        }
    }

    fn contribution(&self, due: &Due<'_>, _: &mut Desk<'_>) -> Result<Computed, TrainError> {
        let mut inner = self.inner.lock().unwrap();
        let index = inner.contributors.len();
        inner.contributors.push(due.node as usize);
        let params = due.job.params.as_slice();
        let mut values = vec![0.0; params.len()];
        values[index] = self.amplitude as f32;
        if let (Some(rho), Some(dice)) = (self.rho, inner.dice.as_mut()) {
            // θ − η(e + (1 − c)θ/η) = cθ − ηe.
            let factor = if dice.once_in(2) { rho } else { dice.between(-rho, rho) };
            let pull = ((1.0 - factor) / self.learning_rate) as f32;
            values.iter_mut().zip(params).for_each(|(value, param)| *value += pull * param);
        }
        let clip = ClipNorm::new(1.0).expect("a positive norm");
        let mut unused = danger_from_seed(0, "unused");
        let zeros = ExampleGradient::of_node(vec![0.0; params.len()]).clip(clip);
        let (zeros, _) = zeros.release(0.0, &mut unused)?;
        Ok(Computed {
            round: due.job.round,
            contribution: zeros.post_process(|numbers| *numbers = values).into(),
            release: due.setup.settings.release.clone(),
            loss: None,
        })
    }

    fn settings(&self, setup: &Setup, node: PeerIx) -> Arc<Settings> {
        match self.most[node as usize] {
            Some(most) => limited(&setup.settings, most),
            None => setup.settings.clone(),
        }
    }

    fn saved(&self, node: PeerIx, snapshot: &Snapshot, records: u64) {
        if self.old_disks {
            let mut inner = self.inner.lock().unwrap();
            inner.disks.entry(node).or_default().push((snapshot.clone(), records));
        }
    }

    fn found(&self, node: PeerIx, kept: Option<Snapshot>, records: u64) -> (Option<Snapshot>, u64) {
        let mut inner = self.inner.lock().unwrap();
        let Inner { disks, dice: Some(dice), .. } = &mut *inner else { return (kept, records) };
        let Some(disks) = disks.get(&node) else { return (kept, records) };
        let (snapshot, records) = &disks[dice.below(disks.len())];
        (Some(snapshot.clone()), *records)
    }

    fn message_noise(&self, _: &Setup, node: PeerIx, life: u32) -> Box<dyn NoiseSource> {
        self.inner.lock().unwrap().lives.push((node, life));
        Box::new(source(self.seed, node, life))
    }
}

/// What was delivered to whom.
pub(crate) struct Seen {
    pub(crate) rows: Vec<(usize, Vec<f64>)>,
    /// Who knows the noise that each coordinate is: who made it, or the two who share it.
    pub(crate) owners: Vec<[usize; 2]>,
    pub(crate) contributions: usize,
}

impl Seen {
    /// All that these nodes know together: what they were given, and their own noise.
    pub(crate) fn view(&self, members: &[usize]) -> Rows {
        let mut view = Rows::default();
        let known = |owners: &[usize; 2]| owners.iter().any(|owner| members.contains(owner));
        for (coordinate, _) in self.owners.iter().enumerate().filter(|(_, owners)| known(owners)) {
            let mut own = vec![0.0; self.owners.len()];
            own[coordinate] = 1.0;
            view.add(&own);
        }
        self.rows.iter().filter(|(to, _)| members.contains(to)).for_each(|(_, row)| view.add(row));
        view
    }

    pub(crate) fn contributions_of(&self, source: usize) -> Vec<usize> {
        (0..self.contributions).filter(|&index| self.owners[index][0] == source).collect()
    }

    /// μ² that the view gives about changes of all contributions of `source`, for Δ = σ = 1.
    pub(crate) fn loss(&self, view: &Rows, source: usize, dice: &mut Dice) -> f64 {
        worst(&view.restricted(&self.contributions_of(source)), || dice.once_in(2))
    }
}

/// The combination of `columns` nearest to `target`, by normal equations: the columns are random, so these are well conditioned.
pub(crate) fn least_squares(columns: &[Vec<f64>], target: &[f64]) -> Vec<f64> {
    let size = columns.len();
    assert!(2 * size <= target.len(), "{size} draws in {} numbers", target.len());
    let mut system: Vec<Vec<f64>> =
        columns.iter().map(|a| columns.iter().map(|b| dot(a, b)).chain([dot(a, target)]).collect()).collect();
    for pivot in 0..size {
        let (above, below) = system.split_at_mut(pivot + 1);
        let row = &above[pivot];
        for other in below {
            let factor = other[pivot] / row[pivot];
            other.iter_mut().zip(row).skip(pivot).for_each(|(x, y)| *x -= factor * y);
        }
    }
    let mut solution = vec![0.0; size];
    for at in (0..size).rev() {
        let known = dot(&system[at][at + 1..size], &solution[at + 1..]);
        solution[at] = (system[at][size] - known) / system[at][at];
    }
    solution
}

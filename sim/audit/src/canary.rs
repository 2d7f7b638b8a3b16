//! Gradient canaries: the change that is hardest to hide. Rows are gradients as they are, up to ten times as long as the clip norm lets through.

use learn::data::{DataError, Dataset, Groups, Targets};
use protocol::config::AlgorithmKind;
use protocol::work::{Adjacency, Unit};
use sim::Due;

use crate::stage::Scene;
use crate::visits::Visits;

/// Length of a canary before clipping, in clip norms.
const LENGTH: f64 = 10.0;
/// The same of any canary at least: clipping leaves C of it.
const SHORTEST: f64 = 1.01;

/// One coordinate of all contributions of a node, with the change and without.
pub(crate) struct Canary {
    /// With and without, by sign.
    rows: [[Dataset; 2]; 2],
    turning: Turning,
}

/// In which contributions a canary points the other way, so that noise that does not change can be taken off. The watcher knows it.
#[derive(Debug, Clone)]
enum Turning {
    /// Every other round.
    EveryOther,
    /// In the last round.
    Last(u32),
    /// By count of the contribution: visits that are seen together point the same way.
    At(Vec<bool>),
    /// Never.
    Never,
}

impl Canary {
    /// For node `source`, whom these watch, and coordinate `at`.
    ///
    /// Node level: the node's update is +C or −C along the coordinate, as far apart as any two updates. Record level: one record's gradient is C along it, or the
    /// record is blank; the node's other records are blank, so that nothing hides it but noise. Person level: all records of the person with the most of them.
    pub(crate) fn new(
        scene: &Scene,
        (source, watchers): (usize, &[usize]),
        visits: &Visits,
        at: usize,
    ) -> Result<Self, DataError> {
        let setup = &scene.setup;
        let length = (LENGTH * setup.config.privacy.clip_norm) as f32;
        let width = scene.parameters();
        let rows = |value: f32| {
            let records = if scene.is_node_level() { 1 } else { setup.train[source].len() };
            let mut features = vec![0.0; records * width];
            let person = person(scene, source);
            let changed = person.as_ref().map_or_else(|| vec![0], |(records, _)| records.clone());
            changed.iter().for_each(|record| features[record * width + at] = value);
            let rows = Dataset::new(features, width, Targets::None)?;
            person.map_or(Ok(rows.clone()), |(_, groups)| rows.with_groups(groups))
        };
        let other = if scene.is_node_level() { -1.0 } else { 0.0 };
        let pair = |sign: f32| Ok::<_, DataError>([rows(other * sign * length)?, rows(sign * length)?]);
        let turning = match setup.config.algorithm.kind {
            AlgorithmKind::Gossip if setup.config.rounds > 1 => Turning::Last(setup.config.rounds - 1),
            AlgorithmKind::Walk => Turning::At(visits.plan(source, watchers).turned),
            AlgorithmKind::Gossip | AlgorithmKind::Mean => Turning::Never,
            _ => Turning::EveryOther,
        };
        Ok(Self { rows: [pair(1.0)?, pair(-1.0)?], turning })
    }

    /// What the node contributes.
    pub(crate) fn rows(&self, due: &Due<'_>, with: bool) -> Dataset {
        let turned = self.turning.is_turned(due.job.round, due.count);
        self.rows[usize::from(turned)][usize::from(with)].clone()
    }
}

/// Where persons are protected: the records of the one with the most of them, and whose records are whose.
fn person(scene: &Scene, node: usize) -> Option<(Vec<usize>, Groups)> {
    if scene.setup.work.unit.adjacency() != Adjacency::Person {
        return None;
    }
    let data = &scene.setup.train[node];
    let (of_record, names) = (data.group_of_records()?.into_owned(), data.group_names()?.to_vec());
    let count = |person: u32| of_record.iter().filter(|&&other| other == person).count();
    let most = (0..names.len() as u32).max_by_key(|&person| (count(person), std::cmp::Reverse(person)))?;
    let records = (0..of_record.len()).filter(|&record| of_record[record] == most).collect();
    Some((records, Groups { of_record, names }))
}

impl Turning {
    fn is_turned(&self, round: u32, count: u32) -> bool {
        match self {
            Self::EveryOther => round % 2 == 1,
            Self::Last(last) => round == *last,
            Self::At(turned) => turned.get(count as usize).copied().unwrap_or(false),
            Self::Never => false,
        }
    }
}

/// Length of each of many canaries before clipping, in clip norms: [`LENGTH`], or less where members would refuse their sum if nobody clipped it. A sum that is longer
/// than honest ones can be (their records at full length, and noise of norm σ(√d + 8) with d parameters) breaks the round, and a broken round shows nothing of who did not clip.
fn length_of_many(scene: &Scene, canaries: usize) -> f64 {
    let (Unit::Record { batch: None, .. } | Unit::Person { batch: None, .. }) = scene.setup.work.unit else {
        return LENGTH;
    };
    let most_records = scene.setup.train.iter().map(Dataset::len).max().unwrap_or(0) as f64;
    let (noise, root) = (scene.setup.work.noise_multiplier, (scene.parameters() as f64).sqrt());
    // √(s² + z²d), and five deviations of it, stay below what is accepted; half of the canaries are there, and five deviations more.
    let signal2 = (most_records + noise * (root + 3.0)).powi(2) - (noise * root).powi(2);
    let there = 0.5 * (canaries as f64 + 5.0 * (canaries as f64).sqrt());
    (signal2 / there).sqrt().clamp(SHORTEST, LENGTH)
}

/// Many canaries in one node: record `j` points along coordinate `j`, or is blank.
pub(crate) fn flock(scene: &Scene, included: &[bool]) -> Result<Dataset, DataError> {
    let length = (length_of_many(scene, included.len()) * scene.setup.config.privacy.clip_norm) as f32;
    let width = scene.parameters();
    let mut features = vec![0.0; included.len() * width];
    for (canary, _) in included.iter().enumerate().filter(|(_, included)| **included) {
        features[canary * width + canary] = length;
    }
    let rows = Dataset::new(features, width, Targets::None)?;
    if scene.setup.work.unit.adjacency() != Adjacency::Person {
        return Ok(rows);
    }
    // Each canary is a person of its own.
    let of_record: Vec<u32> = (0..included.len() as u32).collect();
    let names = of_record.iter().map(u32::to_string).collect();
    rows.with_groups(Groups { of_record, names })
}

//! The rule: running means of each sender, each replaced by the mean of its nearest, and of these the trimmed mean of every number.
//!
//! For each sender the mean m of what it contributed, each round counting 0.9 times as much as the one after it (Karimireddy, He & Jaggi 2021: history). The weights add up
//! to one from the first round on: m ← 0.9 m + 0.1 c from zero would be m·(1 − 0.9ᵗ), so that the first steps are short and a run of 80 rounds ends where one of 70 does. Each m is replaced by the mean of its n − b nearest, itself among them
//! (Allouah et al. 2023: nearest-neighbour mixing), and in each number the b largest and b smallest are left out (Yin et al. 2018). All in a fixed order: the
//! same bits at all members.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use crate::PeerIx;
use crate::agreement::Fingerprint;

/// What is kept of a mean: ten rounds count for most of it.
const KEEP: f64 = 0.9;
/// Lanes of a distance, so that it vectorises and its order is fixed.
const LANES: usize = 8;

/// The running means of an epoch, by sender.
#[derive(Debug, Clone, Default)]
pub(super) struct Means {
    /// Names all contributions that went in, and their order.
    chain: Fingerprint,
    of: BTreeMap<PeerIx, Mean>,
}

/// The running mean of one sender.
#[derive(Debug, Clone)]
struct Mean {
    values: Arc<[f32]>,
    /// 0.9 to the number of its contributions: what is missing of all weight.
    missing: f64,
}

impl Mean {
    /// With one contribution more.
    fn after(before: Option<&Self>, contribution: &[f32]) -> Self {
        let missing = KEEP * before.map_or(1.0, |mean| mean.missing);
        let weight = (1.0 - KEEP) / (1.0 - missing);
        let next = |at: usize, value: f64| {
            let kept = before.map_or(0.0, |mean| f64::from(mean.values[at]));
            ((1.0 - weight) * kept + weight * value) as f32
        };
        let values = contribution.iter().enumerate().map(|(at, &value)| next(at, f64::from(value)));
        Self { values: values.collect(), missing }
    }
}

/// After a round.
#[derive(Debug)]
pub(super) struct Folded {
    pub(super) means: Arc<Means>,
    /// What to step by; `None` where too few contributed.
    pub(super) step: Option<Vec<f32>>,
}

impl Means {
    /// The means after these contributions, in order of senders, and what follows from them with b = `tolerate`. Who contributed nothing keeps its mean
    /// and has no say.
    fn after(&self, set: Fingerprint, contributions: &[(PeerIx, &[f32])], tolerate: usize) -> Folded {
        let mut means = Self { chain: chained(self.chain, set), of: self.of.clone() };
        for (sender, contribution) in contributions {
            let after = Mean::after(means.of.get(sender), contribution);
            means.of.insert(*sender, after);
        }
        let present: Vec<&[f32]> = contributions
            .iter()
            .filter_map(|(sender, _)| means.of.get(sender))
            .map(|mean| &*mean.values)
            .collect();
        let step = (present.len() > 2 * tolerate).then(|| trimmed_mean(mixed(&present, tolerate), tolerate));
        Folded { means: Arc::new(means), step }
    }
}

fn chained(before: Fingerprint, set: Fingerprint) -> Fingerprint {
    Fingerprint::of("murmur means 1", &[before.0, set.0].concat())
}

/// Each vector replaced by the mean of all but the b farthest from it; of equally far ones the earlier are nearer.
fn mixed(all: &[&[f32]], tolerate: usize) -> Vec<Vec<f32>> {
    let count = all.len();
    let mut distances = vec![0.0; count * count];
    for one in 0..count {
        for other in one + 1..count {
            let distance = squared_distance(all[one], all[other]);
            distances[one * count + other] = distance;
            distances[other * count + one] = distance;
        }
    }
    let mean_near = |of: usize| {
        let mut near: Vec<usize> = (0..count).collect();
        let row = &distances[of * count..(of + 1) * count];
        near.sort_by(|&a, &b| row[a].total_cmp(&row[b]));
        near.truncate(count - tolerate);
        near.sort_unstable();
        let mut sum = vec![0.0_f64; all[of].len()];
        for &member in &near {
            sum.iter_mut().zip(all[member]).for_each(|(sum, &value)| *sum += f64::from(value));
        }
        sum.into_iter().map(|sum| (sum / near.len() as f64) as f32).collect()
    };
    (0..count).map(mean_near).collect()
}

/// In each number the mean of what is left without the b largest and the b smallest.
fn trimmed_mean(all: Vec<Vec<f32>>, tolerate: usize) -> Vec<f32> {
    let mut column = vec![0.0; all.len()];
    let mut number = |at: usize| {
        column.iter_mut().zip(&all).for_each(|(to, vector)| *to = vector[at]);
        column.sort_unstable_by(f32::total_cmp);
        let left = &column[tolerate..column.len() - tolerate];
        (left.iter().map(|&value| f64::from(value)).sum::<f64>() / left.len() as f64) as f32
    };
    (0..all.first().map_or(0, Vec::len)).map(&mut number).collect()
}

fn squared_distance(one: &[f32], other: &[f32]) -> f64 {
    let square = |a: f32, b: f32| (f64::from(a) - f64::from(b)) * (f64::from(a) - f64::from(b));
    let ((one, one_rest), (other, other_rest)) = (one.as_chunks::<LANES>(), other.as_chunks::<LANES>());
    let mut lanes = [0.0_f64; LANES];
    for (a, b) in one.iter().zip(other) {
        lanes.iter_mut().zip(a.iter().zip(b)).for_each(|(lane, (&a, &b))| *lane += square(a, b));
    }
    lanes.iter().sum::<f64>() + one_rest.iter().zip(other_rest).map(|(&a, &b)| square(a, b)).sum::<f64>()
}

/// Rounds that were folded last, by whichever participant came first: a simulation has many in one process. What comes out follows from what went in, so it
/// does not matter who made it.
#[derive(Debug, Default)]
pub(in crate::algorithm::rounds) struct Pool(Mutex<VecDeque<Arc<Folded>>>);

/// So many are kept: members are one round apart at most.
const KEPT: usize = 4;

impl Pool {
    /// As [`Means::after`].
    pub(super) fn after(
        &self,
        means: &Means,
        set: Fingerprint,
        contributions: &[(PeerIx, &[f32])],
        tolerate: usize,
    ) -> Arc<Folded> {
        let chain = chained(means.chain, set);
        let known =
            |kept: &VecDeque<Arc<Folded>>| kept.iter().find(|folded| folded.means.chain == chain).cloned();
        if let Some(folded) = self.0.lock().ok().and_then(|kept| known(&kept)) {
            return folded;
        }
        let folded = Arc::new(means.after(set, contributions, tolerate));
        if let Ok(mut kept) = self.0.lock() {
            kept.push_back(folded.clone());
            let old = kept.len().saturating_sub(KEPT);
            kept.drain(..old);
        }
        folded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(all: &[&[f32]], tolerate: usize) -> Vec<f32> {
        let contributions: Vec<(PeerIx, &[f32])> =
            all.iter().enumerate().map(|(at, vector)| (at as PeerIx, *vector)).collect();
        Means::default().after(Fingerprint::default(), &contributions, tolerate).step.unwrap()
    }

    /// By hand: of 0, 1, 2, 3 and 100 with b = 1 each is replaced by the mean of its four nearest: 1.5, 1.5, 1.5, 1.5 and (1 + 2 + 3 + 100)/4 = 26.5; without the
    /// largest and the smallest 1.5 is left.
    #[test]
    fn one_far_away_does_not_move_the_rest() {
        let vectors = [[0.0], [1.0], [2.0], [3.0], [100.0]];
        let all: Vec<&[f32]> = vectors.iter().map(<[f32; 1]>::as_slice).collect();
        assert!((step(&all, 1)[0] - 1.5).abs() < 1e-6, "{:?}", step(&all, 1));
        // Without anybody to bear it is the plain mean: 106/5.
        assert!((step(&all, 0)[0] - 21.2).abs() < 1e-5);
    }

    /// Σ 0.9^k c / Σ 0.9^k: a constant stays what it is, and of 1, 2, 3, … in t rounds it is t − Σ k·0.9^k / Σ 0.9^k.
    #[test]
    fn means_run_and_who_says_nothing_keeps_its_own() {
        let mut means = Arc::new(Means::default());
        for round in 1..=20_i32 {
            let folded = means.after(Fingerprint::default(), &[(3, &[2.0]), (5, &[round as f32])], 0);
            let sum = |of: &dyn Fn(i32) -> f64| (0..round).map(|k| of(k) * 0.9_f64.powi(k)).sum::<f64>();
            let counted = f64::from(round) - sum(&f64::from) / sum(&|_| 1.0);
            let expected = (2.0 + counted) / 2.0;
            assert!((f64::from(folded.step.as_ref().unwrap()[0]) - expected).abs() < 1e-5);
            means = folded.means.clone();
        }
        let alone = means.after(Fingerprint::default(), &[(3, &[4.0])], 0);
        assert_eq!(alone.means.of[&5].values, means.of[&5].values);
        assert!(alone.means.of[&3].values[0] > means.of[&3].values[0]);
        assert!(means.after(Fingerprint::default(), &[(3, &[2.0]), (5, &[2.0])], 1).step.is_none(), "2b = n");
    }

    #[test]
    fn who_comes_second_gets_what_the_first_made_and_other_sets_are_others() {
        let pool = Pool::default();
        let (means, set) = (Means::default(), Fingerprint::of("a set", &[]));
        let first = pool.after(&means, set, &[(0, &[1.0])], 0);
        assert!(Arc::ptr_eq(&first, &pool.after(&means, set, &[(0, &[1.0])], 0)));
        let other = pool.after(&means, Fingerprint::of("another set", &[]), &[(0, &[3.0])], 0);
        assert!((other.step.as_ref().unwrap()[0] - 3.0).abs() < 1e-6);
        for _ in 0..9 {
            pool.after(&first.means, set, &[(0, &[1.0])], 0);
            assert!(pool.0.lock().unwrap().len() <= KEPT);
        }
    }

    proptest::proptest! {
        /// b liars among n = 2b + 1 or more cannot take any number out of the range of the honest ones by more than mixing does: the step stays within the range of the
        /// means of n − b vectors of which at least n − 2b are honest, whatever the liars say, once trimmed.
        #[test]
        fn the_same_bits_come_out_whatever_the_size_of_the_lie(lie in -1e6_f32..1e6, honest in proptest::collection::vec(-1.0_f32..1.0, 7)) {
            let vectors: Vec<[f32; 1]> = honest.iter().map(|&value| [value]).chain([[lie], [lie]]).collect();
            let all: Vec<&[f32]> = vectors.iter().map(<[f32; 1]>::as_slice).collect();
            let once = step(&all, 2);
            proptest::prop_assert_eq!(once[0].to_bits(), step(&all, 2)[0].to_bits());
            // Both liars are outside of the seven nearest of every honest one if they are far away.
            if lie.abs() > 10.0 {
                let mean = honest.iter().sum::<f32>() / 7.0;
                proptest::prop_assert!((once[0] - mean).abs() < 1e-4, "{} for {mean}", once[0]);
            }
        }
    }
}

//! Where the tokens of a walk went, and which way a canary points at each visit so that nothing but fresh noise hides it.
//!
//! Between two looks of the watchers a token gains a sum of contributions; the difference of the looks is that sum. With fresh noise in each, the differences are
//! independent, and a sign for each of them changes nothing. If nodes use their noise again, differences have noise in common, and a canary whose signs are not like
//! any of it stands alone.

use std::collections::BTreeMap;

use protocol::{LogLine, RunEvent};

use crate::score::solve;

/// Noise of each difference that no other one shares, relative to that of a contribution: updates depend a little on the model, too.
const OWN_NOISE: f64 = 1e-3;
/// Differences that are compared at most: the system is dense.
const MOST_LOOKS: usize = 48;
/// Passes over all signs at most.
const PASSES: usize = 20;

/// Who contributed when, in one run.
pub(crate) struct Visits {
    /// How many contributions each node made.
    counts: BTreeMap<usize, u32>,
    /// By token: each hop's holder, and the count of its contribution if it made one. Empty unless the run was a walk.
    tokens: BTreeMap<u32, BTreeMap<u32, (usize, Option<u32>)>>,
}

/// A canary's signs.
pub(crate) struct Watched {
    /// By count of the source's contribution: whether it points the other way.
    pub(crate) turned: Vec<bool>,
    /// μ² for Δ = σ = 1 that the watchers would see if every node used its first noise again; 0 where no look shows the source.
    pub(crate) shown: f64,
}

/// What a token gained between two looks.
#[derive(Default)]
struct Gain {
    /// Contributions by node.
    by_node: BTreeMap<usize, f64>,
    /// Counts of the source's.
    of_source: Vec<u32>,
}

impl Visits {
    pub(crate) fn of(log: &[LogLine]) -> Self {
        let (mut counts, mut tokens) = (BTreeMap::new(), BTreeMap::<u32, BTreeMap<_, _>>::new());
        for line in log {
            let Some(node) = line.node.map(|node| node as usize) else { continue };
            match line.event {
                RunEvent::Held { token, hop, .. } => {
                    tokens.entry(token).or_default().entry(hop).or_insert((node, None));
                }
                RunEvent::Released { round, token, .. } => {
                    let count: &mut u32 = counts.entry(node).or_default();
                    if let Some(hops) = tokens.get_mut(&token) {
                        hops.insert(round, (node, Some(*count)));
                    }
                    *count += 1;
                }
                _ => {}
            }
        }
        Self { counts, tokens }
    }

    pub(crate) fn is_walk(&self) -> bool {
        !self.tokens.is_empty()
    }

    /// How many contributions a node made.
    pub(crate) fn contributions(&self, node: usize) -> u32 {
        self.counts.get(&node).copied().unwrap_or(0)
    }

    /// Signs that make most of what looks have in common: one sign for each difference of looks, changed one by one as long as that shows more.
    pub(crate) fn plan(&self, source: usize, watchers: &[usize]) -> Watched {
        let mut gains = self.gains(source, watchers);
        // Those that show the source come first; of the others, as many as there is room for help to explain their noise.
        gains.sort_by_key(|gain| gain.of_source.is_empty());
        gains.truncate(MOST_LOOKS);
        let shown: Vec<f64> = gains.iter().map(|gain| gain.of_source.len() as f64).collect();
        let (signs, best) = best_signs(&inverse_covariance(&gains), &shown);
        let mut turned = vec![false; self.contributions(source) as usize];
        for (gain, _) in gains.iter().zip(&signs).filter(|(_, sign)| **sign < 0.0) {
            gain.of_source.iter().for_each(|&count| turned[count as usize] = true);
        }
        Watched { turned, shown: best }
    }

    /// μ² for Δ = σ = 1 of the differences between the watcher's looks, with fresh noise in every contribution.
    pub(crate) fn seen(&self, source: usize, watcher: usize) -> f64 {
        let gains = self.gains(source, &[watcher]);
        let of = |gain: &Gain| (gain.of_source.len() as f64).powi(2) / gain.by_node.values().sum::<f64>();
        gains.iter().map(of).sum()
    }

    /// What each token gained between looks of the watchers; what came after the last look is not seen.
    fn gains(&self, source: usize, watchers: &[usize]) -> Vec<Gain> {
        let mut gains = Vec::new();
        for hops in self.tokens.values() {
            let mut gain = Gain::default();
            for &(holder, count) in hops.values() {
                if watchers.contains(&holder) {
                    if !gain.by_node.is_empty() {
                        gains.push(std::mem::take(&mut gain));
                    }
                } else if let Some(count) = count {
                    *gain.by_node.entry(holder).or_default() += 1.0;
                    if holder == source {
                        gain.of_source.push(count);
                    }
                }
            }
        }
        gains
    }
}

/// Signs s and the value sᵀMs of the signal that they give; each sign is changed as long as that adds something.
fn best_signs(inverse: &[Vec<f64>], shown: &[f64]) -> (Vec<f64>, f64) {
    let value = |signs: &[f64]| -> f64 {
        let signal: Vec<f64> = signs.iter().zip(shown).map(|(sign, size)| sign * size).collect();
        let along = |row: &Vec<f64>| row.iter().zip(&signal).map(|(a, b)| a * b).sum::<f64>();
        inverse.iter().map(along).zip(&signal).map(|(a, b)| a * b).sum()
    };
    let mut signs: Vec<f64> = (0..shown.len()).map(|at| if at % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let mut best = value(&signs);
    for _ in 0..PASSES {
        let before = best;
        for at in (0..signs.len()).filter(|&at| shown[at] > 0.0) {
            signs[at] = -signs[at];
            let changed = value(&signs);
            if changed > best * (1.0 + 1e-9) {
                best = changed;
            } else {
                signs[at] = -signs[at];
            }
        }
        if best == before {
            break;
        }
    }
    (signs, best)
}

/// Inverse of the covariance of the differences if each node's noise is the same in all of them.
fn inverse_covariance(gains: &[Gain]) -> Vec<Vec<f64>> {
    let size = gains.len();
    let mut lower = vec![0.0; size * size];
    for (i, one) in gains.iter().enumerate() {
        for (j, other) in gains[..=i].iter().enumerate() {
            let common =
                one.by_node.iter().filter_map(|(node, count)| Some(count * other.by_node.get(node)?));
            lower[i * size + j] = common.sum::<f64>() + if i == j { OWN_NOISE } else { 0.0 };
        }
    }
    let unit = |at: usize| (0..size).map(|i| f64::from(u8::from(i == at))).collect();
    (0..size).map(|at| solve(&mut lower.clone(), unit(at))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A walk along this path in which every holder contributes.
    fn walk(path: &[u32]) -> Visits {
        let line = |node: u32, event: RunEvent| LogLine { time: Default::default(), node: Some(node), event };
        let lines: Vec<LogLine> = path
            .iter()
            .enumerate()
            .flat_map(|(hop, &node)| {
                let hop = hop as u32;
                let held = RunEvent::Held { token: 0, hop, generation: 0, from: node };
                let released = RunEvent::Released {
                    round: hop,
                    token: 0,
                    generation: 0,
                    release: None,
                    among: None,
                    loss: None,
                };
                [line(node, held), line(node, released)]
            })
            .collect();
        Visits::of(&lines)
    }

    #[test]
    fn a_node_that_is_seen_alone_twice_turns_around_and_nothing_hides_it() {
        let plan = walk(&[0, 1, 0, 1, 0]).plan(1, &[0]);
        assert_ne!(plan.turned[0], plan.turned[1]);
        // (1, −1) is an eigenvector of the covariance 1 + OWN_NOISE on and 1 off the diagonal, with the eigenvalue OWN_NOISE.
        assert!((plan.shown / (2.0 / OWN_NOISE) - 1.0).abs() < 1e-6, "{}", plan.shown);
    }

    #[test]
    fn others_that_come_along_both_times_do_not_hide_it_either_and_one_look_shows_little() {
        assert!(walk(&[0, 1, 2, 0, 2, 1, 0]).plan(1, &[0]).shown > 100.0);
        let once = walk(&[0, 1, 2, 0]).plan(1, &[0]);
        assert!((once.shown - 0.5).abs() < 0.01 && once.turned == [false], "{}", once.shown);
        assert_eq!(walk(&[0, 1, 2]).plan(1, &[0]).shown, 0.0, "what comes after the last look is not seen");
    }

    #[test]
    fn fresh_noise_of_all_that_came_along_hides_a_visit() {
        // Alone, with one other, and twice in three: 1 + 1/2 + 4/3.
        let seen = walk(&[0, 1, 0, 1, 2, 0, 1, 2, 1, 0, 1]).seen(1, 0);
        assert!((seen - (1.0 + 0.5 + 4.0 / 3.0)).abs() < 1e-12, "{seen}");
    }

    #[test]
    fn visits_between_the_same_two_looks_point_the_same_way() {
        let plan = walk(&[0, 1, 2, 1, 0, 1, 2, 1, 0]).plan(1, &[0]);
        assert_eq!(plan.turned[0], plan.turned[1]);
        assert_eq!(plan.turned[2], plan.turned[3]);
        assert_ne!(plan.turned[0], plan.turned[2]);
    }
}

//! How much noise for a target: everything scales with (Δ/σ)², so the unit loss is computed once and σ follows in closed form.

use super::error::NetworkError;
use super::pairwise::{Pricing, losses};
use super::rounds;
use super::run::{Run, Watchers};
use crate::gdp;
use rayon::prelude::*;
use std::str::FromStr;

/// Which loss is to meet the target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Target {
    /// The largest of all pairs.
    Worst,
    /// The mean of μ² over all pairs.
    Mean,
    /// The quantile of all pairs, between 0 and 1.
    Quantile(f64),
    /// What `watcher` learns about `source`.
    Pair {
        /// Whose data are at stake.
        source: usize,
        /// Who watches: a member of the coalition that is meant.
        watcher: usize,
    },
}

impl Target {
    /// The unit loss that this target is about.
    ///
    /// # Errors
    /// A pair that was not priced, or a quantile outside [0, 1].
    pub fn of(self, rows: &[impl AsRef<[f64]>], coalitions: &[Watchers]) -> Result<f64, NetworkError> {
        match self {
            Self::Worst => Ok(pairs(rows, coalitions).fold(0.0, f64::max)),
            Self::Mean => {
                let (sum, count) =
                    pairs(rows, coalitions).fold((0.0, 0usize), |(sum, count), mu2| (sum + mu2, count + 1));
                Ok(sum / count.max(1) as f64)
            }
            Self::Quantile(share) => quantile(pairs(rows, coalitions).collect(), share),
            Self::Pair { source, watcher } => {
                let row = coalitions.iter().position(|coalition| coalition.contains(watcher));
                let loss = row
                    .filter(|&row| !coalitions[row].contains(source))
                    .and_then(|row| rows[row].as_ref().get(source));
                loss.copied().ok_or(NetworkError::PairNotPriced { about: source, watcher })
            }
        }
    }
}

/// As people write it: `worst`, `mean`, `p95`, `pair:3,0` (what node 0 learns about node 3).
impl FromStr for Target {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let target = match text {
            "worst" => Some(Self::Worst),
            "mean" => Some(Self::Mean),
            _ => text.strip_prefix("pair:").map_or_else(|| share_of(text), pair_of),
        };
        target.ok_or("must be worst, mean, pNN with NN between 0 and 100, or pair:u,v")
    }
}

fn share_of(text: &str) -> Option<Target> {
    let percent: f64 = text.strip_prefix('p')?.parse().ok()?;
    (0.0..=100.0).contains(&percent).then_some(Target::Quantile(percent / 100.0))
}

fn pair_of(text: &str) -> Option<Target> {
    let (source, watcher) = text.split_once(',')?;
    Some(Target::Pair { source: source.trim().parse().ok()?, watcher: watcher.trim().parse().ok()? })
}

/// All losses of nodes outside the coalition that watches them.
fn pairs<'a>(rows: &'a [impl AsRef<[f64]>], coalitions: &'a [Watchers]) -> impl Iterator<Item = f64> + 'a {
    rows.iter().zip(coalitions).flat_map(|(row, watchers)| {
        let others = row.as_ref().iter().enumerate().filter(move |(node, _)| !watchers.contains(*node));
        others.map(|(_, mu2)| *mu2)
    })
}

/// The smallest value that at least this share of the values do not pass.
fn quantile(mut values: Vec<f64>, share: f64) -> Result<f64, NetworkError> {
    if !(0.0..=1.0).contains(&share) {
        return Err(NetworkError::OutOfRange {
            name: "the quantile",
            range: "between 0 and 1",
            value: share,
        });
    }
    values.sort_unstable_by(f64::total_cmp);
    let rank = (share * values.len() as f64).ceil() as usize;
    Ok(values.get(rank.saturating_sub(1)).copied().unwrap_or(0.0))
}

/// The least σ for which a loss of `unit_mu2` at Δ = σ = 1 meets (ε, δ), rounded up.
///
/// # Guarantee
/// With this σ and sensitivity Δ the loss that `unit_mu2` stands for is (ε, δ)-DP.
///
/// # Assumes
/// What the analysis that gave `unit_mu2` assumes.
///
/// # Errors
/// A target outside its range, a loss of zero (no noise is needed) or of infinity (none suffices).
pub fn sigma(unit_mu2: f64, epsilon: f64, delta: f64, sensitivity: f64) -> Result<f64, NetworkError> {
    let unreachable = |why: String| NetworkError::Unreachable { why };
    super::error::positive("the sensitivity", sensitivity)?;
    let mu = gdp::mu(epsilon, delta).map_err(|error| unreachable(error.to_string()))?;
    if unit_mu2 == 0.0 {
        return Err(unreachable("the loss is zero whatever the noise".into()));
    }
    let sigma = sensitivity * unit_mu2.sqrt() / mu * (1.0 + 1e-12);
    if !sigma.is_finite() {
        return Err(unreachable(format!("ε = {epsilon} and δ = {delta} leave no room for any loss")));
    }
    Ok(sigma)
}

/// Noise for each node of its own, so that the worst loss of every node meets (ε, δ) in an averaging run: nodes that are seen less add less.
///
/// # Guarantee
/// With these σ every coalition's loss about every node is (ε, δ)-DP under [`super::Analysis::Rounds`]: the losses are computed
/// with the unequal noises themselves, and all are scaled up together until the worst meets the target.
///
/// # Assumes
/// What [`rounds::loss`] assumes.
///
/// # Errors
/// As for [`sigma`] and [`rounds::loss`].
pub fn per_node_sigma(
    run: &Run,
    coalitions: &[Watchers],
    (epsilon, delta): (f64, f64),
    sensitivity: f64,
) -> Result<Vec<f64>, NetworkError> {
    let worst = |rows: &[Vec<f64>]| -> Vec<f64> {
        (0..run.nodes()).map(|node| rows.iter().map(|row| row[node]).fold(0.0, f64::max)).collect()
    };
    let mut noise = vec![1.0; run.nodes()];
    let mut losses = worst(&losses(run, coalitions, Pricing::Rounds, &|_| {})?);
    for _ in 0..PER_NODE_PASSES {
        // μ² of a node falls with the square of its own noise; what it hides for others changes little in one pass.
        let next: Vec<f64> =
            noise.iter().zip(&losses).map(|(noise, mu2)| noise * mu2.sqrt().max(LEAST_NOISE)).collect();
        let largest = next.iter().fold(0.0f64, |a, &b| a.max(b));
        noise = next.iter().map(|x| (x / largest).max(LEAST_NOISE)).collect();
        let rows: Vec<Vec<f64>> =
            coalitions.par_iter().map(|watchers| rounds::loss_with_noise(run, watchers, &noise)).collect();
        losses = worst(&rows);
    }
    let scale = sigma(losses.iter().fold(0.0, |a, &b| a.max(b)), epsilon, delta, sensitivity)?;
    Ok(noise.into_iter().map(|noise| noise * scale).collect())
}

/// Passes of balancing; the guarantee holds after any number.
const PER_NODE_PASSES: usize = 8;

/// Least share of the largest noise that a node adds: a node that nobody sees today still hides others.
const LEAST_NOISE: f64 = 0.05;

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn the_calibrated_noise_meets_the_target_and_a_little_less_does_not() {
        for (unit, epsilon, delta) in [(1.0, 1.0, 1e-5), (0.03, 0.1, 1e-9), (250.0, 8.0, 1e-6)] {
            let found = sigma(unit, epsilon, delta, 2.0).unwrap();
            let reached = |sigma: f64| gdp::epsilon(2.0 * f64::sqrt(unit) / sigma, delta).unwrap();
            assert!(
                reached(found) <= epsilon * (1.0 + 1e-12) && reached(found * 0.999) > epsilon,
                "{}",
                reached(found)
            );
        }
    }

    #[test]
    fn the_analytic_gaussian_of_balle_and_wang_is_the_local_case() {
        // Balle and Wang 2018: σ = 3.7306316348 for (1, 1e-5) and Δ = 1.
        assert!((sigma(1.0, 1.0, 1e-5, 1.0).unwrap() - 3.730_631_634_815_942).abs() < 1e-9);
    }

    #[test]
    fn targets_pick_what_they_name() {
        let rows = vec![vec![0.0, 1.0, 2.0], vec![3.0, 0.0, 6.0]];
        let coalitions = [Watchers::new(&[0], 3).unwrap(), Watchers::new(&[1], 3).unwrap()];
        let of = |target: Target| target.of(&rows, &coalitions).unwrap();
        assert_eq!(of(Target::Worst), 6.0);
        assert_eq!(of(Target::Mean), 3.0);
        assert_eq!(of(Target::Quantile(0.5)), 2.0);
        assert_eq!(of(Target::Quantile(0.95)), 6.0);
        assert_eq!(of(Target::Pair { source: 2, watcher: 0 }), 2.0);
        assert!(Target::Pair { source: 2, watcher: 2 }.of(&rows, &coalitions).is_err());
        assert!(Target::Quantile(1.5).of(&rows, &coalitions).is_err());
    }

    #[test]
    fn impossible_targets_are_refused() {
        assert!(sigma(1.0, -1.0, 1e-5, 1.0).is_err());
        assert!(sigma(1.0, 1.0, 0.0, 1.0).is_err());
        assert!(sigma(1.0, f64::NAN, 1e-5, 1.0).is_err());
        assert!(sigma(f64::INFINITY, 1.0, 1e-5, 1.0).is_err());
        assert!(sigma(0.0, 1.0, 1e-5, 1.0).is_err());
    }

    #[test]
    fn noise_per_node_meets_the_target_for_every_node() {
        let run = Run::on_graph(matrix_of(&path(9)), 2, 1).unwrap();
        let coalitions: Vec<Watchers> = (0..2).map(|node| Watchers::new(&[node], 9).unwrap()).collect();
        let sigmas = per_node_sigma(&run, &coalitions, (1.0, 1e-5), 1.0).unwrap();
        let most = sigmas.iter().fold(0.0f64, |a, &b| a.max(b));
        assert!(sigmas[8] < most, "a node that neither watcher reaches needs less: {sigmas:?}");
        for watchers in &coalitions {
            for (node, mu2) in rounds::loss_with_noise(&run, watchers, &sigmas).into_iter().enumerate() {
                let epsilon = gdp::epsilon(mu2.sqrt(), 1e-5).unwrap();
                assert!(epsilon <= 1.0 + 1e-9, "{watchers:?}, node {node}: {epsilon}");
            }
        }
    }
}

//! Random walks: what the holder of a token can learn about those who held it before.
//!
//! The token visits p_0, p_1, …; each holder updates it with fresh noise; a watcher sees it whenever it holds it. Between two looks the
//! changes by `u` arrive at its visits and are absorbed causally by the noises from each visit to the step before the look: the least Σξ² is
//! the energy of the taut string (greatest convex minorant) under the cumulative arrivals. One visit k steps before the look costs 1/k.

mod branches;

pub use branches::{Branch, loss_of_branches};

use super::error::NetworkError;
use super::run::Watchers;
use crate::rdp::conversion;

/// Loss μ² of every node towards the watchers for a path that was walked, for Δ = σ = 1.
///
/// # Guarantee
/// The view of the watchers is μ-Gaussian-DP with respect to all contributions of each `u` outside the coalition, even if they know the
/// whole path: the path does not depend on data.
///
/// # Assumes
/// Honest-but-curious watchers; fresh Gaussian noise in every update; update maps that do not bring two states farther apart (convex,
/// β-smooth loss and a step size of at most 2/β).
///
/// # Errors
/// An empty path, or a visit of a node that is not there.
pub fn loss(path: &[usize], nodes: usize, watchers: &Watchers) -> Result<Vec<f64>, NetworkError> {
    if path.is_empty() {
        return Err(NetworkError::NothingHappens);
    }
    if let Some((visit, &node)) = path.iter().enumerate().find(|(_, node)| **node >= nodes) {
        return Err(NetworkError::VisitOutside { visit, node, nodes });
    }
    Ok(loss_of_visits(path, nodes, watchers))
}

fn loss_of_visits(path: &[usize], nodes: usize, watchers: &Watchers) -> Vec<f64> {
    let mut losses = vec![0.0; nodes];
    let mut visits: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    let mut visitors: Vec<usize> = Vec::new();
    for (step, &holder) in path.iter().enumerate() {
        if watchers.contains(holder) {
            for visitor in visitors.drain(..) {
                losses[visitor] += taut_string_energy(&visits[visitor], step);
                visits[visitor].clear();
            }
        } else {
            if visits[holder].is_empty() {
                visitors.push(holder);
            }
            visits[holder].push(step);
        }
    }
    // A sum of non-negative terms: rounding is far below this share.
    losses.into_iter().map(|mu2| mu2 * (1.0 + 1e-12)).collect()
}

/// Least Σξ² that absorbs one unit from each arrival on, all before the look.
///
/// The cumulative absorption stays below the cumulative arrivals: it is free to be zero until the first arrival, below i just before
/// arrival i + 1, and the whole at the look. The lower convex hull of these points is the taut string.
fn taut_string_energy(arrivals: &[usize], look: usize) -> f64 {
    let slope = |a: (f64, f64), b: (f64, f64)| (b.1 - a.1) / (b.0 - a.0);
    let before = arrivals.iter().enumerate().map(|(count, &step)| (step as f64, count as f64));
    let points = before.chain([(look as f64, arrivals.len() as f64)]);
    let mut hull: Vec<(f64, f64)> = Vec::new();
    for point in points {
        while let [.., first, second] = hull[..] {
            if slope(first, second) < slope(second, point) {
                break;
            }
            hull.pop();
        }
        hull.push(point);
    }
    hull.windows(2).map(|pair| slope(pair[0], pair[1]).powi(2) * (pair[1].0 - pair[0].0)).sum()
}

/// What sampled paths say about a walk before it is made.
#[derive(Debug, Clone)]
pub struct Forecast {
    /// Paths sampled.
    pub samples: usize,
    /// Mean of μ² over the paths, per source.
    pub mean: Vec<f64>,
    /// Half the width of the 95 % confidence interval of the mean, per source.
    pub margin: Vec<f64>,
    /// Rényi orders of `divergence`.
    pub orders: Vec<f64>,
    /// Upper end of the 95 % confidence interval of D_α, per source and order, for Δ = σ = 1.
    pub divergence: Vec<Vec<f64>>,
}

impl Forecast {
    /// Divergence of every source at one of the orders, or nothing if it is not among them.
    pub fn divergence_at(&self, order: f64) -> Option<Vec<f64>> {
        let at = self.orders.iter().position(|&known| known == order)?;
        Some(self.divergence.iter().map(|bounds| bounds[at]).collect())
    }

    /// ε at δ of a source by the best of the orders: an estimate, like the divergences that it comes from.
    pub fn epsilon(&self, source: usize, delta: f64) -> f64 {
        let bounds = self.orders.iter().zip(&self.divergence[source]);
        bounds
            .map(|(&order, &divergence)| conversion::epsilon(order, divergence, delta))
            .fold(f64::INFINITY, f64::min)
    }
}

/// Estimates the loss of a walk whose path is not known yet from sampled paths: D_α ≤ 1/(α−1) · ln E exp((α−1)·αμ²(path)/2), by joint convexity.
///
/// `scale` is (Δ/σ)²: unlike a loss for a known path this one does not scale, so the noise must be named.
///
/// # Guarantee
/// None: an estimate with a confidence interval by the central limit theorem. The guarantee of a run that was made is [`loss`] of its path.
///
/// # Assumes
/// As for [`loss`], and that the paths are independent samples of the walk's law.
///
/// # Errors
/// As for [`loss`], fewer than two paths, or a scale that is not positive.
pub fn forecast(
    paths: impl Iterator<Item = Vec<usize>>,
    nodes: usize,
    watchers: &Watchers,
    scale: f64,
) -> Result<Forecast, NetworkError> {
    super::error::positive("(Δ/σ)²", scale)?;
    let orders = vec![1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 64.0];
    let mut sampled: Vec<Vec<f64>> = vec![Vec::new(); nodes];
    for path in paths {
        let losses = loss(&path, nodes, watchers)?;
        sampled.iter_mut().zip(losses).for_each(|(samples, mu2)| samples.push(mu2 * scale));
    }
    let samples = sampled.first().map_or(0, Vec::len);
    if samples < 2 {
        let value = samples as f64;
        return Err(NetworkError::OutOfRange {
            name: "the number of sampled paths",
            range: "at least 2",
            value,
        });
    }
    let (mean, margin) = sampled.iter().map(|samples| mean_and_margin(samples)).unzip();
    let divergence =
        sampled.iter().map(|samples| orders.iter().map(|&order| divergence(samples, order)).collect());
    Ok(Forecast { samples, mean, margin, divergence: divergence.collect(), orders })
}

/// Two-sided 95 % quantile of the normal distribution.
const TWO_SIDED_95: f64 = 1.96;

fn mean_and_margin(samples: &[f64]) -> (f64, f64) {
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count;
    let variance = samples.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (count - 1.0);
    (mean, TWO_SIDED_95 * (variance / count).sqrt())
}

/// Upper end of the confidence interval of D_α, with the exponentials kept relative to the largest.
fn divergence(samples: &[f64], order: f64) -> f64 {
    let rate = (order - 1.0) * order / 2.0;
    let largest = samples.iter().fold(0.0f64, |a, &b| a.max(b));
    let relative: Vec<f64> = samples.iter().map(|mu2| libm::exp(rate * (mu2 - largest))).collect();
    let (mean, margin) = mean_and_margin(&relative);
    (rate * largest + libm::log(mean + margin)) / (order - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_visit_k_steps_before_the_look_costs_one_over_k() {
        let watchers = Watchers::new(&[0], 3).unwrap();
        for k in 1..20 {
            let mut path = vec![1];
            path.resize(k, 2);
            path.push(0);
            let found = loss(&path, 3, &watchers).unwrap()[1];
            assert!((found - 1.0 / k as f64).abs() < 1e-11, "{k} steps: {found}");
        }
    }

    #[test]
    fn what_comes_after_the_last_look_costs_nothing() {
        let watchers = Watchers::new(&[0], 3).unwrap();
        assert_eq!(loss(&[2, 0, 1, 1, 1], 3, &watchers).unwrap()[1], 0.0);
    }

    #[test]
    fn the_taut_string_is_the_cheapest_of_all_feasible_absorptions() {
        // Two arrivals at steps 0 and 2, look at 3: absorb x at each of steps 0 and 1 (both together at most one), the rest at 2.
        // 2x² + (2 − 2x)² is least at x = 2/3, but 2x ≤ 1: x = 1/2 costs 2/4 + 1.
        assert!((taut_string_energy(&[0, 2], 3) - 1.5).abs() < 1e-15);
        // Arrivals at 0 and 1, look at 4: 1/2 at each step is feasible and costs 4/4.
        assert!((taut_string_energy(&[0, 1], 4) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn a_forecast_of_one_path_again_and_again_is_the_loss_of_that_path() {
        let path = vec![1, 2, 0, 2, 1, 2, 2, 0];
        let watchers = Watchers::new(&[0], 3).unwrap();
        let exact = loss(&path, 3, &watchers).unwrap();
        let found = forecast(std::iter::repeat_n(path, 5), 3, &watchers, 4.0).unwrap();
        assert!((found.mean[1] - 4.0 * exact[1]).abs() < 1e-9 && found.margin[1] < 1e-9);
        for (order, divergence) in found.orders.iter().zip(&found.divergence[1]) {
            assert!((divergence - order * 4.0 * exact[1] / 2.0).abs() < 1e-7, "order {order}: {divergence}");
        }
    }

    #[test]
    fn a_visit_of_a_node_that_is_not_there_is_refused() {
        let watchers = Watchers::new(&[0], 3).unwrap();
        assert!(matches!(
            loss(&[1, 7], 3, &watchers),
            Err(NetworkError::VisitOutside { visit: 1, node: 7, nodes: 3 })
        ));
    }
}

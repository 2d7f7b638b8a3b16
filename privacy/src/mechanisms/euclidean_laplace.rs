//! Laplace noise in Rⁿ under the Euclidean distance: density proportional to e^(−ε‖x‖) (Chatzikokolakis, Andrés,
//! Bordenabe and Palamidessi 2013; Chaudhuri, Monteleoni and Sarwate 2011 for the sampler).

use crate::event::DpEvent;
use crate::noise::{Bits, NoiseSource};

use super::Release;
use super::error::{MechanismError, all_finite, positive};
use super::rounding::quotient_down;

/// Adds a vector of uniform direction whose norm follows Gamma(shape n, rate ε).
///
/// # Guarantee
/// A release is ε·d-private: Pr[R(x) ∈ S] ≤ e^(ε‖x − x′‖) Pr[R(x′) ∈ S] for all points x, x′ and sets S. For inputs
/// at most `distance` apart it is (ε·`distance`)-DP. Independent releases add their ε.
///
/// # Assumes
/// ε is chosen without looking at the point (a scale that follows the data would give the data away). Noise is secret
/// and real-valued (see the [gaps](crate::noise#known-gaps-of-floating-point-noise)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EuclideanLaplace {
    epsilon_per_unit: f64,
    distance: f64,
}

impl EuclideanLaplace {
    /// Noise that costs `epsilon_per_unit` per unit of distance, for inputs that are at most `distance` apart.
    ///
    /// # Errors
    /// If one is not positive and finite.
    pub fn new(epsilon_per_unit: f64, distance: f64) -> Result<Self, MechanismError> {
        Ok(Self {
            epsilon_per_unit: positive("Epsilon per unit", epsilon_per_unit)?,
            distance: positive("Distance", distance)?,
        })
    }

    /// Noise that costs `epsilon` in all for inputs at most `distance` apart.
    ///
    /// # Guarantee
    /// ε-DP for such inputs.
    ///
    /// # Errors
    /// If one is not positive and finite.
    pub fn calibrated(epsilon: f64, distance: f64) -> Result<Self, MechanismError> {
        positive("Epsilon", epsilon)?;
        positive("Distance", distance)?;
        Self::new(quotient_down(epsilon, distance), distance)
            .map_err(|_| MechanismError::NoSuchNoise { what: "this epsilon", value: epsilon })
    }

    /// ε per unit of distance.
    pub fn epsilon_per_unit(&self) -> f64 {
        self.epsilon_per_unit
    }

    /// The event of one release.
    pub fn event(&self) -> DpEvent {
        DpEvent::DPrivate { epsilon_per_unit: self.epsilon_per_unit, distance: self.distance }
    }

    /// The variance of each coordinate in n dimensions: (n + 1)/ε².
    pub fn coordinate_variance(&self, dimension: usize) -> f64 {
        (dimension as f64 + 1.0) / (self.epsilon_per_unit * self.epsilon_per_unit)
    }

    /// The expected Euclidean error in n dimensions: n/ε.
    pub fn expected_error(&self, dimension: usize) -> f64 {
        dimension as f64 / self.epsilon_per_unit
    }

    /// Releases a point.
    ///
    /// # Guarantee
    /// As the type says.
    ///
    /// # Assumes
    /// As the type says.
    ///
    /// # Errors
    /// If the point has no coordinates or one is not finite; nothing is released then.
    pub fn release(
        &self,
        point: &[f64],
        noise: &mut dyn NoiseSource,
    ) -> Result<Release<Vec<f64>>, MechanismError> {
        if point.is_empty() {
            return Err(MechanismError::Empty { name: "The point" });
        }
        all_finite(point.iter().copied())?;
        let norm = standard_gamma(point.len(), noise) / self.epsilon_per_unit;
        let mut direction = vec![0.0; point.len()];
        noise.standard_normals(&mut direction);
        // Never zero: a normal is at least 2⁻⁵³ times the width of its layer in magnitude.
        let length = libm::sqrt(direction.iter().map(|x| x * x).sum());
        let value = point
            .iter()
            .zip(direction)
            .map(|(value, x)| (value + x / length * norm).clamp(f64::MIN, f64::MAX))
            .collect();
        Ok(Release { value, event: self.event(), noise_is_private: noise.is_private() })
    }
}

/// Gamma(shape, rate 1) for a whole shape ≥ 1 (Marsaglia and Tsang 2000).
fn standard_gamma(shape: usize, noise: &mut dyn NoiseSource) -> f64 {
    let d = shape as f64 - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    loop {
        let mut normal = [0.0];
        noise.standard_normals(&mut normal);
        let [x] = normal;
        let root = 1.0 + c * x;
        if root <= 0.0 {
            continue;
        }
        let v = root * root * root;
        if libm::log(Bits::new(noise).unit()) < 0.5 * x * x + d * (1.0 - v + libm::log(v)) {
            return d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{KS_LIMIT, NOT_POSITIVE, ks};
    use super::*;
    use crate::noise::danger_from_seed;

    const RELEASES: usize = 20_000;

    fn releases(dimension: usize, epsilon: f64, seed: u64) -> Vec<Vec<f64>> {
        let mechanism = EuclideanLaplace::new(epsilon, 1.0).unwrap();
        let mut noise = danger_from_seed(seed, "euclidean");
        let origin = vec![0.0; dimension];
        (0..RELEASES).map(|_| mechanism.release(&origin, &mut noise).unwrap().value).collect()
    }

    fn norm(x: &[f64]) -> f64 {
        x.iter().map(|x| x * x).sum::<f64>().sqrt()
    }

    #[test]
    fn norms_follow_the_gamma_distribution() {
        for (dimension, seed) in [(1, 81), (2, 82), (7, 83)] {
            let norms = releases(dimension, 0.5, seed).iter().map(|x| norm(x)).collect();
            // For a whole shape the distribution function is a Poisson tail: 1 − Σ_{k<n} e^−y y^k/k!.
            let cdf = |r: f64| {
                let y = 0.5 * r;
                let mut term = libm::exp(-y);
                let mut tail = 0.0;
                for k in 0..dimension {
                    tail += term;
                    term *= y / (k + 1) as f64;
                }
                1.0 - tail
            };
            assert!(ks(norms, cdf) < KS_LIMIT, "{dimension}");
        }
    }

    #[test]
    fn directions_are_uniform() {
        // In R³ each coordinate of a uniform direction is uniform on [−1, 1] (Archimedes); in R² its angle is.
        let in_space = releases(3, 2.0, 84);
        for axis in 0..3 {
            let heights = in_space.iter().map(|x| x[axis] / norm(x)).collect();
            assert!(ks(heights, |h| 0.5 * (h + 1.0)) < KS_LIMIT, "{axis}");
        }
        let angles = releases(2, 2.0, 85).iter().map(|x| x[1].atan2(x[0])).collect();
        assert!(ks(angles, |a| 0.5 + a / std::f64::consts::TAU) < KS_LIMIT);
    }

    #[test]
    fn in_one_dimension_it_is_the_laplace_distribution() {
        let values = releases(1, 0.5, 86).into_iter().map(|x| x[0]).collect();
        let cdf = |x: f64| {
            let tail = 0.5 * libm::exp(-0.5 * x.abs());
            if x < 0.0 { tail } else { 1.0 - tail }
        };
        assert!(ks(values, cdf) < KS_LIMIT);
    }

    #[test]
    fn bad_parameters_are_refused_by_name() {
        for bad in NOT_POSITIVE {
            assert!(EuclideanLaplace::new(bad, 1.0).unwrap_err().to_string().contains("Epsilon per unit"));
            assert!(EuclideanLaplace::new(1.0, bad).unwrap_err().to_string().contains("Distance"));
            assert!(EuclideanLaplace::calibrated(bad, 1.0).is_err());
        }
        let mechanism = EuclideanLaplace::calibrated(2.0, 4.0).unwrap();
        assert_eq!(mechanism.event(), DpEvent::DPrivate { epsilon_per_unit: 0.5, distance: 4.0 });
        let mut noise = danger_from_seed(87, "euclidean");
        assert!(mechanism.release(&[], &mut noise).is_err());
        assert!(mechanism.release(&[0.0, f64::NAN], &mut noise).is_err());
    }

    proptest! {
        /// The density is c·e^(−ε‖y − x‖): the ratio is bounded by the triangle inequality, at every point.
        #[test]
        fn densities_differ_by_at_most_e_to_the_epsilon_times_distance(
            points in prop::collection::vec((-5.0_f64..5.0, -5.0_f64..5.0, -50.0_f64..50.0), 1..6),
            epsilon in 0.01_f64..5.0,
        ) {
            let from = |pick: fn(&(f64, f64, f64)) -> f64| norm(&points.iter().map(pick).collect::<Vec<_>>());
            let (first, second, apart) = (from(|p| p.2 - p.0), from(|p| p.2 - p.1), from(|p| p.0 - p.1));
            prop_assert!(epsilon * (second - first) <= epsilon * apart + 1e-9);
        }
    }
}

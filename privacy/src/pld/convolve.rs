//! Composition by Fourier transform, and the (ε, δ) curve of the result.
//!
//! The tilted laws are folded onto a circle of N lattice points, transformed, raised to their counts and multiplied.
//! Folding adds what lies outside the window to points inside, so it can only enlarge δ; what it leaves out,
//! losses above the window, is added by Chernoff's bound. Rounding of the transform is bounded in the
//! 2-norm and added too.

use realfft::RealFftPlanner;
use realfft::num_complex::Complex64;

use super::lattice::LatticeLaw;
use super::tilt::{Points, Tilt, log_tilted_tail};

/// Spectral lines below e^{−this} cannot matter and are not raised.
const NEGLIGIBLE: f64 = 80.0;

/// Rounding unit for one multiplication of spectra, with margin for the transform's own error.
const SPECTRUM_ROUNDING: f64 = 4e-15;

/// Relative error of one lattice mass (quadrature and rounding), with margin.
const MASS_ROUNDING: f64 = 1e-13;

/// The law of the total loss on a window, tilted by e^{θx} and scaled.
#[derive(Debug, Clone)]
pub(super) struct Composed {
    step: f64,
    low_index: i64,
    theta: f64,
    /// Tilted probabilities of `low_index + i`.
    weights: Vec<f64>,
    /// ln of the factor that undoes tilt and scale at the centre.
    log_scale: f64,
    centre: f64,
    /// Probability of an infinite loss, or one above the window.
    beyond: f64,
    /// 2-norm of the rounding error of `weights`.
    rounding: f64,
    /// The relative error of all masses together.
    inflation: f64,
}

/// Laws with counts on one lattice, and where to look at their sum.
pub(super) struct Composition {
    /// Lattice step.
    pub step: f64,
    /// Number of lattice points in the window.
    pub size: usize,
    /// Each distinct law and how often it is added.
    pub parts: Vec<(LatticeLaw, u64)>,
}

impl Composition {
    /// Adds up all losses.
    pub(super) fn run(&self, tilt: &Tilt) -> Composed {
        let points: Vec<(Points, f64)> = self
            .parts
            .iter()
            .map(|(law, count)| (Points::of_lattice(&law.masses, self.step), *count as f64))
            .collect();
        let log_moments: Vec<f64> = points.iter().map(|(points, _)| points.log_moment(tilt.theta)).collect();
        let log_moment: f64 = log_moments.iter().zip(&points).map(|(one, (_, count))| one * count).sum();

        let weights = self.transform(tilt.theta, &log_moments);
        let low_index = (tilt.low / self.step).floor() as i64;
        let high = (low_index + self.size as i64 - 1) as f64 * self.step;
        let above = log_moment - tilt.theta * high + log_tilted_tail(&points, tilt, log_moment, high);
        let infinite: f64 =
            self.parts.iter().map(|(law, count)| *count as f64 * libm::log1p(-law.infinite)).sum();
        let releases: f64 = points.iter().map(|(_, count)| count).sum();
        let norm = libm::sqrt(weights.iter().map(|weight| weight * weight).sum());
        Composed {
            step: self.step,
            low_index,
            theta: tilt.theta,
            weights: (0..self.size)
                .map(|i| weights[(low_index + i as i64).rem_euclid(self.size as i64) as usize].max(0.0))
                .collect(),
            log_scale: log_moment - tilt.theta * tilt.at.mean,
            centre: tilt.at.mean,
            beyond: libm::exp(above.min(0.0)) - libm::expm1(infinite),
            rounding: norm * SPECTRUM_ROUNDING * (releases + 8.0),
            inflation: 1.0 + (MASS_ROUNDING * (releases + 100.0)).min(1.0),
        }
    }

    /// The tilted, folded law of the sum, by residue of the index.
    fn transform(&self, theta: f64, log_moments: &[f64]) -> Vec<f64> {
        let mut planner = RealFftPlanner::<f64>::new();
        let forward = planner.plan_fft_forward(self.size);
        let mut product = vec![Complex64::new(1.0 / self.size as f64, 0.0); self.size / 2 + 1];
        let mut buffer = forward.make_input_vec();
        let mut spectrum = forward.make_output_vec();
        for ((law, count), log_moment) in self.parts.iter().zip(log_moments) {
            buffer.fill(0.0);
            for &(index, mass) in &law.masses {
                let tilted = mass * libm::exp(theta * index as f64 * self.step - log_moment);
                buffer[index.rem_euclid(self.size as i64) as usize] += tilted;
            }
            forward.process(&mut buffer, &mut spectrum).expect("buffers come from the plan");
            raise_into(&mut product, &spectrum, *count);
        }
        // The transform of real numbers has real ends; rounding must not say otherwise.
        product[0].im = 0.0;
        if self.size.is_multiple_of(2) {
            product[self.size / 2].im = 0.0;
        }
        let inverse = planner.plan_fft_inverse(self.size);
        inverse.process(&mut product, &mut buffer).expect("buffers come from the plan");
        buffer
    }
}

/// product ← product · spectrum^count.
fn raise_into(product: &mut [Complex64], spectrum: &[Complex64], count: u64) {
    let count = count as f64;
    let threshold = libm::exp(-2.0 * NEGLIGIBLE / count);
    for (line, value) in product.iter_mut().zip(spectrum) {
        let square = value.norm_sqr();
        if square <= threshold {
            *line = Complex64::new(0.0, 0.0);
            continue;
        }
        if *line != Complex64::new(0.0, 0.0) {
            let size = libm::exp(0.5 * count * libm::log(square));
            let (sine, cosine) = libm::sincos(count * libm::atan2(value.im, value.re));
            *line *= Complex64::new(size * cosine, size * sine);
        }
    }
}

impl Composed {
    /// An upper bound on δ(ε).
    pub(super) fn delta(&self, epsilon: f64) -> f64 {
        let sums = self.sums_above(epsilon);
        let mut delta = self.curve(&sums, epsilon) + self.guard(epsilon) + self.beyond;
        if epsilon < self.low_index as f64 * self.step {
            // Only an untilted window can lie above the question; it leaves out 1e-11 below, taken as 1e-9.
            delta += if self.theta == 0.0 { 1e-9 } else { 1.0 };
        }
        delta.min(1.0)
    }

    /// An upper bound on ε(δ), not below 0; infinite if what lies beyond the window exceeds δ.
    pub(super) fn epsilon(&self, delta: f64) -> f64 {
        let first = self.crossing(delta - self.beyond);
        if !first.is_finite() {
            return f64::INFINITY;
        }
        // The guard falls with ε, so its value at the first crossing covers the second.
        let second = self.crossing(delta - self.beyond - self.guard(first));
        second.max(0.0)
    }

    /// The ε at which the curve of the weights falls to `goal`, scanning down from the top of the window.
    fn crossing(&self, goal: f64) -> f64 {
        if goal <= 0.0 {
            return f64::INFINITY;
        }
        let mut sums = Sums::default();
        for i in (0..self.weights.len()).rev() {
            let next = self.with_point(&sums, i);
            // Between point i − 1 and point i the curve uses all points from i up.
            let left = self.loss(i) - self.step;
            if self.curve(&next, left) > goal {
                return self.solve_cell(&next, goal, left);
            }
            sums = next;
        }
        self.loss(0)
    }

    /// δ = scale·(A − e^{ε−c}B) is linear in e^ε inside a cell.
    fn solve_cell(&self, sums: &Sums, goal: f64, left: f64) -> f64 {
        let level = libm::exp(libm::log(goal / self.inflation) - self.log_scale);
        let found = self.centre + libm::log((sums.mass - level) / sums.discounted);
        let found = if found.is_finite() { found } else { left + self.step };
        // Rounding of this one subtraction, relative to the curve's slope, stays below the next line.
        (found + 1e-12 * (self.step + found.abs() * 1e-2)).clamp(left, left + self.step)
    }

    fn sums_above(&self, epsilon: f64) -> Sums {
        let from = ((epsilon / self.step).floor() as i64 + 1 - self.low_index).max(0) as usize;
        (from..self.weights.len()).rev().fold(Sums::default(), |sums, i| self.with_point(&sums, i))
    }

    fn with_point(&self, sums: &Sums, i: usize) -> Sums {
        let offset = self.loss(i) - self.centre;
        let weight = self.weights[i] * libm::exp(-self.theta * offset);
        Sums { mass: sums.mass + weight, discounted: sums.discounted + weight * libm::exp(-offset) }
    }

    fn curve(&self, sums: &Sums, epsilon: f64) -> f64 {
        let inside = sums.mass - libm::exp(epsilon - self.centre) * sums.discounted;
        inside.max(0.0) * libm::exp(self.log_scale) * self.inflation
    }

    /// What rounding of the weights can add to δ(ε): Cauchy–Schwarz with the weights' error in 2-norm.
    fn guard(&self, epsilon: f64) -> f64 {
        let from = ((epsilon / self.step).floor() as i64 + 1 - self.low_index).max(0) as usize;
        let square: f64 = (from..self.weights.len())
            .map(|i| {
                let loss = self.loss(i);
                let factor = -libm::exp(-self.theta * (loss - self.centre)) * libm::expm1(epsilon - loss);
                factor * factor
            })
            .sum();
        libm::sqrt(square) * self.rounding * libm::exp(self.log_scale)
    }

    fn loss(&self, i: usize) -> f64 {
        (self.low_index + i as i64) as f64 * self.step
    }
}

/// Σ w e^{−θ(x−c)} and Σ w e^{−(θ+1)(x−c)} over points above some ε.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    mass: f64,
    discounted: f64,
}

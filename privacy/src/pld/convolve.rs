//! Composition by Fourier transform, and the (ε, δ) curve of the result.
//!
//! The tilted laws are folded onto a circle of N lattice points, transformed, raised to their counts and multiplied.
//! Folding adds what lies outside the window to points inside, so it can only enlarge δ; what it leaves out,
//! losses above the window, is added by Chernoff's bound. Rounding of the transform is bounded in the
//! 2-norm and added too.

use realfft::num_complex::Complex64;

use super::lattice::LatticeLaw;
use super::tilt::{Points, Tilt, log_tilted_tail};
use super::transform;

/// Spectral lines below e^{−this} cannot matter and are not raised.
const NEGLIGIBLE: f64 = 80.0;

/// Rounding unit for one multiplication of spectra, with margin for the transform's own error.
const SPECTRUM_ROUNDING: f64 = 4e-15;

/// Relative error of one lattice mass (quadrature and rounding), with margin.
const MASS_ROUNDING: f64 = 1e-13;

/// Points over which factors are a geometric series before they are made anew.
const STRETCH: usize = 64;

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

        let mut weights = self.transform(tilt.theta, &log_moments);
        let low_index = (tilt.low / self.step).floor() as i64;
        let high = (low_index + self.size as i64 - 1) as f64 * self.step;
        let above = log_moment - tilt.theta * high + log_tilted_tail(&points, tilt, log_moment, high);
        let infinite: f64 =
            self.parts.iter().map(|(law, count)| *count as f64 * libm::log1p(-law.infinite)).sum();
        let releases: f64 = points.iter().map(|(_, count)| count).sum();
        let norm = libm::sqrt(weights.iter().map(|weight| weight * weight).sum());
        weights.rotate_left(low_index.rem_euclid(self.size as i64) as usize);
        weights.iter_mut().for_each(|weight| *weight = weight.max(0.0));
        Composed {
            step: self.step,
            low_index,
            theta: tilt.theta,
            weights,
            log_scale: log_moment - tilt.theta * tilt.at.mean,
            centre: tilt.at.mean,
            beyond: libm::exp(above.min(0.0)) - libm::expm1(infinite),
            rounding: norm * SPECTRUM_ROUNDING * (releases + 8.0),
            inflation: 1.0 + (MASS_ROUNDING * (releases + 100.0)).min(1.0),
        }
    }

    /// The tilted, folded law of the sum, by residue of the index.
    fn transform(&self, theta: f64, log_moments: &[f64]) -> Vec<f64> {
        let mut product = vec![Complex64::new(1.0 / self.size as f64, 0.0); self.size / 2 + 1];
        for ((law, count), log_moment) in self.parts.iter().zip(log_moments) {
            let tilted = |&(index, mass): &(i64, f64)| {
                let tilted = mass * libm::exp(theta * index as f64 * self.step - log_moment);
                (index.rem_euclid(self.size as i64) as usize, tilted)
            };
            let masses: Vec<(usize, f64)> = law.masses.iter().map(tilted).collect();
            raise_into(&mut product, &transform::forward(&masses, self.size), *count);
        }
        // The transform of real numbers has real ends; rounding must not say otherwise.
        product[0].im = 0.0;
        if self.size.is_multiple_of(2) {
            product[self.size / 2].im = 0.0;
        }
        transform::inverse(&mut product, self.size)
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
        let mut found = 0.0;
        self.scan(|sums, left| {
            if left <= epsilon {
                found = self.curve(sums, epsilon.min(left + self.step));
                return true;
            }
            false
        });
        if epsilon < self.low_index as f64 * self.step {
            // Only an untilted window can lie above the question; it leaves out 1e-11 below, taken as 1e-9.
            found += if self.theta == 0.0 { 1e-9 } else { 1.0 };
        }
        (found + self.beyond).min(1.0)
    }

    /// An upper bound on ε(δ), not below 0; infinite if what lies beyond the window exceeds δ.
    pub(super) fn epsilon(&self, delta: f64) -> f64 {
        let goal = delta - self.beyond;
        if goal <= 0.0 {
            return f64::INFINITY;
        }
        // If the curve stays below the goal in the whole window, its lower end is a bound.
        let mut found = self.loss(0);
        self.scan(|sums, left| {
            if self.curve(sums, left) <= goal {
                return false;
            }
            found = self.solve_cell(sums, goal, left);
            true
        });
        found.max(0.0)
    }

    /// Walks down from the top of the window, with sums over all points from i up and the left end of the cell
    /// below point i, until `stop` says so. The last cell, below the window, is unbounded. Once `stop` says so it must go on saying so: it is
    /// asked at the end of each stretch, and at each point only of the stretch in which it changes its mind.
    fn scan(&self, mut stop: impl FnMut(&Sums, f64) -> bool) {
        let mut sums = Sums::default();
        let mut top = self.weights.len();
        while top > 0 {
            let bottom = (top - 1) / STRETCH * STRETCH;
            let (after, left) = self.stretch(sums, bottom..top, |_, _| false);
            if stop(&after, left) {
                self.stretch(sums, bottom..top, stop);
                return;
            }
            (sums, top) = (after, bottom);
        }
    }

    /// The part of [`Self::scan`] over some points; its sums and the left end of its last cell.
    fn stretch(
        &self,
        mut sums: Sums,
        points: std::ops::Range<usize>,
        mut stop: impl FnMut(&Sums, f64) -> bool,
    ) -> (Sums, f64) {
        let (ratio, discount) = (libm::exp(self.theta * self.step), libm::exp(self.step));
        let (mut undone, mut discounted) = (0.0, 0.0);
        let mut left = f64::NEG_INFINITY;
        for i in points.rev() {
            // The factors e^{−θ(x−c)} and e^{−(x−c)} are a geometric series, refreshed before rounding adds up.
            if i % STRETCH == STRETCH - 1 || i + 1 == self.weights.len() {
                let offset = self.loss(i) - self.centre;
                (undone, discounted) = (libm::exp(-self.theta * offset), libm::exp(-offset));
            } else {
                (undone, discounted) = (undone * ratio, discounted * discount);
            }
            let weight = self.weights[i] * undone;
            sums.mass += weight;
            sums.discounted += weight * discounted;
            sums.squares += undone * undone;
            left = if i == 0 { f64::NEG_INFINITY } else { self.loss(i) - self.step };
            if stop(&sums, left) {
                break;
            }
        }
        (sums, left)
    }

    /// δ at ε in a cell: linear in e^ε, enlarged by what rounding can hide. By Cauchy–Schwarz the error of the
    /// weights, known in 2-norm, adds at most its product with the norm of the factors.
    fn curve(&self, sums: &Sums, epsilon: f64) -> f64 {
        let inside = sums.mass - libm::exp(epsilon - self.centre) * sums.discounted;
        let rounding = self.rounding * libm::sqrt(sums.squares) + 1e-13 * sums.mass;
        (inside.max(0.0) + rounding) * libm::exp(self.log_scale) * self.inflation
    }

    /// The ε in a cell at which the enlarged curve falls to `goal`.
    fn solve_cell(&self, sums: &Sums, goal: f64, left: f64) -> f64 {
        let level = libm::exp(libm::log(goal / self.inflation) - self.log_scale);
        let rounding = self.rounding * libm::sqrt(sums.squares) + 1e-13 * sums.mass;
        let found = self.centre + libm::log((sums.mass + rounding - level) / sums.discounted);
        let right = if left.is_finite() { left + self.step } else { self.loss(0) };
        if found.is_finite() { found.clamp(left, right) } else { right }
    }

    fn loss(&self, i: usize) -> f64 {
        (self.low_index + i as i64) as f64 * self.step
    }
}

/// Over points above some ε: Σ w e^{−θ(x−c)}, Σ w e^{−(θ+1)(x−c)} and Σ e^{−2θ(x−c)}.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    mass: f64,
    discounted: f64,
    squares: f64,
}

//! Cumulants of a composition, and the exponential tilt that puts the question where the mass is.
//!
//! Under the law tilted by e^{θx} a δ of 1e-9 becomes an event of ordinary probability, so that the Fourier
//! transform answers with relative instead of absolute accuracy, and a window of some fourteen standard
//! deviations holds all that matters (Chernoff). The tilt only steers the computation: whatever θ is used, the
//! result is a bound.

use super::lattice::GAUSS_4;
use super::loss::LossDistribution;

/// A law of losses as weighted points, for moment generating functions.
#[derive(Debug, Clone)]
pub(super) struct Points {
    losses: Vec<f64>,
    log_masses: Vec<f64>,
}

/// K(θ) = ln E e^{θX} and its first two derivatives.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cumulants {
    pub log_moment: f64,
    pub mean: f64,
    pub variance: f64,
}

/// How a composition is to be transformed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tilt {
    /// θ.
    pub theta: f64,
    /// Cumulants of the whole composition at θ.
    pub at: Cumulants,
    /// Lowest loss of the window.
    pub low: f64,
    /// Highest loss of the window.
    pub high: f64,
    /// Whether θ is smaller than the question would need.
    pub capped: bool,
}

/// Tilted probability that may fall outside the window on each side.
const OUTSIDE: f64 = 1e-11;

impl Points {
    /// Quadrature points of a law; a few digits suffice, since they only choose θ and the window.
    pub(super) fn of(law: &LossDistribution) -> Self {
        let (mut losses, mut log_masses) = (Vec::new(), Vec::new());
        for piece in &law.pieces {
            let panels =
                ((piece.high - piece.low) / (0.5 * piece.smooth_width())).ceil().clamp(1.0, 1e5) as u32;
            let half = 0.5 * (piece.high - piece.low) / f64::from(panels);
            for panel in 0..panels {
                let middle = piece.low + half * f64::from(2 * panel + 1);
                for (node, weight) in GAUSS_4 {
                    for z in [middle - half * node, middle + half * node] {
                        let (loss, log_density) = piece.loss_and_log_density(z);
                        losses.push(loss);
                        log_masses.push(log_density + libm::log(half * weight));
                    }
                }
            }
        }
        for &(loss, mass) in law.atoms.iter().filter(|(_, mass)| *mass > 0.0) {
            losses.push(loss);
            log_masses.push(libm::log(mass));
        }
        Self { losses, log_masses }
    }

    /// Points of a law on a lattice.
    pub(super) fn of_lattice(masses: &[(i64, f64)], step: f64) -> Self {
        Self {
            losses: masses.iter().map(|(index, _)| *index as f64 * step).collect(),
            log_masses: masses.iter().map(|(_, mass)| libm::log(*mass)).collect(),
        }
    }

    pub(super) fn cumulants(&self, theta: f64) -> Cumulants {
        let exponent = |(loss, log_mass): (&f64, &f64)| log_mass + theta * loss;
        let pairs = || self.losses.iter().zip(&self.log_masses);
        let top = pairs().map(exponent).fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
        for (loss, log_mass) in pairs() {
            let scaled = exponent((loss, log_mass)) - top;
            if scaled > -50.0 {
                let weight = libm::exp(scaled);
                sum += weight;
                first += weight * loss;
                second += weight * loss * loss;
            }
        }
        let mean = first / sum;
        let variance = (second / sum - mean * mean).max(0.0);
        Cumulants { log_moment: top + libm::log(sum), mean, variance }
    }

    /// ln E e^{θX}.
    pub(super) fn log_moment(&self, theta: f64) -> f64 {
        self.cumulants(theta).log_moment
    }
}

/// Cumulants of independent sums: everything adds, times the counts.
pub(super) fn total(parts: &[(Points, f64)], theta: f64) -> Cumulants {
    parts.iter().fold(Cumulants::default(), |sum, (points, count)| {
        let one = points.cumulants(theta);
        Cumulants {
            log_moment: sum.log_moment + count * one.log_moment,
            mean: sum.mean + count * one.mean,
            variance: sum.variance + count * one.variance,
        }
    })
}

impl Tilt {
    /// The tilt under which the loss that has hockey-stick value `delta` is typical.
    pub(super) fn for_delta(parts: &[(Points, f64)], delta: f64) -> Self {
        let goal = libm::log(delta);
        Self::solve(parts, -goal, |theta, at| log_delta_estimate(theta, at) > goal)
    }

    /// The tilt under which a loss of `epsilon` is typical (none if it already is, or is below).
    pub(super) fn for_epsilon(parts: &[(Points, f64)], epsilon: f64) -> Self {
        Self::solve(parts, 650.0, |_, at| at.mean < epsilon)
    }

    /// About the smallest that δ(ε) can be: a thousandth of Chernoff's bound.
    pub(super) fn least_delta(&self, epsilon: f64) -> f64 {
        (1e-3 * libm::exp(self.at.log_moment - self.theta * epsilon)).clamp(1e-290, 1.0)
    }

    /// Finds to a few per cent the θ ≥ 0 up to which `below(θ)` holds; it must hold from 0 on, if at all.
    ///
    /// A Gaussian sum would need θ = √(2 ln(1/δ)) over its deviation, and heavier tails need less. Bounded losses near
    /// their largest sum would need ever more, which helps nobody: there θ stops at three times that.
    fn solve(parts: &[(Points, f64)], log_odds: f64, below: impl Fn(f64, &Cumulants) -> bool) -> Self {
        let holds = |theta: f64| below(theta, &total(parts, theta));
        let natural = 1.0 / libm::sqrt(total(parts, 0.0).variance).max(1e-150);
        if !holds(0.0) {
            return Self::at(parts, 0.0);
        }
        let most = 3.0 * natural * libm::sqrt(2.0 * log_odds + 4.0);
        let mut high = natural.min(most);
        while holds(high) {
            if high >= most {
                return Self { capped: true, ..Self::at(parts, most) };
            }
            high = (high * 4.0).min(most);
        }
        let mut low = 0.0;
        while high - low > 0.03 * high && high > 1e-12 {
            let middle = if low == 0.0 { 0.25 * high } else { libm::sqrt(low * high) };
            if holds(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        Self::at(parts, low)
    }

    fn at(parts: &[(Points, f64)], theta: f64) -> Self {
        let at = total(parts, theta);
        let log_moment = |shifted: f64| total(parts, shifted).log_moment;
        let high = at.mean + reach(|by| log_moment(theta + by) - at.log_moment - by * at.mean, &at);
        let low = at.mean - reach(|by| log_moment(theta - by) - at.log_moment + by * at.mean, &at);
        Self { theta, at, low, high, capped: false }
    }
}

/// How far from its mean the tilted sum is with probability 1 − OUTSIDE, by Chernoff's bound; `excess(λ)` is the
/// logarithm of E e^{±λ(S − mean)}.
fn reach(excess: impl Fn(f64) -> f64, at: &Cumulants) -> f64 {
    let room = -libm::log(OUTSIDE);
    let deviation = libm::sqrt(at.variance).max(1e-300);
    let natural = libm::sqrt(2.0 * room) / deviation;
    let distance = |factor: f64| {
        let by = natural * factor;
        (excess(by) + room) / by
    };
    [0.1, 0.2, 0.35, 0.6, 0.8, 1.0, 1.4].iter().map(|&factor| distance(factor)).fold(f64::INFINITY, f64::min)
}

/// ln P_θ(S > high) for the tilted sum: Chernoff's bound at a few λ.
pub(super) fn log_tilted_tail(parts: &[(Points, f64)], tilt: &Tilt, log_moment: f64, high: f64) -> f64 {
    let deviation = libm::sqrt(tilt.at.variance).max(1e-300);
    let natural = libm::sqrt(-2.0 * libm::log(OUTSIDE)) / deviation;
    let bound = |factor: f64| {
        let by = natural * factor;
        let shifted: f64 =
            parts.iter().map(|(points, count)| count * points.log_moment(tilt.theta + by)).sum();
        shifted - log_moment - by * high
    };
    [0.1, 0.35, 0.6, 0.8, 1.0, 1.4].iter().map(|&factor| bound(factor)).fold(0.0, f64::min)
}

/// Saddle-point estimate of ln δ at the loss K′(θ), good to a few per cent.
fn log_delta_estimate(theta: f64, at: &Cumulants) -> f64 {
    let deviation = libm::sqrt(at.variance);
    at.log_moment - theta * at.mean - libm::log1p(theta * deviation * 2.506_628_274_631) - libm::log1p(theta)
}

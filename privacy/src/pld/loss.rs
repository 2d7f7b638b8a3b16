//! Privacy-loss distributions of single releases: the dominating pair (P, Q) and the loss ln(P/Q) under P.
//!
//! Zhu, Dong and Wang 2022 (theorems 10 and 11): a pair whose hockey-stick curve dominates every neighbouring pair
//! of a mechanism may stand for the mechanism under composition. With base pair (f₁, f₀) of the mechanism on all
//! records and rate q, Poisson sampling is dominated by ((1−q)f₀ + q·f₁, f₀) when a record is removed and by
//! (f₀, (1−q)f₀ + q·f₁) when one is added; sampling without replacement (replace-one) by the curve that follows
//! the first pair for ε ≥ 0 and the second for ε < 0.

use crate::release::{Mechanism, Release, Sampling};
use crate::special::{LN_SQRT_2PI, normal_cdf};

/// Which of two neighbouring inputs is the true one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// The record is there, and is compared with its absence.
    Remove,
    /// The record is absent, and is compared with its presence.
    Add,
}

/// The law of the privacy loss of one release.
#[derive(Debug, Clone, Default)]
pub(super) struct LossDistribution {
    /// Single losses with their probabilities under P.
    pub atoms: Vec<(f64, f64)>,
    /// Continuous parts.
    pub pieces: Vec<Piece>,
    /// Probability that the loss is infinite, or beyond what is resolved.
    pub infinite: f64,
}

/// A continuous part: the loss as a monotone function of the noise value z on an interval.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    base: Base,
    rate: f64,
    direction: Direction,
    /// Interval of z.
    pub low: f64,
    /// End of the interval.
    pub high: f64,
}

#[derive(Debug, Clone, Copy)]
enum Base {
    /// N(1, σ²) against N(0, σ²).
    Gaussian { sigma: f64 },
    /// Lap(1, b) against Lap(0, b), between the two centres.
    Laplace { scale: f64 },
}

impl LossDistribution {
    /// The dominating pair of a release; none if no theorem is used for it here.
    ///
    /// `tail` is the probability that may be cut off on either side and counted as infinite loss.
    pub(super) fn of(release: &Release, direction: Direction, tail: f64) -> Option<Self> {
        let (rate, replace) = match release.sampling {
            Sampling::All => (1.0, false),
            Sampling::Poisson { rate } => (rate, false),
            Sampling::WithoutReplacement { population, sample } => {
                ((sample as f64 / population as f64).next_up().min(1.0), true)
            }
        };
        let base = match release.mechanism {
            Mechanism::Gaussian { noise_multiplier } => Base::Gaussian { sigma: noise_multiplier },
            Mechanism::Laplace { noise_multiplier } => Base::Laplace { scale: noise_multiplier },
            Mechanism::RandomizedResponse { epsilon, categories } => {
                return (release.sampling == Sampling::All).then(|| response(epsilon, categories, 0.0));
            }
            Mechanism::Pure { epsilon } => {
                return (release.sampling == Sampling::All).then(|| response(epsilon, 2, 0.0));
            }
            // Kairouz, Oh and Viswanath 2015: (ε, δ)-DP is dominated by revealing all with probability δ, else
            // randomised response.
            Mechanism::Approximate { epsilon, delta } => {
                return (release.sampling == Sampling::All).then(|| response(epsilon, 2, delta));
            }
            Mechanism::ZeroConcentrated { .. } | Mechanism::NonPrivate => return None,
        };
        Some(if replace { base.replaced(rate, tail) } else { base.sampled(rate, direction, tail) })
    }
}

impl LossDistribution {
    /// The largest finite loss.
    pub(super) fn largest(&self) -> f64 {
        let atoms = self.atoms.iter().filter(|(_, mass)| *mass > 0.0).map(|(loss, _)| *loss);
        let ends = self.pieces.iter().flat_map(|piece| [piece.loss(piece.low), piece.loss(piece.high)]);
        atoms.chain(ends).fold(f64::NEG_INFINITY, f64::max)
    }
}

impl Base {
    fn sampled(self, rate: f64, direction: Direction, tail: f64) -> LossDistribution {
        let (low, high) = self.reach(tail);
        let piece = Piece { base: self, rate, direction, low, high };
        let atoms = self.ends().map(|end| piece.atom(end)).to_vec();
        LossDistribution { atoms, infinite: self.mass_outside(low, high), pieces: vec![piece] }
    }

    /// Positive losses from the pair for removal, negative ones from the pair for addition, and an atom at 0 for the
    /// kink where the two curves meet.
    fn replaced(self, rate: f64, tail: f64) -> LossDistribution {
        let (low, high) = self.reach(tail);
        let half = |direction| Piece { base: self, rate, direction, low: 0.5, high };
        let pieces = vec![half(Direction::Remove), half(Direction::Add)];
        let right_end = self.ends()[1];
        let mut atoms: Vec<(f64, f64)> = pieces.iter().map(|piece| piece.atom(right_end)).collect();
        atoms.push((0.0, (1.0 - rate) * self.balance()));
        LossDistribution { atoms, infinite: self.mass_outside(low, high), pieces }
    }

    /// The interval of z outside of which at most about `tail` is lost.
    fn reach(self, tail: f64) -> (f64, f64) {
        match self {
            Self::Gaussian { sigma } => {
                let reach = sigma * -crate::special::normal_quantile(tail.clamp(1e-300, 0.1));
                (-reach, 1.0 + reach)
            }
            Self::Laplace { .. } => (0.0, 1.0),
        }
    }

    /// An upper bound on the probability, under either density, that z is outside.
    fn mass_outside(self, low: f64, high: f64) -> f64 {
        match self {
            Self::Gaussian { sigma } => normal_cdf(low / sigma) + normal_cdf((1.0 - high) / sigma),
            Self::Laplace { .. } => 0.0,
        }
    }

    /// Base losses that have positive probability, with their probability under f₀: left end, right end.
    fn ends(self) -> [(f64, f64); 2] {
        match self {
            Self::Gaussian { .. } => [(0.0, 0.0), (0.0, 0.0)],
            Self::Laplace { scale } => [(-1.0 / scale, 0.5), (1.0 / scale, 0.5 * libm::exp(-1.0 / scale))],
        }
    }

    /// f₀(z ≤ ½) − f₀(z > ½).
    fn balance(self) -> f64 {
        match self {
            Self::Gaussian { sigma } => libm::erf(0.5 / sigma * std::f64::consts::FRAC_1_SQRT_2),
            Self::Laplace { scale } => -libm::expm1(-0.5 / scale),
        }
    }

    fn loss(self, z: f64) -> f64 {
        match self {
            Self::Gaussian { sigma } => (2.0 * z - 1.0) / (2.0 * sigma * sigma),
            Self::Laplace { scale } => (2.0 * z - 1.0) / scale,
        }
    }

    fn position(self, loss: f64) -> f64 {
        match self {
            Self::Gaussian { sigma } => 0.5 + loss * sigma * sigma,
            Self::Laplace { scale } => 0.5 + 0.5 * loss * scale,
        }
    }

    /// ln f₀(z).
    fn log_density(self, z: f64) -> f64 {
        match self {
            Self::Gaussian { sigma } => -0.5 * (z / sigma) * (z / sigma) - LN_SQRT_2PI - libm::log(sigma),
            Self::Laplace { scale } => -z / scale - libm::log(2.0 * scale),
        }
    }
}

impl Piece {
    /// ln(P/Q) at z.
    pub(super) fn loss(&self, z: f64) -> f64 {
        self.signed(self.mixture(self.base.loss(z)))
    }

    /// ln(P/Q) and ln of P's density at z.
    pub(super) fn loss_and_log_density(&self, z: f64) -> (f64, f64) {
        let mixture = self.mixture(self.base.loss(z));
        match self.direction {
            Direction::Remove => (mixture, self.base.log_density(z) + mixture),
            Direction::Add => (-mixture, self.base.log_density(z)),
        }
    }

    /// The z at which the loss is `loss`, clipped to the interval.
    pub(super) fn position(&self, loss: f64) -> f64 {
        let mixture = self.signed(loss);
        // 1 + (e^L − 1)/q is the ratio f₁/f₀; at or below zero the mixture cannot reach L.
        let excess = libm::expm1(mixture) / self.rate;
        let z = if excess <= -1.0 {
            f64::NEG_INFINITY
        } else if mixture > 30.0 {
            self.base.position(mixture - libm::log(self.rate))
        } else {
            self.base.position(libm::log1p(excess))
        };
        z.clamp(self.low, self.high)
    }

    /// The width over which density and loss are smooth.
    pub(super) fn smooth_width(&self) -> f64 {
        match self.base {
            Base::Gaussian { sigma } if self.rate < 1.0 => sigma.min(sigma * sigma),
            Base::Gaussian { sigma } => sigma,
            Base::Laplace { scale } => scale.min(1.0),
        }
    }

    /// An atom of the base pair, given by (base loss, probability under f₀), in this pair.
    fn atom(&self, (base_loss, mass): (f64, f64)) -> (f64, f64) {
        let mixture = self.mixture(base_loss);
        match self.direction {
            Direction::Remove => (mixture, mass * libm::exp(mixture)),
            Direction::Add => (-mixture, mass),
        }
    }

    /// ln(1 + q(e^ℓ − 1)).
    fn mixture(&self, base_loss: f64) -> f64 {
        if self.rate == 1.0 {
            base_loss
        } else if base_loss < 30.0 {
            libm::log1p(self.rate * libm::expm1(base_loss))
        } else {
            base_loss + libm::log(self.rate + (1.0 - self.rate) * libm::exp(-base_loss))
        }
    }

    fn signed(&self, loss: f64) -> f64 {
        match self.direction {
            Direction::Remove => loss,
            Direction::Add => -loss,
        }
    }
}

/// K-ary randomised response after everything was revealed with probability `reveal`.
fn response(epsilon: f64, categories: u64, reveal: f64) -> LossDistribution {
    let odds = libm::exp(-epsilon);
    let truth = (1.0 - reveal) / (1.0 + (categories as f64 - 1.0) * odds);
    let lie = truth * odds;
    let atoms = vec![(epsilon, truth), (-epsilon, lie), (0.0, lie * (categories as f64 - 2.0))];
    LossDistribution { atoms, pieces: Vec::new(), infinite: reveal }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(mechanism: Mechanism, sampling: Sampling) -> Release {
        Release { mechanism, sampling }
    }

    #[test]
    fn position_inverts_loss_in_both_directions() {
        let gaussian = Mechanism::Gaussian { noise_multiplier: 0.8 };
        for direction in [Direction::Remove, Direction::Add] {
            let law =
                LossDistribution::of(&release(gaussian, Sampling::Poisson { rate: 0.05 }), direction, 1e-20)
                    .unwrap();
            let piece = law.pieces[0];
            for z in [-3.0, -1.0, 0.2, 0.5, 1.7, 4.0, 7.0] {
                let back = piece.position(piece.loss(z));
                assert!((back - z).abs() < 1e-7 * (1.0 + (-z * 2.0).exp()), "{direction:?} {z} {back}");
            }
        }
    }

    #[test]
    fn all_probability_is_there() {
        let mechanisms =
            [Mechanism::Gaussian { noise_multiplier: 0.6 }, Mechanism::Laplace { noise_multiplier: 0.6 }];
        let samplings = [
            Sampling::All,
            Sampling::Poisson { rate: 0.2 },
            Sampling::WithoutReplacement { population: 10, sample: 2 },
        ];
        for mechanism in mechanisms {
            for sampling in samplings {
                for direction in [Direction::Remove, Direction::Add] {
                    let law = LossDistribution::of(&release(mechanism, sampling), direction, 1e-40).unwrap();
                    let mut total: f64 = law.atoms.iter().map(|(_, mass)| mass).sum();
                    for piece in &law.pieces {
                        // The midpoint rule is enough for six digits.
                        let step = (piece.high - piece.low) / 20_000.0;
                        let mid = |i: u32| piece.low + step * (f64::from(i) + 0.5);
                        total += (0..20_000)
                            .map(|i| piece.loss_and_log_density(mid(i)).1.exp() * step)
                            .sum::<f64>();
                    }
                    assert!((total - 1.0).abs() < 1e-6, "{mechanism:?} {sampling:?} {direction:?}: {total}");
                }
            }
        }
    }
}

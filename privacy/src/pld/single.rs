//! The (ε, δ) curve of a single release, by integrating it.
//!
//! δ(ε) = E[(1 − e^{ε−L})₊] has a smooth integrand above the point where the loss passes ε, so Gauss–Legendre panels
//! reach rounding error; no lattice is needed.

use super::lattice::GAUSS_8;
use super::loss::{LossDistribution, Piece};
use crate::root;

/// Relative error of the quadrature, with margin.
const UP: f64 = 1.0 + 1e-11;

/// δ(ε), rounded up.
pub(super) fn delta(law: &LossDistribution, epsilon: f64) -> f64 {
    let atoms: f64 = law.atoms.iter().map(|(loss, mass)| mass * excess(*loss, epsilon)).sum();
    let pieces: f64 = law.pieces.iter().map(|piece| above(piece, epsilon)).sum();
    ((atoms + pieces) * UP + law.infinite).min(1.0)
}

/// The smallest ε ≥ 0 with δ(ε) ≤ `goal`, rounded up; infinite if there is none.
pub(super) fn epsilon(law: &LossDistribution, goal: f64) -> f64 {
    if delta(law, 0.0) <= goal {
        return 0.0;
    }
    let largest = law.largest();
    if law.infinite > goal {
        return f64::INFINITY;
    }
    if delta(law, largest) > goal {
        return largest.max(0.0);
    }
    let above = |epsilon: f64| libm::log(delta(law, epsilon) / goal);
    root::narrow(0.0, largest, 1e-12, above).1
}

/// 1 − e^{ε−loss} where that is positive.
fn excess(loss: f64, epsilon: f64) -> f64 {
    (-libm::expm1(epsilon - loss)).max(0.0)
}

/// The part of δ(ε) that a continuous piece brings.
fn above(piece: &Piece, epsilon: f64) -> f64 {
    let at = piece.position(epsilon);
    let (low, high) =
        if piece.loss(piece.high) > piece.loss(piece.low) { (at, piece.high) } else { (piece.low, at) };
    if low >= high {
        return 0.0;
    }
    let panels = ((high - low) / (0.125 * piece.smooth_width())).ceil().clamp(1.0, 1e5) as u32;
    let half = 0.5 * (high - low) / f64::from(panels);
    let mut sum = 0.0;
    for panel in 0..panels {
        let middle = low + half * f64::from(2 * panel + 1);
        for (node, weight) in GAUSS_8 {
            for z in [middle - half * node, middle + half * node] {
                let (loss, log_density) = piece.loss_and_log_density(z);
                sum += weight * libm::exp(log_density) * excess(loss, epsilon);
            }
        }
    }
    sum * half
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gdp;
    use crate::pld::loss::Direction;
    use crate::release::{Mechanism, Release, Sampling};

    #[test]
    fn one_gaussian_is_exact() {
        for sigma in [0.3, 1.0, 20.0] {
            let release = Release::unsampled(Mechanism::Gaussian { noise_multiplier: sigma });
            let law = LossDistribution::of(&release, Direction::Remove, 0.0).unwrap();
            for goal in [1e-200, 1e-9, 1e-3, 0.01] {
                let (found, exact) = (epsilon(&law, goal), gdp::epsilon(1.0 / sigma, goal).unwrap());
                assert!((found - exact).abs() <= 1e-9 * exact, "{sigma} {goal}: {found} {exact}");
            }
        }
    }

    #[test]
    fn a_sampled_gaussian_has_the_amplified_curve() {
        // Removing a record: δ′(ln(1 + q(e^ε − 1))) = q·δ(ε), exactly (Balle, Barthe and Gaboardi 2018).
        let (sigma, rate) = (0.8, 0.03);
        let mechanism = Mechanism::Gaussian { noise_multiplier: sigma };
        let release = Release { mechanism, sampling: Sampling::Poisson { rate } };
        let law = LossDistribution::of(&release, Direction::Remove, 0.0).unwrap();
        for plain in [0.5, 1.0, 3.0, 6.0] {
            let amplified = (rate * libm::expm1(plain)).ln_1p();
            let (found, exact) = (delta(&law, amplified), rate * gdp::delta(1.0 / sigma, plain).unwrap());
            assert!((found / exact - 1.0).abs() < 1e-9, "{plain}: {found:e} {exact:e}");
        }
    }
}

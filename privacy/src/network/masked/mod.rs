//! Masked rounds (`masked`): members, coalitions and whoever sees all traffic learn totals, and nothing else.
//!
//! In a round every member u adds noise of variance σ_u² to its contribution and, for each neighbour v in the mask graph, plus or minus one stream of
//! words that only u and v can compute. All masks cancel in the total.
//!
//! **Theorem 1 (masks).** Let C be a coalition, H the other members, K(u) the component of u in the mask graph restricted to H. Given every masked
//! value of everybody, all that C can compute about H are the sums over components. So a contribution of u that changes by Δ costs
//! μ² = Δ²/Σ_{w∈K(u)} σ_w²: with equal noise 1/h of what it would cost alone, h = |K(u)|, and h = n − c on the complete graph.
//! *Proof.* Masks of the edges of a component span exactly the vectors of sum zero (those of a spanning tree do, modulo any m), and streams that
//! C cannot tell from uniform ones make the masked values of H uniform on a coset of these, given the sums. What is left is a sum with all the noise of
//! K(u). Models are given to C, so rounds compose adaptively.
//!
//! How a round goes does not matter: every message is a function of masked values. It costs 1/h, known before it begins, whether it ends, breaks or
//! is tampered with. Two things break the theorem and must not happen: masks used twice, and one noise in two totals ([`same_noise`]).
//!
//! **Theorem 2 (noise on integers)** is in [`integers`]: totals of integer noise are rounded Gaussians, with leverage
//! l = s²/(h·s² − 9) instead of 1/h.

mod components;
pub mod integers;
pub mod neighbours;

pub use components::{loss, same_noise, sums};

use super::error::{NetworkError, positive};
use crate::accountant::{AccountError, Accountant};
use crate::event::DpEvent;
use crate::gdp;
use crate::rdp::RdpAccountant;

/// What of the variance of integer noise is given up to be a rounded Gaussian: r² for r = 3.
pub const ROUNDING_VARIANCE: f64 = crate::mechanisms::grid::ROUNDING_VARIANCE as f64;

/// How many members are taken to collude if nobody says: fewer than a third, the bound under which members also agree; at least one.
pub fn default_colluders(nodes: u64) -> u64 {
    (nodes.saturating_sub(1) / 3).max(1)
}

/// h: members whose noise protects a contribution on the complete mask graph against any `colluders` together.
///
/// # Errors
/// If nobody is left.
pub fn honest(nodes: u64, colluders: u64) -> Result<u64, NetworkError> {
    match nodes.checked_sub(colluders) {
        Some(honest) if honest > 0 => Ok(honest),
        _ => Err(NetworkError::OutOfRange {
            name: "the number of colluders",
            range: "below the number of nodes",
            value: colluders as f64,
        }),
    }
}

/// l = s²/(h·s² − 9): what part of a full charge one round of integer noise costs. Rounded up.
///
/// # Guarantee
/// A contribution whose own noise alone would be a Gaussian of variance s² is protected as by 1/l times that variance, as Theorems 1 and 2 say.
///
/// # Assumes
/// At least `honest` members outside the coalition in one component of the mask graph, each with noise of parameter s = `noise`, at least 16.
///
/// # Errors
/// If there is nobody honest or s is below 16.
pub fn leverage(honest: u64, noise: u64) -> Result<f64, NetworkError> {
    if honest == 0 {
        return Err(NetworkError::EverybodyWatches { nodes: 0 });
    }
    if noise < crate::noise::IntegerNormal::LEAST {
        return Err(NetworkError::OutOfRange {
            name: "the noise",
            range: "at least 16 steps",
            value: noise as f64,
        });
    }
    // In the form 1/(h − 9/s²): three roundings.
    let s = noise as f64;
    Ok(1.0 / (honest as f64 - ROUNDING_VARIANCE / s / s) * (1.0 + 4.0 * f64::EPSILON))
}

/// s = ⌈√((target² + 9)/(n − c))⌉: the noise of each of n members whose totals are to hide as well as a Gaussian of deviation `target` even if c of them
/// are missing or collude.
///
/// # Errors
/// If nobody is left, or the target is not positive.
pub fn noise_share(target: f64, nodes: u64, missing: u64) -> Result<u64, NetworkError> {
    positive("the noise of the total", target)?;
    let share = (target * target + ROUNDING_VARIANCE) / honest(nodes, missing)? as f64;
    Ok(libm::ceil(libm::sqrt(share)) as u64)
}

/// How often a round of n members is begun, on average, until one ends, if each fails with this probability: (1 − p)^−n.
pub fn attempts(nodes: u64, failure: f64) -> f64 {
    libm::exp(-(nodes as f64) * libm::log1p(-failure))
}

/// The event of one masked round towards a coalition that leaves `honest` members.
///
/// # Guarantee
/// What all of the coalition and the wire see of the round is no more than a release described by this event.
///
/// # Assumes
/// What Theorem 1 assumes; noise of `noise_multiplier` times the sensitivity in every contribution, on Poisson samples of rate `rate` (1: all records).
///
/// # Errors
/// If the noise multiplier is not positive and finite, the rate not in (0, 1], or nobody is honest.
pub fn event(noise_multiplier: f64, honest: u64, rate: f64) -> Result<DpEvent, NetworkError> {
    positive("the noise multiplier", noise_multiplier)?;
    if !(rate > 0.0 && rate <= 1.0) {
        return Err(NetworkError::OutOfRange {
            name: "the rate",
            range: "above 0 and at most 1",
            value: rate,
        });
    }
    if honest == 0 {
        return Err(NetworkError::EverybodyWatches { nodes: 0 });
    }
    let noise_multiplier = noise_multiplier * libm::sqrt(honest as f64) * (1.0 - 2.0 * f64::EPSILON);
    let event = DpEvent::Gaussian { noise_multiplier };
    Ok(if rate < 1.0 { event.poisson_sampled(rate) } else { event })
}

/// ε of `rounds` masked rounds: by the exact curve of Gaussians where everything is in every round, else by Rényi divergences. Rounded up.
///
/// # Guarantee
/// All rounds together are (ε, δ)-DP, adaptively composed.
///
/// # Assumes
/// As [`event`].
///
/// # Errors
/// If δ is not in (0, 1).
pub fn epsilon(event: &DpEvent, rounds: u64, delta: f64) -> Result<f64, AccountError> {
    if let DpEvent::Gaussian { noise_multiplier } = event {
        let mu2 = mu2(*noise_multiplier, rounds);
        return Ok(gdp::epsilon(libm::sqrt(mu2) * (1.0 + f64::EPSILON), delta)?);
    }
    let mut accountant = RdpAccountant::default();
    accountant.compose(event, rounds)?;
    accountant.epsilon(delta)
}

/// μ² of `rounds` releases with this noise multiplier, rounded up.
pub fn mu2(noise_multiplier: f64, rounds: u64) -> f64 {
    rounds as f64 / (noise_multiplier * noise_multiplier) * (1.0 + 3.0 * f64::EPSILON)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colluders_are_fewer_than_a_third_and_at_least_one() {
        for (nodes, expected) in
            [(1, 1), (2, 1), (3, 1), (4, 1), (6, 1), (7, 2), (8, 2), (64, 21), (1000, 333)]
        {
            assert_eq!(default_colluders(nodes), expected, "{nodes}");
        }
    }

    #[test]
    fn the_leverage_of_integers_is_rounded_up_and_little_above_one_over_h() {
        // 256/(4·256 − 9) = 256/1015.
        let found = leverage(4, 16).unwrap();
        assert!((256.0 / 1015.0..256.0 / 1015.0 * (1.0 + 1e-14)).contains(&found));
        assert!(leverage(43, 512_591).unwrap() - 1.0 / 43.0 < 1e-13);
        assert!(leverage(0, 16).is_err() && leverage(1, 15).is_err());
    }

    #[test]
    fn nobody_left_to_hide_behind_is_refused() {
        assert!(honest(3, 3).is_err() && honest(3, u64::MAX).is_err());
        assert_eq!(honest(3, 2).unwrap(), 1);
        for (z, honest, rate) in [
            (0.0, 1, 1.0),
            (f64::NAN, 1, 1.0),
            (1.0, 0, 1.0),
            (1.0, 1, 0.0),
            (1.0, 1, 1.1),
            (1.0, 1, f64::NAN),
        ] {
            assert!(event(z, honest, rate).is_err(), "{z} {honest} {rate}");
        }
    }

    #[test]
    fn one_member_alone_has_the_local_loss() {
        let one = event(2.0, 1, 1.0).unwrap();
        let local = gdp::epsilon(0.5, 1e-5).unwrap();
        let found = epsilon(&one, 1, 1e-5).unwrap();
        assert!(found >= local && found < local * (1.0 + 1e-12));
    }
}

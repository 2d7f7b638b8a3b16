//! What it costs to look into a masked round, and what a look finds.
//!
//! In an inspection k public random projections of every contribution are opened: R has k rows of entries 0 (½) and ±1 (¼ each), drawn after everybody is bound to its
//! words and drawn again while 2λ_min(RRᵀ) < (√d − √k)²; k further words of pure noise make the rows R′ = [R I].
//!
//! **Price.** With Q an orthonormal basis of the rows of R′ and σ² = s² − 9, a change Δ of u costs μ² = ‖Δ‖²/(hσ²) + (1 − 1/h)·‖QΔ‖²/σ²: Qc_w is seen one by one, what is
//! orthogonal to it as a sum over h, and the noises of the two are independent. ‖QΔ‖² ≤ ‖RΔ‖²/(λ_min + 1). Entries of √2R have moments
//! ½ + ½cosh(√2λ) ≤ e^(λ²/2), so 2‖RΔ‖²/‖Δ‖² has the Chernoff tail of χ²_k: above a with probability at most e^(−t), a − k − k·ln(a/k) = 2t. R does not depend on Δ.
//! Drawing again until λ_min is large at most doubles a probability if at least half of the draws are kept.
//!
//! **Looks that every contribution pays for.** Where records are sampled a look decided on by who knows the total has no amplification of its own. The two together have: a
//! record that is drawn shifts the total by at most ‖Δ‖ and what is seen along the rows by at most √share·‖Δ‖, one that is not shifts neither. So whatever decides whether there
//! is a look, and with which rows, what is seen is made of (total, P), P a normal number shifted by exactly √share·‖Δ‖: from it projections follow by scaling and adding noise, and
//! without a look it is thrown away. (total, P) is one Gaussian release of leverage 1/h + (1 − 1/h)·share on the sample, with all of its amplification. Charged in
//! every round, any number of looks costs nothing more. The two analyses must not be mixed within a run by what happened in it.
//!
//! **Integers.** The view is linear in the contributions; the integer vectors that it maps to 0 are {(z, −Rz)} ⊗ A_{h−1}, whose Gram–Schmidt norms are at most
//! √(2k + 2). Along each such direction Theorem 2(a) applies for s ≥ 3√(2k + 2), and the dual of the image lies in the integers, so that 2(b) does: the view is a rounded Gaussian up to
//! e^(±hd·10⁻⁷⁶). *Masks.* Given R′ of a stream, the stream is uniform on a coset of the kernel of R′ (which is onto, modulo any m, by its identity).

use faer::Mat;

use super::dense;
use super::error::{NetworkError, positive};
use crate::root;
use crate::special::log_binomial;

/// Rounds for which the first inspection that finds nobody bars void rounds from the next; doubled each time.
const BARRED: u64 = 64;

/// μ² of one inspected round for σ = 1: the total of `honest` contributions and the projections of each on `rows` = R, of which R′ = [R I] is made, for one change.
///
/// # Guarantee
/// Exact up to rounding for Gaussian noise in the contributions and in the words that I acts on.
///
/// # Assumes
/// Masks as in [`masked`](super::masked); rows that do not depend on the change.
///
/// # Errors
/// If nobody is honest or a row has not the length of the change.
pub fn loss(honest: u64, rows: &[Vec<f64>], change: &[f64]) -> Result<f64, NetworkError> {
    if honest == 0 {
        return Err(NetworkError::EverybodyWatches { nodes: 0 });
    }
    if let Some(row) = rows.iter().find(|row| row.len() != change.len()) {
        return Err(NetworkError::SizeDiffers { phase: 0, step: 0, found: row.len(), nodes: change.len() });
    }
    let (k, d) = (rows.len(), change.len());
    let length: f64 = change.iter().map(|x| x * x).sum();
    let seen = if k == 0 {
        0.0
    } else {
        // R′ᵀ = QR: the change seen along the rows has the squared norm of R⁻ᵀ(R′Δ).
        let transposed =
            Mat::from_fn(d + k, k, |i, j| if i < d { rows[j][i] } else { f64::from(u8::from(i - d == j)) });
        let along = Mat::from_fn(k, 1, |j, _| rows[j].iter().zip(change).map(|(a, b)| a * b).sum::<f64>());
        dense::squared_norms_behind(dense::upper_factor(transposed).as_ref(), along)[0]
    };
    let h = honest as f64;
    Ok((length / h + (1.0 - 1.0 / h) * seen) * (1.0 + 1e-12))
}

/// a: what χ²_k passes with probability at most e^(−t), by Chernoff: a − k − k·ln(a/k) = 2t. Rounded up.
///
/// # Errors
/// If there is no direction or t is not positive and finite.
pub fn edge(directions: u64, t: f64) -> Result<f64, NetworkError> {
    positive("the number of directions", directions as f64)?;
    positive("t", t)?;
    let k = directions as f64;
    let short = |a: f64| a - k - k * libm::log(a / k) - 2.0 * t;
    let (_, high) = root::narrow(k, 2.0 * k + 4.0 * t, 1e-14, short);
    Ok(high)
}

/// The largest part of a full charge that the projections cost beyond the total, for h = ∞: a/((√d − √k)² + 2). Rounded up.
///
/// # Guarantee
/// ‖QΔ‖² is at most this times ‖Δ‖² but for a probability of 2e^(−t) a draw, which is added to δ ([`delta`]).
///
/// # Assumes
/// R is drawn as the [module](self) says, by who does not know it before the contributions are bound.
///
/// # Errors
/// As [`edge`], and if there are not more parameters than directions.
pub fn share(directions: u64, dimension: u64, t: f64) -> Result<f64, NetworkError> {
    if dimension <= directions {
        return Err(NetworkError::OutOfRange {
            name: "the number of parameters",
            range: "above the number of directions",
            value: dimension as f64,
        });
    }
    let gap = libm::sqrt(dimension as f64) - libm::sqrt(directions as f64);
    // More than the whole is not to be had.
    Ok((edge(directions, t)? / (gap * gap + 2.0) * (1.0 + 8.0 * f64::EPSILON)).min(1.0))
}

/// k/d: what the projections cost beyond the total on average.
pub fn mean_share(directions: u64, dimension: u64) -> f64 {
    directions as f64 / dimension as f64
}

/// What an inspection adds to the charge of a round, in parts of a full one: (1 − 1/h)·share, with σ² = s² − 9 instead of s². Rounded up.
///
/// # Guarantee
/// An inspected round costs at most the charge of a masked round plus this, in units of (Δ/s)², but for [`delta`]. Where records are sampled and only rounds that are looked into are
/// charged, this part is a Gaussian step **without** amplification: whether to look may depend on the total. Charged in every round, the sum of both is amplified.
///
/// # Assumes
/// As [`share`]; s ≥ 3√(2k + 2); at least `honest` members outside the coalition.
///
/// # Errors
/// As [`share`], and for too little noise.
pub fn price(honest: u64, directions: u64, dimension: u64, noise: f64, t: f64) -> Result<f64, NetworkError> {
    if honest == 0 {
        return Err(NetworkError::EverybodyWatches { nodes: 0 });
    }
    let least = 3.0 * libm::sqrt(2.0 * directions as f64 + 2.0);
    if noise.is_nan() || noise < least {
        return Err(NetworkError::OutOfRange {
            name: "the noise",
            range: "at least 3√(2k + 2) steps",
            value: noise,
        });
    }
    let rounding = 1.0 / (1.0 - super::masked::ROUNDING_VARIANCE / (noise * noise));
    Ok((1.0 - 1.0 / honest as f64) * share(directions, dimension, t)? * rounding * (1.0 + 8.0 * f64::EPSILON))
}

/// What is added to δ for this many draws of R: 2e^(−t) each.
pub fn delta(t: f64, draws: u64) -> f64 {
    2.0 * draws as f64 * libm::exp(-t) * (1.0 + 8.0 * f64::EPSILON)
}

/// A bound on the probability that an honest member is named in a round with this many draws: e^(−t) each for the length of its noise and for noise along its
/// contribution, once, and 2e^(−t) for each draw.
pub fn named_in_error(t: f64, draws: u64) -> f64 {
    2.0 * (1.0 + draws as f64) * libm::exp(-t) * (1.0 + 8.0 * f64::EPSILON)
}

/// ℓ²: the largest squared length that an honest contribution, with its noise and twice that of its extra words, has but for 2e^(−t):
/// C² + 2Cs√(2t) + s²(d + 2 + 2√(dt) + 2t), C the longest contribution in steps.
///
/// # Guarantee
/// Integer noise is sub-Gaussian with parameter s², so ‖noise‖² ≤ s²(d + 2√(dt) + 2t) (Hsu, Kakade and Zhang 2012) and ⟨q, noise⟩ ≤ Cs√(2t), each but for e^(−t).
pub fn length_squared(longest: f64, noise: f64, dimension: u64, t: f64) -> f64 {
    let d = dimension as f64;
    let spread = d + 2.0 + 2.0 * libm::sqrt(d * t) + 2.0 * t;
    longest * longest + 2.0 * longest * noise * libm::sqrt(2.0 * t) + noise * noise * spread
}

/// The probability that a contribution of length r·ℓ, spread over many coordinates, passes: χ²_k ≤ a/r².
///
/// # Errors
/// As [`edge`], and if the ratio is not positive.
pub fn passes(directions: u64, ratio: f64, t: f64) -> Result<f64, NetworkError> {
    positive("the ratio", ratio)?;
    Ok(lower_gamma(directions as f64 / 2.0, edge(directions, t)? / (2.0 * ratio * ratio)))
}

/// As [`passes`] for a contribution whose length is all in one coordinate: as many of k fair coins as a/(2r²) allows.
///
/// # Errors
/// As [`passes`].
pub fn passes_one_coordinate(directions: u64, ratio: f64, t: f64) -> Result<f64, NetworkError> {
    positive("the ratio", ratio)?;
    let most = libm::floor(edge(directions, t)? / (2.0 * ratio * ratio)).min(directions as f64) as u64;
    let k = directions as f64;
    Ok((0..=most).map(|heads| libm::exp(log_binomial(k, heads as f64) - k * std::f64::consts::LN_2)).sum())
}

/// How many forced inspections a plan must have room for: one for each member that may be left out, and those that leave nobody out, after which void rounds force none
/// for 64, 128, … rounds.
pub fn reserve(colluders: u64, rounds: u64) -> u64 {
    colluders + 1 + u64::from(rounds.div_ceil(BARRED).max(1).next_power_of_two().ilog2())
}

/// The finest grid, in steps per clip norm, on which projections do not wrap in 32-bit words: 2^26.5/√(L² + z²d).
pub fn steps_at_most(largest: u64, noise_multiplier: f64, dimension: u64) -> u64 {
    let length = (largest as f64).powi(2) + noise_multiplier * noise_multiplier * dimension as f64;
    libm::floor(libm::exp2(26.5) / libm::sqrt(length)) as u64
}

/// P(a, x) = γ(a, x)/Γ(a) by its series, all of whose terms are positive.
fn lower_gamma(a: f64, x: f64) -> f64 {
    let mut term = 1.0 / a;
    let mut sum = term;
    let mut n = a;
    while term > sum * 1e-17 {
        n += 1.0;
        term *= x / n;
        sum += term;
    }
    libm::exp(a * libm::log(x) - x - libm::lgamma(a)) * sum
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    use super::*;

    /// k rows of entries 0 (½), ±1 (¼ each).
    fn drawn(rows: usize, dimension: usize, random: &mut ChaCha20Rng) -> Vec<Vec<f64>> {
        let entry = |word: u64| [0.0, 0.0, 1.0, -1.0][(word >> 62) as usize];
        (0..rows).map(|_| (0..dimension).map(|_| entry(random.next_u64())).collect()).collect()
    }

    /// 2λ_min(RRᵀ).
    fn least(rows: &[Vec<f64>]) -> f64 {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let gram = Mat::from_fn(rows.len(), rows.len(), |i, j| dot(&rows[i], &rows[j]));
        2.0 * gram.self_adjoint_eigenvalues(faer::Side::Lower).unwrap()[0]
    }

    #[test]
    fn at_least_half_of_the_draws_are_kept() {
        // Twenty of 40 draws or fewer would have probability 1e-5 if four in five are kept; all but few are.
        for (k, d) in [(16, 650), (32, 650), (32, 2000)] {
            let random = &mut ChaCha20Rng::seed_from_u64(7);
            let bound = ((d as f64).sqrt() - (k as f64).sqrt()).powi(2);
            let kept = (0..40).filter(|_| least(&drawn(k, d, random)) >= bound).count();
            assert!(kept > 25, "{k} {d}: {kept} of 40");
        }
    }

    #[test]
    fn the_price_is_above_the_loss_of_planted_changes() {
        let random = &mut ChaCha20Rng::seed_from_u64(8);
        let (k, d, h) = (16, 650, 8);
        let most = 1.0 / 8.0 + (1.0 - 1.0 / 8.0) * share(16, 650, 13.8).unwrap();
        for i in 0..20 {
            let rows = drawn(k, d, random);
            // One coordinate, all coordinates, a few.
            let ones = [1, d, 7][i % 3];
            let change: Vec<f64> =
                (0..d).map(|j| if j < ones { 1.0 / (ones as f64).sqrt() } else { 0.0 }).collect();
            let found = loss(h, &rows, &change).unwrap();
            assert!(found > 1.0 / 8.0 && found < most, "{found} {most}");
        }
    }

    #[test]
    fn the_moments_of_an_entry_are_below_those_of_a_normal() {
        // √2 times an entry: ½ + ½cosh(√2λ) ≤ e^(λ²/2); term by term 2^(j−1)/(2j)! ≤ 1/(2^j·j!).
        let (mut even_factorial, mut factorial) = (1.0_f64, 1.0_f64);
        for j in 1..=20 {
            even_factorial *= f64::from((2 * j - 1) * 2 * j);
            factorial *= f64::from(j);
            let power = f64::from(j).exp2();
            assert!(power / 2.0 / even_factorial <= 1.0 / (power * factorial) * (1.0 + 1e-12), "{j}");
        }
    }

    #[test]
    fn an_inspection_that_sees_everything_costs_a_full_charge() {
        // d = 1: the row is the change itself; the extra word halves what is seen of it.
        let found = loss(4, &[vec![1.0]], &[1.0]).unwrap();
        assert!((found - (0.25 + 0.75 * 0.5)).abs() < 1e-11);
        assert!((loss(4, &[], &[2.0]).unwrap() - 1.0).abs() < 1e-11);
        assert!(loss(0, &[], &[1.0]).is_err() && loss(1, &[vec![1.0]], &[1.0, 2.0]).is_err());
    }

    /// Rényi divergences, both ways, of what is seen by who looks after totals that `looks` names: of a sample, with a total that moves by `total` and projections that move by
    /// `along`, in deviations of their noise. By quadrature.
    fn divergence_of_looks(
        (rate, order): (f64, f64),
        (total, along): (f64, f64),
        looks: impl Fn(f64) -> bool,
    ) -> f64 {
        let points: Vec<f64> = (-600..=900).map(|at| f64::from(at) * 0.02).collect();
        let density = |x: f64| (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt() * 0.02;
        let ratio = |x: f64, shift: f64| (x * shift - 0.5 * shift * shift).exp();
        let (mut forth, mut back) = (0.0, 0.0);
        let mut add = |mass: f64, ratio: f64| {
            forth += mass * ratio.powf(order);
            back += mass * ratio.powf(1.0 - order);
        };
        for &t in &points {
            let seen = ratio(t, total);
            if looks(t) {
                points.iter().for_each(|&p| {
                    add(density(t) * density(p), 1.0 - rate + rate * seen * ratio(p, along));
                });
            } else {
                add(density(t), 1.0 - rate + rate * seen);
            }
        }
        forth.max(back).ln() / (order - 1.0)
    }

    #[test]
    fn looks_that_every_round_pays_for_cost_no_more_whoever_decides_on_them() {
        use crate::rdp;
        use crate::release::{Mechanism, Release, Sampling};

        let (rate, (total, along)) = (0.05, (0.9_f64, 1.3_f64));
        let sampled = |shift: f64, order: f64| {
            let mechanism = Mechanism::Gaussian { noise_multiplier: 1.0 / shift };
            rdp::divergence(&Release { mechanism, sampling: Sampling::Poisson { rate } }, order)
        };
        for order in [2.0, 4.0] {
            let together = sampled((total * total + along * along).sqrt(), order);
            for above in [f64::NEG_INFINITY, -1.0, 0.5, 1.5, 2.5, f64::INFINITY] {
                let found = divergence_of_looks((rate, order), (total, along), |t| t > above);
                assert!(found <= together * (1.0 + 1e-6), "{order} {above}: {found} {together}");
            }
            // Not the sum of two amplified steps: one sample is in both.
            let always = divergence_of_looks((rate, order), (total, along), |_| true);
            assert!((always / together - 1.0).abs() < 1e-3, "{always} {together}");
            assert!(always > 1.2 * (sampled(total, order) + sampled(along, order)), "{always}");
            assert!(
                divergence_of_looks((rate, order), (total, along), |_| false) < 1.001 * sampled(total, order)
            );
        }
    }

    /// Void rounds force an inspection whenever they may: how many can there be that leave nobody out?
    fn forced(rounds: u64) -> u64 {
        let (mut count, mut next, mut barred) = (0, 1, BARRED);
        while next <= rounds {
            count += 1;
            next += barred + 1;
            barred *= 2;
        }
        count
    }

    #[test]
    fn the_reserve_is_enough_for_any_number_of_rounds() {
        for rounds in (0..2000).chain([100_000, 1 << 40]) {
            assert!(reserve(3, rounds) >= 3 + forced(rounds), "{rounds}");
        }
        assert_eq!((reserve(2, 64), reserve(2, 65), reserve(2, 160)), (3, 4, 5));
    }

    #[test]
    fn the_edge_solves_its_equation_and_shares_stay_below_one() {
        for (k, t) in [(1, 0.1), (32, 20.7), (1000, 300.0)] {
            let a = edge(k, t).unwrap();
            let k = k as f64;
            assert!((a - k - k * (a / k).ln() - 2.0 * t).abs() < 1e-9 * a && a > k);
        }
        assert_eq!(share(32, 40, 20.7).unwrap(), 1.0);
        assert!(share(32, 32, 20.7).is_err() && edge(0, 1.0).is_err() && edge(1, f64::NAN).is_err());
        assert!(price(8, 32, 650, 24.0, 20.7).is_err() && price(0, 32, 650, 100.0, 20.7).is_err());
        let found = price(8, 32, 650, 1e6, 20.7).unwrap();
        assert!((found - 0.875 * share(32, 650, 20.7).unwrap()).abs() < 1e-9);
    }
}

//! Privacy-loss distributions: the tightest general accounting, by Fourier transform.
//!
//! Every release is replaced by a dominating pair (`loss.rs`), discretised so that its curve lies above the truth
//! (`lattice.rs`), tilted to where the question is (`tilt.rs`) and composed (`convolve.rs`). Lattice, window and tilt
//! adapt to the question, so that a run takes milliseconds. For Poisson sampling adding and removing a
//! record are different; the answer is the larger of both. Gaussians on all records are merged first, exactly, and
//! a single release needs no lattice (`single.rs`).

mod convolve;
mod lattice;
mod loss;
mod single;
mod tilt;
mod transform;

use convolve::{Composed, Composition};
use lattice::{LatticeLaw, Spacing};
use loss::{Direction, LossDistribution};
use tilt::{Points, Tilt};

use crate::accountant::{AccountError, Accountant, compose_supported};
use crate::event::DpEvent;
use crate::gdp;
use crate::rdp;
use crate::release::{Mechanism, Release, Releases, Sampling};

/// The lattice is so fine that connecting the dots enlarges ε by about this much, relative.
const EPSILON_TOLERANCE: f64 = 2e-5;

/// Far from zero dots are at most this fraction of the loss apart; the added variance is then at
/// most 1/(6·128²) of theirs.
const RELATIVE_SPACING: f64 = 1.0 / 128.0;

/// Largest width of a cell times θ: one loss contributes e^{θ·width} at most.
const WIDEST_TILT: f64 = 0.02;

/// Tails are cut where they hold this part of δ in all; what is cut counts as infinite loss.
const CUT_OFF: f64 = 1e-9;

/// Lattice sizes (memory is a few times 8 bytes each).
const SMALLEST: f64 = 1024.0;
const LARGEST: f64 = 4_194_304.0;

/// Composes privacy-loss distributions.
#[derive(Debug, Clone, Default)]
pub struct PldAccountant {
    ledger: Releases,
}

/// What is asked of a composition.
#[derive(Clone, Copy)]
enum Question {
    Epsilon { delta: f64 },
    Delta { epsilon: f64 },
}

impl Accountant for PldAccountant {
    fn name(&self) -> &'static str {
        "pld"
    }

    fn analysis(&self) -> &'static str {
        "privacy-loss distribution, connect the dots (Doroshenko et al. 2022), larger of add and remove"
    }

    fn ledger(&self) -> &Releases {
        &self.ledger
    }

    fn compose(&mut self, event: &DpEvent, count: u64) -> Result<(), AccountError> {
        compose_supported(&mut self.ledger, event, count, supports)
    }

    fn epsilon(&self, delta: f64) -> Result<f64, AccountError> {
        gdp::check_delta(delta)?;
        self.answer(Question::Epsilon { delta })
    }

    fn delta(&self, epsilon: f64) -> Result<f64, AccountError> {
        gdp::check_epsilon(epsilon)?;
        self.answer(Question::Delta { epsilon })
    }
}

impl PldAccountant {
    fn answer(&self, question: Question) -> Result<f64, AccountError> {
        let (mu, others) = merge_gaussians(&self.ledger);
        if others.is_empty() {
            return Ok(match question {
                Question::Epsilon { delta } => gdp::epsilon(mu, delta)?,
                Question::Delta { epsilon } => gdp::delta(mu, epsilon)?,
            });
        }
        if self.ledger.has_non_private() {
            return Ok(match question {
                Question::Epsilon { .. } => f64::INFINITY,
                Question::Delta { .. } => 1.0,
            });
        }
        let mut releases = others;
        if mu > 0.0 {
            let mechanism = Mechanism::Gaussian { noise_multiplier: (1.0 / mu).next_down() };
            releases.push((Release::unsampled(mechanism), 1));
        }
        let directed =
            releases.iter().any(|(release, _)| matches!(release.sampling, Sampling::Poisson { .. }));
        let remove = || one_direction(&releases, Direction::Remove, question);
        if !directed {
            return Ok(remove());
        }
        let (remove, add) = rayon::join(remove, || one_direction(&releases, Direction::Add, question));
        Ok(remove.max(add))
    }
}

/// μ of all Gaussians on all records, and everything else that can reveal something.
fn merge_gaussians(ledger: &Releases) -> (f64, Vec<(Release, u64)>) {
    let (mut mu_squared, mut others) = (0.0, Vec::new());
    for &(release, count) in ledger.entries() {
        match release {
            Release { mechanism: Mechanism::Gaussian { noise_multiplier }, sampling: Sampling::All } => {
                mu_squared += count as f64 / (noise_multiplier * noise_multiplier);
            }
            _ => others.push((release, count)),
        }
    }
    (libm::sqrt(mu_squared) * (1.0 + 1e-14), others)
}

/// The answer for one of the two neighbouring orders.
fn one_direction(releases: &[(Release, u64)], direction: Direction, question: Question) -> f64 {
    let whole = laws(releases, direction, 0.0);
    if let [(law, 1)] = whole.as_slice() {
        return match question {
            Question::Epsilon { delta } => single::epsilon(law, delta),
            Question::Delta { epsilon } => single::delta(law, epsilon),
        };
    }
    let count: f64 = releases.iter().map(|(_, count)| *count as f64).sum();
    let largest: f64 = whole.iter().map(|(law, count)| law.largest() * *count as f64).sum();
    let infinite =
        -libm::expm1(whole.iter().map(|(law, count)| libm::log1p(-law.infinite) * *count as f64).sum());
    match question {
        Question::Epsilon { delta } if largest <= 0.0 && infinite <= delta => 0.0,
        Question::Epsilon { delta } => {
            let laws = laws(releases, direction, CUT_OFF * delta / count);
            let found = discretise(&laws, &Tilt::for_delta(&points(&laws), delta), count).epsilon(delta);
            // No finite loss exceeds the largest.
            if infinite <= delta { found.min(largest) } else { found }
        }
        Question::Delta { epsilon } if largest <= epsilon => infinite,
        Question::Delta { epsilon } => {
            // How small δ is decides where tails may be cut.
            let first = Tilt::for_epsilon(&points(&whole), epsilon);
            if first.capped {
                // δ is below anything that floats resolve here; the Rényi bound is as good.
                return renyi_delta(releases, epsilon);
            }
            let estimate = first.least_delta(epsilon);
            let laws = laws(releases, direction, CUT_OFF * estimate / count);
            discretise(&laws, &Tilt::for_epsilon(&points(&laws), epsilon), count).delta(epsilon)
        }
    }
}

/// δ by Rényi divergences, both directions.
fn renyi_delta(releases: &[(Release, u64)], epsilon: f64) -> f64 {
    let spent =
        |order: f64| releases.iter().map(|(release, n)| *n as f64 * rdp::divergence(release, order)).sum();
    let fixed: f64 = releases
        .iter()
        .map(|(release, count)| match release.mechanism {
            Mechanism::Approximate { delta, .. } => delta * *count as f64,
            Mechanism::Gaussian { .. }
            | Mechanism::Laplace { .. }
            | Mechanism::RandomizedResponse { .. }
            | Mechanism::Pure { .. } => 0.0,
            // Never composed here; nothing unknown is free.
            Mechanism::ZeroConcentrated { .. } | Mechanism::NonPrivate => 1.0,
        })
        .sum();
    let orders = (1..=120).map(|k| 1.0 + libm::exp(0.1 * f64::from(k) - 2.0));
    let least =
        orders.map(|order| rdp::conversion::log_delta(order, spent(order), epsilon)).fold(0.0, f64::min);
    (libm::exp(least).max(f64::MIN_POSITIVE) * (1.0 + 1e-12) + fixed).min(1.0)
}

fn laws(releases: &[(Release, u64)], direction: Direction, tail: f64) -> Vec<(LossDistribution, u64)> {
    let law =
        |release| LossDistribution::of(release, direction, tail).expect("composing refuses other releases");
    releases.iter().map(|(release, count)| (law(release), *count)).collect()
}

fn points(laws: &[(LossDistribution, u64)]) -> Vec<(Points, f64)> {
    laws.iter().map(|(law, count)| (Points::of(law), *count as f64)).collect()
}

/// Chooses the lattice for a tilt and composes on it.
fn discretise(laws: &[(LossDistribution, u64)], tilt: &Tilt, count: f64) -> Composed {
    let finest = finest_step(tilt, count);
    let window = (tilt.high - tilt.low).max(finest * SMALLEST);
    let size = (window / finest).clamp(SMALLEST, LARGEST).ceil() as usize;
    let size = smooth_size(size);
    // A little more than the window, so that both ends are inside after rounding to the lattice.
    let step = window / (size as f64 - 4.0);
    let spacing = Spacing { step, relative: RELATIVE_SPACING, widest: WIDEST_TILT / tilt.theta };
    let parts =
        laws.iter().map(|(law, count)| (LatticeLaw::connect_the_dots(law, spacing), *count)).collect();
    Composition { step, size, parts }.run(tilt)
}

/// The next 2^k or 3·2^k: sizes that transform fast.
fn smooth_size(size: usize) -> usize {
    let power = size.next_power_of_two();
    if size <= power / 4 * 3 { power / 4 * 3 } else { power }
}

/// Each of the releases gains a variance of at most h²/6 (in the mean over a cell), which moves ln δ by θ² times half
/// of it, hence ε by θ·h²/12 per release; without a tilt, compare with the variance itself.
fn finest_step(tilt: &Tilt, count: f64) -> f64 {
    let deviation = libm::sqrt(tilt.at.variance).max(1e-200);
    let scale = tilt.at.mean.max(0.02 * deviation);
    let theta = tilt.theta.max(1.0 / deviation);
    libm::sqrt(12.0 * EPSILON_TOLERANCE * scale / (theta * count)).min(WIDEST_TILT / theta)
}

fn supports(release: &Release) -> Result<(), AccountError> {
    let known = release.mechanism == Mechanism::NonPrivate
        || LossDistribution::of(release, Direction::Remove, 1e-10).is_some();
    if known {
        return Ok(());
    }
    Err(AccountError::Unsupported {
        accountant: "pld",
        release: release.to_string(),
        reason: "its privacy-loss distribution is not known",
    })
}

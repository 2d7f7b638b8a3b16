//! Events in normal form: a multiset of single releases.
//!
//! Every accountant prices the same normal form, so the rules for counting, nesting and sampling exist once.
//! Equal releases are merged and sorted, hence composing n times equals n single compositions and the
//! order of events cannot matter, exactly and not only up to rounding.

use std::fmt;

use serde::Serialize;
use thiserror::Error;
use topology::Hint;

use crate::amplification;
use crate::event::{DpEvent, EventError, Neighbours};

/// A single mechanism, applied once to whatever it was given.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Mechanism {
    /// Gaussian noise, σ/Δ₂.
    Gaussian {
        /// σ/Δ₂.
        noise_multiplier: f64,
    },
    /// Laplace noise, b/Δ₁.
    Laplace {
        /// b/Δ₁.
        noise_multiplier: f64,
    },
    /// K-ary randomised response.
    RandomizedResponse {
        /// ε.
        epsilon: f64,
        /// K.
        categories: u64,
    },
    /// Anything that is ε-DP.
    Pure {
        /// ε.
        epsilon: f64,
    },
    /// Anything that is (ε, δ)-DP.
    Approximate {
        /// ε.
        epsilon: f64,
        /// δ.
        delta: f64,
    },
    /// Anything that is ρ-zCDP.
    ZeroConcentrated {
        /// ρ.
        rho: f64,
    },
    /// No protection.
    NonPrivate,
}

/// How the records that the mechanism saw were chosen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Sampling {
    /// All of them.
    All,
    /// Each independently with probability `rate` in (0, 1).
    Poisson {
        /// q.
        rate: f64,
    },
    /// A uniform subset of `sample < population` records.
    WithoutReplacement {
        /// n.
        population: u64,
        /// m.
        sample: u64,
    },
}

/// One mechanism on one sample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Release {
    /// What was done.
    pub mechanism: Mechanism,
    /// To which records.
    pub sampling: Sampling,
}

/// Everything composed so far: distinct releases with their counts, sorted.
#[derive(Debug, Clone, PartialEq)]
pub struct Releases {
    entries: Vec<(Release, u64)>,
    adjacency: Neighbours,
}

/// A composition that cannot be brought into normal form.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum LedgerError {
    /// The event itself is impossible.
    #[error(transparent)]
    Event(#[from] EventError),
    /// More releases than a 64-bit count holds.
    #[error("more than 2^64 releases of one kind")]
    TooMany,
    /// A sampled event for whose inside no amplification theorem is used here.
    #[error("no amplification by sampling is known for {inside} inside {outside}")]
    Nesting {
        /// What the sample was used for.
        inside: String,
        /// How it was sampled.
        outside: &'static str,
    },
}

impl Hint for LedgerError {
    fn hint(&self) -> Option<String> {
        let hint: String = match self {
            Self::Event(error) => return error.hint(),
            Self::TooMany => "use a smaller count".into(),
            Self::Nesting { .. } => {
                "sample each event by itself, or describe the inside as one event (`gaussian`, `laplace`, `pure_dp`, `approximate_dp`)".into()
            }
        };
        Some(hint)
    }
}

impl Release {
    /// The mechanism on all records.
    #[must_use]
    pub fn unsampled(mechanism: Mechanism) -> Self {
        Self { mechanism, sampling: Sampling::All }
    }

    /// A total order that depends on bits only.
    fn key(&self) -> [u64; 6] {
        let bits = f64::to_bits;
        let [kind, first, second] = match self.mechanism {
            Mechanism::Gaussian { noise_multiplier } => [0, bits(noise_multiplier), 0],
            Mechanism::Laplace { noise_multiplier } => [1, bits(noise_multiplier), 0],
            Mechanism::RandomizedResponse { epsilon, categories } => [2, bits(epsilon), categories],
            Mechanism::Pure { epsilon } => [3, bits(epsilon), 0],
            Mechanism::Approximate { epsilon, delta } => [4, bits(epsilon), bits(delta)],
            Mechanism::ZeroConcentrated { rho } => [5, bits(rho), 0],
            Mechanism::NonPrivate => [6, 0, 0],
        };
        let [way, third, fourth] = match self.sampling {
            Sampling::All => [0, 0, 0],
            Sampling::Poisson { rate } => [1, bits(rate), 0],
            Sampling::WithoutReplacement { population, sample } => [2, population, sample],
        };
        [kind, first, second, way, third, fourth]
    }
}

impl fmt::Display for Release {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mechanism {
            Mechanism::Gaussian { noise_multiplier } => write!(out, "gaussian (noise {noise_multiplier})")?,
            Mechanism::Laplace { noise_multiplier } => write!(out, "laplace (noise {noise_multiplier})")?,
            Mechanism::RandomizedResponse { epsilon, categories } => {
                write!(out, "randomized_response (ε {epsilon}, {categories} categories)")?;
            }
            Mechanism::Pure { epsilon } => write!(out, "pure_dp (ε {epsilon})")?,
            Mechanism::Approximate { epsilon, delta } => {
                write!(out, "approximate_dp (ε {epsilon}, δ {delta:e})")?
            }
            Mechanism::ZeroConcentrated { rho } => write!(out, "zero_concentrated (ρ {rho})")?,
            Mechanism::NonPrivate => write!(out, "non_private")?,
        }
        match self.sampling {
            Sampling::All => Ok(()),
            Sampling::Poisson { rate } => write!(out, " on a Poisson sample (rate {rate})"),
            Sampling::WithoutReplacement { population, sample } => {
                write!(out, " on {sample} of {population} records")
            }
        }
    }
}

impl Default for Releases {
    fn default() -> Self {
        Self { entries: Vec::new(), adjacency: Neighbours::Any }
    }
}

impl Releases {
    /// Adds an event `count` times. On an error nothing is added.
    ///
    /// # Errors
    /// When the event is impossible, cannot be normalised, or is about another adjacency than what came before.
    pub fn add(&mut self, event: &DpEvent, count: u64) -> Result<(), LedgerError> {
        event.validate()?;
        let adjacency = self.adjacency.and(event.adjacency()?)?;
        let mut entries = self.entries.clone();
        for (release, times) in flatten(event, count)? {
            insert(&mut entries, release, times)?;
        }
        (self.entries, self.adjacency) = (entries, adjacency);
        Ok(())
    }

    /// Distinct releases with their counts, in a fixed order.
    #[must_use]
    pub fn entries(&self) -> &[(Release, u64)] {
        &self.entries
    }

    /// Which neighbouring inputs the composition is about.
    #[must_use]
    pub fn adjacency(&self) -> Neighbours {
        self.adjacency
    }

    /// Whether something without any protection was released.
    #[must_use]
    pub fn has_non_private(&self) -> bool {
        self.entries.iter().any(|(release, _)| release.mechanism == Mechanism::NonPrivate)
    }

    /// How many releases there are in all (as a float: counts may be large).
    #[must_use]
    pub fn releases(&self) -> f64 {
        self.entries.iter().map(|(_, count)| *count as f64).sum()
    }
}

fn insert(entries: &mut Vec<(Release, u64)>, release: Release, count: u64) -> Result<(), LedgerError> {
    match entries.binary_search_by_key(&release.key(), |(known, _)| known.key()) {
        Ok(at) => {
            entries[at].1 = entries[at].1.checked_add(count).ok_or(LedgerError::TooMany)?;
        }
        Err(at) => entries.insert(at, (release, count)),
    }
    Ok(())
}

/// The releases of an event; events that reveal nothing (count 0, rate 0) give none.
fn flatten(event: &DpEvent, count: u64) -> Result<Vec<(Release, u64)>, LedgerError> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let once = |mechanism| Ok(vec![(Release::unsampled(mechanism), count)]);
    match event {
        DpEvent::Gaussian { noise_multiplier } => {
            once(Mechanism::Gaussian { noise_multiplier: *noise_multiplier })
        }
        DpEvent::Laplace { noise_multiplier } => {
            once(Mechanism::Laplace { noise_multiplier: *noise_multiplier })
        }
        DpEvent::RandomizedResponse { epsilon, categories } => {
            once(Mechanism::RandomizedResponse { epsilon: *epsilon, categories: *categories })
        }
        DpEvent::DPrivate { epsilon_per_unit, distance } => {
            once(Mechanism::Pure { epsilon: round_up(epsilon_per_unit * distance) })
        }
        DpEvent::PureDp { epsilon } => once(Mechanism::Pure { epsilon: *epsilon }),
        DpEvent::ApproximateDp { epsilon, delta } => {
            once(Mechanism::Approximate { epsilon: *epsilon, delta: *delta })
        }
        DpEvent::ZeroConcentrated { rho } => once(Mechanism::ZeroConcentrated { rho: *rho }),
        DpEvent::NonPrivate => once(Mechanism::NonPrivate),
        DpEvent::PoissonSampled { rate, event } => {
            if *rate == 0.0 {
                return Ok(Vec::new());
            }
            sample_all(flatten(event, 1)?, Sampling::Poisson { rate: *rate }, count)
        }
        DpEvent::SampledWithoutReplacement { population, sample, event } => {
            let sampling = Sampling::WithoutReplacement { population: *population, sample: *sample };
            sample_all(flatten(event, 1)?, sampling, count)
        }
        DpEvent::Composed { event, count: inner } => {
            flatten(event, count.checked_mul(*inner).ok_or(LedgerError::TooMany)?)
        }
        DpEvent::Sequence { events } => {
            let mut all = Vec::new();
            for event in events {
                for (release, times) in flatten(event, count)? {
                    insert(&mut all, release, times)?;
                }
            }
            Ok(all)
        }
    }
}

/// Applies a sampling to everything that was done with the sample.
fn sample_all(
    inside: Vec<(Release, u64)>,
    sampling: Sampling,
    count: u64,
) -> Result<Vec<(Release, u64)>, LedgerError> {
    if inside.is_empty() {
        return Ok(inside);
    }
    let whole = match sampling {
        Sampling::All => true,
        Sampling::Poisson { rate } => rate == 1.0,
        Sampling::WithoutReplacement { population, sample } => population == sample,
    };
    if whole {
        let times = |n: u64| n.checked_mul(count).ok_or(LedgerError::TooMany);
        return inside.into_iter().map(|(release, n)| Ok((release, times(n)?))).collect();
    }
    let release = merge(&inside, sampling)?;
    Ok(vec![(amplify_known(release), count)])
}

/// All releases made from one sample as a single release.
fn merge(inside: &[(Release, u64)], outer: Sampling) -> Result<Release, LedgerError> {
    if let [(release, 1)] = inside {
        return match (release.sampling, outer) {
            (Sampling::All, _) => Ok(Release { mechanism: release.mechanism, sampling: outer }),
            // A Poisson sample of a Poisson sample is one with the product of the rates.
            (Sampling::Poisson { rate: first }, Sampling::Poisson { rate: second }) => {
                let sampling = Sampling::Poisson { rate: round_up(first * second).min(1.0) };
                Ok(Release { mechanism: release.mechanism, sampling })
            }
            (Sampling::Poisson { .. } | Sampling::WithoutReplacement { .. }, _) => {
                Err(nesting(inside, outer))
            }
        };
    }
    if inside.iter().any(|(release, _)| release.sampling != Sampling::All) {
        return Err(nesting(inside, outer));
    }
    let mechanism = merge_gaussians(inside)
        .or_else(|| merge_by_basic_composition(inside))
        .ok_or_else(|| nesting(inside, outer))?;
    Ok(Release { mechanism, sampling: outer })
}

/// Gaussians on one sample are one Gaussian: μ² adds.
fn merge_gaussians(inside: &[(Release, u64)]) -> Option<Mechanism> {
    let mut mu_squared = 0.0;
    for (release, count) in inside {
        let Mechanism::Gaussian { noise_multiplier } = release.mechanism else { return None };
        mu_squared += *count as f64 / (noise_multiplier * noise_multiplier);
    }
    Some(Mechanism::Gaussian {
        noise_multiplier: (1.0 / libm::sqrt(mu_squared)) * (1.0 - 4.0 * f64::EPSILON),
    })
}

/// Releases with a known (ε, δ) on one sample are one release with the sums.
fn merge_by_basic_composition(inside: &[(Release, u64)]) -> Option<Mechanism> {
    let (mut epsilon, mut delta) = (0.0, 0.0);
    for (release, count) in inside {
        let (one_epsilon, one_delta) = known_point(release.mechanism)?;
        epsilon += one_epsilon * *count as f64;
        delta += one_delta * *count as f64;
    }
    Some(Mechanism::Approximate { epsilon: round_up(epsilon), delta: round_up(delta).min(1.0) })
}

/// The (ε, δ) that a mechanism is known to have whatever else holds; none for those with a whole curve.
pub(crate) fn known_point(mechanism: Mechanism) -> Option<(f64, f64)> {
    match mechanism {
        Mechanism::Laplace { noise_multiplier } => Some((round_up(1.0 / noise_multiplier), 0.0)),
        Mechanism::RandomizedResponse { epsilon, .. } | Mechanism::Pure { epsilon } => Some((epsilon, 0.0)),
        Mechanism::Approximate { epsilon, delta } => Some((epsilon, delta)),
        Mechanism::Gaussian { .. } | Mechanism::ZeroConcentrated { .. } | Mechanism::NonPrivate => None,
    }
}

/// Of mechanisms known only by a point (ε, δ), the sample is known only by the amplified point: put it in place.
fn amplify_known(release: Release) -> Release {
    let rate = match release.sampling {
        Sampling::All => return release,
        Sampling::Poisson { rate } => rate,
        Sampling::WithoutReplacement { population, sample } => round_up(sample as f64 / population as f64),
    };
    match release.mechanism {
        Mechanism::RandomizedResponse { epsilon, .. } | Mechanism::Pure { epsilon } => {
            Release::unsampled(Mechanism::Pure { epsilon: amplification::epsilon(epsilon, rate) })
        }
        Mechanism::Approximate { epsilon, delta } => Release::unsampled(Mechanism::Approximate {
            epsilon: amplification::epsilon(epsilon, rate),
            delta: round_up(delta * rate).min(1.0),
        }),
        Mechanism::NonPrivate => Release::unsampled(Mechanism::NonPrivate),
        Mechanism::Gaussian { .. } | Mechanism::Laplace { .. } | Mechanism::ZeroConcentrated { .. } => {
            release
        }
    }
}

fn nesting(inside: &[(Release, u64)], outer: Sampling) -> LedgerError {
    let inside = inside.iter().map(|(release, count)| format!("{count} × {release}")).collect::<Vec<_>>();
    let outside = match outer {
        Sampling::All => "composed",
        Sampling::Poisson { .. } => "poisson_sampled",
        Sampling::WithoutReplacement { .. } => "sampled_without_replacement",
    };
    LedgerError::Nesting { inside: inside.join(" and "), outside }
}

/// The next float above a positive result, so that one rounded operation never rounds a loss down.
fn round_up(value: f64) -> f64 {
    if value == 0.0 { 0.0 } else { value.next_up() }
}

#[cfg(test)]
mod tests;

//! What was done to the data, as frozen values: describe the event here, price it elsewhere.
//!
//! An event never carries a price. Accountants match on every kind without a catch-all arm, so that a
//! new kind cannot be free by accident: an accountant that does not know a kind refuses it.
//! The JSON form (`{"kind": "gaussian", "noise_multiplier": 1.0}`) is stable: ledgers and files on disk use it.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use topology::Hint;

/// How deep events may nest; deeper ones come from a broken or hostile file.
const MAX_DEPTH: usize = 32;

/// One release, or a composition of releases.
///
/// Noise multipliers are noise divided by sensitivity, for the adjacency of the report (see [`Neighbours`]).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum DpEvent {
    /// Gaussian noise on a vector: standard deviation divided by ℓ₂ sensitivity.
    Gaussian {
        /// σ/Δ₂.
        noise_multiplier: f64,
    },
    /// Laplace noise on every coordinate: scale divided by ℓ₁ sensitivity.
    Laplace {
        /// b/Δ₁, that is 1/ε.
        noise_multiplier: f64,
    },
    /// K-ary randomised response: the truth with odds e^ε to 1 against each other category.
    RandomizedResponse {
        /// ε of the response.
        epsilon: f64,
        /// The number of categories K, at least 2.
        categories: u64,
    },
    /// A d-private release (metric privacy) seen at one distance between neighbouring inputs.
    DPrivate {
        /// ε per unit of distance.
        epsilon_per_unit: f64,
        /// The largest distance between neighbouring inputs.
        distance: f64,
    },
    /// A release of which only pure ε-DP is known.
    PureDp {
        /// ε.
        epsilon: f64,
    },
    /// A release of which only (ε, δ)-DP is known.
    ApproximateDp {
        /// ε.
        epsilon: f64,
        /// δ.
        delta: f64,
    },
    /// A release of which only ρ-zCDP is known (D_α ≤ ρα for all α > 1), such as the discrete Gaussian.
    ZeroConcentrated {
        /// ρ.
        rho: f64,
    },
    /// The inner event on a sample into which each record came independently with probability `rate`.
    PoissonSampled {
        /// q, between 0 and 1.
        rate: f64,
        /// What was done with the sample.
        event: Box<Self>,
    },
    /// The inner event on a uniform sample of fixed size.
    SampledWithoutReplacement {
        /// Number of records n.
        population: u64,
        /// Number of records drawn m ≤ n.
        sample: u64,
        /// What was done with the sample.
        event: Box<Self>,
    },
    /// The same event, independently, `count` times.
    Composed {
        /// What was done each time.
        event: Box<Self>,
        /// How many times.
        count: u64,
    },
    /// Several events one after another; later ones may depend on the results of earlier ones.
    Sequence {
        /// The events in order.
        events: Vec<Self>,
    },
    /// A release without protection: infinite loss.
    NonPrivate,
}

/// Which inputs count as neighbours in an event's guarantee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Neighbours {
    /// The event's numbers hold for whichever relation its sensitivity was taken under.
    Any,
    /// One record is added or removed (Poisson sampling).
    AddOrRemove,
    /// One record is replaced (sampling without replacement: the population's size is public).
    Replace,
}

/// An event that says something impossible.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum EventError {
    /// A parameter outside its range.
    #[error("{event}: {parameter} must be {range}: {value}")]
    Parameter {
        /// Kind of the event.
        event: &'static str,
        /// Name of the field.
        parameter: &'static str,
        /// Which values are allowed.
        range: &'static str,
        /// What was given.
        value: f64,
    },
    /// A sample larger than its population, or empty.
    #[error("sampled_without_replacement: a sample of {sample} from a population of {population}")]
    Sample {
        /// m.
        sample: u64,
        /// n.
        population: u64,
    },
    /// Events nested deeper than any real description.
    #[error("events nest deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// Add-or-remove and replace-one guarantees in one composition.
    #[error("events for adding or removing a record and for replacing one cannot be composed")]
    MixedAdjacency,
}

impl Hint for EventError {
    fn hint(&self) -> Option<String> {
        let hint: String = match self {
            Self::Parameter { parameter: "noise_multiplier", .. } => {
                "noise multiplier is noise divided by sensitivity; a release without noise is `non_private`"
                    .into()
            }
            Self::Parameter { parameter, range, .. } => {
                format!("give `{parameter}` as a number that is {range}")
            }
            Self::Sample { .. } => "the sample must have between 1 record and the whole population".into(),
            Self::TooDeep => "flatten the composition into one `sequence`".into(),
            Self::MixedAdjacency => {
                "describe all sampled events with Poisson sampling, or all without replacement".into()
            }
        };
        Some(hint)
    }
}

impl DpEvent {
    /// K-ary randomised response that tells the truth with probability `truth` and each other category
    /// with probability (1 − truth)/(K − 1): ε = ln(truth·(K − 1)/(1 − truth)).
    ///
    /// # Errors
    /// When `truth` is below 1/K (lying more than chance) or not below 1, or K < 2.
    pub fn randomized_response(truth: f64, categories: u64) -> Result<Self, EventError> {
        let others = categories.saturating_sub(1) as f64;
        let possible = truth < 1.0 && truth * (others + 1.0) >= 1.0;
        if !possible {
            return Err(EventError::Parameter {
                event: "randomized_response",
                parameter: "truth",
                range: "at least 1/categories and below 1",
                value: truth,
            });
        }
        let epsilon = libm::log(truth * others / (1.0 - truth)).max(0.0).next_up();
        let event = Self::RandomizedResponse { epsilon, categories };
        event.validate().map(|()| event)
    }

    /// The same event `count` times.
    #[must_use]
    pub fn repeated(self, count: u64) -> Self {
        Self::Composed { event: Box::new(self), count }
    }

    /// This event on a Poisson sample.
    #[must_use]
    pub fn poisson_sampled(self, rate: f64) -> Self {
        Self::PoissonSampled { rate, event: Box::new(self) }
    }

    /// This event on a sample of `sample` out of `population` records.
    #[must_use]
    pub fn sampled_without_replacement(self, sample: u64, population: u64) -> Self {
        Self::SampledWithoutReplacement { population, sample, event: Box::new(self) }
    }

    /// The stable name of the kind, as in JSON.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Gaussian { .. } => "gaussian",
            Self::Laplace { .. } => "laplace",
            Self::RandomizedResponse { .. } => "randomized_response",
            Self::DPrivate { .. } => "d_private",
            Self::PureDp { .. } => "pure_dp",
            Self::ApproximateDp { .. } => "approximate_dp",
            Self::ZeroConcentrated { .. } => "zero_concentrated",
            Self::PoissonSampled { .. } => "poisson_sampled",
            Self::SampledWithoutReplacement { .. } => "sampled_without_replacement",
            Self::Composed { .. } => "composed",
            Self::Sequence { .. } => "sequence",
            Self::NonPrivate => "non_private",
        }
    }

    /// Refuses NaN, infinities, negative noise, impossible samples, mixed adjacencies and absurd nesting.
    ///
    /// # Errors
    /// Names the first impossible parameter.
    pub fn validate(&self) -> Result<(), EventError> {
        self.validate_to(MAX_DEPTH)?;
        self.adjacency().map(|_| ())
    }

    /// Which neighbouring relation the event's guarantee is about.
    ///
    /// # Errors
    /// When parts of it are about different relations.
    pub fn adjacency(&self) -> Result<Neighbours, EventError> {
        match self {
            Self::Gaussian { .. }
            | Self::Laplace { .. }
            | Self::RandomizedResponse { .. }
            | Self::DPrivate { .. }
            | Self::PureDp { .. }
            | Self::ApproximateDp { .. }
            | Self::ZeroConcentrated { .. }
            | Self::NonPrivate => Ok(Neighbours::Any),
            Self::PoissonSampled { event, .. } => event.adjacency()?.and(Neighbours::AddOrRemove),
            Self::SampledWithoutReplacement { event, .. } => event.adjacency()?.and(Neighbours::Replace),
            Self::Composed { event, .. } => event.adjacency(),
            Self::Sequence { events } => {
                events.iter().try_fold(Neighbours::Any, |all, event| all.and(event.adjacency()?))
            }
        }
    }

    fn validate_to(&self, depth: usize) -> Result<(), EventError> {
        let Some(deeper) = depth.checked_sub(1) else {
            return Err(EventError::TooDeep);
        };
        let check = Check { event: self.kind() };
        match self {
            Self::Gaussian { noise_multiplier } | Self::Laplace { noise_multiplier } => {
                check.positive("noise_multiplier", *noise_multiplier)
            }
            Self::RandomizedResponse { epsilon, categories } => {
                check.not_negative("epsilon", *epsilon)?;
                check.holds(*categories >= 2, "categories", "at least 2", *categories as f64)
            }
            Self::DPrivate { epsilon_per_unit, distance } => {
                check.not_negative("epsilon_per_unit", *epsilon_per_unit)?;
                check.not_negative("distance", *distance)?;
                check.not_negative("epsilon_per_unit times distance", epsilon_per_unit * distance)
            }
            Self::PureDp { epsilon } => check.not_negative("epsilon", *epsilon),
            Self::ApproximateDp { epsilon, delta } => {
                check.not_negative("epsilon", *epsilon)?;
                check.holds((0.0..=1.0).contains(delta), "delta", "between 0 and 1", *delta)
            }
            Self::ZeroConcentrated { rho } => check.not_negative("rho", *rho),
            Self::PoissonSampled { rate, event } => {
                check.holds((0.0..=1.0).contains(rate), "rate", "between 0 and 1", *rate)?;
                event.validate_to(deeper)
            }
            Self::SampledWithoutReplacement { population, sample, event } => {
                if *sample == 0 || sample > population {
                    return Err(EventError::Sample { sample: *sample, population: *population });
                }
                event.validate_to(deeper)
            }
            Self::Composed { event, .. } => event.validate_to(deeper),
            Self::Sequence { events } => events.iter().try_for_each(|event| event.validate_to(deeper)),
            Self::NonPrivate => Ok(()),
        }
    }
}

impl Neighbours {
    /// The relation of a composition of two parts.
    ///
    /// # Errors
    /// When the parts are about different relations.
    pub fn and(self, other: Self) -> Result<Self, EventError> {
        match (self, other) {
            (Self::Any, one) | (one, Self::Any) => Ok(one),
            (Self::AddOrRemove, Self::AddOrRemove) => Ok(Self::AddOrRemove),
            (Self::Replace, Self::Replace) => Ok(Self::Replace),
            (Self::AddOrRemove, Self::Replace) | (Self::Replace, Self::AddOrRemove) => {
                Err(EventError::MixedAdjacency)
            }
        }
    }
}

/// Checks of one event's parameters that name the event.
struct Check {
    event: &'static str,
}

impl Check {
    fn positive(&self, parameter: &'static str, value: f64) -> Result<(), EventError> {
        self.holds(value.is_finite() && value > 0.0, parameter, "positive and finite", value)
    }

    fn not_negative(&self, parameter: &'static str, value: f64) -> Result<(), EventError> {
        self.holds(value.is_finite() && value >= 0.0, parameter, "zero or positive and finite", value)
    }

    fn holds(
        &self,
        condition: bool,
        parameter: &'static str,
        range: &'static str,
        value: f64,
    ) -> Result<(), EventError> {
        if condition {
            Ok(())
        } else {
            Err(EventError::Parameter { event: self.event, parameter, range, value })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaussian(noise_multiplier: f64) -> DpEvent {
        DpEvent::Gaussian { noise_multiplier }
    }

    #[test]
    fn the_json_form_is_the_documented_one() {
        let event = DpEvent::Sequence {
            events: vec![gaussian(1.5).poisson_sampled(0.01).repeated(10), DpEvent::NonPrivate],
        };
        let json = r#"{"kind":"sequence","events":[{"kind":"composed","event":{"kind":"poisson_sampled","rate":0.01,"event":{"kind":"gaussian","noise_multiplier":1.5}},"count":10},{"kind":"non_private"}]}"#;
        assert_eq!(serde_json::to_string(&event).unwrap(), json);
        assert_eq!(serde_json::from_str::<DpEvent>(json).unwrap(), event);
    }

    #[test]
    fn an_unknown_kind_or_field_is_refused() {
        assert!(serde_json::from_str::<DpEvent>(r#"{"kind":"magic"}"#).is_err());
        assert!(serde_json::from_str::<DpEvent>(r#"{"kind":"gaussian","sigma":1.0}"#).is_err());
        let extra = r#"{"kind":"gaussian","noise_multiplier":1.0,"free":true}"#;
        assert!(serde_json::from_str::<DpEvent>(extra).is_err());
    }

    #[test]
    fn impossible_parameters_are_refused_wherever_they_hide() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(gaussian(bad).validate().is_err(), "{bad}");
            assert!(DpEvent::Laplace { noise_multiplier: bad }.validate().is_err(), "{bad}");
            let hidden = DpEvent::Sequence { events: vec![gaussian(1.0), gaussian(bad).repeated(2)] };
            assert!(hidden.validate().is_err(), "{bad}");
        }
        assert!(gaussian(1.0).poisson_sampled(1.1).validate().is_err());
        assert!(gaussian(1.0).poisson_sampled(f64::NAN).validate().is_err());
        assert!(gaussian(1.0).sampled_without_replacement(11, 10).validate().is_err());
        assert!(DpEvent::RandomizedResponse { epsilon: 1.0, categories: 1 }.validate().is_err());
        assert!(DpEvent::ApproximateDp { epsilon: 1.0, delta: -1e-9 }.validate().is_err());
        let product = DpEvent::DPrivate { epsilon_per_unit: 1e200, distance: 1e200 };
        assert!(product.validate().is_err());
        let deep = (0..100).fold(gaussian(1.0), |event, _| event.repeated(1));
        assert_eq!(deep.validate(), Err(EventError::TooDeep));
    }

    #[test]
    fn adding_and_replacing_do_not_mix() {
        let poisson = gaussian(1.0).poisson_sampled(0.1);
        let fixed = gaussian(1.0).sampled_without_replacement(1, 10);
        assert_eq!(poisson.adjacency(), Ok(Neighbours::AddOrRemove));
        assert_eq!(fixed.adjacency(), Ok(Neighbours::Replace));
        let mixed = DpEvent::Sequence { events: vec![poisson, fixed] };
        assert_eq!(mixed.validate(), Err(EventError::MixedAdjacency));
    }

    #[test]
    fn truth_with_probability_three_quarters_costs_ln_three() {
        let event = DpEvent::randomized_response(0.75, 2).unwrap();
        let DpEvent::RandomizedResponse { epsilon, categories: 2 } = event else { panic!("{event:?}") };
        assert!((epsilon - 3f64.ln()).abs() < 1e-15);
        assert!(DpEvent::randomized_response(0.3, 2).is_err());
        assert!(DpEvent::randomized_response(1.0, 2).is_err());
        assert!(DpEvent::randomized_response(0.5, 1).is_err());
    }
}

//! Step sizes over time. Public: they depend on the step's number only.

use super::{OptimiserError, positive};

/// η as a function of the step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StepSizes {
    /// η.
    Constant {
        /// η.
        step_size: f64,
    },
    /// η/√t for t = 1, 2, … (convex losses: Zinkevich 2003).
    InverseSqrt {
        /// η of the first step.
        step_size: f64,
    },
    /// Falls from η to 0 along half a cosine (Loshchilov and Hutter 2017).
    Cosine {
        /// η of the first step.
        step_size: f64,
        /// Number of steps until 0.
        steps: u64,
    },
    /// Falls from η to 0 along a line.
    Linear {
        /// η of the first step.
        step_size: f64,
        /// Number of steps until 0.
        steps: u64,
    },
}

impl StepSizes {
    /// Whether the step size is a positive number.
    ///
    /// # Errors
    /// It is not.
    pub fn validate(&self) -> Result<(), OptimiserError> {
        let (Self::Constant { step_size }
        | Self::InverseSqrt { step_size }
        | Self::Cosine { step_size, .. }
        | Self::Linear { step_size, .. }) = *self;
        positive("step_size", step_size).map(|_| ())
    }

    /// The step size of step `step`, counted from 0.
    pub fn at(&self, step: u64) -> f64 {
        let done = |steps: u64| (step as f64 / steps.max(1) as f64).min(1.0);
        match *self {
            Self::Constant { step_size } => step_size,
            Self::InverseSqrt { step_size } => step_size / ((step + 1) as f64).sqrt(),
            Self::Cosine { step_size, steps } => {
                step_size * 0.5 * (1.0 + libm::cos(std::f64::consts::PI * done(steps)))
            }
            Self::Linear { step_size, steps } => step_size * (1.0 - done(steps)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_start_at_the_step_size_and_fall() {
        let all = [
            StepSizes::InverseSqrt { step_size: 2.0 },
            StepSizes::Cosine { step_size: 2.0, steps: 10 },
            StepSizes::Linear { step_size: 2.0, steps: 10 },
        ];
        for schedule in all {
            assert_eq!(schedule.at(0), 2.0);
            assert!((1..10).all(|step| schedule.at(step) < schedule.at(step - 1)), "{schedule:?}");
        }
        assert_eq!(StepSizes::InverseSqrt { step_size: 2.0 }.at(3), 1.0);
        assert!((StepSizes::Cosine { step_size: 2.0, steps: 10 }.at(5) - 1.0).abs() < 1e-12);
        assert_eq!(StepSizes::Linear { step_size: 2.0, steps: 10 }.at(99), 0.0);
        assert_eq!(StepSizes::Constant { step_size: 2.0 }.at(1_000_000), 2.0);
    }

    #[test]
    fn a_step_size_that_is_not_positive_is_refused() {
        for step_size in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(StepSizes::Constant { step_size }.validate().is_err(), "{step_size}");
        }
    }
}

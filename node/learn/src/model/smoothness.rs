//! How far one gradient step can drive two models apart: the ρ that the `contractive` analysis needs.
//!
//! For a convex β-smooth loss θ ↦ θ − η∇f(θ) is nonexpansive when η ≤ 2/β (Hardt, Recht and Singer 2016, Lemma 3.6);
//! with a penalty (λ/2)‖θ‖² its Lipschitz constant is max(|1 − ηλ|, |1 − η(β + λ)|). Without convexity it is 1 + ηβ.
//!
//! Clipping does not preserve convexity in general. It does where every gradient has the form ℓ′(z)·x̃ with one scalar
//! z = ⟨θ, x̃⟩ (ℓ′ is cut off, which leaves a convex, β-smooth Huber-like loss), and for the mean (the Huber loss
//! itself). For other models only the projection's 1-Lipschitz property is left: ρ = 1 + ηβ.

/// Constants of the loss of one record of bounded norm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Smoothness {
    /// β: the gradient without penalty is β-Lipschitz.
    pub beta: f64,
    /// The largest gradient norm of one record, where it is bounded for all parameters.
    pub gradient_bound: Option<f64>,
    /// Whether the loss whose gradients are the clipped ones is convex and β-smooth too.
    pub clipped_is_convex: bool,
}

/// The Lipschitz constant ρ of one step θ ↦ θ − η(mean of clipped gradients + λθ), for the `contractive` analysis.
/// `None` where the model's loss is not known to be smooth, or an argument is not a number that makes sense.
///
/// # Guarantee
/// The step map is ρ-Lipschitz in L2, whatever the records are. The result is rounded up.
///
/// # Assumes
/// The gradients of at most `weight · batch` records are summed and divided by `batch`: `weight` is 1 for full batches
/// and the largest possible (batch drawn)/(batch expected) for Poisson samples. Every record's features have L2 norm at
/// most `row_norm`. `clip` is the record-level clip norm, if any. Exact arithmetic.
pub fn certified_rho(
    model: &dyn super::Model,
    row_norm: f64,
    step_size: f64,
    clip: Option<f64>,
    weight: f64,
) -> Option<f64> {
    let sensible = |value: f64| value.is_finite() && value >= 0.0;
    if !(sensible(row_norm) && sensible(step_size) && sensible(weight) && clip.is_none_or(sensible)) {
        return None;
    }
    let known = model.smoothness(row_norm)?;
    let beta = known.beta * weight;
    let penalty = model.penalty();
    let never_clips = clip.is_none_or(|clip| known.gradient_bound.is_some_and(|bound| bound <= clip));
    let rho = if never_clips || known.clipped_is_convex {
        f64::max((1.0 - step_size * penalty).abs(), (1.0 - step_size * (beta + penalty)).abs())
    } else {
        (1.0 - step_size * penalty).abs() + step_size * beta
    };
    // Four roundings, each at most half a unit in the last place.
    Some(if rho == 1.0 { 1.0 } else { rho * (1.0 + 4.0 * f64::EPSILON) })
}

/// ‖(x, 1)‖² for ‖x‖ ≤ `row_norm`: the bias is a feature that is always 1.
pub(crate) fn squared_row_with_bias(row_norm: f64) -> f64 {
    row_norm * row_norm + 1.0
}

#[cfg(test)]
mod tests {
    use super::super::{LinearRegression, LogisticRegression, Mean, Mlp, RidgeRegression, SoftmaxRegression};
    use super::*;
    use crate::model::Activation;

    #[test]
    fn a_step_of_two_over_beta_is_nonexpansive_and_a_larger_one_is_not() {
        // β = (1 + 1)/4 for logistic regression on the unit ball.
        let model = LogisticRegression::new(3).unwrap();
        assert_eq!(certified_rho(&model, 1.0, 4.0, Some(0.1), 1.0), Some(1.0));
        assert!(certified_rho(&model, 1.0, 5.0, Some(0.1), 1.0).unwrap() > 1.49);
        assert_eq!(certified_rho(&LinearRegression::new(3).unwrap(), 1.0, 1.0, None, 1.0), Some(1.0));
        assert_eq!(certified_rho(&Mean::new(3).unwrap(), 9.0, 2.0, Some(1.0), 1.0), Some(1.0));
    }

    #[test]
    fn a_batch_larger_than_expected_needs_a_smaller_step() {
        let model = LinearRegression::new(3).unwrap();
        assert!(certified_rho(&model, 1.0, 1.0, None, 1.5).unwrap() > 1.99);
    }

    #[test]
    fn a_penalty_contracts() {
        let model = RidgeRegression::new(3, 0.5).unwrap();
        let rho = certified_rho(&model, 1.0, 0.5, Some(1.0), 1.0).unwrap();
        assert!((0.75..0.750_001).contains(&rho), "{rho}");
    }

    #[test]
    fn softmax_is_certified_only_where_clipping_never_acts() {
        let model = SoftmaxRegression::new(3, 4).unwrap();
        // The gradient norm is at most √2·√(1 + 1) = 2.
        assert_eq!(certified_rho(&model, 1.0, 1.0, Some(2.1), 1.0), Some(1.0));
        assert!(certified_rho(&model, 1.0, 1.0, Some(1.0), 1.0).unwrap() > 1.9);
    }

    #[test]
    fn a_neural_network_has_no_certificate() {
        let model =
            Mlp::new(3, &[4], Activation::Tanh, crate::data::Task::Classification { classes: 2 }).unwrap();
        assert_eq!(certified_rho(&model, 1.0, 0.1, None, 1.0), None);
        assert_eq!(certified_rho(&Mean::new(1).unwrap(), f64::NAN, 0.1, None, 1.0), None);
    }
}

//! A model of one's own, made from the shared one: argmin f(v) + (λ/2)‖v − θ‖² on the node's own records (Li et al. 2021, *Ditto*).
//!
//! λ = ∞ is the shared model, λ = 0 plain fine-tuning. It reads the shared model and the node's records and enters no message, so it costs no privacy, under every
//! algorithm and at both levels; and it is as secret as the records that it was made of.

mod choose;
mod exact;
mod figures;
mod fit;
mod free;

pub use choose::{Choice, Lambda};
pub use figures::{Figures, Measure};
pub use free::{Free, UnknownTensor};

use crate::data::Dataset;
use crate::model::Model;
use crate::train::TrainError;

/// How a node makes a model of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Personal {
    /// How near it stays to the shared one.
    pub lambda: Lambda,
    /// Gradient steps, where there is no closed form.
    pub steps: u64,
    /// Steps of the model that the node trains without anybody else.
    pub alone_steps: u64,
    /// Which parameters are its own; the others stay those of the shared model.
    pub free: Free,
    /// Of the folds of a cross-validation.
    pub seed: u64,
}

/// Models of one node.
#[derive(Debug, Clone, PartialEq)]
pub struct Own {
    /// What it will use.
    pub params: Vec<f32>,
    /// How near to the shared one it is.
    pub choice: Choice,
    /// What the node reaches without anybody else.
    pub alone: Vec<f32>,
}

impl Personal {
    /// Makes the model of the node with these records from the shared model; `first` is where it would have begun alone.
    ///
    /// # Guarantee
    /// Nothing is released: the result is a function of the shared model and of the node's own records, and is as secret as these.
    ///
    /// # Errors
    /// Records or parameters that do not fit the model.
    pub fn fit(
        &self,
        model: &dyn Model,
        (shared, first): (&[f32], &[f32]),
        data: &Dataset,
    ) -> Result<Own, TrainError> {
        let fitting = fit::Fitting { personal: self, model, shared, first };
        let alone = fitting.with(Choice::Alone, data)?;
        let choice = choose::choose(&fitting, data)?;
        let params = if choice == Choice::Alone { alone.clone() } else { fitting.with(choice, data)? };
        Ok(Own { params, choice, alone })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Targets;
    use crate::model::{LinearRegression, Model, SoftmaxRegression};

    fn personal(model: &dyn Model, lambda: Lambda, names: &[&str]) -> Personal {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let free = Free::named(model, &names).unwrap();
        Personal { lambda, steps: 200, alone_steps: 200, free, seed: 1 }
    }

    /// y = slope·x + level on a grid.
    fn line(slope: f32, level: f32, records: usize) -> Dataset {
        let x: Vec<f32> = (0..records).map(|at| at as f32 / records as f32 - 0.5).collect();
        let y = x.iter().map(|x| slope * x + level).collect();
        Dataset::new(x, 1, Targets::Real(y)).unwrap()
    }

    #[test]
    fn a_named_tensor_moves_and_the_others_stay() {
        let model = LinearRegression::new(1).unwrap();
        let shared = [2.0, 0.0];
        let own = personal(&model, Lambda::Is(0.0), &["linear.bias"])
            .fit(&model, (&shared, &[0.0, 0.0]), &line(2.0, 3.0, 50))
            .unwrap();
        assert_eq!(own.params[0], 2.0);
        assert!((own.params[1] - 3.0).abs() < 1e-5, "{:?}", own.params);
        // An intercept shrinks by n/(n + nλ): λ = 1 halves it.
        let half = personal(&model, Lambda::Is(1.0), &["linear.bias"])
            .fit(&model, (&shared, &[0.0, 0.0]), &line(2.0, 3.0, 50))
            .unwrap();
        assert!((half.params[1] - 1.5).abs() < 1e-5, "{:?}", half.params);
        let unknown = Free::named(&model, &["head".to_owned()]).unwrap_err().to_string();
        assert!(unknown.contains("`head`") && unknown.contains("`linear.bias`"), "{unknown}");
    }

    #[test]
    fn an_infinite_lambda_is_the_shared_model_and_none_is_fine_tuning() {
        let model = LinearRegression::new(1).unwrap();
        let (shared, data) = ([1.0, 1.0], line(-2.0, 0.5, 30));
        let with = |lambda| {
            personal(&model, Lambda::Is(lambda), &[]).fit(&model, (&shared, &[0.0, 0.0]), &data).unwrap()
        };
        assert_eq!(
            (with(f64::INFINITY).params, with(f64::INFINITY).choice),
            (shared.to_vec(), Choice::Shared)
        );
        let tuned = with(0.0).params;
        assert!((tuned[0] + 2.0).abs() < 1e-4 && (tuned[1] - 0.5).abs() < 1e-4, "{tuned:?}");
    }

    /// Labels by the sign of the first feature, or of its opposite.
    fn signs(records: usize, flipped: bool) -> Dataset {
        let x: Vec<f32> = (0..records).flat_map(|at| [((at * 37 % 101) as f32 - 50.0) / 50.0, 1.0]).collect();
        let labels = x.chunks(2).map(|row| u32::from((row[0] > 0.0) != flipped)).collect();
        Dataset::new(x, 2, Targets::Class { labels, classes: 2 }).unwrap()
    }

    #[test]
    fn cross_validation_keeps_a_good_model_and_leaves_a_bad_one() {
        let model = SoftmaxRegression::new(2, 2).unwrap();
        let auto = personal(&model, Lambda::Auto, &[]);
        let first = model.initial(1);
        // The shared model is so sure of the sign, that of 0 too, that no step makes it better.
        let shared = [-4000.0, 0.0, 4000.0, 0.0, 40.0, -40.0];
        let good = auto.fit(&model, (&shared, &first), &signs(80, false)).unwrap();
        assert_eq!(good.choice, Choice::Shared);
        let bad = auto.fit(&model, (&shared, &first), &signs(80, true)).unwrap();
        assert_ne!(bad.choice, Choice::Shared);
        let test = signs(101, true);
        let figures = Figures::of(&model, (&shared, &bad), &test).unwrap().unwrap();
        assert!(figures.shared < 0.05 && figures.personal > 0.9, "{figures:?}");
        // With few records nothing is validated.
        assert_eq!(auto.fit(&model, (&shared, &first), &signs(39, true)).unwrap().choice, Choice::Near(0.03));
    }
}

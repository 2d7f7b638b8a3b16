//! Whether a model is any good, on records that it has not learnt from. Nothing here is private: figures are for the eyes of whoever holds the records.

use serde::Serialize;

use crate::data::Dataset;
use crate::metrics::{self, MetricError};
use crate::model::{self, Model, ModelError, Predictions};

/// How good predictions are, beside what needs no model at all.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Evaluation {
    /// Records that were judged.
    pub records: usize,
    /// Share of records whose likeliest class is the right one.
    pub accuracy: Option<f64>,
    /// Area under the ROC curve; for more than two classes the mean over classes, each against the rest. `None` where all records have one class.
    pub auc: Option<f64>,
    /// Mean of −ln of the probability that the right class was given.
    pub log_loss: Option<f64>,
    /// How far probabilities are from what happens: mean distance over ten bins, weighted by records.
    pub calibration: Option<f64>,
    /// Share of the commonest class: what always giving the same answer reaches.
    pub base_rate: Option<f64>,
    /// The commonest class.
    pub base_class: Option<String>,
    /// Root mean squared error of a number, in the units of the model (0 to 1 between declared bounds).
    pub rmse: Option<f64>,
    /// The same for always saying the mean.
    pub base_rmse: Option<f64>,
}

/// Why a model cannot be judged.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EvaluationError {
    /// Data that do not fit the model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Predictions that cannot be judged.
    #[error(transparent)]
    Metric(#[from] MetricError),
}

impl topology::Hint for EvaluationError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Model(error) => error.hint(),
            Self::Metric(error) => error.hint(),
        }
    }
}

/// Judges a model by the records of `data`.
///
/// # Errors
/// Data that do not fit the model, no record, or predictions that are not finite.
pub fn evaluate(model: &dyn Model, params: &[f32], data: &Dataset) -> Result<Evaluation, EvaluationError> {
    model::check(model, params, data)?;
    let predictions = model::predict(model, params, data)?;
    if let (Predictions::Values(values), Some(truth)) = (&predictions, data.reals()) {
        return of_values(values, &truth);
    }
    match (probabilities(&predictions), data.labels()) {
        (Some(table), Some(labels)) => of_classes(&table, &labels, data),
        _ => Ok(Evaluation { records: data.len(), ..Evaluation::default() }),
    }
}

impl Evaluation {
    /// Whether the model knows more than the commonest answer, in words; `None` where that cannot be said.
    pub fn in_words(&self) -> Option<String> {
        let (accuracy, base) = (self.accuracy?, self.base_rate?);
        let class = self.base_class.as_deref().unwrap_or("the commonest class");
        // Two standard errors of the base rate.
        let chance = 2.0 * libm::sqrt(base * (1.0 - base) / self.records as f64);
        Some(if accuracy <= base {
            format!(
                "NO BETTER than always answering `{class}`, which is right for {:.1} % of the records",
                100.0 * base
            )
        } else if accuracy < base + chance {
            format!(
                "hardly better than always answering `{class}` ({:.1} %): the difference may be chance",
                100.0 * base
            )
        } else {
            format!("better than always answering `{class}` ({:.1} %)", 100.0 * base)
        })
    }
}

/// One probability per class, row by row.
struct Table {
    classes: usize,
    probabilities: Vec<f32>,
}

fn probabilities(predictions: &Predictions) -> Option<Table> {
    match predictions {
        Predictions::Values(_) => None,
        Predictions::Binary(ones) => {
            Some(Table { classes: 2, probabilities: ones.iter().flat_map(|&one| [1.0 - one, one]).collect() })
        }
        Predictions::Classes { classes, probabilities } => {
            Some(Table { classes: *classes, probabilities: probabilities.clone() })
        }
    }
}

fn of_classes(table: &Table, labels: &[u32], data: &Dataset) -> Result<Evaluation, EvaluationError> {
    let rows: Vec<&[f32]> = table.probabilities.chunks_exact(table.classes).collect();
    let predicted: Vec<u32> = rows.iter().map(|row| likeliest(row)).collect();
    let mut counts = vec![0usize; table.classes];
    labels.iter().for_each(|&label| counts[label as usize] += 1);
    let commonest =
        (0..counts.len()).max_by_key(|&class| (counts[class], std::cmp::Reverse(class))).unwrap_or(0);
    let class_name =
        data.class_names().map_or_else(|| commonest.to_string(), |names| names[commonest].clone());
    Ok(Evaluation {
        records: labels.len(),
        accuracy: Some(metrics::accuracy(&predicted, labels)?),
        auc: auc(table, labels)?,
        log_loss: Some(metrics::log_loss(&rows, labels)?),
        calibration: Some(calibration(&rows, &predicted, labels)?),
        base_rate: Some(counts[commonest] as f64 / labels.len() as f64),
        base_class: Some(class_name),
        ..Evaluation::default()
    })
}

/// Of class 1 where there are two, else the mean over the classes that occur.
fn auc(table: &Table, labels: &[u32]) -> Result<Option<f64>, MetricError> {
    let of = |class: usize| {
        let scores: Vec<f32> =
            table.probabilities.iter().skip(class).step_by(table.classes).copied().collect();
        let positive: Vec<bool> = labels.iter().map(|&label| label as usize == class).collect();
        match metrics::auc(&scores, &positive) {
            Ok(area) => Ok(Some(area)),
            Err(MetricError::OneClass { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    };
    if table.classes == 2 {
        return of(1);
    }
    let areas: Vec<f64> =
        (0..table.classes).map(of).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    Ok((!areas.is_empty()).then(|| areas.iter().sum::<f64>() / areas.len() as f64))
}

/// Of the probability of class 1 where there are two classes, else of that of the likeliest class.
fn calibration(rows: &[&[f32]], predicted: &[u32], labels: &[u32]) -> Result<f64, MetricError> {
    let (mut said, mut happened) = (Vec::new(), Vec::new());
    for ((row, &predicted), &label) in rows.iter().zip(predicted).zip(labels) {
        let class = if row.len() == 2 { 1 } else { predicted };
        said.push(row[class as usize]);
        happened.push(label == class);
    }
    metrics::calibration_error(&said, &happened)
}

fn of_values(values: &[f32], truth: &[f32]) -> Result<Evaluation, EvaluationError> {
    let mean = truth.iter().map(|&value| f64::from(value)).sum::<f64>() / truth.len().max(1) as f64;
    Ok(Evaluation {
        records: truth.len(),
        rmse: Some(metrics::rmse(values, truth)?),
        base_rmse: Some(metrics::rmse(&vec![mean as f32; truth.len()], truth)?),
        ..Evaluation::default()
    })
}

fn likeliest(row: &[f32]) -> u32 {
    let best = row.iter().enumerate().fold((0, f32::NEG_INFINITY), |best, (class, &probability)| {
        if probability > best.1 { (class, probability) } else { best }
    });
    best.0 as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Targets;
    use crate::model::LogisticRegression;

    /// p = σ(x), with x such that p is 0.8, 0.8, 0.2, 0.2.
    fn judged(labels: [u32; 4]) -> Evaluation {
        let x = 4f32.ln();
        let data =
            Dataset::new(vec![x, x, -x, -x], 1, Targets::Class { labels: labels.to_vec(), classes: 2 })
                .unwrap();
        evaluate(&LogisticRegression::new(1).unwrap(), &[1.0, 0.0], &data).unwrap()
    }

    #[test]
    fn figures_agree_with_hand_computation() {
        let found = judged([1, 0, 0, 0]);
        assert_eq!((found.records, found.accuracy, found.base_rate), (4, Some(0.75), Some(0.75)));
        // Three negatives, one tie: (0.5 + 1 + 1) / 3.
        assert!((found.auc.unwrap() - 2.5 / 3.0).abs() < 1e-12);
        // −(ln 0.8 + ln 0.2 + 2 ln 0.8)/4.
        let expected = -(3.0 * 0.8f64.ln() + 0.2f64.ln()) / 4.0;
        assert!((found.log_loss.unwrap() - expected).abs() < 1e-6, "{found:?}");
        // Bins 0.8 and 0.2: |0.8 − 0.5|/2 + |0.2 − 0|/2.
        assert!((found.calibration.unwrap() - 0.25).abs() < 1e-6, "{found:?}");
        assert_eq!(judged([0, 0, 0, 0]).auc, None);
    }

    #[test]
    fn a_model_no_better_than_the_base_rate_is_said_in_words() {
        assert!(judged([1, 0, 0, 0]).in_words().unwrap().starts_with("NO BETTER than always answering `0`"));
        assert!(
            judged([1, 1, 0, 0]).in_words().unwrap().starts_with("better than always answering `0` (50.0 %)")
        );
        let close =
            Evaluation { records: 100, accuracy: Some(0.55), base_rate: Some(0.5), ..Evaluation::default() };
        // Two standard errors are 0.1.
        assert!(close.in_words().unwrap().starts_with("hardly better"));
    }

    #[test]
    fn numbers_are_judged_beside_their_mean() {
        let data = Dataset::new(vec![0.0, 1.0], 1, Targets::Real(vec![0.0, 1.0])).unwrap();
        let found = evaluate(&crate::model::LinearRegression::new(1).unwrap(), &[1.0, 0.0], &data).unwrap();
        assert_eq!((found.rmse, found.base_rmse, found.accuracy), (Some(0.0), Some(0.5), None));
    }
}

//! Whether the model is any good, on records that this node kept apart. For its own eyes: nothing of it is sent, logged or covered by ε.

use super::metrics::Metrics;
use crate::commands::evaluate;
use crate::failure::{Failure, Result};
use crate::output::say;
use dashboard::Judged;
use learn::data::Dataset;
use learn::evaluation::{Evaluation, evaluate};
use learn::gradient::PoissonSampler;
use learn::model::Model;
use learn::optimiser::StepSizes;
use learn::train::Training;
use protocol::Setup;
use protocol::config::Config;
use protocol::work::WorkSettings;
use runtime::driver::Status;
use runtime::identity::replace_owner_only;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// Name of the figures in the folder of a node.
const FILE: &str = "evaluation.json";
/// Most steps of the model that is trained alone to compare with.
const MOST_STEPS: u64 = 2000;

/// What is needed to judge, once the run is over.
pub(super) struct Exam {
    config: Config,
    model: Arc<dyn Model>,
    work: Arc<WorkSettings>,
    train: Dataset,
    test: Dataset,
}

/// The figures of one node.
#[derive(Serialize)]
struct Verdict {
    /// Of the model that all have trained.
    together: Evaluation,
    /// Of a model that this node trains alone, without noise, as many steps.
    alone: Option<Evaluation>,
    covered_by_epsilon: bool,
}

impl Exam {
    /// An exam, where there are records to judge by.
    pub(super) fn of(setup: &Setup) -> Option<Self> {
        if !setup.config.algorithm.kind.trains() {
            return None;
        }
        Some(Self {
            config: setup.config.clone(),
            model: setup.model.clone(),
            work: setup.work.clone(),
            train: setup.train.first()?.clone(),
            test: setup.test.clone()?,
        })
    }

    /// The last row of the node's metrics.
    pub(super) fn last_row(&self, params: &[f32], status: &Status, metrics: &Metrics) {
        if let Ok(found) = evaluate(self.model.as_ref(), params, &self.test) {
            let loss = found.log_loss.or(found.rmse);
            let judged = Judged { round: status.round, accuracy: found.accuracy, loss, ..Judged::default() };
            metrics.add(&judged, status.loss);
        }
    }

    /// How often a model is right that the node trains alone.
    pub(super) fn accuracy_alone(&self) -> Option<f64> {
        evaluate(self.model.as_ref(), &self.alone()?, &self.test).ok()?.accuracy
    }

    /// Judges, says it and keeps it in the node's folder.
    pub(super) fn judge(&self, params: &[f32], state: &Path) -> Result<()> {
        let Ok(together) = evaluate(self.model.as_ref(), params, &self.test) else { return Ok(()) };
        let alone = self.alone().and_then(|params| evaluate(self.model.as_ref(), &params, &self.test).ok());
        say!(
            "\non {} own records that were kept apart (for your eyes: not covered by ε)\n{}",
            self.test.len(),
            evaluate::table(&together)
        );
        if let Some(alone) = &alone {
            say!("{}", beside(&together, alone));
        }
        let verdict = Verdict { together, alone, covered_by_epsilon: false };
        let text = serde_json::to_string_pretty(&verdict).map_err(|error| Failure::of(error, None))?;
        replace_owner_only(&state.join(FILE), (text + "\n").as_bytes())?;
        Ok(())
    }

    /// The same settings on this node's records only. Nobody else sees it, so it needs no noise.
    fn alone(&self) -> Option<Vec<f32>> {
        let batch = self.config.batch_size.unwrap_or(self.train.len()).min(self.train.len());
        let training = Training {
            steps: u64::from(self.config.rounds).min(MOST_STEPS),
            rate: PoissonSampler::for_batch(batch as f64, self.train.len()).ok()?.rate(),
            clip: self.work.clip,
            noise_multiplier: 0.0,
            schedule: StepSizes::Constant { step_size: self.config.learning_rate },
            optimiser: self.config.optimiser,
            average: false,
        };
        let mut draws = privacy::noise::danger_from_seed(self.config.seed, "alone");
        let start = self.model.initial(self.config.seed);
        let trained = training.run(self.model.as_ref(), start, &self.train, &mut draws).ok()?;
        Some(trained.params)
    }
}

fn beside(together: &Evaluation, alone: &Evaluation) -> String {
    match (together.accuracy, alone.accuracy, together.rmse, alone.rmse) {
        (Some(_), Some(accuracy), _, _) => {
            let auc = alone.auc.map_or_else(String::new, |auc| format!(", AUC {auc:.4}"));
            format!(
                "Trained alone, on this node's records only and without noise: accuracy {accuracy:.4}{auc}."
            )
        }
        (_, _, Some(_), Some(rmse)) => {
            format!("Trained alone, on this node's records only and without noise: rmse {rmse:.4}.")
        }
        _ => String::new(),
    }
}

//! Several models at a server, of which each node makes a mixture of its own (Marfoq et al. 2021, *FedEM*): to compare with slots. No noise, no privacy.
//!
//! A record belongs to a model as far as the model explains it: q_ik ∝ π_k·exp(−loss of record i under model k). The weights π of a node are the means of its q, and
//! each model learns from every record as much as belongs to it.

use learn::data::{Dataset, Task};
use learn::gradient::GradientError;
use learn::metrics::accuracy;
use learn::model::{self, Model, ModelError, Predictions};
use learn::train::TrainError;
use protocol::Setup;
use rayon::prelude::*;

use crate::ifca;

/// Steps after which the weights of a node no longer move, with models that stay what they are.
const SETTLED: usize = 30;

/// The weights of each node, in the order of the nodes.
pub(crate) type Weights = Vec<Vec<f64>>;

/// Weights of nodes that know nothing yet.
pub(crate) fn equal(setup: &Setup) -> Weights {
    vec![vec![1.0 / setup.layout.slots as f64; setup.layout.slots]; setup.train.len()]
}

/// What the vector of all models steps against in a round, and the weights after it. With the mean of the nodes' losses.
///
/// In the first rounds nodes are dealt a model each, as they are a slot: models that are all alike would stay so for long.
pub(crate) fn mean(
    setup: &Setup,
    (round, drawn): (u32, &[bool]),
    vector: &[f32],
    weights: &mut [Vec<f64>],
) -> Result<(Vec<f32>, Option<f64>), TrainError> {
    let one = |(node, (data, weights)): (usize, (&Dataset, &mut Vec<f64>))| {
        let mut dealt = ifca::dealt(setup, node, round).map(|slot| only(slot, setup.layout.slots));
        let weights = dealt.as_mut().unwrap_or(weights);
        drawn[node].then(|| update(setup, data, vector, weights)).transpose()
    };
    let all: Result<Vec<Option<Told>>, TrainError> =
        setup.train.par_iter().zip(weights.par_iter_mut()).enumerate().map(one).collect();
    let all: Vec<Told> = all?.into_iter().flatten().collect();
    // All models step with one size, which counts on sums over all nodes: see `Layout`.
    let share = 1.0 / (all.len() * setup.layout.slots) as f64;
    let mut sums = vec![0.0_f64; vector.len()];
    for told in &all {
        sums.iter_mut().zip(&told.update).for_each(|(sum, &value)| *sum += share * f64::from(value));
    }
    let loss = all.iter().map(|told| told.loss).sum::<f64>() / all.len() as f64;
    Ok((sums.into_iter().map(|sum| sum as f32).collect(), Some(loss)))
}

/// All weight on one model.
fn only(slot: usize, slots: usize) -> Vec<f64> {
    (0..slots).map(|at| f64::from(u8::from(at == slot))).collect()
}

/// One node's updates of all models, turned uphill, and its loss before.
struct Told {
    update: Vec<f32>,
    loss: f64,
}

fn update(setup: &Setup, data: &Dataset, vector: &[f32], weights: &mut Vec<f64>) -> Result<Told, TrainError> {
    let (model, layout) = (setup.model.as_ref(), &setup.layout);
    let (belongs, loss) = belonging(setup, data, vector, weights).map_err(GradientError::from)?;
    *weights = means(&belongs, layout.slots);
    let mut update = vec![0.0; vector.len()];
    for slot in 0..layout.slots {
        let start = layout.part(vector, slot);
        let of_slot: Vec<f32> = belongs.iter().map(|record| record[slot] as f32).collect();
        let mut moved = start.to_vec();
        for _ in 0..setup.config.local_steps {
            let gradient =
                model::weighted_gradient(model, &moved, data, &of_slot).map_err(GradientError::from)?;
            let rate = setup.config.learning_rate as f32;
            moved.iter_mut().zip(&gradient).for_each(|(at, slope)| *at -= rate * slope);
        }
        let place = &mut update[slot * layout.parameters..(slot + 1) * layout.parameters];
        place.iter_mut().zip(start.iter().zip(&moved)).for_each(|(way, (from, to))| *way = from - to);
    }
    Ok(Told { update, loss })
}

/// How far each record belongs to each model, and the mean of −ln Σ π_k·exp(−loss).
fn belonging(
    setup: &Setup,
    data: &Dataset,
    vector: &[f32],
    weights: &[f64],
) -> Result<(Vec<Vec<f64>>, f64), ModelError> {
    let slots = 0..setup.layout.slots;
    let losses = |slot| model::losses(setup.model.as_ref(), setup.layout.part(vector, slot), data);
    let all: Vec<Vec<f64>> = slots.clone().map(losses).collect::<Result<_, _>>()?;
    let mut total = 0.0;
    let of_record = |record: usize| {
        let least = slots.clone().map(|slot| all[slot][record]).fold(f64::INFINITY, f64::min);
        let parts: Vec<f64> =
            slots.clone().map(|slot| weights[slot] * (least - all[slot][record]).exp()).collect();
        let sum: f64 = parts.iter().sum();
        total += least - sum.ln();
        parts.into_iter().map(|part| part / sum).collect()
    };
    let belongs = (0..data.len()).map(of_record).collect();
    Ok((belongs, total / data.len() as f64))
}

fn means(belongs: &[Vec<f64>], slots: usize) -> Vec<f64> {
    let count = belongs.len() as f64;
    (0..slots).map(|slot| belongs.iter().map(|record| record[slot]).sum::<f64>() / count).collect()
}

/// How often a node's own mixture of finished models is right on its own test part; `None` where there are no classes.
pub(crate) fn judged(setup: &Setup, node: usize, vector: &[f32]) -> Result<Option<f64>, ModelError> {
    let (Some(test), Task::Classification { classes }) = (setup.own_tests.get(node), setup.model.task())
    else {
        return Ok(None);
    };
    let mut weights = vec![1.0 / setup.layout.slots as f64; setup.layout.slots];
    for _ in 0..SETTLED {
        weights = means(&belonging(setup, &setup.train[node], vector, &weights)?.0, setup.layout.slots);
    }
    let mut mixed: Option<Vec<f32>> = None;
    for (slot, &weight) in weights.iter().enumerate() {
        let found = probabilities(setup.model.as_ref(), setup.layout.part(vector, slot), test)?;
        let sum = mixed.get_or_insert_with(|| vec![0.0; found.len()]);
        sum.iter_mut().zip(&found).for_each(|(sum, &value)| *sum += weight as f32 * value);
    }
    let mixed = mixed.unwrap_or_default();
    let predictions = if mixed.len() == test.len() {
        Predictions::Binary(mixed)
    } else {
        Predictions::Classes { classes, probabilities: mixed }
    };
    Ok(predictions.labels().zip(test.labels()).and_then(|(found, truth)| accuracy(&found, &truth).ok()))
}

fn probabilities(model: &dyn Model, params: &[f32], test: &Dataset) -> Result<Vec<f32>, ModelError> {
    Ok(match model::predict(model, params, test)? {
        Predictions::Values(values) | Predictions::Binary(values) => values,
        Predictions::Classes { probabilities, .. } => probabilities,
    })
}

#[cfg(test)]
mod tests {
    use protocol::config::{Config, Layer};

    use super::*;

    fn setup() -> Setup {
        let pairs = [
            "nodes=6",
            "rounds=10",
            "algorithm.kind=fedavg",
            "clusters.slots=2",
            "clusters.mixture=true",
            "privacy.unit=node",
            "privacy.noise_multiplier=0",
            "turned=2",
            "learning_rate=0.2",
        ];
        Setup::new(Config::from_layers([Layer::from_flags("--set", &pairs).unwrap()]).unwrap()).unwrap()
    }

    /// Bayes: with weights ¾ and ¼ and losses that differ by ln 3 a record belongs to both alike.
    #[test]
    fn records_belong_to_models_as_bayes_says() {
        let setup = setup();
        let data = &setup.train[0];
        let vector = setup.settings.initial.as_slice();
        let weights = [0.75, 0.25];
        let (belongs, loss) = belonging(&setup, data, vector, &weights).unwrap();
        let losses = [0, 1]
            .map(|slot| model::losses(setup.model.as_ref(), setup.layout.part(vector, slot), data).unwrap());
        let mut total = 0.0;
        for (record, found) in belongs.iter().enumerate() {
            let parts = [0, 1].map(|slot| weights[slot] * (-losses[slot][record]).exp());
            let sum = parts[0] + parts[1];
            assert!((found[0] - parts[0] / sum).abs() < 1e-12 && (found[0] + found[1] - 1.0).abs() < 1e-12);
            total -= sum.ln();
        }
        assert!((loss - total / data.len() as f64).abs() < 1e-9);
    }

    /// Every round of EM lowers −ln of the likelihood of all records, as long as the steps of the models are short.
    #[test]
    fn no_round_makes_the_records_less_likely() {
        let setup = setup();
        let (mut vector, mut weights) = (setup.settings.initial.as_slice().to_vec(), equal(&setup));
        let mut losses: Vec<f64> = Vec::new();
        for _ in 0..40 {
            let (step, loss) = mean(&setup, (10, &[true; 6]), &vector, &mut weights).unwrap();
            // The step of the run: times the number of models.
            vector.iter_mut().zip(&step).for_each(|(at, by)| *at -= 2.0 * by);
            losses.push(loss.unwrap());
        }
        assert!(losses.windows(2).all(|pair| pair[1] < pair[0] + 1e-9), "{losses:?}");
        assert!(losses[39] < losses[0] - 0.1, "{losses:?}");
        assert!(weights.iter().all(|own| (own.iter().sum::<f64>() - 1.0).abs() < 1e-9));
    }
}

//! Several shared models of which each node takes one, without a server and without telling which (after Ghosh et al. 2020, *IFCA*).
//!
//! All models travel as one vector. A contribution is in one slot, zeros are in the others, and noise is on all of them: what is sent looks the same whatever the
//! slot. At node level the choice costs nothing: two contributions in different slots are no farther apart than two in one. At record level one record moves the choice,
//! and the choice moves what all records do: so it is made by a release of its own, which is kept and not sent, and charged in full towards everybody.

use std::sync::Arc;

use learn::data::Dataset;
use learn::gradient::GradientError;
use learn::model::{self, Model};
use learn::train::TrainError;
use privacy::mechanisms::Gaussian;
use privacy::noise::NoiseSource;

use super::built_in::About;
use super::{Desk, Job, Layout, NodeState};

/// Where a node keeps its choice: how many it has made, and the slot.
const STATE: &str = "slot";
/// Of the sums of losses, by rounding: far above what double precision loses.
const SLACK: f64 = 1e-9;

/// How nodes take one of several models.
#[derive(Debug, Clone)]
pub struct Slots {
    /// The slot of each node in the first rounds, by the run's key.
    pub dealt: Arc<[u16]>,
    /// Rounds in which that is so.
    pub deal: u32,
    /// Record level: how a node chooses in private. `None`: in every round, by its losses as they are.
    pub choices: Option<Choices>,
}

/// Private choices of a node, where records are protected.
#[derive(Debug, Clone, PartialEq)]
pub struct Choices {
    /// Before which rounds, in increasing order.
    pub rounds: Vec<u32>,
    /// Noise over the clip norm.
    pub noise_multiplier: f64,
    /// Largest norm of a record's losses, less their mean.
    pub clip: f64,
}

impl Slots {
    /// The slot of the node at `desk` for `job`.
    ///
    /// # Guarantee
    /// At node level a function of the job and of the node's own data. At record level a function of the run's key and of at most as many private choices
    /// as there are [rounds for them](Choices::rounds), each the output of a Gaussian of the stated multiplier for one record that is there or blank.
    ///
    /// # Assumes
    /// At record level all of these choices are charged in full towards everybody, whether they were made or not.
    pub(super) fn take(
        &self,
        layout: &Layout,
        (desk, job): (&mut Desk<'_>, &Job),
        about: About<'_>,
        noise: &mut dyn NoiseSource,
    ) -> Result<usize, TrainError> {
        let dealt = self.dealt.get(desk.position as usize).map_or(0, |&slot| usize::from(slot));
        let params = job.params.as_slice();
        match &self.choices {
            None if job.round < self.deal => Ok(dealt),
            None => own_slot(about.0, layout, params, about.1),
            Some(choices) => {
                let (made, slot) = kept(desk.state).unwrap_or((0, dealt));
                let due = choices.rounds.iter().filter(|&&round| round <= job.round).count();
                if due <= made {
                    return Ok(slot);
                }
                let slot = choices.choose(&losses(about, layout, params)?, noise)?;
                desk.state.set(STATE, vec![due as f32, slot as f32]);
                Ok(slot)
            }
        }
    }
}

impl Choices {
    /// The slot of least loss, in private: `losses[record][slot]`.
    ///
    /// # Guarantee
    /// Post-processing of a Gaussian release of multiplier z for one record that is there or blank: a record adds a vector of norm at most the clip norm to the
    /// sum.
    ///
    /// # Errors
    /// A noise multiplier or a clip norm outside its range.
    pub fn choose(&self, losses: &[Vec<f64>], noise: &mut dyn NoiseSource) -> Result<usize, TrainError> {
        let sums = clipped_sums(losses, self.clip);
        let mechanism = Gaussian::with_multiplier(self.noise_multiplier, self.clip * (1.0 + SLACK));
        let released = mechanism.and_then(|mechanism| mechanism.release(&sums, noise));
        Ok(least(&released.map_err(GradientError::from)?.value))
    }
}

/// Over the records, the losses in each slot less their mean, each record clipped in norm. What is not finite adds nothing.
pub fn clipped_sums(losses: &[Vec<f64>], clip: f64) -> Vec<f64> {
    let mut sums = vec![0.0; losses.first().map_or(0, Vec::len)];
    for record in losses {
        let mean = record.iter().sum::<f64>() / record.len() as f64;
        let norm = record.iter().map(|loss| (loss - mean).powi(2)).sum::<f64>().sqrt();
        if norm.is_finite() {
            let scale = if norm > clip { clip / norm } else { 1.0 };
            sums.iter_mut().zip(record).for_each(|(sum, loss)| *sum += (loss - mean) * scale);
        }
    }
    sums
}

/// The slot whose model has the least loss on these records: what a node uses in the end. It enters no message.
///
/// # Errors
/// Records or parameters that do not fit the model.
pub fn own_slot(
    model: &dyn Model,
    layout: &Layout,
    vector: &[f32],
    data: &Dataset,
) -> Result<usize, TrainError> {
    if layout.slots == 1 {
        return Ok(0);
    }
    let loss = |slot: usize| model::loss(model, layout.part(vector, slot), data);
    let all: Result<Vec<f64>, _> = (0..layout.slots).map(loss).collect();
    Ok(least(&all.map_err(GradientError::from)?))
}

/// The position of the least number, the first of equals; what is no number is never the least.
fn least(values: &[f64]) -> usize {
    let value = |at: usize| if values[at].is_nan() { f64::INFINITY } else { values[at] };
    (1..values.len()).fold(0, |best, at| if value(at) < value(best) { at } else { best })
}

/// The loss of every record in every slot.
fn losses((model, data): About<'_>, layout: &Layout, vector: &[f32]) -> Result<Vec<Vec<f64>>, TrainError> {
    let mut all = vec![vec![0.0; layout.slots]; data.len()];
    for slot in 0..layout.slots {
        let found = model::losses(model, layout.part(vector, slot), data).map_err(GradientError::from)?;
        all.iter_mut().zip(found).for_each(|(record, loss)| record[slot] = loss);
    }
    Ok(all)
}

fn kept(state: &NodeState) -> Option<(usize, usize)> {
    match state.get(STATE)? {
        [made, slot] => Some((*made as usize, *slot as usize)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use privacy::noise::danger_from_seed;

    use super::*;

    #[test]
    fn one_record_moves_the_sums_by_the_clip_norm_at_most() {
        let losses = vec![vec![1.0, 2.0, 900.0], vec![0.5, 0.5, 0.6], vec![f64::INFINITY, 1.0, 2.0]];
        let all = clipped_sums(&losses, 1.0);
        for record in 0..losses.len() {
            let mut others = losses.clone();
            others.remove(record);
            let moved = clipped_sums(&others, 1.0);
            let norm = all.iter().zip(&moved).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            assert!(norm <= 1.0 + 1e-12, "{norm}");
        }
        assert!(all.iter().sum::<f64>().abs() < 1e-12, "less their mean");
    }

    /// 400 choices between losses that differ by 40 records × √½ of the clip norm: noise of 8 turns about one in 5,000; seeds are fixed.
    #[test]
    fn a_private_choice_is_right_where_many_records_agree_and_a_coin_where_few_do() {
        let choices = Choices { rounds: vec![1], noise_multiplier: 8.0, clip: 1.0 };
        let right = |records: usize| {
            let losses = vec![vec![9.0, 1.0]; records];
            let one = |seed| choices.choose(&losses, &mut danger_from_seed(seed, "choice")).unwrap();
            (0..400).map(one).sum::<usize>()
        };
        // The difference of the sums is √2·n with noise 8√2: P(right) = Φ(n/8).
        assert!(right(40) >= 398, "{}", right(40));
        let coin = right(1);
        // Φ(1/8) = 0.5497: 400 of them, and five standard deviations.
        assert!((170..=270).contains(&coin), "{coin}");
    }
}

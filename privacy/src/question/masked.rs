//! What do masked rounds cost?

use super::QuestionError;
use super::error::{in_unit, positive, probability};
use crate::accountant::{AccountError, Accountant};
use crate::event::DpEvent;
use crate::gdp;
use crate::network::{Analysis, inspection, masked};
use crate::rdp::RdpAccountant;
use serde::{Deserialize, Serialize};

/// Projections that an inspection opens.
const DIRECTIONS: u64 = 32;
/// −ln of the probability that one bound of an inspection fails, at least; more where δ asks for it.
const LEAST_T: f64 = 20.7;
/// At most this part of δ goes to inspections.
const PART_OF_DELTA: f64 = 0.02;

/// A plan of masked rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// n: members.
    pub nodes: u64,
    /// Rounds in which data are added.
    pub rounds: u64,
    /// Noise of a contribution over its sensitivity.
    pub noise_multiplier: f64,
    /// The δ at which ε is given.
    pub delta: f64,
    /// Poisson sampling rate of records in a round.
    #[serde(default = "one")]
    pub rate: f64,
    /// c: members that pool what they know; without, fewer than a third, at least one.
    #[serde(default)]
    pub colluders: Option<u64>,
    /// Inspections, where there are any.
    #[serde(default)]
    pub inspect: Option<Inspect>,
}

/// How often rounds are looked into.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inspect {
    /// The share of rounds that a public coin picks.
    pub rate: f64,
    /// d: numbers in a contribution.
    pub parameters: u64,
}

fn one() -> f64 {
    1.0
}

/// What it costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// ε at δ of all rounds together against the colluders and everybody who sees the traffic.
    pub epsilon: f64,
    /// μ² of the same; none where records are sampled, whose curve is not that of one Gaussian.
    pub mu2: Option<f64>,
    /// h: members whose noise hides a contribution.
    pub honest: u64,
    /// c.
    pub colluders: u64,
    /// δ.
    pub delta: f64,
    /// Which theorem gave it.
    pub analysis: Analysis,
    /// ε against a single member.
    pub one_member: f64,
    /// ε towards somebody who breaks the masks: every release seen by itself.
    pub local: f64,
    /// What inspections cost, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inspections: Option<Inspections>,
    /// What the figures promise.
    pub guarantee: &'static str,
    /// What must hold for them.
    pub assumes: &'static str,
}

/// The part of inspections.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Inspections {
    /// How many the plan has room for: those of the coin and a reserve for void rounds. Never more are made.
    pub planned: u64,
    /// What one adds to the charge of a round, in parts of a full one.
    pub share: f64,
    /// What of δ pays for bounds that may fail.
    pub delta: f64,
    /// d.
    pub parameters: u64,
}

impl Question {
    /// Prices the plan.
    ///
    /// # Guarantee
    /// [`Answer::guarantee`].
    ///
    /// # Assumes
    /// [`Answer::assumes`].
    ///
    /// # Errors
    /// Numbers outside their range, and more colluders than leave anybody to hide behind.
    pub fn answer(&self) -> Result<Answer, QuestionError> {
        positive("--nodes", self.nodes as f64)?;
        positive("--rounds", self.rounds as f64)?;
        positive("--noise-multiplier", self.noise_multiplier)?;
        probability("--delta", self.delta, "1e-5")?;
        in_unit("--rate", self.rate, "0.05")?;
        let colluders = self.colluders.unwrap_or_else(|| masked::default_colluders(self.nodes));
        let honest = masked::honest(self.nodes, colluders)?;
        let inspections = self.inspections(colluders, honest)?;
        let event = masked::event(self.noise_multiplier, honest, self.rate)?;
        let open = masked::event(self.noise_multiplier, 1, self.rate)?;
        let local = masked::epsilon(&open, self.rounds, self.delta)?;
        // Whatever is looked at is a function of the releases themselves: where inspections are not amplified and samples are small, that is the better bound.
        let at_most = |(epsilon, mu2): (f64, Option<f64>)| (epsilon.min(local), mu2);
        let (epsilon, mu2) = at_most(self.priced(&event, inspections)?);
        // One member knows its own noise only; a single node has nobody but itself to watch.
        let alone = masked::event(self.noise_multiplier, (self.nodes - 1).max(1), self.rate)?;
        let one_member = self.priced(&alone, self.inspections(1, (self.nodes - 1).max(1))?)?;
        Ok(Answer {
            epsilon,
            mu2,
            honest,
            colluders,
            delta: self.delta,
            analysis: Analysis::Masked,
            one_member: at_most(one_member).0,
            local,
            inspections,
            guarantee: Analysis::Masked.guarantee(),
            assumes: Analysis::Masked.assumes(),
        })
    }

    fn inspections(&self, colluders: u64, honest: u64) -> Result<Option<Inspections>, QuestionError> {
        let Some(inspect) = self.inspect else { return Ok(None) };
        in_unit("--inspect", inspect.rate, "0.02")?;
        let by_coin = libm::ceil(inspect.rate * self.rounds as f64) as u64;
        let planned = by_coin.saturating_add(inspection::reserve(colluders, self.rounds));
        // A withheld opening is one more draw, and costs a seat.
        let draws = planned.saturating_add(colluders);
        let t = libm::log(2.0 * draws as f64 / (PART_OF_DELTA * self.delta)).max(LEAST_T);
        Ok(Some(Inspections {
            planned,
            share: inspection::price(honest, DIRECTIONS, inspect.parameters, f64::INFINITY, t)?,
            delta: inspection::delta(t, draws),
            parameters: inspect.parameters,
        }))
    }

    /// ε, and μ² where everything is a Gaussian.
    fn priced(
        &self,
        event: &DpEvent,
        inspections: Option<Inspections>,
    ) -> Result<(f64, Option<f64>), QuestionError> {
        let (count, share, spent) = inspections.map_or((0, 0.0, 0.0), |it| (it.planned, it.share, it.delta));
        let delta = self.delta - spent;
        if let DpEvent::Gaussian { noise_multiplier } = event {
            let z2 = self.noise_multiplier * self.noise_multiplier;
            let looks = count as f64 * share / z2 * (1.0 + 4.0 * f64::EPSILON);
            let mu2 = (masked::mu2(*noise_multiplier, self.rounds) + looks) * (1.0 + f64::EPSILON);
            return Ok((gdp::epsilon(libm::sqrt(mu2) * (1.0 + f64::EPSILON), delta)?, Some(mu2)));
        }
        let mut accountant = RdpAccountant::default();
        accountant.compose(event, self.rounds).map_err(QuestionError::from)?;
        if count > 0 && share > 0.0 {
            // Whether to look may depend on the total: no amplification.
            let noise_multiplier = self.noise_multiplier / libm::sqrt(share) * (1.0 - 4.0 * f64::EPSILON);
            accountant.compose(&DpEvent::Gaussian { noise_multiplier }, count)?;
        }
        let apart = accountant.epsilon(delta).map_err(|error: AccountError| QuestionError::from(error))?;
        let together = self.in_every_round(event, inspections)?;
        Ok((apart.min(together), None))
    }

    /// ε where every round is priced as if it were looked into: total and projections are one step on what was drawn, and amplified as one. Infinite without inspections.
    ///
    /// # Guarantee
    /// What is opened of the projections, and when, is post-processing; each round is a draw whose bound may fail.
    fn in_every_round(
        &self,
        event: &DpEvent,
        inspections: Option<Inspections>,
    ) -> Result<f64, QuestionError> {
        let (Some(looked), DpEvent::PoissonSampled { event, .. }) = (inspections, event) else {
            return Ok(f64::INFINITY);
        };
        let DpEvent::Gaussian { noise_multiplier } = **event else { return Ok(f64::INFINITY) };
        let draws = self.rounds.saturating_add(looked.planned).saturating_mul(2);
        let t = libm::log(2.0 * draws as f64 / (PART_OF_DELTA * self.delta)).max(LEAST_T);
        let share = inspection::price(u64::MAX, DIRECTIONS, looked.parameters, f64::INFINITY, t)?;
        // 1/h and the share of a full charge, each over z².
        let part =
            (noise_multiplier.powi(-2) + share * self.noise_multiplier.powi(-2)) * (1.0 + 8.0 * f64::EPSILON);
        let noise_multiplier = libm::sqrt(1.0 / part) * (1.0 - 4.0 * f64::EPSILON);
        let event = DpEvent::Gaussian { noise_multiplier }.poisson_sampled(self.rate);
        let mut accountant = RdpAccountant::default();
        accountant.compose(&event, self.rounds)?;
        Ok(accountant.epsilon(self.delta - inspection::delta(t, draws))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(nodes: u64) -> Question {
        Question {
            nodes,
            rounds: 160,
            noise_multiplier: 9.244_927_995_480_131,
            delta: 1e-5,
            rate: 1.0,
            colluders: None,
            inspect: None,
        }
    }

    #[test]
    fn colluders_default_to_fewer_than_a_third_and_figures_stand_side_by_side() {
        let answer = plan(64).answer().unwrap();
        // Numbers of the design: 0.62 against one member, 0.76 against 21, 6.3 without masks.
        assert_eq!((answer.colluders, answer.honest), (21, 43));
        assert!(
            (answer.epsilon - 0.759_917_625).abs() < 1e-6 && (answer.one_member - 0.616_779_416).abs() < 1e-6
        );
        assert!((answer.local - 6.32).abs() < 0.01, "{}", answer.local);
        assert_eq!(answer.analysis.name(), "masked");
        assert!((answer.mu2.unwrap() - 160.0 / (43.0 * 9.244_927_995_480_131f64.powi(2))).abs() < 1e-12);
    }

    #[test]
    fn with_samples_there_is_no_mu2_and_less_loss() {
        let whole = plan(64).answer().unwrap();
        let sampled = Question { rate: 0.05, ..plan(64) }.answer().unwrap();
        assert_eq!(sampled.mu2, None);
        assert!(sampled.epsilon < whole.epsilon / 4.0);
    }

    #[test]
    fn inspections_cost_more_with_fewer_parameters_and_pay_in_epsilon_and_delta() {
        let with = |parameters, rate| {
            let inspect = Some(Inspect { rate: 0.02, parameters });
            Question { inspect, rate, ..plan(8) }.answer().unwrap()
        };
        for rate in [1.0, 0.1] {
            let without = Question { rate, ..plan(8) }.answer().unwrap().epsilon;
            let (many, few) = (with(100_000, rate), with(650, rate));
            assert!(without < many.epsilon && many.epsilon < few.epsilon && few.epsilon <= few.local);
            let inspections = many.inspections.unwrap();
            // ⌈0.02·160⌉ = 4 of the coin; 2 + 1 + ⌈log₂(160/64)⌉ = 5 in reserve.
            assert_eq!(inspections.planned, 9);
            assert!(inspections.delta < 0.021 * 1e-5);
        }
    }

    /// By an accountant of one's own: rounds of 1/7 and the share of 100,000 parameters as one sampled step, where that is less than eleven steps on all records.
    #[test]
    fn where_records_are_sampled_looks_are_part_of_every_round() {
        let inspect = Some(Inspect { rate: 0.02, parameters: 100_000 });
        let plan = Question { inspect, rate: 0.01, colluders: Some(1), noise_multiplier: 1.0, ..plan(8) };
        let answer = plan.answer().unwrap();
        let t = libm::log(2.0 * 2.0 * (160.0 + 8.0) / (0.02 * 1e-5));
        let share = inspection::share(32, 100_000, t).unwrap();
        let mut accountant = RdpAccountant::default();
        let noise_multiplier = (1.0 / 7.0 + share).powf(-0.5);
        accountant.compose(&DpEvent::Gaussian { noise_multiplier }.poisson_sampled(0.01), 160).unwrap();
        let expected = accountant.epsilon(0.98e-5).unwrap();
        assert!((answer.epsilon / expected - 1.0).abs() < 1e-6, "{} {expected}", answer.epsilon);
        let without = Question { inspect: None, ..plan }.answer().unwrap().epsilon;
        assert!(without < answer.epsilon && answer.epsilon < 1.1 * without, "{without} {}", answer.epsilon);
    }

    #[test]
    fn plans_that_make_no_sense_are_refused() {
        for bad in [
            Question { nodes: 0, ..plan(8) },
            Question { rounds: 0, ..plan(8) },
            Question { noise_multiplier: 0.0, ..plan(8) },
            Question { delta: 1.0, ..plan(8) },
            Question { rate: 0.0, ..plan(8) },
            Question { rate: 1.5, ..plan(8) },
            Question { colluders: Some(8), ..plan(8) },
            Question { inspect: Some(Inspect { rate: 2.0, parameters: 650 }), ..plan(8) },
            Question { inspect: Some(Inspect { rate: 0.1, parameters: 32 }), ..plan(8) },
        ] {
            assert!(bad.answer().is_err(), "{bad:?}");
        }
    }
}

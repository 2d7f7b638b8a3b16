//! What one member adds to a total of a question.

use std::fmt;
use std::sync::{Arc, LazyLock};

use learn::train::TrainError;
use privacy::event::DpEvent;
use privacy::mechanisms::discrete::{DiscreteGaussian, Fraction};
use privacy::mechanisms::grid::NoisyWords;
use privacy::noise::NoiseSource;
use questions::columns::Row;
use questions::contribution::{DistinctResponse, level_counts, level_law, parts, respond, sum};
use questions::noise::{Terms, Trust};
use questions::plan::{Method, QuestionPlan};

use super::leg::PUBLIC;
use super::{Leg, Question};
use crate::work::{Computed, Desk, Form, Given, Job, OnGrid, Work};

/// The records that count, made where they are needed: a model may have to judge them first.
pub type Rows = Arc<LazyLock<Vec<Row>, Box<dyn FnOnce() -> Vec<Row> + Send>>>;

/// Records that are there already.
pub fn ready(rows: Vec<Row>) -> Rows {
    Arc::new(LazyLock::new(Box::new(move || rows)))
}

/// What one member adds to a total of a question.
///
/// # Guarantee
/// Its contribution is made of its records by the plan for as many members as are in the roster of the round: with masks, together with the others' noise it
/// costs what the plan says, against any `colluders` of them; with another trust its own noise is enough, against everybody.
///
/// # Assumes
/// Of each person, or of the node, only records [that count](questions::contribution::chosen) are among the rows; as
/// [`questions::contribution::add_noise`].
pub struct Answering {
    question: Arc<Question>,
    leg: Arc<Leg>,
    rows: Rows,
}

impl Answering {
    /// With these records.
    pub fn new(question: Arc<Question>, leg: Arc<Leg>, rows: Rows) -> Self {
        Self { question, leg, rows }
    }

    /// The plan for a roster, which fits where the whole question was planned.
    fn plan(&self, job: &Job) -> Option<QuestionPlan> {
        self.question.plan(job.among.as_ref()?.len()).ok()
    }

    /// The words of these records, or of nobody's; `None` where the question has no words of this kind.
    fn words(
        &self,
        plan: &QuestionPlan,
        rows: Option<&[Row]>,
        noise: &mut dyn NoiseSource,
    ) -> Option<NoisyWords> {
        let size = self.leg.carrier().mechanism.grid().size();
        let public = [1, i64::from(rows.is_some())];
        let records = rows.unwrap_or_default();
        Some(match &plan.method {
            Method::Sum(planned) => {
                let own = sum(&plan.question, planned, records);
                let parts = parts(planned, &own);
                let blocks = parts.iter().map(|(law, values)| (law, *values));
                NoisyWords::of_blocks(size, blocks, &public, noise)
            }
            Method::Frequent(level) => {
                let (_, column) = self.question.search()?;
                let counts = level_counts((&plan.question, level, column), self.leg.search()?, records);
                NoisyWords::of_blocks(size, [(&level_law(level), &counts[..])], &public, noise)
            }
            Method::Distinct => {
                let residues = DistinctResponse::of(plan)?.residues(records, noise);
                NoisyWords::of_response(size, residues.into_iter().map(i64::from), &public, noise)
            }
            Method::Response(response) => {
                let mut counts = vec![0; response.categories];
                // One person for each node: the first of the records that count, or somebody who has no value.
                if rows.is_some() {
                    let nobody = Row::new();
                    let row = records.first().unwrap_or(&nobody);
                    counts[respond(plan, response.categories, row, noise).ok()?] = 1;
                }
                NoisyWords::of_response(size, counts, &public, noise)
            }
        })
    }

    /// Too few for any plan: nobody adds records, and nobody counts as there.
    fn unplanned(&self, on: &OnGrid, noise: &mut dyn NoiseSource) -> NoisyWords {
        let variance = Fraction::new(on.mechanism.noise().saturating_pow(2).max(1), 1);
        let law = variance.and_then(|variance| DiscreteGaussian::new(variance, 1.0)).ok();
        let zeros = vec![0; self.leg.coordinates()];
        let blocks = law.as_ref().map(|law| (law, &zeros[..]));
        NoisyWords::of_blocks(on.mechanism.grid().size(), blocks, &[0; PUBLIC], noise)
    }
}

/// What one node's words cost if they were seen alone: h of them bring κ/√h to κ.
fn alone(plan: &QuestionPlan) -> DpEvent {
    let Terms { honest, trust, .. } = plan.terms;
    let honest = if trust == Trust::Masked { honest as f64 } else { 1.0 };
    match (plan.event(), &plan.method) {
        (Ok(DpEvent::Gaussian { noise_multiplier }), Method::Frequent(level)) => {
            let multiplier = noise_multiplier * (level.levels as f64 / honest).sqrt();
            DpEvent::Gaussian { noise_multiplier: multiplier }
        }
        (Ok(DpEvent::Gaussian { noise_multiplier }), _) => {
            DpEvent::Gaussian { noise_multiplier: noise_multiplier / honest.sqrt() }
        }
        // Without masks a node's residues show what it holds.
        (_, Method::Distinct) => DpEvent::NonPrivate,
        (Ok(event), _) => event,
        (Err(_), _) => DpEvent::NonPrivate,
    }
}

impl Work for Answering {
    fn nodes(&self) -> usize {
        1
    }

    fn form(&self) -> Form {
        Form { parameters: self.leg.length(), target: "nothing", ..Form::default() }
    }

    fn records(&self, _node: usize) -> usize {
        self.rows.len()
    }

    fn contribute(
        &self,
        _desk: &mut Desk<'_>,
        job: &Job,
        noise: &mut dyn NoiseSource,
    ) -> Result<Computed, TrainError> {
        let planned = self.plan(job);
        let made = planned.as_ref().and_then(|plan| self.words(plan, Some(&self.rows), noise));
        let (words, release) = match (made, planned) {
            (Some(words), Some(plan)) => (words, alone(&plan)),
            _ => (self.noise_alone(job, self.leg.carrier(), noise), self.leg.release().clone()),
        };
        Ok(Computed { round: job.round, contribution: Given::Words(words), release, loss: None })
    }

    fn noise_alone(&self, job: &Job, on: &OnGrid, noise: &mut dyn NoiseSource) -> NoisyWords {
        let made = self.plan(job).and_then(|plan| self.words(&plan, None, noise));
        made.unwrap_or_else(|| self.unplanned(on, noise))
    }
}

/// Records are private: they are never printed.
impl fmt::Debug for Answering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Answering({:?}, leg {})", self.question.ask.question, self.leg.number())
    }
}

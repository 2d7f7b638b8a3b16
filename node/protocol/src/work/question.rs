//! A question as a run of one masked round, whose model is the answer: the noisy total of everybody's features.
//!
//! Agreement, masks, record before send and the proof of the end are those of every run. Here is what makes it a question: its settings, which follow from
//! the text and public numbers, its contribution, and how the total is read out of the model. Behind the sum two words without data are added up: how many
//! took part, and how many of them added records; so the model alone says how it is to be read.
//!
//! The model holds single precision: a total beyond 2²⁴ is rounded by 6·10⁻⁸ of itself, after the noise was added and the same for all.

use std::fmt;
use std::sync::Arc;

use learn::optimiser::{OptimiserSpec, StepSizes};
use learn::train::TrainError;
use privacy::clip::ClipNorm;
use privacy::event::DpEvent;
use privacy::mechanisms::MechanismError;
use privacy::mechanisms::discrete::{DiscreteGaussian, Fraction};
use privacy::mechanisms::grid::{Grid, GridGaussian, Load, NoisyWords, WordSize};
use privacy::noise::NoiseSource;
use questions::columns::{Columns, Row};
use questions::contribution::{parts, sum};
use questions::noise::{Terms, Trust, Unit};
use questions::plan::{Method, QuestionPlan, Request, SumPlan};
use questions::refusal::Refusal;
use serde::{Deserialize, Serialize};
use topology::schedule::RunKey;

use super::{Computed, Desk, Form, Given, Job, Mechanism, OnGrid, Work};
use crate::account::Price;
use crate::algorithm::Algorithm;
use crate::settings::{BudgetRule, RunId, Scope, Settings, StepRule, Timeouts};
use crate::values::Values;

/// Words behind the sum that hold no data: members that took part, and members that added records.
const PUBLIC: usize = 2;

/// What an asker sends: the text and public numbers. Every member plans it itself, from its own columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// The question as it was written.
    pub question: String,
    /// ε of the whole question.
    pub epsilon: f64,
    /// δ of the whole question.
    pub delta: f64,
    /// What is protected.
    pub unit: Unit,
    /// Records that are expected in all.
    pub records: u64,
}

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Members {
    /// How many there are.
    pub nodes: usize,
    /// c: how many of them may pool what they saw.
    pub colluders: usize,
    /// f: how many may be hostile.
    pub hostile: u32,
    /// How long they wait.
    pub timeouts: Timeouts,
}

/// A question that can be asked of running members.
#[derive(Debug, Clone)]
pub struct Question {
    ask: Ask,
    columns: Arc<Columns>,
    members: Members,
    coordinates: usize,
    carrier: Arc<OnGrid>,
    release: DpEvent,
}

/// What came out of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Total {
    /// How many members took part: their noise is in it.
    pub members: usize,
    /// How many of them added records.
    pub givers: usize,
    /// The noisy sum, in grid steps of the plan for so many members.
    pub sum: Vec<i64>,
}

impl Question {
    /// The question as these members understand it.
    ///
    /// # Guarantee
    /// As [`questions::plan::plan`] for any number of members that take part.
    ///
    /// # Assumes
    /// As [`questions::plan::plan`].
    ///
    /// # Errors
    /// Whatever the language and the plan refuse; nothing depends on data.
    pub fn new(ask: Ask, columns: Arc<Columns>, members: Members) -> Result<Self, Refusal> {
        let least = (members.colluders + 2).max(3);
        if members.nodes < least {
            return Err(Refusal::TooFewContributors { found: members.nodes as u64, needed: least as u64 });
        }
        let planned = |nodes: usize| sum_of(plan(&ask, &columns, (nodes, members.colluders))?);
        // With fewer members each adds more noise: the words have room for both.
        let (_, all) = planned(members.nodes)?;
        let (whole, few) = planned(least)?;
        let coordinates = all.coordinates();
        let carrier = carrier([&all, &few], (members.nodes, coordinates + PUBLIC))
            .map_err(|_| Refusal::Epsilon { value: ask.epsilon })?;
        let release = whole.terms.event()?;
        Ok(Self { ask, columns, members, coordinates, carrier: Arc::new(carrier), release })
    }

    /// What was asked.
    pub fn ask(&self) -> &Ask {
        &self.ask
    }

    /// The plan for so many members that take part.
    ///
    /// # Guarantee
    /// As [`questions::plan::plan`].
    ///
    /// # Assumes
    /// As [`questions::plan::plan`].
    ///
    /// # Errors
    /// As there, and for a question that is no single sum.
    pub fn plan(&self, members: usize) -> Result<(QuestionPlan, SumPlan), Refusal> {
        sum_of(plan(&self.ask, &self.columns, (members, self.members.colluders))?)
    }

    /// The run. A member that `refuses` adds noise and no records: the others count on it.
    ///
    /// # Guarantee
    /// A node adds records to at most one total of the run, whatever breaks, so the question costs it at most (ε, δ).
    ///
    /// # Assumes
    /// As [`Answering`]; no node takes part twice in a run of this name.
    pub fn settings(&self, run: RunId, refuses: bool) -> Settings {
        let limit = if refuses { 0.0 } else { 1.0 };
        let name = "one contribution to a question".to_owned();
        let Members { nodes, colluders, hostile, timeouts } = self.members;
        Settings {
            run,
            key: RunKey::new(&format!("murmur question {run}")),
            nodes,
            rounds: 1,
            algorithm: Algorithm::of_a_sum(colluders),
            initial: Values::derived(vec![0.0; self.coordinates + PUBLIC]),
            step: StepRule {
                sizes: StepSizes::Constant { step_size: 1.0 },
                optimiser: OptimiserSpec::Sgd { radius: None },
                penalty: 0.0,
            },
            release: self.release.clone(),
            largest_norm: f64::INFINITY,
            mechanism: Mechanism::Grid(self.carrier.clone()),
            budget: vec![BudgetRule { scope: Scope::Local, limit, price: Price::Releases, name }],
            timeouts,
            hostile,
            certify: true,
        }
    }

    /// What the model of the finished run says; `None` where nobody took part, or it is no such model.
    pub fn read(&self, model: &[f32]) -> Option<Total> {
        // A step goes downhill, so the model is the total with its sign turned.
        let whole = |value: &f32| -(f64::from(*value)) as i64;
        let (sum, public) = model.split_at_checked(self.coordinates)?;
        let [members, givers] = public else { return None };
        let count =
            |value: &f32| usize::try_from(whole(value)).ok().filter(|count| *count <= self.members.nodes);
        let (members, givers) = (count(members)?, count(givers)?);
        (givers <= members && members > 0).then(|| Total {
            members,
            givers,
            sum: sum.iter().map(whole).collect(),
        })
    }
}

fn plan(ask: &Ask, columns: &Columns, (nodes, colluders): (usize, usize)) -> Result<QuestionPlan, Refusal> {
    let terms = Terms {
        epsilon: ask.epsilon,
        delta: ask.delta,
        contributors: nodes as u64,
        honest: nodes.saturating_sub(colluders) as u64,
        trust: Trust::Masked,
        unit: ask.unit,
    };
    Request { question: ask.question.clone(), terms, records: ask.records }.plan(columns)
}

fn sum_of(plan: QuestionPlan) -> Result<(QuestionPlan, SumPlan), Refusal> {
    match &plan.method {
        Method::Sum(sum) => {
            let sum = sum.clone();
            Ok((plan, sum))
        }
        Method::Frequent(_) => Err(Refusal::NotOfSwarms { function: "frequent" }),
        Method::Distinct => Err(Refusal::NotOfSwarms { function: "count(DISTINCT …)" }),
        Method::Response(_) => Err(Refusal::NotOfSwarms { function: "one response of each person" }),
    }
}

/// Words of whole numbers, wide enough for every block. The noise of its own is for whoever cannot plan: as much as the noisiest block has.
fn carrier(plans: [&SumPlan; 2], (nodes, dimension): (usize, usize)) -> Result<OnGrid, MechanismError> {
    let blocks = || plans.iter().flat_map(|plan| &plan.blocks);
    let wide = blocks().any(|block| block.grid.word > 32);
    let size = if wide { WordSize::Bits64 } else { WordSize::Bits32 };
    let noise = blocks().map(|block| block.node_variance.isqrt() + 1).max().unwrap_or(0).max(16);
    let steps_at_most = Some(1);
    let load = Load { nodes: nodes as u64, dimension, noise_multiplier: 16.0, largest: 1, steps_at_most };
    let one =
        ClipNorm::new(1.0).map_err(|_| MechanismError::NotPositive { name: "Clip norm", value: 1.0 })?;
    let mechanism = GridGaussian::new(Grid::new(size, load, one)?, noise, 1.0)?;
    Ok(OnGrid { mechanism, divisor: None })
}

/// What one member adds to a question.
///
/// # Guarantee
/// Its contribution is the sum of its records' features with the noise that the plan names for as many members as are in the roster of the round: together
/// with the others' noise it costs what the plan says, against any `colluders` of them.
///
/// # Assumes
/// Of each person, or of the node, only records [that count](questions::contribution::chosen) are among the rows; as
/// [`questions::contribution::add_noise`].
pub struct Answering {
    question: Arc<Question>,
    rows: Arc<[Row]>,
}

impl Answering {
    /// With these records.
    pub fn new(question: Arc<Question>, rows: Arc<[Row]>) -> Self {
        Self { question, rows }
    }

    /// The plan for a roster, which fits where the whole question was planned.
    fn plan(&self, job: &Job) -> Option<(QuestionPlan, SumPlan)> {
        self.question.plan(job.among.as_ref()?.len()).ok()
    }

    fn words(&self, planned: &SumPlan, sum: &[i64], gives: bool, noise: &mut dyn NoiseSource) -> NoisyWords {
        let size = self.question.carrier.mechanism.grid().size();
        let parts = parts(planned, sum);
        let blocks = parts.iter().map(|(law, values)| (law, *values));
        NoisyWords::of_blocks(size, blocks, &[1, i64::from(gives)], noise)
    }
}

impl Work for Answering {
    fn nodes(&self) -> usize {
        1
    }

    fn form(&self) -> Form {
        Form { parameters: self.question.coordinates + PUBLIC, target: "nothing", ..Form::default() }
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
        let (words, release) = match self.plan(job) {
            Some((plan, planned)) => {
                let own = sum(&plan.question, &planned, self.rows.iter());
                // What one node's noise is to the whole question: κ/√h, which h of them bring to κ.
                let kappa = plan.terms.kappa().unwrap_or(0.0);
                let alone = kappa / (plan.terms.honest as f64).sqrt();
                let release = DpEvent::Gaussian { noise_multiplier: alone };
                (self.words(&planned, &own, true, noise), release)
            }
            None => (self.noise_alone(job, &self.question.carrier, noise), self.question.release.clone()),
        };
        Ok(Computed { round: job.round, contribution: Given::Words(words), release, loss: None })
    }

    fn noise_alone(&self, job: &Job, on: &OnGrid, noise: &mut dyn NoiseSource) -> NoisyWords {
        match self.plan(job) {
            Some((_, planned)) => self.words(&planned, &vec![0; planned.coordinates()], false, noise),
            // Too few for any plan: nobody adds records, and nobody counts as there.
            None => {
                let variance = Fraction::new(on.mechanism.noise().saturating_pow(2).max(1), 1);
                let law = variance.and_then(|variance| DiscreteGaussian::new(variance, 1.0)).ok();
                let zeros = vec![0; self.question.coordinates];
                let blocks = law.as_ref().map(|law| (law, &zeros[..]));
                NoisyWords::of_blocks(on.mechanism.grid().size(), blocks, &[0; PUBLIC], noise)
            }
        }
    }
}

/// Records are private: they are never printed.
impl fmt::Debug for Answering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Answering({:?}, {} records)", self.question.ask.question, self.rows.len())
    }
}

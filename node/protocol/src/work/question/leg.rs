//! One total of a question, as a run of one masked round.

use std::sync::Arc;

use learn::optimiser::{OptimiserSpec, StepSizes};
use privacy::clip::ClipNorm;
use privacy::event::DpEvent;
use privacy::mechanisms::MechanismError;
use privacy::mechanisms::grid::{Grid, GridGaussian, Load, WordSize};
use questions::kinds::distinct::BUCKETS;
use questions::kinds::frequent::Search;
use questions::plan::{Method, QuestionPlan};
use questions::refusal::Refusal;
use topology::schedule::RunKey;

use super::{Members, Question};
use crate::account::Price;
use crate::algorithm::Algorithm;
use crate::settings::{BudgetRule, RunId, Scope, Settings, StepRule};
use crate::values::Values;
use crate::work::{Mechanism, OnGrid};

/// Words behind the sum that hold no data: members that took part, and members that added records.
pub(super) const PUBLIC: usize = 2;

/// One total of a question.
#[derive(Debug, Clone)]
pub struct Leg {
    number: usize,
    members: Members,
    coordinates: usize,
    carrier: Arc<OnGrid>,
    release: DpEvent,
    /// Of a search over bytes: what was found before.
    search: Option<Search>,
}

/// What came out of a leg.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Total {
    /// How many members took part: their noise is in it.
    pub members: usize,
    /// How many of them added records.
    pub givers: usize,
    /// The noisy sum, in grid steps of the plan for so many members.
    pub sum: Vec<i64>,
}

impl Leg {
    pub(super) fn new(question: &Question, number: usize, search: Option<Search>) -> Result<Self, Refusal> {
        let [all, few] = &question.widest;
        let coordinates = match (&all.method, &search) {
            (Method::Sum(sum), _) => sum.coordinates(),
            (Method::Frequent(_), Some(search)) => search.coordinates(),
            (Method::Frequent(_), None) => 0,
            (Method::Distinct, _) => BUCKETS,
            (Method::Response(response), _) => response.categories,
        };
        let carrier = carrier([all, few], (question.members.nodes, coordinates + PUBLIC))
            .map_err(|_| Refusal::Epsilon { value: question.ask.epsilon })?;
        let (members, release) = (question.members, few.event()?);
        Ok(Self { number, members, coordinates, carrier: Arc::new(carrier), release, search })
    }

    /// Which total of the question it is, from 0.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Numbers of its model.
    pub fn length(&self) -> usize {
        self.coordinates + PUBLIC
    }

    /// Numbers of its sum.
    pub(super) fn coordinates(&self) -> usize {
        self.coordinates
    }

    pub(super) fn carrier(&self) -> &OnGrid {
        &self.carrier
    }

    pub(super) fn release(&self) -> &DpEvent {
        &self.release
    }

    /// Of a search over bytes: what was found before.
    pub(super) fn search(&self) -> Option<&Search> {
        self.search.as_ref()
    }

    /// The run. A member that `refuses` adds noise and no records: the others count on it.
    ///
    /// # Guarantee
    /// A node adds records to at most one total of the run, whatever breaks, so all legs together cost it at most (ε, δ).
    ///
    /// # Assumes
    /// As [`Answering`](super::Answering); no node takes part twice in a run of this name.
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
            initial: Values::derived(vec![0.0; self.length()]),
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

/// Words of whole numbers, wide enough for every block. The noise of its own is for whoever cannot plan: as much as the noisiest block has.
fn carrier(plans: [&QuestionPlan; 2], (nodes, dimension): (usize, usize)) -> Result<OnGrid, MechanismError> {
    let (mut wide, mut variance) = (false, 0);
    for plan in plans {
        let blocks: Vec<(u32, u64)> = match &plan.method {
            Method::Sum(sum) => {
                sum.blocks.iter().map(|block| (block.grid.word, block.node_variance)).collect()
            }
            Method::Frequent(level) => vec![(level.grid.word, level.node_variance)],
            Method::Distinct | Method::Response(_) => Vec::new(),
        };
        wide |= blocks.iter().any(|(word, _)| *word > 32);
        variance = blocks.iter().map(|(_, variance)| *variance).max().unwrap_or(0).max(variance);
    }
    let size = if wide { WordSize::Bits64 } else { WordSize::Bits32 };
    let noise = (variance.isqrt() + 1).max(16);
    let steps_at_most = Some(1);
    let load = Load { nodes: nodes as u64, dimension, noise_multiplier: 16.0, largest: 1, steps_at_most };
    let one =
        ClipNorm::new(1.0).map_err(|_| MechanismError::NotPositive { name: "Clip norm", value: 1.0 })?;
    let mechanism = GridGaussian::new(Grid::new(size, load, one)?, noise, 1.0)?;
    Ok(OnGrid { mechanism, divisor: None, behind: 0 })
}

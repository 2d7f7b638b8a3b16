//! Contributions that a foreign program computes: any model, any language. Clipping, noise and account stay here.
//!
//! A [`Trainer`] holds the records and answers questions; `docs/TRAINER.md` has the protocol. It sees the model of a round and which records are
//! wanted, never noise, ledger, secret or peers. Once the run has begun nothing that depends on data may show: a trainer that fails, lies
//! or says nothing contributes zeros, noised, charged and sent as usual, and its owner alone hears of it.

mod frame;
mod hello;
mod probe;
mod trouble;

use std::sync::{Arc, Mutex};

use learn::gradient::{
    Adjacency, ClippedSum, ExampleGradient, GradientError, RowSum, TRAINER_SLACK, TrainerSum, rounding,
};
use learn::model::ClippedBy;
use learn::train::TrainError;
use privacy::clip::ClipNorm;
use privacy::noise::NoiseSource;

pub use frame::{Answer, Ask, LONGEST_HEADER, Said, header_length};
pub use hello::{Hello, Kind, PROTOCOL, Tensor};
pub use probe::{Occasion, Probe, TOLERANCE, probe};
pub use trouble::Trouble;

use super::record::{Batch, MOST_LANES};
use super::{Computed, Desk, Form, Job, Unit, Work, WorkSettings};

/// Bytes of rows that are asked for at a time.
const BLOCK: usize = 64 << 20;
/// One contribution in so many begins with probes.
const PROBED: u64 = 16;
/// Rows are added up as a model's with chunks of so many rows would be, or more exactly.
const CHUNK_ROWS: usize = 64;

/// A program that computes for one node.
pub trait Trainer: Send {
    /// What it said of itself when it was first started.
    fn hello(&self) -> &Hello;

    /// A contribution begins: what answers it needs must come within one deadline.
    fn begin(&mut self) {}

    /// How often it was started. One that was started anew is probed again.
    fn starts(&self) -> u64 {
        1
    }

    /// Answers a question, with as many numbers as were asked for.
    ///
    /// # Errors
    /// Whatever goes wrong; the next question may find it well again.
    fn answer(&mut self, ask: &Ask<'_>) -> Result<Answer, Trouble>;
}

/// Who hears of trouble: the node by its number, and what happened. Never a peer.
pub type Complain = Arc<dyn Fn(usize, &Trouble) + Send + Sync>;

/// The contributions of trainers.
pub struct External {
    settings: Arc<WorkSettings>,
    kind: Kind,
    seats: Vec<Mutex<Seat>>,
    form: Form,
    records: Vec<usize>,
    complain: Complain,
}

/// The trainer of one node.
struct Seat {
    trainer: Box<dyn Trainer>,
    /// For which start it was probed.
    probed: u64,
}

/// What a run asks its trainers for.
pub fn kind_of(unit: &Unit, clipping: ClippedBy) -> Kind {
    match (unit, clipping) {
        (Unit::Record { .. } | Unit::Person { .. }, ClippedBy::Node) => Kind::Rows,
        (Unit::Record { .. } | Unit::Person { .. }, ClippedBy::Trainer) => Kind::Norms,
        (Unit::Node { .. } | Unit::Value, _) => Kind::Update,
    }
}

impl External {
    /// Contributions of these trainers, one per node, once each has passed the probes at the first model.
    ///
    /// # Errors
    /// A trainer that cannot do what is asked for, or fails a probe.
    pub fn new(
        settings: Arc<WorkSettings>,
        kind: Kind,
        mut trainers: Vec<Box<dyn Trainer>>,
        first: &[f32],
        complain: Complain,
    ) -> Result<Self, Trouble> {
        for trainer in &mut trainers {
            trainer.hello().offers(kind)?;
            trainer.begin();
            let occasion = Occasion { round: 0, seed: 0, params: first, clip: settings.clip };
            probe(trainer.as_mut(), kind, occasion)?;
        }
        let records = trainers.iter().map(|trainer| trainer.hello().records as usize).collect();
        let seat = |trainer: Box<dyn Trainer>| Mutex::new(Seat { probed: trainer.starts(), trainer });
        let form = Form { parameters: first.len(), features: 0, target: "nothing", ..Form::default() };
        Ok(Self { settings, kind, seats: trainers.into_iter().map(seat).collect(), form, records, complain })
    }

    /// The update of a node, or zeros.
    fn update(&self, seat: &mut Seat, node: usize, ask: Ask<'_>) -> (ClippedSum, Option<f64>) {
        let Answer { numbers, loss } = seat.trainer.answer(&ask).unwrap_or_else(|trouble| {
            (self.complain)(node, &trouble);
            Answer { numbers: vec![0.0; ask.params.len()], loss: None }
        });
        (ExampleGradient::of_node(numbers).clip(self.settings.clip), loss)
    }

    /// Rows of a sample, clipped here, or zeros.
    fn rows(&self, seat: &mut Seat, node: usize, ask: Ask<'_>, mut sum: RowSum) -> (ClippedSum, Option<f64>) {
        let drawn = sum.sample().records().to_vec();
        let per_block = (BLOCK / (4 * ask.params.len().max(1))).max(1);
        let mut told = None;
        let done = seat.ready(&ask, self.settings.clip).and_then(|()| {
            drawn.chunks(per_block).try_for_each(|records| {
                let answer = seat.trainer.answer(&Ask { records, ..ask })?;
                told = told.or(answer.loss);
                sum.add(&answer.numbers);
                Ok(())
            })
        });
        if let Err(trouble) = done {
            sum.forget();
            (self.complain)(node, &trouble);
        }
        (sum.finish(), told)
    }

    /// A sum that the trainer clipped by our factors, or zeros.
    fn factored(
        &self,
        seat: &mut Seat,
        node: usize,
        ask: Ask<'_>,
        sum: impl FnOnce(&[f32]) -> TrainerSum,
    ) -> (ClippedSum, Option<f64>) {
        let mut trouble = None;
        let mut or_nothing = |answer: Result<Answer, Trouble>| {
            answer.unwrap_or_else(|found| {
                trouble = trouble.take().or(Some(found));
                Answer::default()
            })
        };
        let ready = seat.ready(&ask, self.settings.clip);
        let norms = or_nothing(ready.and_then(|()| seat.trainer.answer(&ask)));
        let sum = sum(&norms.numbers);
        let longest = sum.longest();
        let asked = Ask { kind: Kind::Sum, factors: sum.factors(), ..ask };
        let mut answer = if norms.numbers.is_empty() {
            Answer::default()
        } else {
            or_nothing(seat.trainer.answer(&asked))
        };
        answer.numbers.resize(ask.params.len(), 0.0);
        let (sum, taken) = sum.finish(answer.numbers);
        if let Some(trouble) = trouble.or((!taken).then_some(Trouble::LongSum { longest })) {
            (self.complain)(node, &trouble);
        }
        (sum, norms.loss)
    }

    /// By how much a sum over so many records may be too long, relative to C.
    fn slack(&self, records: usize) -> f64 {
        let told = if self.kind == Kind::Rows { 0.0 } else { TRAINER_SLACK };
        rounding::slack(records, CHUNK_ROWS, MOST_LANES) + told
    }

    fn record(
        &self,
        seat: &mut Seat,
        node: usize,
        (ask, batch): (Ask<'_>, &Batch),
        noise: &mut dyn NoiseSource,
    ) -> Result<(ClippedSum, Option<f64>), TrainError> {
        let records = self.records[node];
        let (sample, clip) = (batch.sample(records, noise)?, batch.clip_for(self.slack(records)));
        let drawn = sample.records().to_vec();
        let (sum, loss) = match self.kind {
            Kind::Norms | Kind::Sum => {
                let ask = Ask { kind: Kind::Norms, records: &drawn, ..ask };
                self.factored(seat, node, ask, |norms| TrainerSum::new(sample, norms, clip))
            }
            Kind::Rows | Kind::Update => {
                self.rows(seat, node, ask, RowSum::new(sample, ask.params.len(), clip))
            }
        };
        Ok((batch.on_common_scale(sum), loss))
    }
}

impl Seat {
    /// Probes a trainer that was started anew, and others now and then.
    fn ready(&mut self, ask: &Ask<'_>, clip: ClipNorm) -> Result<(), Trouble> {
        if self.probed == self.trainer.starts() && !ask.seed.is_multiple_of(PROBED) {
            return Ok(());
        }
        let occasion = Occasion { round: ask.round, seed: ask.seed, params: ask.params, clip };
        probe(self.trainer.as_mut(), ask.kind, occasion)?;
        self.probed = self.trainer.starts();
        Ok(())
    }
}

impl Work for External {
    fn nodes(&self) -> usize {
        self.seats.len()
    }

    fn form(&self) -> Form {
        self.form.clone()
    }

    fn records(&self, node: usize) -> usize {
        self.records.get(node).copied().unwrap_or(0)
    }

    /// # Guarantee
    /// As the trait says, with what the trainer answers as the node's data. At node level that is enforced wholly, whatever the trainer does; so
    /// is the norm of every row. Whatever goes wrong with the trainer, the contribution is that mechanism's output on zeros.
    ///
    /// # Assumes
    /// At record level, that a row depends on its own record alone; with `model.clipping = "trainer"` also that norms and sum are those of the
    /// rows. Both are probed, not enforced. How long the trainer takes is seen by others.
    fn contribute(
        &self,
        desk: &mut Desk<'_>,
        job: &Job,
        noise: &mut dyn NoiseSource,
    ) -> Result<Computed, TrainError> {
        let mut seed = [0];
        noise.words(&mut seed);
        let params = job.params.as_slice();
        // JSON numbers beyond 2⁵³ are not whole in every language.
        let ask = Ask {
            kind: self.kind,
            round: job.round,
            seed: seed[0] >> 11,
            records: &[],
            params,
            factors: &[],
        };
        // A panic of another thread left no half of anything: a trainer is asked one question at a time.
        let mut seat = self.seats[desk.node].lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        seat.trainer.begin();
        let (sum, loss) = match &self.settings.unit {
            Unit::Record { batch, common } => {
                let batch = Batch {
                    expected: *batch,
                    common: *common,
                    clip: self.settings.clip,
                    of: Adjacency::Record,
                };
                self.record(&mut seat, desk.node, (ask, &batch), noise)?
            }
            // A trainer does not say whose its records are; configurations refuse it before.
            Unit::Person { .. } => return Err(GradientError::NoPersons.into()),
            Unit::Node { .. } | Unit::Value => self.update(&mut seat, desk.node, ask),
        };
        let (given, release) = job.mechanism.release(sum, self.settings.noise_multiplier, noise)?;
        let contribution = match self.settings.unit {
            // As for models of our own: what is sent is a gradient.
            Unit::Node { .. } => given.negated(),
            Unit::Record { .. } | Unit::Person { .. } | Unit::Value => given,
        };
        let loss = loss.filter(|_| self.settings.with_loss);
        Ok(Computed { round: job.round, contribution, release, loss })
    }
}

impl std::fmt::Debug for External {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "External({} trainers, {})", self.seats.len(), self.kind.name())
    }
}

#[cfg(test)]
mod tests;

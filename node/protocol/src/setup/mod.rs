//! A run that is ready to start: what a driver needs besides its network.
//!
//! Everything public (first model, schedule, noise, identity of the run) follows from the shared configuration and from declared bounds, so that
//! participants that hold only their own data come to the same [`Settings`].

mod data;
mod differing;
mod error;
mod external;
mod mechanism;
mod plan;
mod recommend;
mod renewed;
mod step;

pub use error::SetupError;
pub use external::ExternalError;
pub(crate) use external::ZEROS;
pub use recommend::recommended;
pub use renewed::Renewals;

use std::sync::Arc;

use learn::data::{CoinOf, DataError, Dataset, Loaded, hold_out_by_coin};
use learn::model::{self, Model, ModelError};
use learn::optimiser::{LocalSteps, StepSizes};
use learn::personal::Personal;
use learn::saved::About;
use learn::schema::Schema;
use privacy::clip::ClipNorm;
use privacy::event::DpEvent;
use topology::schedule::RunKey;

use crate::Time;
use crate::account::{self, Planned, Shape};
use crate::algorithm::{Algorithm, MOST_PROVED_NUMBERS, MOST_ROBUST_PARAMETERS};
use crate::config::{Config, Proofs};
use crate::log::{LogLine, RunEvent};
use crate::settings::{RunId, Scope, Settings};
use crate::values::{Digest, Values};
use crate::work::{Adjacency, BuiltIn, Layout, Mechanism, Unit, Work, WorkSettings};
use data::{Records, Sizes};

/// The graph of a configuration.
pub(crate) fn graph(config: &Config) -> Result<Arc<topology::Graph>, SetupError> {
    let graph = config.graph_spec()?.build()?.graph;
    if graph.nodes() != config.nodes {
        let (topology, has, nodes) = (config.topology.clone(), graph.nodes(), config.nodes);
        return Err(SetupError::GraphSize { topology, has, nodes });
    }
    Ok(Arc::new(graph))
}

/// Everything that follows from a configuration and the data.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The configuration.
    pub config: Config,
    /// Digest of what all participants must share.
    pub digest: Digest,
    /// What the state machines need.
    pub settings: Arc<Settings>,
    /// How contributions are made.
    pub work: Arc<WorkSettings>,
    /// What makes them: the model and the records below, unless [something else](Self::with_work) does.
    pub door: Arc<dyn Work>,
    /// The model.
    pub model: Arc<dyn Model>,
    /// Records of each node; one entry where only the own data are known.
    pub train: Arc<[Dataset]>,
    /// Records of each node to judge its own models by; empty where nobody asked for that.
    pub own_tests: Arc<[Dataset]>,
    /// What travels as one vector.
    pub layout: Layout,
    /// How nodes make models of their own, where they do.
    pub personal: Option<Arc<Personal>>,
    /// Records to test on, common to all or, at a real node, its own; `None` where there are none.
    pub test: Option<Dataset>,
    /// What all agreed on about their records, where they did.
    pub schema: Option<Arc<Schema>>,
    /// What the planned run costs, and how the noise was found.
    pub planned: Planned,
    /// ρ of the local update, where it is certified.
    pub rho: Option<f64>,
}

impl Setup {
    /// Loads and divides the data and prepares all nodes, as a simulation needs it.
    ///
    /// The bound on row norms that certifies ρ may follow from the source's scaling, and the sampling rate from the smallest node: a simulation
    /// sees everything.
    ///
    /// # Errors
    /// Data that cannot be read, divided or learnt from; a graph that cannot be made; a budget that no noise meets.
    pub fn new(config: Config) -> Result<Self, SetupError> {
        let records = data::load(&config)?;
        let train = &records.train;
        let sizes = Sizes::of_all(&config, train)?;
        let row_norm =
            data::row_norm(&config, train)?.or_else(|| data::norm_by_scaling(&config.data, &train[0]));
        let model = config.model.build(&train[0])?.into();
        let schema = config.data.schema.as_deref().map(Schema::load).transpose().map_err(DataError::from)?;
        let setup = Self::assemble(config, model, records, sizes, row_norm)?;
        Ok(Self { schema: schema.map(Arc::new), ..setup })
    }

    /// As [`new`](Self::new), for a model that no configuration names: `build` gets the records of the first node and makes it.
    ///
    /// The digest of the configuration does not tell such models apart: give the run a `name` of its own.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_model(
        config: Config,
        build: impl FnOnce(&Dataset) -> Result<Arc<dyn Model>, ModelError>,
    ) -> Result<Self, SetupError> {
        let records = data::load(&config)?;
        let model = build(&records.train[0])?;
        let sizes = Sizes::of_all(&config, &records.train)?;
        Self::assemble(config, model, records, sizes, None)
    }

    /// Prepares one real participant, which has only its own data.
    ///
    /// Others' data are unknown here, so the sampling rate is priced for a node of `partition.min_size` records, and only a declared
    /// `privacy.row_norm` certifies ρ.
    ///
    /// # Errors
    /// As [`new`](Self::new); fewer records than `partition.min_size`; a row above the declared `privacy.row_norm`.
    pub fn for_node(config: Config, own: Dataset, test: Option<Dataset>) -> Result<Self, SetupError> {
        let declared = config.partition.min_size;
        let units = data::units(&config, &own)?;
        if units < declared {
            let what = if config.privacy.adjacency == Adjacency::Person { "persons" } else { "records" };
            return Err(SetupError::TooFewRecords { records: units, declared, what });
        }
        let train = vec![own];
        let row_norm = data::row_norm(&config, &train)?;
        let sizes = Sizes { smallest: declared, largest: None, mean: None };
        let model = config.model.build(&train[0])?.into();
        // Whoever has own records to test on judges its own models by them.
        let own_tests = test.iter().cloned().collect();
        Self::assemble(config, model, Records { train, own_tests, test }, sizes, row_norm)
    }

    /// Prepares one real participant from what it loaded. Where the data have no test part of their own, `test_fraction` of the records is kept apart
    /// by a coin for each, or for each person where a schema names them.
    ///
    /// # Guarantee
    /// What is kept apart is never contributed, and one record decides about no other: see [`hold_out_by_coin`].
    ///
    /// # Errors
    /// As [`for_node`](Self::for_node), and where nothing is left to learn from.
    pub fn for_own_data(
        config: Config,
        loaded: Loaded,
        schema: Option<Arc<Schema>>,
    ) -> Result<Self, SetupError> {
        let apart = config.test_fraction > 0.0 && config.algorithm.kind.trains();
        let (train, test) = match loaded.test {
            None if apart => {
                let persons = config.privacy.adjacency == Adjacency::Person
                    || schema.as_ref().is_some_and(|schema| schema.person.is_some());
                let coin_of = if persons { CoinOf::Group } else { CoinOf::Record };
                let parts = hold_out_by_coin(&loaded.train, config.test_fraction, config.seed, coin_of)?;
                (parts.train.compact(), Some(parts.test).filter(|test| !test.is_empty()))
            }
            // A column that says which records are kept apart may say so of none.
            test => (loaded.train, test.filter(|test| !test.is_empty())),
        };
        let setup = Self::for_node(config, train, test)?;
        Ok(Self { schema, ..setup })
    }

    /// What the model is made for, to be kept with its parameters. ε is what the run was planned to cost: what it did cost is in its report.
    pub fn about(&self) -> About {
        let mut about = About::of(&self.config.model, &self.train[0], self.schema.as_deref());
        let planned = |epsilon: f64| if epsilon.is_finite() { epsilon.to_string() } else { "inf".into() };
        let adjacency = self.config.privacy.adjacency.word();
        about.facts.extend(
            [
                ("run", self.config.name.clone()),
                ("planned_epsilon_worst_pair", planned(self.planned.worst)),
                ("planned_epsilon_local", planned(self.planned.local)),
                ("delta", self.config.privacy.delta.to_string()),
                ("analysis", self.planned.analysis.clone()),
                ("adjacency", adjacency.to_owned()),
            ]
            .map(|(key, value)| (key.to_owned(), value)),
        );
        about
    }

    /// The same without computing training losses, which cost a pass over the data in every round.
    #[must_use]
    pub fn without_loss(mut self) -> Self {
        Arc::make_mut(&mut self.work).with_loss = false;
        self.built_in()
    }

    /// The same run as the node at this place prepares it, with its own records only.
    ///
    /// # Panics
    /// Where there is no such node.
    #[must_use]
    pub fn of_node(mut self, node: usize) -> Self {
        self.train = [self.train[node].clone()].into();
        self.own_tests = self.own_tests.get(node).cloned().into_iter().collect();
        self.built_in()
    }

    /// The same run with contributions that `door` makes. Call it last: what makes the built-in ones follows from the other fields.
    ///
    /// # Assumes
    /// What `door` makes costs no more than the release of the settings says.
    #[must_use]
    pub fn with_work(mut self, door: Arc<dyn Work>) -> Self {
        self.door = door;
        self
    }

    fn built_in(mut self) -> Self {
        self.door = Arc::new(BuiltIn::new(self.work.clone(), self.model.clone(), self.train.clone()));
        self
    }

    /// The first line of the log, as the driver (`sim` or `libp2p`) of a program of this version writes it.
    pub fn first_line(&self, driver: &str, version: &str, private_noise: bool) -> LogLine {
        let event = RunEvent::Run {
            run: self.config.name.clone(),
            version: version.to_owned(),
            driver: driver.to_owned(),
            nodes: self.settings.nodes as u32,
            config_digest: self.digest.to_string(),
            config: self.config.to_toml(),
            release: self.settings.release.clone(),
            private_noise,
            rho: self.rho,
            looked: Some(self.shape().looked).filter(|part| *part > 0.0),
        };
        LogLine { time: Time::default(), node: None, event }
    }

    /// This node never loses more than ε in this scope (that of the run's target where none is given), whatever the others agreed on: contributions
    /// that could pass it are not made.
    ///
    /// # Guarantee
    /// As [`account::own_limit`].
    ///
    /// # Errors
    /// An ε that is no positive number, or that the first contribution would pass.
    pub fn with_own_limit(mut self, epsilon: f64, scope: Option<Scope>) -> Result<Self, SetupError> {
        let scope = scope.unwrap_or(self.config.privacy.target);
        let rule = account::own_limit(&self.shape(), epsilon, scope).map_err(SetupError::OwnLimit)?;
        Arc::make_mut(&mut self.settings).budget.push(rule);
        Ok(self)
    }

    fn assemble(
        config: Config,
        model: Arc<dyn Model>,
        records: Records,
        sizes: Sizes,
        row_norm: Option<f64>,
    ) -> Result<Self, SetupError> {
        let Records { train, own_tests, test } = records;
        model::check(model.as_ref(), &model.initial(config.seed), &train[0])?;
        let personal = differing::personal(&config, model.as_ref())?;
        config.optimiser.build(1)?;
        let digest = config.digest();
        let run_id = run_id(&config);
        let rho = row_norm.and_then(|norm| step::rho(&config, model.as_ref(), norm, sizes));
        let mut settings = Settings {
            run: run_number(&run_id),
            key: RunKey::new(&run_id),
            nodes: config.nodes,
            rounds: Algorithm::rounds(&config)?,
            algorithm: Algorithm::of(&config, &run_id)?,
            initial: Values::derived(differing::initial(&config, model.as_ref())),
            step: step::step_rule(&config, model.as_ref()),
            release: DpEvent::NonPrivate,
            largest_norm: f64::INFINITY,
            mechanism: Mechanism::Reals,
            budget: Vec::new(),
            timeouts: config.timeouts,
            hostile: config.hostile_members(),
            certify: config.faults.can_go_wrong(),
        };
        robust(&config, settings.initial.len())?;
        proved(&config, settings.initial.len())?;
        settings.algorithm = settings.algorithm.with_parameters(settings.initial.len());
        let plan = plan::cheapest(&config, &mut settings, rho, sizes)?;
        let mut work = work(&config, model.as_ref(), plan.planned.noise_multiplier, sizes)?;
        let layout = differing::layout(&config, model.as_ref());
        work.differing = differing::differing(&config, layout, &settings, work.noise_multiplier);
        let parameters = settings.initial.len();
        let (contribution_noise, mut largest_norm) = work.sizes(parameters, sizes.largest);
        if differing::is_unbounded(&config) {
            largest_norm = f64::INFINITY;
        }
        settings.algorithm = settings.algorithm.with_message_noise(&config, contribution_noise);
        settings.certify |= settings.algorithm.looks().is_some_and(|looks| looks.own > 0.0);
        // Keys of masks that proofs are about are decided.
        settings.certify |= config.privacy.proofs != Proofs::None;
        settings.mechanism =
            mechanism::mechanism(&config, &work, (parameters, settings.algorithm.looks().is_some()), sizes)?;
        (settings.release, settings.budget, settings.largest_norm) =
            (plan.release, plan.budget, largest_norm);
        let (work, train) = (Arc::new(work), Arc::<[Dataset]>::from(train));
        Ok(Self {
            digest,
            settings: Arc::new(settings),
            door: Arc::new(BuiltIn::new(work.clone(), model.clone(), train.clone())),
            work,
            model,
            train,
            layout,
            own_tests: own_tests.into(),
            personal: personal.map(Arc::new),
            test,
            schema: None,
            planned: plan.planned,
            rho,
            config,
        })
    }

    /// What an account must know of the run besides its log.
    pub fn shape(&self) -> Shape {
        shape(&self.config, &self.settings, self.rho)
    }
}

/// Every vector goes to every member where members may lie in them.
fn robust(config: &Config, parameters: usize) -> Result<(), SetupError> {
    let most = MOST_ROBUST_PARAMETERS;
    match config.tolerate {
        Some(_) if parameters > most => Err(SetupError::TooLongForAll { parameters, most }),
        _ => Ok(()),
    }
}

/// Every number is proved.
fn proved(config: &Config, parameters: usize) -> Result<(), SetupError> {
    let most = MOST_PROVED_NUMBERS;
    match config.privacy.proofs {
        Proofs::Range if parameters > most => Err(SetupError::TooManyToProve { numbers: parameters, most }),
        Proofs::Range | Proofs::None => Ok(()),
    }
}

impl Shape {
    /// The shape of a run that was logged, from its configuration and the first line of its log. No data are needed, only the graph.
    ///
    /// # Errors
    /// A graph that cannot be made again, such as a file that is gone.
    ///
    /// # Panics
    /// Where `first` is not the first line of a run.
    pub fn of_logged(config: &Config, first: &RunEvent) -> Result<Self, SetupError> {
        let RunEvent::Run { release, private_noise, rho, looked, .. } = first else {
            panic!("the first line of a log describes the run")
        };
        let run_id = run_id(config);
        Ok(Self {
            nodes: config.nodes,
            rounds: Algorithm::rounds(config)?,
            key: RunKey::new(&run_id),
            algorithm: Algorithm::of(config, &run_id)?,
            release: release.clone(),
            adjacency: config.privacy.adjacency,
            delta: config.privacy.delta,
            rho: *rho,
            private_noise: *private_noise,
            noise: Vec::new(),
            message_noise: config.algorithm.message_noise,
            colluders: Some(config.privacy.colluders),
            witnesses: None,
            kept: differing::kept(config),
            own_noise_returns: differing::own_noise_returns(config),
            // Written as it was; what is no number hides nothing.
            looked: looked.map_or(0.0, |part| if part >= 0.0 { part } else { 1.0 }),
        })
    }
}

/// All public randomness of a run follows from this.
fn run_id(config: &Config) -> String {
    format!("{}:{}:{}", config.name, config.digest(), config.seed)
}

pub(super) fn shape(config: &Config, settings: &Settings, rho: Option<f64>) -> Shape {
    Shape::new(settings, config.privacy.adjacency, config.privacy.delta)
        .with_rho(rho)
        .with_message_noise(config.algorithm.message_noise)
        .with_kept(differing::kept(config))
        .with_own_noise(differing::own_noise_returns(config))
        .with_colluders(config.privacy.colluders)
}

/// Name, shared configuration and seed, in eight bytes.
fn run_number(run_id: &str) -> RunId {
    let mut first = [0; 8];
    first.copy_from_slice(&Digest::of_text(run_id).0[..8]);
    RunId(u64::from_le_bytes(first))
}

fn work(
    config: &Config,
    model: &dyn Model,
    noise_multiplier: f64,
    sizes: Sizes,
) -> Result<WorkSettings, SetupError> {
    let unit = match (config.algorithm.kind.trains(), config.privacy.adjacency) {
        (false, _) => Unit::Value,
        (true, Adjacency::Record) => Unit::Record {
            batch: config.batch_size.map(|batch| batch as f64),
            common: sizes.common_scale(config, model)?,
        },
        (true, Adjacency::Person) => Unit::Person {
            batch: config.batch_size.map(|batch| batch as f64),
            common: sizes.common_scale(config, model)?,
        },
        (true, Adjacency::Node) => Unit::Node {
            proximal: config.local.proximal,
            ahead: config.local.look_ahead,
            local: LocalSteps {
                steps: config.local_steps,
                batch: config.batch_size.unwrap_or(usize::MAX),
                schedule: StepSizes::Constant { step_size: config.learning_rate },
                optimiser: config.optimiser,
            },
            seed: config.seed,
        },
    };
    let clip = ClipNorm::new(config.privacy.clip_norm)?;
    Ok(WorkSettings { unit, clip, noise_multiplier, with_loss: true, differing: None })
}

#[cfg(test)]
mod tests;

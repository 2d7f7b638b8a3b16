//! The configuration of a run, as people write it: what all participants share, and the faults that a simulation adds.
//!
//! [`Layer`]s (a file, flags, a point of a sweep) are laid over each other and become one [`Config`], which holds only values that were checked.
//! Building it touches neither disk nor network. [`Config::to_toml`] prints the effective values; reading them back gives an equal `Config`.
//!
//! Keys are kept flat with the place where each was written rather than in a serde structure: so an error can name key, value and line. What there is
//! to know of a key is one row of `table`.

mod check;
mod differing;
mod duration;
mod error;
mod faults;
mod field;
mod form;
mod graph;
mod hostile;
mod keys;
mod layer;
mod masking;
mod page;
mod pairwise;
mod proofs;
mod read;
mod robust;
mod show;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use differing::pulled;
pub use error::{ConfigError, Place};
pub use faults::{Crash, Faults, Partition, Slow};
pub use hostile::{Hostile, HostileKind};
pub use keys::{Key, Whose, keys};
pub use layer::Layer;
pub use masking::{ExchangeKind, GridChoice, Masking, NoiseKind, Proofs};
pub use page::page;

use learn::data::DataSource;
use learn::model::ModelSpec;
use learn::optimiser::OptimiserSpec;
use learn::partition::{PartitionSpec, Scheme};
use serde::{Deserialize, Serialize};
use topology::{ScheduleSpec, Spec, SpecError, WalkKernel, Weights};

use read::Reader;

use crate::settings::{Scope, Timeouts};
use crate::values::Digest;
use crate::work::Adjacency;

/// A run's configuration after all defaults were filled in and everything was checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Name of the run, and of its folder.
    pub name: String,
    /// What the run is for, as reports quote it; empty where nobody said so.
    pub purpose: String,
    /// Number of participants.
    pub nodes: usize,
    /// Rounds; for a walk one round is as many hops as there are nodes.
    pub rounds: u32,
    /// Steps on the node's own data before it contributes (node level only).
    pub local_steps: u64,
    /// Expected records per step; `None`: all.
    pub batch_size: Option<usize>,
    /// Step size.
    pub learning_rate: f64,
    /// Last part of the rounds whose models are averaged into the result; 0: the last model alone.
    pub average: f64,
    /// Root of all randomness of a simulation, and of the partition and the first model.
    pub seed: u64,
    /// Where the data come from.
    pub data: DataSource,
    /// Part of the data that is kept apart as a common test set where the source has none.
    pub test_fraction: f64,
    /// The graph (`gossip`, `walk`, `mean`) as it was written; [`Config::graph_spec`] gives it its size and seed.
    pub topology: String,
    /// Weights on the graph.
    pub weights: Weights,
    /// How the data are divided.
    pub partition: PartitionSpec,
    /// How often the images of a simulated node are turned at most, plus one.
    pub turned: usize,
    /// The model.
    pub model: ModelSpec,
    /// The optimiser.
    pub optimiser: OptimiserSpec,
    /// What participants do.
    pub algorithm: AlgorithmConfig,
    /// Privacy.
    pub privacy: PrivacyConfig,
    /// A model of each node's own.
    pub personal: PersonalConfig,
    /// Several shared models.
    pub clusters: ClustersConfig,
    /// What nodes do before they contribute, besides the number of steps.
    pub local: LocalConfig,
    /// b: how many members may lie in what they contribute to `rounds`; `None`: no rule against it.
    pub tolerate: Option<usize>,
    /// How many participants may be hostile; `None`: as many as can be borne.
    pub hostile: Option<u32>,
    /// Whether a quorum begins without the others, who are let in when they come.
    pub late: bool,
    /// Whether the members train nothing and answer questions only.
    pub questions_only: bool,
    /// How long to wait.
    pub timeouts: Timeouts,
    /// What goes wrong, in a simulation.
    pub faults: Faults,
}

/// Which algorithm, in words of a config. The default is empty, for reading into.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AlgorithmConfig {
    /// `rounds`, `gossip`, `walk`, `mean`; in the simulator also `alone`, `central`, `local`, `fedavg`.
    pub kind: AlgorithmKind,
    /// `gossip`: λ, how strongly each node's model is pulled towards its neighbours'; `None`: all are to have one.
    pub pull: Option<f64>,
    /// `gossip`, `mean`: mixing steps per contribution.
    pub mixing_steps: usize,
    /// `gossip`, `mean`: Chebyshev acceleration.
    pub accelerate: bool,
    /// `gossip`, `mean`: schedule (`fixed`, `random-matching`, `doubling`, …).
    pub schedule: ScheduleSpec,
    /// `gossip`, `mean`: noise on every message, as a multiple of the contribution's noise.
    pub message_noise: f64,
    /// `walk`: `simple`, `lazy` or `metropolis`.
    pub kernel: WalkKernel,
    /// `walk`: number of tokens.
    pub tokens: usize,
    /// `gossip`: a repair where data differ.
    pub correction: Correction,
    /// Node level: probability with which a node takes part in a round.
    pub check_in: f64,
    /// Members that contribute to a round, drawn by the run's key; `None`: all.
    pub sample: Option<usize>,
    /// `rounds` with masks: how words are added up.
    pub exchange: ExchangeKind,
}

/// The algorithms by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AlgorithmKind {
    /// Averaging rounds that end in exact consensus.
    #[default]
    Rounds,
    /// Gossip SGD.
    Gossip,
    /// A walking token.
    Walk,
    /// One-shot averaging.
    Mean,
    /// Comparison: nobody exchanges anything.
    Alone,
    /// Comparison: a trusted curator holds all data.
    Central,
    /// Comparison: every message is public.
    Local,
    /// Comparison: a server averages.
    Fedavg,
}

impl AlgorithmKind {
    /// All of them with their words.
    pub const ALL: [(&'static str, Self); 8] = [
        ("rounds", Self::Rounds),
        ("gossip", Self::Gossip),
        ("walk", Self::Walk),
        ("mean", Self::Mean),
        ("alone", Self::Alone),
        ("central", Self::Central),
        ("local", Self::Local),
        ("fedavg", Self::Fedavg),
    ];

    /// The word for it in a config.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("rounds", |(name, _)| name)
    }

    /// Whether it exists only in the simulator, to compare with: no state machine does it.
    pub fn is_comparison(self) -> bool {
        matches!(self, Self::Alone | Self::Central | Self::Local | Self::Fedavg)
    }

    /// Whether participants speak along a graph.
    pub fn uses_graph(self) -> bool {
        matches!(self, Self::Gossip | Self::Walk | Self::Mean)
    }
}

/// Privacy, in words of a config. The default is empty, for reading into.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PrivacyConfig {
    /// Target ε, for which the noise is calibrated; infinite: no noise. Given exactly where `noise_multiplier` is not.
    pub epsilon: Option<f64>,
    /// δ.
    pub delta: f64,
    /// z: noise divided by the clip norm. 0: no noise, no privacy.
    pub noise_multiplier: Option<f64>,
    /// C.
    pub clip_norm: f64,
    /// What is protected.
    pub adjacency: Adjacency,
    /// Which loss is to meet ε.
    pub target: Scope,
    /// A bound on the norm of a record's features that all participants declare; needed to certify `contractive`.
    pub row_norm: Option<f64>,
    /// Which part of the updates is to be shorter than the clip norm, which then follows them.
    pub clip_quantile: Option<f64>,
    /// `rounds`: what hides contributions on their way.
    pub masking: Masking,
    /// `mean`: what members prove about what they add under masks.
    pub proofs: Proofs,
    /// `mean` with pairwise noise: its deviation over that of a contribution's own.
    pub pairwise_noise: f64,
    /// Which noise contributions have.
    pub noise: NoiseKind,
    /// c: members that may pool what they know of masked rounds.
    pub colluders: usize,
    /// Fewest honest members whose noise hides a contribution to a masked round.
    pub least: usize,
    /// How often a coin says to look into a masked round; `None`: by the size of the model.
    pub inspect: Option<f64>,
    /// Words of a grid.
    pub grid: GridChoice,
    /// L: largest coordinate on a grid, in clip norms; `None`: by the size of a batch.
    pub largest: Option<usize>,
}

/// A model of each node's own, in words of a config. The default is empty, for reading into.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PersonalConfig {
    /// How it is made.
    pub kind: PersonalKind,
    /// λ of (λ/2)‖v − θ‖²; `None`: found by cross-validation.
    pub lambda: Option<f64>,
    /// Gradient steps, where there is no closed form.
    pub steps: u64,
    /// Tensors that are the node's own; empty: all.
    pub parameters: Vec<String>,
    /// Part of each simulated node's records that is kept apart to judge its models.
    pub test_fraction: f64,
}

/// How a node makes a model of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PersonalKind {
    /// It does not.
    #[default]
    None,
    /// The minimiser of its own loss near the shared model.
    Proximal,
}

/// Several shared models of which each node takes one, in words of a config. The default is empty, for reading into.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClustersConfig {
    /// How many models.
    pub slots: usize,
    /// Part of the rounds in which slots are dealt.
    pub deal: f64,
    /// Record level: private choices of a node.
    pub choices: u32,
    /// Record level: noise of a choice over the clip norm of losses.
    pub choice_noise: f64,
    /// Record level: clip norm of a record's losses.
    pub loss_clip: f64,
    /// To compare: whether nodes weigh the models record by record (FedEM).
    pub mixture: bool,
}

/// Local training at node level, in words of a config. The default is empty, for reading into.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LocalConfig {
    /// μ of (μ/2)‖θ − shared‖² (FedProx).
    pub proximal: f64,
    /// Control variates (SCAFFOLD).
    pub scaffold: bool,
    /// α of a step after which the model is to be good (Per-FedAvg); 0: none.
    pub look_ahead: f64,
}

/// A repair of gossip where data differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Correction {
    /// None.
    #[default]
    None,
    /// D² (Tang et al. 2018).
    D2,
}

impl TryFrom<&Layer> for Config {
    type Error = ConfigError;

    fn try_from(layer: &Layer) -> Result<Self, ConfigError> {
        let (reader, mut config) = (Reader { layer }, Self::blank());
        // Defaults of others depend on it.
        keys()
            .filter(|key| key.name == "algorithm.kind")
            .try_for_each(|key| key.read(&reader, &mut config))?;
        keys().try_for_each(|key| key.read(&reader, &mut config))?;
        check::all(&reader, &config)?;
        Ok(config)
    }
}

impl Default for Config {
    /// The built-in story.
    fn default() -> Self {
        Self::from_layers([]).expect("the defaults are valid; a test builds them")
    }
}

impl Config {
    /// Whether participants speak along a graph: contributions with proofs go to everybody.
    pub fn uses_graph(&self) -> bool {
        self.algorithm.kind.uses_graph() && self.privacy.proofs == Proofs::None
    }

    /// Reads a TOML text over the defaults; `source_name` is how errors call it.
    ///
    /// # Errors
    /// Text that is not TOML, a key that does not exist, a value that does not fit.
    pub fn from_toml(text: &str, source_name: &str) -> Result<Self, ConfigError> {
        Self::from_layers([Layer::from_toml(text, source_name)?])
    }

    /// Lays layers over each other and over the defaults, the later ones on top.
    ///
    /// # Errors
    /// A value that does not fit, by itself or beside others.
    pub fn from_layers(layers: impl IntoIterator<Item = Layer>) -> Result<Self, ConfigError> {
        let merged = layers.into_iter().fold(Layer::default(), Layer::under);
        Self::try_from(&merged)
    }

    /// What the keys are read into: each of them fills its place.
    fn blank() -> Self {
        Self {
            name: String::new(),
            purpose: String::new(),
            nodes: 0,
            rounds: 0,
            local_steps: 0,
            batch_size: None,
            learning_rate: 0.0,
            average: 0.0,
            seed: 0,
            data: "digits".parse().expect("a built-in data set"),
            test_fraction: 0.0,
            topology: String::new(),
            weights: Weights::Metropolis,
            partition: PartitionSpec::new(Scheme::Iid),
            turned: 1,
            model: ModelSpec::Softmax {},
            optimiser: OptimiserSpec::Sgd { radius: None },
            algorithm: AlgorithmConfig::default(),
            privacy: PrivacyConfig::default(),
            personal: PersonalConfig::default(),
            clusters: ClustersConfig::default(),
            local: LocalConfig::default(),
            tolerate: None,
            hostile: None,
            late: false,
            questions_only: false,
            timeouts: Timeouts::default(),
            faults: Faults::default(),
        }
    }

    /// The effective configuration as TOML, every key with its value.
    pub fn to_toml(&self) -> String {
        show::text(&show::entries(self))
    }

    /// f: how many participants may be hostile.
    pub fn hostile_members(&self) -> u32 {
        self.hostile.unwrap_or_else(|| crate::agreement::hostile_by_default(self.nodes))
    }

    /// The graph, with its size and, where it is random and names no seed, the seed of the run.
    ///
    /// # Errors
    /// A family that this number of nodes does not fit.
    pub fn graph_spec(&self) -> Result<Spec, SpecError> {
        let spec = graph::sized(&self.topology, self.nodes)?;
        Ok(if self.topology.contains("seed=") { spec } else { spec.with_seed(self.seed) })
    }

    /// Digest of what all participants must share: everything but `data`, of which each has its own, and `faults`, which only a simulation has.
    pub fn digest(&self) -> Digest {
        Digest::of_text(&show::text(&show::digested(self)))
    }

    /// The keys, of those that participants must share, in which two configurations differ.
    pub fn differing_keys(&self, other: &Self) -> Vec<&'static str> {
        let (mine, theirs) = (show::shared(self), show::shared(other));
        let value = |entries: &[show::Shown], key: &str| {
            entries.iter().find(|(name, _)| *name == key).map(|(_, value)| value.clone())
        };
        keys().map(|key| key.name).filter(|key| value(&mine, key) != value(&theirs, key)).collect()
    }
}

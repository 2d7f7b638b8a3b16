//! The algorithms, one folder each: machine, settings, messages ([`gossip::Say`]), plan (the noise before a run) and fold (the price after it).
//!
//! Only this file, the messages and the configuration name them all. A new one is a folder, a variant here with a line in each `match`, a variant of
//! [`Body`](crate::Body), its lines in the log and a word in the configuration; drivers, wire, report and page need not know it.

mod fold;
mod forecast;
pub mod gossip;
mod kind;
mod machine;
pub mod rounds;
mod traffic;
pub mod walk;

use privacy::noise::NoiseSource;
use topology::schedule::RunKey;

pub(crate) use fold::{Fold, Priced};
pub(crate) use forecast::Forecast;
pub(crate) use machine::Machine;
pub(crate) use rounds::proved::{MOST_MEMBERS as MOST_PROVED_MEMBERS, MOST_NUMBERS as MOST_PROVED_NUMBERS};
pub(crate) use rounds::{MOST_ROBUST_MEMBERS, MOST_ROBUST_PARAMETERS};

use crate::PeerIx;
use crate::config::{AlgorithmKind, Config, Proofs};
use crate::numbers::Load;
use crate::settings::Settings;
use crate::setup::SetupError;
use gossip::GossipSettings;
use rounds::RoundsSettings;
use walk::WalkSettings;

pub(crate) use rounds::masks::{DIRECTIONS, LEAST_NOISE};

/// Which algorithm, with its own settings.
#[derive(Debug, Clone)]
pub enum Algorithm {
    /// Averaging rounds that end in exact consensus.
    Rounds(RoundsSettings),
    /// Gossip SGD, or one-shot averaging where `train` is false.
    Gossip(GossipSettings),
    /// A token that walks.
    Walk(WalkSettings),
}

impl Algorithm {
    /// The algorithm of a configuration. What only the simulator does to compare with has the settings of `rounds`, which nobody runs.
    pub(crate) fn of(config: &Config, run_id: &str) -> Result<Self, SetupError> {
        if config.privacy.proofs != Proofs::None {
            return Ok(Self::Rounds(RoundsSettings::of(config)));
        }
        match config.algorithm.kind {
            AlgorithmKind::Gossip => Ok(Self::Gossip(GossipSettings::of(config, run_id, true)?)),
            AlgorithmKind::Mean => Ok(Self::Gossip(GossipSettings::of(config, run_id, false)?)),
            AlgorithmKind::Walk => Ok(Self::Walk(WalkSettings::of(config)?)),
            AlgorithmKind::Rounds
            | AlgorithmKind::Alone
            | AlgorithmKind::Central
            | AlgorithmKind::Local
            | AlgorithmKind::Fedavg => Ok(Self::Rounds(RoundsSettings::of(config))),
        }
    }

    /// One masked round of which any so many may pool what they saw: the total, and nothing else.
    pub(crate) fn of_a_sum(colluders: usize) -> Self {
        // Beside one other a contribution is hidden by both noises.
        let masks = crate::masks::MaskSettings { colluders, least: 2 };
        Self::Rounds(RoundsSettings::new(1).with_masks(masks))
    }

    /// Rounds of the machine: hops of each token for a walk, one for `mean`.
    pub(crate) fn rounds(config: &Config) -> Result<u32, SetupError> {
        match config.algorithm.kind {
            AlgorithmKind::Mean => Ok(1),
            AlgorithmKind::Walk => walk::hops(config),
            _ => Ok(config.rounds),
        }
    }

    /// The participant at position `me`; `noise` is for messages.
    pub(crate) fn machine(
        me: PeerIx,
        settings: &Settings,
        noise: Option<Box<dyn NoiseSource>>,
    ) -> Box<dyn Machine> {
        match &settings.algorithm {
            Self::Rounds(_) => Box::new(rounds::Rounds::new(settings)),
            Self::Gossip(_) => Box::new(gossip::Gossip::new(me, settings, noise)),
            Self::Walk(_) => Box::new(walk::Walk::new(settings)),
        }
    }

    /// An empty fold over the log of a run.
    pub(crate) fn fold(&self) -> Box<dyn Fold> {
        match self {
            Self::Rounds(settings) => settings.fold(),
            Self::Gossip(_) => Box::new(gossip::GossipFold::default()),
            Self::Walk(_) => Box::new(walk::WalkFold::default()),
        }
    }

    /// What is known of a run before it is made.
    pub(crate) fn forecast(&self) -> &dyn Forecast {
        match self {
            Self::Rounds(settings) => settings,
            Self::Gossip(settings) => settings,
            Self::Walk(settings) => settings,
        }
    }

    /// Whether an account settles round by round, pair by pair, so that it is cheap at any time; elsewhere each look prices the whole run.
    pub fn settles_by_round(&self) -> bool {
        matches!(self, Self::Rounds(_))
    }

    /// Whether members decide together on roster, model and end.
    pub fn is_decided(&self) -> bool {
        matches!(self, Self::Rounds(_))
    }

    /// Whether the first assembly of a simulation seats who came.
    pub(crate) fn seats_who_comes(&self) -> bool {
        matches!(self, Self::Rounds(settings) if settings.seats_who_comes())
    }

    /// Who mixes with whom, where a schedule says so.
    pub fn schedule(&self) -> Option<&topology::Schedule> {
        match self {
            Self::Gossip(settings) => Some(&settings.schedule),
            Self::Rounds(_) | Self::Walk(_) => None,
        }
    }

    /// Standard deviation of fresh noise on each message; 0 for none.
    pub fn message_noise(&self) -> f64 {
        match self {
            Self::Gossip(settings) => settings.message_noise,
            Self::Rounds(_) | Self::Walk(_) => 0.0,
        }
    }

    /// Message noise as a multiple of the noise that one contribution leaves in a node's state.
    #[must_use]
    pub(crate) fn with_message_noise(mut self, config: &Config, contribution: f64) -> Self {
        if let Self::Gossip(settings) = &mut self {
            settings.set_message_noise(config, contribution);
        }
        self
    }

    /// The same for a model of so many parameters.
    #[must_use]
    pub(crate) fn with_parameters(mut self, parameters: usize) -> Self {
        if let Self::Rounds(settings) = &mut self {
            settings.set_parameters(parameters);
        }
        self
    }

    /// The same where every masked round is priced as if it were looked into.
    #[must_use]
    pub(crate) fn with_look_in_every_round(mut self) -> Self {
        if let Self::Rounds(settings) = &mut self {
            settings.look_always();
        }
        self
    }

    /// How well masked rounds of so many members hide a contribution; `None` where there are no masks.
    pub(crate) fn hidden(&self, among: usize) -> Option<rounds::Hidden> {
        match self {
            Self::Rounds(settings) => settings.hidden(among),
            Self::Gossip(_) | Self::Walk(_) => None,
        }
    }

    /// Looks into masked rounds; `None` where none are made.
    pub fn looks(&self) -> Option<rounds::Looks> {
        match self {
            Self::Rounds(settings) => settings.looks,
            Self::Gossip(_) | Self::Walk(_) => None,
        }
    }

    /// What goes into δ where there was a look into a masked round.
    pub(crate) fn look_chance(&self) -> f64 {
        match self {
            Self::Rounds(settings) => settings.look_chance(),
            Self::Gossip(_) | Self::Walk(_) => 0.0,
        }
    }

    /// Who contributes to a round, by position in its roster of so many, where not all do.
    pub fn drawn(&self, key: &RunKey, round: u32, members: usize) -> Option<Vec<bool>> {
        match self {
            Self::Rounds(settings) => settings.drawn(key, round, members),
            Self::Gossip(_) | Self::Walk(_) => None,
        }
    }

    /// Whether the model after so many of all rounds is one of those that the result is the mean of, and the how-manieth.
    pub fn averaged_at(&self, version: u32, rounds: u32) -> Option<u32> {
        match self {
            Self::Rounds(settings) => settings.averaged_at(version, rounds),
            Self::Gossip(_) | Self::Walk(_) => None,
        }
    }

    /// Whether δ has a part for masks that some members share with some others only.
    pub(crate) fn splits_masks(&self, nodes: usize) -> bool {
        match self {
            Self::Rounds(settings) => settings.split_chance(nodes) > 0.0,
            Self::Gossip(_) | Self::Walk(_) => false,
        }
    }

    /// Rounds that a run of so many may begin with data, where one that comes to nothing is begun again.
    pub(crate) fn attempts(&self, rounds: u32) -> u32 {
        match self {
            Self::Rounds(settings) => settings.attempts(rounds),
            Self::Gossip(_) | Self::Walk(_) => rounds,
        }
    }

    /// The most numbers that any message carries for a model of so many parameters, among so many members.
    pub fn most_numbers(&self, parameters: usize, members: usize) -> usize {
        let shown = match self {
            Self::Rounds(settings) => settings.most_shown(parameters, members),
            Self::Gossip(_) | Self::Walk(_) => 0,
        };
        Load::most(parameters).max(shown)
    }

    /// Whether contributions are masked.
    pub fn is_masked(&self) -> bool {
        self.hidden(1).is_some()
    }

    /// Whether participants share secrets of their processes: for masks, or for noise of pairs.
    pub fn shares_secrets(&self) -> bool {
        match self {
            Self::Rounds(settings) => settings.masks.is_some(),
            Self::Gossip(settings) => settings.pairing.is_some(),
            Self::Walk(_) => false,
        }
    }

    /// Tokens that carry the model around; 0 where every node has one.
    pub fn tokens(&self) -> usize {
        match self {
            Self::Walk(settings) => settings.starts.len(),
            Self::Rounds(_) | Self::Gossip(_) => 0,
        }
    }
}

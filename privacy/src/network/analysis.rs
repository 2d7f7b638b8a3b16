//! The analyses by name, with what each guarantees and assumes, in words for a report.

use serde::{Deserialize, Serialize};
use std::fmt;

/// An analysis of the network accountant. Every figure that leaves this crate is named by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Analysis {
    /// The watchers see every message of everybody.
    Local,
    /// Exact loss of averaging rounds that end in consensus.
    Rounds,
    /// Causal absorption for update maps of known Lipschitz constant.
    Contractive,
    /// Exact for contributions that do not depend on hidden states.
    Linear,
    /// Taut-string energy of a random walk's path.
    Walk,
    /// Figures of published papers, for comparison.
    Published,
}

impl Analysis {
    /// All analyses.
    pub const ALL: [Self; 6] =
        [Self::Local, Self::Rounds, Self::Contractive, Self::Linear, Self::Walk, Self::Published];

    /// The name that reports and flags use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Rounds => "rounds",
            Self::Contractive => "contractive",
            Self::Linear => "linear",
            Self::Walk => "walk",
            Self::Published => "published",
        }
    }

    /// What it is for, in a line.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Local => "Everybody sees everything",
            Self::Rounds => "Exact for one averaging round, and for rounds that end in consensus",
            Self::Contractive => "Sound for gossip SGD without consensus",
            Self::Linear => "Exact for contributions that do not depend on messages; for SGD not a guarantee",
            Self::Walk => "A token that walks over the graph",
            Self::Published => "What papers print, which can lie below the truth",
        }
    }

    /// What a figure of this analysis promises.
    pub fn guarantee(self) -> &'static str {
        match self {
            Self::Local => {
                "Whoever sees every message of everybody has at most this loss: composition of the node's own noisy releases."
            }
            Self::Rounds => {
                "What the watchers received has exactly this loss (rounded up); losses of rounds that end in exact consensus add up, for any model."
            }
            Self::Contractive => {
                "What the watchers received has at most this loss, for gossip SGD without consensus."
            }
            Self::Linear => {
                "What the watchers received has exactly this loss (rounded up) if contributions do not depend on received messages. For SGD this is not a guarantee."
            }
            Self::Walk => {
                "What the watchers saw while they held the token has at most this loss, even if they know the whole path."
            }
            Self::Published => {
                "None: the figure that the paper's formula gives, which can lie below the true loss. For comparison only."
            }
        }
    }

    /// What must hold for the promise.
    pub fn assumes(self) -> &'static str {
        match self {
            Self::Local => {
                "Independent Gaussian noise on every contribution; nothing about the watchers or the model."
            }
            Self::Rounds => {
                "Watchers follow the protocol; independent Gaussian noise on every contribution; with more than one round, each ends in exact consensus."
            }
            Self::Contractive => {
                "Watchers follow the protocol; independent Gaussian noise on every contribution; local update maps with the stated Lipschitz constant (1: convex, smooth loss and a step size of at most 2/β)."
            }
            Self::Linear => {
                "Watchers follow the protocol; independent Gaussian noise on every contribution; contributions do not depend on received messages (averaging, analytics, streams of statistics)."
            }
            Self::Walk => {
                "Watchers follow the protocol; fresh Gaussian noise in every update; update maps that bring no two states farther apart (convex, smooth loss and a step size of at most 2/β)."
            }
            Self::Published => {
                "What the paper assumes, among it that the noises of different messages are independent."
            }
        }
    }

    /// Whether a figure may be called a guarantee for training by SGD.
    pub fn is_guarantee_for_sgd(self) -> bool {
        match self {
            Self::Local | Self::Rounds | Self::Contractive | Self::Walk => true,
            Self::Linear | Self::Published => false,
        }
    }
}

impl fmt::Display for Analysis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

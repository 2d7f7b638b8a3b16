//! What others must know of a kind of algorithm, without its name.

use crate::config::AlgorithmKind;

impl AlgorithmKind {
    /// Whether a model is learnt; otherwise the answer is the mean of the contributions.
    pub fn trains(self) -> bool {
        self != Self::Mean
    }

    /// Whether a token carries the model, so that most nodes hold an old one.
    pub fn has_tokens(self) -> bool {
        self == Self::Walk
    }

    /// Whether contributions are added up by all members together, so that masks can hide them.
    pub fn has_totals(self) -> bool {
        self == Self::Rounds
    }

    /// Whether every round ends in one model that all go on from, made of all contributions to it.
    pub fn has_one_model(self) -> bool {
        matches!(self, Self::Rounds | Self::Local | Self::Fedavg)
    }

    /// Whether a server is told every contribution and whose it is.
    pub fn has_server(self) -> bool {
        self == Self::Fedavg
    }

    /// Whether contributions may have noise on integers.
    pub fn takes_integers(self) -> bool {
        matches!(self, Self::Rounds | Self::Mean)
    }

    /// Whether neighbours average their models while they learn.
    pub fn mixes_models(self) -> bool {
        self == Self::Gossip
    }
}

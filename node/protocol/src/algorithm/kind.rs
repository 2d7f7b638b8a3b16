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
}

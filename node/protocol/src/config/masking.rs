//! Masks and integer noise, in words of a config.

/// How the contributions of a round are hidden from those who pass them on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Masking {
    /// Nothing was said: not at all.
    #[default]
    Unsaid,
    /// Not at all, as was said: a default of masks does not change it.
    None,
    /// Every pair of members adds and subtracts the same stream of words: only the total shows.
    Pairwise,
    /// Neighbours add and subtract the same noise, which leaves their values noisy and their sum alone.
    Gopa,
}

/// What members prove about what they add under masks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Proofs {
    /// Nothing.
    #[default]
    None,
    /// That every number is in range, and that all masks cancel.
    Range,
}

/// Which noise contributions have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NoiseKind {
    /// Normals in floating point.
    #[default]
    Gaussian,
    /// Integers on a grid, with exact probabilities.
    Discrete,
}

/// How long the words of a grid are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GridChoice {
    /// As short as rounding allows.
    #[default]
    Auto,
    /// 32 bits.
    Bits32,
    /// 64 bits.
    Bits64,
}

/// How the words of a masked round are added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExchangeKind {
    /// By size.
    #[default]
    Auto,
    /// Everybody exchanges whole vectors.
    Doubling,
    /// Everybody adds up a part, then the parts are gathered.
    Halving,
}

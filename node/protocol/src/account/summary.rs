//! The figures of an account, as they are written and printed.

use serde::{Deserialize, Serialize};

use crate::work::Adjacency;

/// What a run cost.
///
/// # Guarantee
/// Each figure holds for the run that was made, by the analysis that it names, for the adjacency and δ stated, if `private` is true.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Whose data may change.
    pub adjacency: Adjacency,
    /// δ of all figures.
    pub delta: f64,
    /// Whether there is a guarantee at all: noise on every contribution, from a private source.
    pub private: bool,
    /// The pair that lost most.
    pub worst: Figure,
    /// Mean ε over all ordered pairs.
    pub mean: Figure,
    /// Towards any so many members that pool what they saw, whoever they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coalition: Option<Coalition>,
    /// Towards somebody who sees every message, and breaks masks where there are any.
    pub local: Figure,
    /// Pairwise noise that drop-outs left in the sum of all contributions: its variance over that of one contribution's own noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_over: Option<f64>,
    /// Contributions of all nodes.
    pub releases: u64,
    /// `rounds`: rounds that did not end in proven consensus and were charged in full.
    pub broken_rounds: u64,
}

/// One figure, with the analysis that gave it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// ε; `null` where it is infinite.
    #[serde(with = "finite")]
    pub epsilon: f64,
    /// μ²; where contributions are on samples, that of the Gaussian whose curve passes through (ε, δ), which describes the figure and is no bound. `null` where
    /// it is infinite.
    #[serde(with = "finite")]
    pub mu2: f64,
    /// The analysis.
    pub analysis: String,
    /// Whose data, and who watches, for the worst pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<(u32, u32)>,
}

/// What any so many members learn together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Coalition {
    /// ε; `null` where it is infinite.
    #[serde(with = "finite")]
    pub epsilon: f64,
    /// How many.
    pub members: usize,
    /// The analysis.
    pub analysis: String,
}

/// The figures that are cheap enough for every round; what is not settled yet counts in full.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interim {
    /// ε of the worst pair.
    #[serde(with = "finite")]
    pub worst: f64,
    /// Mean ε over all pairs, where it is cheap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// ε towards somebody who sees every message.
    #[serde(with = "finite")]
    pub local: f64,
}

/// Infinity is `null`: JSON has no word for it.
pub(super) mod finite {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(in crate::account) fn serialize<S: Serializer>(
        value: &f64,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        if value.is_finite() { serializer.serialize_some(value) } else { serializer.serialize_none() }
    }

    pub(in crate::account) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<f64, D::Error> {
        Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinity_is_null_and_comes_back() {
        let figure =
            Figure { epsilon: f64::INFINITY, mu2: 0.5, analysis: "none (no noise)".into(), pair: None };
        let json = serde_json::to_string(&figure).unwrap();
        assert_eq!(json, r#"{"epsilon":null,"mu2":0.5,"analysis":"none (no noise)"}"#);
        assert_eq!(serde_json::from_str::<Figure>(&json).unwrap(), figure);
    }
}

//! What pairwise noise needs: one average of real numbers, noise of one's own, and somebody beside the colluders.

use super::error::ConfigError;
use super::read::Reader;
use super::{Config, Masking, NoiseKind};

const KEY: &str = "privacy.masking";

pub(super) fn check(reader: &Reader<'_>, config: &Config) -> Result<(), ConfigError> {
    let (privacy, nodes) = (&config.privacy, config.nodes);
    if privacy.masking != Masking::Gopa {
        return Ok(());
    }
    let conflict = |key: &'static str, shown: &dyn std::fmt::Display, why: &str, hint: &str| {
        Err(ConfigError::Conflict {
            first: reader.pair(KEY, "gopa"),
            second: reader.pair(key, shown),
            why: why.into(),
            hint: hint.into(),
            place: reader.place(if reader.is_given(KEY) { KEY } else { key }),
        })
    };
    if config.algorithm.kind.trains() {
        let why = "noise that neighbours share cancels in one average, not in a model that goes on learning";
        let hint = "use `algorithm.kind = \"mean\"`, or `privacy.masking = \"pairwise\"` with `algorithm.kind = \"rounds\"`";
        return conflict("algorithm.kind", &config.algorithm.kind.name(), why, hint);
    }
    if nodes < 3 {
        let why = "of an average of two, each knows the other's part";
        return conflict("nodes", &nodes, why, "use at least 3 nodes, or `privacy.masking = \"none\"`");
    }
    if privacy.colluders >= nodes - 1 {
        let why = format!("of {nodes} members at least two must be left, or nobody hides a contribution");
        let hint = format!("use `privacy.colluders` of at most {}", nodes - 2);
        return conflict("privacy.colluders", &privacy.colluders, &why, &hint);
    }
    if privacy.noise == NoiseKind::Discrete {
        let why = "its analysis is of real numbers";
        return conflict("privacy.noise", &"discrete", why, "leave `privacy.noise` out");
    }
    if privacy.epsilon == Some(f64::INFINITY) || privacy.noise_multiplier == Some(0.0) {
        let given = privacy.noise_multiplier.is_some();
        let key = if given { "privacy.noise_multiplier" } else { "privacy.epsilon" };
        let why = "without noise of one's own the average itself is in the clear";
        return conflict(key, &"no noise", why, "ask for noise, or leave `privacy.masking` out");
    }
    Ok(())
}

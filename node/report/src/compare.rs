//! Two runs side by side.

use protocol::config::Config;

use crate::document::{Comparison, Report};

/// The figures of `theirs` beside `ours`.
pub(crate) fn comparison(
    ours: &Report,
    our_config: &Config,
    theirs: &Report,
    their_config: &Config,
) -> Comparison {
    let mut cautions = Vec::new();
    if ours.adjacency != theirs.adjacency {
        cautions.push("they protect different things (adjacency)".to_owned());
    }
    if ours.delta != theirs.delta {
        cautions.push("their δ differ".to_owned());
    }
    if ours.participants != theirs.participants {
        cautions.push("they have different numbers of nodes".to_owned());
    }
    Comparison {
        run: theirs.run.clone(),
        algorithm: theirs.algorithm.clone(),
        delta: theirs.delta,
        adjacency: theirs.adjacency,
        private: theirs.private,
        worst: theirs.worst.figure.clone(),
        mean: theirs.mean.clone(),
        local: theirs.local.clone(),
        differing_keys: our_config.differing_keys(their_config).into_iter().map(str::to_owned).collect(),
        caution: (!cautions.is_empty()).then(|| cautions.join("; ")),
    }
}

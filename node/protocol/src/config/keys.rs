//! The keys of a configuration: reading, printing, suggestions and help go by this table.

/// One key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Its dotted name.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

const fn key(name: &'static str, meaning: &'static str) -> Key {
    Key { name, meaning }
}

/// All keys, in the order in which they are printed.
pub const KEYS: &[Key] = &[
    key("name", "name of the run and of its folder"),
    key("nodes", "number of participants; a topology with a size of its own decides where it is left out"),
    key("rounds", "rounds; for a walk one round is as many hops as there are nodes"),
    key("local_steps", "steps on a node's own data before it contributes (node level)"),
    key("batch_size", "expected records per step, or \"all\""),
    key("learning_rate", "step size"),
    key("seed", "root of all randomness of a simulation, of the partition and the first model"),
    key("data", "data source, as for `murmur data`"),
    key("test_fraction", "part of the data kept apart for testing where the source has no test set"),
    key("topology", "graph, as for `murmur topology`; without a size it gets `nodes`"),
    key(
        "weights",
        "gossip weights: metropolis, lazy-metropolis, max-degree, best-constant, uniform, file:PATH",
    ),
    key("partition.kind", "iid, shards, dirichlet, pathological, quantity-skew or natural"),
    key("partition.alpha", "dirichlet, quantity-skew: concentration"),
    key("partition.per_node", "shards: pieces per node"),
    key("partition.classes_per_node", "pathological: classes per node"),
    key(
        "partition.min_size",
        "least records of a node; bounds the sampling rate of nodes that do not know each other",
    ),
    key("model.kind", "softmax, logistic, linear, ridge, mlp, cnn or mean"),
    key("model.hidden", "mlp: widths of the hidden layers"),
    key("model.activation", "mlp: relu or tanh"),
    key("model.penalty", "ridge: λ of (λ/2)‖θ‖²"),
    key("optimiser.kind", "sgd, momentum or adam"),
    key("optimiser.radius", "sgd: parameters stay in a ball of this radius"),
    key("optimiser.momentum", "momentum: weight of the past"),
    key("algorithm.kind", "rounds, gossip, walk, mean; to compare with: alone, central, local, fedavg"),
    key("algorithm.mixing_steps", "gossip, mean: mixing steps per contribution"),
    key("algorithm.accelerate", "gossip, mean: Chebyshev acceleration, for networks that lose nothing"),
    key(
        "algorithm.schedule",
        "gossip, mean: fixed, one-peer-exponential, doubling, shuffled-doubling, random-matching, resampled:FAMILY:SIZE",
    ),
    key(
        "algorithm.message_noise",
        "gossip, mean: noise on every message, as a multiple of a contribution's noise",
    ),
    key("algorithm.kernel", "walk: simple, lazy or metropolis"),
    key("algorithm.tokens", "walk: number of tokens"),
    key("privacy.epsilon", "target ε, for which the noise is calibrated; inf: no noise"),
    key("privacy.delta", "δ"),
    key("privacy.noise_multiplier", "noise divided by the clip norm, instead of privacy.epsilon"),
    key("privacy.clip_norm", "C: largest norm of a record's gradient, or of a node's update"),
    key("privacy.adjacency", "what is protected: record or node"),
    key("privacy.target", "which loss is to meet ε: worst (pair), mean (over pairs) or local"),
    key("privacy.row_norm", "declared bound on the norm of a record's features, to certify `contractive`"),
    key("timeouts.resend", "before a missing message is asked for again"),
    key("timeouts.silence", "before a silent peer is given up"),
    key("timeouts.give_up", "before a node without a majority ends"),
    key("faults.drop_prob", "probability that a message is lost"),
    key("faults.duplicate_prob", "probability that a message arrives twice"),
    key("faults.reorder_prob", "probability that a message is overtaken"),
    key("faults.online_prob", "part of the time that a node is online"),
    key("faults.slot", "length of an online or offline slot"),
    key("faults.delay", "latency of a link"),
    key("faults.jitter", "uniform jitter on top of the latency"),
    key("faults.bandwidth", "bytes per second of a link; 0: unlimited"),
    key("faults.compute", "time that one contribution takes"),
    key("faults.crash", "list of {nodes or fraction, at, back, pause}"),
    key("faults.slow", "list of {nodes, factor}"),
    key("faults.partition", "list of {nodes or fraction, from, until}"),
    key(
        "faults.hostile",
        "list of {nodes, kind, from}; kind: nan, huge, wrong-length, replay, other-run, flood",
    ),
];

/// Keys by which people may know ours under other names.
const SYNONYMS: &[(&str, &str)] = &[
    ("n", "nodes"),
    ("clients", "nodes"),
    ("peers", "nodes"),
    ("epochs", "rounds"),
    ("steps", "rounds"),
    ("lr", "learning_rate"),
    ("step_size", "learning_rate"),
    ("eta", "learning_rate"),
    ("batch", "batch_size"),
    ("dataset", "data"),
    ("graph", "topology"),
    ("algorithm.name", "algorithm.kind"),
    ("algo", "algorithm.kind"),
    ("clip", "privacy.clip_norm"),
    ("max_grad_norm", "privacy.clip_norm"),
    ("sigma", "privacy.noise_multiplier"),
    ("privacy.sigma", "privacy.noise_multiplier"),
    ("eps", "privacy.epsilon"),
    ("faults.loss", "faults.drop_prob"),
    ("faults.latency", "faults.delay"),
];

/// The table's own copy of a name.
pub(super) fn known(name: &str) -> Option<&'static str> {
    KEYS.iter().map(|key| key.name).find(|known| *known == name)
}

/// Whether keys begin with this word and a dot.
pub(super) fn is_section(name: &str) -> bool {
    KEYS.iter().any(|key| key.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')))
}

/// The key that was probably meant: a synonym, a key of another section, or the nearest by spelling.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    let lower = name.to_lowercase().replace('-', "_").replace("probability", "prob");
    let names = KEYS.iter().map(|key| key.name);
    let last = |name: &'static str| name.rsplit('.').next().unwrap_or(name);
    let own = lower.rsplit('.').next().unwrap_or(&lower).to_owned();
    SYNONYMS
        .iter()
        .find(|(other, _)| *other == lower)
        .map(|(_, ours)| *ours)
        .or_else(|| names.clone().find(|known| *known == lower))
        .or_else(|| {
            // `kind` ends several keys, and then the section decides.
            let mut same = names.clone().filter(|known| last(known) == own);
            same.next().filter(|_| same.next().is_none())
        })
        .or_else(|| names.clone().find(|known| lower.len() >= 3 && known.starts_with(&lower)))
        .or_else(|| topology::nearest(&lower, &names.clone().collect::<Vec<_>>()))
        .or_else(|| {
            let lasts: Vec<&str> = names.clone().map(last).collect();
            let near = topology::nearest(&own, &lasts)?;
            names.clone().find(|known| last(known) == near)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_synonyms_and_forgotten_sections_find_their_key() {
        for (written, meant) in [
            ("nodse", "nodes"),
            ("privacy.epsilom", "privacy.epsilon"),
            ("epsilon", "privacy.epsilon"),
            ("privacy.alpha", "partition.alpha"),
            ("lr", "learning_rate"),
            ("learning-rate", "learning_rate"),
            ("optimizer.kind", "optimiser.kind"),
            ("faults.drop", "faults.drop_prob"),
            ("drop_probability", "faults.drop_prob"),
        ] {
            assert_eq!(nearest(written), Some(meant), "{written}");
        }
        assert_eq!(nearest("banana"), None);
    }
}

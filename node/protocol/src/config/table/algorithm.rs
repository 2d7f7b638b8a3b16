//! What participants do.

use topology::{Hint, TopologyError};

use super::MOST_NODES;
use crate::config::field::{In, at};
use crate::config::form::Otherwise::{By, Is};
use crate::config::form::{Count, CountOr, Flag, Number, Optional, Parsed, Word};
use crate::config::keys::{Key, key};
use crate::config::read::{NOT_NEGATIVE, POSITIVE, Rule};
use crate::config::{AlgorithmKind, Correction};

pub(super) const KEYS: &[Key] = &[
    key(
        "algorithm.kind",
        "rounds, gossip, walk, mean; to compare with: alone, central, local, fedavg",
        &In(at!(algorithm.kind), Word { otherwise: Is(AlgorithmKind::Rounds), words: &AlgorithmKind::ALL }),
    )
    .also(&["algorithm.name", "algo"]),
    key(
        "algorithm.pull",
        "gossip: λ of (λ/2)·Σ w_ij‖θ_i − θ_j‖² over neighbours: nodes keep models of their own, near those of their neighbours; left out: one model for all",
        &In(at!(algorithm.pull), Optional { rule: POSITIVE }),
    )
    .later(),
    key(
        "algorithm.mixing_steps",
        "gossip, mean: mixing steps per contribution; 1 where models are pulled",
        &In(
            at!(algorithm.mixing_steps),
            Count {
                otherwise: By(|config| if config.algorithm.pull.is_some() { 1 } else { 10 }),
                least: 1,
                most: 1_000_000,
            },
        ),
    )
    .because("a guess: on the default graph of 64 nodes a disagreement shrinks to about 2 %"),
    key(
        "algorithm.accelerate",
        "gossip, mean: Chebyshev acceleration, for networks that lose nothing",
        &In(at!(algorithm.accelerate), Flag { otherwise: false }),
    ),
    key(
        "algorithm.schedule",
        "gossip, mean: fixed, one-peer-exponential, doubling, shuffled-doubling, random-matching, resampled:FAMILY:SIZE",
        &In(at!(algorithm.schedule), Parsed { otherwise: "fixed", hint: TopologyError::hint, takes: "text" }),
    ),
    key(
        "algorithm.message_noise",
        "gossip, mean: noise on every message, as a multiple of a contribution's noise",
        &In(at!(algorithm.message_noise), Number { otherwise: 0.0, rule: NOT_NEGATIVE }),
    ),
    key(
        "algorithm.kernel",
        "walk: simple, lazy or metropolis",
        &In(
            at!(algorithm.kernel),
            Parsed { otherwise: "metropolis", hint: TopologyError::hint, takes: "text" },
        ),
    ),
    key(
        "algorithm.tokens",
        "walk: number of tokens",
        &In(at!(algorithm.tokens), Count { otherwise: Is(1), least: 1, most: MOST_NODES }),
    ),
    key(
        "algorithm.correction",
        "gossip: none or d2, a repair where data differ; with noise only for `privacy.target = \"local\"`",
        &In(
            at!(algorithm.correction),
            Word {
                otherwise: Is(Correction::None),
                words: &[("none", Correction::None), ("d2", Correction::D2)],
            },
        ),
    )
    .later(),
    key(
        "algorithm.check_in",
        "rounds, node level: probability with which a node takes part in a round, by a coin of its own; who stays out adds zeros and noise",
        &In(at!(algorithm.check_in), Number { otherwise: 1.0, rule: SHARE }),
    )
    .later(),
    key(
        "algorithm.sample",
        "rounds: members that contribute to a round, drawn in public by the run's key, or \"all\"; the others add zeros, with noise under masks and without elsewhere",
        &In(at!(algorithm.sample), CountOr { all: "all" }),
    )
    .later(),
];

const SHARE: Rule = Rule { fits: |x| x > 0.0 && x <= 1.0, must: "must be above 0 and at most 1" };

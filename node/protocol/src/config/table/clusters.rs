//! Several shared models of which each node takes one, and how it trains before it contributes.

use crate::config::field::{In, at};
use crate::config::form::Otherwise::Is;
use crate::config::form::{Count, Flag, Number};
use crate::config::keys::{Key, key};
use crate::config::read::{NOT_NEGATIVE, POSITIVE, PROBABILITY};

pub(super) const KEYS: &[Key] = &[
    key(
        "clusters.slots",
        "shared models, of which each node takes one in secret",
        &In(at!(clusters.slots), Count { otherwise: Is(1), least: 1, most: 1_024 }),
    )
    .later()
    .because("take one more than groups are expected"),
    key(
        "clusters.deal",
        "part of the rounds in which slots are dealt by the run's key",
        &In(at!(clusters.deal), Number { otherwise: 0.1, rule: PROBABILITY }),
    )
    .later()
    .because("measured on digits"),
    key(
        "clusters.choices",
        "record level: private choices of a node (after 10, 20, 30, 50 % of the rounds for 4)",
        &In(at!(clusters.choices), Count { otherwise: Is(4), least: 1, most: 1_000 }),
    )
    .later()
    .because("measured on digits"),
    key(
        "clusters.choice_noise",
        "record level: noise of a choice, over the clip norm of a record's losses",
        &In(at!(clusters.choice_noise), Number { otherwise: 8.0, rule: POSITIVE }),
    )
    .later()
    .because("measured on digits"),
    key(
        "clusters.loss_clip",
        "record level: largest norm of a record's losses, less their mean",
        &In(at!(clusters.loss_clip), Number { otherwise: 1.0, rule: POSITIVE }),
    )
    .later()
    .because("measured on digits"),
    key(
        "clusters.mixture",
        "fedavg, to compare: each node weighs the models anew for each of its records (FedEM)",
        &In(at!(clusters.mixture), Flag { otherwise: false }),
    )
    .later(),
    key(
        "local.proximal",
        "node level: μ of a pull (μ/2)‖θ − shared‖² on local steps (FedProx)",
        &In(at!(local.proximal), Number { otherwise: 0.0, rule: NOT_NEGATIVE }),
    )
    .later()
    .because("Li et al. 2020 use 0.001 to 1"),
    key(
        "local.scaffold",
        "node level: control variates (SCAFFOLD); with noise only for `privacy.target = \"local\"`",
        &In(at!(local.scaffold), Flag { otherwise: false }),
    )
    .later(),
    key(
        "local.look_ahead",
        "node level, to compare: α of a step after which the model is to be good (Per-FedAvg); 0: none",
        &In(at!(local.look_ahead), Number { otherwise: 0.0, rule: NOT_NEGATIVE }),
    )
    .later(),
];

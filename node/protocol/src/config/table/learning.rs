//! What is trained, and how steps are taken.

use learn::model::{Activation, ModelSpec};
use learn::optimiser::OptimiserSpec;

use crate::config::Config;
use crate::config::field::{In, at};
use crate::config::form::Otherwise::{By, Is};
use crate::config::form::{Counts, Kind, Made, Number, Optional, Word};
use crate::config::keys::{Key, key};
use crate::config::read::{BELOW_ONE, POSITIVE};

pub(super) const KEYS: &[Key] = &[
    key(
        "model.kind",
        "softmax, logistic, linear, ridge, mlp, cnn or mean",
        &In(at!(model), Kind { otherwise: By(model), kinds: MODELS }),
    ),
    key(
        "model.hidden",
        "mlp: widths of the hidden layers",
        &In(
            at!(model, ModelSpec::Mlp { hidden, .. } => hidden),
            Counts { otherwise: &[32], most: 65_536, what: "widths" },
        ),
    ),
    key(
        "model.activation",
        "mlp: relu or tanh",
        &In(
            at!(model, ModelSpec::Mlp { activation, .. } => activation),
            Word {
                otherwise: Is(Activation::Relu),
                words: &[("relu", Activation::Relu), ("tanh", Activation::Tanh)],
            },
        ),
    ),
    key(
        "model.penalty",
        "ridge: λ of (λ/2)‖θ‖²",
        &In(at!(model, ModelSpec::Ridge { penalty } => penalty), Number { otherwise: 0.01, rule: POSITIVE }),
    ),
    key(
        "optimiser.kind",
        "sgd, momentum or adam",
        &In(at!(optimiser), Kind { otherwise: Is("sgd"), kinds: OPTIMISERS }),
    ),
    key(
        "optimiser.radius",
        "sgd: parameters stay in a ball of this radius",
        &In(at!(optimiser, OptimiserSpec::Sgd { radius } => radius), Optional { rule: POSITIVE }),
    ),
    key(
        "optimiser.momentum",
        "momentum: weight of the past",
        &In(
            at!(optimiser, OptimiserSpec::Momentum { momentum } => momentum),
            Number { otherwise: 0.9, rule: BELOW_ONE },
        ),
    )
    .because("the customary value (Sutskever et al. 2013)"),
];

const MODELS: &[Made<ModelSpec>] = &[
    ("softmax", || ModelSpec::Softmax {}),
    ("logistic", || ModelSpec::Logistic {}),
    ("linear", || ModelSpec::Linear {}),
    ("ridge", || ModelSpec::Ridge { penalty: 0.01 }),
    ("mlp", || ModelSpec::Mlp { hidden: Vec::new(), activation: Activation::Relu }),
    ("cnn", || ModelSpec::Cnn {}),
    ("mean", || ModelSpec::Mean {}),
];

const OPTIMISERS: &[Made<OptimiserSpec>] = &[
    ("sgd", || OptimiserSpec::Sgd { radius: None }),
    ("momentum", || OptimiserSpec::Momentum { momentum: 0.9 }),
    ("adam", || OptimiserSpec::Adam {}),
];

fn model(config: &Config) -> &'static str {
    if config.algorithm.kind.trains() { "softmax" } else { "mean" }
}

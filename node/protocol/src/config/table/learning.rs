//! What is trained, and how steps are taken.

use learn::model::{Activation, ClippedBy, ModelSpec};
use learn::optimiser::OptimiserSpec;

use crate::config::Config;
use crate::config::field::{In, at};
use crate::config::form::Otherwise::{By, Is};
use crate::config::form::{Counts, Kind, Made, Number, Optional, Parsed, Word};
use crate::config::keys::{Key, key};
use crate::config::read::{BELOW_ONE, POSITIVE};
use crate::setup::ZEROS;

pub(super) const KEYS: &[Key] = &[
    key(
        "model.kind",
        "softmax, logistic, linear, ridge, mlp, cnn, mean, or external: whatever `murmur node --trainer` computes",
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
        "model.clipping",
        "external, where records are protected: who clips their gradients; the guarantee rests on a trainer that does",
        &In(
            at!(model, ModelSpec::External { clipping, .. } => clipping),
            Word {
                otherwise: Is(ClippedBy::Node),
                words: &[("node", ClippedBy::Node), ("trainer", ClippedBy::Trainer)],
            },
        ),
    ),
    key(
        "model.initial",
        "external: first parameters, a safetensors file that all members hold",
        &In(
            at!(model, ModelSpec::External { initial, .. } => initial),
            Parsed { otherwise: ZEROS, hint: |_| None, takes: "\"zeros\" or a file" },
        ),
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
    ("external", || ModelSpec::External { clipping: ClippedBy::Node, initial: String::new() }),
];

const OPTIMISERS: &[Made<OptimiserSpec>] = &[
    ("sgd", || OptimiserSpec::Sgd { radius: None }),
    ("momentum", || OptimiserSpec::Momentum { momentum: 0.9 }),
    ("adam", || OptimiserSpec::Adam {}),
];

fn model(config: &Config) -> &'static str {
    if config.algorithm.kind.trains() { "softmax" } else { "mean" }
}

//! A model of each node's own, made from the shared one. It enters no message, so nobody else has to agree.

use crate::config::PersonalKind;
use crate::config::field::{In, at};
use crate::config::form::Otherwise::Is;
use crate::config::form::{Count, Names, Number, NumberOr, Word};
use crate::config::keys::{Key, key};
use crate::config::read::{BELOW_ONE, Rule};

pub(super) const KEYS: &[Key] = &[
    key(
        "personal.kind",
        "a model of each node's own after training: none or proximal",
        &In(
            at!(personal.kind),
            Word {
                otherwise: Is(PersonalKind::None),
                words: &[("none", PersonalKind::None), ("proximal", PersonalKind::Proximal)],
            },
        ),
    )
    .own(),
    key(
        "personal.lambda",
        "λ of (λ/2)‖v − θ‖²; inf: the shared model, 0: fine-tuning, auto: by cross-validation",
        &In(
            at!(personal.lambda),
            NumberOr {
                word: "auto",
                rule: Rule { fits: |x| x >= 0.0, must: "must be a number, not negative, inf or auto" },
            },
        ),
    )
    .own()
    .because("auto: from 40 records by 4-fold cross-validation over inf, 1, 0.1, 0.01, 0 and alone, below that 0.03; measured on digits"),
    key(
        "personal.steps",
        "gradient steps, where there is no closed form",
        &In(at!(personal.steps), Count { otherwise: Is(100), least: 1, most: 1_000_000 }),
    )
    .own()
    .because("a guess"),
    key(
        "personal.parameters",
        "tensors that are the node's own, or \"all\"",
        &In(at!(personal.parameters), Names { all: "all" }),
    )
    .own(),
    key(
        "personal.test_fraction",
        "part of each simulated node's records that judges its models; a real node has `test_fraction`",
        &In(at!(personal.test_fraction), Number { otherwise: 0.25, rule: BELOW_ONE }),
    )
    .simulated()
    .because("as PFLlib divides (Zhang et al. 2023)"),
];

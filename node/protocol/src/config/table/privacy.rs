//! What is protected, and how well.

use toml::Value;

use super::STORY;
use crate::config::Config;
use crate::config::error::ConfigError;
use crate::config::field::{In, Special, at};
use crate::config::form::Otherwise::By;
use crate::config::form::{Number, Optional, Word};
use crate::config::keys::{Key, key};
use crate::config::read::{NOT_NEGATIVE, POSITIVE, Reader, Rule};
use crate::settings::Scope;
use crate::work::Adjacency;

pub(super) const KEYS: &[Key] = &[
    key(
        "privacy.epsilon",
        "target ε, for which the noise is calibrated; inf: no noise",
        &Special {
            read: read_epsilon,
            show: |config| config.privacy.epsilon.map(Value::Float),
            takes: "positive number, or inf",
        },
    )
    .also(&["eps"])
    .because("ε = 1 reached only 70 % on the built-in story"),
    key(
        "privacy.delta",
        "δ",
        &In(
            at!(privacy.delta),
            Number {
                otherwise: 1e-5,
                rule: Rule { fits: |x| x > 0.0 && x < 1.0, must: "must be above 0 and below 1" },
            },
        ),
    ),
    key(
        "privacy.noise_multiplier",
        "noise divided by the clip norm, instead of privacy.epsilon",
        &In(at!(privacy.noise_multiplier), Optional { rule: NOT_NEGATIVE }),
    )
    .also(&["sigma", "privacy.sigma"]),
    key(
        "privacy.clip_norm",
        "C: largest norm of a record's gradient, or of a node's update",
        &In(at!(privacy.clip_norm), Number { otherwise: 0.5, rule: POSITIVE }),
    )
    .also(&["clip", "max_grad_norm"])
    .because(STORY),
    key(
        "privacy.unit",
        "what is protected: record, person (all records of one, of which one is drawn for a batch) or node",
        &In(
            at!(privacy.adjacency),
            Word {
                otherwise: By(adjacency),
                words: &[
                    ("record", Adjacency::Record),
                    ("person", Adjacency::Person),
                    ("node", Adjacency::Node),
                ],
            },
        ),
    )
    .formerly("privacy.adjacency"),
    key(
        "privacy.target",
        "which loss is to meet ε: worst (pair), mean (over pairs) or local",
        &In(
            at!(privacy.target),
            Word {
                otherwise: By(target),
                words: &[("worst", Scope::Worst), ("mean", Scope::Mean), ("local", Scope::Local)],
            },
        ),
    ),
    key(
        "privacy.row_norm",
        "declared bound on the norm of a record's features, to certify `contractive`",
        &In(at!(privacy.row_norm), Optional { rule: POSITIVE }),
    ),
    key(
        "privacy.clip_quantile",
        "rounds, node level: part of the updates that is to be shorter than the clip norm, which then follows them",
        &In(
            at!(privacy.clip_quantile),
            Optional { rule: Rule { fits: |x| x > 0.0 && x < 1.0, must: "must be above 0 and below 1" } },
        ),
    ),
];

/// Target ε or noise multiplier: exactly one.
fn read_epsilon(key: &'static str, reader: &Reader<'_>, config: &mut Config) -> Result<(), ConfigError> {
    let rule = Rule { fits: |x| x > 0.0, must: "must be a positive number, or inf for no noise" };
    let given = reader.optional(key, rule)?;
    config.privacy.epsilon = given.or((!reader.is_given("privacy.noise_multiplier")).then_some(2.0));
    Ok(())
}

/// Where every member sees every contribution there is one loss.
fn target(config: &Config) -> Scope {
    if config.tolerate.is_some() { Scope::Local } else { Scope::Worst }
}

/// A node's one value stands for all its records.
fn adjacency(config: &Config) -> Adjacency {
    if config.algorithm.kind.trains() { Adjacency::Record } else { Adjacency::Node }
}

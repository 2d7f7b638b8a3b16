//! How data are divided among the nodes of a simulation.

use learn::partition::Scheme;

use crate::config::field::{In, at};
use crate::config::form::Otherwise::Is;
use crate::config::form::{Count, Kind, Made, Number};
use crate::config::keys::{Key, key};
use crate::config::read::POSITIVE;

pub(super) const KEYS: &[Key] = &[
    key(
        "partition.kind",
        "iid, shards, dirichlet, pathological, quantity-skew or natural",
        &In(at!(partition.scheme), Kind { otherwise: Is("iid"), kinds: KINDS }),
    ),
    key(
        "partition.alpha",
        "dirichlet, quantity-skew: concentration",
        &In(
            at!(partition.scheme, Scheme::Dirichlet { alpha } | Scheme::QuantitySkew { alpha } => alpha),
            Number { otherwise: 0.5, rule: POSITIVE },
        ),
    ),
    key(
        "partition.per_node",
        "shards: pieces per node",
        &In(at!(partition.scheme, Scheme::Shards { per_node } => per_node), TWO),
    ),
    key(
        "partition.classes_per_node",
        "pathological: classes per node",
        &In(at!(partition.scheme, Scheme::Pathological { classes_per_node } => classes_per_node), TWO),
    ),
    key(
        "partition.min_size",
        "least records of a node; bounds the sampling rate of nodes that do not know each other",
        &In(at!(partition.min_size), Count { otherwise: Is(1), least: 1, most: 1 << 32 }),
    ),
];

const KINDS: &[Made<Scheme>] = &[
    ("iid", || Scheme::Iid),
    ("shards", || Scheme::Shards { per_node: 2 }),
    ("dirichlet", || Scheme::Dirichlet { alpha: 0.5 }),
    ("pathological", || Scheme::Pathological { classes_per_node: 2 }),
    ("quantity-skew", || Scheme::QuantitySkew { alpha: 0.5 }),
    ("natural", || Scheme::Natural),
];

const TWO: Count = Count { otherwise: Is(2), least: 1, most: 1 << 32 };

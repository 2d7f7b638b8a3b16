//! What goes wrong in a simulation.

use crate::config::faults::{COMPUTE, DELAY, SLOT};
use crate::config::field::{In, at};
use crate::config::form::Otherwise::Is;
use crate::config::form::{Count, Duration, Number, Tables};
use crate::config::keys::{Key, key};
use crate::config::read::PROBABILITY;

pub(super) const KEYS: &[Key] = &[
    key("faults.drop_prob", "probability that a message is lost", &In(at!(faults.drop_prob), NEVER))
        .also(&["faults.loss"])
        .simulated(),
    key(
        "faults.duplicate_prob",
        "probability that a message arrives twice",
        &In(at!(faults.duplicate_prob), NEVER),
    )
    .simulated(),
    key(
        "faults.reorder_prob",
        "probability that a message is overtaken",
        &In(at!(faults.reorder_prob), NEVER),
    )
    .simulated(),
    key(
        "faults.online_prob",
        "part of the time that a node is online",
        &In(at!(faults.online_prob), Number { otherwise: 1.0, rule: PROBABILITY }),
    )
    .simulated(),
    key(
        "faults.slot",
        "length of an online or offline slot",
        &In(at!(faults.slot), Duration { otherwise: SLOT, may_be_zero: false }),
    )
    .simulated(),
    key("faults.delay", "latency of a link", &In(at!(faults.delay), time(DELAY)))
        .also(&["faults.latency"])
        .simulated(),
    key("faults.jitter", "uniform jitter on top of the latency", &In(at!(faults.jitter), time(0)))
        .simulated(),
    key(
        "faults.bandwidth",
        "bytes per second of a link; 0: unlimited",
        &In(at!(faults.bandwidth), Count { otherwise: Is(0), least: 0, most: i64::MAX as u64 }),
    )
    .simulated(),
    key("faults.compute", "time that one contribution takes", &In(at!(faults.compute), time(COMPUTE)))
        .simulated(),
    key(
        "faults.crash",
        "list of {nodes or fraction, at, back, pause}",
        &In(at!(faults.crash), Tables(&["nodes", "fraction", "at", "back", "pause"])),
    )
    .simulated(),
    key("faults.slow", "list of {nodes, factor}", &In(at!(faults.slow), Tables(&["nodes", "factor"])))
        .simulated(),
    key(
        "faults.partition",
        "list of {nodes or fraction, from, until}",
        &In(at!(faults.partition), Tables(&["nodes", "fraction", "from", "until"])),
    )
    .simulated(),
    key(
        "faults.hostile",
        "list of {nodes or fraction, kind, from}; kind: nan, huge, wrong-length, replay, other-run, flood, malformed; sign, label, alie:Z, push:X (lies in contributions); forged-model, forged-decision, false-standing, zero-count, equivocation, silence, high-numbers, false-accusation, slow; in masked rounds false-zeros, huge-words, false-mask, half-words, changed-sum, false-stream, false-sums, no-projections, no-draw, long-words",
        &In(at!(faults.hostile), Tables(&["nodes", "fraction", "kind", "from"])),
    )
    .simulated(),
];

const NEVER: Number = Number { otherwise: 0.0, rule: PROBABILITY };

const fn time(otherwise: u64) -> Duration {
    Duration { otherwise, may_be_zero: true }
}

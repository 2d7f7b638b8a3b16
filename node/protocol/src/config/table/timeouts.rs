//! How long to wait.

use crate::config::field::{In, at};
use crate::config::form::Duration;
use crate::config::keys::{Key, key};
use crate::settings::Timeouts;

pub(super) const KEYS: &[Key] = &[
    key(
        "timeouts.resend",
        "before a missing message is asked for again",
        &In(at!(timeouts.resend), longer(Timeouts::LAN.resend)),
    )
    .because(LAN),
    key(
        "timeouts.silence",
        "before a silent peer is given up",
        &In(at!(timeouts.silence), longer(Timeouts::LAN.silence)),
    )
    .because(LAN),
    key(
        "timeouts.slow",
        "a contribution may take so long: then its round goes on without it; 0s is five times `silence`",
        &In(at!(timeouts.slow), Duration { otherwise: Timeouts::LAN.slow, may_be_zero: true }),
    ),
    key(
        "timeouts.give_up",
        "before a node that waits for a quorum ends",
        &In(at!(timeouts.give_up), longer(Timeouts::LAN.give_up)),
    )
    .because(LAN),
];

const LAN: &str = "a guess for a LAN: a round trip is far below `resend`, a restart below `silence`";

const fn longer(otherwise: u64) -> Duration {
    Duration { otherwise, may_be_zero: false }
}

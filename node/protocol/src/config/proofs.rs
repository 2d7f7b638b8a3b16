//! What proofs need: one average under masks, of few members, each of which tells all the same.

use super::error::ConfigError;
use super::read::Reader;
use super::{Config, GridChoice, Masking, Proofs};
use crate::algorithm::MOST_PROVED_MEMBERS;

const KEY: &str = "privacy.proofs";

pub(super) fn check(reader: &Reader<'_>, config: &Config) -> Result<(), ConfigError> {
    if config.privacy.proofs == Proofs::None {
        return Ok(());
    }
    let conflict = |key: &'static str, shown: &dyn std::fmt::Display, why: &str, hint: &str| {
        Err(ConfigError::Conflict {
            first: reader.pair(KEY, "range"),
            second: reader.pair(key, shown),
            why: why.into(),
            hint: hint.into(),
            place: reader.place(if reader.is_given(KEY) { KEY } else { key }),
        })
    };
    if config.algorithm.kind.trains() {
        let why = "a proof takes milliseconds for each number, in every round";
        let hint = if config.algorithm.kind.has_totals() {
            "use `algorithm.kind = \"mean\"`; in a model that learns `privacy.inspect` names who adds too much"
        } else {
            "use `algorithm.kind = \"mean\"`, or leave `privacy.proofs` out"
        };
        return conflict("algorithm.kind", &config.algorithm.kind.name(), why, hint);
    }
    let masking = match config.privacy.masking {
        Masking::Pairwise => None,
        Masking::Gopa => Some("gopa"),
        Masking::None | Masking::Unsaid => Some("none"),
    };
    if let Some(masking) = masking {
        let why = "proofs are about masks of all pairs";
        let hint = "leave `privacy.masking` out, or `privacy.proofs`";
        return conflict("privacy.masking", &masking, why, hint);
    }
    if config.algorithm.message_noise > 0.0 {
        let why = "what is sent is masked, and must be what was proved";
        let hint = "leave `algorithm.message_noise` out, or `privacy.proofs`";
        return conflict("algorithm.message_noise", &config.algorithm.message_noise, why, hint);
    }
    if config.privacy.grid == GridChoice::Bits64 {
        let why = "numbers are proved to have 32 bits";
        return conflict("privacy.grid", &"64", why, "leave `privacy.grid` out, or `privacy.proofs`");
    }
    if config.nodes > MOST_PROVED_MEMBERS {
        let why = "every member checks what every other one proves";
        let hint = format!("use at most {MOST_PROVED_MEMBERS} nodes, or leave `privacy.proofs` out");
        return conflict("nodes", &config.nodes, why, &hint);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{refused, with};
    use super::{Masking, Proofs};
    use crate::config::NoiseKind;

    #[test]
    fn proofs_are_for_one_average_under_masks() {
        let (mean, range) = ("algorithm.kind=mean", "privacy.proofs=range");
        let config = with(&[mean, range]).unwrap();
        assert_eq!(
            (config.privacy.proofs, config.privacy.masking, config.privacy.noise),
            (Proofs::Range, Masking::Pairwise, NoiseKind::Discrete)
        );
        assert_eq!(with(&[mean, "privacy.proofs=none"]).unwrap().privacy.masking, Masking::Unsaid);
        refused(&[range], &["privacy.proofs = \"range\"", "rounds", "privacy.inspect"]);
        for kind in ["gossip", "walk"] {
            refused(&[range, &format!("algorithm.kind={kind}")], &[kind, "use `algorithm.kind = \"mean\"`"]);
        }
        for masking in ["none", "gopa"] {
            let said = format!("privacy.masking={masking}");
            refused(&[mean, range, &said], &["privacy.masking", masking, "leave `privacy.masking` out"]);
        }
        refused(&[mean, range, "nodes=65"], &["nodes = 65", "at most 64"]);
        refused(&[mean, range, "nodes=2"], &["nodes = 2", "at least 3"]);
        refused(&[mean, range, "algorithm.message_noise=1"], &["algorithm.message_noise = 1", "leave"]);
        refused(&[mean, range, "privacy.grid=64"], &["privacy.grid = 64", "32 bits"]);
        refused(&[mean, range, "privacy.epsilon=inf"], &["without noise"]);
        refused(&[mean, "privacy.proofs=rang"], &["rang", "range"]);
    }
}

//! What must hold where members may lie in what they contribute.

use super::error::ConfigError;
use super::read::Reader;
use super::{Config, Masking};
use crate::algorithm::MOST_ROBUST_MEMBERS;
use crate::settings::Scope;

const KEY: &str = "robust.tolerate";

/// Everything.
pub(super) fn check(reader: &Reader<'_>, config: &Config) -> Result<(), ConfigError> {
    let Some(tolerate) = config.tolerate else { return Ok(()) };
    let conflict = |(key, shown): (&'static str, &str), why: &str, hint: &str| {
        Err(ConfigError::Conflict {
            first: reader.pair(KEY, tolerate),
            second: reader.pair(key, shown),
            why: why.into(),
            hint: hint.into(),
            place: reader.place(KEY),
        })
    };
    let (nodes, privacy) = (config.nodes, &config.privacy);
    if !config.algorithm.kind.has_totals() {
        let why = "only `rounds` bring every contribution to every member";
        return conflict(
            ("algorithm.kind", config.algorithm.kind.name()),
            why,
            "use `algorithm.kind = \"rounds\"`",
        );
    }
    if privacy.masking == Masking::Pairwise {
        let why = "a rule must see the contributions that masks hide";
        let hint = "leave one of them out: masks hide more, `robust.tolerate` bears more";
        return conflict(("privacy.masking", "pairwise"), why, hint);
    }
    if privacy.target != Scope::Local {
        let why = "every member sees every contribution, and what a rule makes of them costs nothing more: the loss is that towards somebody who sees all";
        return conflict(
            ("privacy.target", "worst"),
            why,
            "use `privacy.target = \"local\"`, or leave it out",
        );
    }
    if 2 * tolerate >= nodes {
        let most = nodes.saturating_sub(1) / 2;
        let hint = format!("use at most {most}: more than half of the members must be honest");
        let hint = if most == 0 { "use at least 3 nodes, or leave it out".into() } else { hint };
        return conflict(("nodes", &nodes.to_string()), "liars would be as many as honest members", &hint);
    }
    if nodes > MOST_ROBUST_MEMBERS {
        let hint = format!("use at most {} nodes, or leave `{KEY}` out", MOST_ROBUST_MEMBERS);
        return conflict(("nodes", &nodes.to_string()), "every contribution goes to every member", &hint);
    }
    if let Some(sample) = config.algorithm.sample {
        let why = "running means need every member in every round";
        return conflict(("algorithm.sample", &sample.to_string()), why, "leave one of them out");
    }
    for (key, is_used) in [
        ("privacy.clip_quantile", privacy.clip_quantile.is_some()),
        ("clusters.slots", config.clusters.slots > 1),
        ("local.scaffold", config.local.scaffold),
    ] {
        if is_used {
            let why = "it reads a sum number by number, and the rule is about vectors that are alike";
            return conflict((key, ""), why, "leave one of them out");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{refused, with};
    use super::{Masking, Scope};

    #[test]
    fn a_rule_against_lies_needs_every_contribution_in_the_open() {
        let tolerate = "robust.tolerate=8";
        let config = with(&[tolerate]).unwrap();
        assert_eq!((config.tolerate, config.privacy.target), (Some(8), Scope::Local));
        for kind in ["gossip", "walk"] {
            refused(
                &[tolerate, &format!("algorithm.kind={kind}")],
                &[kind, "use `algorithm.kind = \"rounds\"`"],
            );
        }
        refused(
            &[tolerate, "privacy.masking=pairwise"],
            &["privacy.masking = \"pairwise\"", "leave one of them out"],
        );
        for target in ["worst", "mean"] {
            refused(
                &[tolerate, &format!("privacy.target={target}")],
                &[target, "sees every contribution", "\"local\""],
            );
        }
        refused(&["robust.tolerate=32"], &["robust.tolerate = 32", "nodes = 64", "at most 31"]);
        refused(&["robust.tolerate=1", "nodes=2"], &["nodes = 2", "at least 3"]);
        refused(&["robust.tolerate=1", "nodes=257"], &["nodes = 257", "at most 256"]);
        refused(&["robust.tolerate=0"], &["robust.tolerate = 0", "whole number from 1"]);
        refused(&[tolerate, "clusters.slots=3"], &["clusters.slots = 3"]);
        refused(&[tolerate, "algorithm.sample=9"], &["algorithm.sample = 9", "every round"]);
        // Masks that nobody asked for stay off, and comparisons are left alone.
        assert_eq!(with(&[tolerate, "privacy.masking=auto"]).unwrap().privacy.masking, Masking::Unsaid);
        assert_eq!(with(&[tolerate, "algorithm.kind=central"]).unwrap().tolerate, None);
    }
}

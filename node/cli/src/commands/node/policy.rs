//! What a node allows of itself, whatever the swarm file asks for.

use crate::failure::{Failure, Result};
use privacy::event::DpEvent;
use protocol::{Scope, Setup};
use std::sync::Arc;

/// Names of the keys, for the hint.
const KEYS: &str =
    "`budget.epsilon`, such as `--set budget.epsilon=2`, and `budget.scope` (worst, mean or local)";

/// The policy of one node.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Policy {
    epsilon: Option<f64>,
    /// Whose view the limit is about; that of the swarm's own target where nothing is said.
    scope: Option<Scope>,
}

impl Policy {
    /// Reads `KEY=VALUE` words.
    pub(super) fn parse(words: &[String]) -> Result<Self> {
        let mut policy = Self::default();
        for word in words {
            let wrong = |what: String| Failure::new(what).hint(format!("a node sets {KEYS}"));
            let (key, value) =
                word.split_once('=').ok_or_else(|| wrong(format!("`--set {word}` is no `KEY=VALUE`")))?;
            let value = value.trim().trim_matches('"');
            match key.trim() {
                "budget.epsilon" => {
                    let epsilon = value.parse().ok().filter(|epsilon: &f64| *epsilon > 0.0);
                    let wrong = || wrong(format!("`budget.epsilon` must be a positive number: `{value}`"));
                    policy.epsilon = Some(epsilon.ok_or_else(wrong)?);
                }
                "budget.scope" => {
                    policy.scope = Some(match value {
                        "worst" => Scope::Worst,
                        "mean" => Scope::Mean,
                        "local" => Scope::Local,
                        _ => return Err(wrong(format!("`budget.scope` cannot be `{value}`"))),
                    });
                }
                key => {
                    return Err(wrong(format!(
                        "`{key}` is not for one node to set: the swarm file holds what all share"
                    )));
                }
            }
        }
        if policy.scope.is_some() && policy.epsilon.is_none() {
            return Err(Failure::new("`budget.scope` without `budget.epsilon` limits nothing")
                .hint(format!("a node sets {KEYS}")));
        }
        Ok(policy)
    }

    /// The run with this node's limit in it.
    pub(super) fn apply(self, setup: Setup) -> Result<Setup> {
        let Some(epsilon) = self.epsilon else { return Ok(setup) };
        let scope = self.scope.unwrap_or(setup.config.privacy.target);
        let planned = match scope {
            Scope::Local => setup.planned.local,
            Scope::Worst => setup.planned.worst,
            Scope::Mean => setup.planned.mean,
        };
        let mut setup = setup.with_own_limit(epsilon, Some(scope))?;
        let note = priced(&setup.settings.release);
        if let Some(rule) = Arc::make_mut(&mut setup.settings).budget.last_mut() {
            rule.name.push_str(&note);
        }
        if planned > epsilon {
            tracing::warn!(
                "the swarm plans ε = {planned:.3} where this node allows {epsilon}: it will go on without adding anything once its own limit is spent"
            );
        }
        Ok(setup)
    }
}

/// How a contribution is priced, where the account may find less afterwards. The rate of the smallest member allowed bounds that of this node with whatever
/// data it comes back after a restart; its rate of today would not.
fn priced(release: &DpEvent) -> String {
    match release {
        DpEvent::PoissonSampled { rate, .. } => format!(
            " (a bound: each contribution counts as that of a node with `partition.min_size` records, of which it samples {rate:.3}, and in full until its round is settled)"
        ),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Policy> {
        Policy::parse(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_node_limits_itself_and_sets_nothing_else() {
        let policy = parse(&["budget.epsilon=1.5", "budget.scope=\"local\""]).unwrap();
        assert_eq!(policy, Policy { epsilon: Some(1.5), scope: Some(Scope::Local) });
        for (words, expected) in [
            (&["budget.epsilon=-1"][..], "positive number: `-1`"),
            (&["budget.epsilon=nan"], "positive number: `nan`"),
            (&["budget.scope=all", "budget.epsilon=1"], "cannot be `all`"),
            (&["budget.scope=local"], "limits nothing"),
            (&["rounds=5"], "`rounds` is not for one node to set"),
            (&["budget.epsilon"], "no `KEY=VALUE`"),
        ] {
            let text = parse(words).unwrap_err().to_string();
            assert!(text.contains(expected) && text.contains("hint:"), "{text}");
        }
    }

    #[test]
    fn a_limit_says_how_contributions_on_samples_are_priced() {
        let said = |words: &[&str]| {
            let layer = protocol::config::Layer::from_flags("--set", words).unwrap();
            let setup = Setup::new(protocol::config::Config::from_layers([layer]).unwrap()).unwrap();
            let setup = parse(&["budget.epsilon=1.9"]).unwrap().apply(setup).unwrap();
            setup.settings.budget.last().unwrap().name.clone()
        };
        let sampled = said(&["nodes=2", "rounds=100", "batch_size=16"]);
        assert!(sampled.contains("own limit (a bound:") && sampled.contains("min_size"), "{sampled}");
        let whole = said(&["nodes=2", "rounds=100", "batch_size=all"]);
        assert!(whole.ends_with("own limit"), "{whole}");
    }
}

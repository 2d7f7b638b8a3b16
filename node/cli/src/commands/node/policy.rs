//! What a node allows of itself, whatever the swarm file asks for.

use crate::failure::{Failure, Result};
use privacy::event::DpEvent;
use protocol::{Scope, Setup};
use std::sync::Arc;

/// Names of the keys, for the hint.
const KEYS: &str = "`budget.epsilon`, such as `--set budget.epsilon=2`, `budget.total_epsilon` over all runs on its data, and `budget.scope` (worst, mean or local)";

/// The policy of one node.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Policy {
    epsilon: Option<f64>,
    /// The same over all runs on this node's data.
    pub(super) total: Option<f64>,
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
                key @ ("budget.epsilon" | "budget.total_epsilon") => {
                    let epsilon = value.parse().ok().filter(|epsilon: &f64| *epsilon > 0.0);
                    let wrong = || wrong(format!("`{key}` must be a positive number: `{value}`"));
                    let limit = Some(epsilon.ok_or_else(wrong)?);
                    if key == "budget.epsilon" { policy.epsilon = limit } else { policy.total = limit }
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
        if policy.scope.is_some() && policy.epsilon.or(policy.total).is_none() {
            return Err(Failure::new("`budget.scope` without `budget.epsilon` limits nothing")
                .hint(format!("a node sets {KEYS}")));
        }
        Ok(policy)
    }

    /// Whose view the limits are about.
    pub(super) fn scope(&self, setup: &Setup) -> Scope {
        self.scope.unwrap_or(setup.config.privacy.target)
    }

    /// The most that this node can lose in a run, in the scope of its limits.
    ///
    /// # Guarantee
    /// The budget of a run holds whatever happens in it, towards whom its target names and towards fewer. What is planned is what an undisturbed run costs, and
    /// is no limit. Without a limit there is no bound: infinity.
    pub(super) fn at_most(&self, setup: &Setup) -> f64 {
        let privacy = &setup.config.privacy;
        let scope = self.scope(setup);
        let limit = privacy.epsilon.filter(|_| reach(scope) <= reach(privacy.target));
        let swarm = limit.map_or(f64::INFINITY, |limit| limit.max(planned(setup, scope)));
        self.epsilon.map_or(swarm, |own| own.min(swarm))
    }

    /// The run with this node's limit in it.
    pub(super) fn apply(self, setup: Setup) -> Result<Setup> {
        let Some(epsilon) = self.epsilon else { return Ok(setup) };
        let scope = self.scope(&setup);
        let planned = planned(&setup, scope);
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

/// Towards how many a scope speaks: what holds towards more holds towards fewer.
fn reach(scope: Scope) -> u8 {
    match scope {
        Scope::Mean => 0,
        Scope::Worst => 1,
        Scope::Local => 2,
    }
}

fn planned(setup: &Setup, scope: Scope) -> f64 {
    match scope {
        Scope::Local => setup.planned.local,
        Scope::Worst => setup.planned.coalition.map_or(setup.planned.worst, |(_, epsilon)| epsilon),
        Scope::Mean => setup.planned.mean,
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
        assert_eq!(policy, Policy { epsilon: Some(1.5), total: None, scope: Some(Scope::Local) });
        for (words, expected) in [
            (&["budget.epsilon=-1"][..], "positive number: `-1`"),
            (&["budget.epsilon=nan"], "positive number: `nan`"),
            (&["budget.total_epsilon=0"], "`budget.total_epsilon` must be a positive number: `0`"),
            (&["budget.scope=all", "budget.epsilon=1"], "cannot be `all`"),
            (&["budget.scope=local"], "limits nothing"),
            (&["rounds=5"], "`rounds` is not for one node to set"),
            (&["budget.epsilon"], "no `KEY=VALUE`"),
        ] {
            let text = parse(words).unwrap_err().to_string();
            assert!(text.contains(expected) && text.contains("hint:"), "{text}");
        }
    }

    /// A run disturbed by faults costs up to its budget, and up to anything towards those that the budget does not speak of.
    #[test]
    fn a_run_may_cost_its_limit_and_without_one_anything() {
        let most = |settings: &[&str], words: &[&str]| {
            let layer = protocol::config::Layer::from_flags("--set", settings).unwrap();
            let setup = Setup::new(protocol::config::Config::from_layers([layer]).unwrap()).unwrap();
            parse(words).unwrap().at_most(&setup)
        };
        let limited = ["nodes=4", "rounds=20", "privacy.epsilon=2"];
        assert_eq!(most(&limited, &[]), 2.0);
        assert_eq!(most(&limited, &["budget.total_epsilon=9", "budget.scope=mean"]), 2.0);
        assert_eq!(most(&limited, &["budget.total_epsilon=9", "budget.scope=local"]), f64::INFINITY);
        assert_eq!(most(&limited, &["budget.epsilon=1", "budget.scope=local"]), 1.0);
        assert_eq!(most(&["nodes=4", "rounds=20", "privacy.noise_multiplier=5"], &[]), f64::INFINITY);
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

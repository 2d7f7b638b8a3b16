//! `[questions]`: what a node allows others to ask, whatever they want to know.
//!
//! Nothing here depends on the records: a reason that did would be an answer.

use std::collections::BTreeSet;

use libp2p::PeerId;
use privacy::accountant::Accountant;
use privacy::event::DpEvent;
use privacy::gdp;
use privacy::number::{Precision, up};
use privacy::pld::PldAccountant;
use protocol::work::Adjacency;
use protocol::work::question::Ask;
use questions::noise::{Trust, Unit};

use super::Entry;

/// Fewest contributors where nothing is said; in a smaller swarm all of its members.
const CONTRIBUTORS: usize = 5;
/// With fewer nobody is hidden.
const LEAST: usize = 3;

/// The rules of one node.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// `questions.from`: who may ask; every member where it is `None`.
    pub from: Option<BTreeSet<PeerId>>,
    /// `questions.epsilon`: the most that one question may cost.
    pub epsilon: f64,
    /// `questions.total`: the most that all questions may cost together.
    pub total: f64,
    /// `questions.min_contributors`: with fewer that agree to add records, this node adds none; 5, or all of a smaller swarm, where it is `None`.
    pub min_contributors: Option<usize>,
    /// `questions.max_records`: the most records that this node contributes to a question at node level; none where it is `None`.
    pub max_records: Option<u64>,
}

impl Default for Rules {
    fn default() -> Self {
        Self { from: None, epsilon: 1.0, total: 4.0, min_contributors: None, max_records: None }
    }
}

/// What all members of a swarm agreed on, by its file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreed {
    /// What is protected.
    pub unit: Adjacency,
    /// `privacy.delta`: how often the guarantee of a question may fail at most.
    pub delta: f64,
}

/// Why a node adds nothing to a question. It is told to the others.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Decline {
    /// Somebody who may not ask.
    #[error("`questions.from` does not name the member that asks")]
    From,
    /// A number that is no price.
    #[error("ε = {epsilon} at δ = {delta} is no price")]
    Price {
        /// ε.
        epsilon: f64,
        /// δ.
        delta: f64,
    },
    /// A guarantee that fails more often than the members agreed on: with a δ of one half everything may be told at ε = 1.
    #[error("δ = {asked} is over `privacy.delta` = {limit} of this swarm")]
    Delta {
        /// What is asked for.
        asked: f64,
        /// What the members agreed on.
        limit: f64,
    },
    /// Dearer than one question may be.
    #[error("ε = {asked} is over the rule `questions.epsilon` = {limit}")]
    Epsilon {
        /// What is asked for.
        asked: f64,
        /// The rule.
        limit: f64,
    },
    /// Dearer than what is left.
    #[error("ε = {asked} with what was spent before is over the rule `questions.total` = {limit}")]
    Total {
        /// What is asked for.
        asked: f64,
        /// The rule.
        limit: f64,
    },
    /// Less is protected than in this swarm.
    #[error("the question protects {asked}, this swarm one {needed}")]
    Unit {
        /// What the question protects.
        asked: String,
        /// What the swarm protects.
        needed: &'static str,
    },
    /// Node level, and nobody said how much a node may add.
    #[error("a question at node level needs `questions.max_records` of this node to be at least {asked}")]
    MaxRecords {
        /// The most records that the question takes from a node.
        asked: u64,
    },
}

impl Rules {
    /// Whether records may be added to a question of `asker`, after what the book says was told before.
    ///
    /// # Guarantee
    /// All questions that a node agreed to cost at most `questions.total` together at the δ of the dearest one: μ² adds up, and responses compose by their
    /// privacy-loss distribution. The decision is a function of rules, question and book only.
    ///
    /// # Errors
    /// The rule that forbids it.
    pub fn allow(
        &self,
        (asker, ask, pure): (&PeerId, &Ask, bool),
        before: &[Entry],
        agreed: Agreed,
    ) -> Result<(), Decline> {
        let (epsilon, delta) = (ask.epsilon, ask.delta);
        if self.from.as_ref().is_some_and(|from| !from.contains(asker)) {
            return Err(Decline::From);
        }
        gdp::mu(epsilon, delta).map_err(|_| Decline::Price { epsilon, delta })?;
        if delta > agreed.delta {
            return Err(Decline::Delta { asked: delta, limit: agreed.delta });
        }
        if epsilon > self.epsilon {
            return Err(Decline::Epsilon { asked: epsilon, limit: self.epsilon });
        }
        if !covers(ask.unit, agreed.unit) {
            return Err(Decline::Unit { asked: ask.unit.words(), needed: agreed.unit.word() });
        }
        // Where nobody is trusted a member is one person with one record.
        if let Unit::Node { max_records: asked } = ask.unit
            && (ask.trust != Trust::Local || asked > 1)
            && self.max_records.is_none_or(|own| own < asked)
        {
            return Err(Decline::MaxRecords { asked });
        }
        let own = Price { epsilon, delta, pure };
        if together(before.iter().map(Price::of).chain([own]), delta) <= self.total {
            Ok(())
        } else {
            Err(Decline::Total { asked: epsilon, limit: self.total })
        }
    }

    /// How many members of so many must agree before this one adds records.
    pub fn least(&self, members: usize) -> usize {
        self.min_contributors.unwrap_or(CONTRIBUTORS.min(members)).max(LEAST)
    }

    /// ε that is left of the total after what the book says, rounded down.
    pub fn left(&self, before: &[Entry], delta: f64) -> f64 {
        let spent = together(before.iter().map(Price::of), delta);
        let spent: f64 = up(spent, Precision::Digits(4)).parse().unwrap_or(f64::INFINITY);
        (self.total - spent).max(0.0)
    }
}

/// What one question costs.
#[derive(Debug, Clone, Copy)]
struct Price {
    epsilon: f64,
    delta: f64,
    pure: bool,
}

impl Price {
    fn of(entry: &Entry) -> Self {
        Self { epsilon: entry.epsilon, delta: entry.delta, pure: entry.pure }
    }
}

/// ε of several questions at one δ: μ² of Gaussians adds up, and what is pure composes by privacy-loss distributions. Whatever has no price costs everything.
///
/// # Guarantee
/// Rounded up.
///
/// # Assumes
/// Each was a Gaussian release of exactly its (ε, δ), or ε-differentially private where it says so.
fn together(prices: impl Iterator<Item = Price>, delta: f64) -> f64 {
    let prices: Vec<Price> = prices.collect();
    match prices.as_slice() {
        [] => return 0.0,
        // One question by itself costs its ε to the last digit.
        [one] if one.pure || one.delta <= delta => return one.epsilon,
        _ => {}
    }
    let composed = || -> Option<f64> {
        let mut squares = 0.0;
        let mut all = PldAccountant::default();
        for price in &prices {
            if price.pure {
                all.compose(&DpEvent::PureDp { epsilon: price.epsilon }, 1).ok()?;
            } else {
                squares += gdp::mu(price.epsilon, price.delta).ok()?.powi(2);
            }
        }
        if squares > 0.0 {
            let noise_multiplier = (1.0 / squares.sqrt().next_up()).next_down();
            all.compose(&DpEvent::Gaussian { noise_multiplier }, 1).ok()?;
        }
        all.epsilon(delta).ok()
    };
    composed().map_or(f64::INFINITY, f64::next_up)
}

/// Whether a unit protects no less than what the members agreed on.
fn covers(unit: Unit, protected: Adjacency) -> bool {
    match (unit, protected) {
        (Unit::Node { .. }, _) | (Unit::Person, Adjacency::Person) => true,
        (Unit::Record | Unit::ReplacedRecord, Adjacency::Record) => true,
        // Without one of its records another one may stand for a person: a record replaced, which costs √2 of a person that is there or not.
        (Unit::Person, Adjacency::Record) => false,
        (Unit::Person | Unit::Record | Unit::ReplacedRecord, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(epsilon: f64, unit: Unit) -> Ask {
        Ask {
            question: "SELECT count(*) FROM swarm".into(),
            epsilon,
            delta: 1e-5,
            unit,
            records: 100,
            trust: Trust::Masked,
            model: None,
        }
    }

    fn told(epsilon: f64) -> Entry {
        Entry { epsilon, delta: 1e-5, ..Entry::default() }
    }

    #[test]
    fn each_rule_declines_by_its_name_and_what_it_does_not_forbid_is_allowed() {
        let (asker, other) = (PeerId::random(), PeerId::random());
        let rules = Rules { epsilon: 1.0, total: 2.0, max_records: Some(50), ..Rules::default() };
        let says = |rules: &Rules, ask: &Ask, before: &[Entry], unit| {
            let agreed = Agreed { unit, delta: 1e-5 };
            rules.allow((&asker, ask, false), before, agreed).err().map(|decline| decline.to_string())
        };
        let record = Adjacency::Record;
        assert_eq!(says(&rules, &ask(1.0, Unit::Record), &[], record), None);
        let chosen = Rules { from: Some([other].into()), ..rules.clone() };
        for (rules, ask, before, protected, expected) in [
            (&chosen, ask(0.5, Unit::Record), vec![], record, "questions.from"),
            (&rules, ask(1.5, Unit::Record), vec![], record, "questions.epsilon"),
            (&rules, ask(f64::NAN, Unit::Record), vec![], record, "no price"),
            (&rules, ask(1.0, Unit::Record), vec![told(1.0); 4], record, "questions.total"),
            (&rules, ask(1.0, Unit::Record), vec![told(f64::INFINITY)], record, "questions.total"),
            (&rules, ask(1.0, Unit::Record), vec![], Adjacency::Person, "this swarm one person"),
            (&rules, ask(1.0, Unit::Person), vec![], record, "this swarm one record"),
            (
                &rules,
                Ask { delta: 2e-5, ..ask(1.0, Unit::Record) },
                vec![],
                record,
                "`privacy.delta` = 0.00001",
            ),
            (&rules, Ask { delta: 0.999, ..ask(1.0, Unit::Record) }, vec![], record, "`privacy.delta`"),
            (
                &rules,
                ask(1.0, Unit::Node { max_records: 51 }),
                vec![],
                Adjacency::Node,
                "questions.max_records",
            ),
        ] {
            let said = says(rules, &ask, &before, protected).unwrap_or_default();
            assert!(said.contains(expected), "{said:?} without {expected}");
        }
        assert_eq!(says(&rules, &ask(1.0, Unit::Node { max_records: 50 }), &[], Adjacency::Node), None);
    }

    /// μ adds up in squares: k questions of ε = 1 are one of μ₁√k. Values of δ(ε) of the Gaussian (Balle and Wang 2018), computed in mpmath.
    #[test]
    fn several_questions_cost_less_than_the_sum_and_more_than_one() {
        let cost = |count: usize| {
            together(std::iter::repeat_n(Price { epsilon: 1.0, delta: 1e-5, pure: false }, count), 1e-5)
        };
        assert_eq!((cost(0), cost(1)), (0.0, 1.0));
        assert!(cost(2) > 1.4 && cost(2) < 1.6, "{}", cost(2));
        assert!(cost(4) > 2.0 && cost(4) < 2.4, "{}", cost(4));
        assert!((1..12).all(|count| cost(count) < cost(count + 1)));
    }

    /// Two responses of ε = 1 cost more than one and no more than 2 (basic composition); beside a Gaussian more than either.
    #[test]
    fn responses_compose_with_sums_and_cost_no_more_than_basic_composition_says() {
        let (pure, sum) = (
            Price { epsilon: 1.0, delta: 0.0, pure: true },
            Price { epsilon: 1.0, delta: 1e-5, pure: false },
        );
        let cost = |prices: &[Price]| together(prices.iter().copied(), 1e-5);
        assert_eq!(cost(&[pure]), 1.0);
        // Exactly: δ of two responses at ε: P(both true) ≥ …, 2 but for a δ that 1e-5 is far below.
        assert!((1.99..=2.01).contains(&cost(&[pure, pure])), "{}", cost(&[pure, pure]));
        let mixed = cost(&[pure, sum]);
        assert!(mixed > 1.5 && mixed <= 2.01, "{mixed}");
        assert_eq!(cost(&[Price { epsilon: f64::INFINITY, ..pure }, sum]), f64::INFINITY);
    }

    #[test]
    fn five_contributors_are_needed_or_all_of_a_smaller_swarm_and_never_fewer_than_three() {
        let least = |own, members| Rules { min_contributors: own, ..Rules::default() }.least(members);
        assert_eq!([least(None, 64), least(None, 5), least(None, 4), least(None, 2)], [5, 5, 4, 3]);
        assert_eq!([least(Some(7), 64), least(Some(1), 64)], [7, 3]);
    }
}

//! The searches, and rules that are left out to see that they are missed.

use std::collections::BTreeSet;
use std::time::Duration;

use stateright::{Checker, Expectation, HasDiscoveries, Model as _};

use super::super::super::flaw::Flaw;
use super::super::Dice;
use super::{Step, Swarm};
use crate::PeerIx;

/// How far a search goes: the fewest steps first.
#[derive(Clone, Copy)]
enum Bound {
    /// So many steps.
    Steps(usize),
    /// All that there are, unless that takes longer than `MURMUR_SEARCH_SECONDS`: it says whether it came to the end.
    All,
}

/// For how long a search of all states goes on.
fn patience() -> Duration {
    let seconds = std::env::var("MURMUR_SEARCH_SECONDS").map_or(540, |text| text.parse().expect("a number"));
    Duration::from_secs(seconds)
}

/// What the checker found, by the name of the property.
#[expect(clippy::disallowed_types, reason = "whether the checker's time ran out is asked, nothing else")]
fn check(swarm: Swarm, most: Bound) -> Vec<&'static str> {
    let (checker, start) = (swarm.checker().threads(1), std::time::Instant::now());
    let checker = checker.finish_when(HasDiscoveries::AnyFailures);
    let checker = match most {
        Bound::Steps(most) => checker.target_state_count(most),
        Bound::All => checker.timeout(patience()),
    };
    let checker = checker.spawn_bfs().join();
    let (states, steps, depth) = (checker.unique_state_count(), checker.state_count(), checker.max_depth());
    let all = matches!(most, Bound::All) && start.elapsed() < patience();
    println!(
        "{states} states by {steps} steps, depth {depth}, {}",
        if all { "all of them" } else { "bounded" }
    );
    let mut found: Vec<_> = checker.discoveries().into_iter().collect();
    found.sort_by_key(|(name, _)| *name);
    for (name, path) in &found {
        if !name.starts_with("decided") {
            println!("{name}:\n{:#?}", path.clone().into_actions());
        }
    }
    found.into_iter().map(|(name, _)| name).collect()
}

/// Four members, the last of them hostile; `first` proposes in view 1.
fn byzantine(first: PeerIx) -> Swarm {
    Swarm::new(4, 1, Some(3), first)
}

fn assert_holds(swarm: Swarm, most: Bound) {
    let found = check(swarm, most);
    let broken: Vec<_> = found.iter().filter(|name| !name.starts_with("decided")).collect();
    assert!(broken.is_empty(), "{broken:?}");
}

#[test]
fn four_members_with_a_hostile_one_honest_proposer_first() {
    assert_holds(byzantine(2), Bound::Steps(60_000));
}

#[test]
fn four_members_with_a_hostile_one_hostile_proposer_first() {
    assert_holds(byzantine(3), Bound::Steps(60_000));
}

#[test]
fn three_members_of_whom_one_crashes_and_one_restarts() {
    let swarm = Swarm { crashes: 1, restarts: 1, ..Swarm::new(3, 0, None, 0) };
    assert_holds(swarm, Bound::Steps(60_000));
}

#[test]
#[ignore = "minutes"]
fn three_members_of_whom_one_crashes_and_one_restarts_in_every_order_of_events() {
    assert_holds(Swarm { crashes: 1, restarts: 1, sample: 4096, ..Swarm::new(3, 0, None, 0) }, Bound::All);
}

/// Everybody hears everybody before its first turn, and the stories of the hostile member in turn; then everything that can happen in two views.
#[test]
#[ignore = "minutes"]
fn four_members_with_a_hostile_one_in_every_order_of_events_after_all_were_heard() {
    let after = Swarm { narrow: true, sample: 4096, script: &[Step::All], ..byzantine(2) };
    assert_holds(after, Bound::All);
}

#[test]
#[ignore = "minutes"]
fn four_members_with_a_hostile_one_that_proposes_first_in_every_order_of_events_after_all_were_heard() {
    let after = Swarm { narrow: true, sample: 4096, script: &[Step::All], ..byzantine(3) };
    assert_holds(after, Bound::All);
}

/// Everything that can happen in two views.
#[test]
#[ignore = "minutes"]
fn four_members_with_a_hostile_one_in_every_order_of_events() {
    assert_holds(Swarm { sample: 4096, ..byzantine(2) }, Bound::All);
}

#[test]
#[ignore = "minutes"]
fn four_members_with_a_hostile_one_that_proposes_first_in_every_order_of_events() {
    assert_holds(Swarm { sample: 4096, ..byzantine(3) }, Bound::All);
}

#[test]
#[ignore = "minutes"]
fn four_members_with_a_hostile_one_in_three_views() {
    assert_holds(Swarm { last_view: 3, narrow: true, sample: 4096, ..byzantine(3) }, Bound::All);
}

/// Far deeper than a search of all orders gets: walks at random through three views, with a restart.
#[test]
fn random_walks_through_three_views_find_nothing() {
    for first in 0..4 {
        let swarm = Swarm { last_view: 3, restarts: 1, sample: u64::MAX, ..byzantine(first) };
        let (found, states) = wander(&swarm, "nothing", 3_000);
        assert!(found.is_empty(), "{found:?} in {states} states");
    }
}

/// The same, a hundred times as many.
#[test]
#[ignore = "minutes"]
fn many_random_walks_through_three_views_find_nothing() {
    for first in 0..4 {
        let swarm = Swarm { last_view: 3, restarts: 1, sample: 4096, ..byzantine(first) };
        let (found, states) = wander(&swarm, "nothing", 300_000);
        println!("first proposer {first}: {states} states");
        assert!(found.is_empty(), "{found:?} in {states} states");
    }
}

/// A rule, who proposes first where leaving it out does harm, what has happened before, and what is broken then.
type Rule = (Flaw, PeerIx, &'static [Step], &'static str);

/// Each rule with the shortest way that leads to where it is needed. What follows is tried at random. Two more rules, of old disks and of standings that are
/// named, have their directed cases beside those.
const RULES: &[Rule] = &[
    (Flaw::OneHolder, 2, &[], "validity"),
    (Flaw::VotesTwice, 3, &[Step::All], "one lock per view"),
    (Flaw::SmallQuorum, 3, &[Step::All], "agreement"),
    (Flaw::NoHeardRule, 3, &[Step::All], "no wrong expulsion"),
    // 0 has committed too, so that it is decided, and 1 knows nothing of it: 0 and 1 turn.
    (
        Flaw::IgnoresLocks,
        2,
        &[
            Step::All,
            Step::Enter(2, 0b111),
            Step::Enter(0, 0b111),
            Step::Vote(0),
            Step::Enter(1, 0b111),
            Step::Commit(2),
            Step::Commit(0),
            Step::Turn(0),
            Step::Turn(1),
        ],
        "agreement",
    ),
    (
        Flaw::TurnWithoutLock,
        2,
        &[
            Step::All,
            Step::Enter(2, 0b111),
            Step::Enter(0, 0b111),
            Step::Vote(0),
            Step::Enter(1, 0b111),
            Step::Commit(2),
            Step::Commit(0),
            Step::Turn(0),
            Step::Turn(1),
        ],
        "agreement",
    ),
    // 0 and 1 turn without having heard of the lock.
    (
        Flaw::ActsAfterTurn,
        2,
        &[
            Step::All,
            Step::Enter(2, 0b111),
            Step::Enter(0, 0b111),
            Step::Vote(0),
            Step::Enter(1, 0b111),
            Step::Turn(0),
            Step::Turn(1),
            Step::Commit(2),
        ],
        "agreement",
    ),
    // It is decided, and 0 starts again.
    (
        Flaw::Amnesia,
        2,
        &[
            Step::All,
            Step::Enter(2, 0b111),
            Step::Enter(0, 0b111),
            Step::Vote(0),
            Step::Enter(1, 0b111),
            Step::Commit(2),
            Step::Commit(0),
            Step::Restart(0),
            Step::Turn(0),
            Step::Turn(1),
        ],
        "agreement",
    ),
];

/// Walks from the end of a script are random, up to this many steps each.
const WALK: usize = 30;
/// So many states are seen in all, if nothing is found.
const MOST: usize = 150_000;
/// And at least so many with all rules in place, to see that nothing is found there.
const LEAST: usize = 2_000;

/// What random walks from a script on find, until they find what is `wanted`; and how many states they saw.
fn wander(swarm: &Swarm, wanted: &str, most: usize) -> (BTreeSet<&'static str>, usize) {
    let (mut dice, mut found, mut states) = (Dice(17), BTreeSet::new(), 0);
    let start = swarm.init_states().remove(0);
    let properties = swarm.properties();
    while states < most {
        let mut state = start.clone();
        for _ in 0..WALK {
            let mut actions = Vec::new();
            swarm.actions(&state, &mut actions);
            if actions.is_empty() {
                break;
            }
            let action = actions.swap_remove(dice.below(actions.len()));
            states += 1;
            let Some(next) = swarm.next_state(&state, action) else { continue };
            state = next;
            let always = properties.iter().filter(|property| property.expectation == Expectation::Always);
            found.extend(always.filter(|p| !(p.condition)(swarm, &state)).map(|property| property.name));
            if found.contains(wanted) {
                return (found, states);
            }
        }
    }
    (found, states)
}

#[test]
fn every_rule_that_is_left_out_is_missed_and_nothing_else_is_wrong_there() {
    let mut wrong = Vec::new();
    for &(flaw, first, script, property) in RULES {
        let restarts = u8::from(flaw == Flaw::Amnesia);
        let swarm =
            |flaw| Swarm { flaw, restarts, narrow: true, script, sample: u64::MAX, ..byzantine(first) };
        let (found, states) = wander(&swarm(Some(flaw)), property, MOST);
        let (with_rule, all) = wander(&swarm(None), property, states.clamp(LEAST, MOST / 10));
        println!("{flaw:?}: {found:?} after {states} states; {with_rule:?} with the rule, in {all}");
        if !found.contains(property) || !with_rule.is_empty() {
            wrong.push((flaw, found, with_rule));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

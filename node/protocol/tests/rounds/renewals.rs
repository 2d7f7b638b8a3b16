//! Renewed runs: members go and join, and what was spent stays spent.

use std::collections::{BTreeMap, BTreeSet};

use protocol::account::{Account, Shape};
use protocol::agreement::danger::Liar;
use protocol::agreement::{Certificate, Charter, Credentials, Ed25519, Fingerprint, Renewal, Terms};
use protocol::{Disk, LogLine};

use super::*;

/// What was left of a part of a run: who holds what, and what proves the last decision.
struct Part {
    swarm: Swarm,
    charter: Charter,
    certificate: Certificate,
}

/// Four members, of whom the last dies when `rounds` are done; then all stop.
fn first_part(settings: Settings, rounds: usize) -> Part {
    let charter = Liar::new(&settings, 0).charter().clone();
    let mut swarm = Swarm::new(settings);
    let done = |swarm: &Swarm| swarm.count(|event| matches!(event, RunEvent::RoundDone { .. }));
    while done(&swarm) < 4 * rounds {
        swarm.run_until(swarm.now + 1_000);
    }
    swarm.crash(3);
    while swarm.count(|event| matches!(event, RunEvent::Roster { members, .. } if members.len() == 3)) < 3 {
        swarm.run_until(swarm.now + 10_000);
    }
    let before = done(&swarm);
    while done(&swarm) < before + 3 * 6 {
        swarm.run_until(swarm.now + 1_000);
    }
    let certificate = swarm.nodes[0].as_ref().unwrap().certificate().unwrap().clone();
    Part { swarm, charter, certificate }
}

fn round(part: &Part) -> u32 {
    part.swarm.saved.iter().flatten().map(|saved| saved.round).max().unwrap()
}

/// The same run without member 3, with a new one at place 4 and so many rounds.
fn renewed(part: &Part, rounds: u32) -> Swarm {
    let old = &part.swarm.settings;
    let five = Settings { nodes: 5, ..(**old).clone() };
    let new_key = Liar::new(&five, 4).charter().terms().roster[4];
    let change = Renewal {
        gone: BTreeSet::from([3]),
        joined: vec![new_key],
        hostile: 1,
        rounds,
        next_round: round(part) + 2,
        digest: Fingerprint([7; 32]),
    };
    let anybody = Ed25519::of_roster(&part.charter.terms().roster).unwrap();
    let terms = Terms::renewed((&part.charter, &anybody), &part.certificate, &change).unwrap();
    let (silence, resend) = (old.timeouts.silence, old.timeouts.resend);
    let charter = Arc::new(Charter::new(terms, silence, resend).unwrap());
    let settings = Settings { run: RunId(8), rounds, ..five };
    let mut swarm = Swarm::new(settings.clone());
    for place in 0..5_usize {
        // Keys follow from the name of the run as it was founded.
        let named = Settings { run: old.run, ..settings.clone() };
        let credentials = Credentials::danger_from_seed(&named, &charter, place as PeerIx);
        let node = Node::new(place as PeerIx, swarm.settings.clone(), None).with_credentials(credentials);
        swarm.nodes[place] = match part.swarm.saved.get(place).cloned().flatten() {
            _ if place == 3 => None,
            Some(saved) => {
                let records = part.swarm.records[place];
                swarm.records[place] = records;
                Some(node.with_disk(Disk::Sure).restored(&Snapshot { agreement: None, ..saved }, records))
            }
            None => Some(node),
        };
    }
    swarm
}

fn released(swarm: &Swarm) -> BTreeMap<PeerIx, Vec<u32>> {
    let mut rounds: BTreeMap<PeerIx, Vec<u32>> = BTreeMap::new();
    for (node, event) in &swarm.log {
        if let RunEvent::Released { round, .. } = event {
            rounds.entry(*node).or_default().push(*round);
        }
    }
    rounds
}

#[test]
fn the_run_goes_on_from_the_model_that_all_held_and_no_number_is_used_twice() {
    let part = first_part(settings(4, 60), 12);
    let at = round(&part);
    assert!(at > 5 && at < 55, "in the middle of it: {at}");
    let last = part.swarm.log.iter().rev().find_map(|(_, event)| match event {
        RunEvent::RoundDone { end, .. } => Some(*end),
        _ => None,
    });
    let mut swarm = renewed(&part, 60);
    swarm.run();
    swarm.assert_all_done_and_equal([0, 1, 2, 4].into_iter());
    let first = swarm.log.iter().find_map(|(_, event)| match event {
        RunEvent::RoundDone { start, round, .. } => Some((*start, *round)),
        _ => None,
    });
    assert_eq!(first.map(|(start, _)| start), last, "nothing was rolled back");
    assert!(first.is_some_and(|(_, round)| round >= at + 2));
    let (before, after) = (released(&part.swarm), released(&swarm));
    for node in [0, 1, 2] {
        let mut all: Vec<u32> = before[&node].iter().chain(&after[&node]).copied().collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count, "node {node} contributed twice to a round");
    }
    assert!(after[&4].len() > 10, "the new member contributes from its first round: {:?}", after[&4]);
    assert!(!after.contains_key(&3));
}

/// A budget of twenty contributions, towards everybody, over both parts: more rounds do not stretch it.
#[test]
fn what_was_spent_stays_spent_and_more_rounds_are_refused_data() {
    let mut settings = settings(4, 60);
    let price = Price::Gaussian { noise_multiplier: 1.0 };
    let rule = |scope| BudgetRule { scope, limit: 30.0, price: price.clone(), name: "all".into() };
    settings.budget = vec![rule(Scope::Local), rule(Scope::Worst)];
    let part = first_part(settings, 12);
    let spent = part.swarm.saved[0].as_ref().unwrap().spent.clone();
    let mut swarm = renewed(&part, 200);
    swarm.run();
    swarm.assert_all_done_and_equal([0, 1, 2, 4].into_iter());
    let (before, after) = (released(&part.swarm), released(&swarm));
    for node in [0, 1, 2] {
        let all = before[&node].len() + after[&node].len();
        assert!(all <= 30, "node {node}: {all} contributions of 30");
        assert!(all > 25, "node {node}: {all} contributions, the budget is used");
    }
    assert!(after[&4].len() <= 30 && after[&4].len() > 25, "{:?}", after[&4].len());
    assert!(swarm.count(|event| matches!(event, RunEvent::Refused { .. })) > 300);
    // Towards whoever joined, as much was spent as towards whoever learnt most.
    let now = &swarm.saved[0].as_ref().unwrap().spent;
    let most = spent[1].iter().copied().fold(0.0, f64::max);
    assert!(now[1].len() == 5 && now[1][4] >= most && most > 1.0, "{now:?} after {spent:?}");
}

/// The account of both parts together, from the lines of all: every contribution is in it, and towards the member that joined later too.
#[test]
fn one_account_prices_both_parts() {
    let part = first_part(settings(4, 60), 12);
    let mut swarm = renewed(&part, 60);
    swarm.run();
    let shape = Shape::new(&part.swarm.settings, protocol::work::Adjacency::Node, 1e-5);
    let mut shape = shape.renewed(5, 60);
    shape.release = DpEvent::Gaussian { noise_multiplier: 20.0 };
    let mut account = Account::new(shape).unwrap();
    for (node, event) in part.swarm.log.iter().chain(&swarm.log) {
        let event = match event.clone() {
            RunEvent::Released { round, .. } => {
                RunEvent::Released { round, token: 0, generation: 0, release: None, among: None, loss: None }
            }
            other => other,
        };
        account.push(&LogLine { time: Time(0), node: Some(*node), event });
    }
    account.settle_final();
    let total: usize =
        [&part.swarm, &swarm].iter().flat_map(|part| released(part).into_values()).map(|all| all.len()).sum();
    assert_eq!(account.summary().releases, total as u64);
    // By theory: whoever sees nothing but models learns 1/(m·σ²) of a contribution in each round of m members.
    let first = released(&part.swarm)[&0].len() as f64;
    let (joined, everybody) = (account.mu2(0, 4), account.mu2(0, 1));
    let least = first / 4.0 / 400.0;
    assert!(joined >= least, "{joined}: who joins learns of {first} earlier contributions, at least {least}");
    assert!(everybody > 0.0 && joined <= everybody * 1.5, "{joined} and {everybody}");
}

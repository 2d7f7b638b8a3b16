use super::super::Account;
use super::*;
use crate::WalkSettings;

const Z: f64 = 4.0;

fn held(node: usize, hop: u32, generation: u32) -> LogLine {
    line(node, RunEvent::Held { token: 0, hop, generation, from: 0 })
}

fn added(node: usize, hop: u32, generation: u32) -> LogLine {
    line(node, RunEvent::Released { round: hop, token: 0, generation, release: None, loss: None })
}

fn account(rho: Option<f64>, lines: &[LogLine]) -> Account {
    let kernel = Arc::new(topology::MixingMatrix::identity(4));
    let walk = Algorithm::Walk(WalkSettings { kernel, starts: vec![0] });
    let mut account = Account::new(shape(4, 8, walk, gaussian(Z)).with_rho(rho)).unwrap();
    lines.iter().for_each(|line| account.push(line));
    account
}

/// Holders in order, with whether each contributed.
fn path(visits: &[(usize, bool)], first: u32, generation: u32) -> Vec<LogLine> {
    let one = |(at, &(node, adds)): (usize, &(usize, bool))| {
        let hop = first + at as u32;
        let mut lines = vec![held(node, hop, generation)];
        lines.extend(adds.then(|| added(node, hop, generation)));
        lines
    };
    visits.iter().enumerate().flat_map(one).collect()
}

fn close(found: f64, expected: f64) -> bool {
    (found * Z * Z - expected).abs() < 1e-7
}

#[test]
fn one_visit_k_steps_before_the_look_costs_one_over_k() {
    let lines = path(&[(0, true), (1, true), (2, true), (3, true), (0, true)], 0, 0);
    let mut account = account(Some(1.0), &lines);
    assert!(
        close(account.mu2(1, 0), 1.0 / 3.0) && close(account.mu2(2, 0), 0.5) && close(account.mu2(3, 0), 1.0)
    );
    // Nobody saw the token after node 0 added to it the last time, but node 1 did after the first.
    assert!(close(account.mu2(0, 1), 1.0));
    assert_eq!(account.summary().mean.analysis, "walk");
}

#[test]
fn a_holder_that_adds_nothing_hides_nothing() {
    let lines = path(&[(0, true), (1, true), (2, false), (3, false), (0, false)], 0, 0);
    let mut account = account(Some(1.0), &lines);
    assert!(close(account.mu2(1, 0), 1.0));
    assert_eq!(account.mu2(2, 0), 0.0);
    assert!(close(account.mu2(1, 2), 1.0) && close(account.mu2(1, 3), 1.0));
}

#[test]
fn a_token_that_was_started_again_costs_the_sum_over_its_branches() {
    // 0 1 2 then lost on the way; node 1 starts it again after its own hop: 0 1 | 3 0.
    let mut lines = path(&[(0, true), (1, true), (2, true), (0, true)], 0, 0);
    lines.push(line(1, RunEvent::TokenRestarted { token: 0, hop: 2, generation: 1 }));
    lines.extend(path(&[(3, true), (0, true)], 2, 1));
    let mut account = account(Some(1.0), &lines);
    // Node 1 is seen by node 0 two steps later in both branches.
    assert!(close(account.mu2(1, 0), 1.0), "{}", account.mu2(1, 0) * Z * Z);
    assert!(close(account.mu2(2, 0), 1.0) && close(account.mu2(3, 0), 1.0));
    // Never above local: node 1 contributed once.
    assert!(account.epsilon(1, 0) <= account.summary().local.epsilon);
}

#[test]
fn whoever_a_token_was_offered_to_has_seen_it() {
    // Node 2 got the token from node 1 and says nothing: it had seen a later generation.
    let mut lines = path(&[(0, true), (1, true)], 0, 0);
    let mut silent = account(Some(1.0), &lines);
    assert_eq!(silent.mu2(1, 2), 0.0);
    lines.push(line(1, RunEvent::Offered { token: 0, hop: 2, generation: 0, to: 2 }));
    let mut offered = account(Some(1.0), &lines);
    assert!(close(offered.mu2(1, 2), 1.0) && close(offered.mu2(0, 2), 0.5));
    // It held it after all: one look, not two.
    lines.push(held(2, 2, 0));
    assert!(close(account(Some(1.0), &lines).mu2(1, 2), 1.0));
    lines.push(line(2, RunEvent::Offered { token: 0, hop: 3, generation: 0, to: 9 }));
    assert!(account(Some(1.0), &lines).summary().mean.analysis.starts_with("local"));
}

#[test]
fn what_the_theorem_does_not_cover_is_local() {
    let lines = path(&[(0, true), (1, true), (2, true), (3, true), (0, true)], 0, 0);
    let mut expanding = account(Some(1.1), &lines);
    assert!(close(expanding.mu2(1, 0), 1.0));
    assert!(expanding.summary().mean.analysis.starts_with("local"));
    let mut forked = lines.clone();
    forked.push(held(2, 1, 0));
    assert!(account(Some(1.0), &forked).summary().mean.analysis.contains("two holders"));
    let mut stray = lines;
    stray.push(line(3, RunEvent::TokenRestarted { token: 0, hop: 7, generation: 1 }));
    assert!(account(Some(1.0), &stray).summary().mean.analysis.starts_with("local"));
}

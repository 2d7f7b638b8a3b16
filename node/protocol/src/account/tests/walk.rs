use super::super::Account;
use super::*;
use crate::WalkSettings;

const Z: f64 = 4.0;

fn held(node: usize, from: usize, (hop, generation): (u32, u32)) -> LogLine {
    line(node, RunEvent::Held { token: 0, hop, generation, from: from as PeerIx })
}

fn offered(node: usize, to: PeerIx, hop: u32) -> LogLine {
    line(node, RunEvent::Offered { token: 0, hop, generation: 0, to })
}

fn added(node: usize, hop: u32, generation: u32) -> LogLine {
    line(
        node,
        RunEvent::Released { round: hop, token: 0, generation, release: None, among: None, loss: None },
    )
}

fn account(rho: Option<f64>, lines: &[LogLine]) -> Account {
    let kernel = Arc::new(topology::MixingMatrix::identity(4));
    let walk = Algorithm::Walk(WalkSettings::new(kernel, vec![0]));
    let mut account = Account::new(shape(4, 8, walk, gaussian(Z)).with_rho(rho)).unwrap();
    lines.iter().for_each(|line| account.push(line));
    account
}

/// Holders in order, with whether each contributed.
fn path(visits: &[(usize, bool)], first: u32, generation: u32) -> Vec<LogLine> {
    path_from(visits[0].0, visits, (first, generation))
}

/// The first holder has the token from `from`.
fn path_from(from: usize, visits: &[(usize, bool)], (first, generation): (u32, u32)) -> Vec<LogLine> {
    let one = |(at, &(node, adds)): (usize, &(usize, bool))| {
        let hop = first + at as u32;
        let before = if at == 0 { from } else { visits[at - 1].0 };
        let mut lines = vec![held(node, before, (hop, generation))];
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
    lines.push(line(1, RunEvent::TokenRestarted { token: 0, hop: 1, generation: 1, copy_of: Some(0) }));
    lines.extend(path_from(1, &[(3, true), (0, true)], (2, 1)));
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
    lines.push(offered(1, 2, 2));
    let mut looked = account(Some(1.0), &lines);
    assert!(close(looked.mu2(1, 2), 1.0) && close(looked.mu2(0, 2), 0.5));
    // It held it after all: one look, not two.
    lines.push(held(2, 1, (2, 0)));
    assert!(close(account(Some(1.0), &lines).mu2(1, 2), 1.0));
    lines.push(offered(2, 9, 3));
    assert!(account(Some(1.0), &lines).summary().mean.analysis.starts_with("local"));
}

#[test]
fn what_the_theorem_does_not_cover_is_local() {
    let lines = path(&[(0, true), (1, true), (2, true), (3, true), (0, true)], 0, 0);
    let mut expanding = account(Some(1.1), &lines);
    assert!(close(expanding.mu2(1, 0), 1.0));
    assert!(expanding.summary().mean.analysis.starts_with("local"));
    let mut forked = lines.clone();
    forked.push(held(2, 0, (1, 0)));
    assert!(account(Some(1.0), &forked).summary().mean.analysis.contains("two holders"));
    let mut stray = lines;
    stray.push(line(3, RunEvent::TokenRestarted { token: 0, hop: 7, generation: 1, copy_of: Some(0) }));
    assert!(account(Some(1.0), &stray).summary().mean.analysis.starts_with("local"));
}

/// Who starts a token again from a copy held the last hop of it; whoever says nothing of a copy at hop 0 has added nothing there.
#[test]
fn a_copy_that_its_holder_cannot_have_is_local() {
    let analysis = |node, hop, copy_of, sent: bool| {
        let mut lines = path(&[(0, true), (1, true), (2, true)], 0, 0);
        lines.push(line(node, RunEvent::TokenRestarted { token: 0, hop, generation: 1, copy_of }));
        lines.extend(
            sent.then(|| line(node, RunEvent::Offered { token: 0, hop: hop + 1, generation: 1, to: 3 })),
        );
        account(Some(1.0), &lines).summary().mean.analysis.clone()
    };
    for sent in [false, true] {
        for (node, hop, copy_of) in [(1, 1, Some(0)), (0, 0, Some(0)), (3, 0, None)] {
            assert_eq!(analysis(node, hop, copy_of, sent), "walk", "{node} {hop} {copy_of:?} {sent}");
        }
        for (node, hop, copy_of) in [(3, 1, Some(0)), (2, 1, Some(0)), (2, 3, Some(0)), (0, 0, None)] {
            let found = analysis(node, hop, copy_of, sent);
            assert!(found.contains("hang together"), "{node} {hop} {copy_of:?} {sent}: {found}");
        }
        for (hop, copy_of) in [(1, Some(1)), (1, None)] {
            assert!(analysis(1, hop, copy_of, sent).contains("from which copy"));
        }
    }
}

#[test]
fn a_hop_that_was_done_twice_may_have_two_states_under_one_name() {
    let lines = path(&[(0, true), (1, true)], 0, 0);
    // Held again before anything was done with it: the same look.
    let mut early = vec![held(0, 0, (0, 0))];
    early.extend(lines.clone());
    assert_eq!(account(Some(1.0), &early).summary().mean.analysis, "walk");
    // After a contribution, or after it was passed on without one: another state may go out.
    for done in [vec![], vec![offered(1, 2, 2)]] {
        let mut again = path(&[(0, true), (1, done.is_empty())], 0, 0);
        again.extend(done);
        again.push(held(1, 0, (1, 0)));
        assert!(account(Some(1.0), &again).summary().mean.analysis.contains("one hop twice"));
    }
}

#[test]
fn a_branch_that_somebody_else_began_too_is_local_whoever_kept_silent() {
    // Nodes 1 and 2 both started generation 1, at hops 2 and 3; the line of node 1 is gone.
    let mut lines = path(&[(0, true), (1, true), (2, true)], 0, 0);
    lines.extend(path_from(1, &[(3, true)], (2, 1)));
    lines.push(line(2, RunEvent::TokenRestarted { token: 0, hop: 2, generation: 1, copy_of: Some(0) }));
    lines.extend(path_from(2, &[(0, true)], (3, 1)));
    assert!(account(Some(1.0), &lines).summary().mean.analysis.contains("hang together"));
    // A gap, and a holder that has the token from somebody who did not hold it.
    let mut gap = path(&[(0, true), (1, true)], 0, 0);
    gap.push(held(3, 2, (3, 0)));
    assert!(account(Some(1.0), &gap).summary().mean.analysis.contains("hang together"));
    let mut stranger = path(&[(0, true), (1, true)], 0, 0);
    stranger.push(held(3, 2, (2, 0)));
    assert!(account(Some(1.0), &stranger).summary().mean.analysis.contains("hang together"));
}

/// By decision, where f + 1 had no copy: nothing of what the first holder added is in it.
#[test]
fn a_token_that_starts_again_from_the_public_model_shares_nothing() {
    let mut lines = path(&[(0, true)], 0, 0);
    lines.push(line(2, RunEvent::TokenRestarted { token: 0, hop: 0, generation: 1, copy_of: None }));
    lines.extend(path_from(2, &[(1, true), (3, true)], (1, 1)));
    let mut account = account(Some(1.0), &lines);
    assert_eq!(account.summary().mean.analysis, "walk");
    assert!(close(account.mu2(1, 3), 1.0) && account.mu2(0, 3) == 0.0 && account.mu2(2, 3) == 0.0);
}

/// Generation 1 went from node 1 to nobody: node 2 was away, and on its return goes on, under generation 2, from what it had added to generation 0.
#[test]
fn a_token_goes_on_from_the_copy_that_its_holder_names() {
    let mut lines = path(&[(0, true), (1, true), (2, true)], 0, 0);
    lines.push(offered(2, 3, 3));
    let again = |hop, generation, copy_of| RunEvent::TokenRestarted { token: 0, hop, generation, copy_of };
    lines.push(line(1, again(1, 1, Some(0))));
    lines.push(line(1, RunEvent::Offered { token: 0, hop: 2, generation: 1, to: 2 }));
    let goes_on = |copy_of: Option<u32>| {
        let mut lines = lines.clone();
        lines.push(line(2, again(2, 2, copy_of)));
        lines.push(line(2, RunEvent::Offered { token: 0, hop: 3, generation: 2, to: 0 }));
        account(Some(1.0), &lines)
    };
    let mut copy = goes_on(Some(0));
    assert_eq!(copy.summary().mean.analysis, "walk");
    assert!(close(copy.mu2(2, 0), 1.0), "node 0 is given what node 2 added: {}", copy.mu2(2, 0) * Z * Z);
    // Whoever does not say from which copy may have had any.
    assert!(goes_on(None).summary().mean.analysis.contains("from which copy"));
}

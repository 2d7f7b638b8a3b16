//! `members.late`: the first assembly seats who came, and who comes later is let in and accounted from its first round.

#![allow(clippy::unwrap_used, reason = "this is a test")]

mod swarm;

use protocol::RunEvent;
use protocol::account::Account;
use swarm::{run, setup};

#[test]
fn who_comes_late_is_let_in_and_accounted_from_its_first_round() {
    for masking in ["privacy.masking=none", "privacy.masking=pairwise"] {
        // The others wait for 0.2 s; then 120 rounds take 0.8 s, in the middle of which it comes.
        let away = "faults.partition=[{ nodes = [7], from = \"0s\", until = \"400ms\" }]";
        let setup = setup(&["algorithm.kind=rounds", "rounds=120", "members.late=true", away, masking]);
        let run = run(&setup, 2);
        run.assert_learnt(16);
        let rosters: Vec<(u32, Vec<u32>)> = run
            .lines
            .iter()
            .filter(|line| line.node == Some(0))
            .filter_map(|line| match &line.event {
                RunEvent::Roster { round, members, .. } => Some((*round, members.clone())),
                _ => None,
            })
            .collect();
        let (first, members) = &rosters[0];
        assert!(*first == 0 && members.len() == 15 && !members.contains(&7), "{members:?}");
        let joined = rosters.iter().find(|(_, members)| members.contains(&7)).map(|(round, _)| *round);
        let released: Vec<u32> = run
            .lines
            .iter()
            .filter(|line| line.node == Some(7))
            .filter_map(|line| match line.event {
                RunEvent::Released { round, .. } => Some(round),
                _ => None,
            })
            .collect();
        assert!(joined.is_some_and(|joined| joined > 0 && released[0] >= joined), "{joined:?} {released:?}");
        assert!(released.len() > 20, "{released:?}");
        // In full it would cost as many contributions as it made, and no more.
        let mut account = Account::new(setup.shape()).unwrap();
        run.lines.iter().for_each(|line| account.push(line));
        account.settle_final();
        let (late, early) = (account.epsilon(7, 0), account.epsilon(1, 0));
        assert!(late > 0.0 && late < early, "{late} and {early}: fewer rounds cost less");
    }
}

#[test]
fn without_the_key_everybody_has_a_seat_from_the_start() {
    let away = "faults.partition=[{ nodes = [7], from = \"0s\", until = \"1s\" }]";
    let run = run(&setup(&["algorithm.kind=rounds", "rounds=60", away]), 2);
    let at_once = |event: &RunEvent| matches!(event, RunEvent::Released { round: 0, .. });
    assert_eq!(run.nodes_with(at_once).len(), 16);
}

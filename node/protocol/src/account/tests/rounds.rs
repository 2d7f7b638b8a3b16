use privacy::network::doubling::leverages;
use privacy::network::{Run, Watchers, rounds};
use proptest::prelude::*;
use topology::Schedule;
use topology::schedule::{Plan, RunKey, shuffled_order};

use super::super::{Account, epsilon_of_mu2};
use super::*;

const Z: f64 = 2.0;

/// How a round of a log went.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    Clean,
    /// Nobody ended it.
    Broken,
    /// One node ended it, the others did not, and all went back to its start.
    RolledBack,
}

fn log(nodes: usize, fates: &[Fate]) -> Vec<LogLine> {
    let mut version = 0;
    let mut lines = Vec::new();
    for (round, fate) in fates.iter().enumerate() {
        let round = round as u32;
        lines.extend((0..nodes).map(|node| released(node, round)));
        let (start, end) = (model(version), model(round + 1));
        let done = RunEvent::RoundDone { round, epoch: 0, start, end, count: nodes as u32 };
        let broken = RunEvent::RoundBroken { round, epoch: 0, start, missing: None, reason: "test".into() };
        for node in 0..nodes {
            let ended = *fate == Fate::Clean || (*fate == Fate::RolledBack && node == 0);
            lines.push(line(node, if ended { done.clone() } else { broken.clone() }));
        }
        if *fate == Fate::Clean {
            version = round + 1;
        }
    }
    lines
}

fn account_of(nodes: usize, rounds: usize, lines: &[LogLine]) -> Account {
    let mut account = Account::new(shape(
        nodes,
        rounds as u32,
        Algorithm::Rounds(crate::RoundsSettings::new(0)),
        gaussian(Z),
    ))
    .unwrap();
    lines.iter().for_each(|line| account.push(line));
    account
}

fn settled(nodes: usize, fates: &[Fate]) -> Account {
    let mut account = account_of(nodes, fates.len(), &log(nodes, fates));
    account.settle_final();
    account
}

#[test]
fn a_clean_run_costs_what_the_exact_linear_algebra_says() {
    let key = RunKey::new("account");
    for nodes in [2, 3, 5, 8, 11] {
        let mut account = settled(nodes, &[Fate::Clean; 4]);
        let run = Run::on_schedule(&Schedule::ShuffledDoubling { key }, nodes, 4).unwrap();
        for watcher in 0..nodes {
            let unit = rounds::loss(&run, &Watchers::new(&[watcher], nodes).unwrap()).unwrap();
            for source in (0..nodes).filter(|&source| source != watcher) {
                let expected = unit[source] / (Z * Z);
                let found = account.mu2(source, watcher);
                assert!((found - expected).abs() < 1e-7, "{nodes} nodes: {found} for {expected}");
                let epsilon = account.epsilon(source, watcher);
                assert!(epsilon >= epsilon_of_mu2(expected, DELTA) * (1.0 - 1e-9));
            }
        }
        assert_eq!((account.broken_rounds(), account.summary().releases), (0, 4 * nodes as u64));
    }
}

#[test]
fn a_broken_round_costs_every_contribution_in_full() {
    for broken in [Fate::Broken, Fate::RolledBack] {
        let mut mixed = settled(6, &[Fate::Clean, broken, Fate::Clean]);
        let mut clean = settled(6, &[Fate::Clean; 3]);
        assert_eq!(mixed.broken_rounds(), 1, "{broken:?}");
        let key = RunKey::new("account");
        for (source, watcher) in [(0, 1), (3, 5), (4, 2)] {
            assert!(mixed.mu2(source, watcher) >= clean.mu2(source, watcher) * (1.0 - 1e-9));
            let one = |round: u64| {
                let matrices = Schedule::ShuffledDoubling { key }.round(round, 6).unwrap().matrices();
                let phase = privacy::network::Phase::new(
                    matrices.into_iter().map(privacy::network::Step::new).collect(),
                );
                let run = Run::new(6, vec![phase]).unwrap();
                rounds::loss(&run, &Watchers::new(&[watcher], 6).unwrap()).unwrap()[source]
            };
            let expected = (one(0) + 1.0 + one(2)) / (Z * Z);
            assert!((mixed.mu2(source, watcher) - expected).abs() < 1e-7, "{broken:?}");
        }
    }
}

#[test]
fn what_is_not_settled_counts_in_full() {
    let mut account = account_of(8, 1, &log(8, &[Fate::Clean]));
    let before = account.interim();
    assert!((before.worst - epsilon_of_mu2(1.0 / (Z * Z), DELTA)).abs() < 0.02 * before.worst);
    assert_eq!(before.worst, before.local.min(before.worst));
    account.settle_final();
    let after = account.summary();
    // Leverages are 1, 1/2, 1/2, and 1/4 four times: the mean falls, the worst pair has met first and has lost it all.
    assert!(after.mean.epsilon < 0.8 * before.mean.unwrap());
    assert!((after.worst.epsilon - after.local.epsilon).abs() < 1e-9);
    assert_eq!(after.worst.analysis, "local");
    assert_eq!(after.mean.analysis, "rounds");
}

#[test]
fn a_contradiction_that_comes_late_makes_a_settled_round_broken() {
    let mut account = settled(5, &[Fate::Clean, Fate::Clean]);
    let before = account.summary();
    let other = RunEvent::RoundDone { round: 0, epoch: 0, start: model(0), end: model(77), count: 5 };
    account.push(&line(3, other));
    let after = account.summary();
    assert_eq!(after.broken_rounds, 1);
    assert!(after.mean.epsilon > before.mean.epsilon);
}

#[test]
fn a_node_that_comes_back_later_does_not_break_the_rounds_that_it_missed() {
    let mut lines = log(4, &[Fate::Clean, Fate::Clean, Fate::Clean]);
    // Node 3 is not heard of in round 1, and comes back for round 2.
    lines.retain(|line| {
        let of_round_1 =
            matches!(line.event, RunEvent::RoundDone { round: 1, .. } | RunEvent::Released { round: 1, .. });
        !(of_round_1 && line.node == Some(3))
    });
    let mut account = account_of(4, 3, &lines);
    account.settle_final();
    assert_eq!(account.broken_rounds(), 0);
}

#[test]
fn somebody_outside_the_roster_is_charged_with_the_total() {
    let roster = RunEvent::Roster {
        epoch: 1,
        round: 0,
        members: vec![0, 1, 2, 3],
        model: model(0),
        apart: Vec::new(),
    };
    let mut lines: Vec<LogLine> = (0..4).map(|node| line(node, roster.clone())).collect();
    lines.extend((0..4).map(|node| released(node, 0)));
    let done = RunEvent::RoundDone { round: 0, epoch: 1, start: model(0), end: model(1), count: 4 };
    lines.extend((0..4).map(|node| line(node, done.clone())));
    let mut account = account_of(5, 1, &lines);
    account.settle_final();
    // Four contributions with equal noise: a quarter of each is known to who knows the sum.
    assert!((account.mu2(2, 4) - 0.25 / (Z * Z)).abs() < 1e-8);
}

#[test]
fn two_that_pool_what_they_saw_learn_more_than_each() {
    let mut account = settled(8, &[Fate::Clean; 3]);
    let (together, analysis) = account.coalition(&[0, 5]).unwrap();
    assert_eq!(analysis, "rounds");
    assert_eq!((together[0], together[5]), (0.0, 0.0));
    for source in [1, 2, 3, 4, 6, 7] {
        let alone = account.epsilon(source, 0).max(account.epsilon(source, 5));
        assert!(together[source] >= alone * (1.0 - 1e-9), "{source}: {} {alone}", together[source]);
    }
    assert!(account.coalition(&[]).is_err());
}

#[test]
fn a_coalition_is_charged_for_a_contribution_with_less_noise_than_the_others() {
    let mut lines = log(8, &[Fate::Clean; 3]);
    for line in &mut lines {
        if let RunEvent::Released { release, round: 1, .. } = &mut line.event {
            *release = Some(gaussian(Z / 4.0));
        }
    }
    let mut account = account_of(8, 3, &lines);
    account.settle_final();
    let (together, _) = account.coalition(&[0, 5]).unwrap();
    for source in [1, 2, 3, 4, 6, 7] {
        assert!(
            together[source] >= account.epsilon(source, 0).max(account.epsilon(source, 5)) * (1.0 - 1e-9)
        );
    }
}

#[test]
fn unequal_noise_is_no_leverage_of_one_over_the_number() {
    let noise = vec![1.0, 1.0, 1.0, 10.0];
    let of = |noise: Vec<f64>| {
        let shape =
            shape(4, 1, Algorithm::Rounds(crate::RoundsSettings::new(0)), gaussian(Z)).with_noise(noise);
        let mut account = Account::new(shape).unwrap();
        log(4, &[Fate::Clean]).iter().for_each(|line| account.push(line));
        account.settle_final();
        (0..3).map(|watcher| account.mu2(3, watcher)).fold(f64::INFINITY, f64::min)
    };
    // In a sum with one other, whose noise is a tenth, node 3 has 100/101 of the variance to itself.
    assert!((of(noise) * Z * Z - 100.0 / 101.0).abs() < 1e-6);
    assert!((of(Vec::new()) * Z * Z - 0.5).abs() < 1e-6);
}

#[test]
fn the_summary_has_the_keys_that_reports_read_and_no_noise_is_null() {
    let shape = shape(3, 1, Algorithm::Rounds(crate::RoundsSettings::new(0)), DpEvent::NonPrivate);
    let mut account = Account::new(shape).unwrap();
    log(3, &[Fate::Clean]).iter().for_each(|line| account.push(line));
    account.settle_final();
    let json = serde_json::to_value(account.summary()).unwrap();
    assert_eq!(json["adjacency"], "node");
    assert_eq!(json["private"], false);
    for figure in ["worst", "mean", "local"] {
        assert!(json[figure]["epsilon"].is_null() && json[figure]["mu2"].is_null(), "{figure}");
        assert_eq!(json[figure]["analysis"], "none (no noise)");
    }
}

#[test]
fn samples_are_priced_with_amplification_and_never_above_local() {
    let sampled = gaussian(1.0).poisson_sampled(0.1);
    let mut account =
        Account::new(shape(8, 10, Algorithm::Rounds(crate::RoundsSettings::new(0)), sampled.clone()))
            .unwrap();
    log(8, &[Fate::Clean; 10]).iter().for_each(|line| account.push(line));
    account.settle_final();
    let summary = account.summary();
    let local =
        learn::calibrate::epsilon(&DpEvent::Composed { event: Box::new(sampled), count: 10 }, DELTA).unwrap();
    assert!((summary.local.epsilon - local).abs() < 1e-9);
    assert!(summary.worst.epsilon <= local, "{summary:?}");
    assert!(summary.mean.epsilon < summary.worst.epsilon, "{summary:?}");
    // The privacy-loss distribution of the very releases that a watcher saw is the least that can be proved.
    for (source, watcher) in [(0, 1), (5, 0), (6, 2), (3, 7)] {
        let seen = |round: u64| {
            let order = shuffled_order(&RunKey::new("account"), round, 8);
            let mut row = vec![0.0; 8];
            leverages(&Plan::with_order(order).unwrap(), |_| true, watcher, &mut row);
            gaussian(1.0 / row[source].sqrt()).poisson_sampled(0.1)
        };
        let tight = DpEvent::Sequence { events: (0..10).map(seen).collect() };
        let tight = learn::calibrate::epsilon(&tight, DELTA).unwrap();
        let found = account.epsilon(source, watcher);
        assert!(found >= tight * (1.0 - 1e-4) && found <= local, "{source} to {watcher}: {found} {tight}");
        assert!(found <= 1.4 * tight, "{source} to {watcher}: {found} {tight}");
    }
    assert!(account.interim().worst >= summary.worst.epsilon * (1.0 - 1e-9));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn without_a_line_the_account_is_never_lower(
        nodes in 3usize..7,
        fates in prop::collection::vec(0u8..3, 1..5),
        at in 0usize..1000,
    ) {
        let fates: Vec<Fate> = fates.iter().map(|fate| [Fate::Clean, Fate::Broken, Fate::RolledBack][*fate as usize]).collect();
        let lines = log(nodes, &fates);
        let dropped = at % lines.len();
        prop_assume!(!matches!(lines[dropped].event, RunEvent::Released { .. }));
        let mut fewer = lines.clone();
        fewer.remove(dropped);
        let (mut all, mut less) = (account_of(nodes, fates.len(), &lines), account_of(nodes, fates.len(), &fewer));
        all.settle_final();
        less.settle_final();
        for source in 0..nodes {
            for watcher in 0..nodes {
                prop_assert!(less.epsilon(source, watcher) >= all.epsilon(source, watcher) * (1.0 - 1e-9));
            }
        }
    }
}

#[test]
fn what_each_node_lost_so_far_is_never_less_than_it_lost_to_anybody() {
    let fates = [Fate::Clean, Fate::Broken, Fate::Clean, Fate::Clean];
    for nodes in [2, 5, 8] {
        let mut account = account_of(nodes, fates.len(), &log(nodes, &fates));
        let peers = account.peers();
        let interim = account.interim();
        let peers: Vec<_> = peers.into_iter().map(|peer| peer.expect("every log is here")).collect();
        assert_eq!(peers.iter().map(|peer| peer.worst).fold(0.0, f64::max), interim.worst);
        for (source, peer) in peers.iter().enumerate() {
            assert!(peer.worst <= peer.local && peer.mean.unwrap() <= peer.worst);
            for watcher in (0..nodes).filter(|watcher| *watcher != source) {
                assert!(peer.worst >= account.epsilon(source, watcher), "{source} towards {watcher}");
            }
        }
    }
}

/// What node `me` writes itself.
fn own(me: usize, lines: &[LogLine]) -> Vec<LogLine> {
    lines.iter().filter(|line| line.node == Some(me as PeerIx)).cloned().collect()
}

fn own_account(nodes: usize, me: usize, lines: &[LogLine]) -> Account {
    let rounds = Algorithm::Rounds(crate::RoundsSettings::new(0));
    let shape = shape(nodes, 10, rounds, gaussian(Z)).with_witnesses([me]);
    let mut account = Account::new(shape).unwrap();
    own(me, lines).iter().for_each(|line| account.push(line));
    account.settle_final();
    account
}

#[test]
fn a_node_prices_its_own_loss_from_its_own_log_and_says_nothing_of_others() {
    let lines = log(8, &[Fate::Clean, Fate::Broken, Fate::Clean, Fate::Clean]);
    let mut all = account_of(8, 4, &lines);
    all.settle_final();
    let mut mine = own_account(8, 3, &lines);
    let table = mine.pairs();
    assert!(table.epsilon(2, 3).is_none() && table.local_epsilon(2).is_none());
    let peers = mine.peers();
    assert!(peers[2].is_none() && peers[3].is_some_and(|peer| peer.worst >= table.epsilon(3, 5).unwrap().0));
    assert_eq!(table.local_epsilon(3), all.pairs().local_epsilon(3));
    for watcher in (0..8).filter(|&watcher| watcher != 3) {
        // Two rounds are proved clean by what followed; the broken one and the last cost a whole unit each.
        let proved: Vec<LogLine> = log(8, &[Fate::Clean, Fate::Broken, Fate::Clean]);
        let mut before = account_of(8, 4, &proved);
        before.settle_final();
        let expected = before.mu2(3, watcher) + 1.0 / (Z * Z);
        let found = mine.mu2(3, watcher);
        assert!((found - expected).abs() < 1e-6, "{watcher}: {found} {expected}");
        assert!(found >= all.mu2(3, watcher), "{watcher}");
    }
    let summary = mine.summary();
    assert_eq!(summary.worst.pair.map(|pair| pair.0), Some(3));
    assert!(summary.mean.epsilon > 0.0 && summary.mean.epsilon <= summary.worst.epsilon);
}

#[test]
fn a_node_that_cannot_know_who_added_nothing_takes_them_to_be_missing_from_every_sum() {
    let silent = 2;
    let whole: Vec<LogLine> = log(8, &[Fate::Clean; 3])
        .into_iter()
        .filter(|line| {
            let is_release = matches!(line.event, RunEvent::Released { .. });
            !(is_release && line.node.is_some_and(|node| node < silent))
        })
        .map(|mut line| {
            if let RunEvent::RoundDone { count, .. } = &mut line.event {
                *count = 8 - silent;
            }
            line
        })
        .collect();
    let mut all = account_of(8, 3, &whole);
    all.settle_final();
    let mut mine = own_account(8, 5, &whole);
    for watcher in (0..8).filter(|&watcher| watcher != 5) {
        let (found, least) = (mine.mu2(5, watcher), all.mu2(5, watcher));
        assert!(found >= least, "{watcher}: {found} {least}");
        assert!(found <= 3.0 / (Z * Z) * (1.0 + 1e-9), "{watcher}: {found}");
    }
    let most = (0..5).map(|watcher| mine.mu2(5, watcher)).fold(f64::INFINITY, f64::min);
    assert!(most < 2.9 / (Z * Z), "somebody heard a sum of more than the silent and one: {most}");
    let (together, _) = mine.coalition(&[1, 2]).unwrap();
    assert!((together[5] - mine.pairs().local_epsilon(5).unwrap()).abs() < 1e-6);
}

#[test]
fn a_partner_with_less_noise_hides_less() {
    let mut lines = log(2, &[Fate::Clean]);
    for line in &mut lines {
        if let (Some(1), RunEvent::Released { release, .. }) = (line.node, &mut line.event) {
            *release = Some(gaussian(Z / 10.0));
        }
    }
    let mut account = account_of(2, 1, &lines);
    account.settle_final();
    let (together, _) = account.coalition(&[1]).unwrap();
    // Node 1 knows its own noise, so it sees all of node 0 either way.
    assert!((account.mu2(0, 1) - 1.0 / (Z * Z)).abs() < 1e-6);
    assert!((together[0] - account.epsilon(0, 1)).abs() < 1e-6);
    // Among three, in the sum of nodes 0 and 1 node 0 has 100/101 of the variance to itself.
    let mut lines = log(4, &[Fate::Clean]);
    for line in &mut lines {
        if let (Some(1..), RunEvent::Released { release, .. }) = (line.node, &mut line.event) {
            *release = Some(gaussian(Z / 10.0));
        }
    }
    let mut account = account_of(4, 1, &lines);
    account.settle_final();
    let least = (1..4).map(|watcher| account.mu2(0, watcher)).fold(f64::INFINITY, f64::min);
    assert!((least * Z * Z - 100.0 / 101.0).abs() < 1e-6, "{}", least * Z * Z);
}

#[test]
fn a_record_without_its_line_costs_a_whole_contribution() {
    let mut account = settled(8, &[Fate::Clean; 3]);
    let before = account.mu2(2, 5);
    account.charge_record(2, &gaussian(Z), None);
    assert!((account.mu2(2, 5) - before - 1.0 / (Z * Z)).abs() < 1e-6);
    assert!((account.pairs().local_epsilon(2).unwrap() - epsilon_of_mu2(4.0 / (Z * Z), DELTA)).abs() < 1e-9);
}

#[test]
fn coalitions_are_priced_on_samples_too() {
    let sampled = gaussian(1.0).poisson_sampled(0.1);
    let rounds = Algorithm::Rounds(crate::RoundsSettings::new(0));
    let mut account = Account::new(shape(8, 40, rounds, sampled)).unwrap();
    log(8, &[Fate::Clean; 40]).iter().for_each(|line| account.push(line));
    account.settle_final();
    let local = account.summary().local.epsilon;
    let (together, _) = account.coalition(&[0, 5]).unwrap();
    let (alone, _) = account.coalition(&[0]).unwrap();
    for source in [1, 2, 3, 4, 6, 7] {
        // A coalition of one sees what the pair figure says.
        assert!((alone[source] - account.epsilon(source, 0)).abs() < 1e-3 * alone[source], "{source}");
        assert!(together[source] >= alone[source] && together[source] <= local, "{source}");
    }
    assert!(together.iter().sum::<f64>() < 6.0 * local, "pooling two views does not show everything");
}

//! One hostile member of eight, in each of the ways of `examples/liars`: the honest ones reach the end with one model, as good as without it, and nobody honest is
//! named or loses a seat.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod swarm;

use std::path::{Path, PathBuf};

use learn::evaluation::evaluate;
use protocol::config::Config;
use protocol::{FaultKind, PeerIx, RunEvent, Setup};
use sim::{Ended, Options};
use swarm::{Run, run, run_with};

const LIAR: PeerIx = 7;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/liars")
}

fn scenario(name: &str) -> Config {
    let text = std::fs::read_to_string(folder().join(name).with_extension("toml")).unwrap();
    Config::from_toml(&text, name).unwrap()
}

fn accuracy(setup: &Setup, run: &Run, node: usize) -> f64 {
    let test = setup.test.as_ref().unwrap();
    evaluate(setup.model.as_ref(), &run.finished.models[node], test).unwrap().accuracy.unwrap()
}

fn undisturbed(config: &Config) -> f64 {
    let mut quiet = config.clone();
    quiet.faults.hostile.clear();
    let setup = Setup::new(quiet).unwrap();
    accuracy(&setup, &run(&setup, 2), 0)
}

/// Runs a scenario, and checks what holds for all of them.
#[track_caller]
fn check(config: &Config, may_miss: f64) -> Run {
    let name = &config.name;
    let setup = Setup::new(config.clone()).unwrap();
    let agree = config.tolerate.is_some() || name != "equivocation";
    let run = run_with(&setup, Options { threads: 2, check: agree, ..Options::default() });
    assert_eq!(run.finished.ended, Ended::AllDone, "{name}");
    for node in 0..LIAR {
        let reached = |line: &&protocol::LogLine| {
            let done =
                matches!(&line.event, RunEvent::Finished { reason, .. } if reason == "all rounds are done");
            line.node == Some(node) && done
        };
        assert!(run.lines.iter().any(|line| reached(&line)), "{name}: node {node} ends where it should");
        assert_eq!(run.finished.models[node as usize], run.finished.models[0], "{name}: node {node}");
        let outside =
            |event: &RunEvent| matches!(event, RunEvent::Roster { members, .. } if !members.contains(&node));
        assert!(
            run.nodes_with(outside).is_subset(&[LIAR].into()),
            "{name}: honest node {node} keeps its seat: {}",
            decisions(&run)
        );
    }
    let honest = |&(peer, _): &(PeerIx, FaultKind)| peer != LIAR;
    let by_honest = run.lines.iter().filter(|line| line.node != Some(LIAR));
    let named: Vec<_> = by_honest
        .filter_map(|line| match line.event {
            RunEvent::PeerFault { peer, fault, .. } => Some((peer, fault)),
            _ => None,
        })
        .collect();
    assert!(!named.iter().any(honest), "{name}: {named:?}");
    let (found, expected) = (accuracy(&setup, &run, 0), undisturbed(config));
    assert!(found >= expected - may_miss, "{name}: accuracy {found} for {expected}");
    run
}

/// What led to a decision, for whoever must find out why a test fails.
fn decisions(run: &Run) -> String {
    let told = run.lines.iter().filter(|line| {
        use RunEvent::{Outside, PeerFault, Roster, RoundBroken, Waiting};
        matches!(
            line.event,
            Roster { .. } | RoundBroken { .. } | Outside { .. } | PeerFault { .. } | Waiting { .. }
        )
    });
    told.map(|line| format!("\n{} {:?} {:?}", line.time.0, line.node, line.event)).collect()
}

/// Whether the liar had no seat in the end.
fn is_out(run: &Run) -> bool {
    let rosters = run.lines.iter().filter(|line| line.node == Some(0));
    let mut last = rosters.filter_map(|line| match &line.event {
        RunEvent::Roster { members, .. } => Some(members.clone()),
        _ => None,
    });
    last.next_back().is_some_and(|members| !members.contains(&LIAR))
}

macro_rules! one_liar_changes_nothing {
    ($($name:ident: $file:literal, out = $out:literal, fault = $fault:expr;)*) => {$(
        #[test]
        fn $name() {
            let run = check(&scenario($file), 0.03);
            assert_eq!(is_out(&run), $out, "whether it keeps its seat");
            let fault: Option<FaultKind> = $fault;
            if let Some(fault) = fault {
                assert!(run.faults().contains(&(LIAR, fault)), "{:?}", run.faults());
            }
        }
    )*};
}

one_liar_changes_nothing! {
    a_forged_model: "forged-model", out = false, fault = None;
    a_forged_decision: "forged-decision", out = false, fault = Some(FaultKind::BadSignature);
    a_false_standing: "false-standing", out = false, fault = None;
    a_count_of_nothing: "zero-count", out = true, fault = Some(FaultKind::TooLarge);
    other_numbers_for_each: "equivocation", out = true, fault = None;
    old_messages: "replay", out = false, fault = Some(FaultKind::Replay);
    silence: "silence", out = true, fault = None;
    a_flood: "flood", out = false, fault = Some(FaultKind::Flood);
    high_numbers: "high-numbers", out = false, fault = None;
    a_false_accusation: "false-accusation", out = true, fault = None;
    malformed_numbers: "malformed", out = true, fault = Some(FaultKind::WrongLength);
    slowness: "slow", out = false, fault = None;
    other_numbers_for_each_in_the_open: "equivocation-robust", out = true, fault = None;
    false_zeros: "false-zeros", out = true, fault = None;
    a_false_mask: "false-mask", out = true, fault = None;
    huge_words: "huge-words", out = true, fault = None;
    half_the_ring: "half-words", out = true, fault = None;
    a_changed_sum: "changed-sum", out = true, fault = None;
    a_false_stream: "false-stream", out = true, fault = None;
    false_sums: "false-sums", out = true, fault = None;
    no_projections: "no-projections", out = true, fault = None;
    no_draw: "no-draw", out = true, fault = None;
    long_words: "long-words", out = true, fault = None;
    silence_in_the_open: "silence-robust", out = true, fault = None;
}

/// The same ways where every contribution is in the open.
#[test]
fn no_word_of_one_liar_stops_a_run_in_the_open() {
    for name in [
        "forged-model",
        "forged-decision",
        "false-standing",
        "zero-count",
        "replay",
        "flood",
        "high-numbers",
        "false-accusation",
        "malformed",
        "slow",
    ] {
        let mut config = scenario(name);
        config.tolerate = Some(2);
        config.privacy.target = protocol::Scope::Local;
        check(&config, 0.03);
    }
}

#[test]
fn every_file_of_the_folder_is_a_scenario_of_a_test() {
    let source = include_str!("liars.rs").to_owned() + include_str!("robust.rs") + include_str!("proved.rs");
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if path.extension().is_some_and(|extension| extension == "toml") {
            assert!(source.contains(&format!("\"{name}\"")), "{name}");
            assert_eq!(scenario(&name).name, name);
        }
    }
}

/// The page on privacy names a test for each cell of its table on what one member can do.
#[test]
fn every_test_behind_the_table_of_lies_exists() {
    let tests = [
        include_str!("liars.rs"),
        include_str!("robust.rs"),
        include_str!("masked_liars.rs"),
        include_str!("proved.rs"),
        include_str!("hostile.rs"),
    ];
    let page = include_str!("../../docs/PRIVACY.md");
    let table = page.split("| mode | in the result | found | test |").nth(1).unwrap();
    let rows: Vec<&str> = table.lines().skip(2).take_while(|line| line.starts_with('|')).collect();
    assert!(rows.len() >= 7, "{}", rows.len());
    for row in rows {
        let cell = row.trim_end_matches('|').rsplit('|').next().unwrap();
        let names: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty() || cell.trim() == "the same", "{row}");
        for name in names {
            let is_there = |test: &&str| {
                test.contains(&format!("fn {name}()")) || test.contains(&format!("    {name}: "))
            };
            assert!(tests.iter().any(is_there), "{name}");
        }
    }
}

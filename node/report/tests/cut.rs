//! Claims about logs that a crash, a full disk or a bad one spoiled: there is always a report, it says what was lost, and nothing becomes free.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use protocol::config::{Config, Layer};
use protocol::{LogLine, Record, RunEvent, Setup};
use report::{LedgerCopy, Options, Report, Source, json, markdown};
use topology::Hint;

const LAST: usize = 1024;

const KINDS: [&[&str]; 4] = [
    &["nodes=4", "rounds=3", "privacy.noise_multiplier=3"],
    &["nodes=4", "rounds=2", "algorithm.kind=gossip", "topology=ring", "privacy.noise_multiplier=3"],
    &["nodes=4", "rounds=2", "algorithm.kind=walk", "topology=ring", "privacy.noise_multiplier=3"],
    &[
        "nodes=12",
        "algorithm.kind=mean",
        "topology=ring",
        "privacy.noise_multiplier=3",
        "privacy.adjacency=node",
    ],
];

/// The log of a run; with a line near its end that has letters of two and four bytes, as those of a spent budget have.
fn log(pairs: &[&str]) -> Vec<LogLine> {
    let layer = Layer::from_flags("--set", pairs).unwrap();
    let setup = Setup::new(Config::from_layers([layer]).unwrap()).unwrap();
    let mut lines = Vec::new();
    sim::run::run(&setup, &sim::Options::default(), &mut |line| lines.push(line.clone()), &mut |_| {})
        .unwrap();
    let at = lines.len() - 2;
    let reason = "99.1 % of ε = 2 at δ = 1e-5, the limit of node \u{1F426}".to_owned();
    let refused = LogLine { event: RunEvent::Refused { round: 1, reason }, ..lines[at].clone() };
    lines.insert(at, refused);
    lines
}

fn real(mut lines: Vec<LogLine>) -> Vec<LogLine> {
    for line in &mut lines {
        if let RunEvent::Run { driver, private_noise, .. } = &mut line.event {
            (*driver, *private_noise) = ("libp2p".into(), true);
        }
    }
    lines
}

fn bytes(lines: &[LogLine]) -> Vec<u8> {
    lines.iter().flat_map(|line| (serde_json::to_string(line).unwrap() + "\n").into_bytes()).collect()
}

fn report_of(source: &Source) -> Report {
    Report::new(source, &Options::default()).unwrap()
}

fn says(report: &Report, words: &str) -> bool {
    report.assumes.iter().any(|text| text.contains(words))
}

#[test]
fn a_log_cut_at_any_byte_of_its_last_kilobyte_has_a_report_that_says_what_was_lost() {
    for pairs in KINDS {
        let lines = log(pairs);
        let all = bytes(&lines);
        let nodes = lines.iter().filter(|line| matches!(line.event, RunEvent::Finished { .. })).count();
        assert!(all.len() > LAST + bytes(&lines[..1]).len(), "{pairs:?}: {}", all.len());
        let letters = std::str::from_utf8(&all).unwrap().char_indices();
        let inside = letters.filter(|(at, letter)| *at > all.len() - LAST && letter.len_utf8() > 1).count();
        assert!(inside >= 3, "the last kilobyte of {pairs:?} has letters to cut");
        for cut in all.len() - LAST..all.len() {
            let report = report_of(&Source::of_bytes(&all[..cut]).unwrap());
            let before = all[..cut].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
            // A line is whole when its last brace is there.
            let is_whole = before == cut || all[cut] == b'\n';
            assert_eq!(says(&report, "The log is whole but for 1 line: line"), !is_whole, "cut at {cut}");
            assert_eq!(
                report
                    .faults
                    .iter()
                    .any(|fault| fault.kind == "line cut short by a crash" && fault.count == 1),
                !is_whole
            );
            let finished =
                all[..cut + usize::from(is_whole)].windows(10).filter(|text| text == b"\"finished\"").count();
            assert!(
                says(&report, "ends before the run does") || (finished == nodes && is_whole),
                "cut at {cut}"
            );
            let kept = report_of(&Source::of_bytes(&all[..before]).unwrap());
            for (cut, kept) in report.nodes.iter().zip(&kept.nodes) {
                assert!(cut.local.epsilon >= kept.local.epsilon, "nothing becomes free");
            }
            assert!(json(&report).is_ok() && markdown(&report).len() > 100);
        }
        let whole = report_of(&Source::of_bytes(&all).unwrap());
        assert!(!says(&whole, "The log is whole but") && !says(&whole, "ends before"), "{:?}", whole.assumes);
    }
}

#[test]
fn without_a_ledger_a_lost_line_counts_as_a_whole_contribution_of_whom_it_may_have_been_about() {
    let lines = real(log(KINDS[0]));
    let whole = report_of(&Source::of_lines(lines.clone()).unwrap());
    let lost = lines
        .iter()
        .position(|line| line.node == Some(2) && matches!(line.event, RunEvent::Released { round: 2, .. }))
        .unwrap();
    let with = |text: &[u8]| {
        let [before, after] = [&lines[..lost], &lines[lost + 1..]].map(bytes);
        report_of(&Source::of_bytes(&[&before, text, b"\n", &after].concat()).unwrap())
    };
    // What is left names the node: it alone pays, as much as if the line were there.
    let text = bytes(&lines[lost..=lost]);
    let cut = with(&text[..text.len() - 3]);
    let local = |report: &Report| report.nodes.iter().map(|node| node.local.epsilon).collect::<Vec<_>>();
    assert_eq!(local(&cut), local(&whole));
    assert!(cut.worst.figure.epsilon >= whole.worst.figure.epsilon);
    assert!(
        says(&cut, "(`released` of node 2)") && says(&cut, "no ledger tells what was lost"),
        "{:?}",
        cut.assumes
    );
    // Nothing is left: everybody may have lost a contribution, and node 2 did.
    let garbage = with(b"\xff\xfe");
    assert_eq!(garbage.nodes[2].local.epsilon, whole.nodes[2].local.epsilon);
    for node in [0, 1, 3] {
        assert!(garbage.nodes[node].local.epsilon > whole.nodes[node].local.epsilon, "node {node}");
    }
    let fault = garbage.faults.iter().find(|fault| fault.kind == "line that cannot be read").unwrap();
    assert!(fault.count == 1 && fault.cost.starts_with("charged in full"), "{}", fault.cost);
}

#[test]
fn damage_may_have_swallowed_any_number_of_lines() {
    for pairs in KINDS {
        let lines = log(pairs);
        let whole = report_of(&Source::of_lines(lines.clone()).unwrap());
        // A stretch of zeros over several lines, and the same stretch cut out.
        let all = bytes(&lines);
        let (from, to) = (bytes(&lines[..2]).len() + 9, all.len() - 700);
        let zeros = [&all[..from], &vec![0; to - from], &all[to..]].concat();
        let gone = [&all[..from], &all[to..]].concat();
        for damaged in [zeros, gone] {
            let report = report_of(&Source::of_bytes(&damaged).unwrap());
            for (left, before) in report.nodes.iter().zip(&whole.nodes) {
                assert!(left.local.epsilon >= before.local.epsilon, "{pairs:?}: node {}", left.index);
                assert!(
                    left.worst.figure.epsilon >= before.worst.figure.epsilon,
                    "{pairs:?}: {}",
                    left.index
                );
            }
            assert!(report.rounds.curve.points.iter().all(|point| point.worst.is_none()), "{pairs:?}");
        }
    }
}

#[test]
fn with_its_ledger_a_lost_line_costs_what_was_recorded_and_no_more() {
    let lines = real(log(KINDS[0]));
    let whole = report_of(&Source::of_lines(lines.clone()).unwrap());
    let RunEvent::Run { release, .. } = &lines[0].event else { panic!("a first line") };
    let own: Vec<LogLine> =
        lines.iter().filter(|line| matches!(line.node, None | Some(1))).cloned().collect();
    let all = bytes(&own);
    let at = own.iter().position(|line| matches!(line.event, RunEvent::Released { round: 2, .. })).unwrap();
    for cut in bytes(&own[..at]).len()..all.len() {
        let mut source = Source::of_bytes(&all[..cut]).unwrap();
        let records =
            (0..3).map(|round| Record { id: u64::from(round), round, release: release.clone(), among: None });
        source.add_ledger(
            Some(1),
            LedgerCopy { records: records.collect(), members: Vec::new(), forgotten: 0 },
        );
        let report = report_of(&source);
        assert_eq!(report.nodes[0].local.epsilon, whole.nodes[1].local.epsilon, "cut at {cut}");
    }
}

#[test]
fn what_a_merged_log_says_was_lost_is_told_and_charged() {
    let mut lines = real(log(KINDS[0]));
    let whole = report_of(&Source::of_lines(lines.clone()).unwrap());
    let lost = LogLine { event: RunEvent::LostLines { count: 2 }, ..lines.last().unwrap().clone() };
    let node = lost.node.unwrap() as usize;
    lines.push(lost);
    let report = report_of(&Source::of_lines(lines).unwrap());
    assert!(
        says(&report, "whole but for 2 lines: 2 lines of a node's own log could not be read"),
        "{:?}",
        report.assumes
    );
    for (at, (with, without)) in report.nodes.iter().zip(&whole.nodes).enumerate() {
        assert_eq!(with.local.epsilon > without.local.epsilon, at == node);
    }
}

#[test]
fn a_log_of_which_nothing_is_left_is_refused_and_says_so() {
    let error = Source::of_bytes(b"# Murmuration\nno log at all\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the log has no first line that describes the run; 2 of its lines could not be read"
    );
    assert!(error.hint().is_some());
    assert!(Source::of_bytes(b"").unwrap_err().to_string().ends_with("describes the run"));
}

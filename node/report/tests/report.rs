//! Claims about reports: complete, in agreement with themselves, honest about what was not protected.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use protocol::config::{Config, Layer};
use protocol::{LogLine, Record, RunEvent, Setup};
use report::{LedgerCopy, Options, Report, ReportError, Source, html, json, markdown};
use serde_json::Value;
use topology::Hint;

fn config(pairs: &[&str]) -> Config {
    Config::from_layers([Layer::from_flags("--set", pairs).unwrap()]).unwrap()
}

fn lines(pairs: &[&str]) -> Vec<LogLine> {
    let setup = Setup::new(config(pairs)).unwrap();
    let mut lines = Vec::new();
    sim::run::run(&setup, &sim::Options::default(), &mut |line| lines.push(line.clone()), &mut |_| {})
        .unwrap();
    lines
}

/// The same log as if real processes had written it with private noise.
fn real(mut lines: Vec<LogLine>) -> Vec<LogLine> {
    for line in &mut lines {
        if let RunEvent::Run { driver, private_noise, .. } = &mut line.event {
            (*driver, *private_noise) = ("libp2p".into(), true);
        }
    }
    lines
}

fn report_of(lines: Vec<LogLine>, options: &Options) -> Report {
    Report::new(&Source::of_lines(lines).unwrap(), options).unwrap()
}

const ROUNDS: &[&str] = &["nodes=6", "rounds=5", "privacy.epsilon=3"];
const GOSSIP: &[&str] = &[
    "nodes=9",
    "rounds=3",
    "algorithm.kind=gossip",
    "topology=grid",
    "privacy.noise_multiplier=4",
    "model.kind=softmax",
    "privacy.adjacency=record",
];

#[test]
fn every_report_has_the_keys_that_people_were_promised() {
    let kinds: [&[&str]; 4] = [
        ROUNDS,
        GOSSIP,
        &["nodes=5", "rounds=2", "algorithm.kind=walk", "topology=ring", "privacy.noise_multiplier=3"],
        &[
            "nodes=5",
            "algorithm.kind=mean",
            "topology=ring",
            "privacy.noise_multiplier=3",
            "privacy.adjacency=node",
        ],
    ];
    for pairs in kinds {
        let report = report_of(lines(pairs), &Options::default());
        let value: Value = serde_json::from_str(&json(&report).unwrap()).unwrap();
        for key in [
            "run",
            "adjacency",
            "delta",
            "private",
            "guarantee",
            "assumes",
            "not_protected",
            "nodes",
            "coalitions",
            "rounds",
            "faults",
            "config_digest",
            "version",
        ] {
            assert!(!value[key].is_null(), "{pairs:?}: {key}");
        }
        let nodes = value["nodes"].as_array().unwrap();
        assert_eq!(nodes.len(), value["participants"].as_u64().unwrap() as usize);
        for node in nodes {
            for figure in ["local", "worst", "mean"] {
                assert!(
                    node[figure]["epsilon"].is_number() && node[figure]["analysis"].is_string(),
                    "{figure}: {node}"
                );
            }
            assert_eq!(node["peers"].as_array().unwrap().len(), nodes.len() - 1);
            assert!(node["peers"][0]["distance"].as_u64().is_some_and(|distance| distance >= 1));
            assert_eq!(node["peers"][0]["epsilon"], node["worst"]["epsilon"], "the largest comes first");
        }
    }
}

/// Rounded up to four digits that count: the rule of the printed numbers, by decimal arithmetic on text.
fn printed(value: f64) -> String {
    let text = format!("{value:.12}");
    let digits_before = text.find('.').unwrap();
    let first = text.find(|c: char| ('1'..='9').contains(&c)).unwrap();
    let decimals =
        if first < digits_before { 4usize.saturating_sub(digits_before) } else { first - digits_before + 3 };
    let cut = &text[..digits_before + 1 + decimals];
    let kept: f64 = cut.trim_end_matches('.').parse().unwrap();
    let up = if value > kept { kept + 10f64.powi(-(decimals as i32)) } else { kept };
    format!("{up:.decimals$}")
}

#[test]
fn numbers_agree_in_html_markdown_and_json() {
    let mut checked = 0;
    for (pairs, node) in [(ROUNDS, Some(2)), (GOSSIP, Some(4)), (ROUNDS, None)] {
        let report = report_of(lines(pairs), &Options { node, ..Options::default() });
        let (page, text) = (html(&report), markdown(&report));
        let value: Value = serde_json::from_str(&json(&report).unwrap()).unwrap();
        let shown = |figure: &Value| {
            (printed(figure["epsilon"].as_f64().unwrap()), figure["analysis"].as_str().unwrap().to_owned())
        };
        for key in ["worst", "mean", "local"] {
            let (epsilon, analysis) = shown(&value[key]);
            let mu2 = printed(value[key]["mu2"].as_f64().unwrap());
            assert!(
                text.contains(&format!("| {epsilon} | {mu2} | {analysis} |")),
                "{key} {epsilon} {mu2}: {text}"
            );
            let cells = format!(
                "<td class=\"n\">{epsilon}</td><td class=\"n\">{mu2}</td><td><code>{analysis}</code></td>"
            );
            assert!(page.contains(&cells), "{key}: {cells}");
        }
        for node in value["nodes"].as_array().unwrap() {
            for peer in node["peers"].as_array().unwrap() {
                let (epsilon, analysis) = shown(peer);
                let mu2 = printed(peer["mu2"].as_f64().unwrap());
                let cells = format!(
                    "<td class=\"n\">{epsilon}</td><td class=\"n\">{mu2}</td><td><code>{analysis}</code></td>"
                );
                assert!(page.contains(&cells), "{cells}");
                if value["nodes"].as_array().unwrap().len() == 1 {
                    let row = format!(
                        "| {} | {} | {epsilon} | {mu2} | {analysis} |",
                        peer["index"], peer["distance"]
                    );
                    assert!(text.contains(&row), "{row}");
                }
                checked += 1;
            }
        }
    }
    assert_eq!(checked, 5 + 8 + 30);
}

#[test]
fn a_page_needs_nothing_else_and_names_cannot_become_markup() {
    let mut log = lines(ROUNDS);
    if let RunEvent::Run { version, .. } = &mut log[0].event {
        *version = "<script>alert(1)</script>".into();
    }
    let page = html(&report_of(log, &Options::default()));
    assert!(page.starts_with("<!DOCTYPE html>"));
    for forbidden in ["<script", "<link", "<img", "@import"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert_eq!(page.matches("url(").count(), page.matches("url(#").count());
    // The only address is the name of the SVG namespace.
    assert_eq!(page.matches("http").count(), page.matches("xmlns=\"http://www.w3.org/2000/svg\"").count());
    assert_eq!(page.matches("<svg").count(), page.matches("role=\"img\"").count());
    for needed in [
        "lang=\"en\"",
        "<title>",
        "<desc>",
        "<caption>",
        "scope=\"col\"",
        "prefers-color-scheme:dark",
        "@media print",
    ] {
        assert!(page.contains(needed), "{needed}");
    }
}

#[test]
fn a_simulation_and_a_run_without_noise_protect_nobody_and_say_so() {
    let simulated = report_of(lines(ROUNDS), &Options::default());
    assert!(
        !simulated.private && simulated.guarantee.starts_with("None: this is a simulation"),
        "{}",
        simulated.guarantee
    );
    assert!(html(&simulated).contains("This run protects nobody."));
    let noiseless =
        report_of(real(lines(&["nodes=4", "rounds=2", "privacy.noise_multiplier=0"])), &Options::default());
    assert!(!noiseless.private && noiseless.guarantee.contains("no noise"), "{}", noiseless.guarantee);
    assert!(markdown(&noiseless).contains("| ∞ | ∞ | none (no noise) |"));
    let private = report_of(real(lines(ROUNDS)), &Options::default());
    assert!(private.private && private.guarantee.contains("analysis `rounds`"), "{}", private.guarantee);
}

#[test]
fn gossip_says_that_direct_neighbours_have_the_local_loss() {
    let report = report_of(lines(GOSSIP), &Options::default());
    for node in &report.nodes {
        for peer in node.peers.iter().filter(|peer| peer.distance == Some(1)) {
            assert_eq!((peer.figure.epsilon, peer.figure.analysis.as_str()), (node.local.epsilon, "local"));
        }
    }
    assert!(report.not_protected.iter().any(|text| text.starts_with("Direct neighbours")));
}

#[test]
fn a_contribution_that_only_the_ledger_knows_is_charged() {
    let log = real(lines(ROUNDS));
    let is_lost = |line: &LogLine| {
        line.node == Some(1)
            && matches!(
                line.event,
                RunEvent::Released { round: 4, .. } | RunEvent::RoundDone { round: 4, .. }
            )
    };
    let RunEvent::Run { release, .. } = &log[0].event else { panic!("a first line") };
    let records = (0..5)
        .map(|round| Record { id: u64::from(round), round, release: release.clone(), among: None })
        .collect();
    let whole = report_of(log.clone(), &Options::default());
    let mut source = Source::of_lines(log.into_iter().filter(|line| !is_lost(line)).collect()).unwrap();
    let without = Report::new(&source, &Options::default()).unwrap();
    assert!(without.nodes[1].local.epsilon < whole.nodes[1].local.epsilon);
    assert!(without.assumes.iter().any(|text| text.contains("no ledger")));
    source.add_ledger(Some(1), LedgerCopy { records, members: Vec::new(), forgotten: 0 });
    let charged = Report::new(&source, &Options::default()).unwrap();
    assert_eq!(charged.nodes[1].local.epsilon, whole.nodes[1].local.epsilon);
    assert!(charged.nodes[1].worst.figure.epsilon >= whole.nodes[1].worst.figure.epsilon);
    assert!(charged.faults.iter().any(|fault| fault.kind == "record without a line" && fault.count == 1));
}

#[test]
fn a_node_alone_reports_about_itself_and_never_less_than_the_swarm_would() {
    let log = real(lines(ROUNDS));
    let whole = report_of(log.clone(), &Options::default());
    let own: Vec<LogLine> = log.into_iter().filter(|line| matches!(line.node, None | Some(3))).collect();
    let source = Source::of_lines(own).unwrap();
    let mine = Report::new(&source, &Options::default()).unwrap();
    assert_eq!(mine.nodes.len(), 1);
    let whole = &whole.nodes[3];
    for peer in &mine.nodes[0].peers {
        let known = whole.peers.iter().find(|known| known.index == peer.index).unwrap();
        assert!(peer.figure.epsilon >= known.figure.epsilon, "{}", peer.index);
    }
    assert!(mine.nodes[0].worst.figure.epsilon <= 3.0, "within the budget that the node kept itself");
    let error = Report::new(&source, &Options { node: Some(2), ..Options::default() }).unwrap_err();
    assert!(matches!(error, ReportError::Untold { node: 2, .. }), "{error}");
    let error = Report::new(&source, &Options { node: Some(6), ..Options::default() }).unwrap_err();
    assert_eq!(error.to_string(), "there is no node 6: the run has nodes 0 to 5");
}

#[test]
fn broken_rounds_are_told_with_what_they_cost() {
    let report = report_of(
        lines(&[
            "nodes=6",
            "rounds=12",
            "privacy.epsilon=3",
            "faults.drop_prob=0.3",
            "timeouts.silence=200ms",
        ]),
        &Options::default(),
    );
    let broken = report
        .faults
        .iter()
        .find(|fault| fault.kind == "broken round")
        .expect("a third of the messages is lost");
    assert!(report.rounds.charged_as_local > 0 && broken.cost.starts_with("charged as local"));
    assert!(report.counted.iter().any(|text| text.contains("is in ε in full")), "{:?}", report.counted);
}

#[test]
fn real_losses_stay_out_unless_asked_for() {
    let log = real(lines(ROUNDS));
    let has_loss =
        |report: &Report| report.rounds.curve.points.iter().any(|point| point.train_loss.is_some());
    assert!(!has_loss(&report_of(log.clone(), &Options::default())));
    let asked = report_of(log, &Options { with_loss: true, ..Options::default() });
    assert!(has_loss(&asked) && asked.not_protected.iter().any(|text| text.contains("training losses")));
    assert!(has_loss(&report_of(lines(ROUNDS), &Options::default())), "a simulation has nothing to hide");
}

/// A node's folder with the figures of its own models: they are for who asks, and never without the word that no ε covers them.
#[test]
fn figures_of_own_models_stay_out_unless_asked_for_and_are_marked() {
    let folder = tempfile::tempdir().unwrap();
    let own = real(lines(ROUNDS)).into_iter().filter(|line| matches!(line.node, None | Some(3)));
    let text: String = own.map(|line| serde_json::to_string(&line).unwrap() + "\n").collect();
    std::fs::write(folder.path().join("log.jsonl"), text).unwrap();
    let figures =
        r#"{"measure": "accuracy", "shared": 0.8125, "personal": 0.9375, "alone": 0.875, "records": 16}"#;
    std::fs::write(folder.path().join("personal.json"), figures).unwrap();
    let source = Source::open(folder.path()).unwrap();
    let silent = Report::new(&source, &Options::default()).unwrap();
    let all = [html(&silent), markdown(&silent), json(&silent).unwrap()];
    assert!(all.iter().all(|text| !text.contains("0.9375") && !text.contains("93.8 %")));
    let asked = Report::new(&source, &Options { with_loss: true, ..Options::default() }).unwrap();
    for text in [html(&asked), markdown(&asked)] {
        assert!(text.contains("shared 81.2 %, personal 93.8 %, alone 87.5 % on 16 own records"), "{text}");
        assert!(text.contains("Not covered by ε"));
    }
    let value: Value = serde_json::from_str(&json(&asked).unwrap()).unwrap();
    assert_eq!(value["nodes"][0]["personal"]["personal"].as_f64(), Some(0.9375));
}

#[test]
fn epsilon_rises_over_the_rounds_to_the_final_figure() {
    let report = report_of(lines(&["nodes=6", "rounds=30", "privacy.epsilon=3"]), &Options::default());
    let points = &report.rounds.curve.points;
    assert!(points.len() >= 10);
    assert!(points.windows(2).all(|pair| pair[0].local <= pair[1].local && pair[0].round < pair[1].round));
    let last = points.last().unwrap();
    assert_eq!((last.worst, last.local), (Some(report.worst.figure.epsilon), Some(report.local.epsilon)));
}

#[test]
fn two_runs_stand_side_by_side_with_what_differs() {
    let source = |pairs: &[&str]| Source::of_lines(lines(pairs)).unwrap();
    let (one, two) = (source(ROUNDS), source(&["nodes=6", "rounds=5", "privacy.epsilon=6"]));
    let mut report = Report::new(&one, &Options::default()).unwrap();
    report.compare_with(&one, &two).unwrap();
    let other = report.compare.as_ref().unwrap();
    assert_eq!(other.differing_keys, ["privacy.epsilon"]);
    assert!(other.caution.is_none() && other.worst.epsilon > report.worst.figure.epsilon);
    assert!(
        html(&report).contains("Beside") && markdown(&report).contains("They differ in privacy.epsilon.")
    );
}

#[test]
fn a_comparison_of_the_simulator_has_no_report() {
    let source = Source::of_lines(lines(&["nodes=3", "rounds=2", "algorithm.kind=central"])).unwrap();
    let error = Report::new(&source, &Options::default()).unwrap_err();
    assert!(error.to_string().contains("`central` is a comparison") && error.hint().is_some());
}

/// Rényi orders suit a number of rounds: those of a long plan must still prove as much about a run that was stopped after a few.
#[test]
fn a_run_that_was_stopped_is_priced_as_what_it_was_and_not_as_what_was_planned() {
    use protocol::account::{Account, Shape};
    let pairs = ["nodes=16", "rounds=20", "batch_size=8", "privacy.noise_multiplier=3"];
    let (setup, lines) = (Setup::new(config(&pairs)).unwrap(), lines(&pairs));
    let mean = |shape: Shape| {
        let mut account = Account::new(shape).unwrap();
        lines.iter().for_each(|line| account.push(line));
        account.settle_final();
        account.summary().mean.epsilon
    };
    let planned = setup.shape();
    let longer = Shape { rounds: 20_000, ..planned.clone() };
    let (as_planned, by_the_plan) = (mean(planned), mean(longer));
    assert!((by_the_plan / as_planned - 1.0).abs() < 1e-2, "{by_the_plan} {as_planned}");
}

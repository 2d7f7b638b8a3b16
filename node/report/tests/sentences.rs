//! A test for every sentence of a report that was once false or misled.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use protocol::config::{Config, Layer};
use protocol::log::{Declared, Earlier};
use protocol::{FaultKind, LogLine, RunEvent, Setup, Time};
use report::{Options, Protection, Report, Several, SeveralError, Source, card, html, json, markdown};
use serde_json::Value;

fn lines(pairs: &[&str]) -> Vec<LogLine> {
    let config = Config::from_layers([Layer::from_flags("--set", pairs).unwrap()]).unwrap();
    let setup = Setup::new(config).unwrap();
    let mut lines = Vec::new();
    sim::run::run(&setup, &sim::Options::default(), &mut |line| lines.push(line.clone()), &mut |_| {})
        .unwrap();
    lines
}

/// The same log as if real processes had written it with private noise, each with its head.
fn real(pairs: &[&str], declared: &Declared) -> Vec<LogLine> {
    let mut lines = lines(pairs);
    for line in &mut lines {
        if let RunEvent::Run { driver, private_noise, .. } = &mut line.event {
            (*driver, *private_noise) = ("libp2p".into(), true);
        }
    }
    let nodes: std::collections::BTreeSet<u32> = lines.iter().filter_map(|line| line.node).collect();
    let names = ["Cleveland", "Budapest", "Zürich", "Long Beach"];
    for &node in &nodes {
        let head = |event| LogLine { time: Time(0), node: Some(node), event };
        lines.insert(1, head(RunEvent::Declared(Box::new(declared.clone()))));
        for (peer, name) in names.iter().enumerate() {
            lines.insert(2, head(RunEvent::Named { peer: peer as u32, name: (*name).into() }));
        }
    }
    lines
}

fn declared() -> Declared {
    Declared {
        // 2026-05-03 10:07 UTC.
        begun: 1_777_802_820,
        data: "va.csv".into(),
        data_digest: "ab".repeat(32),
        records: 200,
        inputs: 13,
        commit: "0123456789".into(),
        earlier: Some(Earlier::default()),
        ..Declared::default()
    }
}

const FOUR: &[&str] = &["nodes=4", "rounds=5", "privacy.epsilon=3", "purpose=who is ill"];

fn whole(pairs: &[&str]) -> Report {
    Report::new(&Source::of_lines(real(pairs, &declared())).unwrap(), &Options::default()).unwrap()
}

/// The report that node 3 makes of its own log.
fn own(pairs: &[&str], declared: &Declared) -> Report {
    let lines = real(pairs, declared).into_iter().filter(|line| matches!(line.node, None | Some(3)));
    Report::new(&Source::of_lines(lines.collect()).unwrap(), &Options::default()).unwrap()
}

#[test]
fn the_paragraph_to_quote_is_on_the_first_page_and_says_what_the_figures_say() {
    let report = own(FOUR, &declared());
    let percent = |epsilon: f64| format!("{:.0} %", (100.0 * epsilon.exp() / (1.0 + epsilon.exp())).ceil());
    let (worst, local) = (report.worst.figure.epsilon, report.local.epsilon);
    assert!(worst < local && worst > 1.0, "{worst} {local}");
    for part in [
        "On 3 May 2026 4 members (Cleveland, Budapest, Zürich, Long Beach) trained a model of the kind",
        "with 13 inputs. Its purpose: who is ill. Long Beach took part with 200 records.",
        &format!("from 50 % to at most {} (ε = ", percent(worst)),
        "but for a chance of one in 100,000), as long as the others follow the protocol; and to at most",
        &format!("and to at most {} (ε = ", percent(local)),
        "whoever works together and whether or not they follow the protocol. Whoever gets only the finished model learns no more than that.",
        "this is usual protection. Not covered: persons with several records, earlier uses of the data (the ledger of this data set: none).",
    ] {
        assert!(report.quote.contains(part), "{part}\n{}", report.quote);
    }
    let page = html(&report);
    let before_explanation = page.split("What ε means").next().unwrap();
    assert!(
        before_explanation.contains("<blockquote>") && before_explanation.contains("Long Beach took part")
    );
    for text in [&markdown(&report), &card(&report)] {
        assert!(text.contains(&report.quote), "{text}");
    }
}

#[test]
fn the_head_has_dates_names_numbers_digests_and_room_for_signatures() {
    let report = own(FOUR, &declared());
    let head = &report.head;
    assert_eq!(
        (head.began.as_deref(), head.about.as_deref()),
        (Some("2026-05-03 10:07 UTC"), Some("Long Beach"))
    );
    assert!(head.model_digest.is_some() && head.noise_multiplier.is_some_and(|z| z > 0.0));
    let page = html(&report);
    for part in [
        "2026-05-03 10:07 UTC",
        "Long Beach",
        "who is ill",
        &"ab".repeat(32),
        &report.config_digest,
        head.model_digest.as_deref().unwrap(),
        "commit <code>0123456789</code>",
        "Signatures",
        "place and date, signature",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn a_round_that_is_charged_in_full_is_protected_and_stands_under_how_it_was_counted() {
    let report = own(FOUR, &declared());
    assert!(report.rounds.charged_as_local > 0, "nothing confirms the last round of a node's own log");
    assert!(report.not_protected.iter().all(|text| !text.contains("no consensus was proved")));
    assert!(report.counted.iter().any(|text| text.contains("is in ε in full")), "{:?}", report.counted);
    assert!(report.faults.is_empty());
}

#[test]
fn more_is_said_to_be_learnt_together_only_where_it_is_more() {
    let rounds = whole(FOUR);
    let most = rounds.coalitions.iter().map(|one| one.figure.epsilon).fold(0.0, f64::max);
    assert!(most > rounds.worst.figure.epsilon);
    assert!(rounds.not_protected.iter().any(|text| text.contains("can learn more than one of them")));
    let gossip = whole(&[
        "nodes=4",
        "rounds=2",
        "algorithm.kind=gossip",
        "topology=complete",
        "privacy.noise_multiplier=4",
    ]);
    assert!(
        gossip.not_protected.iter().any(|text| text.contains("together learn no more than the headline")),
        "{:?}",
        gossip.not_protected
    );
    assert!(gossip.not_protected.iter().all(|text| !text.contains("can learn more than one of them")));
}

#[test]
fn a_node_is_in_no_coalition_that_watches_it_and_any_coalition_is_bounded_by_local() {
    let report = own(FOUR, &declared());
    assert!(report.coalitions.iter().all(|one| !one.members.contains(&3)));
    let found: Vec<&str> = report.coalitions.iter().map(|one| one.search.as_str()).collect();
    assert_eq!(found, ["worst of all 3 coalitions of 2", "the only coalition of 3"]);
    let bound = format!("However many of them there are, no more than ε = {:.3}", report.local.epsilon);
    let said = report.not_protected.iter().any(|text| text.contains(&bound[..bound.len() - 1]));
    assert!(said, "{bound}: {:?}", report.not_protected);
}

#[test]
fn a_coalition_that_is_asked_for_adds_a_row_and_takes_none_away() {
    let lines = real(&["nodes=8", "rounds=6", "privacy.epsilon=2"], &declared());
    let source = Source::of_lines(lines).unwrap();
    let plain = Report::new(&source, &Options::default()).unwrap();
    let asked = Report::new(&source, &Options { coalition: vec![0], ..Options::default() }).unwrap();
    assert_eq!(asked.coalitions[..2], plain.coalitions[..]);
    assert_eq!((asked.coalitions.len(), asked.coalitions[2].members.as_slice()), (3, &[0][..]));
    let pooled = |report: &Report| report.not_protected.iter().find(|text| text.contains("pool")).cloned();
    assert_eq!(pooled(&plain), pooled(&asked), "the worst stays");
    assert_eq!(asked.watchers.len(), plain.watchers.len() + 1);
}

#[test]
fn without_noise_nothing_is_called_seeded_and_no_noise_is_assumed() {
    let report = whole(&["nodes=4", "rounds=2", "privacy.epsilon=inf"]);
    let text = format!("{}{}", markdown(&report), json(&report).unwrap());
    assert!(!report.private && !text.contains("seeded"), "{}", report.guarantee);
    assert!(report.not_protected[0].contains("no noise"), "{:?}", report.not_protected);
    assert!(report.assumes.iter().all(|text| !text.contains("Gaussian noise")), "{:?}", report.assumes);
    assert!(report.quote.starts_with("This run protects nobody: contributions carried no noise."));
}

#[test]
fn what_members_see_before_anything_is_spent_and_floating_point_are_among_the_limits() {
    let report = whole(FOUR);
    for part in ["Names of columns, of categories and of classes", "floating point", "settings were tried"] {
        assert!(report.not_protected.iter().any(|text| text.contains(part)), "{part}");
    }
}

#[test]
fn who_could_have_learnt_how_much_has_a_row_for_each_and_they_are_in_order() {
    let report = whole(&["nodes=8", "rounds=6", "privacy.epsilon=2"]);
    let rows = &report.watchers;
    let who: Vec<&str> = rows.iter().map(|row| row.who.as_str()).collect();
    assert!(who[0].starts_with("any one") && who[1].contains("a third of the members (3 of 8)"), "{who:?}");
    assert!(
        who[2].starts_with("everybody") && who[3].contains("traffic") && who[4].contains("finished model")
    );
    let epsilon = |row: usize| rows[row].figure.as_ref().unwrap().epsilon;
    assert!(epsilon(0) <= epsilon(1) && epsilon(1) <= epsilon(2));
    assert_eq!(
        (epsilon(0), epsilon(2), epsilon(4)),
        (report.worst.figure.epsilon, report.local.epsilon, epsilon(0))
    );
    let worst = report.coalitions.iter().find(|one| one.members.len() == 3).unwrap();
    assert_eq!(epsilon(1), worst.figure.epsilon);
    assert!(rows[3].figure.is_none() && rows[3].rests_on.contains("encrypted"));
    for row in rows.iter().filter_map(|row| Some((row.figure.as_ref()?, row.belief?))) {
        assert!((row.1 - row.0.epsilon.exp() / (1.0 + row.0.epsilon.exp())).abs() < 1e-12);
    }
}

#[test]
fn a_third_of_many_members_is_bounded_by_everybody_where_not_all_groups_were_priced() {
    let report = whole(&["nodes=16", "rounds=3", "privacy.epsilon=2"]);
    let row = report.watchers.iter().find(|row| row.who.contains("a third")).unwrap();
    assert_eq!(row.figure.as_ref(), Some(&report.local));
    assert!(row.rests_on.contains("not all 8008 such groups were priced"), "{}", row.rests_on);
}

#[test]
fn a_large_epsilon_and_a_large_delta_are_called_weak_and_warned_of() {
    let weak = own(&["nodes=4", "rounds=5", "privacy.epsilon=45"], &declared());
    assert_eq!(weak.protection, Protection::Weak);
    assert!(weak.warnings.iter().any(|text| text.contains("above 10")));
    let often = own(&["nodes=4", "rounds=5", "privacy.epsilon=1", "privacy.delta=0.01"], &declared());
    assert_eq!(often.protection, Protection::Weak);
    assert!(
        often.warnings.iter().any(|text| text.contains("one over the 200 records")),
        "{:?}",
        often.warnings
    );
    assert!(html(&often).contains("Careful: "));
    assert!(own(FOUR, &declared()).warnings.is_empty());
}

#[test]
fn several_records_of_one_person_have_a_figure_of_their_own() {
    let with = Declared { persons: Some(90), most_of_person: Some(3), ..declared() };
    let report = own(FOUR, &with);
    let three = (3000.0 * report.worst.figure.epsilon).ceil() / 1000.0;
    assert!(
        report
            .persons
            .contains(&format!("up to 3 records at a node: together they are hidden with ε = {three:.3}")),
        "{}",
        report.persons
    );
    assert!(report.quote.contains("200 records of 90 persons"));
}

#[test]
fn earlier_uses_of_the_data_are_in_the_sentence() {
    let with = Declared { earlier: Some(Earlier { runs: 2, epsilon: 3.25, delta: 2e-5 }), ..declared() };
    let report = own(FOUR, &with);
    assert!(
        report.quote.contains("(the ledger of this data set: 2 runs, together ε = 3.250 at δ = 2e-5)"),
        "{}",
        report.quote
    );
    let unknown = own(FOUR, &Declared { earlier: None, ..declared() });
    assert!(unknown.quote.contains("no ledger of them was kept"));
}

#[test]
fn every_point_of_the_guidelines_is_answered_or_said_not_to_be_covered() {
    let report = own(FOUR, &declared());
    assert!(report.nist.len() >= 15);
    assert!(report.nist.iter().all(|point| point.answer.len() > 20), "{:?}", report.nist);
    for section in ["2.4", "2.6", "3.3", "4.2", "4.3", "4.4", "4.5"] {
        assert!(report.nist.iter().any(|point| point.section == section), "{section}");
    }
    assert!(report.nist.iter().filter(|point| point.answer.contains("Not covered")).count() >= 6);
}

#[test]
fn runs_add_up_and_the_sum_is_never_below_the_larger_one() {
    let one = Source::of_lines(real(FOUR, &declared())).unwrap();
    let two =
        Source::of_lines(real(&["nodes=4", "rounds=3", "privacy.epsilon=1", "name=second"], &declared()))
            .unwrap();
    let report =
        |source: &Source, node| Report::new(source, &Options { node, ..Options::default() }).unwrap();
    for node in [None, Some(3)] {
        let runs = [(report(&one, node), &one), (report(&two, node), &two)];
        let several = Several::new(&runs).unwrap();
        let (a, b) = (runs[0].0.worst.figure.epsilon, runs[1].0.worst.figure.epsilon);
        let together = several.one_member.epsilon;
        assert!(together > a.max(b) && together <= (a + b) * (1.0 + 1e-9), "{together} {a} {b}");
        assert!(several.everybody.epsilon >= together && (several.delta - 2e-5).abs() < 1e-12);
        // Whole batches are Gaussian: μ² add up.
        let mu2: f64 = runs.iter().map(|(run, _)| run.worst.figure.mu2).sum();
        let exact = privacy::gdp::epsilon(mu2.sqrt(), several.delta).unwrap();
        assert!((together / exact - 1.0).abs() < 1e-6, "{together} {exact}");
        assert!(several.markdown().contains("| second |"));
    }
    let nodes = Source::of_lines(real(&["nodes=4", "rounds=3", "privacy.unit=node"], &declared())).unwrap();
    let runs = [(report(&one, None), &one), (report(&nodes, None), &nodes)];
    assert!(matches!(Several::new(&runs), Err(SeveralError::Units { .. })));
}

#[test]
fn one_run_is_not_added_to_itself_and_two_members_reports_of_it_are_told_apart() {
    let source = Source::of_lines(real(FOUR, &declared())).unwrap();
    let by = |node| Report::new(&source, &Options { node: Some(node), ..Options::default() }).unwrap();
    let twice = Several::new(&[(by(3), &source), (by(3), &source)]).unwrap_err();
    assert!(twice.to_string().contains("is named twice"), "{twice}");
    let several = Several::new(&[(by(2), &source), (by(3), &source)]).unwrap();
    assert!(
        several.cautions[0].contains("Zürich and Long Beach have one configuration"),
        "{:?}",
        several.cautions
    );
    // The padding of a sum is not printed digit by digit.
    assert!(several.markdown().contains("| together | | 2.001e-5 |"), "{}", several.markdown());
}

#[test]
fn a_card_begins_with_front_matter_that_is_yaml() {
    let report = own(FOUR, &declared());
    let text = card(&report);
    let front = text.strip_prefix("---\n").unwrap().split("\n---\n").next().unwrap();
    for line in front.lines().filter(|line| !line.starts_with("- ")) {
        let (key, value) = line.split_once(':').unwrap_or_else(|| panic!("{line}"));
        let value = value.trim();
        let is_word = !value.is_empty()
            && value.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-' || letter == '.');
        assert!(
            !key.is_empty() && (value.is_empty() || is_word || serde_json::from_str::<Value>(value).is_ok()),
            "{line}"
        );
    }
    for key in ["unit: record", "epsilon_one_member: ", "delta: 1e-5", "library_name: murmur"] {
        assert!(front.contains(key), "{key}: {front}");
    }
}

/// What a report says under masks, with whole numbers as noise.
#[test]
fn noise_on_integers_is_not_said_to_be_drawn_in_floating_point() {
    let point = |report: &Report, asks: &str| {
        report.nist.iter().find(|point| point.asks.contains(asks)).unwrap().answer.clone()
    };
    for (more, on_integers) in [
        ("privacy.masking=pairwise", true),
        ("privacy.noise=discrete", true),
        ("privacy.masking=none", false),
    ] {
        let report = own(&[FOUR, &[more]].concat(), &declared());
        let last_bits = report.not_protected.iter().any(|text| text.contains("floating point"));
        assert_eq!(last_bits, !on_integers, "{more}: {:?}", report.not_protected);
        assert_eq!(point(&report, "floating point").contains("exact probabilities"), on_integers, "{more}");
        assert_eq!(point(&report, "floating point").contains("Not covered"), !on_integers, "{more}");
        assert_eq!(point(&report, "mechanism").contains("on integers"), on_integers, "{more}");
    }
    let silent = whole(&["nodes=4", "rounds=2", "privacy.epsilon=inf"]);
    assert!(point(&silent, "mechanism").contains("no noise"));
    assert!(silent.not_protected.iter().all(|text| !text.contains("floating point")));
}

#[test]
fn only_where_all_hold_one_model_does_publishing_it_add_nothing() {
    for (kind, adds_nothing) in [("rounds", true), ("gossip", false), ("walk", false)] {
        let kind = format!("algorithm.kind={kind}");
        let report = whole(&["nodes=4", "rounds=2", &kind, "topology=ring", "privacy.noise_multiplier=4"]);
        let released = report.nist.iter().find(|point| point.section == "3.4").unwrap();
        assert_eq!(released.answer.contains("adds nothing"), adds_nothing, "{kind}: {}", released.answer);
        let row = report.watchers.iter().find(|row| row.who.contains("finished model")).unwrap();
        let expected = if adds_nothing { &report.worst.figure } else { &report.local };
        assert_eq!(row.figure.as_ref(), Some(expected), "{kind}");
    }
}

#[test]
fn what_one_member_and_what_several_saw_are_told_apart_only_where_they_differ() {
    let masked = "privacy.masking=pairwise";
    // Fewer than a third of four is one, of eight two.
    let four = own(&[FOUR, &[masked]].concat(), &declared());
    assert!(four.guarantee.contains("allows. This holds against observers"), "{}", four.guarantee);
    assert!(!four.guarantee.contains("any member"), "{}", four.guarantee);
    let eight = whole(&["nodes=8", "rounds=3", "privacy.epsilon=2", masked]);
    assert!(eight.guarantee.contains("what any 2 members together saw"), "{}", eight.guarantee);
    assert!(eight.colluding.as_ref().unwrap().figure.epsilon > eight.worst.figure.epsilon);
    for report in [&four, &eight] {
        assert!(
            report.counted.iter().any(|text| text.contains("shows its total alone")),
            "{:?}",
            report.counted
        );
        assert!(report.quote.contains("as long as nobody breaks the masks"), "{}", report.quote);
    }
}

#[test]
fn a_program_whose_source_was_changed_is_called_modified() {
    let with = Declared { commit: "0123456789, modified".into(), ..declared() };
    let report = own(FOUR, &with);
    assert!(html(&report).contains("commit <code>0123456789, modified</code>"));
    assert!(report.warnings.iter().any(|text| text.contains("modified source")), "{:?}", report.warnings);
    assert!(own(FOUR, &declared()).warnings.is_empty());
}

/// What is signed has four pages whatever happened; what there is no room for is in the appendix.
#[test]
fn many_faults_are_told_in_short_before_the_signatures_and_in_full_behind_them() {
    let kinds = [
        FaultKind::WrongRun,
        FaultKind::WrongSender,
        FaultKind::WrongKind,
        FaultKind::WrongLength,
        FaultKind::NotFinite,
        FaultKind::Flood,
        FaultKind::Replay,
        FaultKind::BadSignature,
    ];
    let mut lines = real(&["nodes=8", "rounds=4", "privacy.epsilon=2", "algorithm.kind=rounds"], &declared());
    let at = lines.len() - 1;
    for (round, fault) in kinds.into_iter().enumerate() {
        for peer in 1..8 {
            let event = RunEvent::PeerFault { peer, fault, round: round as u32 };
            lines.insert(at, LogLine { time: Time(0), node: Some(0), event });
        }
    }
    let event = RunEvent::Refused { round: 3, reason: "spent".into() };
    lines.insert(at, LogLine { time: Time(0), node: Some(5), event });
    let report = Report::new(&Source::of_lines(lines).unwrap(), &Options::default()).unwrap();
    assert_eq!(report.faults.len(), 9);
    let page = html(&report);
    let (signed, appendix) = page.split_once("class=\"appendix\"").unwrap();
    assert_eq!(signed.matches("what was sent was not used").count() + 1, 6, "six kinds");
    assert!(signed.contains("3 more kinds of faults, at no cost in privacy: see the appendix."));
    assert!(signed.contains(" and others, 7 in all") && signed.contains("contribution refused"));
    assert_eq!(appendix.matches("what was sent was not used").count(), 8);
    assert!(appendix.contains("All that went wrong"));
    let calm = html(&whole(FOUR));
    assert!(calm.contains("<p>Nothing.</p>") && !calm.contains("All that went wrong"));
}

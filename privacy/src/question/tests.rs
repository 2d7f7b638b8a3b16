//! Questions as values: written, read, asked.

use super::*;
use crate::network::{Analysis, NetworkError};
use topology::{Hint, Spec};

fn asked(text: &str) -> Result<Answer, QuestionError> {
    let question: Question = serde_json::from_str(text).unwrap();
    let again: Question = serde_json::from_str(&serde_json::to_string(&question).unwrap()).unwrap();
    assert_eq!(question, again, "what is written down is what was asked");
    question.answer(&Waiting::patiently())
}

const QUESTIONS: [&str; 6] = [
    r#"{"question":"pairwise","situation":{"topology":"ring:6","analysis":"linear","rounds":3}}"#,
    r#"{"question":"pairwise","situation":{"topology":"complete:5","analysis":"walk","rounds":20,"samples":5}}"#,
    r#"{"question":"calibrate","situation":{"schedule":"doubling","nodes":8,"analysis":"rounds"},"epsilon":1.0,"delta":1e-5,"of":"p95"}"#,
    r#"{"question":"compare","graphs":["ring:8"],"tolerance":0.01}"#,
    r#"{"question":"account","events":[{"kind":"gaussian","noise_multiplier":2.0}],"ask":{"epsilon_at":1e-5}}"#,
    r#"{"question":"convert","from":{"kind":"mu","mu":1.0}}"#,
];

#[test]
fn every_question_can_be_written_down_and_every_answer_names_its_analysis() {
    for text in QUESTIONS {
        let answer = asked(text).unwrap();
        let json = serde_json::to_value(&answer).unwrap();
        let named = ["rows", "accountants", "results"].iter().find_map(|list| json.get(list)?.get(0));
        assert!(named.unwrap_or(&json)["analysis"].is_string(), "{text}: {json}");
    }
}

#[test]
fn unknown_keys_are_refused_in_every_question() {
    for text in QUESTIONS {
        let with_more = text.replacen('{', r#"{"colour":"red","#, 1);
        let refused = serde_json::from_str::<Question>(&with_more).unwrap_err().to_string();
        assert!(refused.contains("colour"), "{with_more}: {refused}");
    }
    let nested = r#"{"question":"pairwise","situation":{"topology":"ring:6","analysis":"rounds","sigma":3}}"#;
    assert!(serde_json::from_str::<Question>(nested).unwrap_err().to_string().contains("sigma"));
}

#[test]
fn a_graph_at_hand_is_priced_as_the_one_that_is_described() {
    let situation = Situation {
        topology: Some("karate".into()),
        analysis: Analysis::Contractive,
        rounds: 4,
        ..Situation::default()
    };
    let question = pairwise::Question { situation, noise: Noise { sigma: 3.0, ..Noise::default() } };
    let described = question.answer(&Waiting::patiently()).unwrap();
    let graph = "karate".parse::<Spec>().unwrap().build().unwrap().graph;
    let at_hand = question.answer_on(graph, &Waiting::patiently()).unwrap();
    assert_eq!(serde_json::to_string(&described).unwrap(), serde_json::to_string(&at_hand).unwrap());
    assert_eq!(described.summary(), at_hand.summary());
}

#[test]
fn one_learns_nothing_about_oneself_and_that_is_null() {
    let Answer::Pairwise(pairs) = asked(QUESTIONS[0]).unwrap() else { panic!("pairs were asked for") };
    for watcher in 0..6 {
        assert!(pairs.mu2[[watcher, watcher]].is_nan() && pairs.epsilon[[watcher, watcher]].is_nan());
    }
    let json = serde_json::to_value(&pairs).unwrap();
    assert!(json["mu2"][2][2].is_null() && json["mu2"][2][3].is_number());
    assert_eq!(json["epsilon"].as_array().map(Vec::len), Some(6));
    assert!(json.get("mu2_margin_95").is_none(), "no paths were sampled");
}

#[test]
fn the_summary_counts_each_pair_once_at_its_distance() {
    let Answer::Pairwise(pairs) = asked(QUESTIONS[0]).unwrap() else { panic!("pairs were asked for") };
    let summary = pairs.summary();
    let pairs_at: Vec<(Option<u32>, usize)> =
        summary.by_distance.iter().map(|at| (at.distance, at.pairs)).collect();
    // On a ring of six: two neighbours, two at distance two, one opposite.
    assert_eq!(pairs_at, [(Some(1), 12), (Some(2), 12), (Some(3), 6)]);
    let worst = summary.worst.unwrap();
    assert_eq!(worst.epsilon, pairs.epsilon[[worst.row, worst.source]]);
    assert_eq!(worst.epsilon, summary.all.epsilon.max);
}

#[test]
fn numbers_that_make_no_sense_are_refused_wherever_they_come_from() {
    let with = |more: &str| {
        format!(
            r#"{{"question":"pairwise","situation":{{"topology":"ring:6","analysis":"rounds"}},"noise":{{{more}}}}}"#
        )
    };
    for (more, option) in [
        (r#""sigma":0.0"#, "--sigma"),
        (r#""sensitivity":-1.0"#, "--sensitivity"),
        (r#""delta":1.0"#, "--delta"),
    ] {
        let refused = asked(&with(more)).unwrap_err();
        assert!(refused.to_string().starts_with(option) && refused.hint().is_some(), "{refused}");
    }
    let nobody = r#"{"question":"pairwise","situation":{"topology":"ring:6","rounds":0}}"#;
    assert!(asked(nobody).unwrap_err().to_string().contains("--rounds"));
    let empty = r#"{"question":"pairwise","situation":{"path":[],"analysis":"walk"}}"#;
    assert!(matches!(asked(empty), Err(QuestionError::Network(NetworkError::NothingHappens))));
}

#[test]
fn formulas_for_single_watchers_are_not_evaluated_for_coalitions() {
    for formula in ["muffliato-2022", "random-walk-2024", "matrix-factorisation-2026"] {
        let text = format!(
            r#"{{"question":"pairwise","situation":{{"topology":"ring:6","analysis":"published","formula":"{formula}","coalition":[0,2]}}}}"#
        );
        assert!(matches!(asked(&text), Err(QuestionError::SingleWatchers(_))), "{formula}");
    }
}

#[test]
fn without_another_analysis_everybody_sees_everything() {
    let found = asked(r#"{"question":"pairwise","situation":{"topology":"ring:6","rounds":3}}"#).unwrap();
    let Answer::Pairwise(pairs) = found else { panic!("pairs were asked for") };
    assert_eq!((pairs.analysis, pairs.mu2[[0, 3]]), (Analysis::Local, 3.0));
}

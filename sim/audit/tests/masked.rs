//! Masked rounds under attack by somebody who sees all traffic and knows the secrets of some members: honest ones stay below the account, and each way of getting masks or noise wrong
//! that the specification lists is caught.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use audit::{Attack, Audit, AuditError, Request, Sabotage, Verdict, built_in};
use protocol::Setup;

/// Five members: beside one watcher four hide a contribution, so that a contribution seen alone stands out by a factor of two in μ.
const MASKED: [&str; 5] = [
    "nodes=5",
    "data=blobs:nodes=8,records=8,dim=5,classes=4,test=0",
    "privacy.masking=pairwise",
    "privacy.noise_multiplier=0.55",
    "rounds=2",
];

fn audit(set: &[&str], coalition: Vec<usize>, sabotage: Option<Sabotage>) -> Result<Audit, AuditError> {
    let setup = Setup::new(built_in(&[&MASKED, set].concat()).unwrap()).unwrap();
    let (attacks, trials) = (vec![Attack::Distinguish], 400);
    let confidence = if sabotage.is_none() { 0.999 } else { 0.95 };
    let request = Request { attacks, trials, confidence, coalition, sabotage, ..Request::new(setup) };
    audit::run(&request, &|_| ())
}

/// Each with confidence 0.999: a right account fails with other seeds once in a thousand.
#[test]
fn a_watcher_a_coalition_and_the_wire_stay_below_the_account_and_see_the_total() {
    for coalition in [vec![], vec![0, 1]] {
        let report = audit(&[], coalition, None).unwrap();
        assert_eq!(report.verdict, Verdict::Passed, "{report:#?}");
        assert!(report.findings.iter().all(|finding| finding.upper.as_ref().unwrap().analysis == "masked"));
        let shown = report.findings.iter().any(|finding| finding.lower.as_ref().unwrap().epsilon > 0.0);
        assert!(shown, "an audit that shows nothing: {report:#?}");
    }
}

/// Nobody but itself hides it: its own noise, in the clear once all that the others know is taken off.
#[test]
fn the_one_honest_member_that_is_left_pays_for_being_seen_and_no_more() {
    let bound = |coalition: Vec<usize>| {
        let report = audit(&[], coalition, None).unwrap();
        assert_eq!(report.verdict, Verdict::Passed, "{report:#?}");
        let of = |finding: &audit::Finding| {
            let upper = finding.upper.as_ref().and_then(|upper| upper.epsilon).unwrap();
            (finding.lower.as_ref().unwrap().epsilon, upper)
        };
        report.findings.iter().map(of).collect::<Vec<_>>()
    };
    let (many, last) = (bound(vec![0, 1]), bound(vec![0, 1, 2, 3]));
    for ((_, hidden), (found, alone)) in many.iter().zip(&last) {
        assert!(alone > hidden && found <= alone, "{alone} where nobody else hides it, {hidden} among three");
    }
    assert!(last.iter().zip(&many).any(|(last, many)| last.0 > many.0), "more is seen of it: {last:?}");
}

#[track_caller]
fn assert_caught(sabotage: Sabotage) {
    let report = audit(&[], Vec::new(), Some(sabotage)).unwrap();
    assert!(!report.passed, "{sabotage:?} was not caught: {report:#?}");
}

#[test]
fn a_key_that_is_used_twice_is_caught() {
    assert_caught(Sabotage::MaskKeyReused);
}

#[test]
fn a_round_that_is_left_out_of_the_key_is_caught() {
    assert_caught(Sabotage::MaskRoundLeftOut);
}

#[test]
fn members_without_noise_are_caught() {
    assert_caught(Sabotage::MemberWithoutNoise);
}

#[test]
fn the_same_noise_twice_is_caught() {
    assert_caught(Sabotage::NoiseReused);
}

#[test]
fn words_in_the_clear_are_caught() {
    assert_caught(Sabotage::WordsInClear);
}

#[test]
fn the_late_sum_of_a_node_that_was_taken_for_dead_is_caught() {
    assert_caught(Sabotage::LateSum);
}

#[test]
fn a_wrong_sign_shows_in_void_rounds_and_so_do_words_that_were_rounded() {
    for sabotage in [Sabotage::MaskWrongSign, Sabotage::WordsAsReals] {
        let found = audit(&[], Vec::new(), Some(sabotage));
        assert!(matches!(found, Err(AuditError::Void)), "{sabotage:?}: {found:?}");
    }
}

/// Masks still cancel, so that no check word shows it: the model does.
#[test]
fn totals_that_went_around_show_in_the_model() {
    let found = audit(&[], Vec::new(), Some(Sabotage::Wrap));
    assert!(matches!(found, Err(AuditError::Totals)), "{found:?}");
}

#[test]
fn what_is_not_there_cannot_be_broken_and_other_attacks_say_why_they_do_not_apply() {
    let with = |set: &[&str], attacks: Vec<Attack>, sabotage| {
        let setup = Setup::new(built_in(&[&MASKED, set].concat()).unwrap()).unwrap();
        audit::run(&Request { attacks, trials: 30, sabotage, ..Request::new(setup) }, &|_| ())
    };
    for (set, sabotage) in
        [(&["privacy.masking=none"][..], Sabotage::WordsInClear), (&[], Sabotage::ClipSkipped)]
    {
        let found = with(set, vec![Attack::Distinguish], Some(sabotage));
        assert!(matches!(found, Err(AuditError::NothingBroken { .. })), "{found:?}");
    }
    let report = with(&[], vec![Attack::Reconstruct, Attack::Received], None).unwrap();
    assert_eq!((report.verdict, report.skipped.len()), (Verdict::Nothing, 2));
}

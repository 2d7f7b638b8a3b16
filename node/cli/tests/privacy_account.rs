//! `murmur privacy account` and `murmur privacy convert` from outside.

mod common;

use common::{refused_with_a_hint as refused, stdout};
use serde_json::Value;

#[track_caller]
fn json(args: &[&str]) -> Value {
    common::json(&[args, &["--format", "json"]].concat())
}

fn accountant<'a>(report: &'a Value, name: &str) -> &'a Value {
    let list = report["accountants"].as_array().expect("a list");
    list.iter().find(|entry| entry["name"] == name).expect("every accountant is listed")
}

#[track_caller]
fn assert_close(found: &Value, expected: f64, tolerance: f64) {
    let found = found.as_f64().expect("a number");
    assert!((found / expected - 1.0).abs() < tolerance, "{found} instead of {expected}");
}

const DPSGD: &str = "gaussian:sigma=1,rate=0.01,count=10000";

#[test]
fn dp_sgd_is_priced_by_every_accountant_that_can_and_the_distribution_is_best() {
    let report = json(&["privacy", "account", "--event", DPSGD, "--delta", "1e-6"]);
    // privacy/testdata/dpsgd_epsilon.csv: PRV estimate 6.9073857, Rényi 7.4140253.
    assert_close(&accountant(&report, "pld")["epsilon"], 6.907_385_7, 1e-4);
    assert_close(&accountant(&report, "renyi")["epsilon"], 7.414_025_3, 1e-3);
    assert_eq!(accountant(&report, "gaussian")["status"], "unsupported");
    assert!(accountant(&report, "gaussian")["epsilon"].is_null());
    assert_eq!(report["best"], "pld");
    assert_eq!(report["adjacency"], "add_or_remove");
    let basic = accountant(&report, "basic")["epsilon"].as_f64().expect("a number");
    let advanced = accountant(&report, "advanced")["epsilon"].as_f64().expect("a number");
    assert!(basic > advanced && advanced > 7.5, "{basic} {advanced}");
}

#[test]
fn the_table_marks_the_best_and_says_what_the_figures_are() {
    let text = stdout(&["privacy", "account", "--event", "gaussian:sigma=10,count=100", "--delta", "1e-5"]);
    assert!(text.contains("best") && text.contains("upper bounds") && text.contains("δ = 1e-5"), "{text}");
    // privacy/testdata/gaussian_exact.csv: 4.377178095… rounded up to six digits.
    assert!(text.contains("4.37718"), "{text}");
}

#[test]
fn delta_can_be_asked_for_instead() {
    let event = "gaussian:sigma=2,rate=0.01,count=10000";
    let report = json(&["privacy", "account", "--event", event, "--epsilon", "1", "--accountant", "pld"]);
    assert_eq!(report["accountants"].as_array().map(Vec::len), Some(1));
    // Published by DPBayes/PLD-Accountant: 0.010224911.
    assert_close(&accountant(&report, "pld")["delta"], 0.010_224_911, 1e-3);
}

#[test]
fn a_release_without_protection_makes_everything_infinite() {
    let report = json(&[
        "privacy",
        "account",
        "--event",
        "gaussian:sigma=1",
        "--event",
        "non-private",
        "--delta",
        "1e-5",
    ]);
    for entry in report["accountants"].as_array().expect("a list") {
        assert_eq!(entry["status"], "infinite", "{entry}");
        assert!(entry["epsilon"].is_null(), "{entry}");
    }
    assert!(report["best"].is_null());
}

#[test]
fn events_come_from_a_file_too() {
    let path = format!("{}/events-{}.json", env!("CARGO_TARGET_TMPDIR"), std::process::id());
    let gaussian = r#"{"kind":"gaussian","noise_multiplier":10.0}"#;
    std::fs::write(&path, format!(r#"[{{"kind":"composed","count":100,"event":{gaussian}}}]"#))
        .expect("a file");
    let report = json(&["privacy", "account", "--file", &path, "--delta", "1e-5"]);
    assert_close(&accountant(&report, "gaussian")["epsilon"], 4.377_178_095_681, 1e-9);

    std::fs::write(&path, r#"{"kind":"gaussian","noise_multiplier":-1.0}"#).expect("a file");
    refused(
        &["privacy", "account", "--file", &path, "--delta", "1e-5"],
        &["noise_multiplier", "-1", "event 1"],
    );
    std::fs::write(&path, r#"{"kind":"magic"}"#).expect("a file");
    refused(&["privacy", "account", "--file", &path, "--delta", "1e-5"], &["magic", "does not hold events"]);
    std::fs::remove_file(&path).expect("the file is there");
    refused(&["privacy", "account", "--file", &path, "--delta", "1e-5"], &["cannot read"]);
}

#[test]
fn bad_input_is_refused_with_a_hint() {
    let account = |event: &str, delta: &str, parts: &[&str]| {
        refused(&["privacy", "account", "--event", event, "--delta", delta], parts);
    };
    account("gaussian:sigma=0", "1e-5", &["noise_multiplier", "0"]);
    account("gaussian:sigma=-3", "1e-5", &["-3"]);
    account("gaussian:sigma=nan", "1e-5", &["NaN"]);
    account("gaussian:sigma=1,rate=1.5", "1e-5", &["rate", "1.5"]);
    account("gaussian:sigma=1,sample=20,population=10", "1e-5", &["20", "10"]);
    account("wizardry:sigma=1", "1e-5", &["wizardry"]);
    for delta in ["0", "1", "-0.1", "nan", "2"] {
        account("gaussian:sigma=1", delta, &["δ must lie between 0 and 1"]);
    }
    refused(&["privacy", "account", "--delta", "1e-5"], &["no events"]);
    let (poisson, fixed) = ("gaussian:sigma=1,rate=0.1", "gaussian:sigma=1,sample=1,population=10");
    refused(&["privacy", "account", "--event", poisson, "--event", fixed, "--delta", "1e-5"], &["replacing"]);
}

#[test]
fn mu_converts_exactly_into_everything() {
    let report = json(&["privacy", "convert", "--mu", "1", "--delta", "1e-5", "--alpha", "8"]);
    let results = report["results"].as_array().expect("a list");
    let to = |name: &str| results.iter().find(|result| result["to"] == name).expect("a result");
    assert_close(&to("approximate")["epsilon"], 4.377_178_095_681, 1e-9);
    assert_close(&to("zcdp")["rho"], 0.5, 1e-12);
    assert_close(&to("renyi")["epsilon"], 4.0, 1e-12);
    assert!(results.iter().all(|result| result["kind"] == "exact"), "{report}");
}

#[test]
fn a_point_gives_its_gaussian_as_a_target_and_no_renyi_bound() {
    let report = json(&["privacy", "convert", "--epsilon", "1", "--delta", "1e-5"]);
    let results = report["results"].as_array().expect("a list");
    let to = |name: &str| results.iter().find(|result| result["to"] == name).expect("a result");
    // Balle and Wang 2018: σ = 3.7306316348159418 for (1, 1e-5).
    assert_close(&to("mu")["mu"], 1.0 / 3.730_631_634_815_942, 1e-9);
    assert_eq!(to("mu")["kind"], "target");
    assert_eq!(to("renyi")["kind"], "refused");
    refused(
        &["privacy", "convert", "--epsilon", "1", "--delta", "1e-5", "--to", "renyi"],
        &["probability δ"],
    );
    refused(&["privacy", "convert", "--rho", "1", "--to", "mu"], &["does not imply"]);
}

#[test]
fn pure_epsilon_zcdp_and_renyi_convert_by_their_theorems() {
    // Randomised response with e^ε = 3 has corner 1/4: μ = −2Φ⁻¹(1/4) = 1.3489795.
    let pure = json(&["privacy", "convert", "--epsilon", "1.0986122886681098", "--to", "mu"]);
    assert_close(&pure["results"][0]["mu"], 1.348_979_500_392_163, 1e-9);
    // google/differential-privacy: σ = 4.530877117, ρ = 1/(2σ²), is (1, 1e-6) by RDP.
    let zcdp =
        json(&["privacy", "convert", "--rho", "0.024355886", "--delta", "1e-6", "--to", "approximate"]);
    assert_close(&zcdp["results"][0]["epsilon"], 1.0, 1e-5);
    // By hand: 0.5 + ln(7/8) − (ln 1e-5 + ln 8)/7.
    let args = ["privacy", "convert", "--renyi-alpha", "8", "--renyi-epsilon", "0.5", "--delta", "1e-5"];
    let renyi = json(&[&args[..], &["--to", "approximate"]].concat());
    let expected = 0.5 + 0.875f64.ln() - (1e-5f64.ln() + 8f64.ln()) / 7.0;
    assert_close(&renyi["results"][0]["epsilon"], expected, 1e-9);
}

#[test]
fn bad_conversions_are_refused() {
    refused(&["privacy", "convert", "--mu", "-1"], &["--mu", "-1"]);
    refused(&["privacy", "convert", "--mu", "nan"], &["--mu", "NaN"]);
    refused(&["privacy", "convert", "--mu", "1", "--delta", "1"], &["δ must lie between 0 and 1"]);
    refused(&["privacy", "convert", "--renyi-alpha", "1", "--renyi-epsilon", "1"], &["--renyi-alpha"]);
    refused(&["privacy", "convert", "--mu", "1", "--alpha", "0.5"], &["--alpha"]);
}

//! `murmur privacy pairwise`, `calibrate` and `compare`, as a user sees them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use assert_cmd::Command;
use serde_json::Value;
use std::path::PathBuf;

fn murmur(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("murmur").unwrap();
    command.arg("privacy").args(arguments);
    command
}

fn json(arguments: &[&str]) -> Value {
    let output = murmur(arguments).args(["--format", "json"]).assert().success().get_output().stdout.clone();
    serde_json::from_slice(&output).unwrap()
}

/// stderr of a command that must fail as a user's mistake does.
fn refusal(arguments: &[&str]) -> String {
    let assert = murmur(arguments).assert().code(2);
    assert!(assert.get_output().stdout.is_empty(), "{arguments:?}");
    String::from_utf8(assert.get_output().stderr.clone()).unwrap()
}

fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("privacy-network-{name}"));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn json_has_every_key_a_row_per_watcher_and_null_for_oneself() {
    let found = json(&["pairwise", "--topology", "ring:6", "--steps", "2", "--analysis", "rounds"]);
    let keys = "analysis method nodes steps rounds sigma sensitivity delta message_noise guarantee assumes watchers mu2 epsilon";
    for key in keys.split(' ') {
        assert!(found.get(key).is_some(), "{key} in {found}");
    }
    assert_eq!(found["watchers"], serde_json::json!([0, 1, 2, 3, 4, 5]));
    for (watcher, row) in found["mu2"].as_array().unwrap().iter().enumerate() {
        let row = row.as_array().unwrap();
        assert_eq!(row.len(), 6);
        assert!(row[watcher].is_null());
        // Two steps on a ring reach two nodes to each side; the opposite node is out of reach.
        assert_eq!(row[(watcher + 3) % 6].as_f64(), Some(0.0));
    }
}

#[test]
fn one_peer_exponential_loses_two_to_the_minus_level_each_round() {
    let flags = [
        "pairwise",
        "--schedule",
        "one-peer-exponential",
        "--nodes",
        "16",
        "--rounds",
        "5",
        "--analysis",
        "rounds",
    ];
    let found = json(&[&flags[..], &["--sigma", "2", "--sensitivity", "3"]].concat());
    for v in 0..16usize {
        for u in (0..16usize).filter(|&u| u != v) {
            let level = (u ^ v).ilog2();
            let expected = 5.0 * 2.25 / f64::from(1u32 << level);
            let mu2 = found["mu2"][v][u].as_f64().unwrap();
            assert!((mu2 - expected).abs() < 1e-9 * expected, "{u} seen by {v}: {mu2} for {expected}");
        }
    }
}

#[test]
fn a_coalition_has_one_row_and_its_members_none() {
    let found = json(&["pairwise", "--topology", "path:5", "--analysis", "rounds", "--coalition", "0,2"]);
    assert_eq!(found["mu2"], serde_json::json!([[null, 1.0, null, 1.0, 0.0]]));
    assert_eq!(found["watchers"], serde_json::json!([0, 2]));
}

#[test]
fn every_analysis_is_named_and_only_some_promise_something() {
    for analysis in ["rounds", "contractive", "linear", "local", "published"] {
        let found = json(&["pairwise", "--topology", "ring:5", "--analysis", analysis, "--watcher", "0"]);
        assert_eq!(found["analysis"], analysis);
        let guarantee = found["guarantee"].as_str().unwrap();
        assert_eq!(guarantee.starts_with("None"), analysis == "published", "{guarantee}");
    }
    let table = murmur(&["pairwise", "--topology", "ring:5", "--analysis", "linear"]).assert().success();
    let text = String::from_utf8(table.get_output().stdout.clone()).unwrap();
    assert!(text.contains("For SGD this is not a guarantee"), "{text}");
}

#[test]
fn a_walk_s_path_is_read_from_a_file() {
    let file = scratch("walk").join("path.txt");
    // Node 1 is visited 3 steps before the look of node 0, then once more right before the next.
    std::fs::write(&file, "1,2,2\n0\n1\n0\n").unwrap();
    let found = json(&["pairwise", "--path", file.to_str().unwrap(), "--analysis", "walk", "--watcher", "0"]);
    let mu2 = found["mu2"][0][1].as_f64().unwrap();
    assert!((mu2 - (1.0 / 3.0 + 1.0)).abs() < 1e-9, "{mu2}");
}

#[test]
fn a_walk_that_is_not_made_yet_is_an_estimate_and_says_so() {
    let found = json(&[
        "pairwise",
        "--topology",
        "complete:8",
        "--analysis",
        "walk",
        "--rounds",
        "50",
        "--samples",
        "40",
        "--watcher",
        "0",
    ]);
    assert!(found["guarantee"].as_str().unwrap().starts_with("None before the walk is made"));
    assert_eq!(found["method"], "monte-carlo");
    assert!(found["mu2_margin_95"][0][1].as_f64().unwrap() > 0.0);
    // At order 2 a divergence is at least the mean over paths, by Jensen's inequality.
    let (mean, divergence) = (&found["mu2"][0][1], &found["renyi_2_upper_95"][0][1]);
    assert!(divergence.as_f64().unwrap() >= mean.as_f64().unwrap(), "{divergence} for {mean}");
}

#[test]
fn the_sum_of_the_matrix_factorisation_paper_can_pass_the_local_loss_and_linear_does_not() {
    let flags =
        ["pairwise", "--topology", "florentine", "--weights", "uniform", "--rounds", "10", "--watcher", "0"];
    let published =
        json(&[&flags[..], &["--analysis", "published", "--formula", "matrix-factorisation-2026"]].concat());
    let linear = json(&[&flags[..], &["--analysis", "linear"]].concat());
    // The only neighbour of node 0 is node 8; 10.9110 is the paper's figure for it.
    assert!((published["mu2"][0][8].as_f64().unwrap() - 10.9110).abs() < 5e-4, "{published}");
    assert_eq!(linear["mu2"][0][8], 10.0);
    assert!(published["assumes"].as_str().unwrap().contains("do not depend on received messages"));
    let refused = refusal(&[
        "pairwise",
        "--topology",
        "florentine",
        "--rounds",
        "2",
        "--coalition",
        "0,1",
        "--analysis",
        "published",
        "--formula",
        "matrix-factorisation-2026",
    ]);
    assert!(refused.contains("hint"), "{refused}");
}

#[test]
fn csv_npy_and_svg_are_what_their_names_say() {
    let flags = ["pairwise", "--topology", "karate", "--steps", "2", "--analysis", "rounds", "--format"];
    let output = |format: &str, more: &[&str]| {
        let arguments = [&flags[..], &[format], more].concat();
        murmur(&arguments).assert().success().get_output().stdout.clone()
    };
    let csv = String::from_utf8(output("csv", &[])).unwrap();
    assert_eq!(csv.lines().count(), 1 + 34 * 33);
    assert!(csv.starts_with("watcher,source,distance,mu2,epsilon,analysis\n"));
    let npy = output("npy", &[]);
    assert!(npy.starts_with(b"\x93NUMPY\x01\x00"));
    let header = usize::from(u16::from_le_bytes([npy[8], npy[9]]));
    assert_eq!((10 + header) % 64, 0);
    assert!(String::from_utf8_lossy(&npy[10..10 + header]).contains("'shape': (34, 34)"));
    assert_eq!(npy.len(), 10 + header + 8 * 34 * 34);
    for more in [&[][..], &["--watcher", "0"][..]] {
        assert!(output("svg", more).starts_with(b"<svg"));
    }
}

#[test]
fn rows_are_printed_one_by_one_and_nothing_of_what_is_refused() {
    let folder = scratch("rows");
    let good = ["pairwise", "--topology", "hypercube:64", "--steps", "2", "--analysis", "rounds"];
    let bad = ["pairwise", "--topology", "ring:6", "--rounds", "2", "--analysis", "rounds"];
    for format in ["json", "csv", "npy"] {
        let out = folder.join(format);
        let to_file = ["--format", format, "--out", out.to_str().unwrap()];
        assert!(refusal(&[&bad[..], &["--format", format]].concat()).contains("consensus"), "{format}");
        refusal(&[&bad[..], &to_file].concat());
        assert!(!out.exists(), "{format}");
        murmur(&good).args(to_file).assert().success();
        let printed = murmur(&good).args(["--format", format]).assert().success().get_output().stdout.clone();
        assert_eq!(std::fs::read(&out).unwrap(), printed, "{format}");
        std::fs::remove_file(&out).unwrap();
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "no part is left behind");
    // Every node of a hypercube learns the same of those that lie to it as theirs lie to the others.
    let found = json(&good);
    let mu2 = |watcher: usize, source: usize| found["mu2"][watcher][source].as_f64().unwrap();
    for (watcher, source) in [(0, 0b000_111), (0b101_010, 0b101_101), (63, 0b111_000)] {
        assert!(
            (mu2(watcher, source) - mu2(0, watcher ^ source)).abs() < 1e-12,
            "{source} seen by {watcher}"
        );
    }
}

#[test]
fn several_rounds_without_consensus_are_refused_with_a_hint() {
    let text = refusal(&[
        "pairwise",
        "--topology",
        "ring:6",
        "--rounds",
        "2",
        "--steps",
        "3",
        "--analysis",
        "rounds",
    ]);
    assert!(text.contains("consensus") && text.contains("hint:") && text.contains("doubling"), "{text}");
    // A complete graph agrees after one step, so its rounds add up.
    json(&["pairwise", "--topology", "complete:6", "--rounds", "2", "--analysis", "rounds"]);
}

#[test]
fn bad_input_is_refused_by_name() {
    let ring = ["pairwise", "--topology", "ring:6", "--analysis", "rounds"];
    let with = |more: &[&str]| refusal(&[&ring[..], more].concat());
    for (more, word) in [
        (&["--sigma", "0"][..], "--sigma"),
        (&["--sigma", "-1"], "--sigma"),
        (&["--sigma", "NaN"], "--sigma"),
        (&["--delta", "0"], "--delta"),
        (&["--delta", "1"], "--delta"),
        (&["--delta", "nan"], "--delta"),
        (&["--sensitivity", "inf"], "--sensitivity"),
        (&["--rounds", "-3"], "--rounds"),
        (&["--rounds", "0"], "--rounds"),
        (&["--steps", "-1"], "--steps"),
        (&["--message-noise", "-0.5"], "--message-noise"),
        (&["--watcher", "6"], "watcher 6"),
        (&["--coalition", "0,1,2,3,4,5"], "nobody left to protect"),
        (&["--weights", "metropolys"], "metropolis"),
        (&["--method", "riccati"], "contractive"),
        (&["--nodes", "7"], "6 nodes"),
    ] {
        let text = with(more);
        assert!(text.contains(word) && text.starts_with("error:"), "{more:?}: {text}");
    }
    assert!(refusal(&["pairwise", "--analysis", "rounds"]).contains("--topology"));
    assert!(
        refusal(&["pairwise", "--schedule", "one-peer-exponential", "--nodes", "12", "--analysis", "rounds"])
            .contains("doubling")
    );
    assert!(
        refusal(&["pairwise", "--schedule", "doubbling", "--nodes", "12", "--analysis", "rounds"])
            .contains("doubling")
    );
    assert!(
        refusal(&[
            "pairwise",
            "--topology",
            "ring:300",
            "--rounds",
            "100",
            "--analysis",
            "contractive",
            "--method",
            "optimum"
        ])
        .contains("riccati")
    );
}

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let folder = scratch("out");
    let good = folder.join("pairs.json");
    let ring = ["pairwise", "--topology", "ring:6", "--analysis", "rounds", "--format", "json", "--out"];
    murmur(&[&ring[..], &[good.to_str().unwrap()]].concat()).assert().success().stdout("");
    serde_json::from_slice::<Value>(&std::fs::read(&good).unwrap()).unwrap();
    let missing = folder.join("no/such/folder/pairs.json");
    let text = refusal(&[&ring[..], &[missing.to_str().unwrap()]].concat());
    assert!(text.contains("cannot write"), "{text}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing half-written is left");
}

#[test]
fn calibration_of_the_local_loss_is_the_analytic_gaussian() {
    let flags =
        ["calibrate", "--epsilon", "1", "--delta", "1e-5", "--topology", "ring:4", "--analysis", "local"];
    let sigma = json(&flags)["sigma"].as_f64().unwrap();
    // Balle and Wang 2018.
    assert!((sigma - 3.730_631_634_815_942).abs() < 1e-8, "{sigma}");
    let four =
        json(&[&flags[..], &["--rounds", "4", "--sensitivity", "3"]].concat())["sigma"].as_f64().unwrap();
    assert!((four - 6.0 * sigma).abs() < 1e-7, "σ grows with √T and Δ: {four}");
}

#[test]
fn calibration_meets_its_target_and_pairwise_agrees() {
    let model = ["--schedule", "shuffled-doubling", "--nodes", "13", "--rounds", "9", "--analysis", "rounds"];
    for of in ["worst", "mean", "p95", "pair:3,7"] {
        let found =
            json(&[&["calibrate", "--epsilon", "0.7", "--delta", "1e-6", "--of", of], &model[..]].concat());
        let sigma = found["sigma"].as_f64().unwrap().to_string();
        let pairs = json(&[&["pairwise", "--sigma", &sigma, "--delta", "1e-6"], &model[..]].concat());
        let losses = |key: &str| -> Vec<f64> {
            pairs[key]
                .as_array()
                .unwrap()
                .iter()
                .flat_map(|row| row.as_array().unwrap())
                .filter_map(Value::as_f64)
                .collect()
        };
        let epsilon = losses("epsilon");
        let reached = match of {
            "worst" => epsilon.iter().fold(0.0f64, |a, &b| a.max(b)),
            "pair:3,7" => pairs["epsilon"][7][3].as_f64().unwrap(),
            _ => continue,
        };
        assert!((reached - 0.7).abs() < 1e-6, "{of}: {reached}");
    }
}

#[test]
fn noise_per_node_is_given_for_every_node() {
    let found = json(&[
        "calibrate",
        "--epsilon",
        "1",
        "--delta",
        "1e-5",
        "--per-node",
        "--topology",
        "star:6",
        "--steps",
        "2",
        "--analysis",
        "rounds",
    ]);
    let sigmas = found["sigmas"].as_array().unwrap();
    assert_eq!(sigmas.len(), 6);
    assert!(sigmas.iter().all(|sigma| sigma.as_f64().unwrap() > 0.0));
}

#[test]
fn targets_that_cannot_be_met_are_refused() {
    let ring = ["--topology", "ring:6", "--analysis", "rounds"];
    let with = |more: &[&str]| refusal(&[&["calibrate"], more, &ring[..]].concat());
    assert!(with(&["--epsilon", "-1", "--delta", "1e-5"]).contains("--epsilon"));
    assert!(with(&["--epsilon", "1", "--delta", "0"]).contains("--delta"));
    assert!(with(&["--epsilon", "nan", "--delta", "1e-5"]).contains("--epsilon"));
    assert!(with(&["--epsilon", "1", "--delta", "1e-5", "--of", "best"]).contains("worst, mean"));
    assert!(
        with(&["--epsilon", "1", "--delta", "1e-5", "--of", "pair:3,0"]).contains("zero"),
        "node 3 is out of reach of node 0"
    );
    let published =
        ["calibrate", "--epsilon", "1", "--delta", "1e-5", "--topology", "ring:6", "--analysis", "published"];
    assert!(refusal(&published).contains("no guarantee"));
}

#[test]
fn graphs_are_compared_for_the_same_final_error() {
    let found = json(&["compare", "ring:16", "hypercube:16"]);
    let rows = found["rows"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["graph"].as_str().unwrap()).collect();
    assert_eq!(names, ["ring:16", "hypercube:16", "doubling of 16", "masked of 16"]);
    let steps = |at: usize| rows[at]["steps"].as_u64().unwrap();
    assert!(steps(0) > steps(1) && steps(2) == 4, "{found}");
    // One meets log2 n nodes, and the leverage scores of the others sum to log2 n: exact for doubling.
    assert_eq!(rows[2]["messages_per_node"].as_f64(), Some(4.0));
    // With masks one member learns the total of fifteen others.
    assert_eq!(rows[3]["analysis"], "masked");
    let (masked, plain) = (&rows[3]["epsilon"]["worst"], &rows[2]["epsilon"]["mean"]);
    assert!(masked.as_f64() < plain.as_f64(), "{found}");
    assert!(refusal(&["compare", "rng:16"]).contains("ring"));
}

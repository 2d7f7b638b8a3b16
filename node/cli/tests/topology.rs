//! `murmur topology` from outside: outputs, files, and every kind of bad input.

mod common;

use std::path::{Path, PathBuf};

use common::{json, murmur, refused_with_a_hint as refused, stdout};
use serde_json::Value;

/// A folder of its own for one test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("topology-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder for the test");
        Self(path)
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("a file for the test");
        path.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const KEYS: [&str; 13] = [
    "nodes",
    "edges",
    "degree",
    "diameter",
    "connected",
    "weights",
    "doubly_stochastic",
    "lambda2",
    "lambda_min",
    "spectral_gap",
    "mixing_rounds",
    "chebyshev_rounds",
    "mean_distance",
];

/// Metropolis weights on a hypercube of dimension k: eigenvalues 1 − 2j/(k+1), so for k = 6 the gap is 2/7 and the
/// smallest −5/7; 0.001 is reached after ⌈ln 0.001 / ln (5/7)⌉ = 21 rounds. Mean distance (k/2) n/(n−1).
#[test]
fn json_has_every_key_with_the_values_of_theory() {
    let made = json(&["topology", "hypercube:64", "--format", "json"]);
    for key in KEYS {
        assert!(made.get(key).is_some_and(|value| !value.is_null()), "{key} in {made}");
    }
    let number = |value: &Value| value.as_f64().expect("a number");
    assert_eq!((&made["nodes"], &made["edges"], &made["diameter"]), (&64.into(), &192.into(), &6.into()));
    for bound in ["min", "mean", "max"] {
        assert_eq!(number(&made["degree"][bound]), 6.0, "{bound}");
    }
    assert!((number(&made["spectral_gap"]) - 2.0 / 7.0).abs() < 1e-9);
    assert!((number(&made["lambda2"]) - 5.0 / 7.0).abs() < 1e-9);
    assert!((number(&made["lambda_min"]) + 5.0 / 7.0).abs() < 1e-9);
    assert!((number(&made["mean_distance"]) - 3.0 * 64.0 / 63.0).abs() < 1e-12);
    assert_eq!(made["mixing_rounds"], 21);
    assert_eq!((&made["connected"], &made["doubly_stochastic"]), (&true.into(), &true.into()));
    assert_eq!(made["weights"], "metropolis");
}

#[test]
fn uniform_weights_say_that_they_are_not_doubly_stochastic() {
    let made = json(&["topology", "star:9", "--weights", "uniform", "--format", "json"]);
    assert_eq!(made["doubly_stochastic"], false);
    assert!(stdout(&["topology", "star:9", "--weights", "uniform"]).contains("NOT doubly stochastic"));
}

#[test]
fn the_tolerance_decides_the_rounds() {
    // A complete graph with Metropolis weights is at the mean after one round.
    assert_eq!(json(&["topology", "complete:10", "--format", "json"])["mixing_rounds"], 1);
    let rounds = |tolerance: &str| {
        json(&["topology", "ring:20", "--tolerance", tolerance, "--format", "json"])["mixing_rounds"].as_u64()
    };
    assert!(rounds("1e-6") > rounds("1e-3"));
}

#[test]
fn the_table_says_what_the_numbers_mean() {
    let text = stdout(&["topology", "karate"]);
    for part in ["nodes", "34", "edges", "78", "spectral gap", "0.031236", "rounds of gossip", "messages"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn compare_prints_one_row_each_and_json_on_demand() {
    let text = stdout(&["topology", "compare", "ring:16", "torus:4x4", "hypercube:16"]);
    let rows: Vec<&str> = text.lines().take(4).collect();
    for (row, name) in rows.iter().zip(["graph", "ring:16", "torus:4x4", "hypercube:16"]) {
        assert!(row.starts_with(name), "{row}");
        assert_eq!(row.split_whitespace().count(), 8, "{row}");
    }
    assert!(rows[0].contains("messages/node"));
    let list = json(&["topology", "compare", "ring:16", "hypercube:16", "--format", "json"]);
    assert_eq!(list.as_array().map(Vec::len), Some(2));
    for entry in list.as_array().into_iter().flatten() {
        assert!(KEYS.iter().all(|key| entry.get(key).is_some()), "{entry}");
        let (rounds, mean) = (&entry["mixing_rounds"], &entry["degree"]["mean"]);
        let expected = rounds.as_f64().zip(mean.as_f64()).map(|(rounds, mean)| rounds * mean);
        assert_eq!(entry["messages_per_node"].as_f64(), expected);
    }
}

#[test]
fn graphs_are_written_as_edges_dot_node_link_and_svg() {
    assert_eq!(stdout(&["topology", "path:3", "--format", "edges"]), "3\n0 1\n1 2\n");
    assert!(stdout(&["topology", "path:3", "--format", "dot"]).contains("0 -- 1;"));
    let linked = json(&["topology", "path:3", "--format", "node-link"]);
    assert_eq!(linked["edges"][1]["target"], 2);
    let svg = stdout(&["topology", "path:3", "--format", "svg"]);
    assert!(svg.starts_with("<svg") && svg.contains("<title>path:3</title>"));
}

#[test]
fn a_written_graph_reads_back_the_same() {
    let folder = Folder::new("round-trip");
    let target = folder.0.join("graph.edges").display().to_string();
    let spec = "watts-strogatz:80,k=4,beta=0.2,seed=3";
    assert!(stdout(&["topology", spec, "--format", "edges", "--out", &target]).is_empty());
    let read = format!("file:{target}");
    let [mut a, mut b] = [spec, &read].map(|spec| json(&["topology", spec, "--format", "json"]));
    for record in [&mut a, &mut b] {
        let fields = record.as_object_mut().expect("an object");
        fields.remove("spec");
        fields.remove("attempts");
    }
    assert_eq!(a, b);
    let left: Vec<_> = std::fs::read_dir(&folder.0).expect("the folder").collect();
    assert_eq!(left.len(), 1, "no partial file stays behind");
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_and_leaves_nothing() {
    let output = murmur(&["topology", "ring:5", "--out", "/no/such/folder/x.txt"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("/no/such/folder/x.txt"));
}

#[test]
fn names_loops_and_repetitions_of_a_file_are_handled_and_reported() {
    let folder = Folder::new("names");
    let path = folder.file("friends.csv", "ada,bob\nbob,ada\nbob,bob\nbob,eve\n");
    let made = json(&["topology", &format!("file:{path}"), "--format", "json"]);
    assert_eq!((&made["nodes"], &made["edges"]), (&3.into(), &2.into()));
    assert_eq!((&made["dropped_self_loops"], &made["dropped_duplicates"]), (&1.into(), &1.into()));
    assert!(stdout(&["topology", &format!("file:{path}"), "--format", "dot"]).contains("label=\"eve\""));
}

#[test]
fn a_disconnected_file_names_its_parts_and_the_largest_can_be_taken() {
    let folder = Folder::new("parts");
    let spec = format!("file:{}", folder.file("parts.edges", "0 1\n1 2\n3 4\n"));
    refused(&["topology", &spec], &["not connected", "3, 2 nodes", "--largest-component"]);
    let made = json(&["topology", &spec, "--largest-component", "--format", "json"]);
    assert_eq!((&made["nodes"], &made["left_out_nodes"]), (&3.into(), &2.into()));
}

#[test]
fn a_graph_in_parts_that_was_asked_for_never_mixes() {
    let spec = "erdos-renyi:50,p=0.01,connected=false";
    let made = json(&["topology", spec, "--format", "json"]);
    assert_eq!(
        (&made["connected"], &made["mixing_rounds"], &made["diameter"]),
        (&false.into(), &Value::Null, &Value::Null)
    );
    assert!(stdout(&["topology", spec]).contains("never"));
}

#[test]
fn bad_specs_get_one_message_a_hint_and_exit_code_two() {
    refused(&["topology", "hypercub:64"], &["hypercub", "did you mean `hypercube`", "barabasi-albert"]);
    refused(&["topology", "regular:100"], &["degree"]);
    refused(&["topology", "regular:100,degre=3"], &["degre", "did you mean `degree`"]);
    refused(&["topology", "hypercube:1000"], &["1000", "power of two"]);
    refused(&["topology", "erdos-renyi:100,p=1.5"], &["p=1.5", "[0, 1]"]);
    refused(&["topology", "regular:101,degree=3"], &["odd"]);
    refused(&["topology", "ring:1000000000000"], &["1000000000000", "more than this program takes"]);
    refused(&["topology", "erdos-renyi:500,mean_degree=1"], &["100 attempts"]);
    refused(&["topology", "compare", "ring:10", "rnig:10"], &["rnig", "did you mean `ring`"]);
    refused(&["topology", "ring:30000", "--format", "svg"], &["30000", "too many to draw"]);
}

#[test]
fn bad_files_get_the_line_and_its_text() {
    let folder = Folder::new("bad");
    let spec = |name: &str, text: &str| format!("file:{}", folder.file(name, text));
    refused(&["topology", &spec("empty.edges", "")], &["empty.edges", "no edges"]);
    refused(&["topology", &spec("short.edges", "0 1\n2\n")], &["short.edges", "line 2", "`2`"]);
    refused(&["topology", &spec("words.edges", "0 1\n1 2\nnot an edge\n")], &["line 3", "not an edge"]);
    refused(&["topology", "file:no-such-file.edges"], &["no-such-file.edges"]);
    refused(&["topology", "graph.edges"], &["file:graph.edges"]);
}

#[test]
fn bad_weights_and_tolerances_are_named() {
    refused(&["topology", "karate", "--weights", "metropolys"], &["metropolys", "did you mean `metropolis`"]);
    for tolerance in ["0", "1", "2", "NaN"] {
        refused(&["topology", "karate", "--tolerance", tolerance], &["tolerance"]);
    }
}

#[test]
fn help_lists_the_families_and_their_keys() {
    let help = stdout(&["topology", "--help"]);
    for part in ["watts-strogatz:", "beta", "cliques", "connected", "--largest-component", "compare"] {
        assert!(help.contains(part), "{part}");
    }
}

//! What people see in a terminal of 80 columns: no line is wider.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::terminal::{WIDTH, seen, watched};

#[test]
fn errors_and_notes_fit_into_eighty_columns_too() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bad.csv"), "a;b;y\n1,5;x;0\n2;3\nz;inf;1\n").unwrap();
    for line in [
        "swarm init --nodes 3 --out clinic.toml",
        "swarm init --nodes 3 --out clinic.toml",
        "node --swarm clinic.toml --data bad.csv:label=y --no-mdns",
        "model show nothing.safetensors",
        "report nowhere",
        "data bad.csv:label=y",
        "sim --set privacy.epsilom=3",
        "node id --state here",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let Some(lines) = seen(&words, folder.path()) else { return };
        assert!(!lines.is_empty(), "`murmur {line}` says nothing");
        for shown in &lines {
            // An address has no place to fold.
            let is_one_word = !shown.trim().contains(' ');
            assert!(shown.chars().count() <= WIDTH || is_one_word, "`murmur {line}` writes: {shown}");
        }
    }
}

#[test]
fn help_and_results_fit_into_eighty_columns() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = "sim --set nodes=4 --set rounds=2 --sweep privacy.epsilon=1,4 --seeds 2";
    let commands = [
        "--help",
        "node --help",
        "swarm --help",
        "swarm init --help",
        "swarm renew --help",
        "swarm export --help",
        "sim --help",
        "ask --help",
        "audit --help",
        "data --help",
        "evaluate --help",
        "predict --help",
        "model export --help",
        "privacy pairwise --help",
        "topology --help",
        "relay --help",
        "trainer check --help",
        "verify --help",
        "report --help",
        "ledger --help",
        "data digits",
        "data digits --partition dirichlet:alpha=0.5 --nodes 4",
        "topology karate",
        "topology compare ring:64 torus:8x8",
        "privacy pairwise --topology ring:6 --steps 2 --analysis rounds",
        "privacy account --event gaussian:sigma=1,rate=0.01,count=1000 --delta 1e-5",
        "privacy calibrate --epsilon 1 --delta 1e-5 --topology ring:8 --steps 4 --analysis rounds",
        "privacy compare ring:64 torus:8x8",
        "privacy convert --mu 1 --delta 1e-5",
        "sim --set nodes=4 --set rounds=2",
        "report runs/run",
        sweep,
    ];
    for line in commands {
        let words: Vec<&str> = line.split(' ').collect();
        let Some(lines) = seen(&words, folder.path()) else { return };
        assert!(lines.len() > 5, "{line}: {lines:?}");
        for shown in &lines {
            assert!(shown.chars().count() <= WIDTH, "`murmur {line}` writes: {shown}");
        }
        if line == sweep {
            let named = |what: &str| lines.iter().filter(|shown| shown.contains(what)).count();
            // In parts, each of which says of which ε it speaks.
            assert!(
                named("privacy.epsilon") >= 2 && named("accuracy") == 1 && named("ε local") == 1,
                "{lines:?}"
            );
        }
    }
}

#[test]
fn the_live_table_of_a_swarm_says_what_its_columns_are() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["swarm", "--nodes", "2", "--set", "rounds=3", "--set", "privacy.masking=none"];
    let Some(lines) = seen(&words, folder.path()) else { return };
    let last = lines.iter().rposition(|shown| shown.contains("rounds ") && shown.contains("3/3")).unwrap();
    // A line of the table fills the screen's width: what follows it stands in the same piece.
    let table = lines[..=last].concat();
    assert!(table.rfind("phase").is_some_and(|at| table[at..].contains("rounds ")), "{lines:?}");
    assert!(lines.iter().any(|shown| shown.starts_with("The report:")), "{lines:?}");
}

#[test]
fn questions_and_their_answers_fit_into_eighty_columns() {
    let folder = tempfile::tempdir().unwrap();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/questions");
    for file in ["patients.csv", "schema.toml"] {
        std::fs::copy(format!("{example}/{file}"), folder.path().join(file)).unwrap();
    }
    let several = "SELECT count(*), mean(age), median(chol) FROM swarm GROUP BY sex";
    for (question, more) in [
        (several, "--plan"),
        (several, "--yes"),
        ("SELECT histogram(age, 11) FROM swarm WHERE sick = 1", "--yes"),
        ("SELECT crosstab(sex, sick) FROM swarm", "--yes"),
        ("SELECT mean(aeg) FROM swarm", "--yes"),
    ] {
        let words =
            ["ask", question, "--schema", "schema.toml", "--try", "patients.csv", "--by", "hospital", more];
        let Some(lines) = seen(&words, folder.path()) else { return };
        for shown in &lines {
            assert!(shown.chars().count() <= WIDTH, "`ask {question} {more}` writes: {shown}");
        }
    }
}

#[test]
fn ctrl_c_ends_a_swarm_in_a_terminal_without_a_death() {
    let folder = tempfile::tempdir().unwrap();
    // The terminal signals everybody in the foreground, not the parent alone.
    let words = ["swarm", "--nodes", "3", "--set", "rounds=100000", "--set", "privacy.noise_multiplier=4"];
    let Some(output) = watched(&words, folder.path(), "  running ") else { return };
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(!text.contains("died") && !text.contains("panicked"), "{text}");
    assert!(text.contains("stopped ") && text.contains("The report:"), "{text}");
}

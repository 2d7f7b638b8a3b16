//! What people see in a terminal of 80 columns: no line is wider.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

use std::path::Path;
use std::process::{Command, Stdio};

/// The columns of the terminal.
const WIDTH: usize = 80;

/// What a command writes on a terminal, line by line; `None` where there is no Python to make one.
fn seen(words: &[&str], folder: &Path) -> Option<Vec<String>> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/terminal.py");
    let mut command = Command::new("python3");
    command.arg(script).arg(env!("CARGO_BIN_EXE_murmur")).args(words).current_dir(folder);
    command.env("MURMUR_LEDGER", folder.join("ledger")).stdin(Stdio::null());
    let Ok(output) = command.output() else {
        println!("skipped: there is no python3");
        return None;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{words:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    Some(text.lines().map(str::to_owned).collect())
}

#[test]
fn help_and_results_fit_into_eighty_columns() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = "sim --set nodes=4 --set rounds=2 --sweep privacy.epsilon=1,4 --seeds 2";
    let commands = [
        "--help",
        "node --help",
        "swarm --help",
        "swarm export --help",
        "sim --help",
        "report --help",
        "ledger --help",
        "data digits",
        "privacy pairwise --topology ring:6 --steps 2 --analysis rounds",
        "sim --set nodes=4 --set rounds=2",
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

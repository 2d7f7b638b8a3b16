//! What commands say, where it once was wrong, or no help.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::{refused, refused_with_a_hint, stdout};

#[test]
fn what_cannot_be_read_is_not_told_to_be_writable() {
    for command in ["show", "export"] {
        let words = ["model", command, "no-such-model.safetensors"];
        let more: &[&str] = if command == "export" { &["--format", "onnx", "--out", "x.onnx"] } else { &[] };
        let words = [&words[..], more].concat();
        refused_with_a_hint(&words, &["Cannot read `no-such-model.safetensors`", "`--state` folder"]);
        assert!(!refused(&words, &[]).contains("written to"));
    }
}

#[test]
fn an_address_as_other_programs_write_it_is_told_how_it_is_written_here() {
    for flag in ["--peer", "--listen"] {
        refused(
            &["node", "--swarm", "s.toml", flag, "10.0.0.5:7000"],
            &["write it as `/ip4/10.0.0.5/tcp/7000`"],
        );
    }
}

#[test]
fn persons_need_a_column_that_says_who_they_are() {
    let words = ["sim", "--set", "nodes=3", "--set", "privacy.unit=person", "--set", "test_fraction=0.2"];
    refused(&words, &["`privacy.unit = \"person\"`", "`id=COLUMN`", "`person` in the schema"]);
}

#[test]
fn a_swarm_is_compared_with_what_has_no_masks_and_its_figures_read_as_they_were_given() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let words =
        ["swarm", "--nodes", "3", "--set", "rounds=1", "--set", "algorithm.exchange=halving", "--out", out];
    let text = stdout(&words);
    for part in ["  without privacy", "  each node alone", "3 processes, 1 round\n", "at δ = 1e-5\n"] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

#[test]
fn what_promises_little_or_cannot_be_learnt_is_said_before_it_is_begun() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let table = folder.path().join("raw.csv");
    let rows: String = (0..60).map(|row| format!("{},{},{}\n", 1000 + 40 * row, row, row % 2)).collect();
    std::fs::write(&table, format!("charge,age,sick\n{rows}")).unwrap();
    let raw = format!("data={}:label=sick", table.display());
    let (often, weak) = ("not below one over the", "above 10: little is promised");
    let cases: [(&[&str], &[&str]); 4] = [
        (&["sim", "--set", "privacy.delta=0.1"], &[often]),
        (&["swarm", "--set", "privacy.epsilon=50", "--set", "privacy.delta=0.01"], &[often, weak]),
        (&["sim", "--set", &raw, "--set", "model.kind=logistic"], &["half of the rows have a norm above"]),
        (&["sim"], &[]),
    ];
    for (words, parts) in cases {
        let more = ["--set", "rounds=1", "--set", "nodes=3", "--out", out];
        let said = String::from_utf8(common::murmur(&[words, &more].concat()).stderr).unwrap();
        assert_eq!(said.matches("warning: ").count(), parts.len(), "{words:?}: {said}");
        parts.iter().for_each(|part| assert!(said.contains(part), "{words:?}: no `{part}` in {said}"));
    }
}

#[test]
fn a_swarm_file_says_who_may_join() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let member = |name: &str| {
        let id = stdout(&["node", "id", "--state", &path(name)]);
        id.lines().next().unwrap().to_owned()
    };
    let (one, other) = (member("one"), member("other"));
    let closed = ["--member", &one, "--member", &other];
    for (out, members, who, not) in [
        ("open.toml", &[][..], "whoever holds it may join", "only the members"),
        ("closed.toml", &closed, "only the members in it may join", "whoever holds it"),
    ] {
        let file = path(out);
        let words = ["swarm", "init", "--nodes", "2", "--set", "batch_size=8", "--out", &file];
        let output = common::murmur(&[&words[..], members].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && said.contains(who) && !said.contains(not), "{said}");
        let head = std::fs::read_to_string(&file).unwrap().lines().next().unwrap().to_owned();
        assert_eq!(head.contains("whoever"), members.is_empty(), "{head}");
    }
}

#[test]
fn nodes_are_called_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let graph = folder.path().join("g.txt");
    std::fs::write(&graph, "alice bob\nbob carol\ncarol dan\n").unwrap();
    let graph = format!("file:{}", graph.display());
    let asked = |flag: &str, who: &str| {
        ["privacy", "pairwise", "--topology", &graph, "--steps", "2", "--analysis", "rounds", flag, who]
            .map(str::to_owned)
    };
    let text = |flag: &str, who: &str| stdout(&asked(flag, who).each_ref().map(String::as_str));
    assert_eq!(text("--watcher", "bob"), text("--watcher", "1"));
    assert_eq!(text("--coalition", "alice,3"), text("--coalition", "0,3"));
    let said =
        |who: &str| refused(&asked("--watcher", who).each_ref().map(String::as_str), &["no node is called"]);
    assert!(said("alicia").contains("did you mean `alice`?"), "{}", said("alicia"));
    assert!(said("zacharias").contains("alice, bob, carol"), "{}", said("zacharias"));
    let words = ["privacy", "pairwise", "--topology", "ring:4", "--analysis", "rounds", "--watcher", "bob"];
    refused_with_a_hint(&words, &["no node is called `bob`", "counted from 0"]);
}

#[test]
fn a_private_mean_is_in_the_units_of_the_data() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("ages.csv");
    std::fs::write(&table, "age\n30\n40\n50\n60\n").unwrap();
    let data = format!("data={}:scale=age@20..80", table.display());
    let mut words = vec!["sim", "--out", folder.path().to_str().unwrap()];
    for setting in ["algorithm.kind=mean", "nodes=4", "privacy.clip_norm=1", "privacy.epsilon=inf", &data] {
        words.extend(["--set", setting]);
    }
    assert!(stdout(&words).contains("\nmean                age 45.00\n"), "{}", stdout(&words));
}

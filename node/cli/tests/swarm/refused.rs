//! What is refused before anything is started, sent or spent, in words that name the reason.

use std::path::Path;
use std::process::Output;

use crate::rig::{Home, Node, introduce};

fn murmur(folder: &Path, words: &[&str]) -> Output {
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
    command.args(words).current_dir(folder).output().expect("the program starts")
}

/// Fails with these words, once, and leaves nothing behind.
fn refuses(words: &[&str], expected: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let output = murmur(folder.path(), words);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
    for expected in expected {
        assert!(said.contains(expected), "{words:?}: no `{expected}` in {said}");
    }
    assert_eq!(said.matches("error:").count(), 1, "{words:?}: {said}");
    let left = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 0, "{words:?} left something behind");
}

#[test]
fn what_a_swarm_cannot_do_is_said_before_anything_is_started() {
    for kind in ["central", "alone", "local", "fedavg"] {
        let set = format!("algorithm.kind={kind}");
        let expected = ["exists only in the simulator", &format!("murmur sim --set {set}")];
        refuses(&["swarm", "--nodes", "3", "--set", "rounds=5", "--set", &set], &expected);
        refuses(&["swarm", "init", "--nodes", "3", "--set", &set, "--out", "f"], &expected);
    }
    for command in [&["swarm"][..], &["swarm", "init", "--out", "f"]] {
        let with = |words: &[&'static str]| [command, words].concat();
        refuses(&with(&["--nodes", "1"]), &["a swarm has at least two nodes", "hint:"]);
        refuses(&with(&["--nodes", "0"]), &["`--nodes 0` on the command line"]);
        refuses(
            &with(&["--nodes", "3", "--set", "faults.drop_prob=0.1"]),
            &["`faults.drop_prob = 0.1`", "murmur sim"],
        );
    }
    refuses(&["swarm", "--set", "data=nofile.csv:label=y"], &["cannot open `nofile.csv`"]);
    refuses(&["swarm", "--set", "partition.min_size=5000"], &["1438 records are too few", "hint:"]);
}

#[test]
fn a_swarm_file_has_the_name_of_its_configuration() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(murmur(folder.path(), &["swarm", "init", "--nodes", "3", "--out", "f"]).status.success());
    let text = std::fs::read_to_string(folder.path().join("f")).expect("a file");
    assert!(text.contains("name = \"run\""), "{text}");
}

/// A table of `records` lines with two classes of this name.
fn table(header: &str, classes: [&str; 2], records: usize) -> String {
    let columns = header.split(',').count() - 1;
    let line = |record: usize| {
        let numbers = (0..columns).map(|column| format!("{}.{column},", record % 7));
        format!("{}{}\n", numbers.collect::<String>(), classes[record % 2])
    };
    format!("{header}\n{}", (0..records).map(line).collect::<String>())
}

const TABLES: [&str; 4] = ["rounds=20000", "model.kind=logistic", "batch_size=16", "partition.min_size=40"];

/// Two nodes with these tables and options.
fn with_tables(tables: [(&str, &str); 2]) -> (Home, Vec<crate::rig::Node>) {
    let home = Home::new("tables", 2, &TABLES);
    let mut nodes = Vec::new();
    for (node, (table, options)) in tables.into_iter().enumerate() {
        let file = home.path().join(format!("n{node}.csv"));
        std::fs::write(&file, table).expect("a file");
        nodes.push(home.command_with_data(node, &format!("{}:{options}", file.display())).go());
    }
    introduce(&mut nodes);
    (home, nodes)
}

#[test]
fn nodes_whose_data_have_another_form_end_by_name_on_both_sides_and_spend_nothing() {
    let ours = table("a,b,y", ["no", "yes"], 60);
    for (theirs, expected) in [
        (
            table("a,b,y", ["yes", "zz"], 60),
            "classes that only we have: `no`; classes that only they have: `zz`",
        ),
        (table("b,a,y", ["no", "yes"], 60), "the same features in another order"),
        (table("a,b,c,y", ["no", "yes"], 60), "features that only they have: `c`"),
    ] {
        let (home, nodes) = with_tables([(&ours, "label=y"), (&theirs, "label=y")]);
        for (at, node) in nodes.into_iter().enumerate() {
            let (code, said) = node.code();
            assert_eq!(code, Some(2), "{expected}: {said}");
            assert!(said.contains("cannot work with this node") && said.contains("another form"), "{said}");
            assert!(at > 0 || said.contains(expected), "{expected}: {said}");
        }
        for node in 0..2 {
            assert_eq!(home.records(node).len(), 0, "{expected}: something was spent");
        }
    }
}

const SCHEMA: &str = "[schema]\nlabel = \"y\"\n[columns.a]\nbounds = [0, 7]\n[columns.b]\nbounds = [0, 7]\n[columns.y]\nvalues = [\"no\", \"yes\"]\n";

#[test]
fn with_a_schema_the_file_is_all_that_a_node_names_whatever_the_order_of_its_columns() {
    let home = Home::with_schema("declared", 2, &TABLES, SCHEMA);
    let mut nodes = Vec::new();
    for (node, content) in
        [table("a,b,y", ["no", "yes"], 60), table("b,a,y", ["yes", "no"], 60).replace(',', ";")]
            .iter()
            .enumerate()
    {
        let file = home.path().join(format!("n{node}.csv"));
        std::fs::write(&file, content).expect("a file");
        nodes.push(home.command_with_data(node, &file.display().to_string()).go());
    }
    introduce(&mut nodes);
    nodes.iter_mut().for_each(|node| node.until_round(2));
    assert!(nodes.into_iter().all(crate::rig::Node::stop));
}

#[test]
fn a_draft_a_missing_member_and_a_batch_that_nobody_knows_are_said_when_the_file_is_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("draft.toml"), SCHEMA.replace("[schema]", "[schema]\ndraft = true")).expect("a file");
    std::fs::write(path("schema.toml"), SCHEMA).expect("a file");
    let (draft, schema) = (path("draft.toml"), path("schema.toml"));
    let init = |more: &[&str]| {
        murmur(folder.path(), &[&["swarm", "init", "--nodes", "3", "--out", "f"], more].concat())
    };
    let peer = runtime::PeerId::random().to_string();
    for (words, expected) in [
        (vec!["--schema", &draft], "is a draft that nobody has confirmed"),
        (vec!["--schema", &schema], "how many records every member has at least"),
        (vec!["--member", &peer], "1 members are named, and the run has 3 nodes"),
    ] {
        let output = init(&words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(expected), "{said}");
        assert!(!folder.path().join("f").exists());
    }
    let words = [
        "swarm",
        "init",
        "--nodes",
        "3",
        "--schema",
        &schema,
        "--set",
        "partition.min_size=640",
        "--out",
        "g",
    ];
    assert!(murmur(folder.path(), &words).status.success());
    let text = std::fs::read_to_string(folder.path().join("g")).expect("a file");
    assert!(
        text.contains("batch_size = 20")
            && text.contains("learning_rate = 2.0")
            && text.contains("clip_norm = 1.0"),
        "by rule: {text}"
    );
    let said = init(&[]).stderr;
    assert!(String::from_utf8_lossy(&said).contains("warning: `batch_size = \"all\"`"));
}

#[test]
fn nodes_with_some_of_the_classes_declare_all_of_them() {
    let (ours, theirs) = (table("a,b,y", ["no", "yes"], 60), table("a,b,y", ["yes", "yes"], 60));
    let options = "label=y,classes=no+yes";
    let (_home, mut nodes) = with_tables([(&ours, options), (&theirs, options)]);
    nodes.iter_mut().for_each(|node| node.until_round(2));
    assert!(nodes.into_iter().all(crate::rig::Node::stop));
}

#[test]
fn a_forgotten_label_is_what_the_error_is_about() {
    let home = Home::new("label", 2, &TABLES);
    let file = home.path().join("n0.csv");
    std::fs::write(&file, table("a,b,y", ["no", "yes"], 60)).expect("a file");
    let output = home.command_with_data(0, &file.display().to_string()).output();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("is to be predicted") && said.contains(":label=COLUMN`"), "{said}");
    assert!(!home.state(0).exists(), "nothing was begun");
}

#[test]
fn with_another_secret_both_sides_say_what_is_wrong_and_where() {
    let (home, other) = (Home::new("secret", 2, &[]), Home::new("secret", 2, &[]));
    let mut first = home.command(0).go();
    let mut second = other.command(1).go();
    let address = first.address();
    second.meet(&address);
    for (node, place) in
        [(&mut first, "/ip4/127.0.0.1/"), (&mut second, address.split("/p2p/").next().unwrap_or(""))]
    {
        let notice = node.until("a word about the secret", |status| {
            let notice = status["notice"].as_str()?;
            notice.contains("does not know the secret of this swarm").then(|| notice.to_owned())
        });
        assert!(notice.contains(place), "{notice}");
    }
    assert!(first.stop() && second.stop());
}

/// One word of one member ends nobody's search.
#[test]
fn who_is_told_that_a_run_has_begun_without_it_goes_on_looking() {
    let home = Home::new("closed", 3, &["rounds=50000", "privacy.noise_multiplier=1"]);
    let mut nodes = home.start_all();
    nodes[0].until_round(2);
    let mut late = home.command(3).with_share(0).go();
    for node in &mut nodes {
        let address = node.address();
        late.meet(&address);
    }
    late.until("a word about the run", |status| {
        status["notice"].as_str()?.contains("the run has begun").then_some(())
    });
    assert_eq!(late.last["phase"], "gathering");
    let round = nodes[0].catch_up()["round"].as_u64().unwrap_or(0);
    nodes[0].until_round(round + 3);
    assert!(!late.has_ended());
    drop(late);
    assert!(nodes.into_iter().all(Node::stop));
}

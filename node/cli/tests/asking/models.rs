//! A model that members judge by the records that they keep apart.

use std::path::Path;

use learn::checkpoint::{CheckpointInfo, save};
use learn::data::{Dataset, Targets};
use learn::model::{LogisticRegression, ModelSpec};
use learn::saved::About;
use learn::schema::Schema;

use crate::rig::{Member, NODES, answer, ask, introduce};

const SCHEMA: &str = "[schema]\nlabel = \"sick\"\n[columns.age]\nbounds = [0, 100]\n[columns.sick]\nvalues = [\"no\", \"yes\"]\n";
/// Records of each member.
const RECORDS: usize = 400;

/// Says yes from 50 years on, with a probability that grows with age.
fn model(path: &Path, schema: &str) {
    let schema = Schema::from_toml(schema, "test").unwrap();
    let targets = Targets::Class { labels: vec![0, 1], classes: 2 };
    let data = Dataset::new(vec![0.0, 1.0], 1, targets).unwrap();
    let data = data.with_feature_names(vec!["age".into()]).unwrap();
    let data = data.with_class_names(vec!["no".into(), "yes".into()]).unwrap();
    let about = About::of(&ModelSpec::Logistic {}, &data, Some(&schema));
    let info = CheckpointInfo {
        config_digest: "test".into(),
        round: 1,
        guarantee: "none".into(),
        about: about.entries(),
    };
    save(path, &LogisticRegression::new(1).unwrap(), &[10.0, -5.0], &info).unwrap();
}

/// Who is sick: from 50 years on, but for every tenth record, which is the other way round. So the model is right for nine of ten.
fn init(folder: &Path) {
    std::fs::write(folder.join("schema.toml"), SCHEMA).unwrap();
    for index in 0..NODES {
        let mut text = "age,sick\n".to_owned();
        for record in 0..RECORDS {
            let age = (37 * record + 11 * index) % 100;
            let sick = (age >= 50) != (record % 10 == 0);
            text.push_str(&format!("{age},{}\n", if sick { "yes" } else { "no" }));
        }
        // No question fails because of what a record holds.
        text.push_str("old,yes\n50\n12,perhaps\n");
        std::fs::write(folder.join(format!("{index}.csv")), text).unwrap();
    }
    let mut command = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("murmur"));
    command.args(["swarm", "init", "--questions", "--name", "clinic", "--nodes", &NODES.to_string()]);
    command.arg("--schema").arg(folder.join("schema.toml")).arg("--out").arg(folder.join("swarm.toml"));
    command.assert().success();
}

#[test]
fn a_model_is_judged_by_everybodys_records_and_one_for_other_columns_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    init(folder);
    let mut members: Vec<Member> = (0..NODES).map(|index| Member::start(folder, index, &[])).collect();
    introduce(&mut members);
    for member in &mut members {
        member.until(|status| (status["phase"] == "done" && status["present"] == NODES as u64).then_some(()));
    }
    let file = folder.join("model.safetensors");
    model(&file, SCHEMA);
    let evaluate = |index: usize, question: &str, file: &Path| {
        let mut command = ask(folder, index, question);
        command.arg(file);
        answer(command)
    };
    let found = evaluate(0, "evaluate", &file).unwrap();
    let figure = |name: &str, end: &str| {
        found["rows"][0]["answers"][name][end].as_f64().unwrap_or_else(|| panic!("{name}: {found:#}"))
    };
    // Noise of a few records among 2,000: five half-widths hold but once in 10^18.
    let holds = |name: &str, truth: f64| {
        let half = (figure(name, "high") - figure(name, "low")) / 2.0;
        assert!((figure(name, "raw") - truth).abs() <= 5.0 * half && half < 0.2, "{name}: {found:#}");
    };
    holds("accuracy(truth, predicted)", 0.9);
    let confusion =
        found["rows"][0]["answers"]["confusion(truth, predicted)"]["raw"].as_array().unwrap().clone();
    assert_eq!(confusion.len(), 2);
    let correct = confusion[0][0].as_f64().unwrap() + confusion[1][1].as_f64().unwrap();
    assert!((correct - 0.9 * (NODES * RECORDS) as f64).abs() < 150.0, "{found:#}");
    assert!(figure("auc(score, truth)", "value") > 0.8 && figure("mean(loss)", "value") < 1.0);
    // By another member, which got the model from the first: for nothing.
    let again = evaluate(3, "evaluate", &file).unwrap();
    assert_eq!(again["rows"], found["rows"]);
    assert_eq!(again["spent"]["epsilon"].as_f64(), Some(0.0));
    // Other columns: said before anything is asked.
    let other = folder.join("other.safetensors");
    model(&other, &SCHEMA.replace("[0, 100]", "[0, 120]"));
    let refused = evaluate(0, "evaluate", &other).unwrap_err();
    assert!(refused.contains("made for other columns") && refused.contains("`age`"), "{refused}");
    let refused = evaluate(0, "SELECT mean(age) FROM swarm", &file).unwrap_err();
    assert!(refused.contains("records to test by"), "{refused}");
    std::fs::write(&other, b"no model").unwrap();
    assert!(evaluate(0, "evaluate", &other).unwrap_err().contains("cannot ask about the model"));
}

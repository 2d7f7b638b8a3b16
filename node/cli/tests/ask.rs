//! `murmur ask`: answers with the truth beside them, plans, refusals, and the targets of the specification.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use assert_cmd::Command;
use serde_json::Value;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn murmur(args: &[&str]) -> Command {
    let mut murmur = Command::new(env!("CARGO_BIN_EXE_murmur"));
    murmur.arg("ask").args(args).current_dir(root().join("examples/questions"));
    murmur
}

fn json(args: &[&str]) -> Value {
    let assert = murmur(args).args(["--format", "json"]).assert().success();
    serde_json::from_slice(&assert.get_output().stdout).unwrap()
}

fn refused(args: &[&str]) -> String {
    let assert = murmur(args).assert().code(2);
    assert!(assert.get_output().stdout.is_empty());
    String::from_utf8(assert.get_output().stderr.clone()).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("a number: {value}"))
}

const FILE: &str = "patients.csv";

#[test]
fn the_json_is_what_programs_were_promised() {
    let question = "SELECT count(*), mean(age) FROM swarm WHERE sick = 1 GROUP BY sex";
    let found = json(&[
        question,
        "--try",
        FILE,
        "--nodes",
        "64",
        "--epsilon",
        "1",
        "--seed",
        "3",
        "--yes",
        "--column",
        "age:bounds=0..110",
        "--column",
        "sex:values=f+m",
        "--column",
        "sick:values=0+1",
    ]);
    assert_eq!(found["question"], question);
    assert_eq!(number(&found["epsilon"]), 1.0);
    assert_eq!(number(&found["delta"]), 1e-5);
    assert_eq!(found["analysis"], "masked");
    // (a, 1 − a) and one for missing ages, for f, m, other and missing.
    assert_eq!(found["plan"]["coordinates"], 12);
    assert_eq!(found["plan"]["blocks"], 1);
    assert!(number(&found["plan"]["expected"]["mean(age)"]["high"]) > 0.0);
    assert_eq!(found["rows"].as_array().unwrap().len(), 4);
    let first = &found["rows"][0];
    assert_eq!(first["group"]["sex"], "f");
    for answer in ["count(*)", "mean(age)"] {
        let answer = &first["answers"][answer];
        assert!(
            number(&answer["low"]) < number(&answer["value"])
                && number(&answer["value"]) < number(&answer["high"])
        );
        assert!(number(&answer["raw"]).is_finite() && number(&answer["truth"]).is_finite());
    }
    assert_eq!(number(&found["spent"]["epsilon"]), 1.0);
    assert_eq!(number(&found["spent"]["left"]), 3.0);
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_does_not() {
    let ask = |seed: &str| {
        let args = [
            "SELECT mean(age) FROM swarm",
            "--try",
            FILE,
            "--yes",
            "--column",
            "age:bounds=0..110",
            "--seed",
            seed,
        ];
        murmur(&args).assert().success().get_output().stdout.clone()
    };
    assert_eq!(ask("3"), ask("3"));
    assert_ne!(ask("3"), ask("4"));
}

#[test]
fn a_plan_spends_nothing_and_without_yes_nobody_is_asked() {
    let args = ["SELECT mean(age) FROM swarm", "--try", FILE, "--column", "age:bounds=0..110"];
    let plan = json(&[&args[..], &["--plan"]].concat());
    assert!(plan.get("rows").is_none() && plan.get("spent").is_none());
    let assert = murmur(&args).write_stdin("").assert().code(1);
    assert!(assert.get_output().stdout.is_empty());
    assert!(String::from_utf8_lossy(&assert.get_output().stderr).contains("nothing was spent"));
}

#[test]
fn refusals_name_the_value_and_a_way_out() {
    let age = ["--try", FILE, "--yes", "--column", "age:bounds=0..110"];
    let ask = |question: &str, more: &[&str]| refused(&[&[question][..], &age, more].concat());
    let wrong = ask("SELECT mean(smokes) FROM swarm", &[]);
    assert!(wrong.contains("column `smokes` is not declared") && wrong.contains("hint:"), "{wrong}");
    assert!(ask("SELECT max(age) FROM swarm", &[]).contains("quantile(age, 0.99)"));
    assert!(ask("SELECT mean(age) FROM swarm", &["--epsilon", "5"]).contains("questions.total"));
    assert!(ask("SELECT mean(age) FROM swarm", &["--epsilon", "0"]).contains("ε must be"));
    assert!(ask("SELECT mean(age) FROM swarm", &["--nodes", "2"]).contains("at least 3"));
    assert!(
        ask("SELECT mean(age) FROM swarm", &["--nodes", "99999999999"]).contains("1,000,000 are the most")
    );
    assert!(ask("SELECT mean(age) FROM swarm", &["--unit", "node"]).contains("--max-records"));
    assert!(ask("SELECT mean(age) FROM swarm", &["--unit", "person"]).contains("names no person"));
    assert!(ask("SELECT mean(age) FROM swarm", &["--column", "x:bounds=1..1"]).contains("in order"));
    assert!(ask("SELECT mean(age) FROM swarm", &["--column", "x:bounds=0..1"]).contains("has no column x"));
    let nowhere = refused(&["SELECT mean(age) FROM swarm", "--column", "age:bounds=0..110"]);
    assert!(nowhere.contains("--try"), "{nowhere}");
}

#[test]
fn people_count_once_and_nodes_at_most_so_often() {
    let count = |more: &[&str]| {
        let args = ["SELECT count(*) FROM swarm", "--try", FILE, "--by", "hospital", "--yes"];
        let found = json(&[&args[..], more].concat());
        number(&found["rows"][0]["answers"]["count(*)"]["truth"])
    };
    let records = count(&[]);
    let people = count(&["--unit", "person", "--person", "patient"]);
    assert!(people < records, "{people} {records}");
    // Five hospitals, ten records of each.
    assert_eq!(count(&["--unit", "node", "--max-records", "10"]), 50.0);
}

#[test]
fn pictures_are_drawn_where_there_is_something_to_draw() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("curve.svg");
    let svg = ["--svg", path.to_str().unwrap(), "--yes", "--try", FILE];
    let columns = ["--column", "days:bounds=0..720", "--column", "died:values=0+1"];
    murmur(&[&["SELECT survival(days, died) FROM swarm"][..], &columns, &svg].concat()).assert().success();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("<svg") && text.contains("polyline"), "{text}");
    let nothing = refused(&[&["SELECT count(*) FROM swarm"][..], &svg].concat());
    assert!(nothing.contains("nothing to draw"), "{nothing}");
}

#[test]
fn lines_of_csv_have_a_figure_each() {
    let args = [
        "SELECT histogram(sex), mean(age) FROM swarm",
        "--try",
        FILE,
        "--yes",
        "--format",
        "csv",
        "--column",
        "sex:values=f+m",
        "--column",
        "age:bounds=0..110",
    ];
    let text = String::from_utf8(murmur(&args).assert().success().get_output().stdout.clone()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "answer,cell,value,low,high,raw,truth,note");
    assert_eq!(lines.len(), 6, "{text}");
    assert!(lines[1].starts_with("histogram(sex),f,"), "{text}");
}

/// A file with decimal commas, and one record more that is written otherwise: nobody else is read in another way, so no sum moves further than one record may move it.
#[test]
fn one_record_does_not_decide_how_the_others_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.csv");
    let truth = |record: &[u8]| -> Vec<f64> {
        let mut file = "wert;ort\n".to_owned().into_bytes();
        (0..40).for_each(|at| file.extend(format!("{},5;K\u{f6}ln\n", at % 9).bytes()));
        file.extend(record);
        std::fs::write(&path, file).unwrap();
        let (path, question) =
            (path.to_str().unwrap(), "SELECT sum(wert), count(wert) FROM swarm WHERE ort = 'K\u{f6}ln'");
        let columns = ["--column", "wert:bounds=0..10", "--column", "ort:values=K\u{f6}ln+Bonn"];
        let found = json(&[&[question, "--try", path, "--yes"][..], &columns].concat());
        ["sum(wert)", "count(wert)"].map(|name| number(&found["rows"][0]["answers"][name]["truth"])).to_vec()
    };
    let without = truth(b"");
    assert_eq!(without, [(0..40).map(|at| f64::from(at % 9) + 0.5).sum::<f64>(), 40.0]);
    for record in [&b"2.5;Bonn\n"[..], b"1,5;Bonn\n", b"3,5;M\xfcnchen\n", b"a,b,c,d,e,f\n", b"1\t2\t3\n"] {
        assert_eq!(truth(record), without, "{}", String::from_utf8_lossy(record));
    }
}

fn shared(name: &str) -> Option<String> {
    let path = root().join("../shared/data").join(name);
    if !path.exists() {
        eprintln!("skipped: there is no {}", path.display());
        return None;
    }
    Some(path.to_str().unwrap().to_owned())
}

/// Target: mean(age) of Adult within 0.011 at ε = 1, 64 nodes, nobody colluding.
#[test]
fn adult_has_a_mean_age_to_a_hundredth_of_a_year() {
    let Some(file) = shared("adult.csv.gz") else { return };
    let column = ["--column", "age:bounds=0..100"];
    let found =
        json(
            &[
                &[
                    "SELECT mean(age) FROM swarm",
                    "--try",
                    &file,
                    "--nodes",
                    "64",
                    "--colluders",
                    "0",
                    "--yes",
                ][..],
                &column,
            ]
            .concat(),
        );
    let answer = &found["rows"][0]["answers"]["mean(age)"];
    let half = (number(&answer["high"]) - number(&answer["low"])) / 2.0;
    assert!(half < 0.0115, "{half}");
    // The truth of this file: 38.6436 (awk over its second column). Six deviations of the noise.
    assert!((number(&answer["truth"]) - 38.6436).abs() < 1e-4);
    assert!((number(&answer["value"]) - 38.6436).abs() < 3.1 * half);
}

/// Target: the median payment of 4,308, off by 8 in rank or so with masks, 50 with gossip, hundreds with responses.
#[test]
fn a_median_payment_is_off_by_a_few_ranks_with_masks_and_by_hundreds_with_responses() {
    let Some(file) = shared("hospital_charges.csv.gz") else { return };
    let half_width = |trust: &str| {
        let found = json(&[
            "SELECT median(avg_total_payments) FROM swarm",
            "--try",
            &file,
            "--nodes",
            "64",
            "--colluders",
            "0",
            "--trust",
            trust,
            "--yes",
            "--column",
            "avg_total_payments:bounds=0..60000,fill=0",
        ]);
        let answer = &found["rows"][0]["answers"]["median(avg_total_payments)"];
        let (low, high, truth) = (number(&answer["low"]), number(&answer["high"]), number(&answer["truth"]));
        assert!(low <= truth && truth <= high, "{trust}: {answer}");
        number(&answer["half_width_in_records"])
    };
    let (masked, gossip, local) = (half_width("masked"), half_width("gossip"), half_width("local"));
    assert!(masked < 25.0, "{masked}");
    assert!(gossip > 5.0 * masked && gossip < 200.0, "{gossip}");
    assert!(local > 200.0, "{local}");
}

/// A model from a run of `murmur swarm` would do as well: here one by hand, which says yes from 50 years on and is right for nine of ten.
#[test]
fn a_model_is_evaluated_on_a_file_with_the_truth_beside_it() {
    use learn::checkpoint::{CheckpointInfo, save};
    use learn::data::{Dataset, Targets};
    let folder = tempfile::tempdir().unwrap();
    let schema =
        "[schema]\nlabel = \"sick\"\n[columns.age]\nbounds = [0, 100]\n[columns.sick]\nvalues = [0, 1]\n";
    let data = Dataset::new(vec![0.0, 1.0], 1, Targets::Class { labels: vec![0, 1], classes: 2 }).unwrap();
    let data = data.with_class_names(vec!["0".into(), "1".into()]).unwrap();
    let schema = learn::schema::Schema::from_toml(schema, "test").unwrap();
    let about = learn::saved::About::of(&learn::model::ModelSpec::Logistic {}, &data, Some(&schema));
    let (model, table) = (folder.path().join("model.safetensors"), folder.path().join("data.csv"));
    let info =
        CheckpointInfo { config_digest: "".into(), round: 1, guarantee: "".into(), about: about.entries() };
    save(&model, &learn::model::LogisticRegression::new(1).unwrap(), &[10.0, -5.0], &info).unwrap();
    let mut text = "age,sick,part,sex\n".to_owned();
    for record in 0..4000 {
        let age = (37 * record) % 100;
        let sick = u8::from((age >= 50) != (record % 10 == 0));
        let part = if record % 4 == 0 { "test" } else { "train" };
        text.push_str(&format!("{age},{sick},{part},{}\n", if record % 3 == 0 { "f" } else { "m" }));
    }
    text.push_str("eighty,1,test,f\n20,maybe,test,m\n20\n");
    std::fs::write(&table, text).unwrap();
    let (model, table) = (model.to_str().unwrap(), table.to_str().unwrap());
    let evaluate = |question: &str, flags: &[&str]| {
        json(&[&[question, model, "--try", table, "--nodes", "16", "--yes"], flags].concat())
    };
    let truth = |found: &Value, name: &str| number(&found["rows"][0]["answers"][name]["truth"]);
    let all = evaluate("evaluate", &[]);
    // Records with something wrong in them are in no figure. 50 years are on the border: σ(0) = 0.5 says no.
    assert_eq!(truth(&all, "count(*)"), 4000.0);
    let accuracy = truth(&all, "accuracy(truth, predicted)");
    // Nine of ten, and those of 50 years: they are among the tenth that is turned, so no is right.
    assert!((accuracy - 0.91).abs() < 1e-9, "{accuracy}");
    let answer = &all["rows"][0]["answers"]["accuracy(truth, predicted)"];
    assert!(number(&answer["low"]) < accuracy && accuracy < number(&answer["high"]), "{answer}");
    // The same as `murmur evaluate` says of the records themselves.
    let split = evaluate("evaluate", &["--split", "part"]);
    assert_eq!(truth(&split, "count(*)"), 1000.0);
    let part = evaluate("evaluate", &["--test-fraction", "0.2"]);
    // Binomial: 800 with deviation 25.
    assert!((truth(&part, "count(*)") - 800.0).abs() < 150.0, "{part:#}");
    let by_sex = evaluate(
        "SELECT accuracy(truth, predicted), mean(error) FROM model GROUP BY sex",
        &["--column", "sex:values=f+m"],
    );
    assert_eq!(by_sex["rows"].as_array().unwrap().len(), 4);
    for (question, flags, expected) in [
        ("evaluate", &["--column", "age:bounds=0..50"][..], "declared by the schema of the model"),
        ("SELECT mean(age) FROM swarm", &[], "records to test by"),
        ("SELECT mean(height) FROM model", &[], "not declared"),
    ] {
        let text = refused(&[&[question, model, "--try", table, "--yes"], flags].concat());
        assert!(text.contains(expected), "{text}");
    }
    assert!(refused(&["evaluate", "--try", table, "--yes"]).contains("no model is named"));
    assert!(refused(&["describe", "--try", table, "--split", "part"]).contains("questions about a model"));
}

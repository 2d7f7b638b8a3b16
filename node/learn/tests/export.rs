//! A saved model says the same wherever it is used: here, in onnxruntime, in scikit-learn.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::{Path, PathBuf};
use std::process::Command;

use learn::checkpoint::{self, CheckpointInfo};
use learn::data::{DataSource, LabelUse};
use learn::evaluation::evaluate;
use learn::export;
use learn::model::{Activation, ModelSpec, Predictions};
use learn::saved::{About, Saved};
use learn::schema::Schema;

const COLUMNS: &str = "
[columns.age]
bounds = [0, 110]
[columns.income]
bounds = [-1000, 250000]
fill = 100
[columns.region]
values = [\"north\", \"south\", \"west\"]
";

/// Rows beyond the bounds, missing ones, all regions; the last columns are a class of two, a class of three and a number.
const ROWS: &str = "income,region,age,two,three,number
-5000,north,20,no,0,10
0,south,44.5,yes,1,20
180000,west,111,yes,2,70.5
,,65,no,1,99
31415.9,west,3,no,0,0
";

fn folder() -> PathBuf {
    // One for each test: they may run at once.
    let test = std::thread::current().name().unwrap_or("main").replace("::", "-");
    let folder = std::env::temp_dir().join(format!("murmur-export-{}-{test}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn cases() -> Vec<(&'static str, ModelSpec, &'static str)> {
    let mlp = |activation| ModelSpec::Mlp { hidden: vec![4, 3], activation };
    vec![
        ("logistic", ModelSpec::Logistic {}, "two"),
        ("softmax-two", ModelSpec::Softmax {}, "two"),
        ("softmax-three", ModelSpec::Softmax {}, "three"),
        ("linear", ModelSpec::Linear {}, "number"),
        ("mlp-two", mlp(Activation::Relu), "two"),
        ("mlp-three", mlp(Activation::Tanh), "three"),
        ("mlp-number", mlp(Activation::Tanh), "number"),
    ]
}

fn schema(label: &str) -> Schema {
    let declared = match label {
        "two" => "values = [\"no\", \"yes\"]",
        "three" => "values = [0, 1, 2]",
        _ => "bounds = [0, 100]",
    };
    Schema::from_toml(
        &format!("[schema]\nlabel = \"{label}\"\n{COLUMNS}\n[columns.{label}]\n{declared}\n"),
        "test",
    )
    .unwrap()
}

/// A model with parameters that nobody trained, saved and read again.
fn saved(name: &str, spec: &ModelSpec, label: &str) -> Saved {
    let (folder, schema) = (folder(), schema(label));
    let rows = folder.join("rows.csv");
    std::fs::write(&rows, ROWS).unwrap();
    let source: DataSource = rows.display().to_string().parse().unwrap();
    let data = source.with_schema(&schema, LabelUse::Needed).unwrap().load(1).unwrap().train;
    let model = spec.build(&data).unwrap();
    let params: Vec<f32> =
        (0..model.parameter_count()).map(|at| ((at * 37 % 23) as f32 - 11.0) / 9.0).collect();
    let about = About::of(spec, &data, Some(&schema)).entries();
    let path = folder.join(format!("{name}.safetensors"));
    let info = CheckpointInfo { about, ..CheckpointInfo::default() };
    checkpoint::save(&path, model.as_ref(), &params, &info).unwrap();
    let saved = Saved::load(&path).unwrap();
    assert_eq!((&saved.params, saved.about.schema.as_ref()), (&params, Some(&schema)));
    saved
}

/// What the model itself says about the rows: probabilities row by row, or numbers in the units of the label.
fn own_words(saved: &Saved) -> Vec<f32> {
    let source: DataSource = folder().join("rows.csv").display().to_string().parse().unwrap();
    let data = saved.read(&source, LabelUse::IfThere).unwrap();
    match saved.predict(&data).unwrap() {
        Predictions::Binary(ones) => ones.iter().flat_map(|&one| [1.0 - one, one]).collect(),
        Predictions::Classes { probabilities, .. } => probabilities,
        Predictions::Values(values) => values.iter().map(|value| value * 100.0).collect(),
    }
}

#[test]
fn a_saved_model_reads_tables_by_itself_and_can_be_judged() {
    let saved = saved("alone", &ModelSpec::Logistic {}, "two");
    let source: DataSource = folder().join("rows.csv").display().to_string().parse().unwrap();
    let data = saved.read(&source, LabelUse::Needed).unwrap();
    let found = evaluate(saved.model.as_ref(), &saved.params, &data).unwrap();
    assert_eq!((found.records, found.base_rate, found.base_class.as_deref()), (5, Some(0.6), Some("no")));
    assert_eq!(saved.about.features, ["age", "income", "region=north", "region=south", "region=west"]);
    assert_eq!(saved.class_name(1), "yes");
    // By hand, for the second row: age 44.5 of 110, income 1000 of 251000, south.
    let weight = |at: usize| f64::from(saved.params[at]);
    let z = weight(0) * 44.5 / 110.0 + weight(1) * 1000.0 / 251_000.0 + weight(3) + weight(5);
    let expected = 1.0 / (1.0 + (-z).exp());
    assert!((f64::from(own_words(&saved)[3]) - expected).abs() < 1e-6);
}

#[test]
fn a_file_that_does_not_say_what_it_is_for_is_refused_with_the_entry() {
    let path = folder().join("bare.safetensors");
    let model = learn::model::LogisticRegression::new(2).unwrap();
    checkpoint::save(&path, &model, &[0.0; 3], &CheckpointInfo::default()).unwrap();
    let message = Saved::load(&path).unwrap_err().to_string();
    assert!(message.contains("`spec`"), "{message}");
}

/// Python with these modules, where there is one.
fn python(modules: &str) -> Option<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-venv/bin/python");
    [own, "python3".into()].into_iter().find(|python| {
        let tried = Command::new(python).args(["-c", &format!("import {modules}")]).output();
        tried.is_ok_and(|output| output.status.success())
    })
}

/// Unscaled features of the rows, by hand, in the order of the model.
const FEATURES: &str =
    "[[20,-5000,1,0,0],[44.5,0,0,1,0],[111,180000,0,0,1],[65,100,0,0,0],[3,31415.9,0,0,1]]";

fn compare(python: &Path, script: &str, name: &str, own: &[f32]) {
    let output = Command::new(python)
        .args(["-c", script])
        .args([folder().display().to_string().as_str(), name, FEATURES])
        .output()
        .unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    let theirs: Vec<f32> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(theirs.len(), own.len(), "{name}");
    for (theirs, own) in theirs.iter().zip(own) {
        assert!((theirs - own).abs() <= 1e-5 * own.abs().max(1.0), "{name}: {theirs} and {own}");
    }
}

#[test]
fn onnxruntime_says_the_same() {
    let Some(python) = python("numpy, onnxruntime") else {
        println!("skipped: no Python with `numpy` and `onnxruntime`");
        return;
    };
    let script = r#"
import json, sys, numpy, onnxruntime
folder, name, rows = sys.argv[1:]
session = onnxruntime.InferenceSession(f"{folder}/{name}.onnx", providers=["CPUExecutionProvider"])
results = dict(zip([output.name for output in session.get_outputs()], session.run(None, {"features": numpy.array(json.loads(rows), dtype=numpy.float32)})))
found = results["value"] if "value" in results else results["probabilities"]
if "label" in results:
    assert (results["label"] == found.argmax(axis=1)).all()
assert "schema" in session.get_modelmeta().custom_metadata_map
print(json.dumps([float(value) for value in found.flatten()]))
"#;
    for (name, spec, label) in cases() {
        let saved = saved(name, &spec, label);
        std::fs::write(folder().join(format!("{name}.onnx")), export::onnx(&saved).unwrap()).unwrap();
        compare(&python, script, name, &own_words(&saved));
    }
}

#[test]
fn scikit_learn_says_the_same() {
    let Some(python) = python("numpy, sklearn") else {
        println!("skipped: no Python with `numpy` and `sklearn`");
        return;
    };
    let script = r#"
import csv, json, sys, numpy
folder, name, rows = sys.argv[1:]
sys.path.insert(0, folder)
import murmur_model
model = murmur_model.load(f"{folder}/{name}.json")
features = numpy.array(json.loads(rows))
with open(f"{folder}/rows.csv") as file:
    from_table = murmur_model.features(list(csv.DictReader(file)), f"{folder}/{name}.json")
assert numpy.allclose(from_table, features), (from_table, features)
found = model.predict_proba(features) if hasattr(model, "predict_proba") else model.predict(features)
print(json.dumps([float(value) for value in numpy.asarray(found).flatten()]))
"#;
    std::fs::write(folder().join("murmur_model.py"), export::PYTHON).unwrap();
    for (name, spec, label) in cases() {
        let saved = saved(name, &spec, label);
        let value = export::sklearn(&saved).unwrap();
        std::fs::write(folder().join(format!("{name}.json")), value.to_string()).unwrap();
        compare(&python, script, name, &own_words(&saved));
    }
}

#[test]
fn what_has_no_layers_is_not_exported() {
    let saved = saved("mean", &ModelSpec::Mean {}, "number");
    assert!(export::onnx(&saved).is_err() && export::sklearn(&saved).is_err());
}

//! Checkpoints: what goes in comes out, nothing half-written is ever seen, and Python reads them too.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use std::path::{Path, PathBuf};
use std::process::Command;

use learn::checkpoint::{CheckpointError, CheckpointInfo, load, save};
use learn::data::Task;
use learn::model::{Activation, Cnn, Mlp, Model, SoftmaxRegression};

/// A fresh folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("checkpoint").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn info() -> CheckpointInfo {
    CheckpointInfo {
        config_digest: "a1b2".into(),
        round: 17,
        guarantee: "ε = 2 at δ = 1e-5, record level, analysis `local`".into(),
        about: [("run".to_owned(), "clinic".to_owned())].into(),
    }
}

fn perceptron() -> Mlp {
    Mlp::new(5, &[4, 3], Activation::Tanh, Task::Classification { classes: 2 }).unwrap()
}

#[test]
fn what_is_saved_is_loaded_bit_for_bit() {
    let folder = folder("round_trip");
    let models: [Box<dyn Model>; 3] = [
        Box::new(SoftmaxRegression::new(64, 10).unwrap()),
        Box::new(perceptron()),
        Box::new(Cnn::small(28, 28, 10).unwrap()),
    ];
    for model in models {
        let path = folder.join(model.kind());
        let params: Vec<f32> = (0..model.parameter_count()).map(|i| (i as f32 * 0.37).sin()).collect();
        save(&path, &*model, &params, &info()).unwrap();
        assert_eq!(load(&path, &*model).unwrap(), (params, info()), "{}", model.kind());
        assert!(!folder.join(format!("{}.part", model.kind())).exists());
    }
}

#[test]
fn the_same_model_gives_the_same_bytes() {
    let folder = folder("bytes");
    let model = perceptron();
    let bytes = |name: &str| {
        save(&folder.join(name), &model, &model.initial(1), &info()).unwrap();
        std::fs::read(folder.join(name)).unwrap()
    };
    assert_eq!(bytes("first"), bytes("second"));
}

#[test]
fn a_save_that_fails_leaves_the_old_model() {
    let folder = folder("atomic");
    let (path, model) = (folder.join("model.safetensors"), perceptron());
    let good = model.initial(1);
    save(&path, &model, &good, &info()).unwrap();
    let mut diverged = good.clone();
    diverged[3] = f32::NAN;
    let error = save(&path, &model, &diverged, &info()).unwrap_err();
    assert!(error.to_string().contains("number 3 is NaN"), "{error}");
    // A folder in the place of the temporary file: the write itself fails.
    std::fs::create_dir(folder.join("model.safetensors.part")).unwrap();
    assert!(matches!(save(&path, &model, &good, &info()), Err(CheckpointError::File { .. })));
    assert_eq!(load(&path, &model).unwrap().0, good);
}

#[test]
fn damaged_foreign_and_misfitting_files_are_refused_by_name() {
    let folder = folder("bad");
    let (path, model) = (folder.join("model.safetensors"), perceptron());
    save(&path, &model, &model.initial(1), &info()).unwrap();
    let bytes = std::fs::read(&path).unwrap();

    let other = SoftmaxRegression::new(5, 2).unwrap();
    let message = load(&path, &other).unwrap_err().to_string();
    assert!(message.contains("`linear.weight` is missing") && message.contains("[2, 5]"), "{message}");

    for end in [0, 7, 40, bytes.len() - 1] {
        std::fs::write(&path, &bytes[..end]).unwrap();
        assert!(matches!(load(&path, &model), Err(CheckpointError::Format { .. })), "{end}");
    }
    let length = 2_u64.to_le_bytes();
    std::fs::write(&path, [&length[..], b"{}"].concat()).unwrap();
    assert!(matches!(load(&path, &model), Err(CheckpointError::Metadata { key: "format", .. })));
    assert!(load(&folder.join("nothing"), &model).is_err());
}

#[test]
fn python_reads_tensors_and_metadata() {
    let Some(python) = python_with_safetensors() else {
        println!(
            "skipped: no Python with `safetensors` and `numpy` (node/learn/scripts/make-venv makes one)"
        );
        return;
    };
    let path = folder("python").join("model.safetensors");
    let model = perceptron();
    let params: Vec<f32> = (0..model.parameter_count()).map(|i| i as f32).collect();
    save(&path, &model, &params, &info()).unwrap();
    let script = r#"
import sys
from safetensors import safe_open
with safe_open(sys.argv[1], framework="np") as file:
    data = file.metadata()
    assert data["round"] == "17" and data["config_digest"] == "a1b2" and data["model"] == "mlp", data
    assert data["guarantee"].startswith("ε = 2 at δ = 1e-5"), data
    assert sorted(file.keys()) == sorted(f"layer{i}.{t}" for i in (1, 2, 3) for t in ("weight", "bias"))
    weight, bias = file.get_tensor("layer1.weight"), file.get_tensor("layer1.bias")
    assert weight.shape == (4, 5) and weight.dtype == "float32" and weight[1, 2] == 7, weight
    assert list(bias) == [20, 21, 22, 23], bias
print("ok")
"#;
    let output = Command::new(python).args(["-c", script]).arg(&path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The environment of `scripts/make-venv`, or the system's Python if it has what is needed.
fn python_with_safetensors() -> Option<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/.venv/bin/python");
    [own, "python3".into()].into_iter().find(|python| {
        let tried = Command::new(python).args(["-c", "import numpy, safetensors"]).output();
        tried.is_ok_and(|output| output.status.success())
    })
}

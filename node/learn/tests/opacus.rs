//! Agreement with Opacus: the same clipped sum on one batch.
//!
//! Reference values: `testdata/opacus.safetensors`, made by `scripts/opacus_reference.py` (versions in its metadata).

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use learn::data::{Dataset, Targets, Task};
use learn::gradient::{PoissonSampler, SamplingRate, Workspace};
use learn::model::{Activation, Cnn, LogisticRegression, Mlp, Model};
use privacy::clip::ClipNorm;
use privacy::noise::danger_from_seed;
use safetensors::SafeTensors;

const BATCH: usize = 24;
const REFERENCE: &[u8] = include_bytes!("../testdata/opacus.safetensors");

/// The script's `number`: multiples of 1/32768 in [−1, 1).
fn number(count: usize, salt: u64) -> Vec<f32> {
    let one = |i: u64| {
        let h = (i * 2_654_435_761 + salt * 40_503) % (1 << 32);
        let h = (h ^ (h >> 15)) * 2_246_822_519 % (1 << 32);
        (((h >> 16) as f64 - 32_768.0) / 32_768.0) as f32
    };
    (0..count as u64).map(one).collect()
}

fn singles(name: &str) -> Vec<f64> {
    let view = SafeTensors::deserialize(REFERENCE).unwrap().tensor(name).unwrap();
    match view.dtype() {
        safetensors::Dtype::F32 => {
            let words = view.data().chunks_exact(4);
            words.map(|word| f64::from(f32::from_le_bytes(word.try_into().unwrap()))).collect()
        }
        _ => view.data().chunks_exact(8).map(|word| f64::from_le_bytes(word.try_into().unwrap())).collect(),
    }
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|x| x * x).sum::<f64>().sqrt()
}

fn assert_agrees(name: &str, model: &dyn Model, salt: u64, scale: f32) {
    let params: Vec<f32> = number(model.parameter_count(), salt).iter().map(|x| scale * x).collect();
    let features = number(BATCH * model.inputs(), salt + 1);
    let Task::Classification { classes } = model.task() else { panic!("classifiers only") };
    let labels = (0..BATCH as u32).map(|i| i * 7 % classes as u32).collect();
    let data = Dataset::new(features, model.inputs(), Targets::Class { labels, classes }).unwrap();

    let clip = ClipNorm::new(singles(&format!("{name}.clip"))[0]).unwrap();
    let mut source = danger_from_seed(1, "batches");
    let sample = PoissonSampler::new(SamplingRate::ALL, BATCH).draw(&mut source);
    let sum = Workspace::new(model).clipped_sum(&params, &data, sample, clip).unwrap();
    let (ours, _) = sum.release(0.0, &mut source).unwrap();

    let theirs = singles(&format!("{name}.sum"));
    assert_eq!(ours.values().len(), theirs.len());
    let off = norm(ours.values().iter().zip(&theirs).map(|(&o, t)| f64::from(o) * BATCH as f64 - t));
    let relative = off / norm(theirs.iter().copied());
    assert!(relative < 1e-5, "{name}: off by {relative} relative");
}

#[test]
fn the_clipped_sum_of_logistic_regression_is_that_of_opacus() {
    assert_agrees("logistic", &LogisticRegression::new(30).unwrap(), 1, 0.5);
}

#[test]
fn the_clipped_sum_of_a_perceptron_is_that_of_opacus() {
    let task = Task::Classification { classes: 5 };
    assert_agrees("mlp", &Mlp::new(40, &[24, 12], Activation::Tanh, task).unwrap(), 3, 0.5);
}

#[test]
fn the_clipped_sum_of_a_convolutional_network_is_that_of_opacus() {
    assert_agrees("cnn", &Cnn::small(28, 28, 10).unwrap(), 5, 0.125);
}

#[test]
fn half_of_the_reference_examples_are_really_clipped() {
    for name in ["logistic", "mlp", "cnn"] {
        let clip = singles(&format!("{name}.clip"))[0];
        let clipped = singles(&format!("{name}.norms")).iter().filter(|&&norm| norm > clip).count();
        assert!((6..=18).contains(&clipped), "{name}: {clipped}");
    }
}

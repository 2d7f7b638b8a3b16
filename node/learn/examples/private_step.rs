//! Measures training steps on a fixed batch of 256: `private_step MODEL MODE SECONDS` prints samples per second.
//!
//! MODEL: `softmax` (64→10), `mlp` (784-128-10) or `cnn` (28×28). MODE: `plain` (mean gradient and step), `clip` (clipped
//! sum and step, no noise), `private` (clipped sum, noise and step) or `noise` (the noise alone, in samples of the batch).
//! Used by `benches/learn/bench.py`, which compares with other programs in the same run.

#![allow(clippy::disallowed_types, reason = "a benchmark reads the clock")]
#![allow(clippy::print_stdout, reason = "the figure is the output")]

use std::time::Instant;

use learn::data::{Dataset, Targets, Task};
use learn::gradient::{PoissonSampler, SamplingRate, Workspace};
use learn::model::{Activation, Cnn, Mlp, Model, SoftmaxRegression};
use learn::optimiser::{Optimiser, Sgd};
use privacy::clip::ClipNorm;
use privacy::noise::{NoiseSource, SystemNoise};

const BATCH: usize = 256;
const STEP_SIZE: f64 = 0.01;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, mode, seconds] = arguments.as_slice() else {
        return Err("usage: private_step softmax|mlp|cnn plain|clip|private|noise SECONDS".into());
    };
    let model: Box<dyn Model> = match model.as_str() {
        "softmax" => Box::new(SoftmaxRegression::new(64, 10)?),
        "mlp" => Box::new(Mlp::new(784, &[128], Activation::Relu, Task::Classification { classes: 10 })?),
        "cnn" => Box::new(Cnn::small(28, 28, 10)?),
        other => return Err(format!("no such model: {other}").into()),
    };
    let seconds: f64 = seconds.parse()?;
    let step = step_of(&*model, mode)?;
    // As a member of the pool, like the training loops: a thread outside it would be put to sleep and woken twice a step.
    let rate = rayon::scope(|_| samples_per_second(step, seconds));
    println!("{rate:.0}");
    Ok(())
}

fn samples_per_second(mut step: Box<dyn FnMut() + Send + '_>, seconds: f64) -> f64 {
    (0..20).for_each(|_| step());
    let (start, mut steps) = (Instant::now(), 0_u64);
    while start.elapsed().as_secs_f64() < seconds {
        (0..10).for_each(|_| step());
        steps += 10;
    }
    steps as f64 * BATCH as f64 / start.elapsed().as_secs_f64()
}

fn batch(model: &dyn Model) -> Result<Dataset, Box<dyn std::error::Error>> {
    let features = (0..BATCH * model.inputs()).map(|i| ((i * 7_919) % 1_009) as f32 / 1_009.0).collect();
    let labels = (0..BATCH as u32).map(|i| i % 10).collect();
    Ok(Dataset::new(features, model.inputs(), Targets::Class { labels, classes: 10 })?)
}

/// One step of the mode, on its own copy of everything.
fn step_of<'a>(
    model: &'a dyn Model,
    mode: &str,
) -> Result<Box<dyn FnMut() + Send + 'a>, Box<dyn std::error::Error>> {
    let data = batch(model)?;
    let mut params = model.initial(1);
    let mut workspace = Workspace::new(model);
    let mut optimiser = Sgd::default();
    let mut noise = SystemNoise::new()?;
    let sampler = PoissonSampler::new(SamplingRate::ALL, BATCH);
    let clip = ClipNorm::new(1.0)?;
    let records: Vec<u32> = (0..BATCH as u32).collect();
    let multiplier = match mode {
        "plain" | "noise" | "clip" => 0.0,
        "private" => 1.0,
        other => return Err(format!("no such mode: {other}").into()),
    };
    Ok(match mode {
        "noise" => Box::new(move || noise.add_normals_f32(&mut params, 1e-3)),
        "plain" => Box::new(move || {
            let gradient = workspace.mean(&params, &data, &records).expect("the batch fits the model");
            optimiser.step(&mut params, &gradient, STEP_SIZE);
            workspace.recycle(gradient);
        }),
        _ => Box::new(move || {
            let sample = sampler.draw(&mut noise);
            let sum = workspace.clipped_sum(&params, &data, sample, clip).expect("the batch fits the model");
            let (shareable, _) = sum.release(multiplier, &mut noise).expect("the multiplier is valid");
            optimiser.step(&mut params, shareable.values(), STEP_SIZE);
            workspace.recycle(shareable.into_values());
        }),
    })
}

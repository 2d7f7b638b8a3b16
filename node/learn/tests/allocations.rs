//! The inner loop of a private gradient allocates nothing per example: a batch of 2,048 costs no more allocations than
//! one of 128.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use learn::data::{Dataset, Targets, Task};
use learn::gradient::{PoissonSampler, SamplingRate, Workspace};
use learn::model::{Activation, Cnn, Mean, Mlp, Model, SoftmaxRegression};
use privacy::clip::ClipNorm;
use privacy::noise::danger_from_seed;

fn data(model: &dyn Model, records: usize) -> Dataset {
    let columns = model.inputs();
    let features = (0..records * columns).map(|i| ((i * 37) % 101) as f32 / 101.0).collect();
    let targets = match model.task() {
        Task::Classification { classes } => {
            Targets::Class { labels: (0..records as u32).map(|i| i % classes as u32).collect(), classes }
        }
        _ => Targets::None,
    };
    Dataset::new(features, columns, targets).unwrap()
}

/// Allocations of one clipped sum over `records` records. One lane: the counter sees this thread only.
fn allocations(model: &dyn Model, records: usize) -> u64 {
    let data = data(model, records);
    let params = model.initial(1);
    let mut workspace = Workspace::with_lanes(model, 1);
    let mut source = danger_from_seed(1, "batches");
    let sampler = PoissonSampler::new(SamplingRate::ALL, records);
    let clip = ClipNorm::new(0.1).unwrap();
    let mut count = 0;
    // The first round warms up what the libraries keep per thread.
    for _ in 0..2 {
        let sample = sampler.draw(&mut source);
        let counted = allocation_counter::measure(|| {
            let sum = workspace.clipped_sum(&params, &data, sample, clip).unwrap();
            drop(sum);
        });
        count = counted.count_total;
    }
    count
}

#[test]
fn a_larger_batch_needs_no_more_allocations() {
    let classes = Task::Classification { classes: 10 };
    let models: [Box<dyn Model>; 5] = [
        Box::new(Mean::new(64).unwrap()),
        Box::new(SoftmaxRegression::new(64, 10).unwrap()),
        Box::new(Mlp::new(64, &[32], Activation::Relu, classes).unwrap()),
        Box::new(Mlp::new(784, &[48], Activation::Relu, classes).unwrap()),
        Box::new(Cnn::small(28, 28, 10).unwrap()),
    ];
    for model in models {
        let (few, many) = (allocations(&*model, 128), allocations(&*model, 2_048));
        println!("{}: {few} allocations for 128 records, {many} for 2,048", model.kind());
        assert!(many <= few, "{}: {few} for 128 records, {many} for 2,048", model.kind());
    }
}

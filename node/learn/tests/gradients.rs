//! Every model's loss and gradient against an independent double-precision model and central differences.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

mod naive;

use learn::data::{Dataset, Target, Targets, Task};
use learn::gradient::{PoissonSampler, SamplingRate, Workspace};
use learn::model::{
    Activation, ByExample, Cnn, ConvLayer, LinearRegression, LogisticRegression, Mean, Mlp, Model,
    PerExample, Pool, RidgeRegression, SoftmaxRegression, TensorShape, gradient, loss, predict,
    weighted_gradient,
};
use naive::{Loss, Net};
use privacy::clip::ClipNorm;
use privacy::noise::danger_from_seed;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Uniform on [−1, 1).
fn uniform(random: &mut ChaCha8Rng) -> f32 {
    (f64::from(random.next_u32()) / f64::from(1_u32 << 31) - 1.0) as f32
}

fn records(count: usize, columns: usize, task: Task) -> Dataset {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let features = (0..count * columns).map(|_| uniform(&mut random)).collect();
    let targets = match task {
        Task::Classification { classes } => Targets::Class {
            labels: (0..count).map(|_| random.next_u32() % classes as u32).collect(),
            classes,
        },
        Task::Regression => Targets::Real((0..count).map(|_| uniform(&mut random)).collect()),
        Task::Unlabelled => Targets::None,
    };
    Dataset::new(features, columns, targets).unwrap()
}

/// Compares loss and gradient at random parameters; 70 records make one full chunk and one short one.
fn assert_matches(model: &dyn Model, net: &Net, head: Loss) {
    let data = records(70, model.inputs(), model.task());
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let params: Vec<f32> = (0..model.parameter_count()).map(|_| 0.4 * uniform(&mut random)).collect();
    let exact: Vec<f64> = params.iter().map(|&p| f64::from(p)).collect();

    let (ours, theirs) =
        (loss(model, &params, &data).unwrap(), naive::loss(net, head, model.penalty(), &exact, &data));
    assert!((ours - theirs).abs() <= 2e-6 * theirs.abs(), "{}: loss {ours}, not {theirs}", model.kind());

    let ours = gradient(model, &params, &data).unwrap();
    let theirs = naive::gradient(net, head, model.penalty(), &exact, &data);
    let scale = theirs.iter().map(|g| g * g).sum::<f64>().sqrt();
    for (i, (&ours, &theirs)) in ours.iter().zip(&theirs).enumerate() {
        // Single precision over a few hundred terms: errors near 1e-6 of the whole gradient.
        assert!(
            (f64::from(ours) - theirs).abs() < 4e-6 * scale,
            "{} [{i}]: {ours}, not {theirs}",
            model.kind()
        );
    }
}

/// Compares the clipped sum with gradients of single records, formed, measured and clipped one by one.
fn assert_clipped_sum_matches(model: &dyn Model, net: &Net, head: Loss) {
    let data = records(70, model.inputs(), model.task());
    // No parameter is zero: a dead unit would then sit exactly on the kink, where difference quotients say one half.
    let params: Vec<f32> =
        model.initial(3).iter().enumerate().map(|(i, p)| p + (i % 5) as f32 * 0.1 - 0.17).collect();
    let exact: Vec<f64> = params.iter().map(|&p| f64::from(p)).collect();
    let gradients: Vec<Vec<f64>> =
        (0..data.len()).map(|record| naive::record_gradient(net, head, &exact, &data, record)).collect();
    let norm = |g: &[f64]| g.iter().map(|x| x * x).sum::<f64>().sqrt();
    let mut norms: Vec<f64> = gradients.iter().map(|g| norm(g)).collect();
    norms.sort_by(f64::total_cmp);
    // The median norm: half of the records are clipped.
    let clip = norms[35];
    let mut theirs = vec![0.0; params.len()];
    for gradient in &gradients {
        let factor = (clip / norm(gradient)).min(1.0);
        theirs.iter_mut().zip(gradient).for_each(|(sum, g)| *sum += factor * g);
    }
    let mut source = danger_from_seed(1, "batches");
    let sample = PoissonSampler::new(SamplingRate::ALL, 70).draw(&mut source);
    let sum =
        Workspace::new(model).clipped_sum(&params, &data, sample, ClipNorm::new(clip).unwrap()).unwrap();
    let (ours, _) = sum.release(0.0, &mut source).unwrap();
    let off: Vec<f64> = ours.values().iter().zip(&theirs).map(|(&o, t)| f64::from(o) * 70.0 - t).collect();
    assert!(norm(&off) < 5e-6 * norm(&theirs), "{}: off by {}", model.kind(), norm(&off) / norm(&theirs));
}

fn dense(widths: &[usize], tanh: bool) -> Net {
    Net::Dense { widths: widths.to_vec(), tanh }
}

#[test]
fn the_gradient_of_the_mean_is_the_difference_quotient() {
    assert_matches(&Mean::new(7).unwrap(), &Net::Mean, Loss::Squared);
}

#[test]
fn the_gradient_of_linear_regression_is_the_difference_quotient() {
    assert_matches(&LinearRegression::new(9).unwrap(), &dense(&[9, 1], false), Loss::Squared);
}

#[test]
fn the_gradient_of_ridge_regression_contains_its_penalty() {
    assert_matches(&RidgeRegression::new(9, 0.3).unwrap(), &dense(&[9, 1], false), Loss::Squared);
}

#[test]
fn the_gradient_of_logistic_regression_is_the_difference_quotient() {
    assert_matches(&LogisticRegression::new(9).unwrap(), &dense(&[9, 1], false), Loss::Logistic);
}

#[test]
fn the_gradient_of_softmax_regression_is_the_difference_quotient() {
    assert_matches(&SoftmaxRegression::new(9, 4).unwrap(), &dense(&[9, 4], false), Loss::Softmax);
}

#[test]
fn the_gradient_of_perceptrons_of_any_depth_is_the_difference_quotient() {
    let classes = Task::Classification { classes: 3 };
    for hidden in [vec![5], vec![6, 5], vec![4, 7, 5]] {
        let widths = [vec![8], hidden.clone(), vec![3]].concat();
        for (activation, tanh) in [(Activation::Relu, false), (Activation::Tanh, true)] {
            let model = Mlp::new(8, &hidden, activation, classes).unwrap();
            assert_matches(&model, &dense(&widths, tanh), Loss::Softmax);
        }
    }
    let model = Mlp::new(8, &[6], Activation::Tanh, Task::Regression).unwrap();
    assert_matches(&model, &dense(&[8, 6, 1], true), Loss::Squared);
}

#[test]
fn the_gradient_of_convolutional_networks_is_the_difference_quotient() {
    let pool = |size, stride| Some(Pool { size, stride });
    let layer =
        |channels, kernel, stride, padding, pool| ConvLayer { channels, kernel, stride, padding, pool };
    // Strides, paddings and poolings of every kind: odd and even, overlapping or not, with a rest or without.
    let stacks = [
        (9, vec![layer(3, 4, 2, 1, pool(2, 1)), layer(4, 2, 1, 0, pool(2, 1))]),
        (10, vec![layer(2, 3, 1, 1, pool(2, 2)), layer(3, 3, 2, 2, None)]),
        (11, vec![layer(3, 5, 3, 2, pool(3, 2))]),
    ];
    for (side, layers) in stacks {
        let model = Cnn::new((side, side), &layers, &[6], Activation::Relu, 3).unwrap();
        let first_dense = model.tensors()[2 * layers.len()].shape[1];
        let net = Net::Conv { side, layers, widths: vec![first_dense, 6, 3] };
        assert_matches(&model, &net, Loss::Softmax);
    }
}

#[test]
fn the_clipped_sum_is_that_of_gradients_clipped_one_by_one() {
    let classes = Task::Classification { classes: 3 };
    assert_clipped_sum_matches(&Mean::new(7).unwrap(), &Net::Mean, Loss::Squared);
    assert_clipped_sum_matches(&RidgeRegression::new(7, 0.4).unwrap(), &dense(&[7, 1], false), Loss::Squared);
    assert_clipped_sum_matches(&LogisticRegression::new(7).unwrap(), &dense(&[7, 1], false), Loss::Logistic);
    assert_clipped_sum_matches(&SoftmaxRegression::new(7, 3).unwrap(), &dense(&[7, 3], false), Loss::Softmax);
    let mlp = Mlp::new(7, &[6, 5], Activation::Tanh, classes).unwrap();
    assert_clipped_sum_matches(&mlp, &dense(&[7, 6, 5, 3], true), Loss::Softmax);
    let layers = vec![
        ConvLayer { channels: 3, kernel: 4, stride: 2, padding: 1, pool: Some(Pool { size: 2, stride: 1 }) },
        ConvLayer { channels: 2, kernel: 2, stride: 1, padding: 0, pool: None },
    ];
    let cnn = Cnn::new((9, 9), &layers, &[4], Activation::Relu, 3).unwrap();
    let widths = vec![cnn.tensors()[4].shape[1], 4, 3];
    assert_clipped_sum_matches(&cnn, &Net::Conv { side: 9, layers, widths }, Loss::Softmax);
}

#[test]
fn the_small_network_has_the_published_number_of_parameters() {
    assert_eq!(Cnn::small(28, 28, 10).unwrap().parameter_count(), 26_010);
}

#[test]
fn predictions_are_probabilities_and_labels_their_largest() {
    let model = SoftmaxRegression::new(9, 4).unwrap();
    let data = records(70, 9, model.task());
    let params: Vec<f32> = (0..40).map(|i| (i % 7) as f32 * 0.3 - 1.0).collect();
    let predictions = predict(&model, &params, &data).unwrap();
    let labels = predictions.labels().unwrap();
    let learn::model::Predictions::Classes { classes: 4, probabilities } = predictions else {
        panic!("softmax predicts classes");
    };
    for (row, &label) in probabilities.chunks(4).zip(&labels) {
        assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        assert!(row.iter().all(|&p| p <= row[label as usize]));
    }
}

#[test]
fn data_that_do_not_fit_are_named() {
    let model = SoftmaxRegression::new(9, 4).unwrap();
    let zeros = model.initial(1);
    let message = |data: &Dataset| loss(&model, &zeros, data).unwrap_err().to_string();
    assert!(message(&records(3, 8, model.task())).contains("9 features, and the records have 8"));
    assert!(
        message(&records(3, 9, Task::Regression)).contains("4 classes, and the data are for real targets")
    );
    assert!(loss(&model, &zeros[1..], &records(3, 9, model.task())).is_err());
    assert!(loss(&model, &zeros, &records(3, 9, model.task()).subset(&[])).is_err());
}

/// Linear regression as somebody outside would write it.
#[derive(Debug)]
struct OwnLinear;

impl PerExample for OwnLinear {
    fn kind(&self) -> &'static str {
        "own"
    }

    fn inputs(&self) -> usize {
        7
    }

    fn outputs(&self) -> usize {
        1
    }

    fn task(&self) -> Task {
        Task::Regression
    }

    fn tensors(&self) -> Vec<TensorShape> {
        vec![TensorShape::zeros("weight", &[1, 7]), TensorShape::uniform("bias", &[1], 0.1)]
    }

    fn forward(&self, params: &[f32], features: &[f32], outputs: &mut [f32]) {
        outputs[0] = params[7] + params.iter().zip(features).map(|(w, x)| w * x).sum::<f32>();
    }

    fn loss(&self, outputs: &[f32], target: Target) -> f64 {
        let Target::Real(value) = target else { return f64::NAN };
        (f64::from(outputs[0]) - f64::from(value)).powi(2) / 2.0
    }

    fn gradient(&self, params: &[f32], features: &[f32], target: Target, gradient: &mut [f32]) {
        let mut output = [0.0];
        self.forward(params, features, &mut output);
        let Target::Real(value) = target else { return gradient.fill(f32::NAN) };
        gradient[..7].copy_from_slice(features);
        gradient[7] = 1.0;
        gradient.iter_mut().for_each(|g| *g *= output[0] - value);
    }
}

#[test]
fn a_model_of_ones_own_is_clipped_like_the_built_in_ones() {
    let model = ByExample::new(OwnLinear).unwrap();
    assert_matches(&model, &dense(&[7, 1], false), Loss::Squared);
    assert_clipped_sum_matches(&model, &dense(&[7, 1], false), Loss::Squared);
}

/// Record by record the same as the gradients of single records, each times its weight; a penalty counts once.
#[test]
fn a_weighted_gradient_is_the_sum_of_weighted_gradients() {
    let models: [&dyn Model; 2] =
        [&SoftmaxRegression::new(5, 3).unwrap(), &RidgeRegression::new(5, 0.5).unwrap()];
    for model in models {
        let data = records(70, 5, model.task());
        let params = model.initial(3);
        let weights: Vec<f32> = (0..70).map(|record| (record % 5) as f32 / 4.0).collect();
        let found = weighted_gradient(model, &params, &data, &weights).unwrap();
        for (at, &value) in found.iter().enumerate() {
            let one = |record: u32| {
                let alone = gradient(model, &params, &data.subset(&[record])).unwrap()[at];
                let penalty = model.penalty() as f32 * params[at];
                f64::from(weights[record as usize]) * f64::from(alone - penalty)
            };
            let sum = (0..70).map(one).sum::<f64>() / 70.0 + model.penalty() * f64::from(params[at]);
            assert!((f64::from(value) - sum).abs() < 1e-5, "{}: {value} {sum}", model.kind());
        }
        let all = weighted_gradient(model, &params, &data, &[1.0; 70]).unwrap();
        let plain = gradient(model, &params, &data).unwrap();
        assert!(all.iter().zip(&plain).all(|(a, b)| (a - b).abs() < 1e-5));
    }
}

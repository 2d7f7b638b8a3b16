//! The clip bound, by property: whatever one example is, the clipped sum moves by at most C·(1 + rounding slack).

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use learn::data::{Dataset, Groups, Target, Targets, Task};
use learn::gradient::{ExampleGradient, Persons, PoissonSampler, SamplingRate, Workspace, rounding};
use learn::model::{
    Activation, Cnn, ConvLayer, Examples, LinearRegression, LogisticRegression, Mean, Mlp, Model, Pool,
    SoftmaxRegression,
};
use privacy::clip::ClipNorm;
use privacy::noise::danger_from_seed;
use proptest::prelude::*;

/// Rows that no data set would accept.
#[derive(Debug, Clone)]
struct Rows {
    rows: Vec<(Vec<f32>, Target)>,
}

impl Examples for Rows {
    fn count(&self) -> usize {
        self.rows.len()
    }

    fn features_of(&self, record: usize) -> &[f32] {
        &self.rows[record].0
    }

    fn target_of(&self, record: usize) -> Target {
        self.rows[record].1
    }
}

/// 16 features each, so that the convolutional network sees 4×4 images.
fn models() -> Vec<Box<dyn Model>> {
    let classes = Task::Classification { classes: 3 };
    let layer =
        ConvLayer { channels: 2, kernel: 3, stride: 1, padding: 1, pool: Some(Pool { size: 2, stride: 2 }) };
    vec![
        Box::new(Mean::new(16).unwrap()),
        Box::new(LinearRegression::new(16).unwrap()),
        Box::new(LogisticRegression::new(16).unwrap()),
        Box::new(SoftmaxRegression::new(16, 3).unwrap()),
        Box::new(Mlp::new(16, &[5, 4], Activation::Tanh, classes).unwrap()),
        Box::new(Mlp::new(16, &[5], Activation::Relu, Task::Regression).unwrap()),
        // Large enough for sums by groups, from 64 rows on.
        Box::new(Mlp::new(16, &[2_050], Activation::Relu, classes).unwrap()),
        Box::new(Cnn::new((4, 4), &[layer], &[4], Activation::Relu, 3).unwrap()),
    ]
}

fn any_value() -> impl Strategy<Value = f32> {
    prop_oneof![
        8 => -3.0_f32..3.0,
        1 => any::<f32>(),
        1 => prop_oneof![
            Just(f32::NAN), Just(f32::INFINITY), Just(f32::NEG_INFINITY), Just(f32::MAX), Just(1e-45_f32), Just(1e30_f32),
        ],
    ]
}

/// Mostly ordinary rows, some zero, some with anything in them.
fn any_row() -> impl Strategy<Value = (Vec<f32>, f32, u32)> {
    let features = prop_oneof![
        4 => prop::collection::vec(-3.0_f32..3.0, 16),
        1 => Just(vec![0.0; 16]),
        2 => prop::collection::vec(any_value(), 16),
    ];
    (features, any_value(), 0_u32..6)
}

fn examples(task: Task, rows: &[(Vec<f32>, f32, u32)]) -> Rows {
    let target = |real: f32, label: u32| match task {
        Task::Classification { classes } => Target::Class(label % classes as u32),
        Task::Regression => Target::Real(real),
        Task::Unlabelled => Target::None,
    };
    Rows {
        rows: rows.iter().map(|(features, real, label)| (features.clone(), target(*real, *label))).collect(),
    }
}

/// The clipped sum over all rows, as released without noise, and its sensitivity.
fn sum(model: &dyn Model, params: &[f32], rows: &Rows, clip: ClipNorm) -> (Vec<f64>, f64) {
    if rows.rows.is_empty() {
        return (vec![0.0; params.len()], clip.value());
    }
    let sampler = PoissonSampler::new(SamplingRate::ALL, rows.count());
    let mut source = danger_from_seed(1, "batches");
    let sum = Workspace::new(model).clipped_sum(params, rows, sampler.draw(&mut source), clip).unwrap();
    let (sensitivity, divisor) = (sum.sensitivity(), sum.divisor());
    let (shareable, event) = sum.release(0.0, &mut source).unwrap();
    assert_eq!(event, privacy::event::DpEvent::NonPrivate);
    (shareable.values().iter().map(|&x| f64::from(x) * divisor).collect(), sensitivity)
}

fn distance(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn adding_removing_or_changing_one_example_moves_the_sum_by_at_most_the_clip_norm(
        rows in prop::collection::vec(any_row(), 1..150),
        newcomer in any_row(),
        at in any::<prop::sample::Index>(),
        clip_exponent in -8.0_f64..8.0,
        weights in prop::collection::vec(-1.0_f32..1.0, 200),
        wild in prop::option::weighted(0.1, any_value()),
    ) {
        let clip = ClipNorm::new(clip_exponent.exp2()).unwrap();
        let at = at.index(rows.len());
        let (mut without, mut blanked, mut changed) = (rows.clone(), rows.clone(), rows.clone());
        without.remove(at);
        blanked[at] = (vec![f32::NAN; 16], f32::NAN, 0);
        changed[at] = newcomer;
        for model in models() {
            let mut params: Vec<f32> = weights.iter().copied().cycle().take(model.parameter_count()).collect();
            params[0] = wild.unwrap_or(params[0]);
            let all = |rows: &[_]| sum(&*model, &params, &examples(model.task(), rows), clip);
            let (with, sensitivity) = all(&rows);
            let most = if model.chunk_rows() > 64 { 2.5e-3 } else { 2e-3 };
            prop_assert!(sensitivity <= clip.value() * (1.0 + most));
            // Dividing by the batch size and multiplying again rounds too, by 2⁻²³ of the sum: that is post-processing.
            let after = clip.value() * rows.len() as f64 * 2.4e-7;
            let bound = sensitivity + after;
            prop_assert!(with.iter().all(|x| x.is_finite()), "{} is not finite", model.kind());
            let moved = distance(&with, &all(&blanked).0);
            prop_assert!(moved <= bound, "{}: a blank moves by {moved} > {bound}", model.kind());
            let slack = rounding::slack_of_removal(rows.len(), model.chunk_rows(), 2);
            let removal = clip.value() * (1.0 + slack) + after;
            let moved = distance(&with, &all(&without).0);
            prop_assert!(moved <= removal, "{}: removal moves by {moved} > {removal}", model.kind());
            let moved = distance(&with, &all(&changed).0);
            prop_assert!(moved <= 2.0 * bound, "{}: a change moves by {moved} > 2·{bound}", model.kind());
        }
    }

    /// Blanking all records of a person moves the sum of a batch of persons by at most the clip norm, whoever was drawn and however many records the person has.
    #[test]
    fn all_records_of_a_person_together_move_the_sum_by_at_most_the_clip_norm(
        rows in prop::collection::vec((prop::collection::vec(-30.0_f32..30.0, 4), 0_u32..6), 1..60),
        at in any::<prop::sample::Index>(),
        clip_exponent in -6.0_f64..6.0,
        seed in any::<u64>(),
        rate in 0.1_f64..1.0,
    ) {
        let clip = ClipNorm::new(clip_exponent.exp2()).unwrap();
        let person = rows[at.index(rows.len())].1;
        let data = |blank: bool| {
            let value = |&x: &f32, of: u32| if blank && of == person { 0.0 } else { x };
            let features = rows.iter().flat_map(|(row, of)| row.iter().map(|x| value(x, *of)).collect::<Vec<_>>()).collect();
            let groups = Groups { of_record: rows.iter().map(|(_, of)| *of).collect(), names: (0..6).map(|of| of.to_string()).collect() };
            Dataset::new(features, 4, Targets::None).unwrap().with_groups(groups).unwrap()
        };
        // The mean of rows has a gradient of minus the row, at parameters of zero: a blank row adds nothing.
        let model = Mean::new(4).unwrap();
        let sum = |data: &Dataset| {
            let persons = Persons::of(data).unwrap();
            let sampler = PoissonSampler::new(SamplingRate::new(rate).unwrap(), persons.len());
            let mut source = danger_from_seed(seed, "persons");
            let sample = persons.draw(&sampler, &mut source);
            let sum = Workspace::new(&model).clipped_sum(&[0.0; 4], data, sample, clip).unwrap();
            let (sensitivity, divisor) = (sum.sensitivity(), sum.divisor());
            let (shareable, _) = sum.release(0.0, &mut source).unwrap();
            (shareable.values().iter().map(|&x| f64::from(x) * divisor).collect::<Vec<f64>>(), sensitivity)
        };
        let ((with, sensitivity), (without, _)) = (sum(&data(false)), sum(&data(true)));
        let moved = distance(&with, &without);
        let bound = sensitivity + clip.value() * rows.len() as f64 * 2.4e-7;
        prop_assert!(moved <= bound, "{moved} > {bound}");
        // With every record of theirs in the sum it would be more: the test can fail.
        prop_assert!(sensitivity <= clip.value() * 1.002);
    }

    #[test]
    fn a_nodes_whole_update_is_clipped_whatever_it_holds(
        mut update in prop::collection::vec(any_value(), 1..300),
        clip_exponent in -8.0_f64..8.0,
    ) {
        let clip = ClipNorm::new(clip_exponent.exp2()).unwrap();
        let ours = ExampleGradient::of_node(update.clone()).clip(clip);
        prop_assert_eq!(ours.sensitivity(), 2.0 * clip.value());
        let (shareable, _) = ours.release(0.0, &mut danger_from_seed(1, "noise")).unwrap();
        let norm: f64 = shareable.values().iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
        prop_assert!(norm <= clip.value());
        update.push(f32::NAN);
        let (shareable, _) =
            ExampleGradient::of_node(update).clip(clip).release(0.0, &mut danger_from_seed(1, "noise")).unwrap();
        prop_assert!(shareable.values().iter().all(|&x| x == 0.0));
    }
}

#[test]
fn one_huge_example_among_zeros_counts_exactly_the_clip_norm() {
    let clip = ClipNorm::new(0.5).unwrap();
    let model = LinearRegression::new(16).unwrap();
    let quiet = (vec![0.0; 16], 0.0, 0);
    let mut rows = vec![quiet; 20];
    rows[3] = (vec![1e6; 16], -1e6, 0);
    let (values, _) = sum(&model, &[0.0; 17], &examples(Task::Regression, &rows), clip);
    assert!((distance(&values, &[0.0; 17]) - 0.5).abs() < 1e-6);
}

#[test]
fn an_example_that_is_not_finite_contributes_nothing() {
    let clip = ClipNorm::new(1.0).unwrap();
    for model in models() {
        let params: Vec<f32> = (0..model.parameter_count()).map(|i| (i % 5) as f32 * 0.1 - 0.2).collect();
        let good: Vec<_> = (0..10).map(|i| (vec![0.1 * i as f32; 16], 1.0, i)).collect();
        let mut poisoned = good.clone();
        poisoned.push((vec![f32::NAN; 16], f32::INFINITY, 1));
        let left = sum(&*model, &params, &examples(model.task(), &good), clip).0;
        let right = sum(&*model, &params, &examples(model.task(), &poisoned), clip).0;
        assert!(distance(&left, &right) < 1e-5, "{}", model.kind());
    }
}

#[test]
fn rounding_of_a_long_sum_stays_far_below_its_bound() {
    // 4,000 equal contributions of norm 0.1 pointing the same way: sums grow to 400, where one f32 step is 3e-5.
    let model = Mean::new(1).unwrap();
    let clip = ClipNorm::new(0.1).unwrap();
    let rows = |count: usize| Rows { rows: vec![(vec![-1.0], Target::None); count] };
    let (with, sensitivity) = sum(&model, &[0.0], &rows(4_000), clip);
    let (without, _) = sum(&model, &[0.0], &rows(3_999), clip);
    assert!((distance(&with, &without) - 0.1).abs() < 0.1 * rounding::slack_of_removal(4_000, 64, 2));
    assert!(sensitivity > 0.1 && sensitivity < 0.1 * 1.003);
}

//! All data of a node are protected: the mean of its records, for `mean`.

use learn::data::Dataset;
use learn::gradient::ExampleGradient;

/// The mean of the records.
pub(super) fn mean(data: &Dataset) -> ExampleGradient {
    let mut sum = vec![0.0_f64; data.columns()];
    for record in 0..data.len() {
        sum.iter_mut().zip(data.row(record)).for_each(|(sum, &value)| *sum += f64::from(value));
    }
    let count = data.len().max(1) as f64;
    ExampleGradient::of_node(sum.into_iter().map(|sum| (sum / count) as f32).collect())
}

//! The minimiser for linear models, in closed form.
//!
//! With residuals r = y − ⟨x, θ⟩ of the shared model and free columns X the way from it is (XᵀX/n + (λ + p)I)⁻¹ (Xᵀr/n − pθ), p being the model's penalty.

use crate::data::{Dataset, Target};
use crate::model::Model;

use super::free::Free;

/// Free parameters above which gradient steps are cheaper.
const MOST_FREE: usize = 512;
/// Relative to the mean curvature: where records are fewer than parameters, λ = 0 means the minimiser nearest to the shared model.
const NEAREST: f64 = 1e-9;

/// The minimiser of the loss of `data` plus (λ/2)‖v − anchor‖² over the free parameters; `None` where the model is not linear or is too large for it.
pub(super) fn minimiser(
    model: &dyn Model,
    anchor: &[f32],
    data: &Dataset,
    lambda: f64,
    free: &Free,
) -> Option<Vec<f32>> {
    let columns = data.columns();
    let linear = matches!(model.kind(), "linear" | "ridge") && anchor.len() == columns + 1;
    if !linear || free.count() > MOST_FREE {
        return None;
    }
    let places: Vec<usize> = free.places().collect();
    let size = places.len();
    let (mut curvature, mut slope) = (vec![0.0; size * size], vec![0.0; size]);
    for record in 0..data.len() {
        let Target::Real(target) = data.target(record) else { return None };
        let row = data.row(record);
        let feature = |place: usize| if place < columns { f64::from(row[place]) } else { 1.0 };
        let predicted: f64 = (0..=columns).map(|place| feature(place) * f64::from(anchor[place])).sum();
        let residual = f64::from(target) - predicted;
        for (i, &a) in places.iter().enumerate() {
            slope[i] += feature(a) * residual;
            for (j, &b) in places[..=i].iter().enumerate() {
                curvature[i * size + j] += feature(a) * feature(b);
            }
        }
    }
    let (records, penalty) = (data.len() as f64, model.penalty());
    curvature.iter_mut().for_each(|value| *value /= records);
    let trace: f64 = (0..size).map(|i| curvature[i * size + i]).sum();
    let least = NEAREST * (trace / size as f64).max(f64::MIN_POSITIVE);
    for (i, &place) in places.iter().enumerate() {
        curvature[i * size + i] += (lambda + penalty).max(least);
        slope[i] = slope[i] / records - penalty * f64::from(anchor[place]);
    }
    let way = solved(&mut curvature, slope)?;
    let mut params = anchor.to_vec();
    places.iter().zip(way).for_each(|(&place, by)| params[place] = (f64::from(anchor[place]) + by) as f32);
    Some(params)
}

/// Solves by Cholesky's factors, of which the lower triangle is used; `None` where the matrix is not positive definite.
fn solved(matrix: &mut [f64], mut right: Vec<f64>) -> Option<Vec<f64>> {
    let size = right.len();
    for i in 0..size {
        for j in 0..=i {
            let products: f64 = (0..j).map(|k| matrix[i * size + k] * matrix[j * size + k]).sum();
            let rest = matrix[i * size + j] - products;
            matrix[i * size + j] = if i == j {
                if rest <= 0.0 || rest.is_nan() {
                    return None;
                }
                rest.sqrt()
            } else {
                rest / matrix[j * size + j]
            };
        }
    }
    for i in 0..size {
        let known: f64 = (0..i).map(|k| matrix[i * size + k] * right[k]).sum();
        right[i] = (right[i] - known) / matrix[i * size + i];
    }
    for i in (0..size).rev() {
        let known: f64 = (i + 1..size).map(|k| matrix[k * size + i] * right[k]).sum();
        right[i] = (right[i] - known) / matrix[i * size + i];
    }
    Some(right)
}

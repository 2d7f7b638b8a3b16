//! Laplace noise in Rⁿ, and the published heuristic beside the sound radius.

use privacy::mechanisms::EuclideanLaplace;
use privacy::rdp;

use super::Kind;
use super::harness::{Case, Comparison, Outcome};

pub(crate) const KINDS: &[Kind] = &[
    ("euclidean_laplace", &["dimension", "epsilon_times_distance", "releases"], euclidean),
    ("published_heuristic", &["nu", "update", "other_update", "seen"], published),
    ("sound_radius", &["nu", "radius", "dimension"], sound),
];

fn euclidean(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let (dimension, shift, releases) =
        (case.get("dimension")?, case.get::<f64>("epsilon_times_distance")?, case.get("releases")?);
    let renyi: std::collections::BTreeMap<String, f64> = case.get("renyi")?;
    for (order, expected) in renyi {
        let found = rdp::euclidean_laplace(dimension, shift, order.parse()?);
        compare.near(format_args!("order {order}"), found, expected, 1e-6 * expected);
    }
    let delta = rdp::euclidean_laplace_delta(dimension, shift, 0.5 * shift);
    // What is stated is off by up to 5e-7: Simpson's rule on a fine grid gives 0.0969790698 and 0.0509443899 for the first two.
    compare.near("δ at half", delta, case.get("delta_at_half")?, 1e-6);
    compare.near("pure", shift * releases as f64, case.get("pure_epsilon")?, 1e-9);
    let all = rdp::euclidean_laplace_epsilon(dimension, shift, releases, 1e-5);
    compare.near("all", all, case.get("renyi_epsilon_at_1e_5")?, 1e-5);
    Ok(())
}

/// ε follows the private update, so the likelihoods of two updates have different scales, and their ratio is without bound.
fn published(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let nu: f64 = case.get("nu")?;
    let [update, other, seen] = ["update", "other_update", "seen"].map(|key| case.get::<Vec<f64>>(key));
    let (update, other, seen) = (update?, other?, seen?);
    let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    let zero = vec![0.0; update.len()];
    let n = update.len() as f64;
    let scale = |update: &[f64]| n / (nu * distance(update, &zero));
    // The density is proportional to εⁿ·e^(−ε‖x‖).
    let log_density = |update: &[f64]| n * scale(update).ln() - scale(update) * distance(update, &seen);
    compare.near("ε", scale(&update), case.get("epsilon_per_unit")?, 1e-9);
    compare.near("claimed", n / nu, case.get("claimed_leak")?, 1e-9);
    let apart = scale(&update) * distance(&update, &other);
    compare.near("claimed at their distance", apart, case.get("claimed_leak_at_their_distance")?, 1e-9);
    let ratio = (log_density(&update) - log_density(&other)).abs();
    compare.near("ratio", ratio, case.get("log_likelihood_ratio")?, 1e-9);
    compare.holds(!case.get::<bool>("guarantee")? && ratio > apart, "the claim is passed");
    Ok(())
}

fn sound(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let (nu, radius, dimension): (f64, f64, f64) =
        (case.get("nu")?, case.get("radius")?, case.get("dimension")?);
    let mechanism = EuclideanLaplace::new(dimension / (nu * radius), 2.0 * radius)?;
    let per_unit = mechanism.epsilon_per_unit();
    compare.near("ε", per_unit, case.get("epsilon_per_unit")?, 1e-9);
    compare.near("at the radius", per_unit * radius, case.get("leak_at_distance_radius")?, 1e-9);
    let node = privacy::rdp::euclidean_laplace_epsilon(2, per_unit * 2.0 * radius, 1, 1e-300);
    compare.near("node", node, case.get("pure_epsilon_node")?, 1e-9);
    Ok(())
}

//! What is released: slots, private choices, the bit of adaptive clipping; and what own noise that comes back would do.

use learn::gradient::ExampleGradient;
use privacy::clip::ClipNorm;
use privacy::gdp;
use privacy::noise::danger_from_seed;
use protocol::account::Kept;
use protocol::work::{Choices, Quantile, clipped_sums};

use super::Kind;
use super::harness::{Case, Comparison, Outcome};

pub(crate) const KINDS: &[Kind] = &[
    ("slots", &["slots", "clip", "choice", "update"], slots),
    ("slot_step", &["contributors", "slots", "sums"], slot_step),
    ("private_choice", &["losses", "clip"], private_choice),
    (
        "adaptive_clip",
        &["clip", "quantile", "rate", "nodes", "noisy_bit_sum", "noise_multiplier", "bit_noise_per_node"],
        adaptive_clip,
    ),
    ("own_noise_breaks_rounds", &["gain", "contributors"], own_noise),
    ("choices_in_the_budget", &["epsilon", "delta", "choices", "choice_noise"], choices),
];

/// `Part::With` takes the beginning of a name: `slots` and `slot_step` do not begin alike.
fn slots(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let (slots, slot, clip): (usize, usize, f64) =
        (case.get("slots")?, case.get("choice")?, case.get("clip")?);
    let sum = ExampleGradient::of_node(case.get("update")?).clip(ClipNorm::new(clip)?).placed(slots, slot);
    compare.near("Δ", sum.sensitivity(), case.get("sensitivity_node")?, 1e-9);
    let (released, _) = sum.release(0.0, &mut danger_from_seed(1, "none"))?;
    let found: Vec<f64> = released.values().iter().map(|&value| f64::from(value)).collect();
    compare.all_near("released", &found, &case.get::<Vec<f64>>("released_before_noise")?, 1e-6);
    // Two vectors of norm C in different slots are at right angles.
    let apart = (2.0 * clip * clip).sqrt();
    compare.near("apart", apart, case.get("largest_change_if_slots_differ")?, 1e-9);
    Ok(())
}

/// The mean over all contributors, and a step that is longer by the number of slots.
fn slot_step(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let (contributors, slots): (f64, f64) = (case.get("contributors")?, case.get("slots")?);
    let (sums, expected): (Vec<Vec<f64>>, Vec<Vec<f64>>) = (case.get("sums")?, case.get("mean_updates")?);
    for (sum, expected) in sums.iter().zip(&expected) {
        let found: Vec<f64> = sum.iter().map(|value| value / contributors * slots).collect();
        compare.all_near("mean", &found, expected, 1e-9);
    }
    Ok(())
}

fn private_choice(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let (losses, clip): (Vec<Vec<f64>>, f64) = (case.get("losses")?, case.get("clip")?);
    compare.all_near("sums", &clipped_sums(&losses, clip), &case.get::<Vec<f64>>("sums")?, 1e-9);
    // With next to no noise.
    let choices = Choices { rounds: vec![0], noise_multiplier: 1e-9, clip };
    let slot = choices.choose(&losses, &mut danger_from_seed(1, "choice"))?;
    compare.near("slot", slot as f64, case.get("choice_without_noise")?, 0.0);
    compare.near("Δ", clip, case.get("sensitivity_record")?, 1e-9);
    Ok(())
}

fn adaptive_clip(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let quantile = Quantile { quantile: case.get("quantile")?, rate: case.get("rate")? };
    let part = case.get::<f64>("noisy_bit_sum")? / case.get::<f64>("nodes")?;
    compare.near("C", quantile.next_clip(case.get("clip")?, part), case.get("next_clip")?, 1e-9);
    let found = Quantile::noise_of_update(case.get("noise_multiplier")?, case.get("bit_noise_per_node")?)
        .ok_or("no noise is left for the update")?;
    compare.near("z", found, case.get("noise_multiplier_update")?, 1e-9);
    Ok(())
}

/// A watcher sees the sum of a round, and that of the next, to which all others add g times the noise that hid the node in the first. By linear
/// algebra its view of the node has μ² = [Σ⁻¹]₁₁ for the covariance Σ of the two sums.
fn own_noise(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let (gain, n): (f64, f64) = (case.get("gain")?, case.get("contributors")?);
    let (first, second, both) = (n, n + gain * gain * (n - 1.0), gain * (n - 1.0));
    compare.near("leverage", 1.0 / n, case.get("leverage_of_round_1")?, 1e-9);
    compare.near("μ²", second / (first * second - both * both), case.get("true_mu2")?, 1e-9);
    Ok(())
}

fn choices(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let mu = gdp::mu(case.get("epsilon")?, case.get("delta")?)?;
    let kept = Kept { noise_multiplier: case.get("choice_noise")?, count: case.get("choices")? };
    compare.near("μ", mu, case.get("mu")?, 1e-8);
    compare.near("choices", kept.mu2(), case.get("mu2_of_choices")?, 1e-9);
    compare.near("left", mu * mu - kept.mu2(), case.get("mu2_left")?, 1e-8);
    Ok(())
}

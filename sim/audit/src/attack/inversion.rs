//! A record from its gradient. For a linear layer with a bias the gradient of one record is (s ⊗ x, s), so x is a quotient (closed form; no optimisation as in
//! Zhu, Liu and Han 2019), and clipping, which scales all of it, hides nothing. Noise does.

use learn::data::Dataset;
use learn::gradient::Workspace;
use privacy::noise::danger_from_seed;
use protocol::Setup;
use protocol::work::{Job, Unit, WorkSettings, contribute};

use super::{Attack, Case, Outcome};
use crate::AuditError;
use crate::finding::{Finding, Measure};

/// Records that are tried.
const RECORDS: usize = 50;

/// Runs the attack on contributions of the watched node, as if it held one record.
///
/// # Guarantee
/// None: figures of one attack. Better ones may exist; the account bounds all of them.
pub(crate) fn run(case: &Case<'_>) -> Result<Outcome, AuditError> {
    let setup = &case.scene.setup;
    let kind = setup.model.kind();
    let linear = matches!(kind, "softmax" | "logistic" | "linear" | "ridge");
    if !linear || !setup.config.algorithm.kind.trains() {
        let why = format!(
            "has a closed form for softmax, logistic, linear and ridge models only, not for `{kind}`"
        );
        return Ok(Outcome::skipped(Attack::Inversion, why));
    }
    let Unit::Record { .. } = setup.work.unit else {
        let why = "needs `privacy.adjacency = \"record\"`: an update after local steps is no gradient";
        return Ok(Outcome::skipped(Attack::Inversion, why));
    };
    let data = &setup.train[case.pair.0];
    let records = data.len().min(RECORDS);
    let mut measures = Vec::new();
    for (name, noise_multiplier) in [("without noise", 0.0), ("with noise", setup.work.noise_multiplier)] {
        let work = WorkSettings { noise_multiplier, ..setup.work.as_ref().clone() };
        let (mut cosine, mut error) = (0.0, 0.0);
        for record in 0..records {
            let alone = data.subset(&[record as u32]);
            let guess = invert(case, &work, &alone, record as u64)?;
            let (c, e) = compare(&guess, alone.row(0));
            cosine += c / records as f64;
            error += e / records as f64;
        }
        measures.push(Measure::new(format!("cosine similarity {name}"), cosine));
        measures.push(Measure::new(format!("error {name}, of the record's norm"), error));
    }
    let target = format!("records of node {}", case.pair.0);
    Ok(Outcome::Found(vec![Finding::figures("inversion", target, records as u64, measures)]))
}

/// The features that one noisy gradient speaks for.
fn invert(case: &Case<'_>, work: &WorkSettings, alone: &Dataset, index: u64) -> Result<Vec<f64>, AuditError> {
    let setup: &Setup = &case.scene.setup;
    let model = setup.model.as_ref();
    let job = Job::new(0, setup.settings.initial.clone());
    let mut noise = danger_from_seed(case.seed_of(24, index), "audit/inversion");
    let mut workspace = Workspace::with_lanes(model, 1);
    let computed = contribute(work, (model, alone), &job, &mut workspace, &mut noise)?;
    let gradient = computed.contribution.reals().map_or(&[][..], |contribution| contribution.values());
    let inputs = model.inputs();
    let outputs = gradient.len() / (inputs + 1);
    let bias = &gradient[outputs * inputs..];
    // The output with the largest back-signal has the least noise in its quotient.
    let largest = (0..outputs).max_by(|&a, &b| bias[a].abs().total_cmp(&bias[b].abs())).unwrap_or(0);
    let row = &gradient[largest * inputs..(largest + 1) * inputs];
    Ok(row.iter().map(|&weight| f64::from(weight) / f64::from(bias[largest])).collect())
}

/// Cosine similarity, and the distance relative to the record's norm (at most 1: a zero guess does as well).
fn compare(guess: &[f64], truth: &[f32]) -> (f64, f64) {
    let truth: Vec<f64> = truth.iter().map(|&x| f64::from(x)).collect();
    let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let product: f64 = guess.iter().zip(&truth).map(|(g, t)| g * t).sum();
    let off: Vec<f64> = guess.iter().zip(&truth).map(|(g, t)| g - t).collect();
    let (ours, theirs) = (norm(guess), norm(&truth));
    let finite = |value: f64| if value.is_finite() { value } else { 0.0 };
    (finite(product / (ours * theirs)), (norm(&off) / theirs).min(1.0))
}

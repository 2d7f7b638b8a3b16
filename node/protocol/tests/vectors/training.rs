//! Local updates, personal models, and repairs of drift.

use learn::data::Dataset;
use learn::gradient::ExampleGradient;
use learn::model::{LinearRegression, Model};
use learn::objective::Objective;
use learn::optimiser::{LocalSteps, OptimiserSpec, StepSizes, Variates, d2_direction, node_update};
use learn::personal::{Free, Lambda, Personal};
use privacy::clip::ClipNorm;
use privacy::noise::danger_from_seed;
use serde::Deserialize;

use super::Kind;
use super::harness::{Case, Comparison, Outcome};
use super::least_squares::{NoIntercept, Records};

pub(crate) const KINDS: &[Kind] = &[
    ("local_update", &["nodes", "theta", "steps", "learning_rate", "mu", "alpha"], local_update),
    ("personal", &["nodes", "theta"], personal),
    ("scaffold", &["nodes", "theta", "steps", "learning_rate", "clip", "noise"], scaffold),
    ("d2", &["b"], d2),
];

/// Single precision throughout.
const NEAR: f64 = 2e-6;

fn datasets(case: &Case<'_>) -> Result<Vec<Dataset>, Box<dyn std::error::Error>> {
    Ok(case.get::<Vec<Records>>("nodes")?.iter().map(Records::dataset).collect())
}

fn steps(case: &Case<'_>) -> Result<LocalSteps, Box<dyn std::error::Error>> {
    Ok(LocalSteps {
        steps: case.get("steps")?,
        batch: usize::MAX,
        schedule: StepSizes::Constant { step_size: case.get("learning_rate")? },
        optimiser: OptimiserSpec::Sgd { radius: None },
    })
}

fn values(update: ExampleGradient, clip: f64) -> Vec<f32> {
    let sum = update.clip(ClipNorm::new(clip).unwrap());
    sum.release(0.0, &mut danger_from_seed(1, "none")).unwrap().0.into_values()
}

fn doubles(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&value| f64::from(value)).collect()
}

fn local_update(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let theta: Vec<f32> = case.get("theta")?;
    let expected: Vec<Vec<f64>> = case.get("updates")?;
    let model = NoIntercept::model(theta.len());
    for (data, expected) in datasets(case)?.iter().zip(&expected) {
        let plain = Objective::new(&model, data);
        let objective = match case.get::<String>("method")?.as_str() {
            "fedavg" => plain,
            "fedprox" => plain.pulled(case.get("mu")?, &theta),
            "maml" => plain.looking_ahead(case.get("alpha")?),
            other => return Err(format!("`{other}` is no method").into()),
        };
        let update = node_update(&objective, &theta, &steps(case)?, 1)?;
        compare.all_near("update", &doubles(&values(update, 1e6)), expected, NEAR);
    }
    Ok(())
}

/// In closed form for linear regression whose intercept stays zero, and by many gradient steps for a model that nobody knows to be linear.
fn personal(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let theta: Vec<f32> = case.get("theta")?;
    let models: std::collections::BTreeMap<String, Vec<Vec<f64>>> = case.get("models")?;
    let linear = LinearRegression::new(theta.len())?;
    let weight = linear.tensors()[0].name.clone();
    let unknown = NoIntercept::model(theta.len());
    for (lambda, expected) in models {
        let with = |free: Free| Personal {
            lambda: Lambda::Is(lambda.parse().unwrap()),
            steps: 20_000,
            alone_steps: 1,
            free,
            seed: 1,
        };
        for (data, expected) in datasets(case)?.iter().zip(&expected) {
            let longer: Vec<f32> = theta.iter().copied().chain([0.0]).collect();
            let exact = with(Free::named(&linear, std::slice::from_ref(&weight))?);
            let own = exact.fit(&linear, (&longer, &longer), data)?;
            compare.holds(own.params[theta.len()] == 0.0, "the intercept is not the node's own");
            compare.all_near("exact", &doubles(&own.params[..theta.len()]), expected, NEAR);
            let own = with(Free::all(&unknown)).fit(&unknown, (&theta, &theta), data)?;
            // The objective is flat around its minimum: its value is known to 1e-7 of it, and the place to the root of that.
            compare.all_near("by steps", &doubles(&own.params), expected, 1e-2);
        }
    }
    Ok(())
}

#[derive(Deserialize)]
struct Round {
    noise: Vec<Vec<f32>>,
    released: Vec<Vec<f64>>,
    theta: Vec<f64>,
    c: Vec<f64>,
    own: Vec<Vec<f64>>,
    sum_of_corrections: Vec<f64>,
}

fn scaffold(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    let mut theta: Vec<f32> = case.get("theta")?;
    let (model, local, data) = (NoIntercept::model(theta.len()), steps(case)?, datasets(case)?);
    let way = local.steps as f64 * case.get::<f64>("learning_rate")?;
    let mut variates = vec![Variates::new(theta.len()); data.len()];
    for round in case.get::<Vec<Round>>("rounds")? {
        let mut mean = vec![0.0_f32; theta.len()];
        for (node, variates) in variates.iter_mut().enumerate() {
            let control = variates.correction();
            let objective = Objective::new(&model, &data[node]).corrected(&control);
            let mut release = values(node_update(&objective, &theta, &local, 1)?, case.get("clip")?);
            release.iter_mut().zip(&round.noise[node]).for_each(|(value, noise)| *value += noise);
            compare.all_near("released", &doubles(&release), &round.released[node], NEAR);
            mean.iter_mut().zip(&release).for_each(|(mean, value)| *mean += value / data.len() as f32);
            variates.on_own(&release, way);
            compare.all_near("c_u", &doubles(&variates.own), &round.own[node], 5.0 * NEAR);
        }
        variates.iter_mut().for_each(|variates| variates.on_mean(&mean, way));
        theta.iter_mut().zip(&mean).for_each(|(theta, mean)| *theta += mean);
        compare.all_near("θ", &doubles(&theta), &round.theta, NEAR);
        compare.all_near("c", &doubles(&variates[0].common), &round.c, 5.0 * NEAR);
        let mut sum = vec![0.0; theta.len()];
        for variates in &variates {
            sum.iter_mut().zip(variates.correction()).for_each(|(sum, value)| *sum += f64::from(value));
        }
        compare.all_near("Σ(c_u − c)", &sum, &round.sum_of_corrections, 5.0 * NEAR);
    }
    Ok(())
}

/// On a cycle of four, a node keeps two thirds of its own and takes a sixth of each neighbour's.
fn d2(case: &Case<'_>, compare: &mut Comparison) -> Outcome {
    const RATE: f64 = 0.5;
    let b: Vec<f32> = case.get("b")?;
    let n = b.len();
    let (mut now, mut past) = (vec![0.0_f32; n], None::<(Vec<f32>, Vec<f32>)>);
    for expected in case.get::<Vec<Vec<f64>>>("states")? {
        let gradient: Vec<f32> = now.iter().zip(&b).map(|(x, b)| x - b).collect();
        let mut direction = gradient.clone();
        if let Some((before, last)) = &past {
            d2_direction((&now, &mut direction), (before, last), RATE);
        }
        let half: Vec<f32> = now.iter().zip(&direction).map(|(x, g)| x - RATE as f32 * g).collect();
        let mixed = |at: usize| (4.0 * half[at] + half[(at + 1) % n] + half[(at + n - 1) % n]) / 6.0;
        past = Some((std::mem::replace(&mut now, (0..n).map(mixed).collect()), gradient));
        compare.all_near("states", &doubles(&now), &expected, NEAR);
    }
    let mean = b.iter().map(|&b| f64::from(b)).sum::<f64>() / n as f64;
    compare.near("mean", mean, case.get("mean")?, NEAR);
    Ok(())
}

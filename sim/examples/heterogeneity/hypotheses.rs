//! Setting D: the synthetic data of the paper on group privacy (Galli et al. 2023). 100 nodes with 10 records each follow one of two lines; how far is each line from
//! the model of those that follow it?

use std::error::Error;
use std::fmt::Write;
use std::sync::Arc;

use learn::data::{Dataset, Target, Targets, Task};
use learn::metrics::MeanSpread;
use learn::model::{ByExample, PerExample, TensorShape};
use privacy::noise::{NoiseSource, danger_from_seed};
use protocol::Values;
use protocol::work::own_slot;
use sim::{Options, simulate};

const NODES: usize = 100;
const RECORDS: usize = 10;
/// The paper's two lines; noise is uniform on [0, 1).
const TRUTHS: [[f64; 2]; 2] = [[5.0, 6.0], [4.0, -4.5]];

/// y ≈ w·x, half the squared error.
#[derive(Debug)]
struct Line;

impl PerExample for Line {
    fn kind(&self) -> &'static str {
        "line"
    }

    fn inputs(&self) -> usize {
        2
    }

    fn outputs(&self) -> usize {
        1
    }

    fn task(&self) -> Task {
        Task::Regression
    }

    fn tensors(&self) -> Vec<TensorShape> {
        vec![TensorShape::zeros("weight", &[2])]
    }

    fn forward(&self, params: &[f32], features: &[f32], outputs: &mut [f32]) {
        outputs[0] = params[0] * features[0] + params[1] * features[1];
    }

    fn loss(&self, outputs: &[f32], target: Target) -> f64 {
        f64::from(residual(outputs[0], target)).powi(2) / 2.0
    }

    fn gradient(&self, params: &[f32], features: &[f32], target: Target, gradient: &mut [f32]) {
        let mut output = [0.0];
        self.forward(params, features, &mut output);
        let slope = residual(output[0], target);
        gradient.iter_mut().zip(features).for_each(|(gradient, x)| *gradient = slope * x);
    }
}

fn residual(output: f32, target: Target) -> f32 {
    if let Target::Real(value) = target { output - value } else { f32::NAN }
}

/// The table of this setting.
pub(super) fn table(seeds: u64) -> Result<String, Box<dyn Error>> {
    let mut text =
        "| | ε | largest distance of a line to its model | must be at most |\n|---|---|---|---|\n".to_owned();
    for (epsilon, most) in [("inf", 0.1), ("8", 0.35), ("4", 1.0)] {
        let all: Result<Vec<f64>, _> = (1..=seeds).map(|seed| distance(epsilon, seed)).collect();
        let shown = super::shown(&MeanSpread::of(&all?)?);
        writeln!(text, "| D | {epsilon} | {shown} | {most} |")?;
    }
    Ok(text)
}

/// Of the two lines, the larger distance to the model that most of its nodes take.
fn distance(epsilon: &str, seed: u64) -> Result<f64, Box<dyn Error>> {
    let pairs = [
        "rounds=150",
        "personal.test_fraction=0",
        "learning_rate=0.5",
        "privacy.clip_norm=0.15",
        "clusters.slots=3",
        "average=0.25",
        &format!("privacy.epsilon={epsilon}"),
        &format!("seed={seed}"),
    ];
    let mut setup = super::with_data(&pairs, data(seed)?, Some(Arc::new(ByExample::new(Line)?)))?;
    let mut first = vec![0.0; setup.settings.initial.len()];
    danger_from_seed(seed, "first models").standard_normals(&mut first);
    let first = first.iter().map(|&x| x as f32).collect();
    Arc::make_mut(&mut setup.settings).initial = Values::from_wire(first);
    let finished = simulate(&setup, &Options::default(), &mut |_| {}, &mut |_| {})?;
    let mut worst = 0.0_f64;
    for (truth, line) in TRUTHS.iter().enumerate() {
        let mut takers = vec![0; setup.layout.slots];
        for node in (truth..NODES).step_by(TRUTHS.len()) {
            takers[own_slot(
                setup.model.as_ref(),
                &setup.layout,
                &finished.models[node],
                &setup.train[node],
            )?] += 1;
        }
        let slot = (0..takers.len()).max_by_key(|&slot| takers[slot]).unwrap_or(0);
        let model = setup.layout.part(&finished.models[0], slot);
        let squares = model.iter().zip(line).map(|(found, truth)| (f64::from(*found) - truth).powi(2));
        worst = worst.max(squares.sum::<f64>().sqrt());
    }
    Ok(worst)
}

/// Node i follows line i mod 2; x is normal.
fn data(seed: u64) -> Result<Vec<Dataset>, Box<dyn Error>> {
    let mut source = danger_from_seed(seed, "hypotheses");
    let mut normals = |count: usize| {
        let mut all = vec![0.0; count];
        source.standard_normals(&mut all);
        all
    };
    let node = |node: usize| {
        let x = normals(2 * RECORDS);
        let line = TRUTHS[node % TRUTHS.len()];
        // The distribution function of a normal number is uniform.
        let noise = normals(RECORDS).into_iter().map(privacy::special::normal_cdf);
        let y = x.chunks(2).zip(noise).map(|(x, u)| (line[0] * x[0] + line[1] * x[1] + u) as f32).collect();
        Dataset::new(x.iter().map(|&x| x as f32).collect(), 2, Targets::Real(y))
    };
    Ok((0..NODES).map(node).collect::<Result<_, _>>()?)
}

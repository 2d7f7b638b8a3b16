//! A model of your own in a private swarm: Huber regression, which outliers cannot pull away.
//!
//! `cargo run --release -p murmuration-sim --example your-own-model`

use std::sync::Arc;

use learn::data::{Target, Task};
use learn::model::{ByExample, PerExample, TensorShape};
use protocol::{Setup, config::Config};

/// y ≈ w·x + b, with the loss r²/2 near 0 and |r| − 1/2 beyond 1.
#[derive(Debug)]
struct Huber {
    features: usize,
}

impl PerExample for Huber {
    fn kind(&self) -> &'static str {
        "huber"
    }

    fn inputs(&self) -> usize {
        self.features
    }

    fn outputs(&self) -> usize {
        1
    }

    fn task(&self) -> Task {
        Task::Regression
    }

    fn tensors(&self) -> Vec<TensorShape> {
        vec![TensorShape::zeros("weight", &[self.features]), TensorShape::zeros("bias", &[1])]
    }

    fn forward(&self, params: &[f32], features: &[f32], outputs: &mut [f32]) {
        let (weights, bias) = params.split_at(self.features);
        outputs[0] = bias[0] + weights.iter().zip(features).map(|(w, x)| w * x).sum::<f32>();
    }

    fn loss(&self, outputs: &[f32], target: Target) -> f64 {
        let residual = f64::from(residual(outputs[0], target).abs());
        if residual < 1.0 { residual * residual / 2.0 } else { residual - 0.5 }
    }

    fn gradient(&self, params: &[f32], features: &[f32], target: Target, gradient: &mut [f32]) {
        let mut output = [0.0];
        self.forward(params, features, &mut output);
        let slope = residual(output[0], target).clamp(-1.0, 1.0);
        let (weights, bias) = gradient.split_at_mut(self.features);
        weights.iter_mut().zip(features).for_each(|(w, x)| *w = slope * x);
        bias[0] = slope;
    }
}

fn residual(output: f32, target: Target) -> f32 {
    if let Target::Real(value) = target { output - value } else { f32::NAN }
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut config = Config::from_toml(include_str!("huber.toml"), "huber.toml")?;
    for epsilon in [f64::INFINITY, 8.0, 2.0] {
        config.privacy.epsilon = Some(epsilon);
        let setup = Setup::with_model(config.clone(), |data| {
            Ok(Arc::new(ByExample::new(Huber { features: data.columns() })?))
        })?;
        let done = sim::run::run(&setup, &sim::Options::default(), &mut |_| {}, &mut |_| {})?;
        let (loss, worst) = (done.result.test_loss.unwrap_or(f64::NAN), done.result.privacy.worst);
        let line = format!(
            "target ε = {epsilon}: test loss {loss:.4}, worst pair ε = {:.3} ({})\n",
            worst.epsilon, worst.analysis
        );
        std::io::Write::write_all(&mut std::io::stdout(), line.as_bytes())?;
    }
    Ok(())
}

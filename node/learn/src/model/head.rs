//! What the outputs of a network mean: loss, prediction, and the back-signal ∂loss/∂output of one example.

use super::chunk::Chunk;
use super::kernel;
use crate::data::Task;

/// The loss on the last layer's outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Head {
    /// ½(z − y)², one output.
    Squared,
    /// ln(1 + exp(−z)) for label 1 and ln(1 + exp(z)) for label 0, one output.
    Logistic,
    /// −ln softmax(z)_y, one output per class.
    Softmax {
        /// Number of classes.
        classes: usize,
    },
}

impl Head {
    /// Number of outputs.
    pub(crate) fn width(self) -> usize {
        match self {
            Self::Squared | Self::Logistic => 1,
            Self::Softmax { classes } => classes,
        }
    }

    /// The targets that this loss needs.
    pub(crate) fn task(self) -> Task {
        match self {
            Self::Squared => Task::Regression,
            Self::Logistic => Task::Classification { classes: 2 },
            Self::Softmax { classes } => Task::Classification { classes },
        }
    }

    /// Turns outputs into predictions in place: values, the probability of label 1, or probabilities of all classes.
    pub(crate) fn predict(self, outputs: &mut [f32]) {
        match self {
            Self::Squared => {}
            Self::Logistic => kernel::sigmoid(outputs),
            Self::Softmax { classes } => kernel::softmax_rows(outputs, classes),
        }
    }

    /// Turns outputs into back-signals in place: prediction minus target, for all three losses.
    pub(crate) fn signal(self, outputs: &mut [f32], chunk: &Chunk) {
        self.predict(outputs);
        match self {
            Self::Squared => {
                outputs.iter_mut().zip(chunk.reals()).for_each(|(signal, &target)| *signal -= target);
            }
            Self::Logistic => {
                outputs.iter_mut().zip(chunk.labels()).for_each(|(signal, &label)| *signal -= label as f32);
            }
            Self::Softmax { classes } => {
                for (row, &label) in outputs.chunks_exact_mut(classes).zip(chunk.labels()) {
                    row[label as usize] -= 1.0;
                }
            }
        }
    }

    /// The sum of the losses of a chunk, in double precision from the outputs on.
    pub(crate) fn loss(self, outputs: &[f32], chunk: &Chunk) -> f64 {
        match self {
            Self::Squared => {
                let pairs = outputs.iter().zip(chunk.reals());
                pairs.map(|(&z, &y)| 0.5 * (f64::from(z) - f64::from(y)).powi(2)).sum()
            }
            Self::Logistic => {
                let signed = outputs.iter().zip(chunk.labels());
                signed.map(|(&z, &label)| softplus(f64::from(if label == 1 { -z } else { z }))).sum()
            }
            Self::Softmax { classes } => {
                let rows = outputs.chunks_exact(classes).zip(chunk.labels());
                rows.map(|(row, &label)| cross_entropy(row, label as usize)).sum()
            }
        }
    }
}

/// ln(1 + eˣ) without overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + libm::log1p(libm::exp(-x.abs()))
}

fn cross_entropy(row: &[f32], label: usize) -> f64 {
    let top = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = row.iter().map(|&z| libm::exp(f64::from(z) - f64::from(top))).sum();
    libm::log(sum) + f64::from(top) - f64::from(row[label])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_have_their_textbook_values() {
        assert!((softplus(0.0) - std::f64::consts::LN_2).abs() < 1e-15);
        assert_eq!(softplus(800.0), 800.0);
        assert!((cross_entropy(&[1.0, 1.0, 1.0, 1.0], 2) - 4f64.ln()).abs() < 1e-12);
        assert!((cross_entropy(&[1000.0, 0.0], 1) - 1000.0).abs() < 1e-9);
    }
}

//! Fully connected layers with a loss on top: the engine of the linear models, of the perceptron and of the last
//! layers of the convolutional network.
//!
//! Per-example gradients are never formed. For the layer z = W a + b the gradient of one example is δ aᵀ for W and
//! δ for b, with δ = ∂loss/∂z, so its squared norm is (‖a‖² + 1)‖δ‖² (Goodfellow, "Efficient per-example gradient
//! computations", 2015), and a weighted sum over examples is the one product (diag(w) Δ)ᵀ A.

use super::chunk::Chunk;
use super::head::Head;
use super::init::{Filling, TensorShape};
use super::kernel::{self, matrix, matrix_mut};
use super::pass::Pass;
use super::product::{self, Shape};

/// An activation row with a larger norm than this counts as not finite: a back-signal scaled to fit beside it
/// would be subnormal, and rounding no longer small.
const LARGEST_SQUARED_ACTIVATION: f64 = 1e60;

/// The methods that a model of dense layers has from its `shape`; the argument names its layers.
macro_rules! methods_of_shape {
    ($layers:literal) => {
        fn inputs(&self) -> usize {
            self.shape.inputs()
        }

        fn outputs(&self) -> usize {
            self.shape.head.width()
        }

        fn task(&self) -> $crate::data::Task {
            self.shape.head.task()
        }

        fn tensors(&self) -> Vec<$crate::model::TensorShape> {
            self.shape.tensors($layers)
        }

        fn parameter_count(&self) -> usize {
            self.shape.parameter_count()
        }

        fn pass(&self, rows: usize) -> Box<dyn $crate::model::Pass> {
            Box::new($crate::model::dense::DensePass::new(self.shape.clone(), rows))
        }

        fn chunk_loss(&self, outputs: &[f32], chunk: &$crate::model::Chunk) -> f64 {
            self.shape.head.loss(outputs, chunk)
        }

        fn chunk_predict(&self, outputs: &mut [f32]) {
            self.shape.head.predict(outputs);
        }
    };
}
pub(super) use methods_of_shape;

/// The function between two layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// max(z, 0).
    Relu,
    /// The hyperbolic tangent.
    Tanh,
}

impl Activation {
    pub(crate) fn apply(self, values: &mut [f32]) {
        match self {
            Self::Relu => kernel::relu(values),
            Self::Tanh => kernel::tanh(values),
        }
    }

    pub(crate) fn backward(self, signal: &mut [f32], activation: &[f32]) {
        match self {
            Self::Relu => kernel::relu_backward(signal, activation),
            Self::Tanh => kernel::tanh_backward(signal, activation),
        }
    }
}

/// Sizes and functions of a stack of dense layers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DenseShape {
    /// Inputs, hidden widths, outputs.
    pub(crate) widths: Vec<usize>,
    pub(crate) activation: Activation,
    pub(crate) head: Head,
}

impl DenseShape {
    pub(crate) fn layers(&self) -> usize {
        self.widths.len() - 1
    }

    pub(crate) fn inputs(&self) -> usize {
        self.widths[0]
    }

    /// The tensors in the order of the flat vector, named as PyTorch names those of an `nn.Sequential`.
    pub(crate) fn tensors(&self, prefix: &str) -> Vec<TensorShape> {
        let last = self.layers() - 1;
        let mut tensors = Vec::new();
        for (layer, pair) in self.widths.windows(2).enumerate() {
            let name = if last == 0 { prefix.to_owned() } else { format!("{prefix}{}", layer + 1) };
            // Rectifiers halve the variance, so they start twice as wide (He et al. 2015); the rest as Glorot and Bengio 2010.
            let filling = match (last, self.activation) {
                (0, _) => Filling::Zero,
                (_, Activation::Relu) if layer < last => Filling::Uniform { variance: 2.0 / pair[0] as f64 },
                _ => Filling::Uniform { variance: 2.0 / (pair[0] + pair[1]) as f64 },
            };
            tensors.push(TensorShape::new(format!("{name}.weight"), vec![pair[1], pair[0]], filling));
            tensors.push(TensorShape::new(format!("{name}.bias"), vec![pair[1]], Filling::Zero));
        }
        tensors
    }

    /// Length of the flat vector, without naming its tensors: asked for in every step.
    pub(crate) fn parameter_count(&self) -> usize {
        self.widths.windows(2).map(|pair| (pair[0] + 1) * pair[1]).sum()
    }

    /// Where weights and bias of `layer` lie in the flat vector.
    fn spans(&self, layer: usize) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
        let start: usize = self.widths.windows(2).take(layer).map(|pair| (pair[0] + 1) * pair[1]).sum();
        let weights = start + self.widths[layer] * self.widths[layer + 1];
        (start..weights, weights..weights + self.widths[layer + 1])
    }
}

/// Activations and back-signals of one chunk. All buffers are made once.
#[derive(Debug)]
pub(crate) struct DensePass {
    shape: DenseShape,
    rows: usize,
    /// Outputs of each layer, after its activation; the last one is turned into the loss's back-signal.
    activations: Vec<Vec<f32>>,
    /// Back-signals of the hidden layers.
    signals: Vec<Vec<f32>>,
    /// Squared norms of the two sides of a product, for a moment.
    norms: Vec<f64>,
}

impl DensePass {
    pub(crate) fn new(shape: DenseShape, rows: usize) -> Self {
        let layers = shape.layers();
        let buffer = |width: &usize| vec![0.0; rows * width];
        let activations = shape.widths[1..].iter().map(buffer).collect();
        let signals = shape.widths[1..layers].iter().map(buffer).collect();
        Self { shape, rows: 0, activations, signals, norms: vec![0.0; 2 * rows] }
    }

    /// Outputs of the last layer for `rows` rows of inputs.
    pub(crate) fn forward_rows(&mut self, params: &[f32], inputs: &[f32], rows: usize) -> &mut [f32] {
        self.rows = rows;
        for layer in 0..self.shape.layers() {
            let (before, rest) = self.activations.split_at_mut(layer);
            let input = before.last().map_or(inputs, |values| values.as_slice());
            let (fan_in, fan_out) = (self.shape.widths[layer], self.shape.widths[layer + 1]);
            let (weights, bias) = self.shape.spans(layer);
            let out = &mut rest[0][..rows * fan_out];
            kernel::multiply(
                matrix_mut(out, rows, fan_out),
                matrix(input, rows, fan_in),
                matrix(&params[weights], fan_out, fan_in).transpose(),
            );
            kernel::add_to_rows(out, &params[bias]);
            if layer + 1 < self.shape.layers() {
                self.shape.activation.apply(out);
            }
        }
        let last = self.shape.layers() - 1;
        &mut self.activations[last][..rows * self.shape.widths[last + 1]]
    }

    /// Turns outputs into back-signals and carries them down to the first layer.
    pub(crate) fn backward_rows(&mut self, params: &[f32], chunk: &Chunk) {
        let (rows, layers) = (self.rows, self.shape.layers());
        let outputs = &mut self.activations[layers - 1][..rows * self.shape.widths[layers]];
        self.shape.head.signal(outputs, chunk);
        for layer in (1..layers).rev() {
            let (fan_in, fan_out) = (self.shape.widths[layer], self.shape.widths[layer + 1]);
            let (weights, _) = self.shape.spans(layer);
            let (below, above) = self.signals.split_at_mut(layer);
            let signal = above.first().unwrap_or(&self.activations[layers - 1]);
            let out = &mut below[layer - 1][..rows * fan_in];
            kernel::multiply(
                matrix_mut(out, rows, fan_in),
                matrix(signal, rows, fan_out),
                matrix(&params[weights], fan_out, fan_in),
            );
            self.shape.activation.backward(out, &self.activations[layer - 1][..rows * fan_in]);
        }
    }

    /// The back-signal of the inputs, for layers below this stack.
    pub(crate) fn input_signal(&self, params: &[f32], out: &mut [f32]) {
        let (fan_in, fan_out) = (self.shape.widths[0], self.shape.widths[1]);
        let (weights, _) = self.shape.spans(0);
        kernel::multiply(
            matrix_mut(out, self.rows, fan_in),
            matrix(self.signal(0), self.rows, fan_out),
            matrix(&params[weights], fan_out, fan_in),
        );
    }

    /// Adds to `norms` the squared gradient norm of each example.
    pub(crate) fn add_squared_norms(&mut self, inputs: &[f32], norms: &mut [f64]) {
        let rows = self.rows;
        for layer in 0..self.shape.layers() {
            let mut scratch = std::mem::take(&mut self.norms);
            let (input_norms, signal_norms) = scratch[..2 * rows].split_at_mut(rows);
            let input = &self.input(layer, inputs)[..rows * self.shape.widths[layer]];
            kernel::bound_squared_norms_of_rows(input_norms, input);
            kernel::bound_squared_norms_of_rows(signal_norms, self.signal(layer));
            for ((norm, &input), &signal) in norms.iter_mut().zip(&*input_norms).zip(&*signal_norms) {
                *norm += product_of_norms(input, signal);
            }
            self.norms = scratch;
        }
    }

    /// Overwrites `out` with Σ weights[i]·gradient of example i. The input rows of examples of weight zero must be finite.
    pub(crate) fn weighted_sum_rows(&mut self, inputs: &[f32], weights: &[f32], out: &mut [f32]) {
        for layer in 0..self.shape.layers() {
            let used = self.rows * self.shape.widths[layer];
            if layer > 0 {
                clear_left_out(&mut self.activations[layer - 1][..used], weights);
            }
            kernel::scale_rows(self.signal_mut(layer), weights);
        }
        self.sum_rows(inputs, out);
    }

    /// Overwrites `out` with the sum of the gradients as they are.
    pub(crate) fn sum_rows(&mut self, inputs: &[f32], out: &mut [f32]) {
        let rows = self.rows;
        for layer in 0..self.shape.layers() {
            let (fan_in, fan_out) = (self.shape.widths[layer], self.shape.widths[layer + 1]);
            let (weight_span, bias_span) = self.shape.spans(layer);
            let signal = self.signal(layer);
            let (weights, input) = (&mut out[weight_span], self.input(layer, inputs));
            product::gradient(weights, signal, input, Shape { rows, fan_in, fan_out });
            kernel::sum_of_rows(&mut out[bias_span], signal);
        }
    }

    fn input<'a>(&'a self, layer: usize, inputs: &'a [f32]) -> &'a [f32] {
        if layer == 0 { inputs } else { &self.activations[layer - 1] }
    }

    fn signal(&self, layer: usize) -> &[f32] {
        let values = self.signals.get(layer).unwrap_or_else(|| &self.activations[layer]);
        &values[..self.rows * self.shape.widths[layer + 1]]
    }

    fn signal_mut(&mut self, layer: usize) -> &mut [f32] {
        let length = self.rows * self.shape.widths[layer + 1];
        match self.signals.get_mut(layer) {
            Some(values) => &mut values[..length],
            None => &mut self.activations[layer][..length],
        }
    }
}

/// The squared gradient norm of a layer from those of its input and its back-signal; not finite where the input is too large.
#[inline(always)]
pub(crate) fn product_of_norms(input: f64, signal: f64) -> f64 {
    if input <= LARGEST_SQUARED_ACTIVATION { (input + 1.0) * signal } else { f64::INFINITY }
}

/// Zeros in the rows of weight zero: 0 · NaN would be NaN.
pub(crate) fn clear_left_out(rows: &mut [f32], weights: &[f32]) {
    let width = rows.len() / weights.len().max(1);
    for (row, &weight) in rows.chunks_exact_mut(width.max(1)).zip(weights) {
        if weight == 0.0 {
            row.fill(0.0);
        }
    }
}

impl Pass for DensePass {
    fn forward(&mut self, params: &[f32], chunk: &Chunk) -> &mut [f32] {
        self.forward_rows(params, chunk.features(), chunk.rows())
    }

    fn backward(&mut self, params: &[f32], chunk: &Chunk) {
        self.backward_rows(params, chunk);
    }

    fn squared_norms(&mut self, chunk: &Chunk, norms: &mut [f64]) {
        norms.fill(0.0);
        self.add_squared_norms(chunk.features(), norms);
    }

    fn weighted_sum(&mut self, chunk: &mut Chunk, weights: &[f32], out: &mut [f32]) {
        clear_left_out(chunk.features_mut(), weights);
        self.weighted_sum_rows(chunk.features(), weights, out);
    }

    fn sum(&mut self, chunk: &mut Chunk, out: &mut [f32]) {
        self.sum_rows(chunk.features(), out);
    }
}

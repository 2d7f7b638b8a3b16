//! A small convolutional network for grey images, 28×28 by default.
//!
//! The default is the network of the DP-SGD literature on MNIST (Papernot et al. 2021, Table 1; 26,010 parameters for 10
//! classes): 16 kernels of 8×8 with stride 2, 32 kernels of 4×4 with stride 2, each with max-pooling 2×2 of stride 1,
//! then 32 hidden units. Not convex: the account uses `rounds` or `local`.

use super::Model;
use super::chunk::Chunk;
use super::conv::{ConvLayer, ConvPass, ConvShape, Pool};
use super::dense::{Activation, DensePass, DenseShape, clear_left_out};
use super::error::{ModelError, at_least_one, at_least_two_classes};
use super::head::Head;
use super::init::{Filling, TensorShape};
use super::pass::Pass;
use crate::data::Task;

/// Fewer rows than elsewhere: the patches of 16 images are what the cache holds.
const CHUNK_IMAGES: usize = 16;

/// Convolution layers, then dense layers, then a softmax.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cnn {
    inputs: usize,
    convolutions: Vec<ConvShape>,
    dense: DenseShape,
}

impl Cnn {
    /// The layers of the small network.
    pub const SMALL: [ConvLayer; 2] = [
        ConvLayer { channels: 16, kernel: 8, stride: 2, padding: 3, pool: Some(Pool { size: 2, stride: 1 }) },
        ConvLayer { channels: 32, kernel: 4, stride: 2, padding: 0, pool: Some(Pool { size: 2, stride: 1 }) },
    ];

    /// The small network for grey images of `height`×`width`.
    ///
    /// # Errors
    /// An image that is too small for the kernels, or fewer than two classes.
    pub fn small(height: usize, width: usize, classes: usize) -> Result<Self, ModelError> {
        Self::new((height, width), &Self::SMALL, &[32], Activation::Relu, classes)
    }

    /// Any stack of convolution layers on one plane of `sides` (height, width), then hidden dense layers.
    ///
    /// # Errors
    /// No convolution layer, one that does not fit its input, a hidden layer without units, or fewer than two classes.
    pub fn new(
        sides: (usize, usize),
        layers: &[ConvLayer],
        hidden: &[usize],
        activation: Activation,
        classes: usize,
    ) -> Result<Self, ModelError> {
        at_least_one("pixels", sides.0 * sides.1)?;
        at_least_one("convolution layers", layers.len())?;
        at_least_two_classes(classes)?;
        hidden.iter().try_for_each(|&width| at_least_one("units of a hidden layer", width))?;
        let mut convolutions: Vec<ConvShape> = Vec::new();
        for (index, &layer) in layers.iter().enumerate() {
            let (channels, sides) = convolutions.last().map_or((1, sides), |before| {
                (before.layer.channels, (before.pooling.height, before.pooling.width))
            });
            convolutions.push(ConvShape::new(index + 1, layer, channels, sides)?);
        }
        let last = convolutions.last().expect("there is at least one layer");
        let mut widths = vec![last.layer.channels * last.pooling.positions()];
        widths.extend_from_slice(hidden);
        widths.push(classes);
        let dense = DenseShape { widths, activation, head: Head::Softmax { classes } };
        Ok(Self { inputs: sides.0 * sides.1, convolutions, dense })
    }
}

impl Model for Cnn {
    fn kind(&self) -> &'static str {
        "cnn"
    }

    fn inputs(&self) -> usize {
        self.inputs
    }

    fn outputs(&self) -> usize {
        self.dense.head.width()
    }

    fn task(&self) -> Task {
        self.dense.head.task()
    }

    fn tensors(&self) -> Vec<TensorShape> {
        let mut tensors = Vec::new();
        for (index, shape) in self.convolutions.iter().enumerate() {
            let (channels, kernel) = (shape.layer.channels, shape.layer.kernel);
            let filling = Filling::Uniform { variance: 2.0 / shape.patch() as f64 };
            let sizes = vec![channels, shape.in_channels, kernel, kernel];
            tensors.push(TensorShape::new(format!("conv{}.weight", index + 1), sizes, filling));
            tensors.push(TensorShape::new(format!("conv{}.bias", index + 1), vec![channels], Filling::Zero));
        }
        tensors.extend(self.dense.tensors("layer"));
        tensors
    }

    fn chunk_rows(&self) -> usize {
        CHUNK_IMAGES
    }

    fn pass(&self, rows: usize) -> Box<dyn Pass> {
        let layer = |(index, shape): (usize, &ConvShape)| ConvPass::new(shape.clone(), rows, index == 0);
        let planes = |shape: &ConvShape| vec![0.0; rows * shape.layer.channels * shape.pooling.positions()];
        Box::new(CnnPass {
            shape: self.clone(),
            rows: 0,
            layers: self.convolutions.iter().enumerate().map(layer).collect(),
            flat: vec![0.0; rows * self.dense.inputs()],
            flat_signal: vec![0.0; rows * self.dense.inputs()],
            plane_signals: self.convolutions.iter().map(planes).collect(),
            dense: DensePass::new(self.dense.clone(), rows),
        })
    }

    fn chunk_loss(&self, outputs: &[f32], chunk: &Chunk) -> f64 {
        self.dense.head.loss(outputs, chunk)
    }

    fn chunk_predict(&self, outputs: &mut [f32]) {
        self.dense.head.predict(outputs);
    }
}

/// Buffers of all layers.
#[derive(Debug)]
struct CnnPass {
    shape: Cnn,
    rows: usize,
    layers: Vec<ConvPass>,
    /// Pooled planes of the last convolution, image by image: the inputs of the dense layers.
    flat: Vec<f32>,
    flat_signal: Vec<f32>,
    /// Back-signals of the pooled planes of each convolution.
    plane_signals: Vec<Vec<f32>>,
    dense: DensePass,
}

impl CnnPass {
    fn flat_width(&self) -> usize {
        self.shape.dense.inputs()
    }

    /// The parameters of convolution `layer` in the flat vector.
    fn span(&self, layer: usize) -> std::ops::Range<usize> {
        let start = self.shape.convolutions[..layer].iter().map(ConvShape::parameter_count).sum();
        start..start + self.shape.convolutions[layer].parameter_count()
    }

    /// Where the dense layers' parameters begin.
    fn dense_start(&self) -> usize {
        self.shape.convolutions.iter().map(ConvShape::parameter_count).sum()
    }

    /// Channel by channel → image by image.
    fn flatten(&mut self) {
        let last = self.layers.len() - 1;
        let positions = self.shape.convolutions[last].pooling.positions();
        let (rows, width) = (self.rows, self.flat_width());
        let planes = self.layers[last].pooled();
        for (index, plane) in planes.chunks_exact(positions).enumerate() {
            let (channel, image) = (index / rows, index % rows);
            self.flat[image * width + channel * positions..][..positions].copy_from_slice(plane);
        }
    }

    /// Image by image → channel by channel.
    fn unflatten(&mut self, flat: &[f32]) {
        let last = self.layers.len() - 1;
        let positions = self.shape.convolutions[last].pooling.positions();
        let (rows, width) = (self.rows, self.flat_width());
        for (index, plane) in self.plane_signals[last][..rows * width].chunks_exact_mut(positions).enumerate()
        {
            let (channel, image) = (index / rows, index % rows);
            plane.copy_from_slice(&flat[image * width + channel * positions..][..positions]);
        }
    }
}

impl Pass for CnnPass {
    fn forward(&mut self, params: &[f32], chunk: &Chunk) -> &mut [f32] {
        self.rows = chunk.rows();
        for layer in 0..self.layers.len() {
            let span = self.span(layer);
            let (before, rest) = self.layers.split_at_mut(layer);
            let input = before.last().map_or(chunk.features(), |below| below.pooled());
            rest[0].forward(&params[span], input, chunk.rows(), self.shape.dense.activation);
        }
        self.flatten();
        let start = self.dense_start();
        self.dense.forward_rows(&params[start..], &self.flat, self.rows)
    }

    fn backward(&mut self, params: &[f32], chunk: &Chunk) {
        let start = self.dense_start();
        self.dense.backward_rows(&params[start..], chunk);
        let mut flat_signal = std::mem::take(&mut self.flat_signal);
        self.dense.input_signal(&params[start..], &mut flat_signal);
        self.unflatten(&flat_signal);
        self.flat_signal = flat_signal;
        for layer in (0..self.layers.len()).rev() {
            let span = self.span(layer);
            self.layers[layer].backward(&self.plane_signals[layer], self.shape.dense.activation);
            if layer > 0 {
                self.layers[layer].input_signal(&params[span], &mut self.plane_signals[layer - 1]);
            }
        }
    }

    fn squared_norms(&mut self, _chunk: &Chunk, norms: &mut [f64]) {
        norms.fill(0.0);
        self.layers.iter_mut().for_each(|layer| layer.add_squared_norms(norms));
        self.dense.add_squared_norms(&self.flat, norms);
    }

    fn weighted_sum(&mut self, _chunk: &mut Chunk, weights: &[f32], out: &mut [f32]) {
        for layer in 0..self.layers.len() {
            self.layers[layer].weighted_sum(weights, &mut out[self.span(layer)]);
        }
        let (start, used) = (self.dense_start(), self.rows * self.flat_width());
        clear_left_out(&mut self.flat[..used], weights);
        self.dense.weighted_sum_rows(&self.flat, weights, &mut out[start..]);
    }

    fn sum(&mut self, _chunk: &mut Chunk, out: &mut [f32]) {
        for layer in 0..self.layers.len() {
            self.layers[layer].sum(&mut out[self.span(layer)]);
        }
        let start = self.dense_start();
        self.dense.sum_rows(&self.flat, &mut out[start..]);
    }
}

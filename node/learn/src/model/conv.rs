//! One convolution layer with activation and max-pooling, on a chunk of images.
//!
//! Planes lie channel by channel, then image by image, so that the convolution of a whole chunk is one matrix product
//! with the patches in columns (im2col): out (channels × images·positions) = W (channels × patch) · columns. The weight
//! gradient of one image is the product of its slice of the back-signal with its slice of the columns. It is small
//! (a kernel, not a plane) and is formed per image in a buffer made once: its norm is then that of exactly the values
//! that enter the sum, which a norm by Gram matrices is only up to cancellation.

use super::dense::Activation;
use super::error::ModelError;
use super::kernel::{self, matrix, matrix_mut};
use super::pool::Pooling;

/// A convolution layer as a user describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConvLayer {
    /// Output channels.
    pub channels: usize,
    /// Side of the square kernel.
    pub kernel: usize,
    /// Step between patches.
    pub stride: usize,
    /// Zeros around the image.
    pub padding: usize,
    /// Max-pooling after the activation.
    pub pool: Option<Pool>,
}

/// Max-pooling over squares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pool {
    /// Side of the square.
    pub size: usize,
    /// Step between squares.
    pub stride: usize,
}

/// Sizes of one layer for a given input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConvShape {
    pub(crate) layer: ConvLayer,
    pub(crate) in_channels: usize,
    pub(crate) in_height: usize,
    pub(crate) in_width: usize,
    /// Positions of the kernel.
    pub(crate) height: usize,
    pub(crate) width: usize,
    pub(crate) pooling: Pooling,
}

impl ConvShape {
    /// Layer `number` (from 1) on `in_channels` planes.
    pub(crate) fn new(
        number: usize,
        layer: ConvLayer,
        in_channels: usize,
        (in_height, in_width): (usize, usize),
    ) -> Result<Self, ModelError> {
        let ConvLayer { kernel, stride, padding, .. } = layer;
        let misfit =
            ModelError::Convolution { layer: number, kernel, height: in_height, width: in_width, padding };
        let positions = |side: usize| (side + 2 * padding).checked_sub(kernel).map(|rest| rest / stride + 1);
        if kernel == 0 || stride == 0 || layer.channels == 0 {
            return Err(misfit);
        }
        let (Some(height), Some(width)) = (positions(in_height), positions(in_width)) else {
            return Err(misfit);
        };
        let pooling = Pooling::new(layer.pool, height, width).ok_or(misfit)?;
        Ok(Self { layer, in_channels, in_height, in_width, height, width, pooling })
    }

    /// Numbers under the kernel at one position.
    pub(crate) fn patch(&self) -> usize {
        self.in_channels * self.layer.kernel * self.layer.kernel
    }

    pub(crate) fn positions(&self) -> usize {
        self.height * self.width
    }

    pub(crate) fn parameter_count(&self) -> usize {
        self.layer.channels * (self.patch() + 1)
    }

    /// Sides of an input split by the remainder of its coordinates modulo the stride, padding included.
    fn phase_sides(&self) -> (usize, usize) {
        let side = |side: usize| (side + 2 * self.layer.padding).div_ceil(self.layer.stride);
        (side(self.in_height), side(self.in_width))
    }
}

/// Buffers of one layer.
#[derive(Debug)]
pub(crate) struct ConvPass {
    shape: ConvShape,
    images: usize,
    /// One padded input plane, split by phase.
    phases: Vec<f32>,
    /// Patches: patch × (images·positions).
    columns: Vec<f32>,
    /// After the activation: channels × (images·positions).
    activations: Vec<f32>,
    /// Winner of each pooled square.
    winners: Vec<u32>,
    pooled: Vec<f32>,
    /// Back-signal of the convolution's output.
    signal: Vec<f32>,
    /// Back-signal of the columns; empty in the first layer, which needs none.
    column_signal: Vec<f32>,
    /// The weight and bias gradients of each image, one after another.
    gradients: Vec<f32>,
}

impl ConvPass {
    pub(crate) fn new(shape: ConvShape, images: usize, first: bool) -> Self {
        let (channels, places) = (shape.layer.channels, images * shape.positions());
        let (phase_height, phase_width) = shape.phase_sides();
        let squares = channels * images * shape.pooling.positions();
        Self {
            images: 0,
            phases: vec![0.0; phase_height * phase_width * shape.layer.stride * shape.layer.stride],
            columns: vec![0.0; shape.patch() * places],
            activations: vec![0.0; channels * places],
            winners: vec![0; squares],
            pooled: vec![0.0; squares],
            signal: vec![0.0; channels * places],
            column_signal: vec![0.0; if first { 0 } else { shape.patch() * places }],
            gradients: vec![0.0; images * shape.parameter_count()],
            shape,
        }
    }

    /// Pooled activations of input planes, which lie channel by channel, then image by image.
    pub(crate) fn forward(&mut self, params: &[f32], input: &[f32], images: usize, activation: Activation) {
        self.images = images;
        self.gather_columns(input);
        let (channels, places) = (self.shape.layer.channels, images * self.shape.positions());
        let (weights, bias) = params.split_at(channels * self.shape.patch());
        let out = &mut self.activations[..channels * places];
        kernel::multiply(
            matrix_mut(out, channels, places),
            matrix(weights, channels, self.shape.patch()),
            matrix(&self.columns, self.shape.patch(), places),
        );
        for (plane, &bias) in out.chunks_exact_mut(places).zip(bias) {
            plane.iter_mut().for_each(|value| *value += bias);
        }
        activation.apply(out);
        let squares = channels * images * self.shape.pooling.positions();
        self.shape.pooling.forward(out, &mut self.pooled[..squares], &mut self.winners[..squares]);
    }

    /// What [`forward`](Self::forward) left: channels × images × positions.
    pub(crate) fn pooled(&self) -> &[f32] {
        &self.pooled[..self.shape.layer.channels * self.images * self.shape.pooling.positions()]
    }

    /// Takes the back-signal of the pooled activations down to the convolution's output.
    pub(crate) fn backward(&mut self, pooled_signal: &[f32], activation: Activation) {
        let length = self.shape.layer.channels * self.images * self.shape.positions();
        let signal = &mut self.signal[..length];
        self.shape.pooling.backward(pooled_signal, &self.winners, signal);
        activation.backward(signal, &self.activations[..length]);
    }

    /// The back-signal of the input planes. Not for the first layer.
    pub(crate) fn input_signal(&mut self, params: &[f32], out: &mut [f32]) {
        let (channels, places) = (self.shape.layer.channels, self.images * self.shape.positions());
        kernel::multiply(
            matrix_mut(&mut self.column_signal, self.shape.patch(), places),
            matrix(params, channels, self.shape.patch()).transpose(),
            matrix(&self.signal, channels, places),
        );
        self.scatter_columns(out);
    }

    /// Forms each image's gradient and adds its squared norm.
    pub(crate) fn add_squared_norms(&mut self, norms: &mut [f64]) {
        let (channels, patch, positions) =
            (self.shape.layer.channels, self.shape.patch(), self.shape.positions());
        let places = self.images * positions;
        let signal = matrix(&self.signal, channels, places);
        let columns = matrix(&self.columns, patch, places);
        let gradients = self.gradients.chunks_exact_mut(self.shape.parameter_count());
        for (image, (gradient, norm)) in gradients.zip(norms.iter_mut()).enumerate() {
            let (weights, bias) = gradient.split_at_mut(channels * patch);
            kernel::multiply(
                matrix_mut(weights, channels, patch),
                signal.submatrix(0, image * positions, channels, positions),
                columns.submatrix(0, image * positions, patch, positions).transpose(),
            );
            for (bias, plane) in bias.iter_mut().zip(self.signal.chunks_exact(places)) {
                *bias = plane[image * positions..][..positions].iter().sum();
            }
            *norm += kernel::squared_norm_of(gradient);
        }
    }

    /// Overwrites `out` with Σ weights[i]·gradient of image i; after [`add_squared_norms`](Self::add_squared_norms).
    pub(crate) fn weighted_sum(&self, weights: &[f32], out: &mut [f32]) {
        out.fill(0.0);
        for (&weight, gradient) in weights.iter().zip(self.gradients.chunks_exact(out.len())) {
            if weight != 0.0 {
                kernel::add_scaled(out, weight, gradient);
            }
        }
    }

    /// Overwrites `out` with the sum of all gradients, without forming any of them.
    pub(crate) fn sum(&self, out: &mut [f32]) {
        let (channels, patch) = (self.shape.layer.channels, self.shape.patch());
        let places = self.images * self.shape.positions();
        let (weights, bias) = out.split_at_mut(channels * patch);
        kernel::multiply(
            matrix_mut(weights, channels, patch),
            matrix(&self.signal, channels, places),
            matrix(&self.columns, patch, places).transpose(),
        );
        for (bias, plane) in bias.iter_mut().zip(self.signal.chunks_exact(places)) {
            *bias = plane.iter().sum();
        }
    }

    /// im2col. A plane is first split by phase, after which every line of patches is a contiguous copy.
    fn gather_columns(&mut self, input: &[f32]) {
        let (kernel, places) = (self.shape.layer.kernel, self.images * self.shape.positions());
        let plane_length = self.shape.in_height * self.shape.in_width;
        for (index, plane) in input[..self.shape.in_channels * self.images * plane_length]
            .chunks_exact(plane_length)
            .enumerate()
        {
            let (channel, image) = (index / self.images, index % self.images);
            split_phases(&self.shape, plane, &mut self.phases);
            for tap in 0..kernel * kernel {
                let row = (channel * kernel * kernel + tap) * places + image * self.shape.positions();
                let out = &mut self.columns[row..row + self.shape.positions()];
                let phase = PhaseWindow::new(&self.shape, tap / kernel, tap % kernel);
                for (line, out) in out.chunks_exact_mut(self.shape.width).enumerate() {
                    out.copy_from_slice(&self.phases[phase.line(line)]);
                }
            }
        }
    }

    /// The transpose of [`gather_columns`](Self::gather_columns): adds every patch back where it came from.
    fn scatter_columns(&mut self, out: &mut [f32]) {
        let (kernel, places) = (self.shape.layer.kernel, self.images * self.shape.positions());
        let plane_length = self.shape.in_height * self.shape.in_width;
        for (index, plane) in out[..self.shape.in_channels * self.images * plane_length]
            .chunks_exact_mut(plane_length)
            .enumerate()
        {
            let (channel, image) = (index / self.images, index % self.images);
            self.phases.fill(0.0);
            for tap in 0..kernel * kernel {
                let row = (channel * kernel * kernel + tap) * places + image * self.shape.positions();
                let from = &self.column_signal[row..row + self.shape.positions()];
                let phase = PhaseWindow::new(&self.shape, tap / kernel, tap % kernel);
                for (line, from) in from.chunks_exact(self.shape.width).enumerate() {
                    let to = &mut self.phases[phase.line(line)];
                    to.iter_mut().zip(from).for_each(|(sum, &value)| *sum += value);
                }
            }
            join_phases(&self.shape, &self.phases, plane);
        }
    }
}

/// The part of the phase planes that one tap of the kernel sees.
struct PhaseWindow {
    start: usize,
    pitch: usize,
    width: usize,
}

impl PhaseWindow {
    fn new(shape: &ConvShape, tap_y: usize, tap_x: usize) -> Self {
        let stride = shape.layer.stride;
        let (height, pitch) = shape.phase_sides();
        let plane = (tap_y % stride * stride + tap_x % stride) * height * pitch;
        Self { start: plane + tap_y / stride * pitch + tap_x / stride, pitch, width: shape.width }
    }

    fn line(&self, line: usize) -> std::ops::Range<usize> {
        let start = self.start + line * self.pitch;
        start..start + self.width
    }
}

/// Calls `f(position in the plane, position in the phases)` for every number of an input plane, line by line.
#[inline(always)]
fn for_each_place(shape: &ConvShape, mut f: impl FnMut(usize, usize)) {
    let (stride, padding) = (shape.layer.stride, shape.layer.padding);
    let (height, pitch) = shape.phase_sides();
    for y in 0..shape.in_height {
        let (line, line_phase) = ((y + padding) / stride, (y + padding) % stride);
        for phase in 0..stride {
            // The first column of this phase that lies inside the image.
            let first = (phase + stride - padding % stride) % stride;
            let start = (line_phase * stride + phase) * height * pitch + line * pitch;
            for x in (first..shape.in_width).step_by(stride) {
                f(y * shape.in_width + x, start + (x + padding) / stride);
            }
        }
    }
}

/// Padding places stay zero: nothing else is ever written to them.
fn split_phases(shape: &ConvShape, plane: &[f32], phases: &mut [f32]) {
    if phases_hold_sums(shape) {
        phases.fill(0.0);
    }
    for_each_place(shape, |place, phase| phases[phase] = plane[place]);
}

fn join_phases(shape: &ConvShape, phases: &[f32], plane: &mut [f32]) {
    for_each_place(shape, |place, phase| plane[place] = phases[phase]);
}

/// With padding, [`ConvPass::scatter_columns`] leaves sums in places that must be zero for the next chunk.
fn phases_hold_sums(shape: &ConvShape) -> bool {
    shape.layer.padding > 0
}

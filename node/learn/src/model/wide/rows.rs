//! Some records of a group, for all units: from the first layer's sums to the loss and back, and the gradient of all but its weights.

use privacy::clip::ClipNorm;

use super::tile::Tiles;
use super::units::Units;
use crate::model::chunk::{Chunk, Examples};
use crate::model::dense::{DensePass, DenseShape, clear_left_out, product_of_norms};
use crate::model::kernel;

/// Buffers for one block of records.
pub(super) struct Block {
    width: usize,
    activation: crate::model::Activation,
    /// Where the parameters of the layers above begin.
    above_at: usize,
    above: DensePass,
    targets: Chunk,
    /// Outputs of the first layer, after its activation.
    active: Vec<f32>,
    /// Back-signals of the first layer, times the weights of their examples.
    signals: Vec<f32>,
    norms: Vec<f64>,
    input_norms: Vec<f64>,
    signal_norms: Vec<f64>,
    weights: Vec<f32>,
    /// The gradient of the first layer's bias and of all layers above.
    pub(super) rest: Vec<f32>,
}

/// The records of a block.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'a> {
    pub(super) data: &'a dyn Examples,
    pub(super) records: &'a [u32],
    /// The first one's number in its group.
    pub(super) place: usize,
    /// Records of the group.
    pub(super) of: usize,
}

impl Block {
    pub(super) fn new(shape: &DenseShape, rows: usize) -> Self {
        let width = shape.widths[1];
        let above = DenseShape { widths: shape.widths[1..].to_vec(), ..shape.clone() };
        Self {
            width,
            activation: shape.activation,
            above_at: (shape.inputs() + 1) * width,
            rest: vec![0.0; width + above.parameter_count()],
            above: DensePass::new(above, rows),
            targets: Chunk::with_capacity(rows, 0),
            active: vec![0.0; rows * width],
            signals: vec![0.0; rows * width],
            norms: vec![0.0; rows],
            input_norms: vec![0.0; rows],
            signal_norms: vec![0.0; rows],
            weights: vec![0.0; rows],
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.targets.rows()
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn signals(&self) -> &[f32] {
        &self.signals
    }

    /// Whether example `row` is left out of the sum.
    pub(super) fn leaves_out(&self, row: usize) -> bool {
        self.weights[row] == 0.0
    }

    /// Everything between the first layer's sums, which `units` hold, and its signals.
    pub(super) fn run<S: Tiles>(
        &mut self,
        params: &[f32],
        units: &[Units<S>],
        inputs: Inputs<'_>,
        clip: Option<ClipNorm>,
    ) {
        let rows = inputs.records.len();
        self.targets.gather_targets(inputs.data, inputs.records);
        let (params, above) = params.split_at(self.above_at);
        let used = rows * self.width;
        self.activate(&params[self.above_at - self.width..], units, inputs);
        let active = &self.active[..used];
        self.above.forward_rows(above, active, rows);
        self.above.backward_rows(above, &self.targets);
        self.above.input_signal(above, &mut self.signals[..used]);
        self.activation.backward(&mut self.signals[..used], active);
        self.weights[..rows].fill(1.0);
        if let Some(clip) = clip {
            self.weigh(inputs, clip);
        }
        let (active, signals) = (&mut self.active[..used], &mut self.signals[..used]);
        let (bias, above) = self.rest.split_at_mut(self.width);
        if clip.is_some() {
            let weights = &self.weights[..rows];
            clear_left_out(active, weights);
            kernel::scale_rows(signals, weights);
            self.above.weighted_sum_rows(active, weights, above);
        } else {
            self.above.sum_rows(active, above);
        }
        kernel::sum_of_rows(bias, signals);
    }

    fn activate<S: Tiles>(&mut self, bias: &[f32], units: &[Units<S>], inputs: Inputs<'_>) {
        let used = self.targets.rows() * self.width;
        let active = &mut self.active[..used];
        for (row, out) in active.chunks_exact_mut(self.width).enumerate() {
            units.iter().for_each(|units| units.copy_sums(inputs.place + row, inputs.of, out));
        }
        kernel::add_to_rows(active, bias);
        self.activation.apply(active);
    }

    /// The factor of each example.
    fn weigh(&mut self, Inputs { data, records, .. }: Inputs<'_>, clip: ClipNorm) {
        let (rows, used) = (records.len(), records.len() * self.width);
        self.norms[..rows].fill(0.0);
        self.above.add_squared_norms(&self.active[..used], &mut self.norms[..rows]);
        for (norm, &record) in self.input_norms.iter_mut().zip(records) {
            kernel::bound_squared_norms_of_rows(
                std::slice::from_mut(norm),
                data.features_of(record as usize),
            );
        }
        kernel::bound_squared_norms_of_rows(&mut self.signal_norms[..rows], &self.signals[..used]);
        let pairs = self.input_norms.iter().zip(&self.signal_norms);
        for (norm, (&input, &signal)) in self.norms[..rows].iter_mut().zip(pairs) {
            *norm += product_of_norms(input, signal);
        }
        clip.factors(&self.norms[..rows], &mut self.weights[..rows]);
    }
}

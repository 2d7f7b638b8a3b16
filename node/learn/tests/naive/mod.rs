//! The models again, in double precision and by the plainest loops, as an independent reference.

use learn::data::{Dataset, Target};
use learn::model::ConvLayer;

/// The outputs of one record as a function of parameters and features.
pub(crate) enum Net {
    /// Widths from inputs to outputs, and whether tanh stands between layers (else the rectifier).
    Dense { widths: Vec<usize>, tanh: bool },
    /// Side of the image, convolutions, widths of the dense layers after the flattened planes; rectifiers.
    Conv { side: usize, layers: Vec<ConvLayer>, widths: Vec<usize> },
    /// The parameters themselves.
    Mean,
}

/// The loss on the outputs.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Loss {
    Squared,
    Logistic,
    Softmax,
}

/// The mean loss over all records plus (penalty/2)‖θ‖².
pub(crate) fn loss(net: &Net, head: Loss, penalty: f64, params: &[f64], data: &Dataset) -> f64 {
    let total: f64 = (0..data.len()).map(|record| record_loss(net, head, params, data, record)).sum();
    total / data.len() as f64 + 0.5 * penalty * params.iter().map(|p| p * p).sum::<f64>()
}

/// The loss of one record, without penalty.
pub(crate) fn record_loss(net: &Net, head: Loss, params: &[f64], data: &Dataset, record: usize) -> f64 {
    let features: Vec<f64> = data.row(record).iter().map(|&x| f64::from(x)).collect();
    let outputs = outputs(net, params, &features);
    match (head, data.target(record)) {
        (Loss::Squared, Target::Real(y)) => 0.5 * (outputs[0] - f64::from(y)).powi(2),
        (Loss::Squared, Target::None) => {
            outputs.iter().zip(&features).map(|(m, x)| 0.5 * (m - x).powi(2)).sum()
        }
        (Loss::Logistic, Target::Class(label)) => {
            (1.0 + (if label == 1 { -outputs[0] } else { outputs[0] }).exp()).ln()
        }
        (Loss::Softmax, Target::Class(label)) => {
            outputs.iter().map(|z| z.exp()).sum::<f64>().ln() - outputs[label as usize]
        }
        _ => panic!("this loss does not go with these targets"),
    }
}

/// Central differences of [`loss`] in every coordinate.
pub(crate) fn gradient(net: &Net, head: Loss, penalty: f64, params: &[f64], data: &Dataset) -> Vec<f64> {
    differences(params, |at| loss(net, head, penalty, at, data))
}

/// Central differences of the loss of one record.
pub(crate) fn record_gradient(
    net: &Net,
    head: Loss,
    params: &[f64],
    data: &Dataset,
    record: usize,
) -> Vec<f64> {
    differences(params, |at| record_loss(net, head, at, data, record))
}

fn differences(params: &[f64], f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    const STEP: f64 = 1e-5;
    let mut at = params.to_vec();
    let mut slope = |i: usize| {
        at[i] = params[i] + STEP;
        let above = f(&at);
        at[i] = params[i] - STEP;
        let below = f(&at);
        at[i] = params[i];
        (above - below) / (2.0 * STEP)
    };
    (0..params.len()).map(&mut slope).collect()
}

fn outputs(net: &Net, params: &[f64], features: &[f64]) -> Vec<f64> {
    match net {
        Net::Mean => params.to_vec(),
        Net::Dense { widths, tanh } => dense(widths, *tanh, params, features.to_vec()),
        Net::Conv { side, layers, widths } => {
            let (mut planes, mut side, mut rest) = (vec![features.to_vec()], *side, params);
            for layer in layers {
                let count = layer.channels * (planes.len() * layer.kernel * layer.kernel + 1);
                (planes, side) = convolve(layer, &rest[..count], &planes, side);
                rest = &rest[count..];
            }
            dense(widths, false, rest, planes.concat())
        }
    }
}

fn dense(widths: &[usize], tanh: bool, mut params: &[f64], mut values: Vec<f64>) -> Vec<f64> {
    for (layer, pair) in widths.windows(2).enumerate() {
        let (weights, rest) = params.split_at(pair[0] * pair[1]);
        let (bias, rest) = rest.split_at(pair[1]);
        let sum =
            |o: usize| bias[o] + (0..pair[0]).map(|i| weights[o * pair[0] + i] * values[i]).sum::<f64>();
        let last = layer + 2 == widths.len();
        let function = |z: f64| {
            if last {
                z
            } else if tanh {
                z.tanh()
            } else {
                z.max(0.0)
            }
        };
        values = (0..pair[1]).map(|o| function(sum(o))).collect();
        params = rest;
    }
    values
}

fn convolve(layer: &ConvLayer, params: &[f64], planes: &[Vec<f64>], side: usize) -> (Vec<Vec<f64>>, usize) {
    let ConvLayer { channels, kernel, stride, padding, pool } = *layer;
    let out_side = (side + 2 * padding - kernel) / stride + 1;
    let bias = &params[channels * planes.len() * kernel * kernel..];
    let pixel = |plane: &[f64], y: usize, x: usize| {
        let inside = (padding..side + padding).contains(&y) && (padding..side + padding).contains(&x);
        if inside { plane[(y - padding) * side + x - padding] } else { 0.0 }
    };
    let value = |o: usize, y: usize, x: usize| {
        let mut sum = bias[o];
        for (c, plane) in planes.iter().enumerate() {
            for ky in 0..kernel {
                for kx in 0..kernel {
                    let weight = params[((o * planes.len() + c) * kernel + ky) * kernel + kx];
                    sum += weight * pixel(plane, y * stride + ky, x * stride + kx);
                }
            }
        }
        sum.max(0.0)
    };
    let (size, step) = pool.map_or((1, 1), |pool| (pool.size, pool.stride));
    let pooled_side = (out_side - size) / step + 1;
    let plane = |o: usize| {
        let full: Vec<f64> = (0..out_side * out_side).map(|i| value(o, i / out_side, i % out_side)).collect();
        let square = |y: usize, x: usize| {
            (0..size * size)
                .map(|i| full[(y * step + i / size) * out_side + x * step + i % size])
                .fold(f64::NEG_INFINITY, f64::max)
        };
        (0..pooled_side * pooled_side).map(|i| square(i / pooled_side, i % pooled_side)).collect()
    };
    ((0..channels).map(plane).collect(), pooled_side)
}

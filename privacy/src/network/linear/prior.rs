//! Covariance of the states without any observation: a property of the run.
//!
//! Cov(y) = Σ Φ Φᵀ over all noises, Φ the product of the mixing steps since. Only the columns of the nodes that the watchers hear are
//! ever needed.

use super::Mixing;
use std::sync::Arc;

pub(super) enum Prior {
    /// A symmetric matrix repeated throughout and the same nodes heard: Σ_k W^{2k} E grows by two products a round.
    Repeated { power: Vec<f64>, sum: Vec<f64> },
    /// Any run: what happened, in order.
    General { nodes: usize, history: Vec<Event> },
}

pub(super) enum Event {
    Noise(Vec<bool>),
    Mixed(Arc<Mixing>),
}

impl Prior {
    /// For a run that repeats one contribution of all and one symmetric step in which the watchers hear `heard`.
    pub(super) fn repeated(nodes: usize, heard: &[usize], width: usize) -> Self {
        Self::Repeated { power: units(nodes, heard, width), sum: vec![0.0; nodes * width] }
    }

    /// For any run.
    pub(super) fn general(nodes: usize) -> Self {
        Self::General { nodes, history: Vec::new() }
    }

    /// Fresh independent noise at the marked nodes.
    pub(super) fn contribute(&mut self, noisy: Vec<bool>) {
        match self {
            Self::Repeated { power, sum } => sum.iter_mut().zip(power).for_each(|(s, p)| *s += *p),
            Self::General { history, .. } => history.push(Event::Noise(noisy)),
        }
    }

    /// The states are mixed.
    pub(super) fn advance(&mut self, mixing: &Arc<Mixing>) {
        match self {
            Self::Repeated { power, .. } => {
                let width = power.len() / mixing.nodes();
                let mut scratch = Vec::new();
                (0..2).for_each(|_| mixing.forward(power, width, &mut scratch));
            }
            Self::General { history, .. } => history.push(Event::Mixed(Arc::clone(mixing))),
        }
    }

    /// Columns of these nodes, node-major, `width` lanes.
    pub(super) fn columns(&self, heard: &[usize], width: usize) -> Vec<f64> {
        match self {
            Self::Repeated { sum, .. } => sum.clone(),
            Self::General { nodes, history } => by_history(*nodes, history, heard, width),
        }
    }
}

/// Pushes E back to every noise, and the sum of what arrives there forward again.
fn by_history(nodes: usize, history: &[Event], heard: &[usize], width: usize) -> Vec<f64> {
    let mut rows = units(nodes, heard, width);
    let mut arrived: Vec<Vec<f64>> = Vec::new();
    let mut scratch = Vec::new();
    for event in history.iter().rev() {
        match event {
            Event::Noise(noisy) => arrived.push(kept(&rows, noisy, width)),
            Event::Mixed(mixing) => mixing.backward(&mut rows, width, &mut scratch),
        }
    }
    let mut sum = vec![0.0; nodes * width];
    for event in history {
        match event {
            Event::Noise(_) => {
                let rows = arrived.pop().expect("one entry per noise, in reverse order");
                sum.iter_mut().zip(rows).for_each(|(s, r)| *s += r);
            }
            Event::Mixed(mixing) => mixing.forward(&mut sum, width, &mut scratch),
        }
    }
    sum
}

fn units(nodes: usize, heard: &[usize], width: usize) -> Vec<f64> {
    let mut units = vec![0.0; nodes * width];
    heard.iter().enumerate().for_each(|(lane, &node)| units[node * width + lane] = 1.0);
    units
}

fn kept(block: &[f64], keep: &[bool], width: usize) -> Vec<f64> {
    let mut kept = block.to_vec();
    for (node, _) in keep.iter().enumerate().filter(|(_, keep)| !**keep) {
        kept[node * width..(node + 1) * width].fill(0.0);
    }
    kept
}

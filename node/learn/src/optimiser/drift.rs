//! Repairs of drift: what a node remembers of its own releases, so that different data do not pull the shared model apart.
//!
//! Both bring a node's own noise back into later releases. Where others' noise is counted on to hide a contribution, that is no guarantee any more: with noise they
//! are for somebody who sees every message only.

/// Control variates of one node (Karimireddy et al. 2020, *SCAFFOLD*, option II, everybody in every round), from released values only.
///
/// Invariant: the corrections c − c_u of all nodes add up to nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Variates {
    /// c: the mean direction of all.
    pub common: Vec<f32>,
    /// c_u: this node's own.
    pub own: Vec<f32>,
}

impl Variates {
    /// Zeros.
    pub fn new(parameters: usize) -> Self {
        Self { common: vec![0.0; parameters], own: vec![0.0; parameters] }
    }

    /// c − c_u: what is added to the gradient of each local step.
    pub fn correction(&self) -> Vec<f32> {
        self.common.iter().zip(&self.own).map(|(common, own)| common - own).collect()
    }

    /// c_u after the node's own release; `way` is local steps times their size.
    pub fn on_own(&mut self, release: &[f32], way: f64) {
        for ((own, common), &release) in self.own.iter_mut().zip(&self.common).zip(release) {
            *own -= common + (f64::from(release) / way) as f32;
        }
    }

    /// c after the mean release of all.
    pub fn on_mean(&mut self, mean: &[f32], way: f64) {
        self.common
            .iter_mut()
            .zip(mean)
            .for_each(|(common, &mean)| *common = (-f64::from(mean) / way) as f32);
    }
}

/// The gradient with which a step from `now` and a mixing step make D² of it (Tang et al. 2018): x − η·this is 2x − x′ − η(g − g′), the primes meaning the step before.
pub fn d2_direction((now, gradient): (&[f32], &mut [f32]), (before, last): (&[f32], &[f32]), rate: f64) {
    let all = gradient.iter_mut().zip(now).zip(before.iter().zip(last));
    all.for_each(|((gradient, now), (before, last))| {
        *gradient += ((f64::from(*before) - f64::from(*now)) / rate - f64::from(*last)) as f32;
    });
}

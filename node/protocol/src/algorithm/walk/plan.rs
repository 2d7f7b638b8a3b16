//! Noise for walks, whose paths are not known before they are made.
//!
//! Paths are sampled: how often a node is visited decides how many contributions it may plan for, and the mean loss of sampled paths is an estimate of the
//! one to come. The worst pair is planned for as `local`.

use privacy::gdp;
use privacy::network::{NetworkError, Watchers, walk};
use topology::Walk;

use super::WalkSettings;
use crate::account::plan::{Figures, Found, PlanError, Question, UP};
use crate::account::{ReleaseKind, Shape, Table};
use crate::algorithm::Forecast;
use crate::settings::Scope;

/// Sampled runs, and watchers in each.
const SAMPLES: usize = 8;
const WATCHERS: usize = 32;

impl Forecast for WalkSettings {
    fn releases(&self, shape: &Shape) -> Result<u64, PlanError> {
        visits(shape, self)
    }

    /// The worst pair is planned for as `local`.
    fn noise(
        &self,
        question: &Question<'_>,
        (epsilon, scope): (f64, Scope),
        local: &Found,
    ) -> Result<Option<Found>, PlanError> {
        if scope != Scope::Mean {
            return Ok(None);
        }
        Ok(noise(question.shape, self, epsilon)?.map(|noise| local.with_noise(noise)))
    }

    fn figures(&self, shape: &Shape, local: f64) -> Result<Figures, PlanError> {
        figures(shape, self, local)
    }
}

/// Contributions that a node plans for: 99 in 100 visits of sampled walks find a node that has not made so many. Later visits add nothing.
fn visits(shape: &Shape, settings: &WalkSettings) -> Result<u64, PlanError> {
    let mut counts: Vec<u64> = Vec::new();
    for sample in 0..SAMPLES {
        let mut visits = vec![0; shape.nodes];
        paths(shape, settings, sample)?.iter().flatten().for_each(|&node| visits[node] += 1);
        counts.extend(visits);
    }
    counts.sort_unstable();
    Ok(counts[(counts.len() * 99 / 100).min(counts.len() - 1)].max(1))
}

/// Noise with which the mean loss of sampled walks meets ε; `None` where the update may expand.
fn noise(shape: &Shape, settings: &WalkSettings, epsilon: f64) -> Result<Option<f64>, PlanError> {
    if !shape.rho.is_some_and(|rho| rho <= 1.0) {
        return Ok(None);
    }
    let (watchers, units) = sampled_losses(shape, settings)?;
    let pairs = watchers.iter().zip(&units).flat_map(|(&watcher, row)| {
        row.iter().enumerate().filter(move |(source, _)| *source != watcher).map(|(_, unit)| *unit)
    });
    let (sum, count) = pairs.fold((0.0, 0usize), |(sum, count), unit| (sum + unit, count + 1));
    let noise = (sum / count.max(1) as f64).sqrt() / gdp::mu(epsilon, shape.delta)? * (1.0 + UP);
    Ok((noise > 0.0 && noise.is_finite()).then_some(noise))
}

/// What sampled walks cost.
fn figures(shape: &Shape, settings: &WalkSettings, local: f64) -> Result<Figures, PlanError> {
    if !shape.rho.is_some_and(|rho| rho <= 1.0) {
        let analysis = "local (the update is not certified to be non-expansive)".into();
        return Ok(Figures { analysis, worst: local, mean: local, coalition: None, local });
    }
    let (watchers, units) = sampled_losses(shape, settings)?;
    let price = ReleaseKind::of(&shape.release).gaussian_price();
    let scaled = |row: &Vec<f64>| row.iter().map(|&unit| price.of(unit)).collect();
    let mu2: Vec<Vec<f64>> = units.iter().map(scaled).collect();
    let locals = vec![local; shape.nodes];
    let table = Table::of_mu2(watchers, &mu2, (&locals, shape.delta), "walk (estimate)".into());
    Ok(Figures { analysis: table.name.clone(), worst: local, mean: table.mean(), coalition: None, local })
}

/// Unit losses of sampled walks: a row for each sampled run and watcher.
fn sampled_losses(shape: &Shape, settings: &WalkSettings) -> Result<(Vec<usize>, Vec<Vec<f64>>), PlanError> {
    let count = WATCHERS.min(shape.nodes);
    let (mut watchers, mut rows) = (Vec::new(), Vec::new());
    for sample in 0..SAMPLES {
        let paths = paths(shape, settings, sample)?;
        for at in 0..count {
            let watcher = at * shape.nodes / count;
            let coalition = Watchers::new(&[watcher], shape.nodes)?;
            let mut row = vec![0.0; shape.nodes];
            for path in paths.iter().filter(|path| !path.is_empty()) {
                let one = walk::loss(path, shape.nodes, &coalition)?;
                row.iter_mut().zip(one).for_each(|(sum, unit)| *sum += unit);
            }
            row.iter_mut().enumerate().for_each(|(node, unit)| *unit *= shape.exposure(node));
            watchers.push(watcher);
            rows.push(row);
        }
    }
    Ok((watchers, rows))
}

/// One sampled path per token.
fn paths(shape: &Shape, settings: &WalkSettings, sample: usize) -> Result<Vec<Vec<usize>>, PlanError> {
    let path = |(token, &start): (usize, &crate::PeerIx)| {
        let seed = shape.key.seed("walk forecast", (sample * settings.starts.len() + token) as u64);
        let walk = Walk::new(&settings.kernel, start as usize, seed).map_err(NetworkError::from)?;
        Ok(walk.take(shape.rounds.max(1) as usize).collect())
    };
    settings.starts.iter().enumerate().map(path).collect()
}

//! Noise for gossip and one-shot averaging.

use privacy::gdp;
use privacy::network::calibrate::Target;
use privacy::network::{NetworkError, Phase, Run, Step, Watchers, losses};

use super::GossipSettings;
use super::fold::{MOST_PRICED_NODES, TOO_MANY, pricing};
use super::pairing;
use crate::account::plan::{Figures, Found, PlanError, Question, UP};
use crate::account::{ReleaseKind, Shape, Table, priced_watchers};
use crate::algorithm::Forecast;
use crate::settings::Scope;

impl Forecast for GossipSettings {
    fn noise(
        &self,
        question: &Question<'_>,
        aim: (f64, Scope),
        local: &Found,
    ) -> Result<Option<Found>, PlanError> {
        if let Some(settings) = &self.pairing {
            return pairing::noise(question, settings, aim);
        }
        Ok(noise(question.shape, self, aim)?.map(|noise| local.with_noise(noise)))
    }

    fn figures(&self, shape: &Shape, local: f64) -> Result<Figures, PlanError> {
        if let Some(settings) = &self.pairing
            && shape.nodes <= MOST_PRICED_NODES
        {
            return pairing::figures(shape, settings, (&planned_run(shape, self)?, local));
        }
        figures(shape, self, local)
    }
}

/// The least noise for a scope if every message arrives; `None` where only `local` is left.
///
/// In training direct neighbours have the local loss, so there is nothing to gain for the worst pair.
fn noise(
    shape: &Shape,
    settings: &GossipSettings,
    (epsilon, scope): (f64, Scope),
) -> Result<Option<f64>, PlanError> {
    if settings.train && scope == Scope::Worst {
        return Ok(None);
    }
    let Some(priced) = priced(shape, settings)? else { return Ok(None) };
    let target = match scope {
        Scope::Mean => Target::Mean,
        Scope::Worst | Scope::Local => Target::Worst,
    };
    if scope == Scope::Worst && priced.watchers.len() < shape.nodes {
        return Ok(None);
    }
    let unit = target.of(&priced.units, &priced.coalitions)?;
    let noise = unit.sqrt() / gdp::mu(epsilon, shape.delta)? * (1.0 + UP);
    // Nothing is seen of anybody: no noise is needed, but nobody plans for that.
    Ok((noise > 0.0 && noise.is_finite()).then_some(noise))
}

/// What an undisturbed run costs.
fn figures(shape: &Shape, settings: &GossipSettings, local: f64) -> Result<Figures, PlanError> {
    let Some(priced) = priced(shape, settings)? else {
        let why =
            if shape.nodes > MOST_PRICED_NODES { TOO_MANY } else { "no Lipschitz constant is certified" };
        let analysis = format!("local ({why})");
        return Ok(Figures { analysis, worst: local, mean: local, coalition: None, local });
    };
    let price = ReleaseKind::of(&shape.release).gaussian_price();
    let scaled = |row: &Vec<f64>| row.iter().map(|&unit| price.of(unit)).collect();
    let mu2: Vec<Vec<f64>> = priced.units.iter().map(scaled).collect();
    let locals = vec![local; shape.nodes];
    let table = Table::of_mu2(priced.watchers, &mu2, (&locals, shape.delta), priced.name.to_owned());
    let worst = if table.complete { table.worst().0 } else { local };
    Ok(Figures { analysis: table.mean_name(), worst, mean: table.mean(), coalition: None, local })
}

struct Priced {
    watchers: Vec<usize>,
    coalitions: Vec<Watchers>,
    /// μ² for the node's own Δ/σ = 1.
    units: Vec<Vec<f64>>,
    name: &'static str,
}

/// Unit losses of the planned run; `None` where no analysis but `local` covers it.
fn priced(shape: &Shape, settings: &GossipSettings) -> Result<Option<Priced>, PlanError> {
    if shape.nodes > MOST_PRICED_NODES {
        return Ok(None);
    }
    let run = planned_run(shape, settings)?;
    let (pricing, name) = match pricing(shape, settings, run.rounds()) {
        Ok(found) => found,
        Err(NetworkError::Unsupported { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let watchers = priced_watchers(shape.nodes);
    let coalitions = watchers
        .iter()
        .map(|&watcher| Watchers::new(&[watcher], shape.nodes))
        .collect::<Result<Vec<_>, _>>()?;
    let mut units = losses(&run, &coalitions, pricing, &|_| {})?;
    for row in &mut units {
        row.iter_mut().enumerate().for_each(|(node, unit)| *unit *= shape.exposure(node));
    }
    Ok(Some(Priced { watchers, coalitions, units, name }))
}

fn planned_run(shape: &Shape, settings: &GossipSettings) -> Result<Run, PlanError> {
    let rounds = shape.rounds.max(1) as usize;
    if settings.accelerate.is_empty() {
        return Ok(Run::on_schedule(&settings.schedule, shape.nodes, rounds)?);
    }
    let phase = |round: usize| -> Result<Phase, PlanError> {
        let matrices =
            settings.schedule.round(round as u64, shape.nodes).map_err(NetworkError::from)?.matrices();
        let step = |(at, matrix)| {
            let step = Step::new(matrix);
            match settings.accelerate.get(at) {
                Some(omega) => step.with_momentum(omega - 1.0),
                None => Ok(step),
            }
        };
        Ok(Phase::new(matrices.into_iter().enumerate().map(step).collect::<Result<_, _>>()?))
    };
    if matches!(*settings.schedule, topology::Schedule::Fixed { .. }) {
        return Ok(Run::repeated(shape.nodes, phase(0)?, rounds)?);
    }
    Ok(Run::new(shape.nodes, (0..rounds).map(phase).collect::<Result<_, _>>()?)?)
}

//! Pairwise noise before a run: by what a node's own neighbours hide, which no drop-out takes away.

use privacy::gdp;
use privacy::network::gopa::{self, Paired};
use privacy::network::{Run, Watchers};

use super::PairingSettings;
use crate::account::plan::{Figures, Found, LARGEST, PlanError, Question, UP, named};
use crate::account::{ReleaseKind, Shape, Table, epsilon_of_mu2, priced_watchers};
use crate::settings::{BudgetRule, Scope};

/// The least noise with which a node of fewest neighbours keeps to ε in the scope, and the limit that keeps it so where fewer keys arrive; `None` where only
/// `local` is left.
pub(in crate::algorithm::gossip) fn noise(
    question: &Question<'_>,
    settings: &PairingSettings,
    (epsilon, scope): (f64, Scope),
) -> Result<Option<Found>, PlanError> {
    let delta = question.shape.delta;
    let hidden = settings.hidden(settings.degrees().0);
    let unit = match scope {
        Scope::Local => return Ok(None),
        Scope::Worst => hidden.coalition,
        Scope::Mean => hidden.one,
    };
    let mu = gdp::mu(epsilon, delta)?;
    let noise = unit.sqrt() / mu * (1.0 + UP);
    let price = question.protects.kind(noise).gaussian_price();
    let whose = match scope {
        Scope::Worst => format!(", any {} together", settings.colluders),
        Scope::Mean | Scope::Local => String::new(),
    };
    let name = named(epsilon, delta, scope) + &whose;
    let rule = BudgetRule { scope, limit: mu * mu, price, name };
    Ok((noise <= LARGEST).then(|| Found { noise, budget: vec![rule] }))
}

/// What an undisturbed run costs.
pub(in crate::algorithm::gossip) fn figures(
    shape: &Shape,
    settings: &PairingSettings,
    (run, local): (&Run, f64),
) -> Result<Figures, PlanError> {
    let price = ReleaseKind::of(&shape.release).gaussian_price();
    let paired = Paired::of_graph(&settings.graph);
    let (watchers, mut rows, mut name) = (priced_watchers(shape.nodes), Vec::new(), "gopa");
    for &watcher in &watchers {
        let watcher = Watchers::new(&[watcher], shape.nodes)?;
        let (losses, by) = gopa::loss_of_run(run, &paired, settings.ratio, &watcher)?;
        rows.push(losses.iter().map(|&unit| price.of(unit)).collect::<Vec<f64>>());
        name = by;
    }
    let locals = vec![local; shape.nodes];
    let table = Table::of_mu2(watchers, &rows, (&locals, shape.delta), name.to_owned());
    let any = gopa::loss_towards_any(&paired, settings.ratio, &vec![true; shape.nodes], settings.colluders)?;
    let together = price.of(any.into_iter().fold(0.0, f64::max));
    let together = epsilon_of_mu2(together, shape.delta).min(local);
    Ok(Figures {
        analysis: table.mean_name(),
        worst: if table.complete { table.worst().0 } else { local },
        mean: table.mean(),
        coalition: Some((settings.colluders, together)),
        local,
    })
}

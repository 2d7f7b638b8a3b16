//! What is this node's own at the end of a run: the model of its slot, and one made from it on its own records. As secret as the records.

use crate::failure::{Failure, Result};
use crate::output::say;
use learn::checkpoint::{self, CheckpointInfo};
use learn::personal::{Choice, Figures, Measure};
use protocol::personal::{Mine, mine};
use protocol::{Setup, folder};
use runtime::driver::Outcome;
use runtime::identity::replace_owner_only;
use std::path::Path;

/// What is said with the personal model.
const SECRET: &str = "none: made of this node's own records, and as secret as they are. Do not give it away";

/// The node's own models from what all have trained; `None` where the run did not come to a model.
pub(super) fn of(setup: &Setup, outcome: &Outcome) -> Result<Option<Mine>> {
    let trained = &outcome.model;
    if trained.len() != setup.settings.initial.len() || !trained.iter().all(|value| value.is_finite()) {
        return Ok(None);
    }
    // A run that was stopped goes on later: nobody waits for a model of its own now.
    let personal = setup.personal.clone().filter(|_| outcome.finished);
    Ok(Some(mine(&Setup { personal, ..setup.clone() }, 0, trained)?))
}

/// Keeps the personal model and its figures in the node's folder, for its owner only, and says how good it is.
pub(super) fn keep(setup: &Setup, mine: &Mine, (outcome, state): (&Outcome, &Path)) -> Result<()> {
    let Some(own) = &mine.own else { return Ok(()) };
    let mut about = setup.about();
    about.facts.insert("personal".into(), SECRET.into());
    let info = CheckpointInfo {
        config_digest: setup.digest.to_string(),
        round: u64::from(outcome.status.round),
        guarantee: SECRET.into(),
        about: about.entries(),
    };
    let path = state.join(folder::PERSONAL);
    let bytes = checkpoint::to_bytes(setup.model.as_ref(), &own.params, &info)?;
    replace_owner_only(&path, &bytes)?;
    say!("\na model of this node's own is in `{}`: as secret as its records", path.display());
    if let Some(figures) = &mine.figures {
        let text = serde_json::to_vec_pretty(figures).map_err(|error| Failure::of(error, None))?;
        replace_owner_only(&state.join(folder::PERSONAL_FIGURES), &text)?;
        say!("{}", told(figures, own.choice));
    }
    Ok(())
}

/// What a node of this machine said of its models.
pub(crate) fn figures(state: &Path) -> Option<Figures> {
    serde_json::from_slice(&std::fs::read(state.join(folder::PERSONAL_FIGURES)).ok()?).ok()
}

fn told(figures: &Figures, choice: Choice) -> String {
    let (word, shown): (_, fn(f64) -> String) = match figures.measure {
        Measure::Accuracy => ("accuracy", |part| format!("{:.1} %", 100.0 * part)),
        Measure::Rmse => ("rmse", |error| format!("{error:.4}")),
    };
    let near = match choice {
        Choice::Shared => "the shared one as it is".to_owned(),
        Choice::Near(lambda) => format!("λ = {lambda}"),
        Choice::Alone => "the one trained alone".to_owned(),
    };
    let [shared, personal, alone] = [figures.shared, figures.personal, figures.alone].map(shown);
    let best = if figures.alone_is_best() {
        "ALONE IS BEST here: the others' records did not help this node\n"
    } else {
        ""
    };
    format!(
        "{word} on {} own records that were kept apart (for your eyes: not covered by ε)\n  shared {shared}, personal {personal} ({near}), alone {alone}\n{best}",
        figures.records
    )
}

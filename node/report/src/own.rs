//! How good models of nodes' own are, on the nodes' own records: for the eyes of whoever holds them, and shown only to who asks.

use std::path::Path;

use learn::personal::{Figures, Measure};
use protocol::folder;

use crate::document::NodeReport;
use crate::source::Source;

/// What a node wrote of its own models, where it lies in this folder.
pub(crate) fn read(state: &Path) -> Option<Figures> {
    serde_json::from_slice(&std::fs::read(state.join(folder::PERSONAL_FIGURES)).ok()?).ok()
}

/// The nodes with the figures of their own models, where these may be shown.
pub(crate) fn beside(mut nodes: Vec<NodeReport>, source: &Source, shown: bool) -> Vec<NodeReport> {
    for node in nodes.iter_mut().filter(|_| shown) {
        node.personal = source.own.get(&node.index).copied();
    }
    nodes
}

/// The figures in words.
pub(crate) fn told(figures: &Figures) -> String {
    let (what, shown): (_, fn(f64) -> String) = match figures.measure {
        Measure::Accuracy => ("accuracy", |part| format!("{:.1} %", 100.0 * part)),
        Measure::Rmse => ("root mean squared error", |error| format!("{error:.4}")),
    };
    let [shared, personal, alone] = [figures.shared, figures.personal, figures.alone].map(shown);
    let best = if figures.alone_is_best() { "; alone is best here" } else { "" };
    format!(
        "{what} shared {shared}, personal {personal}, alone {alone} on {} own records that were kept apart{best}. Not covered by ε: for the eyes of whoever holds the records",
        figures.records
    )
}

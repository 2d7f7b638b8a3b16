//! `metrics.csv` of a node: how its model did, round by round, on its own records. For its own eyes, like everything on them.

use dashboard::Judged;
use runtime::identity::owner_only;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Name of the file in the folder of a node.
pub(crate) const FILE: &str = "metrics.csv";
/// Its columns, called as those of a simulation.
const COLUMNS: &str = "round,train_loss,test_loss,test_acc";

/// A file that grows while the node runs, and when it runs again.
pub(super) struct Metrics(PathBuf);

impl Metrics {
    pub(super) fn in_folder(state: &Path) -> Self {
        Self(state.join(FILE))
    }

    /// Adds a row. A disk that is full stops the node elsewhere; here it is no reason to.
    pub(super) fn add(&self, judged: &Judged, train_loss: Option<f64>) {
        // Counted from 0, as in logs and simulations; before the first round there is nothing to say.
        let Some(round) = judged.round.checked_sub(1) else { return };
        let cell = |value: Option<f64>| {
            value.filter(|value| value.is_finite()).map_or_else(String::new, |value| value.to_string())
        };
        let row = format!("{round},{},{},{}\n", cell(train_loss), cell(judged.loss), cell(judged.accuracy));
        let _ = owner_only().create(true).append(true).open(&self.0).and_then(|mut file| {
            let head = if file.metadata()?.len() == 0 { format!("{COLUMNS}\n") } else { String::new() };
            file.write_all(format!("{head}{row}").as_bytes())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_for_each_judgement_under_one_heading() {
        let folder = tempfile::tempdir().unwrap();
        let metrics = Metrics::in_folder(folder.path());
        metrics.add(&Judged { accuracy: Some(0.1), ..Judged::default() }, Some(0.9));
        metrics.add(&Judged { round: 1, accuracy: Some(0.5), ..Judged::default() }, Some(0.7));
        metrics.add(&Judged { round: 9, loss: Some(f64::NAN), ..Judged::default() }, None);
        let text = std::fs::read_to_string(folder.path().join(FILE)).unwrap();
        assert_eq!(text, "round,train_loss,test_loss,test_acc\n0,0.7,,0.5\n8,,,\n");
    }
}

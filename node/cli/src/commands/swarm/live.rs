//! The live table of a swarm: one row per node and a bar, on stderr where somebody watches.

use crate::commands::node::Told;
use dashboard::Board;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use privacy::number::{Precision, up};

/// Rows that are shown; the rest of a large swarm is in the bar.
const ROWS: usize = 24;

/// The picture.
pub(super) struct Live {
    /// Kept: a line whose bar is dropped is cleared.
    heading: ProgressBar,
    rows: Vec<ProgressBar>,
    bar: ProgressBar,
    rounds: Vec<u64>,
    board: Option<Board>,
}

impl Live {
    /// `board` is that of the page, if there is one: it hears what the table shows.
    pub(super) fn new(nodes: usize, rounds: u64, board: Option<Board>) -> Self {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(8));
        let row = ProgressStyle::with_template("{msg}").expect("the template is a constant");
        let heading = all.add(ProgressBar::new(1).with_style(row.clone()));
        heading.set_message(format!(
            "{:>4}  {:<10} {:>6} {:>8} {:>9} {:>7} {:>9}",
            "node", "phase", "here", "round", "loss", "spent", "sent"
        ));
        let rows =
            (0..nodes.min(ROWS)).map(|_| all.add(ProgressBar::new(1).with_style(row.clone()))).collect();
        let style = ProgressStyle::with_template("rounds {wide_bar} {pos}/{len} ({elapsed})");
        let style = style.expect("the template is a constant");
        let bar = all.add(ProgressBar::new(rounds).with_style(style));
        Self { heading, rows, bar, rounds: vec![0; nodes], board }
    }

    /// Shows what a node reports.
    pub(super) fn show(&mut self, node: usize, told: &Told) {
        if let Some(board) = &self.board {
            board.vitals(node, told.vitals());
        }
        let status = &told.status;
        if let Some(round) = self.rounds.get_mut(node) {
            *round = u64::from(status.round);
        }
        self.bar.set_position(self.rounds.iter().copied().min().unwrap_or(0));
        if let Some(row) = self.rows.get(node) {
            row.set_message(row_of(node, told));
        }
    }

    /// Shows that a node has ended.
    pub(super) fn ended(&self, node: usize, well: bool) {
        if let Some(board) = &self.board {
            board.ended(node, well);
        }
        let how = if well { "done" } else { "died" };
        if let Some(row) = self.rows.get(node) {
            row.set_message(format!("{node:>4}  {how}"));
        }
    }

    /// Leaves the last picture.
    pub(super) fn finish(&self) {
        self.heading.abandon();
        self.rows.iter().for_each(ProgressBar::abandon);
        self.bar.abandon();
    }
}

fn row_of(node: usize, told: &Told) -> String {
    let status = &told.status;
    let spent = |part: f64| format!("{} %", up(100.0 * part, Precision::Decimals(1)));
    format!(
        "{node:>4}  {:<10} {:>6} {:>8} {:>9} {:>7} {:>9}",
        told.phase(),
        format!("{}/{}", status.present, status.nodes),
        format!("{}/{}", status.round, status.rounds),
        status.loss.map_or_else(|| "-".into(), |loss| format!("{loss:.4}")),
        told.most_spent().map_or_else(|| "-".into(), spent),
        format!("{:.1} MB", status.bytes.0 as f64 / 1e6),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_shows_what_the_child_said_and_no_loss_below_itself() {
        let me = runtime::identity::Identity::ephemeral().peer_id();
        let line = format!(
            r#"{{"me":"{me}","position":2,"phase":"running","nodes":4,"present":3,"addresses":["/ip4/127.0.0.1/tcp/7000"],"round":7,"rounds":20,
            "loss":0.5,"spent":[["ε",0.24441],["own limit",0.44441]],"released":7,"recorded":7,"bytes":[1500000,0],"dropped":0,"notice":null,
            "judged":{{"round":6,"accuracy":0.9,"loss":0.3}}}}"#
        );
        let told: Told = serde_json::from_str(&line).unwrap();
        assert_eq!(row_of(2, &told), "   2  running       3/4     7/20    0.5000  44.5 %    1.5 MB");
        let vitals = told.vitals();
        assert_eq!(
            (vitals.phase.as_str(), vitals.linked, vitals.judged.unwrap().round),
            ("running", None, 6)
        );
    }
}

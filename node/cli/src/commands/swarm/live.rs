//! The live table of a swarm: one row per node and a bar, on stderr where somebody watches.

use dashboard::Board;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;

/// Rows that are shown; the rest of a large swarm is in the bar.
const ROWS: usize = 24;

/// The picture.
pub(super) struct Live {
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
        Self { rows, bar, rounds: vec![0; nodes], board }
    }

    /// Shows what a node reports.
    pub(super) fn show(&mut self, node: usize, status: &Value) {
        if let Some(board) = &self.board
            && let Ok(vitals) = serde_json::from_value(status.clone())
        {
            board.vitals(node, vitals);
        }
        let number = |key: &str| status[key].as_u64().unwrap_or(0);
        if let Some(round) = self.rounds.get_mut(node) {
            *round = number("round");
        }
        self.bar.set_position(self.rounds.iter().copied().min().unwrap_or(0));
        if let Some(row) = self.rows.get(node) {
            row.set_message(format!(
                "{node:>4}  {:<10} {:>6} {:>8} {:>9} {:>7} {:>9}",
                status["phase"].as_str().unwrap_or("starting"),
                format!("{}/{}", number("present"), number("nodes")),
                format!("{}/{}", number("round"), number("rounds")),
                status["loss"].as_f64().map_or_else(|| "-".into(), |loss| format!("{loss:.4}")),
                spent(status).map_or_else(|| "-".into(), |part| format!("{:.1} %", 100.0 * part)),
                format!("{:.1} MB", status["bytes"][0].as_f64().unwrap_or(0.0) / 1e6),
            ));
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
        self.rows.iter().for_each(ProgressBar::abandon);
        self.bar.abandon();
    }
}

/// The largest part of a limit that was spent.
fn spent(status: &Value) -> Option<f64> {
    let parts = status["spent"].as_array()?;
    parts.iter().filter_map(|part| part[1].as_f64()).reduce(f64::max)
}

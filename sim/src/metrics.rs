//! A run round by round: the rows of `metrics.csv`.

use std::fmt::Write;

use protocol::judge::Quality;
use serde::Serialize;

/// The columns of `metrics.csv`.
pub const COLUMNS: &str = "round,time,train_loss,test_loss,test_acc,consensus_distance,bytes,epsilon_worst,epsilon_mean,epsilon_local";

/// One row: what is known after a round. What is not known is empty.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The round, from 0.
    pub round: u32,
    /// Virtual time, in seconds.
    pub time: f64,
    /// Mean loss of the contributions, before their steps, on the nodes' own data. Not private.
    pub train_loss: Option<f64>,
    /// How good the models are.
    #[serde(flatten)]
    pub quality: Quality,
    /// Bytes that all nodes have sent so far; of a real swarm known at its end.
    pub bytes: Option<u64>,
    /// ε of the worst pair so far.
    pub epsilon_worst: Option<f64>,
    /// Mean ε over pairs so far.
    pub epsilon_mean: Option<f64>,
    /// ε towards somebody who sees every message, so far.
    pub epsilon_local: Option<f64>,
}

impl Row {
    /// The row as a line of CSV.
    pub fn csv(&self) -> String {
        let mut line = format!("{},{}", self.round, self.time);
        let quality = &self.quality;
        let mut cell = |value: Option<f64>| {
            let written = match value.filter(|value| value.is_finite()) {
                Some(value) => write!(line, ",{value}"),
                None => write!(line, ","),
            };
            written.expect("a string takes everything");
        };
        [self.train_loss, quality.test_loss, quality.test_acc, quality.consensus_distance]
            .into_iter()
            .for_each(&mut cell);
        cell(self.bytes.map(|bytes| bytes as f64));
        [self.epsilon_worst, self.epsilon_mean, self.epsilon_local].into_iter().for_each(cell);
        line
    }
}

/// `metrics.csv`: the columns and one line per row.
pub fn csv(rows: &[Row]) -> String {
    let lines: Vec<String> = std::iter::once(COLUMNS.to_owned()).chain(rows.iter().map(Row::csv)).collect();
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_a_cell_for_each_column_and_none_for_what_is_unknown() {
        let row = Row {
            round: 3,
            time: 0.5,
            train_loss: None,
            quality: Quality { test_loss: Some(0.25), test_acc: None, consensus_distance: Some(0.0) },
            bytes: Some(1200),
            epsilon_worst: Some(f64::INFINITY),
            epsilon_mean: None,
            epsilon_local: Some(2.0),
        };
        assert_eq!(row.csv(), "3,0.5,,0.25,,0,1200,,,2");
        assert_eq!(row.csv().split(',').count(), COLUMNS.split(',').count());
        assert_eq!(csv(&[row]).lines().count(), 2);
    }
}

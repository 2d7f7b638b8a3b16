//! `metrics.csv` of a whole real swarm: a row for each round in which somebody contributed, with the columns of a simulation. What nobody said is empty.

use super::report::Left;
use crate::failure::{Failure, Result};
use protocol::account::Account;
use protocol::folder::METRICS;
use protocol::judge::Quality;
use protocol::{LogLine, RunEvent, RunResult, folder};
use sim::metrics::Row;
use std::collections::BTreeMap;
use std::path::Path;

/// Rounds that are priced at most: each costs an account.
const PRICED: u32 = 200;
/// Pairs of nodes up to which more than the last round is priced.
const MOST_PAIRS: usize = 1 << 12;

/// The rows; the figures of the last are those of the result.
pub(super) fn of(left: &Left<'_>, folder: &Path, result: &RunResult) -> Result<Vec<Row>> {
    let shape = left.setup.shape().with_private_noise(result.privacy.private);
    // Elsewhere a round is settled by later ones, and pricing it anew each time is dear.
    let is_cheap = shape.algorithm.settles_by_round() && shape.nodes * shape.nodes <= MOST_PAIRS;
    let mut account = Account::new(shape).map_err(|error| Failure::of(error, None))?;
    let judged = judged(folder, left.setup.config.nodes);
    let stride = left.setup.config.rounds.div_ceil(PRICED);
    let (mut rows, mut open) = (Vec::new(), Open::default());
    for line in left.lines {
        if let Some(round) = line.event.round().filter(|&round| round > open.round) {
            if open.has_begun {
                let is_due = is_cheap && (open.round + 1).is_multiple_of(stride);
                rows.push(open.row(is_due.then_some(&account), judged.get(&open.round)));
            }
            open = Open { round, ..Open::default() };
        }
        account.push(line);
        open.push(line);
    }
    if open.has_begun {
        rows.push(open.row(None, None));
    }
    if let Some(last) = rows.last_mut() {
        let privacy = &result.privacy;
        last.bytes = Some(left.bytes);
        last.quality = Quality {
            test_loss: result.test_loss,
            test_acc: result.test_acc,
            consensus_distance: result.consensus_distance,
        };
        last.epsilon_worst = Some(privacy.worst.epsilon);
        last.epsilon_mean = Some(privacy.mean.epsilon);
        last.epsilon_local = Some(privacy.local.epsilon);
    }
    Ok(rows)
}

/// A round of which lines still come.
#[derive(Default)]
struct Open {
    round: u32,
    has_begun: bool,
    time: f64,
    loss: (f64, u32),
}

impl Open {
    fn push(&mut self, line: &LogLine) {
        match &line.event {
            RunEvent::Released { loss, .. } => {
                self.has_begun = true;
                self.loss = loss.map_or(self.loss, |loss| (self.loss.0 + loss, self.loss.1 + 1));
            }
            event if event.round() == Some(self.round) => {}
            _ => return,
        }
        self.time = self.time.max(line.time.seconds());
    }

    /// The row, with what the run would have cost had it ended here.
    fn row(&self, account: Option<&Account>, quality: Option<&Quality>) -> Row {
        let spent = account.map(|account| {
            let mut account = account.clone();
            account.settle_final();
            account.summary()
        });
        let epsilon = |of: fn(&protocol::account::Summary) -> f64| spent.as_ref().map(of);
        let (sum, count) = self.loss;
        Row {
            round: self.round,
            time: self.time,
            train_loss: (count > 0).then(|| sum / f64::from(count)),
            quality: quality.copied().unwrap_or_default(),
            bytes: None,
            epsilon_worst: epsilon(|spent| spent.worst.epsilon),
            epsilon_mean: epsilon(|spent| spent.mean.epsilon),
            epsilon_local: epsilon(|spent| spent.local.epsilon),
        }
    }
}

/// What nodes said of their models, by round: a mean over those that judged then.
fn judged(run: &Path, nodes: usize) -> BTreeMap<u32, Quality> {
    let mut found: BTreeMap<u32, [Vec<f64>; 2]> = BTreeMap::new();
    for node in 0..nodes {
        let text = std::fs::read_to_string(folder::node(run, node).join(METRICS)).unwrap_or_default();
        for line in text.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let [round, _, loss, accuracy] = cells[..] else { continue };
            let Ok(round) = round.parse() else { continue };
            let at = found.entry(round).or_default();
            for (values, cell) in at.iter_mut().zip([loss, accuracy]) {
                values.extend(cell.parse::<f64>().ok());
            }
        }
    }
    let mean =
        |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let quality = |[loss, accuracy]: &[Vec<f64>; 2]| Quality {
        test_loss: mean(loss),
        test_acc: mean(accuracy),
        consensus_distance: None,
    };
    found.iter().map(|(round, values)| (*round, quality(values))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_judged_in_the_same_round_have_a_mean_and_broken_lines_are_left_out() {
        let run = tempfile::tempdir().unwrap();
        let write = |node: usize, rows: &str| {
            let place = folder::node(run.path(), node);
            std::fs::create_dir_all(&place).unwrap();
            std::fs::write(place.join(METRICS), format!("round,train_loss,test_loss,test_acc\n{rows}"))
                .unwrap();
        };
        write(0, "3,0.1,0.5,0.75\n4,0.1,,\nx,,,\n5");
        write(1, "3,0.2,0.7,0.25\n");
        let found = judged(run.path(), 3);
        let at = |round: u32| found.get(&round).map(|quality| (quality.test_loss, quality.test_acc));
        assert_eq!(at(3), Some((Some(0.6), Some(0.5))));
        assert_eq!((at(4), at(5)), (Some((None, None)), None));
    }
}

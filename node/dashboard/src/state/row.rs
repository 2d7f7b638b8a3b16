//! One node, as far as it is known.

use privacy::number::{Precision, raised};
use protocol::PeerIx;
use protocol::account::PeerLoss;
use protocol::personal::Figures;
use serde::ser::SerializeTuple;
use serde::{Deserialize, Serialize, Serializer};

/// What a process says of itself, besides its log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Vitals {
    /// `gathering`, `running` or `done`.
    pub phase: String,
    /// Its position, once the run has begun.
    pub position: Option<PeerIx>,
    /// Bytes of messages, sent and received.
    pub bytes: (u64, u64),
    /// Messages that could not be queued or sent.
    pub dropped: u64,
    /// What was spent, by each limit: its name, and the part of it.
    pub spent: Vec<(String, f64)>,
    /// The last thing that somebody should know.
    pub notice: Option<String>,
    /// How good its model is.
    pub judged: Option<Judged>,
    /// Positions of members that it talks to now; `None` where it does not say.
    pub linked: Option<Vec<PeerIx>>,
}

/// How good a model was after a round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The round.
    pub round: u32,
    /// Share of test records that it classifies rightly.
    pub accuracy: Option<f64>,
    /// Mean loss on the test set: for classes the log loss.
    pub loss: Option<f64>,
    /// What is more to be said about a model that tells classes apart.
    #[serde(flatten)]
    pub quality: Quality,
}

/// How good a model is that tells classes apart, and what it is to be compared with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Quality {
    /// Area under the ROC curve.
    pub auc: Option<f64>,
    /// Mean of −ln of the probability that the right class was given.
    pub log_loss: Option<f64>,
    /// How far probabilities are from what happens.
    pub calibration: Option<f64>,
    /// What always giving the same answer reaches.
    pub base_rate: Option<f64>,
    /// Accuracy of a model that the node trained alone, without noise.
    pub alone: Option<f64>,
}

/// What became of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Process {
    #[default]
    Unknown,
    Up,
    Ended,
    Died,
}

/// Where a node stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Standing {
    /// Nothing was heard of it yet.
    Starting,
    /// Takes part.
    Here,
    /// Cannot be reached, or the others went on without it.
    Away,
    /// Its process died.
    Dead,
    /// Has finished.
    Finished,
}

impl Standing {
    pub(crate) fn is_away(self) -> bool {
        matches!(self, Self::Away | Self::Dead)
    }
}

/// What is known of a node.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Row {
    pub(crate) process: Process,
    /// Whether a line or a picture of it has come.
    pub(crate) seen: bool,
    /// Whether the roster is without it.
    pub(crate) outside: bool,
    /// Whether the only node that we hear talks to it.
    pub(crate) linked: Option<bool>,
    pub(crate) finished: bool,
    /// Rounds that it ended.
    pub(crate) round: Option<u32>,
    pub(crate) loss: Option<f64>,
    pub(crate) contributions: u64,
    pub(crate) lost: Option<PeerLoss>,
    pub(crate) judged: Option<Judged>,
    pub(crate) own: Option<Figures>,
    pub(crate) bytes: (u64, u64),
    pub(crate) dropped: u64,
    pub(crate) spent: Vec<(String, f64)>,
}

impl Row {
    pub(crate) fn standing(&self) -> Standing {
        match self.process {
            Process::Died => Standing::Dead,
            _ if self.finished => Standing::Finished,
            Process::Ended => Standing::Away,
            _ if self.outside || self.linked == Some(false) => Standing::Away,
            _ if self.seen || self.linked == Some(true) => Standing::Here,
            _ => Standing::Starting,
        }
    }

    /// The node in a few numbers, for a stream.
    pub(crate) fn brief(&self, node: usize) -> Brief {
        Brief {
            node: node as PeerIx,
            standing: self.standing(),
            round: self.round,
            loss: self.loss.map(short),
            worst: self.lost.map(|lost| loss(lost.worst)),
            local: self.lost.map(|lost| loss(lost.local)),
            contributions: self.contributions,
            accuracy: self.judged.and_then(|judged| judged.accuracy).map(short),
        }
    }
}

/// `[node, standing, round, loss, ε worst, ε local, contributions, accuracy]`: names would be most of the bytes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Brief {
    pub(crate) node: PeerIx,
    standing: Standing,
    round: Option<u32>,
    loss: Option<f64>,
    worst: Option<f64>,
    local: Option<f64>,
    contributions: u64,
    accuracy: Option<f64>,
}

impl Serialize for Brief {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tuple = serializer.serialize_tuple(8)?;
        tuple.serialize_element(&self.node)?;
        tuple.serialize_element(&self.standing)?;
        tuple.serialize_element(&self.round)?;
        tuple.serialize_element(&self.loss)?;
        tuple.serialize_element(&self.worst)?;
        tuple.serialize_element(&self.local)?;
        tuple.serialize_element(&self.contributions)?;
        tuple.serialize_element(&self.accuracy)?;
        tuple.end()
    }
}

/// A loss as the page shows it, rounded up: what `digits` of the page's `format.js` prints is then this number. Infinity stays, and is `null` in JSON.
///
/// # Guarantee
/// Not below `value`.
pub(crate) fn loss(value: f64) -> f64 {
    raised(value, Precision::Digits(4))
}

/// Five digits are enough for the eye; infinity stays, and is `null` in JSON.
pub(crate) fn short(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let scale = 10f64.powi(4 - value.abs().log10().floor().clamp(-300.0, 300.0) as i32);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happened_to_a_node_decides_where_it_stands() {
        let row = |change: fn(&mut Row)| {
            let mut row = Row::default();
            change(&mut row);
            row.standing()
        };
        assert_eq!(row(|_| {}), Standing::Starting);
        assert_eq!(row(|row| row.seen = true), Standing::Here);
        assert_eq!(row(|row| row.linked = Some(false)), Standing::Away);
        assert_eq!(row(|row| (row.seen, row.outside) = (true, true)), Standing::Away);
        assert_eq!(row(|row| (row.seen, row.process) = (true, Process::Died)), Standing::Dead);
        assert_eq!(row(|row| (row.finished, row.process) = (true, Process::Ended)), Standing::Finished);
        assert_eq!(row(|row| (row.seen, row.process) = (true, Process::Ended)), Standing::Away);
    }

    #[test]
    fn the_page_shows_what_a_report_prints_and_never_a_loss_below_itself() {
        assert_eq!([2.44492, 0.123_41, 9.9996, 123.41].map(loss), [2.445, 0.1235, 10.0, 123.5]);
        for step in 1..5000 {
            let value = f64::from(step) * 0.0271;
            assert!(loss(value) >= value && loss(value) < value * 1.0011, "{value}");
        }
        let lost = Some(PeerLoss { worst: 2.44492, mean: None, local: 3.00001 });
        let brief = serde_json::to_value(Row { lost, ..Row::default() }.brief(0)).unwrap();
        assert_eq!((&brief[4], &brief[5]), (&2.445.into(), &3.001.into()));
    }

    #[test]
    fn short_numbers_keep_five_digits() {
        assert_eq!([short(1.234_567_8), short(-0.000_123_456_7), short(0.0)], [1.2346, -0.000_123_46, 0.0]);
        assert_eq!(short(f64::INFINITY), f64::INFINITY);
    }
}

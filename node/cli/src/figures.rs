//! What a run cost, as `murmur sim` and `murmur swarm` print it.

use crate::table::Table;
use privacy::number::{Precision, near, up};
use protocol::account::{Figure, Summary};
use protocol::work::Adjacency;

/// A heading and one row per watcher.
pub(crate) fn privacy_table(privacy: &Summary) -> String {
    let mut figures = Table::new(["who watches", "ε", "analysis"]);
    for (name, figure) in [
        ("worst pair", &privacy.worst),
        ("mean over pairs", &privacy.mean),
        ("sees every message", &privacy.local),
    ] {
        figures.row([name.into(), epsilon(figure.epsilon), figure.analysis.clone()]);
    }
    format!("Privacy of one {} at δ = {}\n{}", unit(privacy.adjacency), privacy.delta, figures.render())
}

/// `ε = 1.99 at δ = 1e-5 for one record, worst pair, by the analysis rounds`.
pub(crate) fn sentence(privacy: &Summary) -> String {
    let Figure { epsilon: worst, analysis, .. } = &privacy.worst;
    format!(
        "ε = {} at δ = {} for one {}, worst pair, by the analysis {analysis}",
        short_loss(*worst),
        privacy.delta,
        unit(privacy.adjacency)
    )
}

/// A loss with four digits that count, rounded up, as in reports.
fn epsilon(value: f64) -> String {
    up(value, Precision::Digits(4))
}

/// A loss with few digits, rounded up, for tables with many columns.
pub(crate) fn short_loss(value: f64) -> String {
    up(value, Precision::Short)
}

/// A measured number with three digits that count.
pub(crate) fn measured(value: f64) -> String {
    near(value, Precision::Short)
}

/// What is protected.
fn unit(adjacency: Adjacency) -> &'static str {
    match adjacency {
        Adjacency::Record => "record",
        Adjacency::Node => "node",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(epsilon: f64) -> Figure {
        Figure { epsilon, mu2: 0.0, analysis: "rounds".into(), pair: None }
    }

    #[test]
    fn no_figure_of_a_table_is_printed_below_itself() {
        let privacy = Summary {
            adjacency: Adjacency::Record,
            delta: 1e-5,
            private: true,
            worst: figure(2.44492),
            mean: figure(0.004_321_01),
            local: figure(123.41),
            releases: 1,
            broken_rounds: 0,
        };
        assert_eq!(
            privacy_table(&privacy),
            "Privacy of one record at δ = 0.00001\n\
             who watches                ε  analysis\n\
             worst pair             2.445    rounds\n\
             mean over pairs     0.004322    rounds\n\
             sees every message     123.5    rounds\n"
        );
        assert_eq!(
            sentence(&privacy),
            "ε = 2.45 at δ = 0.00001 for one record, worst pair, by the analysis rounds"
        );
        assert_eq!([f64::INFINITY, 0.0].map(epsilon), ["∞", "0"]);
        assert_eq!([2.44492, 0.001_23].map(short_loss), ["2.45", "1.3e-3"]);
    }

    #[test]
    fn measured_numbers_are_short_and_keep_their_size() {
        assert_eq!(
            [0.0, 0.000_123, 0.0456, 1.234, 123.4, 12345.6].map(measured),
            ["0", "1.2e-4", "0.046", "1.23", "123.4", "12346"]
        );
    }
}

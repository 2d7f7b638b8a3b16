//! What a run cost, as `murmur sim` and `murmur swarm` print it.

use crate::table::Table;
use learn::data::Scaling;
use learn::personal::Measure;
use privacy::number::{Precision, given, near, up};
use protocol::Setup;
use protocol::account::{Coalition, Figure, Summary};
use protocol::personal::PersonalResult;
use protocol::work::Adjacency;

/// The analysis of noise that neighbours share.
const GOPA: &str = "gopa";

/// A heading and one row per watcher.
pub(crate) fn privacy_table(privacy: &Summary) -> String {
    let mut figures = Table::new(["who watches", "ε", "analysis"]);
    let mut row = |name: &str, loss: f64, analysis: &str| {
        figures.row([name.into(), epsilon(loss), analysis.to_owned()]);
    };
    row("worst pair", privacy.worst.epsilon, &privacy.worst.analysis);
    row("mean over pairs", privacy.mean.epsilon, &privacy.mean.analysis);
    // Without masks nothing better than the last row is known of any so many.
    let hidden = |any: &&Coalition| any.analysis == "masked" || any.analysis.starts_with(GOPA);
    let masked = privacy.coalition.as_ref().filter(hidden);
    if let Some(any) = masked {
        let who = match any.members {
            1 => "any one member".to_owned(),
            many => format!("any {many} together"),
        };
        row(&who, any.epsilon, &any.analysis);
    }
    // With masks, who sees every message sees the total alone.
    let all = if masked.is_some() { "breaks the masks" } else { "sees every message" };
    row(all, privacy.local.epsilon, &privacy.local.analysis);
    let assumed = masked.map_or_else(String::new, |any| {
        format!("{}: holds while X25519, HKDF-SHA256 and ChaCha20 do (computational DP)\n", any.analysis)
    });
    let left_over = privacy.left_over.filter(|&left| left > 0.0).map_or_else(String::new, |left| {
        let left = up(left, Precision::Digits(4));
        format!("pairwise noise that drop-outs left in the sum: {left} times the variance of one contribution's noise\n")
    });
    format!(
        "Privacy of one {} at δ = {}\n{}{assumed}{left_over}",
        unit(privacy.adjacency),
        given(privacy.delta),
        figures.render()
    )
}

/// `ε = 1.99 at δ = 1e-5 for one record, worst pair, by the analysis rounds`.
pub(crate) fn sentence(privacy: &Summary) -> String {
    let Figure { epsilon: worst, analysis, .. } = &privacy.worst;
    format!(
        "ε = {} at δ = {} for one {}, worst pair, by the analysis {analysis}",
        short_loss(*worst),
        given(privacy.delta),
        unit(privacy.adjacency)
    )
}

/// Means over nodes of each one's models on its own test part, with the worst tenth of the nodes.
pub(crate) fn personal_rows(personal: &PersonalResult) -> Vec<(&'static str, String)> {
    let (name, shown): (_, fn(f64) -> String) = match personal.measure() {
        Measure::Accuracy => ("own test parts", |part| format!("{:.1} %", 100.0 * part)),
        Measure::Rmse => ("own test parts, rmse", measured),
    };
    let text = |of: [f64; 3]| {
        let [own, shared, alone] = of.map(shown);
        format!("personal {own}, shared {shared}, alone {alone}")
    };
    vec![(name, text(personal.means())), ("  worst tenth", text(personal.worst_tenth()))]
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

/// Coordinates of a mean that are shown.
const MOST_MEANS: usize = 8;

/// The mean that a run came to, column by column, in the units of the data where declared bounds lead back to them.
pub(crate) fn mean_text(setup: &Setup, mean: &[f32]) -> String {
    let names = setup.train.first().and_then(|data| data.feature_names());
    let scaling = setup.config.data.scale.as_ref();
    let mut all_in_units = true;
    let shown = mean.iter().enumerate().take(MOST_MEANS).map(|(at, &value)| {
        let (name, value) = (names.and_then(|names| names.get(at)), f64::from(value));
        let back = |scaling: &Scaling| scaling.in_units_of_the_data(at, name.map(String::as_str), value);
        // What scaling says nothing of is as it was.
        let in_units = scaling.and_then(back);
        all_in_units &= scaling.is_none() || in_units.is_some();
        let text = near(in_units.unwrap_or(value), Precision::Digits(4));
        name.map_or_else(|| text.clone(), |name| format!("{name} {text}"))
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    let more = mean.len().saturating_sub(MOST_MEANS);
    let scaled = if all_in_units { "" } else { " (scaled as `data` says)" };
    if more > 0 { format!("{shown} and {more} more{scaled}") } else { format!("{shown}{scaled}") }
}

/// `1 round`, `2 rounds`.
pub(crate) fn rounds(count: u64) -> String {
    if count == 1 { "1 round".into() } else { format!("{count} rounds") }
}

/// What is protected.
fn unit(adjacency: Adjacency) -> &'static str {
    adjacency.word()
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
            coalition: None,
            left_over: None,
            local: figure(123.41),
            releases: 1,
            broken_rounds: 0,
        };
        assert_eq!(
            privacy_table(&privacy),
            "Privacy of one record at δ = 1e-5\n\
             who watches                ε  analysis\n\
             worst pair             2.445    rounds\n\
             mean over pairs     0.004322    rounds\n\
             sees every message     123.5    rounds\n"
        );
        let any = Coalition { epsilon: 3.2001, members: 5, analysis: "masked".into() };
        let masked = privacy_table(&Summary { coalition: Some(any), ..privacy.clone() });
        assert!(
            masked.contains("any 5 together")
                && masked.contains("3.201")
                && masked.contains("computational DP")
        );
        let any = Coalition { epsilon: 3.2, members: 1, analysis: "gopa".into() };
        let gopa = Summary { coalition: Some(any), left_over: Some(17.99991), ..privacy.clone() };
        let gopa = privacy_table(&gopa);
        assert!(gopa.contains("any one member") && gopa.contains("left in the sum: 18.00 times"), "{gopa}");
        assert_eq!(
            sentence(&privacy),
            "ε = 2.45 at δ = 1e-5 for one record, worst pair, by the analysis rounds"
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

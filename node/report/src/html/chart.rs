//! Curves over rounds.

use maud::{Markup, html};
use topology::svg::{Element, Svg};

use super::sections::figure;
use crate::document::{CurvePoint, Report};
use crate::number::{given, loss, measured};

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 130.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 34.0;

/// One curve: its name, its colour class, its points.
struct Series {
    name: &'static str,
    class: usize,
    points: Vec<(f64, f64)>,
}

/// ε of the worst pair, the mean and `local`, with the budget.
pub(super) fn epsilons(report: &Report) -> Markup {
    let series = [
        series(report, "worst pair", 0, |point| point.worst),
        series(report, "mean", 1, |point| point.mean),
        series(report, "local", 2, |point| point.local),
    ];
    let limit = report.nodes.first().and_then(|node| node.budget.epsilon);
    let last =
        |series: &Series| series.points.last().map(|&(_, value)| format!("{} {}", series.name, loss(value)));
    let ends: Vec<String> = series.iter().filter_map(last).collect();
    if ends.is_empty() || series.iter().all(|series| series.points.len() < 2) {
        return html! {};
    }
    let budget =
        limit.map(|limit| format!(" The dotted line is the budget, {}.", given(limit))).unwrap_or_default();
    let caption = format!("ε over the rounds; at the end: {}.{budget}", ends.join(", "));
    figure(plot("ε over the rounds", &caption, &series, limit), &caption)
}

/// Training loss and test accuracy, as far as they may be shown.
pub(super) fn learning(report: &Report) -> Markup {
    let series = [
        series(report, "training loss", 0, |point| point.train_loss),
        series(report, "test loss", 1, |point| point.test_loss),
        series(report, "test accuracy", 3, |point| point.test_acc),
    ];
    let last = |series: &Series| {
        series.points.last().map(|&(_, value)| format!("{} {}", series.name, measured(value)))
    };
    let ends: Vec<String> = series.iter().filter_map(last).collect();
    if series.iter().all(|series| series.points.len() < 2) {
        return html! {};
    }
    let caption = format!("Learning over the rounds; at the end: {}.", ends.join(", "));
    figure(plot("Learning over the rounds", &caption, &series, None), &caption)
}

fn series(report: &Report, name: &'static str, class: usize, pick: fn(&CurvePoint) -> Option<f64>) -> Series {
    let points = report.rounds.curve.points.iter();
    let points = points.filter_map(|point| Some((f64::from(point.round + 1), pick(point)?)));
    Series { name, class, points: points.filter(|(_, value)| value.is_finite()).collect() }
}

fn plot(title: &str, description: &str, series: &[Series], limit: Option<f64>) -> String {
    let all = || series.iter().flat_map(|series| series.points.iter().copied());
    let last = all().map(|(round, _)| round).fold(1.0, f64::max);
    let top = nice(all().map(|(_, value)| value).chain(limit).fold(0.0, f64::max));
    let low = all().map(|(_, value)| value).fold(0.0, f64::min);
    let x = |round: f64| LEFT + (round - 1.0) / (last - 1.0).max(1.0) * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| TOP + (top - value) / (top - low).max(1e-300) * (HEIGHT - TOP - BOTTOM);
    let mut svg = Svg::new(WIDTH, HEIGHT).title(title).description(description);
    for part in 0..=4 {
        let value = low + (top - low) * f64::from(part) / 4.0;
        svg.add(path("axis", &[(LEFT, y(value)), (WIDTH - RIGHT, y(value))]));
        let label = Element::label(LEFT - 8.0, y(value) + 4.0, &short(value));
        svg.add(label.attribute("class", "tick").attribute("text-anchor", "end"));
    }
    for part in 0..=4 {
        let round = (1.0 + (last - 1.0) * f64::from(part) / 4.0).round();
        let label = Element::label(x(round), HEIGHT - 12.0, &short(round));
        svg.add(label.attribute("class", "tick").attribute("text-anchor", "middle"));
    }
    if let Some(limit) = limit {
        svg.add(path("limit", &[(LEFT, y(limit)), (WIDTH - RIGHT, y(limit))]));
    }
    let mut taken: Vec<f64> = Vec::new();
    for series in series.iter().filter(|series| !series.points.is_empty()) {
        let places: Vec<(f64, f64)> =
            series.points.iter().map(|&(round, value)| (x(round), y(value))).collect();
        svg.add(path(&format!("line c{}", series.class), &places));
        let mut at = places.last().map_or(TOP, |place| place.1) + 4.0;
        // Names that would lie on each other move down.
        while taken.iter().any(|other| (other - at).abs() < 15.0) {
            at += 15.0;
        }
        taken.push(at);
        svg.add(
            Element::label(WIDTH - RIGHT + 8.0, at, series.name)
                .attribute("class", format!("key t{}", series.class)),
        );
    }
    svg.render()
}

fn path(class: &str, places: &[(f64, f64)]) -> Element {
    let number = topology::svg::number;
    let text: Vec<String> = places
        .iter()
        .enumerate()
        .map(|(at, &(x, y))| format!("{}{} {}", if at == 0 { "M" } else { "L" }, number(x), number(y)))
        .collect();
    Element::new("path").attribute("class", class).attribute("d", text.concat())
}

/// The next of 1, 2, 2.5, 5, 10 times a power of ten.
fn nice(value: f64) -> f64 {
    if !value.is_finite() || value <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(value.log10().floor());
    [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0]
        .into_iter()
        .map(|step| step * power)
        .find(|&step| step >= value * (1.0 - 1e-12))
        .unwrap_or(10.0 * power)
}

fn short(value: f64) -> String {
    let text = if value.abs() >= 100.0 { format!("{value:.0}") } else { format!("{value:.3}") };
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

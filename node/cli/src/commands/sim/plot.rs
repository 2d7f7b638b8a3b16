//! Accuracy against ε: a point for each combination, with the spread over its seeds; a curve for each combination of what else was swept.

use std::collections::BTreeMap;

use sim::sweep::Summary;
use topology::colour_at;
use topology::svg::{Element, Svg};

use crate::figures::short_loss;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 200.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 56.0;
/// Half the width of the bar at the end of a spread.
const CAP: f64 = 4.0;
/// Keys that move a point along the axis and make no curve of their own.
const ALONG: [&str; 2] = ["privacy.epsilon", "privacy.noise_multiplier"];
const STYLE: &str = "text{font:13px sans-serif;fill:#333} .axis{stroke:#ddd} .line{fill:none;stroke-width:2} .free{stroke-dasharray:4 4}";

/// One point: ε of the worst pair, accuracy, its spread.
type Place = (f64, f64, f64);

/// The picture; `None` where no point has an accuracy.
pub(super) fn svg(summaries: &[Summary]) -> Option<String> {
    let curves = curves(summaries);
    let all = || curves.values().flatten().copied();
    let ends = |pick: fn(Place) -> f64| {
        let values = all().map(pick).filter(|value| value.is_finite());
        values.fold(None, |ends: Option<(f64, f64)>, value| {
            Some(ends.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
        })
    };
    ends(|place| place.1)?;
    // Without any finite ε there is nothing to spread over: all curves are the dashed lines of no privacy.
    let (near, far) = ends(|place| place.0).unwrap_or((1.0, 1.0));
    let logarithmic = near > 0.0 && far / near > 8.0;
    let scale = |epsilon: f64| if logarithmic { epsilon.ln() } else { epsilon };
    let (from, to) = if logarithmic { (near.ln(), far.ln()) } else { (0.0, far * 1.05) };
    let x = |epsilon: f64| {
        rounded(LEFT + (scale(epsilon) - from) / (to - from).max(1e-12) * (WIDTH - LEFT - RIGHT))
    };
    let low =
        (all().map(|(_, accuracy, spread)| accuracy - spread).fold(1.0, f64::min) * 10.0).floor().max(0.0)
            / 10.0;
    let y = |accuracy: f64| rounded(TOP + (1.0 - accuracy) / (1.0 - low).max(0.1) * (HEIGHT - TOP - BOTTOM));
    let mut picture =
        Svg::new(WIDTH, HEIGHT).title("Accuracy against ε").description(describe(&curves)).style(STYLE);
    frame(&mut picture, (near, far, logarithmic), low, (&x, &y));
    for (at, (name, places)) in curves.iter().enumerate() {
        let colour = colour_at((at as f64 + 0.5) / curves.len() as f64);
        curve(&mut picture, places, &colour, (&x, &y));
        let top = TOP + 20.0 * at as f64;
        let line = Element::new("path").attribute("class", "line").attribute("stroke", colour.clone());
        picture.add(line.attribute("d", format!("M{} {top}h20", WIDTH - RIGHT + 16.0)));
        picture.add(Element::label(
            WIDTH - RIGHT + 42.0,
            top + 4.0,
            if name.is_empty() { "accuracy" } else { name },
        ));
    }
    Some(picture.render())
}

/// To a hundredth of a pixel.
fn rounded(place: f64) -> f64 {
    (place * 100.0).round() / 100.0
}

/// The points by what else was swept, by rising ε.
fn curves(summaries: &[Summary]) -> BTreeMap<String, Vec<Place>> {
    let mut curves: BTreeMap<String, Vec<Place>> = BTreeMap::new();
    for summary in summaries {
        let Some(accuracy) = &summary.test_acc else { continue };
        // Without noise there is no figure, and no mean of figures.
        let epsilon = summary.epsilon_worst.as_ref().map_or(f64::INFINITY, |epsilon| epsilon.mean);
        let others = summary.set.0.iter().filter(|(key, _)| !ALONG.contains(&key.as_str()));
        let name = others.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ");
        curves.entry(name).or_default().push((epsilon, accuracy.mean, accuracy.spread));
    }
    curves.values_mut().for_each(|places| places.sort_by(|left, right| left.0.total_cmp(&right.0)));
    curves
}

fn describe(curves: &BTreeMap<String, Vec<Place>>) -> String {
    let places = curves.iter().flat_map(|(name, places)| places.iter().map(move |place| (name, place)));
    let told = places.map(|(name, (epsilon, accuracy, spread))| {
        format!("{name} ε {}: {:.1} ± {:.1} %", short_loss(*epsilon), 100.0 * accuracy, 100.0 * spread)
    });
    told.collect::<Vec<_>>().join("; ")
}

type Scale<'a> = &'a dyn Fn(f64) -> f64;

fn frame(
    picture: &mut Svg,
    (near, far, logarithmic): (f64, f64, bool),
    low: f64,
    (x, y): (Scale<'_>, Scale<'_>),
) {
    for part in 0..=4 {
        let share = f64::from(part) / 4.0;
        let accuracy = low + (1.0 - low) * share;
        let line = Element::new("path").attribute("class", "axis");
        picture.add(line.attribute("d", format!("M{LEFT} {}H{}", y(accuracy), WIDTH - RIGHT)));
        let label = Element::label(LEFT - 8.0, y(accuracy) + 4.0, &format!("{:.0} %", 100.0 * accuracy));
        picture.add(label.attribute("text-anchor", "end"));
        let epsilon = if logarithmic { near * (far / near).powf(share) } else { far * 1.05 * share };
        let label = Element::label(x(epsilon), HEIGHT - BOTTOM + 20.0, &format!("{epsilon:.3}"));
        picture.add(label.attribute("text-anchor", "middle"));
    }
    let middle = (LEFT + WIDTH - RIGHT) / 2.0;
    let label = Element::label(
        middle,
        HEIGHT - 12.0,
        "ε of the worst pair; bars: standard deviation over seeds; dashed: no noise",
    );
    picture.add(label.attribute("text-anchor", "middle"));
    picture.add(Element::label(
        LEFT,
        20.0,
        "Test accuracy. Simulations with seeded noise: ε is what real runs would cost.",
    ));
}

fn curve(picture: &mut Svg, places: &[Place], colour: &str, (x, y): (Scale<'_>, Scale<'_>)) {
    let line = |class: &str, way: String| {
        Element::new("path").attribute("class", class).attribute("stroke", colour).attribute("d", way)
    };
    let (real, free): (Vec<Place>, Vec<Place>) = places.iter().partition(|place| place.0.is_finite());
    let way: Vec<String> = real.iter().map(|place| format!("{} {}", x(place.0), y(place.1))).collect();
    if way.len() > 1 {
        picture.add(line("line", format!("M{}", way.join("L"))));
    }
    for (epsilon, accuracy, spread) in real {
        let (across, top, bottom) = (x(epsilon), y(accuracy + spread), y(accuracy - spread));
        let (left, right) = (across - CAP, across + CAP);
        picture.add(line(
            "line",
            format!("M{across} {top}V{bottom}M{left} {top}H{right}M{left} {bottom}H{right}"),
        ));
        let dot = Element::new("circle").number("cx", across).number("cy", y(accuracy)).number("r", 3.5);
        picture.add(dot.attribute("fill", colour));
    }
    for (_, accuracy, _) in free {
        picture.add(line("line free", format!("M{LEFT} {}H{}", y(accuracy), WIDTH - RIGHT)));
    }
}

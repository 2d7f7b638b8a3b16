//! The bar that explains the colours.

use super::Colouring;
use super::colour::{Range, colour_at, short};
use crate::svg::{Element, number};

/// Room that the legend takes below the drawing.
pub(super) const HEIGHT: f64 = 64.0;

const BAR: f64 = 320.0;

/// A gradient with five ticks, what it means above it, and a grey key where some nodes have no value.
pub(super) fn legend(colouring: &Colouring<'_>, range: &Range, top: f64, width: f64) -> Element {
    let left = (width - BAR) / 2.0;
    let mut gradient = Element::new("linearGradient").attribute("id", "scale");
    for step in 0..=16 {
        let share = f64::from(step) / 16.0;
        gradient = gradient
            .child(Element::new("stop").number("offset", share).attribute("stop-color", colour_at(share)));
    }
    let bar = Element::new("rect").attribute("fill", "url(#scale)").attribute("rx", "2");
    let mut legend = Element::group("name")
        .attribute("font-size", "13")
        .attribute("text-anchor", "middle")
        .child(Element::new("defs").child(gradient))
        .child(Element::label(width / 2.0, top + 12.0, colouring.legend))
        .child(place(bar, left, top + 22.0, BAR, 12.0));
    let ticks: &[f64] = if range.low < range.high { &[0.0, 0.25, 0.5, 0.75, 1.0] } else { &[0.5] };
    for &share in ticks {
        legend.push(Element::label(left + share * BAR, top + 52.0, &short(range.value_at(share))));
    }
    if colouring.values.iter().any(|&value| range.share(value).is_none()) {
        let key = Element::new("rect").attribute("class", "unknown").attribute("rx", "2");
        legend.push(place(key, left + BAR + 28.0, top + 22.0, 12.0, 12.0));
        let text = Element::label(left + BAR + 46.0, top + 32.5, "none").attribute("text-anchor", "start");
        legend.push(text);
    }
    legend
}

fn place(element: Element, x: f64, y: f64, width: f64, height: f64) -> Element {
    let sides = [("x", x), ("y", y), ("width", width), ("height", height)];
    sides.into_iter().fold(element, |element, (name, value)| element.attribute(name, number(value)))
}

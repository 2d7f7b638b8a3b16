//! Pairwise ε as a picture: a heat map of all pairs, or the graph coloured by what one watcher sees.

use super::numbers::{plain, rounded_up};
use crate::failure::{Failure, Result};
use privacy::question::Network;
use privacy::question::pairwise::Answer;
use topology::svg::{Element, Svg};
use topology::{Colouring, Drawing, Scale, colour_at};

/// Most rows or columns of a heat map; more are thinned out, keeping the largest value of each cell.
const MOST_CELLS: usize = 400;

/// Side of the square of cells in pixels.
const SIDE: f64 = 720.0;

const STYLE: &str = ".bg{fill:#fff}.ink{fill:#1c2430}.own{fill:#e3e7ee}\
text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}\
@media (prefers-color-scheme:dark){.bg{fill:#12161d}.ink{fill:#e6ebf3}.own{fill:#2a313d}}";

/// The graph seen from one watcher where there is one, a heat map else.
pub(super) fn picture(pairs: &Answer) -> Result<String> {
    let title = format!("ε at δ = {} by the analysis {}", plain(pairs.delta), pairs.analysis);
    match (&pairs.network, pairs.coalitions.as_slice()) {
        (Some(network), [watchers]) => {
            let values = pairs.epsilon.row(0).to_vec();
            let names: Vec<String> = watchers.members().iter().map(|&node| pairs.label(node)).collect();
            let seen = format!(
                "ε seen by {} (δ = {}, analysis {})",
                names.join(" and "),
                plain(pairs.delta),
                pairs.analysis
            );
            let colouring = Colouring { values: &values, ends: None, legend: &seen, scale: Scale::Linear };
            let mut drawing =
                Drawing::new(network.graph()).title(title).colour(colouring).highlight(watchers.members()[0]);
            if let Network::Built(built) = network {
                drawing = drawing.places(topology::layout::of_spec(&built.0, &built.1));
            }
            Ok(drawing.to_svg())
        }
        _ if pairs.epsilon.is_empty() => Err(Failure::new("there is no pair to draw")),
        _ => Ok(heat_map(pairs, &title)),
    }
}

fn heat_map(pairs: &Answer, title: &str) -> String {
    let (rows, columns) = (pairs.coalitions.len(), pairs.nodes);
    let most = pairs.epsilon.iter().fold(0.0f64, |a, &b| a.max(b)).max(f64::MIN_POSITIVE);
    let grid = (rows.min(MOST_CELLS), columns.min(MOST_CELLS));
    let (width, height) = (SIDE / grid.1 as f64, SIDE * rows as f64 / columns as f64 / grid.0 as f64);
    let height = height.max(2.0);
    let (left, top) = (70.0, 64.0);
    let total_height = top + height * grid.0 as f64 + 70.0;
    let description = format!(
        "Heat map of {rows} watchers (rows) and {columns} nodes (columns); the largest ε is {}.",
        rounded_up(most)
    );
    let mut svg =
        Svg::new(left + SIDE + 30.0, total_height).title(title).description(description).style(STYLE);
    let backdrop =
        Element::new("rect").attribute("class", "bg").attribute("width", "100%").attribute("height", "100%");
    svg.add(backdrop);
    let mut cells = Element::group("cells").attribute("shape-rendering", "crispEdges");
    for i in 0..grid.0 {
        for j in 0..grid.1 {
            let range = |at: usize, all: usize, shown: usize| at * all / shown..(at + 1) * all / shown;
            let value = largest(pairs, range(i, rows, grid.0), range(j, columns, grid.1));
            let cell = Element::new("rect")
                .number("x", left + j as f64 * width)
                .number("y", top + i as f64 * height);
            let cell = cell.number("width", width).number("height", height);
            cells.push(match value {
                Some(epsilon) => cell.attribute("fill", colour_at(epsilon / most)),
                None => cell.attribute("class", "own"),
            });
        }
    }
    svg.add(cells);
    add_words(&mut svg, title, (left, top, height * grid.0 as f64), most);
    svg.render()
}

/// The largest ε of a cell; none where it holds the watchers' own entries only.
fn largest(pairs: &Answer, rows: std::ops::Range<usize>, columns: std::ops::Range<usize>) -> Option<f64> {
    let entries = rows.flat_map(|row| columns.clone().map(move |column| (row, column)));
    let others = entries.filter(|&(row, column)| !pairs.coalitions[row].contains(column));
    others.map(|(row, column)| pairs.epsilon[[row, column]]).reduce(f64::max)
}

fn add_words(svg: &mut Svg, title: &str, (left, top, height): (f64, f64, f64), most: f64) {
    let word = |x: f64, y: f64, text: &str, size: f64| {
        Element::label(x, y, text).attribute("class", "ink").number("font-size", size)
    };
    svg.add(word(left, 28.0, title, 17.0));
    svg.add(word(left, top - 12.0, "node that is watched →", 13.0));
    svg.add(word(4.0, top + 14.0, "watcher ↓", 13.0));
    let (bar, steps) = (220.0, 44);
    let y = top + height + 20.0;
    for step in 0..steps {
        let share = f64::from(step) / f64::from(steps - 1);
        let piece = Element::new("rect").number("x", left + share * bar).number("y", y);
        svg.add(
            piece
                .number("width", bar / f64::from(steps) + 1.0)
                .number("height", 12.0)
                .attribute("fill", colour_at(share)),
        );
    }
    svg.add(word(left, y + 30.0, "0", 12.0));
    svg.add(word(left + bar - 10.0, y + 30.0, &rounded_up(most), 12.0));
}

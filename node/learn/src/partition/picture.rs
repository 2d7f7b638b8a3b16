//! Labels by node as a picture: one bar per node, stacked by class.

use topology::colour_at;
use topology::svg::{Element, Svg, number};

use super::skew::LabelTable;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 420.0;
/// The rectangle that the bars stand in.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 720.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 368.0;

/// Most bars: more would be thinner than a pixel.
const MAX_BARS: usize = 400;

/// Most names in the legend.
const MAX_NAMES: usize = 16;

/// Ten colours that differ also for most colour-blind eyes and stand out on light and dark ground.
const COLOURS: [&str; 10] = [
    "#4e79a7", "#f28e2b", "#e15759", "#76b7b2", "#59a14f", "#edc948", "#b07aa1", "#ff9da7", "#9c755f",
    "#bab0ac",
];

const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#1c2430}.heading{font-size:15px;font-weight:600}\
.bg{fill:#fff}.grid{stroke:#d8dde5;stroke-width:1}.axis{stroke:#3b4a63;stroke-width:1}.end{text-anchor:end}\
.middle{text-anchor:middle}\
@media (prefers-color-scheme:dark){text{fill:#e6ebf3}.bg{fill:#12161d}.grid{stroke:#2b333f}.axis{stroke:#a9b8d0}}";

impl LabelTable {
    /// An SVG picture with one bar per node, stacked by class (the first 400 nodes, where there are more).
    pub fn svg(&self, title: &str) -> String {
        let description = format!(
            "{} records of {} nodes by label, one stacked bar per node; label skew {:.3}",
            self.sizes.iter().sum::<usize>(),
            self.sizes.len(),
            self.label_skew()
        );
        let mut picture = Svg::new(WIDTH, HEIGHT).title(title).description(description).style(STYLE);
        let ground = Element::new("rect").attribute("class", "bg");
        picture.add(ground.number("width", WIDTH).number("height", HEIGHT));
        picture.add(Element::label(LEFT, 28.0, &shortened(title, 96)).attribute("class", "heading"));
        let scale = Scale::new(self.sizes.iter().take(MAX_BARS).copied().max().unwrap_or(1));
        picture.add(scale.grid());
        picture.add(self.bars(&scale));
        picture.add(self.node_names());
        picture.add(self.legend());
        picture.render()
    }

    fn bars(&self, scale: &Scale) -> Element {
        let mut bars = Element::group("bars");
        for (node, row) in self.counts.iter().take(MAX_BARS).enumerate() {
            let mut below = 0;
            for (class, &count) in row.iter().enumerate().filter(|(_, count)| **count > 0) {
                let (top, bottom) = (scale.y(below + count), scale.y(below));
                let tip = format!(
                    "node {}, {}: {count} of {}",
                    self.nodes[node], self.columns[class], self.sizes[node]
                );
                let bar = Element::new("rect")
                    .number("x", self.slot() * node as f64 + LEFT + self.gap() / 2.0)
                    .number("y", top)
                    .number("width", self.slot() - self.gap())
                    .number("height", bottom - top)
                    .attribute("fill", self.colour(class));
                bars.push(bar.child(Element::new("title").text(&tip)));
                below += count;
            }
        }
        bars
    }

    fn node_names(&self) -> Element {
        let shown = self.sizes.len().min(MAX_BARS);
        // A letter takes about eight pixels.
        let longest = self.nodes.iter().take(shown).map(|name| name.chars().count()).max().unwrap_or(1);
        let every = nice_step(8.0 * longest.clamp(3, 12) as f64 / self.slot());
        let mut names = Element::group("nodes");
        for node in (0..shown).step_by(every) {
            let x = LEFT + self.slot() * (node as f64 + 0.5);
            names.push(
                Element::label(x, BOTTOM + 18.0, &shortened(&self.nodes[node], 12))
                    .attribute("class", "middle"),
            );
        }
        let axis = match self.sizes.len() {
            all if all > MAX_BARS => format!("node (the first {MAX_BARS} of {all})"),
            _ => "node".to_string(),
        };
        let middle = (LEFT + RIGHT) / 2.0;
        names.child(Element::label(middle, BOTTOM + 40.0, &axis).attribute("class", "middle"))
    }

    fn legend(&self) -> Element {
        let mut legend = Element::group("legend");
        let shown = if self.columns.len() > MAX_NAMES { MAX_NAMES - 1 } else { self.columns.len() };
        for (class, name) in self.columns.iter().take(shown).enumerate() {
            let y = TOP + 20.0 * class as f64;
            let patch = Element::new("rect").number("x", RIGHT + 24.0).number("y", y);
            let patch = patch.number("width", 12.0).number("height", 12.0);
            legend.push(patch.attribute("fill", self.colour(class)));
            legend.push(Element::label(RIGHT + 42.0, y + 10.0, &shortened(name, 20)));
        }
        if shown < self.columns.len() {
            let rest = format!("and {} more", self.columns.len() - shown);
            legend.push(Element::label(RIGHT + 42.0, TOP + 20.0 * shown as f64 + 10.0, &rest));
        }
        legend
    }

    /// Width of the place of one bar.
    fn slot(&self) -> f64 {
        (RIGHT - LEFT) / self.sizes.len().clamp(1, MAX_BARS) as f64
    }

    /// Space between two bars; none where bars are a few pixels thin.
    fn gap(&self) -> f64 {
        if self.slot() < 4.0 { 0.0 } else { (0.25 * self.slot()).min(8.0) }
    }

    /// Ranges of a number go from dark to bright, classes have colours of their own.
    fn colour(&self, class: usize) -> String {
        let classes = self.columns.len();
        if self.ordered {
            return colour_at(class as f64 / (classes - 1).max(1) as f64);
        }
        if classes <= COLOURS.len() {
            return COLOURS[class].to_string();
        }
        // Turning by the golden angle keeps neighbours apart however many there are.
        let hue = class * 1375 % 3600 / 10;
        let light = [45, 60, 70][class % 3];
        format!("hsl({hue},55%,{light}%)")
    }
}

/// From records to pixels.
struct Scale {
    top: usize,
    step: usize,
}

impl Scale {
    fn new(largest: usize) -> Self {
        let step = nice_step(largest as f64 / 5.0);
        Self { top: largest.div_ceil(step).max(1) * step, step }
    }

    fn y(&self, records: usize) -> f64 {
        BOTTOM - (BOTTOM - TOP) * records as f64 / self.top as f64
    }

    fn grid(&self) -> Element {
        let mut grid = Element::group("records");
        for records in (0..=self.top).step_by(self.step) {
            let y = self.y(records);
            let line = Element::new("path").attribute("d", format!("M{LEFT} {}H{RIGHT}", number(y)));
            grid.push(line.attribute("class", if records == 0 { "axis" } else { "grid" }));
            grid.push(Element::label(LEFT - 8.0, y + 4.0, &records.to_string()).attribute("class", "end"));
        }
        let middle = number((TOP + BOTTOM) / 2.0);
        let axis = Element::new("text").attribute("transform", format!("translate(16 {middle}) rotate(-90)"));
        grid.child(axis.attribute("class", "middle").text("records"))
    }
}

/// The smallest of 1, 2, 5, 10, 20, 50, … that is at least `wanted`.
fn nice_step(wanted: f64) -> usize {
    let mut ten = 1usize;
    loop {
        for step in [ten, 2 * ten, 5 * ten] {
            if step as f64 >= wanted || ten > usize::MAX / 100 {
                return step;
            }
        }
        ten *= 10;
    }
}

/// At most `length` letters, with a sign where some are missing.
fn shortened(name: &str, length: usize) -> String {
    if name.chars().count() <= length {
        return name.to_string();
    }
    name.chars().take(length - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(counts: Vec<Vec<usize>>) -> LabelTable {
        let sizes = counts.iter().map(|row| row.iter().sum()).collect();
        let columns = (0..counts[0].len()).map(|i| format!("<c{i}>")).collect();
        let nodes = (0..counts.len()).map(|node| node.to_string()).collect();
        LabelTable { columns, nodes, counts, sizes, ordered: false }
    }

    #[test]
    fn steps_are_one_two_or_five_times_a_power_of_ten() {
        assert_eq!([0.3, 1.0, 1.1, 4.0, 5.1, 36.0, 1e5].map(nice_step), [1, 1, 2, 5, 10, 50, 100_000]);
    }

    #[test]
    fn there_is_one_bar_for_each_node_and_class_that_it_has() {
        let picture = table(vec![vec![3, 0, 2], vec![0, 4, 0]]).svg("t");
        assert_eq!(picture.matches("<title>node").count(), 3);
        assert!(picture.contains("node 0, &lt;c2&gt;: 2 of 5"), "{picture}");
    }

    #[test]
    fn bars_of_a_node_are_as_high_as_its_records_and_touch() {
        // The scale ends at 10 records, 320 pixels above the axis.
        let scale = Scale::new(10);
        assert_eq!((scale.y(0), scale.y(10), scale.y(5)), (BOTTOM, TOP, (TOP + BOTTOM) / 2.0));
        let picture = table(vec![vec![5, 5]]).svg("t");
        assert!(picture.contains(r#"y="208" width="648" height="160""#), "{picture}");
        assert!(picture.contains(r#"y="48" width="648" height="160""#), "{picture}");
    }

    #[test]
    fn many_nodes_and_classes_are_cut_and_counted() {
        let picture = table(vec![vec![1; 30]; 500]).svg("t");
        assert!(picture.contains("the first 400 of 500") && picture.contains("and 15 more"));
    }
}

//! Histograms, curves and tables as pictures: in the terminal, and as SVG.

use questions::answer::{Answer, Answers, Figure};
use questions::language::ast::Kind;
use questions::plan::QuestionPlan;
use topology::svg::{Element, Svg};

use super::table::short_to;
use crate::table::Table;

/// Characters of the longest bar.
const BAR: f64 = 40.0;

/// A list or table in the terminal.
pub(super) fn terminal(answer: &Answer) -> String {
    match &answer.value {
        Some(Figure::List(values)) => list(answer, values),
        Some(Figure::Table(rows)) => rows_text(answer, rows),
        Some(Figure::Tables(tables)) => {
            let named = answer.labels.iter().zip(tables);
            named.map(|(name, rows)| format!("{name}\n{}", plain_rows(rows))).collect()
        }
        _ => format!("{}\n", answer.note.clone().unwrap_or_default()),
    }
}

fn list(answer: &Answer, values: &[f64]) -> String {
    let most = values.iter().copied().fold(0.0, f64::max);
    let part = |figure: &Option<Figure>, at: usize| {
        figure.as_ref().and_then(|figure| figure.numbers().get(at).copied())
    };
    // The truth stands there in a simulation only.
    let truth = answer.truth.as_ref().map(|_| "truth");
    let mut table = Table::new(["", "value", "from", "to"].into_iter().chain(truth).chain([" "]));
    for (at, value) in values.iter().enumerate() {
        let number =
            |figure: &Option<Figure>| part(figure, at).map_or_else(|| "–".into(), |x| short_to(x, 4));
        let length = if most > 0.0 { (value.max(0.0) / most * BAR).round() as usize } else { 0 };
        let cells = [answer.cell_name(at), short_to(*value, 4), number(&answer.low), number(&answer.high)];
        let truth = truth.map(|_| number(&answer.truth));
        table.row(cells.into_iter().chain(truth).chain([format!("{:<40}", "█".repeat(length))]));
    }
    table.render()
}

fn rows_text(answer: &Answer, rows: &[Vec<f64>]) -> String {
    let heading = std::iter::once("").chain(answer.columns.iter().map(String::as_str));
    let mut table = Table::new(heading);
    for (name, row) in answer.labels.iter().zip(rows) {
        table.row(std::iter::once(name.clone()).chain(row.iter().map(|x| short_to(*x, 4))));
    }
    let more: Vec<String> =
        answer.more.iter().map(|(name, x)| format!("{name} {}", short_to(*x, 3))).collect();
    let more = if more.is_empty() { String::new() } else { format!("{}\n", more.join(", ")) };
    table.render() + &more
}

fn plain_rows(rows: &[Vec<f64>]) -> String {
    let mut table = Table::new([]);
    rows.iter().for_each(|row| table.row(row.iter().map(|x| short_to(*x, 4))));
    table.render()
}

const STYLE: &str = "text{font:12px sans-serif;fill:#333}.bar{fill:#4a7ab5}.line{fill:none;stroke:#4a7ab5;stroke-width:2}\
.band{fill:#4a7ab5;opacity:.25}.error{stroke:#222;stroke-width:1}.truth{fill:none;stroke:#c33;stroke-dasharray:4 3}\
@media(prefers-color-scheme:dark){text{fill:#ddd}.error{stroke:#eee}}";

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const MARGIN: f64 = 56.0;

/// The first answer that can be drawn.
pub(super) fn svg(plan: &QuestionPlan, answers: &Answers) -> Option<String> {
    for line in &answers.lines {
        for (aggregate, answer) in plan.question.aggregates.iter().zip(&line.answers) {
            let title = format!("{} {}", aggregate.written, line.group.join(" "));
            let picture = match (&aggregate.kind, &answer.value) {
                (Kind::Survival(..), Some(Figure::List(values))) => curve(&title, answer, values),
                (_, Some(Figure::List(values))) => bars(&title, answer, values),
                (_, Some(Figure::Table(rows))) => heat(&title, answer, rows),
                _ => continue,
            };
            return Some(picture.render());
        }
    }
    None
}

fn frame(title: &str) -> Svg {
    let mut svg = Svg::new(WIDTH, HEIGHT).title(title.trim()).style(STYLE);
    svg.add(Element::label(MARGIN, 24.0, title.trim()));
    svg
}

/// Where the figures of an answer stand between 0 and the largest.
struct Scale {
    most: f64,
}

impl Scale {
    fn y(&self, value: f64) -> f64 {
        HEIGHT - MARGIN - (value / self.most).clamp(0.0, 1.1) * (HEIGHT - 2.0 * MARGIN)
    }
}

fn ends(answer: &Answer) -> (Vec<f64>, Vec<f64>) {
    let numbers = |figure: &Option<Figure>| figure.as_ref().map_or_else(Vec::new, Figure::numbers);
    (numbers(&answer.low), numbers(&answer.high))
}

fn bars(title: &str, answer: &Answer, values: &[f64]) -> Svg {
    let (low, high) = ends(answer);
    let scale = Scale { most: high.iter().chain(values).copied().fold(1e-12, f64::max) };
    let step = (WIDTH - 2.0 * MARGIN) / values.len() as f64;
    let mut svg = frame(title);
    for (at, value) in values.iter().enumerate() {
        let x = MARGIN + at as f64 * step;
        let (top, bottom) = (scale.y(value.max(0.0)), scale.y(0.0));
        let bar = Element::new("rect").attribute("class", "bar").number("x", x + 1.0).number("y", top);
        svg.add(bar.number("width", (step - 2.0).max(0.5)).number("height", (bottom - top).max(0.0)));
        let middle = x + step / 2.0;
        let error =
            Element::new("line").attribute("class", "error").number("x1", middle).number("x2", middle);
        svg.add(error.number("y1", scale.y(low[at].max(0.0))).number("y2", scale.y(high[at].max(0.0))));
        if values.len() <= 16 {
            let label = Element::label(middle, HEIGHT - MARGIN + 18.0, &answer.cell_name(at));
            svg.add(label.attribute("text-anchor", "middle"));
        }
    }
    svg.add(Element::label(8.0, scale.y(scale.most), &short_to(scale.most, 3)));
    svg
}

fn curve(title: &str, answer: &Answer, values: &[f64]) -> Svg {
    let (low, high) = ends(answer);
    let scale = Scale { most: 1.0 };
    let x = |at: usize| MARGIN + at as f64 * (WIDTH - 2.0 * MARGIN) / values.len() as f64;
    // Everybody is alive at the beginning.
    let path = |values: &[f64]| -> Vec<String> {
        std::iter::once(&1.0)
            .chain(values)
            .enumerate()
            .map(|(at, value)| format!("{:.2},{:.2}", x(at), scale.y(value.clamp(0.0, 1.0))))
            .collect()
    };
    let mut svg = frame(title);
    let band: Vec<String> = path(&high).into_iter().chain(path(&low).into_iter().rev()).collect();
    svg.add(Element::new("polygon").attribute("class", "band").attribute("points", band.join(" ")));
    svg.add(Element::new("polyline").attribute("class", "line").attribute("points", path(values).join(" ")));
    if let Some(truth) = &answer.truth {
        let points = path(&truth.numbers()).join(" ");
        svg.add(Element::new("polyline").attribute("class", "truth").attribute("points", points));
    }
    for at in [0, values.len() / 2, values.len()] {
        let name = if at == 0 { String::new() } else { answer.cell_name(at - 1) };
        svg.add(Element::label(x(at), HEIGHT - MARGIN + 18.0, &name).attribute("text-anchor", "middle"));
    }
    svg.add(Element::label(24.0, scale.y(1.0), "1"));
    svg.add(Element::label(24.0, scale.y(0.0), "0"));
    svg
}

fn heat(title: &str, answer: &Answer, rows: &[Vec<f64>]) -> Svg {
    let most = rows.iter().flatten().copied().fold(1e-12, f64::max);
    let columns = rows.first().map_or(1, Vec::len).max(1);
    let (width, height) =
        ((WIDTH - 2.0 * MARGIN) / columns as f64, (HEIGHT - 2.0 * MARGIN) / rows.len().max(1) as f64);
    let mut svg = frame(title);
    for (i, row) in rows.iter().enumerate() {
        for (j, value) in row.iter().enumerate() {
            let (x, y) = (MARGIN + j as f64 * width, MARGIN + i as f64 * height);
            let cell = Element::new("rect")
                .number("x", x)
                .number("y", y)
                .number("width", width)
                .number("height", height);
            svg.add(cell.attribute("class", "bar").number("opacity", (value / most).clamp(0.0, 1.0)));
        }
        if let Some(name) = answer.labels.get(i) {
            svg.add(Element::label(4.0, MARGIN + (i as f64 + 0.6) * height, name));
        }
    }
    for (j, name) in answer.columns.iter().enumerate() {
        let label = Element::label(MARGIN + (j as f64 + 0.5) * width, HEIGHT - MARGIN + 18.0, name);
        svg.add(label.attribute("text-anchor", "middle"));
    }
    svg
}

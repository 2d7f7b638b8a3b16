//! `audit.svg`: for each finding a bar up to what was proved, and a mark at what the account allows.

use privacy::number::given;
use topology::svg::{Element, Svg};

use crate::finding::{Audit, Finding};

use super::{at_least, bound};

const WIDTH: f64 = 860.0;
const LEFT: f64 = 250.0;
const RIGHT: f64 = 130.0;
const TOP: f64 = 84.0;
const LINE: f64 = 38.0;
/// Steps of the axis at most.
const STEPS: f64 = 5.0;

const STYLE: &str = ".bg{fill:#fff}.ink{fill:#1c2430}.soft{fill:#5b6675}.low{fill:#3b76c4}.bad{fill:#c43b3b}.gauss{fill:#3b76c4;opacity:.3}\
.up{stroke:#1c2430;stroke-width:3}.grid{stroke:#e3e7ee}\
text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}\
@media (prefers-color-scheme:dark){.bg{fill:#12161d}.ink{fill:#e6ebf3}.soft{fill:#9aa5b5}.up{stroke:#e6ebf3}.grid{stroke:#2a313d}}";

/// The report as a picture.
pub fn picture(report: &Audit) -> String {
    let shown: Vec<&Finding> = report.findings.iter().filter(|finding| finding.lower.is_some()).collect();
    let most = shown.iter().map(|finding| largest(finding)).fold(0.0, f64::max).max(1e-3);
    let axis = Axis::to(most);
    let height = TOP + LINE * shown.len() as f64 + 78.0;
    let title = format!("Audit of {}: {}", report.run, report.verdict.words());
    let description = format!(
        "{} findings: bars are lower bounds on ε from attacks, marks the account's upper bounds.",
        shown.len()
    );
    let mut svg = Svg::new(WIDTH, height).title(&title).description(description).style(STYLE);
    svg.add(
        Element::new("rect").attribute("class", "bg").attribute("width", "100%").attribute("height", "100%"),
    );
    svg.add(word(24.0, 32.0, &title, ("ink", 18.0)));
    let broken = report.sabotage.map_or_else(String::new, |name| format!(", broken on purpose: {name}"));
    let what = format!(
        "{}, {} nodes, one {} changes, confidence {}{broken}",
        report.algorithm, report.nodes, report.adjacency, report.confidence
    );
    svg.add(word(24.0, 54.0, &what, ("soft", 13.0)));
    let bottom = TOP + LINE * shown.len() as f64;
    axis.ticks().for_each(|tick| svg.add(grid(tick, &axis, bottom)));
    svg.add(word(axis.x(axis.end) + 14.0, bottom + 16.0, "ε", ("soft", 12.0)));
    for (at, finding) in shown.iter().enumerate() {
        svg.add(line(finding, TOP + LINE * at as f64, &axis));
    }
    svg.add(legend(bottom + 46.0));
    svg.render()
}

fn largest(finding: &Finding) -> f64 {
    let lower = finding.lower.as_ref().map_or(0.0, |lower| lower.epsilon);
    let upper = finding.upper.as_ref().and_then(|upper| upper.epsilon).unwrap_or(0.0);
    lower.max(upper)
}

/// From 0 to a round number that nothing passes.
struct Axis {
    end: f64,
    step: f64,
}

impl Axis {
    fn to(most: f64) -> Self {
        let power = 10f64.powf((most / STEPS).log10().floor());
        let step = [1.0, 2.0, 5.0]
            .map(|times| times * power)
            .into_iter()
            .find(|step| STEPS * step >= most * (1.0 - 1e-9));
        let step = step.unwrap_or(10.0 * power);
        Self { end: step * (most / step - 1e-9).ceil().max(1.0), step }
    }

    /// Where a value stands; what is beyond the end stands there.
    fn x(&self, value: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * (value / self.end).min(1.0)
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        let (step, count) = (self.step, (self.end / self.step).round() as usize);
        (0..=count).map(move |at| step * at as f64)
    }
}

fn grid(tick: f64, axis: &Axis, bottom: f64) -> Element {
    let mut group = Element::group("tick");
    let x = axis.x(tick);
    let line = Element::new("line").attribute("class", "grid").number("x1", x).number("x2", x);
    group.push(line.number("y1", TOP - 6.0).number("y2", bottom));
    let decimals = (-(axis.step.log10() + 1e-9).floor()).clamp(0.0, 9.0) as usize;
    let label = word(x, bottom + 16.0, &format!("{tick:.decimals$}"), ("soft", 12.0));
    group.push(label.attribute("text-anchor", "middle"));
    group
}

fn line(finding: &Finding, y: f64, axis: &Axis) -> Element {
    let mut group = Element::group("finding");
    let (Some(lower), Some(upper)) = (&finding.lower, &finding.upper) else { return group };
    let name = format!("{}, δ = {}", finding.attack, given(upper.delta));
    group.push(word(24.0, y + 12.0, &name, ("ink", 13.0)));
    group.push(word(24.0, y + 27.0, &finding.target, ("soft", 12.0)));
    let bar = |length: f64, class: &str, (top, height): (f64, f64)| {
        let rect = Element::new("rect").attribute("class", class).number("x", LEFT).number("y", y + top);
        rect.number("width", axis.x(length) - LEFT).number("height", height)
    };
    if let Some(gaussian) = lower.gaussian {
        // What a broken mechanism comes to would dwarf everything else: it ends where the axis does.
        group.push(bar(gaussian, "gauss", (4.0, 20.0)));
    }
    group.push(bar(lower.epsilon, if finding.passed { "low" } else { "bad" }, (8.0, 12.0)));
    if let Some(epsilon) = upper.epsilon {
        let x = axis.x(epsilon);
        let mark = Element::new("line").attribute("class", "up").number("x1", x).number("x2", x);
        group.push(mark.number("y1", y + 1.0).number("y2", y + 27.0));
    }
    let figures = format!("{} ≤ {}", at_least(lower.epsilon), bound(upper.epsilon));
    let figures = if finding.passed { figures } else { figures.replace('≤', ">") };
    group.push(word(WIDTH - RIGHT + 24.0, y + 18.0, &figures, ("ink", 13.0)));
    group
}

/// What the marks mean, each beside one of its kind.
fn legend(y: f64) -> Element {
    let mut group = Element::group("legend");
    let swatch = |x: f64, class: &str, (top, height): (f64, f64)| {
        let rect = Element::new("rect").attribute("class", class).number("x", x).number("y", y + top);
        rect.number("width", 22.0).number("height", height)
    };
    group.push(swatch(24.0, "low", (-9.0, 10.0)));
    group.push(word(54.0, y, "ε at least, proved by the attack", ("soft", 12.0)));
    group.push(swatch(270.0, "gauss", (-13.0, 18.0)));
    group.push(word(300.0, y, "the same if the mechanism is Gaussian", ("soft", 12.0)));
    let mark = Element::new("line").attribute("class", "up").number("x1", 560.0).number("x2", 560.0);
    group.push(mark.number("y1", y - 15.0).number("y2", y + 5.0));
    group.push(word(572.0, y, "ε at most, by the account", ("soft", 12.0)));
    group
}

fn word(x: f64, y: f64, text: &str, (class, size): (&str, f64)) -> Element {
    Element::label(x, y, text).attribute("class", class).number("font-size", size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Lower, Upper, Verdict};
    use crate::report::markdown;

    fn report(lower: f64, upper: Option<f64>) -> Audit {
        let lower = Lower { epsilon: lower, confidence: 0.95, method: "a test", gaussian: Some(1e9) };
        let upper = Upper { epsilon: upper, delta: 1e-5, analysis: "rounds".into() };
        let finding = Finding::bounded("distinguish", "node 1 → node 0".into(), 10, (lower, upper));
        Audit {
            run: "a <run>".into(),
            algorithm: "rounds",
            nodes: 2,
            adjacency: "record",
            noise_multiplier: 1.0,
            confidence: 0.95,
            sabotage: None,
            passed: finding.passed,
            verdict: Verdict::of(std::slice::from_ref(&finding)),
            findings: vec![finding],
            skipped: Vec::new(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn the_axis_ends_at_a_round_number_beyond_everything() {
        for (most, end, step) in
            [(2.45, 2.5, 0.5), (0.9, 1.0, 0.2), (5.0, 5.0, 1.0), (7.0, 8.0, 2.0), (1e-3, 1e-3, 2e-4)]
        {
            let axis = Axis::to(most);
            assert!((axis.end - end).abs() < 1e-9 * end && (axis.step - step).abs() < 1e-9 * step, "{most}");
            assert!(axis.end >= most * (1.0 - 1e-9) && axis.x(1e9) <= WIDTH - RIGHT + 1e-9);
        }
        let drawn = picture(&report(1.0, Some(2.45)));
        assert!(drawn.contains(">2.5</text>") && drawn.contains(">0.0</text>"), "{drawn}");
    }

    #[test]
    fn a_bound_that_is_passed_is_seen_in_picture_and_text() {
        let (good, bad) = (report(1.0, Some(2.0)), report(3.0, Some(2.0)));
        assert!(picture(&good).contains("class=\"low\"") && picture(&good).contains("1 ≤ 2"));
        assert!(picture(&bad).contains("class=\"bad\"") && picture(&bad).contains("3 &gt; 2"));
        assert!(picture(&good).contains("a &lt;run&gt;"));
        assert!(markdown(&good).contains("**Passed**") && markdown(&bad).contains("**failed**"));
    }

    #[test]
    fn without_an_upper_bound_there_is_no_mark_and_nothing_fails() {
        let open = report(3.0, None);
        assert!(open.passed && picture(&open).contains("3 ≤ ∞"));
        // The legend has one of its kind, and a bound another.
        let marks = |audit: &Audit| picture(audit).matches("class=\"up\"").count();
        assert_eq!((marks(&open), marks(&report(3.0, Some(4.0)))), (1, 2));
    }
}

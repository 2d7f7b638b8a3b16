//! `audit.svg`: for each finding a bar up to what was proved, and a mark at what the account allows.

use topology::svg::{Element, Svg};

use crate::finding::{Audit, Finding};

use super::{at_least, bound};

const WIDTH: f64 = 860.0;
const LEFT: f64 = 330.0;
const RIGHT: f64 = 70.0;
const TOP: f64 = 84.0;
const LINE: f64 = 34.0;

const STYLE: &str = ".bg{fill:#fff}.ink{fill:#1c2430}.soft{fill:#5b6675}.low{fill:#3b76c4}.bad{fill:#c43b3b}.gauss{fill:#3b76c4;opacity:.3}\
.up{stroke:#1c2430;stroke-width:3}.grid{stroke:#e3e7ee}\
text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}\
@media (prefers-color-scheme:dark){.bg{fill:#12161d}.ink{fill:#e6ebf3}.soft{fill:#9aa5b5}.up{stroke:#e6ebf3}.grid{stroke:#2a313d}}";

/// The report as a picture.
pub fn picture(report: &Audit) -> String {
    let shown: Vec<&Finding> = report.findings.iter().filter(|finding| finding.lower.is_some()).collect();
    let most = shown.iter().map(|finding| largest(finding)).fold(0.0, f64::max).max(1e-3);
    let height = TOP + LINE * shown.len() as f64 + 56.0;
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
    let scale = (WIDTH - LEFT - RIGHT) / most;
    for (at, finding) in shown.iter().enumerate() {
        svg.add(line(finding, TOP + LINE * at as f64, scale));
    }
    let y = TOP + LINE * shown.len() as f64 + 30.0;
    let legend = "blue: ε at least (proved by the attack); pale: if the mechanism is Gaussian; mark: ε at most (the account)";
    svg.add(word(24.0, y, legend, ("soft", 12.0)));
    svg.render()
}

fn largest(finding: &Finding) -> f64 {
    let lower = finding.lower.as_ref().map_or(0.0, |lower| lower.epsilon);
    let upper = finding.upper.as_ref().and_then(|upper| upper.epsilon).unwrap_or(0.0);
    lower.max(upper)
}

fn line(finding: &Finding, y: f64, scale: f64) -> Element {
    let mut group = Element::group("finding");
    let (Some(lower), Some(upper)) = (&finding.lower, &finding.upper) else { return group };
    let name = format!("{}, δ = {}", finding.attack, upper.delta);
    group.push(word(24.0, y + 12.0, &name, ("ink", 13.0)));
    group.push(word(24.0, y + 26.0, &finding.target, ("soft", 11.0)));
    let bar = |length: f64, class: &str, (top, height): (f64, f64)| {
        let rect = Element::new("rect").attribute("class", class).number("x", LEFT).number("y", y + top);
        rect.number("width", length * scale).number("height", height)
    };
    if let Some(gaussian) = lower.gaussian {
        // What a broken mechanism comes to would dwarf everything else.
        group.push(bar(gaussian.min((WIDTH - LEFT - 20.0) / scale), "gauss", (4.0, 20.0)));
    }
    group.push(bar(lower.epsilon, if finding.passed { "low" } else { "bad" }, (8.0, 12.0)));
    if let Some(epsilon) = upper.epsilon {
        let x = LEFT + epsilon * scale;
        let mark = Element::new("line").attribute("class", "up").number("x1", x).number("x2", x);
        group.push(mark.number("y1", y + 1.0).number("y2", y + 27.0));
    }
    let figures = format!("{} ≤ {}", at_least(lower.epsilon), bound(upper.epsilon));
    let figures = if finding.passed { figures } else { figures.replace('≤', ">") };
    group.push(word(LEFT - 92.0, y + 18.0, &figures, ("ink", 12.0)));
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
        assert!(open.passed && picture(&open).contains("3 ≤ ∞") && !picture(&open).contains("<line"));
    }
}

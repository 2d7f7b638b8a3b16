//! An audit for people: bounds, then figures, then the verdict.

use audit::report::{at_least, bound, digits};
use audit::{Audit, Finding, Verdict};
use privacy::number::given;

use crate::table::Table;

pub(super) fn text(report: &Audit) -> String {
    let mut text = format!(
        "audit of {}: {}, {} nodes, noise multiplier {}, one {} changes\n",
        report.run,
        report.algorithm,
        report.nodes,
        digits(report.noise_multiplier),
        report.adjacency
    );
    if let Some(sabotage) = report.sabotage {
        text.push_str(&format!("THE MECHANISM WAS BROKEN ON PURPOSE: {sabotage}\n"));
    }
    report.notes.iter().for_each(|note| text.push_str(&format!("note: {note}\n")));
    let decided: Vec<&Finding> = report.findings.iter().filter(|finding| finding.lower.is_some()).collect();
    if !decided.is_empty() {
        text.push_str(&format!("\n{}", bounds(&decided)));
    }
    for finding in &report.findings {
        // The four rows of one attack share their figures but for the threshold.
        if finding.attack != "distinguish" {
            text.push_str(&figures(finding));
        }
    }
    for skipped in &report.skipped {
        text.push_str(&format!("\n{} skipped: {}\n", skipped.attack, skipped.why));
    }
    text + "\n" + &verdict(report)
}

fn bounds(findings: &[&Finding]) -> String {
    let heading = ["attack", "view", "δ", "ε at least", "if Gaussian", "ε at most", "analysis", ""];
    let mut table = Table::new(heading);
    for finding in findings {
        let (Some(lower), Some(upper)) = (&finding.lower, &finding.upper) else { continue };
        table.row([
            finding.attack.to_owned(),
            finding.target.clone(),
            given(upper.delta),
            at_least(lower.epsilon),
            lower.gaussian.map_or_else(|| "-".into(), at_least),
            bound(upper.epsilon),
            upper.analysis.clone(),
            if finding.passed { "passed".into() } else { "FAILED".into() },
        ]);
    }
    table.render()
}

fn figures(finding: &Finding) -> String {
    let mut text = format!("\n{}, {}\n", finding.attack, finding.target);
    let width = finding.measures.iter().map(|measure| measure.name.chars().count()).max().unwrap_or(0);
    for measure in &finding.measures {
        let interval = measure
            .interval
            .map_or_else(String::new, |(low, high)| format!("  ({} to {})", digits(low), digits(high)));
        let pad = " ".repeat(width - measure.name.chars().count());
        text.push_str(&format!("  {}{pad}  {}{interval}\n", measure.name, digits(measure.value)));
    }
    text
}

fn verdict(report: &Audit) -> String {
    let confidence = 100.0 * report.confidence;
    match report.verdict {
        Verdict::Passed => format!(
            "passed: no lower bound is above its upper bound. All hold at once with {confidence} % confidence; a better attack may exist.\n"
        ),
        Verdict::Failed => format!(
            "FAILED: a lower bound is above what the account allows. If the account were right, this would happen in at most {} % of audits.\n",
            digits(100.0 - confidence)
        ),
        Verdict::Undecided => {
            "figures only: these attacks give no lower bound, so nothing was decided. `--attack distinguish` gives one.\n".into()
        }
        Verdict::Nothing => {
            "NOTHING WAS ATTACKED: none of the attacks that were asked for applies. `--attack distinguish` always does.\n".into()
        }
    }
}

//! `audit.md`.

use crate::finding::{Audit, Finding, Measure, Verdict};

use super::{at_least, bound, digits};

/// The report as Markdown; it refers to `audit.svg` beside it.
pub fn markdown(report: &Audit) -> String {
    let mut text = format!("# Audit of `{}`\n\n", report.run);
    text.push_str(&format!(
        "{}, {} nodes, noise multiplier {}; one {} changes. All deciding lower bounds hold at once with confidence {}.\n\n",
        report.algorithm,
        report.nodes,
        digits(report.noise_multiplier),
        report.adjacency,
        report.confidence
    ));
    if let Some(sabotage) = report.sabotage {
        text.push_str(&format!("**The mechanism was broken on purpose: {sabotage}.**\n\n"));
    }
    text.push_str(match report.verdict {
        Verdict::Passed => "**Passed**: no lower bound is above the account's upper bound.\n\n",
        Verdict::Failed => "**Failed**: a lower bound is above the account's upper bound.\n\n",
        Verdict::Undecided => {
            "**Figures only**: these attacks give no lower bound, so nothing was decided.\n\n"
        }
        Verdict::Nothing => "**Nothing was attacked**: none of the attacks applies.\n\n",
    });
    report.notes.iter().for_each(|note| text.push_str(&format!("Note: {note}.\n\n")));
    text.push_str("![lower and upper bounds](audit.svg)\n\n");
    text.push_str("| attack | view | δ | ε at least | if Gaussian | ε at most | analysis | verdict |\n|---|---|---|---|---|---|---|---|\n");
    report.findings.iter().for_each(|finding| text.push_str(&row(finding)));
    text.push_str("\n## Figures\n\n| attack | view | figure | value |\n|---|---|---|---|\n");
    for finding in &report.findings {
        for measure in &finding.measures {
            let value = shown(measure);
            text.push_str(&format!(
                "| {} | {} | {} | {value} |\n",
                finding.attack, finding.target, measure.name
            ));
        }
    }
    for skipped in &report.skipped {
        text.push_str(&format!("\n{} was skipped: {}.\n", skipped.attack, skipped.why));
    }
    text
}

fn row(finding: &Finding) -> String {
    let (Some(lower), Some(upper)) = (&finding.lower, &finding.upper) else { return String::new() };
    format!(
        "| {} | {} | {} | {} | {} | {} | {} | {} |\n",
        finding.attack,
        finding.target,
        upper.delta,
        at_least(lower.epsilon),
        lower.gaussian.map_or_else(String::new, at_least),
        bound(upper.epsilon),
        upper.analysis,
        if finding.passed { "passed" } else { "**failed**" }
    )
}

/// A figure with its interval.
fn shown(measure: &Measure) -> String {
    match measure.interval {
        Some((low, high)) => {
            format!("{} ({} to {})", digits(measure.value), digits(low), digits(high))
        }
        None => digits(measure.value),
    }
}

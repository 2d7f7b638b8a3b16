//! What a person sees.

use privacy::number::{Precision, up};
use questions::answer::{Answer, Answers, Figure};
use questions::noise::Trust;
use questions::plan::{Expectation, Method, QuestionPlan, expectations, records_per_group};

use super::{group_names, picture};
use crate::table::Table;

/// Significant digits of a half-width.
const DIGITS: i32 = 2;

/// Cost and expected error.
pub(super) fn plan(plan: &QuestionPlan, total: f64) -> String {
    let (summary, terms) = (plan.summary(), &plan.terms);
    let blocks = if summary.blocks == 1 { "1 block".into() } else { format!("{} blocks", summary.blocks) };
    let groups = match &plan.method {
        Method::Sum(sum) if sum.groups.len() > 1 && sum.groups.len() <= 12 => {
            format!(" ({})", sum.groups.iter().map(|group| group.join(" ")).collect::<Vec<_>>().join(", "))
        }
        Method::Sum(sum) if sum.groups.len() > 1 => format!(" ({} groups)", sum.groups.len()),
        _ => String::new(),
    };
    let members = match terms.trust {
        Trust::Masked => {
            format!(
                "masked: {} members, any {} may collude",
                terms.contributors,
                terms.contributors - terms.honest
            )
        }
        Trust::Gossip => format!("gossip: {} members, the worst pair", terms.contributors),
        Trust::Local => format!("local: {} people who trust nobody", terms.contributors),
    };
    let mut text = format!(
        "plan   {blocks}, {} numbers{groups}, ε = {} of {total} left (δ {:e}, {}, {members})\n",
        thousands(summary.coordinates),
        terms.epsilon,
        terms.delta,
        terms.unit.words(),
    );
    let expected: Vec<String> = expectations(plan).iter().map(|found| expectation(plan, found)).collect();
    for line in expected.chunks(3) {
        text.push_str(&format!("       {}\n", line.join("   ")));
    }
    if !expected.is_empty() {
        let records = thousands(records_per_group(plan).round() as u64);
        text.push_str(&format!("       (95 %, noise only, at {records} records spread evenly)\n"));
    }
    text
}

fn expectation(plan: &QuestionPlan, found: &Expectation) -> String {
    if matches!(plan.method, Method::Frequent(_)) {
        return format!("{} finds values from {} records on", found.written, found.high.ceil());
    }
    let unit = if found.unit == "records in rank" { " records in rank" } else { "" };
    if found.high / found.low < 1.01 {
        return format!("{} ± {}{unit}", found.written, short(found.high));
    }
    format!("{} ± {} to {}{unit}", found.written, short(found.low), short(found.high))
}

/// The answers, and what was spent.
pub(super) fn answers(
    plan: &QuestionPlan,
    answers: &Answers,
    (spent, left): (f64, f64),
    population: bool,
) -> String {
    let mut text = numbers(plan, answers);
    for line in &answers.lines {
        for (aggregate, answer) in plan.question.aggregates.iter().zip(&line.answers) {
            if !is_number(answer) {
                let group = if line.group.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", line.group.join(" "))
                };
                text.push_str(&format!("\n{}{group}\n{}", aggregate.written, picture::terminal(answer)));
            }
        }
    }
    for test in &answers.tests {
        let groups = test.groups.iter().map(|group| group.join(" ")).collect::<Vec<_>>().join(" against ");
        text.push_str(&format!(
            "\n{} of {}: {groups}, Z = {:.2}, p = {}\n",
            test.test,
            test.of,
            test.z,
            short(test.p)
        ));
    }
    if answers.hidden > 0 {
        text.push_str(&format!("\n{} groups are hidden: too few nodes hold them\n", answers.hidden));
    }
    let what =
        if population { "noise and sampling" } else { "noise of privacy only; --population adds sampling" };
    text.push_str(&format!(
        "spent  ε = {} ({}); {} left. Interval: {what}.\n",
        up(spent, Precision::Decimals(3)),
        plan.analysis(),
        short(left),
    ));
    if is_simulated(answers) {
        text.push_str("       A simulation with the truth in it: it protects nobody.\n");
    }
    text
}

/// Whether the truth stands beside the answers: only a simulation knows it.
fn is_simulated(answers: &Answers) -> bool {
    answers.lines.iter().flat_map(|line| &line.answers).any(|answer| answer.truth.is_some())
}

/// Answers that are one number, a row for each group; without groups a row for each answer.
fn numbers(plan: &QuestionPlan, answers: &Answers) -> String {
    let shown: Vec<usize> = (0..plan.question.aggregates.len())
        .filter(|&at| answers.lines.iter().all(|line| is_number(&line.answers[at])))
        .collect();
    if shown.is_empty() {
        return String::new();
    }
    let written = |at: usize| plan.question.aggregates[at].written.as_str();
    let names = group_names(plan);
    // An answer, and in a simulation the truth beside it.
    let columns = if is_simulated(answers) { 2 } else { 1 };
    let figures = |answer: &Answer| [answer.in_words(), truth(answer)].into_iter().take(columns);
    if names.is_empty() {
        let mut table = Table::new(["question", "answer", "truth"].into_iter().take(1 + columns));
        for line in &answers.lines {
            for &at in &shown {
                table.row(std::iter::once(written(at).to_owned()).chain(figures(&line.answers[at])));
            }
        }
        return table.render();
    }
    let headings = shown.iter().flat_map(|&at| [written(at), "truth"].into_iter().take(columns));
    let mut table = Table::new(names.iter().map(String::as_str).chain(headings));
    for line in &answers.lines {
        let figures = shown.iter().flat_map(|&at| figures(&line.answers[at]));
        table.row(line.group.iter().cloned().chain(figures));
    }
    table.render()
}

fn is_number(answer: &Answer) -> bool {
    matches!(answer.value, None | Some(Figure::Number(_)))
}

fn truth(answer: &Answer) -> String {
    match answer.truth {
        Some(Figure::Number(x)) if x.is_finite() => short_to(x, 5),
        _ => "–".into(),
    }
}

pub(super) fn short(value: f64) -> String {
    short_to(value, DIGITS)
}

/// A number with so many significant digits, and no more zeros than it needs.
pub(super) fn short_to(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let decimals = (digits - 1 - value.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// 1,032.
fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_as_many_digits_as_their_error_allows() {
        assert_eq!(short(0.012345), "0.012");
        assert_eq!(short(2234.5), "2234");
        assert_eq!(short_to(53.5123, 5), "53.512");
        assert_eq!(thousands(1032), "1,032");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_000_000), "1,000,000");
    }
}

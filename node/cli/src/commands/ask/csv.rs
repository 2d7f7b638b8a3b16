//! A line for each figure.

use questions::answer::{Answer, Answers, Figure};
use questions::plan::{QuestionPlan, expectations};

use super::group_names;
use crate::failure::{Failure, Result};

/// The plan: one line for each answer.
pub(super) fn plan(plan: &QuestionPlan) -> String {
    let mut text = String::from("answer,low,high,unit\n");
    for found in expectations(plan) {
        text.push_str(&format!(
            "\"{}\",{},{},{}\n",
            found.written.replace('"', "\"\""),
            found.low,
            found.high,
            found.unit
        ));
    }
    text
}

/// The answers: group, expression, cell, value, interval, raw figure, truth.
pub(super) fn answers(plan: &QuestionPlan, answers: &Answers) -> Result<String> {
    let failed = |error: ::csv::Error| Failure::of(error, None);
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let mut header = group_names(plan);
    header.extend(["answer", "cell", "value", "low", "high", "raw", "truth", "note"].map(str::to_owned));
    writer.write_record(&header).map_err(failed)?;
    for line in &answers.lines {
        for (aggregate, answer) in plan.question.aggregates.iter().zip(&line.answers) {
            for cell in cells(answer) {
                let mut record = line.group.clone();
                record.push(aggregate.written.clone());
                record.extend(cell);
                writer.write_record(&record).map_err(failed)?;
            }
        }
    }
    let bytes = writer.into_inner().map_err(|error| Failure::new(error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Cell, value, low, high, raw, truth, note of every number of an answer.
fn cells(answer: &Answer) -> Vec<Vec<String>> {
    let flat = |figure: &Option<Figure>| figure.as_ref().map_or_else(Vec::new, Figure::numbers);
    let parts =
        [flat(&answer.value), flat(&answer.low), flat(&answer.high), flat(&answer.raw), flat(&answer.truth)];
    let count = parts.iter().map(Vec::len).max().unwrap_or(0).max(1);
    (0..count)
        .map(|at| {
            let mut cell = vec![answer.cell_name(at)];
            cell.extend(parts.iter().map(|part| part.get(at).map_or_else(String::new, ToString::to_string)));
            cell.push(answer.note.clone().unwrap_or_default());
            cell
        })
        .collect()
}

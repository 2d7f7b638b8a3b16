//! Plan and answers for programs.

use questions::answer::Answers;
use questions::plan::{QuestionPlan, expectations};
use serde_json::{Map, Value, json};

use super::group_names;
use crate::failure::{Failure, Result};

pub(super) fn text(value: &Value) -> Result<String> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::of(error, None))?;
    Ok(text + "\n")
}

fn plan_value(plan: &QuestionPlan) -> Value {
    let summary = plan.summary();
    let expected: Map<String, Value> = expectations(plan)
        .into_iter()
        .map(|found| {
            (found.written.clone(), json!({ "low": found.low, "high": found.high, "unit": found.unit }))
        })
        .collect();
    json!({ "coordinates": summary.coordinates, "blocks": summary.blocks, "expected": expected })
}

/// What `--plan` prints: nothing is spent.
pub(super) fn plan_only(plan: &QuestionPlan) -> Value {
    let terms = &plan.terms;
    json!({
        "question": plan.question.text,
        "epsilon": terms.epsilon,
        "delta": terms.delta,
        "analysis": plan.analysis(),
        "plan": plan_value(plan),
    })
}

pub(super) fn answers(plan: &QuestionPlan, answers: &Answers, (spent, left): (f64, f64)) -> Value {
    let names = group_names(plan);
    let rows: Vec<Value> = answers
        .lines
        .iter()
        .map(|line| {
            let group: Map<String, Value> =
                names.iter().cloned().zip(line.group.iter().cloned().map(Value::from)).collect();
            let answers: Map<String, Value> = plan
                .question
                .aggregates
                .iter()
                .zip(&line.answers)
                .map(|(aggregate, answer)| (aggregate.written.clone(), json!(answer)))
                .collect();
            json!({ "group": group, "answers": answers })
        })
        .collect();
    let mut value = plan_only(plan);
    value["rows"] = Value::from(rows);
    value["spent"] = json!({ "epsilon": spent, "left": left });
    if !answers.tests.is_empty() {
        value["tests"] = json!(answers.tests);
    }
    if answers.hidden > 0 {
        value["hidden"] = json!(answers.hidden);
    }
    value
}

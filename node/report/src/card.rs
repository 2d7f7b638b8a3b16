//! A model card with front matter, as model hubs read it.

use std::fmt::Write;

use crate::document::Report;
use crate::number::{given, loss};

/// The card of the model that a run made.
pub fn card(report: &Report) -> String {
    let mut text = String::new();
    write(&mut text, report).expect("a string takes everything");
    text
}

fn write(out: &mut String, report: &Report) -> std::fmt::Result {
    let head = &report.head;
    writeln!(
        out,
        "---\nlibrary_name: murmur\ntags:\n- differential-privacy\n- decentralized-learning\n- {}",
        quoted(&head.model)
    )?;
    writeln!(out, "model_name: {}", quoted(&report.run))?;
    writeln!(out, "privacy:")?;
    let number = |value: f64| if value.is_finite() { loss(value) } else { "null".into() };
    writeln!(out, "  private: {}\n  unit: {}", report.private, word(report))?;
    writeln!(
        out,
        "  epsilon_one_member: {}\n  epsilon_everybody: {}",
        number(report.worst.figure.epsilon),
        number(report.local.epsilon)
    )?;
    writeln!(out, "  delta: {}\n  analysis: {}", given(report.delta), quoted(&report.worst.figure.analysis))?;
    writeln!(out, "  protection: {}", quoted(report.protection.word()))?;
    writeln!(out, "config_digest: {}", quoted(&report.config_digest))?;
    if let Some(digest) = &head.model_digest {
        writeln!(out, "model_digest: {}", quoted(digest))?;
    }
    writeln!(out, "---\n\n# {}\n\n{}\n", escaped(&report.run), escaped(&report.quote))?;
    writeln!(out, "## Model\n")?;
    let inputs = head.inputs.map_or_else(String::new, |inputs| format!(", {inputs} inputs"));
    writeln!(
        out,
        "Kind `{}`{inputs}; trained by `{}` over {} rounds with murmur {}.",
        head.model, report.algorithm, report.rounds.finished, report.version
    )?;
    if let Some(purpose) = &head.purpose {
        writeln!(out, "\nPurpose, as the members declared it: {}", escaped(purpose))?;
    }
    writeln!(out, "\n## Data\n\n{} members took part", report.participants)?;
    for member in head.members.iter().take(32) {
        writeln!(out, "- {}", escaped(&member.name))?;
    }
    writeln!(out, "\nNo records left their members. {}", report.persons)?;
    writeln!(out, "\n## Privacy\n")?;
    report.meaning.iter().try_for_each(|sentence| writeln!(out, "{sentence}\n"))?;
    writeln!(out, "| who | ε | rests on |\n|---|---|---|")?;
    for row in &report.watchers {
        let epsilon = row
            .figure
            .as_ref()
            .map_or_else(|| "-".into(), |figure| format!("{} ({})", loss(figure.epsilon), figure.analysis));
        writeln!(out, "| {} | {epsilon} | {} |", row.who, row.rests_on)?;
    }
    section(out, "It assumes", &report.assumes)?;
    section(out, "Limits", &report.not_protected)?;
    writeln!(
        out,
        "\n## Evaluation\n\nNot in this card: each member judges the model on records that it kept apart (`murmur evaluate`)."
    )
}

fn section(out: &mut String, title: &str, items: &[String]) -> std::fmt::Result {
    writeln!(out, "\n## {title}\n")?;
    items.iter().try_for_each(|item| writeln!(out, "- {}", escaped(item)))
}

fn word(report: &Report) -> &'static str {
    report.adjacency.word()
}

/// A YAML string: JSON's are among them.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_else(|_| "\"\"".into())
}

fn escaped(text: &str) -> String {
    text.replace('<', "&lt;")
}

//! Questions that were answered beside a run. They cost what they cost on top of it: the figures of the run do not have them, and say so.

use std::collections::BTreeMap;

use privacy::number::{Precision, up};
use protocol::RunEvent;

use crate::document::NodeReport;
use crate::source::Source;

/// Questions that are quoted: the pages for signing have no room for more.
const SHOWN: usize = 3;
/// Letters of a question that are quoted.
const LONGEST: usize = 120;

/// What the questions cost each of these nodes, in words; nothing where there were none.
///
/// # Guarantee
/// The figure of a node is the sum of the ε of its questions, rounded up: a bound by basic composition.
///
/// # Assumes
/// The log of the node is whole; its book of questions and the ledger of its data set do not depend on it.
pub(crate) fn words(source: &Source, subjects: &[NodeReport]) -> Vec<String> {
    let mut asked: BTreeMap<usize, Vec<(&str, f64, &str)>> = BTreeMap::new();
    for line in &source.lines {
        if let (Some(node), RunEvent::Question { question, epsilon, outcome, .. }) = (line.node, &line.event)
            && subjects.iter().any(|subject| subject.index == node as usize)
        {
            asked.entry(node as usize).or_default().push((question, *epsilon, outcome));
        }
    }
    let dearest = asked.into_iter().max_by(|a, b| cost(&a.1).total_cmp(&cost(&b.1)));
    let Some((_, questions)) = dearest else { return Vec::new() };
    let price = |epsilon: f64| up(epsilon, Precision::Digits(3));
    let head = format!(
        "Besides this run {} were answered, which cost a node up to ε = {} on top of the figures here (basic composition).",
        if questions.len() == 1 {
            "one question".to_owned()
        } else {
            format!("{} questions", questions.len())
        },
        price(cost(&questions))
    );
    let shown = questions.iter().take(SHOWN).map(|(question, epsilon, outcome)| {
        let question: String = question.chars().filter(|letter| !letter.is_control()).take(LONGEST).collect();
        format!("Question `{question}`, ε = {}: {outcome}.", price(*epsilon))
    });
    let more = questions.len().saturating_sub(SHOWN);
    let more = (more > 0).then(|| format!("{more} more: see the ledger of the data set (`murmur ledger`)."));
    std::iter::once(head).chain(shown).chain(more).collect()
}

fn cost(questions: &[(&str, f64, &str)]) -> f64 {
    questions.iter().map(|(_, epsilon, _)| epsilon).sum()
}

//! What the members renewed on the way, in sentences.

use protocol::log::Renewed;

use crate::head::Head;
use crate::words;

/// One for each renewal.
pub(crate) fn sentences(renewals: &[Renewed], head: &Head) -> Vec<String> {
    renewals.iter().map(|renewed| sentence(renewed, head)).collect()
}

fn sentence(renewed: &Renewed, head: &Head) -> String {
    let places = |of: &[u32]| of.iter().map(|&place| place as usize).collect::<Vec<_>>();
    let mut parts = Vec::new();
    if !renewed.gone.is_empty() {
        parts.push(format!("without {}", words::names(&places(&renewed.gone), head)));
    }
    if !renewed.joined.is_empty() {
        parts.push(format!("with {} as new", words::names(&places(&renewed.joined), head)));
    }
    if let Some(rounds) = renewed.rounds {
        parts.push(format!("for {rounds} rounds in all"));
    }
    if let Some(rate) = renewed.learning_rate {
        parts.push(format!("with step size {rate}"));
    }
    let what = if parts.is_empty() { "with another secret".to_owned() } else { parts.join(", ") };
    format!(
        "Renewal {}, accepted by every member that stayed: from round {} on the run went on {what}. All figures are about both parts together.",
        renewed.number, renewed.round
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renewal_is_told_with_all_that_it_changed() {
        let renewed = Renewed {
            number: 2,
            round: 17,
            gone: vec![1],
            joined: vec![4],
            rounds: Some(80),
            learning_rate: Some(0.5),
            ..Renewed::default()
        };
        let told = sentence(&renewed, &Head::default());
        for part in ["Renewal 2", "round 17", "without node 1", "with node 4", "80 rounds", "step size 0.5"] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
}

//! What a node says about itself in its own log: what a report needs that no other line tells.

use serde::{Deserialize, Serialize};

/// The longest name of a member, in letters.
pub const LONGEST_NAME: usize = 64;

/// The facts that stand at the head of a node's report. They stay in the node's own log: nothing of them is sent but the name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Declared {
    /// When the run began, in seconds since 1970, by this node's clock. The times of lines count from there.
    pub begun: u64,
    /// The node's identity.
    pub identity: String,
    /// What it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The name of its data set, or where the records come from.
    pub data: String,
    /// SHA-256 of the records that it learns from.
    pub data_digest: String,
    /// Records that it learns from.
    pub records: u64,
    /// Records that it kept apart to judge by.
    #[serde(default)]
    pub kept_apart: u64,
    /// Persons whose records it learns from, where a column says whom a record is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persons: Option<u64>,
    /// The most records of one person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_of_person: Option<u64>,
    /// Inputs of the model.
    pub inputs: u64,
    /// Commit of the program.
    pub commit: String,
    /// What earlier runs on the same data cost, where a ledger tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Earlier>,
}

/// What earlier runs on the same data cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Earlier {
    /// How many.
    pub runs: u64,
    /// The sum of their ε, in the scope of the budget.
    pub epsilon: f64,
    /// The sum of their δ.
    pub delta: f64,
}

/// Whether a letter is shown as itself: it moves no cursor, hides nothing, and does not turn the letters around it round.
pub fn is_shown(letter: char) -> bool {
    let turns = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let hides = matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    !letter.is_control() && !turns && !hides
}

/// A name of a member as it may be shown: only letters that are shown as themselves, not too long; `None` where nothing is left.
pub fn readable_name(name: &str) -> Option<String> {
    let name: String = name.chars().filter(|&letter| is_shown(letter)).take(LONGEST_NAME).collect();
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_from_the_wire_cannot_draw_on_a_screen() {
        assert_eq!(readable_name(" Long \u{1b}[31mBeach\n"), Some("Long [31mBeach".into()));
        assert_eq!(readable_name("\u{202e}hcirüZ\u{2066}\u{200b}\u{9b}"), Some("hcirüZ".into()));
        assert_eq!(readable_name("\n \t"), None);
        assert_eq!(readable_name(&"x".repeat(900)).unwrap().len(), LONGEST_NAME);
    }
}

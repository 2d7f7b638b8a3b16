//! Words of peers on their way to a screen or a log: no letter that moves the cursor, hides others or turns them round, and not too many.

use super::Event;

/// Letters of one text that are shown.
const LONGEST: usize = 600;

impl Event {
    /// The same, with words that can be shown.
    pub(super) fn readable(self) -> Self {
        match self {
            Self::Refused { peer, refusal, reason } => {
                Self::Refused { peer, refusal, reason: clean(&reason) }
            }
            Self::Differs { peer, reason } => Self::Differs { peer, reason: clean(&reason) },
            Self::TurnedAway { peer, reason } => Self::TurnedAway { peer, reason: clean(&reason) },
            Self::Unreached { peer, tried } => Self::Unreached { peer, tried: clean(&tried) },
            Self::Lost { peer, id, reason } => Self::Lost { peer, id, reason: clean(&reason) },
            other => other,
        }
    }
}

/// A text with a mark in place of every letter that is not shown as itself.
pub(super) fn clean(text: &str) -> String {
    let mut clean: String = text
        .chars()
        .take(LONGEST)
        .map(|letter| if protocol::log::is_shown(letter) { letter } else { char::REPLACEMENT_CHARACTER })
        .collect();
    if text.chars().nth(LONGEST).is_some() {
        clean.push('…');
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Refusal;

    #[test]
    fn what_a_peer_says_cannot_draw_on_a_screen() {
        let reason =
            "\u{1b}[2J\u{1b}]0;owned\u{7} all is well\r\n\u{202e}txt\u{2066}\u{9b}31m é 漢".to_owned();
        let event = Event::Refused { peer: libp2p::PeerId::random(), refusal: Refusal::Closed, reason };
        let Event::Refused { reason, .. } = event.readable() else { panic!("another event") };
        let bad = |letter: char| letter.is_control() || "\u{202e}\u{2066}".contains(letter);
        assert!(!reason.chars().any(bad), "{reason:?}");
        assert!(reason.contains("all is well") && reason.ends_with("é 漢"), "{reason}");
        assert!(clean(&"x".repeat(100_000)).chars().count() <= LONGEST + 1);
    }
}

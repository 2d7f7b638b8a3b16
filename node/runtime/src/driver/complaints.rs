//! Warnings that strangers can cause: a crowd at the door must not fill the log.

use std::time::Duration;

use tokio::time::Instant;

/// The shortest time between two lines.
const PAUSE: Duration = Duration::from_secs(5);
/// Lines before the pause applies: what happens a few times is told as it happens.
const AT_ONCE: u32 = 5;

/// Which complaints are told.
#[derive(Debug, Default)]
pub(super) struct Complaints {
    told: u32,
    last: Option<Instant>,
    hidden: u64,
}

impl Complaints {
    /// The line to tell now, or nothing; what was left out before is counted in it.
    pub(super) fn tell(&mut self, text: String, now: Instant) -> Option<String> {
        let quiet = self.last.is_none_or(|last| now.saturating_duration_since(last) >= PAUSE);
        if quiet {
            self.told = 0;
        }
        if self.told >= AT_ONCE {
            self.hidden += 1;
            return None;
        }
        self.told += 1;
        self.last = Some(now);
        let hidden = std::mem::take(&mut self.hidden);
        Some(if hidden == 0 { text } else { format!("{text} (and {hidden} more since the last such line)") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_is_told_in_a_few_lines_and_counted() {
        let (mut complaints, start) = (Complaints::default(), Instant::now());
        let told = (0..1000).filter_map(|_| complaints.tell("no".into(), start)).count();
        assert_eq!(told, AT_ONCE as usize);
        let next = complaints.tell("no".into(), start + PAUSE);
        assert_eq!(next.as_deref(), Some("no (and 995 more since the last such line)"));
        assert_eq!(complaints.tell("no".into(), start + PAUSE).as_deref(), Some("no"));
    }
}

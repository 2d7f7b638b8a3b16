//! Days and times of a run, in UTC.

use time::{Month, OffsetDateTime};

/// `2026-05-03 14:07 UTC`; nothing for a time that no calendar has.
pub(crate) fn moment(seconds: u64) -> Option<String> {
    let at = at(seconds)?;
    let (year, month, day) = (at.year(), u8::from(at.month()), at.day());
    Some(format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", at.hour(), at.minute()))
}

/// `On 3 May 2026` or `Between 3 and 5 May 2026`.
pub(crate) fn period(from: u64, to: u64) -> Option<String> {
    let (from, to) = (at(from)?, at(to.max(from))?);
    let day = |at: OffsetDateTime| format!("{} {} {}", at.day(), name(at.month()), at.year());
    Some(match (from.date() == to.date(), from.year() == to.year(), from.month() == to.month()) {
        (true, ..) => format!("On {}", day(from)),
        (_, true, true) => format!("Between {} and {}", from.day(), day(to)),
        (_, true, false) => format!("Between {} {} and {}", from.day(), name(from.month()), day(to)),
        _ => format!("Between {} and {}", day(from), day(to)),
    })
}

fn at(seconds: u64) -> Option<OffsetDateTime> {
    OffsetDateTime::from_unix_timestamp(i64::try_from(seconds).ok()?).ok()
}

fn name(month: Month) -> String {
    month.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_days() {
        // 1777802820 is 2026-05-03 10:07 UTC (date -u -d @1777802820).
        assert_eq!(moment(1_777_802_820).unwrap(), "2026-05-03 10:07 UTC");
        assert_eq!(period(1_777_802_820, 1_777_802_830).unwrap(), "On 3 May 2026");
        assert_eq!(period(1_777_802_820, 1_777_802_820 + 2 * 86_400).unwrap(), "Between 3 and 5 May 2026");
        assert_eq!(
            period(1_777_802_820, 1_777_802_820 + 40 * 86_400).unwrap(),
            "Between 3 May and 12 June 2026"
        );
        assert!(moment(u64::MAX).is_none());
    }
}

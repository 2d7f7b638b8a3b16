//! What is deliberately wrong in tests, to see that they notice. Outside tests there is nothing to switch on.

use super::Electorate;

/// One rule that is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(not(test), expect(dead_code, reason = "only tests break rules"))]
pub(super) enum Flaw {
    /// Quorums one smaller.
    SmallQuorum,
    /// Votes and commits in a view that it has turned away from.
    ActsAfterTurn,
    /// The value need not be that of the highest lock among the turns.
    IgnoresLocks,
    /// Turns carry no lock.
    TurnWithoutLock,
    /// One holder is enough for a model.
    OneHolder,
    /// Members without a seat count as holders.
    HoldersWithoutSeat,
    /// The proposer may leave out whom it likes.
    NoHeardRule,
    /// A restarted member has forgotten what it signed.
    Amnesia,
    /// A view is entered without the standings that its turns name.
    EntersUninformed,
    /// A second vote in a view.
    VotesTwice,
}

#[cfg(test)]
thread_local! {
    static ON: std::cell::Cell<Option<Flaw>> = const { std::cell::Cell::new(None) };
}

/// Whether a rule is left out.
#[inline]
pub(super) fn has(_flaw: Flaw) -> bool {
    #[cfg(test)]
    return ON.get() == Some(_flaw);
    #[cfg(not(test))]
    false
}

/// Leaves a rule out on this thread.
#[cfg(test)]
pub(super) fn set(flaw: Option<Flaw>) {
    ON.set(flaw);
}

/// The quorum that is asked for.
pub(super) fn quorum(electorate: &Electorate) -> usize {
    electorate.quorum() - usize::from(has(Flaw::SmallQuorum))
}

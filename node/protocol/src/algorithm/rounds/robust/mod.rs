//! Rounds that bear members who lie in their contributions (`robust.tolerate`).
//!
//! Every member sends its noisy contribution to all, and no sums are passed on. A lie has room in the noise of a single round, and not in the mean of many:
//! so all keep a running mean for each sender, and step by a [rule] over these means that b liars cannot move far. Then all tell all what they
//! have heard, by digest: who told two members different things is found before anything is done with it.
//!
//! What the means rest on begins anew with every epoch: so it follows from what all members of the epoch have heard, and is in no model and no file.
//!
//! Invariants: two members that end a round have the same contributions of it, in the same order; whoever is silent towards few is heard through the
//! others, f + 1 of them with the same word; nothing here lowers a figure: each contribution is in the open, and costs all that it can (`local`).

mod account;
mod hearing;
mod inbox;
mod messages;
mod open;
mod rule;
mod say;

pub(super) use account::{RobustFold, RobustForecast};
pub(super) use hearing::State;
pub(super) use open::Open;
pub(super) use rule::Pool;
pub use say::{Said, What};

/// More members would need vectors by the million in every round.
pub(crate) const MOST_MEMBERS: usize = 256;
/// More parameters would: every vector goes to every member.
pub(crate) const MOST_PARAMETERS: usize = 100_000;

/// How contributions are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Robust {
    /// b: so many members may lie in what they contribute.
    pub tolerate: usize,
}

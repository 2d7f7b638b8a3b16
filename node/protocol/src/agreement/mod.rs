//! Agreement: nothing on one member's word. Which members take part, which model counts and how a run ends is
//! decided by a quorum whose signatures prove it to anybody; see docs/AGREEMENT.md.
//!
//! A single-decree consensus per epoch. Everybody states once where it stands ([`Standing`]); views are
//! opened by a quorum of [`Turn`]s only; in each view one member proposes what follows (`outcome`) from the
//! standings, or the value of the newest lock among the turns; a quorum of votes is a [`Lock`], a quorum of
//! commits a decision ([`Decided`]).
//!
//! Invariants, with at most f hostile members of the first roster:
//! - *Agreement*: one decision per epoch.
//! - *Validity*: its model is held by an honest seat.
//! - *No wrong expulsion*: whom all honest members heard before their first turn has a seat, unless it is
//!   apart from too many; bans need proof.
//! - *Progress*: when messages flow, the first view of an honest proposer decides.
//!
//! The machine ([`Agreement`]) is pure: `handle(now, input)`, then drain `poll_output()`, and come back at
//! `wake_at()`. What it signs is [kept](Output::Persist) before it is sent, and everything that it keeps is
//! bounded by the size of the swarm, never by numbers that peers state.

mod answers;
mod blame;
mod charter;
mod codec;
mod company;
mod credentials;
pub mod danger;
mod decision;
mod file;
mod fingerprint;
mod flaw;
mod gathering;
mod inspecting;
mod justify;
mod keys;
mod knocks;
mod looking;
mod machine;
mod memory;
mod message;
mod opened;
mod orders;
mod outcome;
mod outline;
mod proof;
mod quorum;
mod records;
mod renewal;
mod reserve;
mod sealed;
mod standings;
mod statements;
mod views;
mod voting;

pub use charter::{Charter, CharterError, Terms};
pub use codec::CodecError;
pub use company::{Seen, Witnessed};
pub use credentials::{Credentials, CredentialsError};
pub use decision::{
    Apart, Cause, Certificate, CertificateError, Decided, Decision, Model, Seat, SignedSums, TokenStart,
};
pub use file::{DecisionFile, DecisionFileError};
pub use fingerprint::Fingerprint;
pub use keys::{BadKey, Ballot, Ed25519, Keys, Kind, Signature, Statement, is_quorum};
pub use looking::{
    Barred, Coins, Dispute, Inspection, Look, Measure, Projected, ProjectedStep, Projection, Shown, Wanted,
};
pub(crate) use looking::{next_link, says_so, stream_digest, words_digest};
pub use machine::{Agreement, Fault, Input, Output};
pub use memory::Memory;
pub use message::{Ask, Boundary, HeardList, Message, TurnMessage, Turns};
pub use opened::{CheckWords, Opened, OpenedStep, OpenedSum, SharedMask};
pub use orders::repaired_order;
pub use outline::{Bounds, Outline};
pub use proof::{Proof, Twice, Unjustified};
pub use quorum::{Electorate, hostile_by_default};
pub use records::{Heard, RoundRecord, StepRecord, Trouble, TroubleKind, sum_statement};
pub(crate) use records::{OPEN, PASSED, SETS, open_step, set_fingerprint};
pub use renewal::{Continued, Renewal, RenewalError};
pub use reserve::{KeptReserves, Recalled, Reserve, ReserveHeld, Reserves, block_of, first_block};
pub use sealed::{Place, Sealed};
pub use statements::{Lock, Locked, Named, Propose, Standing, TokenCopy, Turn, Voice};

#[cfg(test)]
mod tests;

//! Masks of averaging rounds: of all that is sent only the total of a round shows.
//!
//! Every two members of an epoch, or every two neighbours of a large one ([`graph`]), share a secret by X25519, from keys that live as long as their processes. For each round each pair makes one
//! stream of words from it; the member with the smaller position adds it, the other subtracts it, and in the total all are gone. What is left is the
//! total of [noisy words](privacy::mechanisms::grid) and four words that show whether everything went as it should ([`check`]).
//!
//! What it hides is Theorem 1 of [`privacy::network::masked`]. It rests on four rules that are kept here: a key of a stream is bound to run, epoch, roster
//! with all public keys, round, model and grid, so that members who were told different things do not cancel; a round number is never used twice; every
//! member adds noise, with data or without; and no noise is in two totals.

mod check;
mod flaw;
mod fold;
mod graph;
pub mod inspection;
mod keys;
mod lies;
mod looks;
mod pads;
mod plan;
mod roster;
mod settings;
mod wearing;

pub(super) use check::{CHECK_WORDS, split};
pub use flaw::{Bared, Flaw};
pub(crate) use fold::MaskedFold;
pub(super) use graph::{MaskGraph, split_chance};
pub use keys::{MaskKey, MaskSecret};
pub use lies::Lie;
pub(super) use looks::LookTerms;
pub use looks::Looks;
pub(crate) use looks::{DIRECTIONS, LEAST_NOISE};
pub(super) use plan::Masked;
pub use settings::{Hidden, MaskSettings};
pub use wearing::Masks;
pub(super) use wearing::{Opening, Wearing};

#[cfg(test)]
mod tests;

//! Range proofs for masked averages: every part is in range, all masks cancel, and who lies, or which pair, is named.
//!
//! Masks hide lies as well as data. Here a contribution q_u of small integers is masked modulo the order ℓ of ristretto255 instead of 2³², and
//! everything that a member does with it is committed to (Pedersen, two independent generators g and h):
//!
//! 1. u publishes V_u = g^q·h^r for each number, and one proof for all of them that each is in range (Bünz et al. 2018, aggregated);
//! 2. both ends of every pair make the same mask and the same blinding from a key that they share, and both publish the commitments P_uv to it;
//! 3. u publishes s_u = q_u ± masks and t_u = r_u ± blindings, where the smaller position adds; everybody checks g^s·h^t = V_u·ΠP_uv^±.
//!
//! Then the s_u add up to Σq_u: nothing else opens the commitments. A proof that does not hold and an opening that does not fit name a member, two different
//! commitments of one pair name the pair. [`Member::show`] makes all of it, [`verify`] checks and adds up.
//!
//! What it does not do: a range is all that is proved. A member may still lie within it, and its noise is in the same range.

mod blame;
mod error;
mod prove;
mod rules;
mod shown;
mod verify;

pub use blame::{Blame, Lie};
pub use error::{ProofError, ShapeError};
pub use prove::{Member, Pad};
pub use rules::{Bits, MOST_NUMBERS, Rules};
pub use shown::Shown;
pub use verify::verify;

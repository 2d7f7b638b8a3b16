//! What a member states about a round: per step what it sent and heard, and what made it stop.

use super::Fingerprint;
use super::codec::{wire, wire_choice};
use super::keys::{Kind, Signature, Statement};
use super::opened::Opened;
use super::outline::Outline;
use super::sealed::Place;
use crate::PeerIx;
use crate::algorithm::MOST_PROVED_MEMBERS;

/// The most entries of any round: in the open five for each other member, of at most 256; doubling has two steps more than log2 of the largest swarm.
pub(super) const MOST_STEPS: usize = 5 * 256;

/// The most of a round of so many: in the open five for each, in rounds with sums far fewer than 64.
pub(super) fn most_steps(members: usize) -> usize {
    (5 * members).clamp(64, MOST_STEPS)
}

/// All members and all pairs of a round with proofs.
const MOST_UNPROVED: usize = MOST_PROVED_MEMBERS * (MOST_PROVED_MEMBERS + 1) / 2;

/// From this step on a member sends the same to everybody, in rounds without sums: its contribution.
pub(crate) const OPEN: u32 = 1 << 16;
/// From this step on: what came by way of others.
pub(crate) const PASSED: u32 = OPEN + (1 << 15);
/// From this step on a member tells everybody what it has heard, by digest.
pub(crate) const SETS: u32 = 1 << 17;

/// A number for what one member tells another, by their positions among so many: both find the same, and nobody has one twice.
pub(crate) fn open_step(members: usize, sender: usize, hearer: usize) -> u32 {
    2 * ((sender + hearer) % members.max(1)) as u32 + u32::from(sender > hearer)
}

/// Digest of all contributions of a round, in order of members.
pub(crate) fn set_fingerprint(mut parts: Vec<(PeerIx, Fingerprint)>) -> Fingerprint {
    parts.sort_unstable();
    Fingerprint::of_wire("murmur set 1", &parts)
}

/// One round as a member saw it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoundRecord {
    /// The round.
    pub round: u32,
    /// Its steps, as far as they came; steps without a partner are left out.
    pub steps: Vec<StepRecord>,
    /// Digest of the sum with which it ended, if it did.
    pub total: Option<Fingerprint>,
    /// What ended it before.
    pub trouble: Option<Trouble>,
    /// What is opened about a masked round.
    pub opened: Option<Opened>,
    /// The malformed sum for which its author left the round, where there is a signature under it.
    pub shown: Option<Outline>,
    /// Whose contributions prove nothing, as its author found: one member (twice), or two that committed to different masks.
    pub unproved: Vec<(PeerIx, PeerIx)>,
}

wire!(RoundRecord {
    round: u32,
    steps: Vec<StepRecord>,
    total: Option<Fingerprint>,
    trouble: Option<Trouble>,
    opened: Option<Opened>,
    shown: Option<Outline>,
    unproved: Vec<(PeerIx, PeerIx)>,
});

/// One step of an exchange.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepRecord {
    /// Which.
    pub step: u32,
    /// With whom.
    pub partner: PeerIx,
    /// Digest of the sum (numbers and count) that was sent.
    pub sent: Option<Fingerprint>,
    /// Of the one that was heard.
    pub heard: Option<Heard>,
}

wire!(StepRecord { step: u32, partner: PeerIx, sent: Option<Fingerprint>, heard: Option<Heard> });

/// A sum that was heard.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Heard {
    /// Its digest.
    pub digest: Fingerprint,
    /// Its sender's signature, where sums are signed.
    pub signature: Option<Signature>,
}

wire!(Heard { digest: Fingerprint, signature: Option<Signature> });

/// Why a member left a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Trouble {
    /// What it was.
    pub kind: TroubleKind,
    /// With whom.
    pub with: PeerIx,
    /// In which step.
    pub step: u32,
}

wire!(Trouble { kind: TroubleKind, with: PeerIx, step: u32 });

/// What can be wrong with a partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TroubleKind {
    /// Nothing came: it was given up, or still waited for when others called.
    Silent,
    /// It started from another model.
    Differs,
    /// It sent what no honest member sends: too large, not finite, count 0 with numbers, a wrong length.
    Malformed,
}

wire_choice!(TroubleKind { 0 = Silent, 1 = Differs, 2 = Malformed });

impl RoundRecord {
    /// What its author held after a step: what it sent next, or the total.
    pub(super) fn after(&self, step: u32) -> Option<Fingerprint> {
        let later = self.steps.iter().filter(|record| record.step > step);
        later.filter_map(|record| record.sent).next().or(self.total)
    }

    /// No longer than what an honest one of so many members has to say.
    pub(super) fn is_short(&self, members: usize) -> bool {
        let opened = self.opened.as_ref().is_none_or(|opened| opened.is_short(members, self.steps.len()));
        let unproved = self.unproved.len() <= members.saturating_mul(members + 1) / 2;
        opened && unproved && self.steps.len() <= most_steps(members)
    }

    /// Steps in increasing order, and no more than any exchange has.
    pub(super) fn is_sound(&self) -> bool {
        self.steps.len() <= MOST_STEPS
            && self.unproved.len() <= MOST_UNPROVED
            && self.steps.windows(2).all(|pair| pair[0].step < pair[1].step)
    }
}

/// A sum as it is signed, after trouble: where it was sent, to whom, and its digest.
pub fn sum_statement(place: Place, step: u32, to: PeerIx, sum: Fingerprint) -> Statement {
    let content = Fingerprint::of_wire("murmur sum content 1", &((step, to), sum));
    let Place { epoch, electorate, view } = place;
    Statement { kind: Kind::Sum, epoch, electorate, view, content }
}

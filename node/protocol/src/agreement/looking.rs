//! What is said and decided while a masked round is looked into: by stages, each of which a decision begins.
//!
//! 1. *Bound*: members state what they sent and heard, and digests of the keys of their streams; each commits itself to a draw.
//! 2. *Drawn*: all open their draws, of which the directions are made. Who does not is left out, and there is another draw.
//! 3. *Projected*: all state the projections of their sums and streams.
//! 4. *Shown*, where two state different projections of one thing: each shows the thing itself.
//!
//! Invariant: a round has one seed, ever: a decision that has one is followed by none with another for that round.

use privacy::mechanisms::grid::{WordSize, Words};

use super::Fingerprint;
use super::codec::{CodecError, Reader, Wire, wire, wire_enum};
use super::decision::Decision;
use super::records::{RoundRecord, most_steps};
use crate::PeerIx;
use crate::masks::inspection::{Rows, RowsError, Yardstick};

/// No look has more directions than this.
const MOST_DIRECTIONS: u32 = 64;
/// No model that is looked at has more parameters than this.
const MOST_PARAMETERS: u64 = 1 << 26;

/// Along how many directions of what is looked, and how long projections of an honest contribution are at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Measure {
    /// k.
    pub directions: u32,
    /// d: numbers of a contribution.
    pub dimension: u64,
    /// Bits of a word.
    pub bits: u32,
    /// The largest squared length, as the bits of a double.
    pub most: u64,
    /// A member's own coin says to look where 64 bits of it are below this.
    pub toss: u64,
    /// How often one member's coin is heeded.
    pub tosses: u32,
}

wire!(Measure { directions: u32, dimension: u64, bits: u32, most: u64, toss: u64, tosses: u32 });

impl Measure {
    /// Whether anybody can look by it.
    pub(super) fn is_sound(&self) -> bool {
        let sizes = [WordSize::Bits32, WordSize::Bits64];
        (1..=MOST_DIRECTIONS).contains(&self.directions)
            && (u64::from(self.directions) + 1..=MOST_PARAMETERS).contains(&self.dimension)
            && sizes.iter().any(|size| size.bits() == self.bits)
    }

    /// How long words are.
    pub(crate) fn size(&self) -> WordSize {
        if self.bits == WordSize::Bits32.bits() { WordSize::Bits32 } else { WordSize::Bits64 }
    }

    /// The directions that a seed stands for.
    pub(crate) fn rows(&self, seed: Fingerprint) -> Result<Rows, RowsError> {
        Rows::new(&seed.0, self.directions as usize, self.dimension as usize)
    }

    pub(super) fn yardstick(&self) -> Yardstick {
        Yardstick::of_most(self.size(), self.directions as usize, f64::from_bits(self.most))
    }
}

/// A round that is to be looked into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wanted {
    /// Which.
    pub round: u32,
    /// Its author's coin of that round, where that says so; else the total is too long.
    pub coin: Option<[u8; 32]>,
}

wire!(Wanted { round: u32, coin: Option<[u8; 32]> });

/// One member's coins of an epoch: a chain of digests of which the last is known and the one before is the coin of the first round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Coins {
    /// Whose.
    pub member: PeerIx,
    /// The end of the chain.
    pub head: Fingerprint,
    /// How often its coins were heeded, over all epochs.
    pub heeded: u32,
}

wire!(Coins { member: PeerIx, head: Fingerprint, heeded: u32 });

/// The link of a chain that is nearer to its end.
pub(crate) fn next_link(link: Fingerprint) -> Fingerprint {
    Fingerprint::of("murmur coin chain 1", &link.0)
}

/// Whether a coin says to look into a round.
pub(crate) fn says_so(coin: Fingerprint, round: u32, toss: u64) -> bool {
    let digest = Fingerprint::of_wire("murmur coin 1", &(round, coin));
    let (first, _) = digest.0.split_first_chunk::<8>().expect("32 bytes");
    u64::from_le_bytes(*first) < toss
}

impl Coins {
    /// Whether this is the coin of a round of the epoch that `decision` began.
    pub(crate) fn has(&self, coin: Fingerprint, round: u32, decision: &Decision) -> bool {
        let Some(after) = round.checked_sub(decision.next_round) else { return false };
        (0..=after).fold(coin, |link, _| next_link(link)) == self.head
    }
}

/// Projections of one vector: a word for each direction.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Projection(pub Vec<u64>);

impl Wire for Projection {
    const LEAST: usize = 4;
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        Vec::read(from).map(Self)
    }
}

impl Projection {
    /// Of words.
    pub fn of(words: &Words) -> Self {
        Self(match words {
            Words::Narrow(words) => words.iter().map(|&word| u64::from(word)).collect(),
            Words::Wide(words) => words.clone(),
        })
    }

    /// As words of this size.
    pub(crate) fn words(&self, size: WordSize) -> Words {
        Words::of(size, self.0.iter().map(|&word| word as i64))
    }
}

/// Projections of the sums of one step.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProjectedStep {
    /// Of the one that was sent.
    pub sent: Option<Projection>,
    /// Of the one that was heard.
    pub heard: Option<Projection>,
}

wire!(ProjectedStep { sent: Option<Projection>, heard: Option<Projection> });

/// All that a member projects.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Projected {
    /// The sums of its record, in the same order.
    pub sums: Vec<ProjectedStep>,
    /// The streams of its record, in the same order.
    pub streams: Vec<Projection>,
}

wire!(Projected { sums: Vec<ProjectedStep>, streams: Vec<Projection> });

/// The thing itself, where two state different projections of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shown {
    /// The key of the stream that is shared with another, in one round. Who is not honest of the two knew it, so it tells nobody anything.
    Stream(([u8; 32], PeerIx)),
    /// The words of the sum of a step, as they travelled, without the zeros.
    Sum((u32, Vec<u8>)),
}

wire_enum!(Shown { 0 = Stream(([u8; 32], PeerIx)), 1 = Sum((u32, Vec<u8>)) });

/// What a standing says about a look.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Look {
    /// By what measure it looks.
    pub measure: Option<Measure>,
    /// What it would look into.
    pub wants: Option<Wanted>,
    /// The end of the chain of its coins of the epoch that is to begin.
    pub coins: Fingerprint,
    /// Commits it to a draw.
    pub draw: Fingerprint,
    /// The draw to which it was committed.
    pub drawn: Option<[u8; 32]>,
    /// The record by which it is bound.
    pub bound: Option<RoundRecord>,
    /// What it projects.
    pub projected: Option<Projected>,
    /// What it shows.
    pub shown: Vec<Shown>,
}

wire!(Look {
    measure: Option<Measure>,
    wants: Option<Wanted>,
    coins: Fingerprint,
    draw: Fingerprint,
    drawn: Option<[u8; 32]>,
    bound: Option<RoundRecord>,
    projected: Option<Projected>,
    shown: Vec<Shown>,
});

impl Look {
    /// No longer than what an honest one of so many members can say, where this is looked into.
    pub(super) fn is_sound(&self, members: usize, now: Option<&Inspection>) -> bool {
        let bound = self.bound.as_ref().is_none_or(|bound| bound.is_sound() && bound.is_short(members));
        let directions =
            now.filter(|now| now.seed.is_some()).map_or(0, |now| now.measure.directions as usize);
        let short = |one: &Projection| one.0.len() <= directions;
        let projected = self.projected.as_ref().is_none_or(|all| {
            let steps = all.sums.iter().flat_map(|step| step.sent.iter().chain(&step.heard));
            all.sums.len() <= most_steps(members)
                && all.streams.len() <= members
                && steps.chain(&all.streams).all(short)
        });
        bound && projected && self.shown.len() <= now.map_or(0, |now| now.disputes.len())
    }

    /// What commits `by` to a draw.
    pub fn commitment(by: PeerIx, draw: [u8; 32]) -> Fingerprint {
        Fingerprint::of_wire("murmur draw 1", &(by, draw))
    }
}

/// A look that is under way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Inspection {
    /// Into which round.
    pub round: u32,
    /// Whether its total is too long; else a coin said so.
    pub forced: bool,
    /// By what measure.
    pub measure: Measure,
    /// Digests of the records by which members are bound, in order.
    pub bound: Vec<(PeerIx, Fingerprint)>,
    /// Commitments to draws, in order; none once there is a seed.
    pub draws: Vec<(PeerIx, Fingerprint)>,
    /// What directions are made of.
    pub seed: Option<Fingerprint>,
    /// Digests of what members projected, in order, once two of them contradict each other.
    pub projected: Vec<(PeerIx, Fingerprint)>,
    /// Who contradict each other, about what.
    pub disputes: Vec<Dispute>,
}

wire!(Inspection {
    round: u32,
    forced: bool,
    measure: Measure,
    bound: Vec<(PeerIx, Fingerprint)>,
    draws: Vec<(PeerIx, Fingerprint)>,
    seed: Option<Fingerprint>,
    projected: Vec<(PeerIx, Fingerprint)>,
    disputes: Vec<Dispute>,
});

impl Inspection {
    /// The digest by which a member is bound.
    pub(crate) fn binds(&self, member: PeerIx) -> Option<Fingerprint> {
        find(&self.bound, member)
    }

    /// What a member projected.
    pub(super) fn projected_by(&self, member: PeerIx) -> Option<Fingerprint> {
        find(&self.projected, member)
    }
}

fn find(list: &[(PeerIx, Fingerprint)], member: PeerIx) -> Option<Fingerprint> {
    list.binary_search_by_key(&member, |(of, _)| *of).ok().map(|at| list[at].1)
}

/// Two that state different projections of one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dispute {
    /// Of a sum, who sent it; of a stream, the smaller.
    pub one: PeerIx,
    /// The other.
    pub other: PeerIx,
    /// The step of the sum; `None` for the stream of the two.
    pub step: Option<u32>,
}

wire!(Dispute { one: PeerIx, other: PeerIx, step: Option<u32> });

/// Until when nobody is looked at because a total is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Barred {
    /// Before this round.
    pub until: u32,
    /// For so many rounds this time; twice as many the next.
    pub span: u32,
}

wire!(Barred { until: u32, span: u32 });

/// For how many rounds at first.
const BARRED: u32 = 64;

impl Barred {
    /// After a look into a round that left nobody out for good.
    pub(super) fn after(self, round: u32) -> Self {
        let span = self.span.saturating_mul(2).max(BARRED);
        Self { until: round.saturating_add(1).saturating_add(span), span }
    }
}

/// Digest of the record by which a member is bound.
pub(crate) fn bound_digest(record: &RoundRecord) -> Fingerprint {
    Fingerprint::of_wire("murmur bound 1", record)
}

/// Digest of the key of a stream.
pub(crate) fn stream_digest(key: &[u8; 32]) -> Fingerprint {
    Fingerprint::of("murmur stream 1", key)
}

/// Digest of all words of a sum but the zeros.
pub(crate) fn words_digest(bytes: &[u8]) -> Fingerprint {
    Fingerprint::of("murmur masked words 1", bytes)
}

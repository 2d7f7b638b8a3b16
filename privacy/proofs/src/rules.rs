//! What all members agree on, and the generators that follow from it.

use std::sync::Arc;

use bulletproofs::{BulletproofGens, PedersenGens};
use merlin::Transcript;

use crate::ProofError;

/// Most numbers of a contribution.
pub const MOST_NUMBERS: usize = 1024;

/// Width of the range in which every number must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bits {
    /// −2⁷ to 2⁷ − 1.
    Eight,
    /// −2¹⁵ to 2¹⁵ − 1.
    Sixteen,
    /// −2³¹ to 2³¹ − 1.
    ThirtyTwo,
}

impl Bits {
    /// How many.
    pub fn count(self) -> usize {
        match self {
            Self::Eight => 8,
            Self::Sixteen => 16,
            Self::ThirtyTwo => 32,
        }
    }

    /// What is added to a number so that it is not negative.
    pub(crate) fn shift(self) -> i64 {
        1 << (self.count() - 1)
    }
}

/// One round: its members, numbers and range. Making it costs as much as a proof; it serves for all members of a process, and for [further](Self::again) rounds.
pub struct Rules {
    context: Vec<u8>,
    members: Vec<u32>,
    /// Pairs that share no masks, the smaller first.
    apart: Vec<(u32, u32)>,
    numbers: usize,
    bits: Bits,
    pub(crate) commit: PedersenGens,
    pub(crate) generators: Arc<BulletproofGens>,
}

impl Rules {
    /// For these members, in any order. `context` names run, round, model and roster: a proof made for another one does not hold.
    ///
    /// # Errors
    /// Fewer than two members, one twice, no numbers or too many.
    pub fn new(context: &[u8], members: &[u32], numbers: usize, bits: Bits) -> Result<Self, ProofError> {
        if !(1..=MOST_NUMBERS).contains(&numbers) {
            return Err(ProofError::Numbers { numbers, limit: MOST_NUMBERS });
        }
        let generators = Arc::new(BulletproofGens::new(bits.count(), numbers.next_power_of_two()));
        Self::with((context, members), (numbers, bits), generators)
    }

    /// The same for another round, without the cost.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn again(&self, context: &[u8], members: &[u32]) -> Result<Self, ProofError> {
        Self::with((context, members), (self.numbers, self.bits), self.generators.clone())
    }

    fn with(
        (context, members): (&[u8], &[u32]),
        (numbers, bits): (usize, Bits),
        generators: Arc<BulletproofGens>,
    ) -> Result<Self, ProofError> {
        let mut members = members.to_vec();
        members.sort_unstable();
        if members.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(ProofError::Members { what: "a member is on the roster twice" });
        }
        if members.len() < 2 {
            return Err(ProofError::Members { what: "masks need at least two members" });
        }
        let (context, commit) = (context.to_vec(), PedersenGens::default());
        Ok(Self { context, members, apart: Vec::new(), numbers, bits, commit, generators })
    }

    /// The same where these pairs share no masks, since they do not agree on them.
    ///
    /// # Assumes
    /// Those whom nobody watches stay connected by the masks that are left: of each part that falls off the sum shows.
    #[must_use]
    pub fn without(mut self, pairs: &[(u32, u32)]) -> Self {
        self.apart = pairs.iter().map(|&(one, other)| (one.min(other), one.max(other))).collect();
        self.apart.sort_unstable();
        self
    }

    /// Who adds up, in increasing order.
    pub fn members(&self) -> &[u32] {
        &self.members
    }

    /// Everybody with whom a member shares a mask.
    pub fn others(&self, member: u32) -> impl Iterator<Item = u32> + '_ {
        let pair = move |other: u32| (member.min(other), member.max(other));
        let shares = move |other: &u32| *other != member && self.apart.binary_search(&pair(*other)).is_err();
        self.members.iter().copied().filter(shares)
    }

    /// How many numbers a contribution has.
    pub fn numbers(&self) -> usize {
        self.numbers
    }

    /// The range of each.
    pub fn bits(&self) -> Bits {
        self.bits
    }

    /// As many numbers as proofs are aggregated over: the next power of two, filled up with zeros.
    pub(crate) fn width(&self) -> usize {
        self.numbers.next_power_of_two()
    }

    /// A transcript that no other round, member or set of rules has.
    pub(crate) fn transcript(&self, member: u32) -> Transcript {
        let mut transcript = Transcript::new(b"murmur proofs 1");
        transcript.append_message(b"context", &self.context);
        self.members.iter().for_each(|&member| transcript.append_u64(b"on the roster", u64::from(member)));
        for &(one, other) in &self.apart {
            transcript.append_u64(b"apart", u64::from(one));
            transcript.append_u64(b"apart", u64::from(other));
        }
        transcript.append_u64(b"numbers", self.numbers as u64);
        transcript.append_u64(b"bits", self.bits.count() as u64);
        transcript.append_u64(b"member", u64::from(member));
        transcript
    }
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Rules({} numbers of {} bits, {} members)",
            self.numbers,
            self.bits.count(),
            self.members.len()
        )
    }
}

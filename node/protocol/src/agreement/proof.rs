//! Proofs of misbehaviour: what no honest member signs, whatever the network does.

use std::sync::Arc;

use super::codec::{CodecError, Reader, Wire, wire, wire_enum};
use super::keys::{Keys, Kind, Signature, Statement};
use super::sealed::{Content, Place, Sealed};
use super::statements::{Propose, Standing, Voice};
use super::{Charter, Fingerprint};
use crate::PeerIx;

/// Why somebody is banned.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::large_enum_variant, reason = "there are at most as many as hostile members")]
pub enum Proof {
    /// Two statements where an honest member makes one.
    Twice(Twice),
    /// A proposal that does not follow from what it rests on; holds in its own epoch.
    Unjustified(Unjustified),
}

wire_enum!(Proof { 0 = Twice(Twice), 1 = Unjustified(Unjustified) });

/// Two different statements of one kind for one view. Needs no content: digests and signatures speak.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Twice {
    /// Who.
    pub by: PeerIx,
    /// Two of these.
    pub kind: Kind,
    /// Where.
    pub place: Place,
    /// One.
    pub one: (Fingerprint, Signature),
    /// The other.
    pub other: (Fingerprint, Signature),
}

wire!(Twice {
    by: PeerIx,
    kind: Kind,
    place: Place,
    one: (Fingerprint, Signature),
    other: (Fingerprint, Signature),
});

/// A proposal and the standings that it names. The proposal contains no such proof itself: bytes must not
/// nest without end.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Unjustified {
    /// What was proposed.
    pub propose: Arc<Sealed<Propose>>,
    /// The standings that it names.
    pub standings: Vec<Arc<Sealed<Standing>>>,
}

impl Wire for Unjustified {
    const LEAST: usize = <Sealed<Propose>>::LEAST + 4;
    fn write(&self, out: &mut Vec<u8>) {
        self.propose.write(out);
        self.standings.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        from.nested(|from| Ok(Self { propose: Wire::read(from)?, standings: Wire::read(from)? }))
    }
}

impl Proof {
    /// Against whom.
    pub fn against(&self) -> PeerIx {
        match self {
            Self::Twice(twice) => twice.by,
            Self::Unjustified(unjustified) => unjustified.propose.by(),
        }
    }

    pub(super) fn of_sealed<T: Content>(one: &Sealed<T>, other: &Sealed<T>) -> Self {
        let (one, other) = if one.digest() <= other.digest() { (one, other) } else { (other, one) };
        Self::Twice(Twice {
            by: one.by(),
            kind: T::KIND,
            place: one.place(),
            one: (one.digest(), one.signature()),
            other: (other.digest(), other.signature()),
        })
    }

    pub(super) fn of_voices(kind: Kind, one: &Voice, other: &Voice) -> Self {
        let (one, other) = if one.value <= other.value { (one, other) } else { (other, one) };
        Self::Twice(Twice {
            by: one.ballot.by,
            kind,
            place: one.place,
            one: (one.value, one.ballot.signature),
            other: (other.value, other.ballot.signature),
        })
    }
}

impl Twice {
    /// Whether it proves anything: the same member signed both, they differ, and an honest member makes only
    /// one of the kind.
    ///
    /// Proposals are left out, which need not be durable: who restarts may propose again. So are sums, of
    /// which a round has several.
    pub fn is_sound(&self, charter: &Charter, keys: &dyn Keys) -> bool {
        let once = matches!(self.kind, Kind::Standing | Kind::Turn | Kind::Vote | Kind::Commit);
        let Place { epoch, electorate, view } = self.place;
        let signed = |(content, signature): &(Fingerprint, Signature)| {
            let statement = Statement { kind: self.kind, epoch, electorate, view, content: *content };
            keys.verifies(self.by, &statement.bytes(charter), signature)
        };
        // In order, so that one deed has one proof.
        once && self.one.0 < self.other.0 && signed(&self.one) && signed(&self.other)
    }
}

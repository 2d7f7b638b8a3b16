//! A content with its signature: what is passed on to others, who can check it without trusting who brought
//! it.

use super::codec::{CodecError, Reader, Wire};
use super::keys::{Keys, Kind, Signature, Statement};
use super::{Charter, Fingerprint};
use crate::PeerIx;

/// What can be sealed.
pub(crate) trait Content: Wire {
    const KIND: Kind;
    /// Name under which its digest is made.
    const NAME: &'static str;
}

/// Where a statement belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The epoch that is to begin.
    pub epoch: u32,
    /// Who decides on it.
    pub electorate: Fingerprint,
    /// The view; 0 where there is none.
    pub view: u32,
}

super::codec::wire!(Place { epoch: u32, electorate: Fingerprint, view: u32 });

/// A signed content. The digest is found once, when it is made or read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sealed<T> {
    by: PeerIx,
    place: Place,
    content: T,
    signature: Signature,
    digest: Fingerprint,
}

#[expect(private_bounds, reason = "nobody else makes contents")]
impl<T: Content> Sealed<T> {
    pub(crate) fn new(by: PeerIx, place: Place, content: T, (charter, keys): (&Charter, &dyn Keys)) -> Self {
        let digest = Fingerprint::of_wire(T::NAME, &content);
        let mut sealed = Self { by, place, content, signature: Signature([0; 64]), digest };
        sealed.signature = keys.sign(&sealed.statement().bytes(charter));
        sealed
    }

    /// Who signed it, if [`is_signed`](Self::is_signed).
    pub fn by(&self) -> PeerIx {
        self.by
    }

    /// Where it belongs.
    pub fn place(&self) -> Place {
        self.place
    }

    /// What it says.
    pub fn content(&self) -> &T {
        &self.content
    }

    /// Digest of the content.
    pub fn digest(&self) -> Fingerprint {
        self.digest
    }

    /// Its signature.
    pub fn signature(&self) -> Signature {
        self.signature
    }

    /// What was signed.
    pub fn statement(&self) -> Statement {
        let Place { epoch, electorate, view } = self.place;
        Statement { kind: T::KIND, epoch, electorate, view, content: self.digest }
    }

    /// Whether the member that it names signed it.
    pub fn is_signed(&self, charter: &Charter, keys: &dyn Keys) -> bool {
        keys.verifies(self.by, &self.statement().bytes(charter), &self.signature)
    }
}

impl<T: Content> Wire for Sealed<T> {
    const LEAST: usize = PeerIx::LEAST + Place::LEAST + T::LEAST + Signature::LEAST;
    fn write(&self, out: &mut Vec<u8>) {
        self.by.write(out);
        self.place.write(out);
        self.content.write(out);
        self.signature.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, CodecError> {
        let (by, place, content) = (PeerIx::read(from)?, Place::read(from)?, T::read(from)?);
        let digest = Fingerprint::of_wire(T::NAME, &content);
        Ok(Self { by, place, content, signature: Signature::read(from)?, digest })
    }
}

//! The streams that one member shares with the others of an epoch.

use hkdf::Hkdf;
use privacy::mechanisms::grid::{GridGaussian, Words};
use privacy::noise::mask::Signed;
use sha2::Sha256;
use zeroize::{Zeroize, Zeroizing};

use super::graph::MaskGraph;
use super::roster::KeyedRoster;
use super::{Bared, Flaw, MaskSecret};
use crate::PeerIx;
use crate::values::Digest;

/// Says what the streams are for; other words, other streams.
const MASK: &[u8] = b"murmur mask 1";
/// Those of the zero words, which are opened after a void round.
const CHECK: &[u8] = b"murmur check 1";
/// Those of rounds with proofs.
const PROOF: &[u8] = b"murmur proof 1";

/// What a stream is used for: once.
pub(super) struct Use<'a> {
    pub(super) round: u32,
    /// The model from which the round starts.
    pub(super) model: Digest,
    pub(super) mechanism: &'a GridGaussian,
}

/// Keys of masks, each with whom it is shared.
pub(in crate::algorithm::rounds) type ProofKeys = Vec<(PeerIx, Zeroizing<[u8; 32]>)>;

/// One member's secrets of an epoch.
pub(super) struct Pads {
    roster: [u8; 32],
    pairs: Vec<Pair>,
    /// Of an audit.
    bared: Option<Bared>,
}

/// What is shared with one other member.
struct Pair {
    with: PeerIx,
    /// Whether this side adds.
    adds: bool,
    secret: Zeroizing<[u8; 32]>,
}

impl Pads {
    /// Of member `me`, shared with all others; `Err` names a member whose key is none.
    #[cfg(test)]
    pub(super) fn new(roster: &KeyedRoster, me: PeerIx, secret: &MaskSecret) -> Result<Self, PeerIx> {
        Self::on(MaskGraph::Complete, roster, (me, secret))
    }

    /// Of a member, shared with those of the others that the graph says; `Err` names one whose key is none, or the member itself where it has no seat.
    pub(super) fn on(
        graph: MaskGraph,
        roster: &KeyedRoster,
        (me, secret): (PeerIx, &MaskSecret),
    ) -> Result<Self, PeerIx> {
        let run = roster.run.0.to_le_bytes();
        let position = roster.members.iter().position(|(member, _)| *member == me).ok_or(me)?;
        let digest = roster.digest();
        let others = graph.others((&digest, roster.members.len()), position);
        let others = others.into_iter().map(|other| &roster.members[other]);
        let others = others.filter(|(member, _)| roster.is_masked(me, *member));
        let pair = |&(member, key): &(PeerIx, super::MaskKey)| {
            let shared = secret.shared_with(&key).ok_or(member)?;
            let (mut extracted, _) = Hkdf::<Sha256>::extract(Some(&run), shared.as_bytes());
            let mut secret = Zeroizing::new([0; 32]);
            secret.copy_from_slice(&extracted);
            extracted.as_mut_slice().zeroize();
            Ok::<_, PeerIx>(Pair { with: member, adds: me < member, secret })
        };
        Ok(Self { roster: digest, pairs: others.map(pair).collect::<Result<_, _>>()?, bared: None })
    }

    /// The same of member `me` as an audit wants them.
    ///
    /// # Guarantee
    /// None: this exists to see that it is noticed.
    pub(super) fn bared(mut self, bared: Bared, me: PeerIx) -> Self {
        self.pairs.retain(|pair| bared.hides(me, pair.with));
        let is_first = self.pairs.iter().all(|pair| pair.adds);
        if let Some(pair) = self.pairs.first_mut().filter(|_| is_first && bared.flaw == Some(Flaw::WrongSign))
        {
            pair.adds = false;
        }
        self.bared = Some(bared);
        self
    }

    /// Puts on the masks of all pairs.
    ///
    /// # Guarantee
    /// For who knows the secrets of some members only, the masked words of the others are uniform but for their sum.
    ///
    /// # Assumes
    /// HKDF-SHA256 and ChaCha20 are pseudorandom; no use comes twice with different words.
    pub(super) fn mask(&self, words: &mut Words, of: &Use<'_>) {
        let info = self.info(MASK, of);
        let keys: Vec<_> = self.pairs.iter().map(|pair| (pair.key(&info), pair.adds)).collect();
        let masks: Vec<Signed<'_>> = keys.iter().map(|(key, adds)| (&**key, *adds)).collect();
        words.combine_masks(&masks);
    }

    /// The keys of the streams of [`mask`](Self::mask), in the order of the pairs.
    pub(super) fn keys(&self, of: &Use<'_>) -> Vec<Zeroizing<[u8; 32]>> {
        let info = self.info(MASK, of);
        self.pairs.iter().map(|pair| pair.key(&info)).collect()
    }

    /// The keys of masks modulo the order of a group, for each with whom they are shared.
    ///
    /// # Guarantee
    /// They tell nothing about [`mask`](Self::mask), whose keys are others.
    ///
    /// # Assumes
    /// HKDF-SHA256 is pseudorandom.
    pub(super) fn proof_keys(&self, of: &Use<'_>) -> ProofKeys {
        let info = self.info(PROOF, of);
        self.pairs.iter().map(|pair| (pair.with, pair.key(&info))).collect()
    }

    /// The masks of the zero words, as they would be added: for each pair, with the other of it.
    ///
    /// # Guarantee
    /// They tell nothing about [`mask`](Self::mask), whose keys are others.
    ///
    /// # Assumes
    /// HKDF-SHA256 is pseudorandom.
    pub(super) fn checks(&self, of: &Use<'_>, zeros: &Words) -> Vec<(PeerIx, bool, Words)> {
        let info = self.info(CHECK, of);
        let mask = |pair: &Pair| {
            let mut words = zeros.clone();
            words.add_mask(&pair.key(&info));
            (pair.with, pair.adds, words)
        };
        self.pairs.iter().map(mask).collect()
    }

    /// Digest of roster, keys and who shares masks.
    pub(super) fn roster(&self) -> [u8; 32] {
        self.roster
    }

    /// Subtracts where it should add, or the other way, for one pair.
    #[cfg(test)]
    pub(super) fn turn_sign(&mut self, pair: usize) {
        self.pairs[pair].adds = !self.pairs[pair].adds;
    }

    fn info(&self, purpose: &[u8], of: &Use<'_>) -> Vec<u8> {
        let (round, with_model) = self.bared.as_ref().map_or((of.round, true), |bared| bared.binds(of.round));
        [purpose, &self.roster, &of.bound_to(round, with_model)].concat()
    }
}

impl Use<'_> {
    /// All of it, as bytes.
    pub(super) fn place(&self) -> Vec<u8> {
        self.bound_to(self.round, true)
    }

    fn bound_to(&self, round: u32, with_model: bool) -> Vec<u8> {
        let grid = self.mechanism.grid();
        let mut place = round.to_le_bytes().to_vec();
        if with_model {
            place.extend(self.model.0);
        }
        place.extend(grid.size().bits().to_le_bytes());
        for number in [grid.steps(), grid.largest(), self.mechanism.noise(), grid.load().dimension as u64] {
            place.extend(number.to_le_bytes());
        }
        place
    }
}

impl Pair {
    fn key(&self, info: &[u8]) -> Zeroizing<[u8; 32]> {
        let mut key = Zeroizing::new([0; 32]);
        Hkdf::<Sha256>::from_prk(self.secret.as_slice())
            .expect("a secret is as long as a digest")
            .expand(info, key.as_mut_slice())
            .expect("32 bytes are within reach of HKDF");
        key
    }
}

//! The masks of one participant: its own key, those it was told, and the pads of the current epoch.

use std::collections::BTreeMap;
use std::fmt;

use privacy::mechanisms::grid::{GridGaussian, NoisyWords, Words};
use zeroize::Zeroizing;

use super::pads::{Pads, ProofKeys, Use};
use super::roster::KeyedRoster;
use super::{Bared, MaskGraph, MaskKey, MaskSecret, check};
use crate::PeerIx;
use crate::agreement::{Fingerprint, SharedMask, stream_digest};
use crate::settings::RunId;
use crate::values::Digest;
use crate::work::OnGrid;

/// What a driver gives to a participant of masked rounds. Without, it takes no part in them.
#[derive(Debug)]
pub enum Masks {
    /// Masks from this secret.
    Real(MaskSecret),
    /// No masks, though everything else is as with them: they cancel, so that totals have the same bits. For simulations of many nodes.
    DangerPretended,
    /// As [`Masks::Real`], but something is left out or wrong. For audits.
    DangerBared(MaskSecret, Bared),
}

impl Masks {
    fn secret(&self) -> Option<&MaskSecret> {
        match self {
            Self::Real(secret) | Self::DangerBared(secret, _) => Some(secret),
            Self::DangerPretended => None,
        }
    }

    fn bared(&self) -> Option<&Bared> {
        match self {
            Self::DangerBared(_, bared) => Some(bared),
            Self::Real(_) | Self::DangerPretended => None,
        }
    }
}

/// What is opened about a round, but for its sums.
#[derive(Debug, Clone)]
pub(in crate::algorithm::rounds) struct Opening {
    pub(in crate::algorithm::rounds) keys: Fingerprint,
    pub(in crate::algorithm::rounds) place: Fingerprint,
    pub(in crate::algorithm::rounds) unmasked: Vec<(PeerIx, PeerIx)>,
    pub(in crate::algorithm::rounds) masks: Vec<SharedMask>,
    /// Whether data were added.
    pub(in crate::algorithm::rounds) has_data: bool,
    /// The keys of the streams, in the same order; kept until the round cannot be looked into any more, wiped then.
    keys_of_streams: Vec<StreamKey>,
}

/// Never printed.
#[derive(Clone)]
struct StreamKey(Zeroizing<[u8; 32]>);

impl fmt::Debug for StreamKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StreamKey")
    }
}

impl Opening {
    fn new(of: &Use<'_>, unmasked: &[(PeerIx, PeerIx)]) -> Self {
        let place = Fingerprint::of("murmur mask place 1", &of.place());
        Self {
            keys: Fingerprint::default(),
            place,
            unmasked: unmasked.to_vec(),
            masks: Vec::new(),
            has_data: false,
            keys_of_streams: Vec::new(),
        }
    }

    /// The keys of the streams, in the order of the masks.
    pub(in crate::algorithm::rounds) fn keys(&self) -> impl Iterator<Item = &[u8; 32]> {
        self.keys_of_streams.iter().map(|key| &*key.0)
    }

    /// The key of the stream that is shared with another.
    pub(in crate::algorithm::rounds) fn key_with(&self, other: PeerIx) -> Option<[u8; 32]> {
        let at = self.masks.iter().position(|mask| mask.with == other)?;
        self.keys_of_streams.get(at).map(|key| *key.0)
    }
}

/// Masks, worn.
pub(in crate::algorithm::rounds) struct Wearing {
    masks: Masks,
    /// What other nodes said of themselves.
    known: BTreeMap<PeerIx, MaskKey>,
    /// Of the epoch that is under way.
    pads: Option<(u32, Pads)>,
    /// Who shares no masks in this epoch.
    unmasked: Vec<(PeerIx, PeerIx)>,
}

impl Wearing {
    pub(in crate::algorithm::rounds) fn new(masks: Masks) -> Self {
        Self { masks, known: BTreeMap::new(), pads: None, unmasked: Vec::new() }
    }

    /// What to tell others; `None` where masks are pretended.
    pub(in crate::algorithm::rounds) fn public(&self) -> Option<MaskKey> {
        self.masks.secret().map(MaskSecret::public)
    }

    /// A peer told its key; `false` where it is none.
    pub(in crate::algorithm::rounds) fn learn(&mut self, peer: PeerIx, key: MaskKey) -> bool {
        let fits = self.masks.secret().is_none_or(|secret| secret.shared_with(&key).is_some());
        if fits {
            self.known.insert(peer, key);
        }
        fits
    }

    /// Forgets what others said: some of it may be of processes that are gone.
    pub(in crate::algorithm::rounds) fn forget(&mut self) {
        self.known.clear();
        self.pads = None;
    }

    /// Whose keys are missing for an epoch with these members.
    pub(in crate::algorithm::rounds) fn missing(&self, me: PeerIx, members: &[PeerIx]) -> Vec<PeerIx> {
        let unknown = |member: &PeerIx| *member != me && !self.known.contains_key(member);
        match self.masks.secret() {
            Some(_) => members.iter().copied().filter(unknown).collect(),
            None => Vec::new(),
        }
    }

    /// Makes the pads of an epoch, unless they are there. Keys that come later are for the next one.
    pub(in crate::algorithm::rounds) fn begin_epoch(
        &mut self,
        (run, epoch): (RunId, u32),
        me: PeerIx,
        (members, graph): (&[PeerIx], MaskGraph),
        unmasked: Vec<(PeerIx, PeerIx)>,
    ) {
        self.unmasked.clone_from(&unmasked);
        let Some(secret) = self.masks.secret() else { return };
        if self.pads.as_ref().is_some_and(|(made_for, _)| *made_for == epoch) {
            return;
        }
        let own = secret.public();
        let key = |&member: &PeerIx| {
            let key = if member == me { Some(own) } else { self.known.get(&member).copied() };
            key.map(|key| (member, key))
        };
        let members: Option<Vec<_>> = members.iter().map(key).collect();
        let roster = members.map(|members| KeyedRoster { run, epoch, members, unmasked });
        let pads = roster.and_then(|roster| Pads::on(graph, &roster, (me, secret)).ok());
        self.pads = pads.map(|pads| match &self.masks {
            Masks::DangerBared(_, bared) => (epoch, pads.bared(bared.clone(), me)),
            Masks::Real(_) | Masks::DangerPretended => (epoch, pads),
        });
    }

    /// A contribution as it may be sent, and what is opened about it later; `None` where there are no pads.
    ///
    /// # Guarantee
    /// As [`Pads::mask`], whatever is opened.
    ///
    /// # Assumes
    /// The round's number was never used before in this process, and the words have fresh noise.
    pub(in crate::algorithm::rounds) fn put_on(
        &self,
        noisy: NoisyWords,
        has_data: bool,
        (round, model): (u32, Digest),
        mechanism: &GridGaussian,
    ) -> Option<(Words, Opening)> {
        let of = Use { round, model, mechanism };
        let mut words = noisy.into_words();
        if let Some(bared) = self.masks.bared() {
            words = bared.before_masks(&words);
        }
        let mut zeros = check::zeros(words.size());
        check::append_count(&mut words, has_data);
        let mut opening = Opening { has_data, ..Opening::new(&of, &self.unmasked) };
        match (&self.masks, &self.pads) {
            (Masks::DangerPretended, _) => {}
            (Masks::Real(_) | Masks::DangerBared(..), Some((_, pads))) => {
                pads.mask(&mut words, &of);
                opening.keys = Fingerprint(pads.roster());
                let checks = pads.checks(&of, &check::zeros(words.size()));
                for ((with, adds, mask), stream) in checks.into_iter().zip(pads.keys(&of)) {
                    let changed = if adds { zeros.add(&mask) } else { zeros.subtract(&mask) };
                    changed.expect("as many words of the same size");
                    let key = stream_digest(&stream);
                    opening.masks.push(SharedMask { with, words: check::opened(&mask), key });
                    opening.keys_of_streams.push(StreamKey(stream));
                }
            }
            (Masks::Real(_) | Masks::DangerBared(..), None) => return None,
        }
        words.extend(zeros.centred());
        let sent = self.masks.bared().map(|bared| bared.sent(&words));
        Some((sent.unwrap_or(words), opening))
    }

    /// What names a round in proofs, and the keys from which masks are made in it, for each with whom this member shares one; `None` where there are no pads.
    pub(in crate::algorithm::rounds) fn for_proofs(
        &self,
        (round, model): (u32, Digest),
        mechanism: &GridGaussian,
    ) -> Option<(Vec<u8>, ProofKeys)> {
        let of = Use { round, model, mechanism };
        let (_, pads) = self.pads.as_ref()?;
        Some(([&pads.roster()[..], &of.place()].concat(), pads.proof_keys(&of)))
    }

    /// Who shares no masks in this epoch.
    pub(in crate::algorithm::rounds) fn unmasked(&self) -> &[(PeerIx, PeerIx)] {
        &self.unmasked
    }

    /// Secret bytes for one purpose in one epoch: the same whenever they are asked for.
    ///
    /// # Guarantee
    /// Nobody else can tell it from random bytes before it is opened.
    ///
    /// # Assumes
    /// HKDF-SHA256 is pseudorandom; masks are not pretended.
    pub(in crate::algorithm::rounds) fn draw(
        &self,
        purpose: &str,
        (run, epoch): (RunId, u32),
        me: PeerIx,
    ) -> [u8; 32] {
        match self.masks.secret() {
            Some(secret) => secret.draw(purpose, (run, epoch)),
            None => {
                let whose =
                    [run.0.to_le_bytes(), u64::from(me).to_le_bytes(), u64::from(epoch).to_le_bytes()];
                Fingerprint::of(purpose, &whose.concat()).0
            }
        }
    }

    /// Words of a contribution to a model of so many parameters.
    pub(in crate::algorithm::rounds) fn length(parameters: usize, on: &OnGrid) -> usize {
        parameters + on.behind + check::CHECK_WORDS
    }

    /// The mean of a total, or without a divisor the total itself, and how many of those who may have added data; `None` where the total is void.
    pub(in crate::algorithm::rounds) fn mean(
        total: &Words,
        contributors: usize,
        on: &OnGrid,
    ) -> Option<(Vec<f32>, u32)> {
        let count = check::count(total, contributors)?;
        let scale = on.divisor.map_or(1.0, |divisor| divisor * f64::from(count.max(1)));
        let numbers = total.len() - check::CHECK_WORDS - on.behind;
        Some((on.mechanism.grid().means(total, numbers, scale), count))
    }
}

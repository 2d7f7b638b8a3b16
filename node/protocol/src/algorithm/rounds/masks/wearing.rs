//! The masks of one participant: its own key, those it was told, and the pads of the current epoch.

use std::collections::BTreeMap;

use privacy::mechanisms::grid::{GridGaussian, NoisyWords, Words};

use super::pads::{Pads, Use};
use super::roster::KeyedRoster;
use super::{Bared, MaskGraph, MaskKey, MaskSecret, check};
use crate::PeerIx;
use crate::agreement::{Fingerprint, SharedMask};
use crate::settings::RunId;
use crate::values::Digest;

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
}

/// What is opened about a round, but for its sums.
#[derive(Debug, Clone)]
pub(in crate::algorithm::rounds) struct Opening {
    pub(in crate::algorithm::rounds) keys: Fingerprint,
    pub(in crate::algorithm::rounds) place: Fingerprint,
    pub(in crate::algorithm::rounds) unmasked: Vec<(PeerIx, PeerIx)>,
    pub(in crate::algorithm::rounds) masks: Vec<SharedMask>,
}

impl Opening {
    fn new(of: &Use<'_>, unmasked: &[(PeerIx, PeerIx)]) -> Self {
        let place = Fingerprint::of("murmur mask place 1", &of.place());
        Self { keys: Fingerprint::default(), place, unmasked: unmasked.to_vec(), masks: Vec::new() }
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
        let mut zeros = check::zeros(words.size());
        check::append_count(&mut words, has_data);
        let mut opening = Opening::new(&of, &self.unmasked);
        match (&self.masks, &self.pads) {
            (Masks::DangerPretended, _) => {}
            (Masks::Real(_) | Masks::DangerBared(..), Some((_, pads))) => {
                pads.mask(&mut words, &of);
                opening.keys = Fingerprint(pads.roster());
                for (with, adds, mask) in pads.checks(&of, &check::zeros(words.size())) {
                    let changed = if adds { zeros.add(&mask) } else { zeros.subtract(&mask) };
                    changed.expect("as many words of the same size");
                    opening.masks.push(SharedMask { with, words: check::opened(&mask) });
                }
            }
            (Masks::Real(_) | Masks::DangerBared(..), None) => return None,
        }
        words.extend(zeros.centred());
        Some((words, opening))
    }

    /// The mean of a total, or without a divisor the total itself, and how many added data; `None` where the total is void.
    pub(in crate::algorithm::rounds) fn mean(
        total: &Words,
        members: usize,
        mechanism: &GridGaussian,
        divisor: Option<f64>,
    ) -> Option<(Vec<f32>, u32)> {
        let count = check::count(total, members)?;
        let scale = divisor.map_or(1.0, |divisor| divisor * f64::from(count.max(1)));
        let numbers = total.len() - check::CHECK_WORDS;
        let grid = mechanism.grid();
        Some((total.centred().take(numbers).map(|sum| (grid.real(sum) / scale) as f32).collect(), count))
    }
}

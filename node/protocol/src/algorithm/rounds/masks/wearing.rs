//! The masks of one participant: its own key, those it was told, and the pads of the current epoch.

use std::collections::BTreeMap;

use privacy::mechanisms::grid::{GridGaussian, NoisyWords, Words};

use super::pads::{Pads, Use};
use super::roster::KeyedRoster;
use super::{MaskKey, MaskSecret, check};
use crate::PeerIx;
use crate::settings::RunId;
use crate::values::Digest;

/// What a driver gives to a participant of masked rounds. Without, it takes no part in them.
#[derive(Debug)]
pub enum Masks {
    /// Masks from this secret.
    Real(MaskSecret),
    /// No masks, though everything else is as with them: they cancel, so that totals have the same bits. For simulations of many nodes.
    DangerPretended,
}

/// Masks, worn.
pub(in crate::algorithm::rounds) struct Wearing {
    masks: Masks,
    /// What other nodes said of themselves.
    known: BTreeMap<PeerIx, MaskKey>,
    /// Of the epoch that is under way.
    pads: Option<(u32, Pads)>,
}

impl Wearing {
    pub(in crate::algorithm::rounds) fn new(masks: Masks) -> Self {
        Self { masks, known: BTreeMap::new(), pads: None }
    }

    /// What to tell others; `None` where masks are pretended.
    pub(in crate::algorithm::rounds) fn public(&self) -> Option<MaskKey> {
        match &self.masks {
            Masks::Real(secret) => Some(secret.public()),
            Masks::DangerPretended => None,
        }
    }

    /// A peer told its key; `false` where it is none.
    pub(in crate::algorithm::rounds) fn learn(&mut self, peer: PeerIx, key: MaskKey) -> bool {
        let fits = match &self.masks {
            Masks::Real(secret) => secret.shared_with(&key).is_some(),
            Masks::DangerPretended => true,
        };
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
        match &self.masks {
            Masks::Real(_) => members.iter().copied().filter(unknown).collect(),
            Masks::DangerPretended => Vec::new(),
        }
    }

    /// Makes the pads of an epoch, unless they are there. Keys that come later are for the next one.
    pub(in crate::algorithm::rounds) fn begin_epoch(
        &mut self,
        (run, epoch): (RunId, u32),
        me: PeerIx,
        members: &[PeerIx],
    ) {
        let Masks::Real(secret) = &self.masks else { return };
        if self.pads.as_ref().is_some_and(|(made_for, _)| *made_for == epoch) {
            return;
        }
        let own = secret.public();
        let key = |&member: &PeerIx| {
            let key = if member == me { Some(own) } else { self.known.get(&member).copied() };
            key.map(|key| (member, key))
        };
        let members: Option<Vec<_>> = members.iter().map(key).collect();
        let roster = members.map(|members| KeyedRoster { run, epoch, members });
        let pads = roster.and_then(|roster| Pads::new(&roster, me, secret).ok());
        self.pads = pads.map(|pads| (epoch, pads));
    }

    /// A contribution as it may be sent; `None` where there are no pads.
    ///
    /// # Guarantee
    /// As [`Pads::mask`].
    ///
    /// # Assumes
    /// The round's number was never used before in this process, and the words have fresh noise.
    pub(in crate::algorithm::rounds) fn put_on(
        &self,
        noisy: NoisyWords,
        has_data: bool,
        (round, model): (u32, Digest),
        mechanism: &GridGaussian,
    ) -> Option<Words> {
        let mut words = noisy.into_words();
        check::append(&mut words, has_data);
        match (&self.masks, &self.pads) {
            (Masks::DangerPretended, _) => {}
            (Masks::Real(_), Some((_, pads))) => pads.mask(&mut words, &Use { round, model, mechanism }),
            (Masks::Real(_), None) => return None,
        }
        Some(words)
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

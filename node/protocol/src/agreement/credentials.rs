//! Who a member is to the others when they decide.

use std::fmt;
use std::sync::Arc;

use super::keys::{BadKey, Ed25519, Keys};
use super::{Bounds, Charter, CharterError, Fingerprint, Terms};
use crate::PeerIx;
use crate::settings::Settings;

/// The charter of the run, and the key that signs.
#[derive(Clone)]
pub struct Credentials {
    /// What all have agreed on before the first decision.
    pub charter: Arc<Charter>,
    /// Signs and checks.
    pub keys: Arc<dyn Keys>,
}

/// Why nobody has such credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CredentialsError {
    /// Terms that cannot be kept.
    #[error(transparent)]
    Charter(#[from] CharterError),
    /// A key that is none.
    #[error(transparent)]
    Key(#[from] BadKey),
}

impl Credentials {
    /// Of the member whose Ed25519 identity has this seed.
    ///
    /// # Errors
    /// Terms that cannot be kept, or a key of the roster that is none.
    pub fn new(
        terms: Terms,
        seed: &[u8; 32],
        (silence, resend): (u64, u64),
    ) -> Result<Self, CredentialsError> {
        let keys = Ed25519::new(seed, &terms.roster)?;
        let charter = Charter::new(terms, silence, resend)?;
        Ok(Self { charter: Arc::new(charter), keys: Arc::new(keys) })
    }

    /// The same where sums are within what these settings allow: all members of a run must say so, or none.
    #[must_use]
    pub fn within(self, settings: &Settings) -> Self {
        let charter = (*self.charter).clone().with_bounds(Bounds::of(settings));
        Self { charter: Arc::new(charter), ..self }
    }

    /// For simulations and tests: everybody can compute these keys, so signatures prove nothing outside of one process. All have a seat at once.
    pub fn danger_from_seed(settings: &Settings, charter: &Arc<Charter>, me: PeerIx) -> Self {
        let seed = seed_of(settings, me);
        let keys = Ed25519::new(&seed, &charter.terms().roster);
        let keys = keys.expect("keys that were made from seeds are keys");
        Self { charter: charter.clone(), keys: Arc::new(keys) }
    }

    /// The charter of a simulation.
    pub(crate) fn danger_charter(settings: &Settings, late: bool) -> Arc<Charter> {
        let seeds: Vec<[u8; 32]> =
            (0..settings.nodes as PeerIx).map(|member| seed_of(settings, member)).collect();
        let run = settings.run.to_string();
        let terms = Terms {
            config: Fingerprint::of("murmur seeded run 1", run.as_bytes()),
            name: run,
            roster: seeds.iter().map(Ed25519::public).collect(),
            hostile: settings.hostile.min(super::hostile_by_default(settings.nodes)),
            rounds: settings.rounds,
            model: crate::first_model(settings),
            // Keys of masks are told by each process before the first decision.
            seats: if late { Vec::new() } else { vec![[0; 32]; seeds.len()] },
            continued: None,
        };
        let timeouts = settings.timeouts;
        let charter = Charter::new(terms, timeouts.silence, timeouts.resend);
        let charter =
            charter.expect("a simulation has members with different keys, and few enough hostile ones");
        Arc::new(charter.with_bounds(Bounds::of(settings)))
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credentials({})", self.charter.run())
    }
}

fn seed_of(settings: &Settings, member: PeerIx) -> [u8; 32] {
    let name = format!("{} {member}", settings.run);
    Fingerprint::of("murmur danger seeded identity 1", name.as_bytes()).0
}

//! What a node finds when it starts: its identity, its ledger, its noise; and where it stands then.

use std::path::Path;

use protocol::agreement::Electorate;
use protocol::{BudgetRule, Setup};

use super::journal::Journal;
use super::noise::{MessageNoise, noises};
use super::session::unix_micros;
use super::worker::Noise;
use super::{Danger, DriverError};
use crate::gathering::{Gathering, SignedRoster, Signer};
use crate::identity::{Identity, Roster, private_folder};
use crate::ledger::{Begun, Found, Ledger, Owner};
use crate::swarm_file::SwarmFile;
use crate::wire::Standing;

/// What was opened.
pub(super) struct Opened {
    pub(super) identity: Identity,
    pub(super) seed: [u8; 32],
    pub(super) ledger: Ledger,
    pub(super) found: Found,
    pub(super) noise: Noise,
    pub(super) message_noise: MessageNoise,
    pub(super) journal: Journal,
}

/// Opens the folder of a node; `counts` is where its records are counted a second time.
pub(super) fn open(
    (state, counts): (&Path, Option<&Path>),
    (swarm, setup): (&SwarmFile, &Setup),
    danger: Option<Danger>,
) -> Result<Opened, DriverError> {
    private_folder(state).map_err(|source| DriverError::Folder { folder: state.to_owned(), source })?;
    let identity = Identity::load_or_create(state)?;
    let seed = identity.seed().ok_or(DriverError::NoKey)?;
    let run = format!("{} ({})", swarm.name, setup.digest);
    let owner = Owner { identity: identity.peer_id().to_base58(), run };
    let (ledger, found) = open_ledger((state, counts), &owner, setup)?;
    let (noise, message_noise) = noises(danger)?;
    check_noise(&message_noise, &found, state)?;
    let ledger = ledger.with_seeded_noise(!message_noise.is_private());
    let journal = Journal::open(state)?;
    Ok(Opened { identity, seed, ledger, found, noise, message_noise, journal })
}

/// The ledger, which counts in the units of this run's budget.
fn open_ledger(
    (state, counts): (&Path, Option<&Path>),
    owner: &Owner,
    setup: &Setup,
) -> Result<(Ledger, Found), DriverError> {
    let (mut ledger, mut found) = Ledger::open(state, owner)?;
    if let Some(counts) = counts {
        ledger = ledger.counted_in(counts, (owner, &setup.settings.release), &mut found)?;
    }
    let units: Vec<String> = setup.settings.budget.iter().map(BudgetRule::unit).collect();
    found.keep_units(&units);
    Ok((ledger.with_units(units), found))
}

/// Noise that everybody can compute must not follow private noise: the ledger, and every report, would take it for private.
fn check_noise(noise: &MessageNoise, found: &Found, state: &Path) -> Result<(), DriverError> {
    if noise.is_private() || found.records == 0 || found.seeded {
        return Ok(());
    }
    Err(DriverError::SeededAfterPrivate { folder: state.to_owned(), records: found.records })
}

/// What a person should know of a state that is older than what was sent.
pub(super) fn forgotten(found: &Found, state: &Path) -> Option<String> {
    (found.forgotten > 0).then(|| old_disk(state, found.forgotten))
}

/// So many contributions were made and are not in the folder.
pub(super) fn old_disk(state: &Path, forgotten: u64) -> String {
    let text = format!(
        "the state in `{}` is older than what this node has sent: {forgotten} contributions were not in its ledger, and are charged in full",
        state.display(),
    );
    tracing::warn!("{text}");
    text
}

/// Where a node stands that found this in its ledger.
pub(super) fn standing(found: &Found) -> Standing {
    match &found.begun {
        Some(begun) => running(begun),
        None => Standing::Gathering,
    }
}

pub(super) fn running(begun: &Begun) -> Standing {
    let (attempt, signatures) = begun.signed.clone();
    Standing::Running { roster: begun.roster.to_bytes(), attempt, signatures }
}

/// The start of a run, now.
pub(super) fn begun_now(signed: SignedRoster) -> Begun {
    let SignedRoster { roster, attempt, signatures } = signed;
    Begun { roster, at: unix_micros(), signed: (attempt, signatures) }
}

/// The search for the others: among the members that the swarm file names, where it does.
pub(super) fn gathering(
    identity: &Identity,
    swarm: &SwarmFile,
    setup: &Setup,
    config: protocol::Digest,
) -> Gathering {
    let fresh = Gathering::new(Signer::new(identity.keypair().clone(), config), swarm.nodes);
    if swarm.roster.len() != swarm.nodes {
        return fresh;
    }
    let votes = (0..swarm.nodes as protocol::PeerIx).collect();
    let electorate = Electorate { votes, hostile: setup.settings.hostile };
    // Only `rounds` can begin without some of them.
    let decides = setup.settings.algorithm.is_decided();
    let enough = if decides { electorate.quorum() } else { swarm.nodes };
    fresh.pinned(Roster::new(swarm.roster.iter().map(|member| member.peer)), enough)
}

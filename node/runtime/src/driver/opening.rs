//! What a node finds when it starts: its identity, its ledger, its noise; and where it stands then.

use std::path::Path;
use std::sync::Arc;

use libp2p::Multiaddr;
use protocol::agreement::Electorate;
use protocol::{BudgetRule, Digest, Setup};

use super::course::Course;
use super::journal::Journal;
use super::noise::{MessageNoise, noises};
use super::session::unix_micros;
use super::worker::Noise;
use super::{Danger, DriverError};
use crate::gathering::{Gathering, SignedRoster, Signer};
use crate::identity::{Identity, Roster, private_folder};
use crate::ledger::{Begun, Found, Ledger, Owner, Part};
use crate::network::Patience;
use crate::schema::Schema;
use crate::swarm_file::SwarmFile;
use crate::wire::{Limits, Standing};

/// What was opened.
pub(super) struct Opened {
    pub(super) identity: Identity,
    pub(super) seed: [u8; 32],
    pub(super) ledger: Ledger,
    pub(super) found: Found,
    pub(super) noise: Noise,
    pub(super) message_noise: MessageNoise,
    pub(super) journal: Journal,
    /// Where the swarm file was renewed.
    pub(super) course: Option<Course>,
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
    let (ledger, mut found) = open_ledger((state, counts), &owner, setup)?;
    let course = Course::of((swarm, setup), &identity.peer_id(), &mut found)?;
    let (noise, message_noise) = noises(danger)?;
    check_noise(&message_noise, &found, state)?;
    let ledger = ledger.with_seeded_noise(!message_noise.is_private());
    let journal = Journal::open(state)?;
    Ok(Opened { identity, seed, ledger, found, noise, message_noise, journal, course })
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
    Begun { roster, at: unix_micros(), signed: (attempt, signatures), part: Part::default() }
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
    let members = Roster::new(swarm.roster.iter().map(|member| member.peer));
    if !swarm.renewals.is_empty() {
        // Nobody is in a renewed run by the word of others: each of its members signs it.
        return fresh.all_of(Roster::new(swarm.renewals.signers(setup.config.late)));
    }
    let votes = (0..swarm.nodes as protocol::PeerIx).collect();
    let electorate = Electorate { votes, hostile: setup.settings.hostile };
    // Only `rounds` can begin without some of them.
    let decides = setup.settings.algorithm.is_decided();
    let enough = if decides { electorate.quorum() } else { swarm.nodes };
    let pinned = fresh.pinned(members, enough);
    if setup.config.late && decides { pinned.late() } else { pinned }
}

/// Where a node can be reached, whom it calls, relays of its own, and when a link is dead.
type Reach = (Vec<Multiaddr>, Vec<Multiaddr>, bool, Vec<Multiaddr>, Patience);

/// What the network of a node needs: who it is and what it must agree on with others, the form of what is said, and its reach.
pub(super) fn network_settings(
    (identity, name, digest, config): (Identity, String, Digest, String),
    swarm: SwarmFile,
    (schema, limits): (Arc<Schema>, Limits),
    (listen, peers, mdns, relays, patience): Reach,
) -> crate::network::Settings {
    crate::network::Settings {
        identity,
        name,
        secret: swarm.secret,
        run: swarm.name,
        nodes: swarm.nodes,
        digest,
        config,
        schema,
        limits,
        patience,
        listen,
        peers,
        roster: swarm.roster,
        gone: swarm.renewals.gone(),
        mdns,
        relays: swarm.relays.into_iter().chain(relays).collect(),
        is_relay: false,
        announce: Vec::new(),
    }
}
